/**
 * The one door to the service: check the input, wait for a slot, send, read the answer, say how it ended.
 *
 * Invariants: a call that is not valid is refused here and costs nothing; what may not be repeated is never repeated; a read
 * that cannot be answered is tried again a bounded number of times; identical reads that still wait share one flight.
 * Not here: quota (scheduler/), what the records mean to anyone (resources/, orders/).
 */
import { defer, map, type Observable, of, ReplaySubject, retry, share, switchMap, tap, throwError } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { EndpointName, InputOf, RecordOf } from "../contract/endpoints.ts";
import { requestProblems } from "../contract/validate.ts";
import type { ActionClass } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { Account, Ending, Scheduler } from "../scheduler/scheduler.ts";
import type { WireRequest } from "../transport/transport.ts";
import type { Outcome } from "./outcome.ts";
import { readAnswer } from "./read-answer.ts";

export interface CallOptions {
  readonly class: ActionClass;
  readonly owner: string;
  readonly deadlineAt?: number;
}

export interface KeyGrant {
  readonly name: string;
  readonly permissions: readonly string[];
}

export interface User {
  readonly uid: string;
  readonly ip: string;
  readonly keys: readonly KeyGrant[];
}

/** Input now, or what to send when the slot opens; undefined then withdraws the call. */
export type LateInput<E extends EndpointName> = InputOf<E> | (() => InputOf<E> | undefined);

export interface Gateway {
  /** Emits one outcome and completes; never errors. Unsubscribing before the call left withdraws it. */
  call<E extends EndpointName>(endpoint: E, input: LateInput<E>, options: CallOptions): Observable<Outcome<RecordOf<E>>>;
  /** Like `call` for a read that may share an identical one still waiting, and is repeated when no answer was read. */
  read<E extends EndpointName>(endpoint: E, input: InputOf<E>, options: CallOptions): Observable<Outcome<RecordOf<E>>>;
  /** Names of the keys that may make this call. */
  keysFor(endpoint: EndpointName): readonly string[];
}

export interface GatewayOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly scheduler: Scheduler;
  readonly journal: Journal;
  readonly user: User;
}

const readTries = 3;
const readPauseMs = 1_000;

class Again extends Error {}

export const createGateway = ({ clock, contract, scheduler, journal, user }: GatewayOptions): Gateway => {
  const shared = new Map<string, Observable<Outcome<never>>>();
  const accounts = new Map<EndpointName, Account>();

  const keysFor = (endpoint: EndpointName): readonly string[] => {
    const { permission } = contract.endpoints[endpoint];
    const able = user.keys.filter(({ permissions }) => permission === "none" || permissions.includes(permission));
    return able.map(({ name }) => name);
  };
  const accountFor = (endpoint: EndpointName): Account => {
    let account = accounts.get(endpoint);
    if (account === undefined) {
      // Signing the public list costs weight 2 and brings the user's counters, which a start needs.
      account = { uid: user.uid, ip: user.ip, keys: keysFor(endpoint) };
      accounts.set(endpoint, account);
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
        return readAnswer<RecordOf<E>>(endpoint, ending.response, contract, clock.now());
      case "lost":
        return { kind: "unknown", message: ending.message };
      case "dropped":
        return { kind: "dropped", reason: ending.reason };
    }
  };

  const note = (endpoint: EndpointName, ending: Ending, outcome: Outcome<unknown>): void => {
    const status = ending.kind === "answered" ? ending.response.status : 0;
    const elapsedMs = ending.kind === "answered" ? ending.elapsedMs : 0;
    const code = outcome.kind === "refused" ? outcome.code : "";
    journal.append({ type: "action.answered", endpoint, outcome: outcome.kind, status, code, elapsedMs });
    if (outcome.kind === "done" && outcome.problems.length > 0) {
      journal.append({ type: "anomaly", what: "answer.unreadable", detail: `${endpoint}: ${outcome.problems[0]}` });
    }
  };

  const call = <E extends EndpointName>(endpoint: E, input: LateInput<E>, options: CallOptions): Observable<Outcome<RecordOf<E>>> =>
    defer(() => {
      const { weight, input: schema, permission } = contract.endpoints[endpoint];
      const account = accountFor(endpoint);
      if (account.keys.length === 0 && permission !== "none") {
        const msg = `no key of user ${user.uid} has the permission "${permission}"`;
        return of<Outcome<RecordOf<E>>>({ kind: "refused", status: 0, code: "local", msg });
      }
      if (typeof input !== "function") {
        const problems = requestProblems(schema, input);
        if (problems.length > 0) return of<Outcome<RecordOf<E>>>({ kind: "refused", status: 0, code: "local", msg: problems.join("; ") });
      }
      const build = (key: string | undefined): WireRequest | undefined => {
        const late = typeof input === "function" ? input() : input;
        return late === undefined ? undefined : requestOf(endpoint, late, key);
      };
      return scheduler.schedule({ endpoint, weight, account, build, ...options }).pipe(
        map((ending) => {
          const outcome = outcomeOf(endpoint, ending);
          if (ending.kind !== "dropped") note(endpoint, ending, outcome);
          return outcome;
        }),
      );
    });

  const read = <E extends EndpointName>(endpoint: E, input: InputOf<E>, options: CallOptions): Observable<Outcome<RecordOf<E>>> => {
    const name = `${endpoint} ${options.class} ${JSON.stringify(input)}`;
    const waiting = shared.get(name) as Observable<Outcome<RecordOf<E>>> | undefined;
    if (waiting !== undefined) return waiting;
    let tries = 0;
    const flight = call(
      endpoint,
      () => {
        // From here on an answer may be older than a newcomer's question.
        shared.delete(name);
        return input;
      },
      options,
    ).pipe(
      switchMap((outcome) => {
        const again = outcome.kind === "limited" || (outcome.kind === "unknown" && ++tries < readTries);
        return again ? throwError(() => new Again(outcome.kind)) : of(outcome);
      }),
      retry({ delay: () => after(clock, readPauseMs * (tries + 1)) }),
      tap({ finalize: () => shared.delete(name) }),
      share({ connector: () => new ReplaySubject(1), resetOnComplete: false, resetOnRefCountZero: true }),
    );
    shared.set(name, flight as Observable<Outcome<never>>);
    return flight;
  };

  return { call, read, keysFor };
};
