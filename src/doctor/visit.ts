/**
 * One examination under way: what is asked through, what is assumed, and what was found so far.
 *
 * Invariants: findings are only added; the contract is the config's from beginning to end, so that every verdict is about it,
 * while the way to the service may change to one that the service accepts.
 */
import type { Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { Transport } from "../transport/transport.ts";
import type { Asker } from "./asker.ts";
import { type Finding, type Override, type RowPath, unasked } from "./finding.ts";
import type { StopWord } from "./stop-word.ts";

/** The part of an open service that an examination needs. */
export interface Patient {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly users: readonly {
    readonly uid: string;
    readonly keys: readonly { readonly name: string; readonly permissions: readonly string[] }[];
  }[];
  readonly market: { quotes(instId: string): Observable<{ readonly bidPx: string }> };
  start(): void;
  stop(): void | Promise<void>;
}

export interface OrderProbe {
  /** The swap to use; the first listed when left out. */
  readonly instId?: string;
}

export interface Visit {
  readonly contract: Contract;
  readonly clock: Clock;
  readonly asker: Asker;
  readonly stop: StopWord;
  /** The service as it is open now. */
  readonly patient: () => Patient;
  /** Opens the service anew with other assumptions about signatures. */
  readonly reopen: (overrides: readonly Override[]) => Promise<void>;
  readonly note: (...findings: readonly Finding[]) => void;
  readonly findings: readonly Finding[];
}

/** None of these rows could be asked about, for one reason. */
export const noteUnasked = ({ note, contract }: Visit, rows: readonly RowPath[], why: string): void => {
  note(...rows.map((row) => unasked(contract.profile, row, why)));
};
