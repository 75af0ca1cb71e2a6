/**
 * Gateway to the service: validates a call's input, queues it with the scheduler, and decodes its outcome.
 *
 * Invariants: an invalid call is refused here and costs nothing; only idempotent calls are repeated; a read without an
 * answer is retried a bounded number of times; identical queued reads share one request; a read that is no longer
 * needed when its quota is granted is not sent.
 * Not here: quota (scheduler/), encoding and decoding (codec.ts), the use of records (orders/).
 */
import { Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { EndpointName, InputOf, RecordOf } from "../contract/endpoints.ts";
import type { WireRequest } from "../contract/transport.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ActionClass } from "../journal/events.ts";
import type { Account, Action, Ending } from "../scheduler/action.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import { encode, inputProblem, unanswered } from "./codec.ts";
import type { Outcome, Unlisted } from "./outcome.ts";
import { unlistedIn, unlistedText } from "./outcome.ts";
import { parseResponse } from "./parse-response.ts";
import { SharedRead } from "./shared-read.ts";
import type { ReadInParts } from "./split-read.ts";

export interface CallOptions {
  readonly class: ActionClass;
  readonly owner: string;
}

/** One call. Its input is read when its quota is granted, and its outcome is reported once. */
export interface Call<E extends EndpointName> extends CallOptions {
  readonly endpoint: E;
  /** The permission that this call needs, if it differs from its endpoint's, as for spot orders. */
  readonly permission?: string;
  /** The product that the call is about, if it is about one. */
  readonly instId?: string | undefined;
  /** Number of elements of a batch that is already complete; 1 when left out. */
  readonly elements?: number;
  /**
   * For a batch that is assembled when it is sent: the number of elements it would have now. The scheduler may ask for
   * fewer.
   */
  elementsNow?(): number;
  /** Returns the input to send at `now`, with at most `elementsMax` elements; undefined withdraws the call. */
  input(elementsMax: number, now: number): InputOf<E> | undefined;
  /** Called once, possibly before `submit` returns. Not called after a withdrawal. */
  done(outcome: Outcome<RecordOf<E>>): void;
}

export interface ReadOptions extends CallOptions {
  /**
   * Returns true if the answer is still needed. Called when quota is granted; a read that is not needed ends as
   * `dropped`. A shared read is sent if at least one of its subscribers needs it.
   */
  readonly needed?: () => boolean;
}

interface KeyGrant {
  readonly name: string;
  readonly permissions: readonly string[];
}

/** An account holder of the service, with the address and the keys that act for it. */
export interface User {
  readonly uid: string;
  readonly ip: string;
  readonly keys: readonly KeyGrant[];
}

/** Calls of one user, with types. */
export interface Gateway {
  /**
   * Queues a call. Throws QUEUE_FULL. The returned function withdraws the call if it has not left, and ends listening
   * in every case.
   */
  submit<E extends EndpointName>(call: Call<E>): () => void;
  /** `submit` of a known input as a stream: one outcome and completion; errors with QUEUE_FULL only. */
  call<E extends EndpointName>(endpoint: E, input: InputOf<E>, options: CallOptions): Observable<Outcome<RecordOf<E>>>;
  /** Same as `call`, for a read that may share an identical waiting one and is repeated when no answer was read. */
  read<E extends EndpointName>(endpoint: E, input: InputOf<E>, options: ReadOptions): Observable<Outcome<RecordOf<E>>>;
  /** Names of the keys that may make this call. */
  keysFor(endpoint: EndpointName): readonly string[];
  /** True if the service counts calls of the endpoint by product, so that a waiting call concerns one product. */
  byProduct(endpoint: EndpointName): boolean;
}

interface GatewayOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly scheduler: Pick<Scheduler, "submit"> & Partial<Pick<Scheduler, "byProduct">>;
  readonly journal: EventLog;
  readonly user: User;
  readonly inParts?: ReadInParts | undefined;
}

const unreadableMax = 1_000;
const always = (): boolean => true;
const nothing = (): void => undefined;

const refusedHere = (msg: string): Extract<Outcome<never>, { kind: "rejected" }> => ({
  kind: "rejected",
  status: 0,
  code: "local",
  msg,
});

/** Calls of one user, with types. Each is queued, charged against the rate limits, sent, and its answer parsed. */
export const createGateway = (options: GatewayOptions): Gateway => new ServiceGateway(options);

class ServiceGateway implements Gateway {
  readonly contract: Contract;
  readonly #clock: Clock;
  readonly #scheduler: GatewayOptions["scheduler"];
  readonly #journal: EventLog;
  readonly #user: User;
  readonly #inParts: ReadInParts | undefined;
  readonly #accounts = new Map<string, Account>();
  readonly #reads = new Map<string, SharedRead<unknown>>();
  /** Unreadable records that were already reported. */
  readonly #unreadable = new Set<string>();
  /** Statuses and codes on no list, reported once each. */
  readonly #unlisted = new Set<string>();

  constructor({ clock, contract, scheduler, journal, user, inParts }: GatewayOptions) {
    this.contract = contract;
    this.#clock = clock;
    this.#scheduler = scheduler;
    this.#journal = journal;
    this.#user = user;
    this.#inParts = inParts;
  }

  keysFor(endpoint: EndpointName): readonly string[] {
    const { permission } = this.contract.endpoints[endpoint];
    return (this.#accounts.get(permission) ?? this.#account(permission)).keys;
  }

  byProduct(endpoint: EndpointName): boolean {
    return this.#scheduler.byProduct?.(endpoint) ?? false;
  }

  submit<E extends EndpointName>(call: Call<E>): () => void {
    const { permission = this.contract.endpoints[call.endpoint].permission } = call;
    const account = this.#accounts.get(permission) ?? this.#account(permission);
    if (account.keys.length > 0 || permission === "none")
      return this.#scheduler.submit(new CallAction(this, call, account));
    call.done(refusedHere(`no key of user ${this.#user.uid} has the permission "${permission}"`));
    return nothing;
  }

  call<E extends EndpointName>(endpoint: E, input: InputOf<E>, options: CallOptions): Observable<Outcome<RecordOf<E>>> {
    return new Observable((subscriber) => {
      const done = (outcome: Outcome<RecordOf<E>>): void => {
        subscriber.next(outcome);
        subscriber.complete();
      };
      const problem = inputProblem(this.contract, endpoint, input);
      const elements = Array.isArray(input) ? input.length : 1;
      const instId = productOf(input);
      if (problem === undefined)
        return this.submit({ ...options, endpoint, elements, instId, input: () => input, done });
      done(refusedHere(problem));
      return undefined;
    });
  }

  read<E extends EndpointName>(endpoint: E, input: InputOf<E>, options: ReadOptions): Observable<Outcome<RecordOf<E>>> {
    const read = (part: InputOf<E>): Observable<Outcome<RecordOf<E>>> => this.#read(endpoint, part, options);
    return this.#inParts === undefined ? read(input) : this.#inParts(endpoint, input, read);
  }

  #read<E extends EndpointName>(
    endpoint: E,
    input: InputOf<E>,
    options: ReadOptions,
  ): Observable<Outcome<RecordOf<E>>> {
    const { class: kind, owner, needed = always } = options;
    const name = `${endpoint} ${kind} ${JSON.stringify(input)}`;
    const waiting = this.#reads.get(name) as SharedRead<RecordOf<E>> | undefined;
    if (waiting !== undefined) return waiting.join(needed);
    const read = new SharedRead<RecordOf<E>>(
      this.#clock,
      (isNeeded, done) =>
        this.submit({
          endpoint,
          class: kind,
          owner,
          instId: productOf(input),
          input: () => (isNeeded() ? input : undefined),
          done,
        }),
      () => {
        if (this.#reads.get(name) === read) this.#reads.delete(name);
      },
    );
    this.#reads.set(name, read as SharedRead<unknown>);
    return read.join(needed);
  }

  /** The outcome of a call, after it was journalled. */
  outcomeOf<E extends EndpointName>(endpoint: E, ending: Ending): Outcome<RecordOf<E>> {
    const isAnswered = ending.kind === "answered";
    const at = isAnswered ? ending.at : this.#clock.now();
    const outcome = isAnswered
      ? parseResponse<RecordOf<E>>(endpoint, ending.response, this.contract, at)
      : unanswered(ending);
    if (ending.kind === "dropped") return outcome;
    const status = isAnswered ? ending.response.status : 0;
    const elapsedMs = isAnswered ? ending.elapsedMs : 0;
    const code = outcome.kind === "rejected" ? outcome.code : "";
    this.#journal.append({
      seq: 0,
      at,
      type: "action.answered",
      endpoint,
      outcome: outcome.kind,
      status,
      code,
      elapsedMs,
    });
    if (outcome.kind === "done" && outcome.problems.length > 0) this.#noteUnread(endpoint, outcome);
    const strange = unlistedIn(endpoint, outcome, this.contract.profile);
    if (strange !== undefined) this.#noteUnlisted(endpoint, strange);
    return outcome;
  }

  /** Created once for each permission. */
  #account(permission: string): Account {
    const { uid, ip, keys } = this.#user;
    // A signed read of the public list costs weight 2 and reports the user's counters, which a start needs.
    const able = keys.filter(({ permissions }) => permission === "none" || permissions.includes(permission));
    const account = { uid, ip, keys: able.map(({ name }) => name) };
    this.#accounts.set(permission, account);
    return account;
  }

  #noteUnlisted(endpoint: EndpointName, strange: Unlisted): void {
    const name = `${strange.status} ${strange.code}`;
    if (this.#unlisted.has(name)) return;
    this.#unlisted.add(name);
    this.#journal.append({
      type: "anomaly",
      what: "answer.unlisted",
      detail: unlistedText(endpoint, strange, this.contract.profile),
    });
  }

  /** Reports each unreadable record once, because it may stay in a list for days. */
  #noteUnread(endpoint: EndpointName, { problems, unread = [] }: Extract<Outcome<unknown>, { kind: "done" }>): void {
    for (const [index, problem] of problems.entries()) {
      const { ordId = "", clOrdId = "" } = unread[index] ?? {};
      const name =
        ordId === "" && clOrdId === ""
          ? `${endpoint}: ${problem}`
          : `${endpoint}: order ${ordId || clOrdId}: ${problem.replace(/^data\[\d+\]/, "")}`;
      if (this.#unreadable.has(name)) continue;
      if (this.#unreadable.size === unreadableMax) this.#unreadable.clear();
      this.#unreadable.add(name);
      this.#journal.append({ type: "anomaly", what: "answer.unreadable", detail: name });
    }
  }
}

/** The product that an input names; undefined for a batch, which may contain several. */
const productOf = (input: unknown): string | undefined => {
  const { instId } = input as { readonly instId?: unknown };
  return typeof instId === "string" ? instId : undefined;
};

/** A call as the scheduler sees it. */
class CallAction<E extends EndpointName> implements Action {
  // Only declared: initialised fields would cost each call another function call.
  declare readonly endpoint: E;
  declare readonly class: ActionClass;
  declare readonly owner: string;
  declare readonly weight: number;
  declare readonly account: Account;
  declare readonly instId: string | undefined;
  declare readonly elements: number;
  declare readonly elementWeight: number;
  declare readonly elementsNow: (() => number) | undefined;
  declare private readonly gateway: ServiceGateway;
  declare private readonly call: Call<E>;
  declare private problem: string | undefined;

  constructor(gateway: ServiceGateway, call: Call<E>, account: Account) {
    const { endpoints, profile } = gateway.contract;
    this.endpoint = call.endpoint;
    this.class = call.class;
    this.owner = call.owner;
    this.weight = endpoints[call.endpoint].weight;
    this.account = account;
    this.instId = call.instId;
    this.elements = call.elements ?? 1;
    this.elementWeight = call.endpoint === "cancelBatch" ? profile.weights.perCancelElement : 0;
    this.elementsNow = call.elementsNow === undefined ? undefined : () => call.elementsNow?.() ?? 1;
    this.gateway = gateway;
    this.call = call;
    this.problem = undefined;
  }

  build(key: string | undefined, elementsMax: number, now: number): WireRequest | undefined {
    const input = this.call.input(elementsMax, now);
    if (input === undefined) return undefined;
    const { contract } = this.gateway;
    this.problem = inputProblem(contract, this.endpoint, input);
    return this.problem === undefined ? encode(contract, this.endpoint, input, key) : undefined;
  }

  done(ending: Ending): void {
    this.call.done(
      this.problem === undefined ? this.gateway.outcomeOf(this.endpoint, ending) : refusedHere(this.problem),
    );
  }
}
