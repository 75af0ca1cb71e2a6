/**
 * The one door to the service: check the input, wait for a slot, send, read the answer, say how it ended.
 *
 * Invariants: a call that is not valid is refused here and costs nothing; what may not be repeated is never repeated; a read
 * that cannot be answered is tried again a bounded number of times; identical reads that still wait share one flight; a read
 * nobody needs any more when its slot opens is not sent.
 * Not here: quota (scheduler/), what the records mean to anyone (resources/, orders/).
 */
import { defer, finalize, map, type Observable, of, ReplaySubject, retry, share, switchMap, tap, throwError } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { EndpointName, InputOf, RecordOf } from "../contract/endpoints.ts";
import type { WireRequest } from "../contract/transport.ts";
import { requestProblems } from "../contract/validate.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ActionClass } from "../journal/events.ts";
import type { Account, Ending } from "../scheduler/action.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { Outcome } from "./outcome.ts";
import { parseResponse } from "./parse-response.ts";
import { unlistedIn, unlistedText } from "./unlisted.ts";

export interface CallOptions {
  readonly class: ActionClass;
  readonly owner: string;
  readonly deadlineAt?: number;
  /** The permission this call needs where it differs from its endpoint's, as for spot orders. */
  readonly permission?: string;
  /** Of a batch that is put together as it leaves: how many elements it would have now. It may be told to take fewer. */
  readonly elementsNow?: () => number;
}

export interface ReadOptions extends CallOptions {
  /**
   * Whether the answer is still needed, asked when the slot opens; a read that is not ends as `dropped`. A shared flight leaves
   * as long as anybody on it needs it.
   */
  readonly needed?: () => boolean;
}

interface KeyGrant {
  readonly name: string;
  readonly permissions: readonly string[];
}

export interface User {
  readonly uid: string;
  readonly ip: string;
  readonly keys: readonly KeyGrant[];
}

/** Input now, or what to send when the slot opens, of at most so many elements; undefined then withdraws the call. */
export type LateInput<E extends EndpointName> = InputOf<E> | ((elementsMax: number) => InputOf<E> | undefined);

export interface Gateway {
  /** Emits one outcome and completes; never errors. Unsubscribing before the call left withdraws it. */
  call<E extends EndpointName>(endpoint: E, input: LateInput<E>, options: CallOptions): Observable<Outcome<RecordOf<E>>>;
  /** Like `call` for a read that may share an identical one still waiting, and is repeated when no answer was read. */
  read<E extends EndpointName>(endpoint: E, input: InputOf<E>, options: ReadOptions): Observable<Outcome<RecordOf<E>>>;
  /** Names of the keys that may make this call. */
  keysFor(endpoint: EndpointName): readonly string[];
}

interface GatewayOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly scheduler: Scheduler;
  readonly journal: EventLog;
  readonly user: User;
}

const readTries = 3;
const readPauseMs = 1_000;
const unreadableMax = 1_000;
const always = (): boolean => true;

/** A read on its way to its slot, and what each of its listeners says of the need for it. */
interface SharedRead<E extends EndpointName> {
  readonly outcome$: Observable<Outcome<RecordOf<E>>>;
  readonly needs: Set<() => boolean>;
}

const join = <E extends EndpointName>({ outcome$, needs }: SharedRead<E>, needed: () => boolean): Observable<Outcome<RecordOf<E>>> =>
  defer(() => {
    // Listeners may bring the same function; each counts by itself.
    const need = (): boolean => needed();
    needs.add(need);
    return outcome$.pipe(finalize(() => needs.delete(need)));
  });

class Again extends Error {}

const refusedHere = (msg: string): Extract<Outcome<never>, { kind: "refused" }> => ({ kind: "refused", status: 0, code: "local", msg });

const hasId = ({ ordId, clOrdId }: { readonly ordId?: string; readonly clOrdId?: string }): boolean =>
  ordId !== undefined || clOrdId !== undefined;

/** What is wrong with a call, by its schema and by the rules that span fields. */
const inputProblem = (contract: Contract, endpoint: EndpointName, input: unknown): string | undefined => {
  const problems = requestProblems(contract.endpoints[endpoint].input, input);
  if (problems.length > 0) return problems.join("; ");
  if (endpoint === "getOrder" && !hasId(input as InputOf<"getOrder">)) return "request: give ordId or clOrdId.";
  if (endpoint === "cancelBatch" && !(input as InputOf<"cancelBatch">).every(hasId)) return "request: give every element ordId or clOrdId.";
  return undefined;
};

export const createGateway = ({ clock, contract, scheduler, journal, user }: GatewayOptions): Gateway => {
  const shared = new Map<string, SharedRead<EndpointName>>();
  /** Records that could not be read, as they were told. */
  const unreadable = new Set<string>();
  /** Statuses and codes on no list, told once each. */
  const unlisted = new Set<string>();
  const accounts = new Map<string, Account>();

  const keysFor = (endpoint: EndpointName, permission: string = contract.endpoints[endpoint].permission): readonly string[] => {
    const able = user.keys.filter(({ permissions }) => permission === "none" || permissions.includes(permission));
    return able.map(({ name }) => name);
  };
  const accountFor = (endpoint: EndpointName, permission: string): Account => {
    let account = accounts.get(permission);
    if (account === undefined) {
      // Signing the public list costs weight 2 and brings the user's counters, which a start needs.
      account = { uid: user.uid, ip: user.ip, keys: keysFor(endpoint, permission) };
      accounts.set(permission, account);
    }
    return account;
  };

  const requestOf = (endpoint: EndpointName, input: unknown, key: string | undefined): WireRequest => {
    const { method, path } = contract.endpoints[endpoint];
    return method === "GET"
      ? { endpoint, method, path, query: input as Record<string, string>, body: undefined, key }
      : { endpoint, method, path, query: {}, body: input, key };
  };

  const outcomeOf = <E extends EndpointName>(endpoint: E, ending: Ending): Outcome<RecordOf<E>> => {
    switch (ending.kind) {
      case "answered":
        return parseResponse<RecordOf<E>>(endpoint, ending.response, contract, clock.now());
      case "lost":
        return { kind: "unknown", message: ending.message };
      case "dropped":
        return { kind: "dropped", reason: ending.reason };
    }
  };

  /** A record that cannot be read stays in a list for days: each is told once. */
  const tellUnread = (endpoint: EndpointName, { problems, unread = [] }: Extract<Outcome<unknown>, { kind: "done" }>): void => {
    for (const [index, problem] of problems.entries()) {
      const { ordId = "", clOrdId = "" } = unread[index] ?? {};
      const name =
        ordId === "" && clOrdId === ""
          ? `${endpoint}: ${problem}`
          : `${endpoint}: order ${ordId || clOrdId}: ${problem.replace(/^data\[\d+\]/, "")}`;
      if (unreadable.has(name)) continue;
      if (unreadable.size === unreadableMax) unreadable.clear();
      unreadable.add(name);
      journal.append({ type: "anomaly", what: "answer.unreadable", detail: name });
    }
  };
  const note = (endpoint: EndpointName, ending: Ending, outcome: Outcome<unknown>): void => {
    const status = ending.kind === "answered" ? ending.response.status : 0;
    const elapsedMs = ending.kind === "answered" ? ending.elapsedMs : 0;
    const code = outcome.kind === "refused" ? outcome.code : "";
    journal.append({ type: "action.answered", endpoint, outcome: outcome.kind, status, code, elapsedMs });
    if (outcome.kind === "done") tellUnread(endpoint, outcome);
    const strange = unlistedIn(endpoint, outcome, contract.profile);
    if (strange === undefined || unlisted.has(`${strange.status} ${strange.code}`)) return;
    unlisted.add(`${strange.status} ${strange.code}`);
    journal.append({ type: "anomaly", what: "answer.unlisted", detail: unlistedText(endpoint, strange, contract.profile) });
  };

  const call = <E extends EndpointName>(endpoint: E, input: LateInput<E>, options: CallOptions): Observable<Outcome<RecordOf<E>>> =>
    defer(() => {
      const { weight, permission: usual } = contract.endpoints[endpoint];
      const { permission = usual, ...rest } = options;
      const account = accountFor(endpoint, permission);
      if (account.keys.length === 0 && permission !== "none") {
        return of(refusedHere(`no key of user ${user.uid} has the permission "${permission}"`));
      }
      let problem = typeof input === "function" ? undefined : inputProblem(contract, endpoint, input);
      if (problem !== undefined) return of(refusedHere(problem));
      const elements = Array.isArray(input) ? input.length : 1;
      const build = (key: string | undefined, elementsMax: number): WireRequest | undefined => {
        if (typeof input !== "function") return requestOf(endpoint, input, key);
        const late = input(elementsMax);
        if (late === undefined) return undefined;
        problem = inputProblem(contract, endpoint, late);
        return problem === undefined ? requestOf(endpoint, late, key) : undefined;
      };
      const elementWeight = endpoint === "cancelBatch" ? contract.profile.weights.perCancelElement : 0;
      return scheduler.schedule({ endpoint, weight, elements, elementWeight, account, build, ...rest }).pipe(
        map((ending): Outcome<RecordOf<E>> => {
          if (ending.kind === "dropped") return problem === undefined ? outcomeOf(endpoint, ending) : refusedHere(problem);
          const outcome = outcomeOf(endpoint, ending);
          note(endpoint, ending, outcome);
          return outcome;
        }),
      );
    });

  const launch = <E extends EndpointName>(endpoint: E, input: InputOf<E>, options: CallOptions, unshare: () => void): SharedRead<E> => {
    const needs = new Set<() => boolean>();
    let tries = 0;
    const late = (): InputOf<E> | undefined => {
      // From here on an answer may be older than a newcomer's question.
      unshare();
      return [...needs].some((needed) => needed()) ? input : undefined;
    };
    const outcome$ = call(endpoint, late, options).pipe(
      switchMap((outcome) => {
        const again = (outcome.kind === "limited" || outcome.kind === "unknown") && ++tries < readTries;
        return again ? throwError(() => new Again(outcome.kind)) : of(outcome);
      }),
      retry({ delay: () => after(clock, readPauseMs * (tries + 1)) }),
      tap({ finalize: unshare }),
      share({ connector: () => new ReplaySubject(1), resetOnComplete: false, resetOnRefCountZero: true }),
    );
    return { outcome$, needs };
  };

  const read = <E extends EndpointName>(endpoint: E, input: InputOf<E>, options: ReadOptions): Observable<Outcome<RecordOf<E>>> => {
    const { needed = always, ...rest } = options;
    const name = `${endpoint} ${options.class} ${JSON.stringify(input)}`;
    const waiting = shared.get(name) as SharedRead<E> | undefined;
    if (waiting !== undefined) return join(waiting, needed);
    const flight: SharedRead<E> = launch(endpoint, input, rest, () => {
      if ((shared.get(name) as SharedRead<E> | undefined) === flight) shared.delete(name);
    });
    shared.set(name, flight as SharedRead<EndpointName>);
    return join(flight, needed);
  };

  return { call, read, keysFor };
};
