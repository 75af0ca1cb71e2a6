/**
 * Asks the service one question after the other, slowly, and keeps the books of what that cost.
 *
 * Invariants: one request at a time; never more weight than the budget; well below every limit the answers tell of; a read that
 * was not answered, or that a limit refused, is asked once more and no oftener; nothing here throws or waits beyond its bound.
 * Not here: what to ask (probes), what answers mean (findings).
 */
import { catchError, firstValueFrom, map, merge, of, take } from "rxjs";
import { faultyName, type KeyFault } from "../../client/transport/sign.ts";
import { after, type Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import type { EndpointName, InputOf } from "../../contract/endpoints.ts";
import type { Transport } from "../../contract/transport.ts";
import { type Answer, type Counters, readReply, unanswered } from "./probe-reply.ts";
import type { Call, Sample } from "./spending.ts";
import type { StopSignal } from "./stop-signal.ts";

interface AskOptions {
  /** False sends the request without a key. */
  readonly signed?: boolean;
  /** Sends it with one part of the credentials wrong. */
  readonly fault?: KeyFault;
}

/** What the user's count of used weight was after a call. */
export interface Mark {
  readonly at: number;
  /** The service's minute since the Unix epoch, where its calendar is known. */
  readonly minute: number | undefined;
  readonly used: number;
  /** What the call before it weighs as far as is assumed. */
  readonly weight: number;
}

/** The service's calendar as one answer told it. */
interface Stamp {
  readonly at: number;
  readonly dateAt: number;
}

export interface ProbeClient {
  ask<E extends EndpointName>(endpoint: E, input: InputOf<E>, options?: AskOptions): Promise<Answer>;
  /** From here on asks whatever the budget and the word to stop say: for cleaning up. */
  insist(): void;
  /** Another door to the same service. */
  through(transport: Transport): void;
  readonly spent: number;
  readonly samples: readonly Sample[];
  readonly calls: readonly Call[];
  readonly marks: readonly Mark[];
  readonly stamp: Stamp | undefined;
}

interface ProbeClientOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly transport: Transport;
  /** The key for a call, by name; undefined where no key may make it. */
  readonly keyFor: (endpoint: EndpointName) => string | undefined;
  readonly weightMax: number;
  readonly stop: StopSignal;
}

const paceMs = 150;
const retryMs = 1_000;
/** A transport gives up by itself; this is for one that does not. */
const answerMsMax = 40_000;
const minuteMs = 60_000;
/** Questions in a row without an answer, after which a service is left alone. */
const silenceMax = 3;

interface Book {
  spent: number;
  insisting: boolean;
  transport: Transport;
  silence: number;
  sentAt: number;
  counters: Counters | undefined;
  lastMark: Mark | undefined;
  stamp: Stamp | undefined;
  /** Calls since the count of used weight was last told. */
  since: Call[];
  readonly samples: Sample[];
  readonly calls: Call[];
  readonly marks: Mark[];
}

/** What must be free on the layers before another call is made: others of the same user and address trade meanwhile. */
const pauseFor = ({ layers }: Contract, book: Book, weight: number, clock: Clock): number => {
  const { ipRemaining = layers.ip.capacity, keyRemaining = layers.key.capacity, uidUsed = 0 } = book.counters ?? {};
  const now = clock.now();
  if (uidUsed + weight > layers.uid.capacity * 0.8 || ipRemaining < layers.ip.capacity * 0.05) return minuteMs + retryMs;
  return Math.max(book.sentAt + (keyRemaining < 3 ? retryMs : paceMs) - now, 0);
};

const noteMark = (book: Book, answer: Answer, weight: number): void => {
  if (answer.kind === "unanswered") return;
  const { counters, dateAt, receivedAt } = answer;
  book.counters = counters;
  if (dateAt !== undefined) book.stamp = { at: receivedAt, dateAt };
  if (counters.uidUsed === undefined) return;
  const minute = dateAt === undefined ? undefined : Math.floor(dateAt / minuteMs);
  const mark: Mark = { at: receivedAt, minute, used: counters.uidUsed, weight };
  const last = book.lastMark;
  if (last !== undefined) {
    const delta = mark.used - last.used;
    book.samples.push({ calls: book.since, delta, turned: delta < 0 || mark.minute !== last.minute });
  }
  book.lastMark = mark;
  book.marks.push(mark);
  book.since = [];
};

/** What the last call weighed where the service's count tells of it alone. */
const measured = ({ samples, since }: Book): number => {
  const sample = samples.at(-1);
  return since.length > 0 || sample === undefined || sample.turned || sample.calls.length !== 1 ? 0 : sample.delta;
};

const endingOf = (answer: Answer): Call["ending"] => (answer.kind === "unanswered" ? "unanswered" : answer.ok ? "done" : "failed");

export const createProbeClient = ({ clock, contract, transport, keyFor, weightMax, stop }: ProbeClientOptions): ProbeClient => {
  const book: Book = {
    spent: 0,
    insisting: false,
    transport,
    silence: 0,
    sentAt: Number.NEGATIVE_INFINITY,
    counters: undefined,
    lastMark: undefined,
    stamp: undefined,
    since: [],
    samples: [],
    calls: [],
    marks: [],
  };
  const pause = async (ms: number): Promise<void> => {
    if (ms > 0) await firstValueFrom(book.insisting ? after(clock, ms) : merge(after(clock, ms), stop.said$).pipe(take(1)));
  };
  const send = async (endpoint: EndpointName, input: unknown, key: string | undefined): Promise<Answer> => {
    const { method, path } = contract.endpoints[endpoint];
    const parts = method === "GET" ? { query: input as Record<string, string>, body: undefined } : { query: {}, body: input };
    const sentAt = clock.now();
    book.sentAt = sentAt;
    const tooLate$ = after(clock, answerMsMax).pipe(map(() => unanswered(`${endpoint}: no answer within ${answerMsMax / 1_000} s`)));
    const answer$ = book.transport({ endpoint, method, path, key, ...parts }).pipe(
      map((response) => readReply(endpoint, response, sentAt, clock.now())),
      catchError((error: unknown) => of(unanswered(error instanceof Error ? error.message : String(error)))),
    );
    const answer = await firstValueFrom(merge(answer$, tooLate$), { defaultValue: unanswered(`${endpoint}: no answer`) });
    const call: Call = { endpoint, signed: key !== undefined, ending: endingOf(answer), at: clock.now() };
    book.calls.push(call);
    book.since.push(call);
    noteMark(book, answer, key === undefined ? 0 : contract.endpoints[endpoint].weight);
    return answer;
  };
  /** Why the call is not made at all. */
  const bar = (endpoint: EndpointName, weight: number): string | undefined => {
    if (book.insisting) return undefined;
    if (stop.said) return `${endpoint}: told to stop before it was asked`;
    if (book.silence >= silenceMax) return `${endpoint}: not asked, as the ${silenceMax} questions before got no answer`;
    if (book.spent + weight <= weightMax) return undefined;
    return `${endpoint}: not asked, as the ${weightMax} weight an examination may use would be exceeded`;
  };
  const attempt = async (endpoint: EndpointName, input: unknown, { signed = true, fault }: AskOptions): Promise<Answer> => {
    const weight = signed ? contract.endpoints[endpoint].weight : 0;
    const name = signed ? keyFor(endpoint) : undefined;
    const key = name === undefined || fault === undefined ? name : faultyName(name, fault);
    const why = signed && key === undefined ? `${endpoint}: no key of this user may make this call` : bar(endpoint, weight);
    if (why !== undefined) return unanswered(why);
    const ms = pauseFor(contract, book, weight, clock);
    await pause(ms);
    // A new minute counts anew; the old numbers would only make every further call wait.
    if (ms >= minuteMs) book.counters = undefined;
    const answer = await send(endpoint, input, key);
    // Who is not let in is nobody to charge.
    const turnedAway = answer.kind === "answered" && answer.status === 401;
    book.spent += turnedAway ? 0 : Math.max(weight, measured(book));
    return answer;
  };
  return {
    ask: async (endpoint, input, how = {}) => {
      const sent = book.calls.length;
      const first = await attempt(endpoint, input, how);
      // What was never sent is not asked again, nor what could then be executed twice.
      const again =
        first.kind === "unanswered" && book.calls.length > sent && (first.limited || contract.endpoints[endpoint].repeat === "safe");
      if (again) await pause(first.limited ? minuteMs + retryMs : retryMs);
      const answer = again ? await attempt(endpoint, input, how) : first;
      if (book.calls.length > sent) book.silence = answer.kind === "unanswered" ? book.silence + 1 : 0;
      return answer;
    },
    insist: () => {
      book.insisting = true;
    },
    through: (other) => {
      book.transport = other;
    },
    get spent() {
      return book.spent;
    },
    samples: book.samples,
    calls: book.calls,
    marks: book.marks,
    get stamp() {
      return book.stamp;
    },
  };
};
