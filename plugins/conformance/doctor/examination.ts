/**
 * State of an examination: the client, the assumptions, and the findings so far.
 *
 * Invariants: findings are only added; the contract is the config's from beginning to end, so that every verdict is
 * about it, while the way to the service may change to one that the service accepts.
 */
import type { Observable } from "rxjs";
import type { Contract, wire } from "sluice/dialect";
import type { Clock } from "sluice/extension";
import type { Reply } from "../probe/reply.ts";
import type { Answer } from "./answer.ts";
import type { DoctorClient } from "./doctor-client.ts";
import { type Finding, type Override, type RowPath, unasked } from "./finding.ts";

/** The part of an open service that an examination needs. */
export interface ExaminedService {
  readonly clock: Clock;
  readonly transport: wire.Transport;
  readonly users: readonly {
    readonly uid: string;
    readonly keys: readonly { readonly name: string; readonly permissions: readonly string[] }[];
  }[];
  readonly market: { quotes(instId: string): Observable<{ readonly bidPx: string }> };
  readonly load?: () => Promise<void>;
  start(): void;
  stop(): void | Promise<void>;
}

export interface OrderProbe {
  /** The swap to use; the first listed when left out. */
  readonly instId?: string;
}

export interface ExaminationState {
  readonly contract: Contract;
  readonly clock: Clock;
  readonly client: DoctorClient;
  /** The service as it is open now. */
  readonly service: () => ExaminedService;
  /** Opens the service again with other assumptions about signatures. */
  readonly reopen: (overrides: readonly Override[]) => Promise<void>;
  readonly note: (...findings: readonly Finding[]) => void;
  readonly findings: readonly Finding[];
  /**
   * Answers of the service to wrong credentials; filled once the service was seen to distinguish them from right ones.
   */
  readonly door: Door;
}

interface Door {
  /** A signed read that was answered with a success: the form of this service's envelope. */
  success: Reply | undefined;
  /** Codes of requests that were turned away for their credentials. */
  readonly codes: Set<string>;
}

/**
 * Returns the reason for which an answer is no evidence: there is none, or the request was refused for its credentials.
 * Returns undefined otherwise.
 */
export const turnedAway = ({ door }: ExaminationState, answer: Answer): string | undefined => {
  if (answer.kind === "unanswered") return answer.why;
  const { endpoint, status, code, ok } = answer;
  if (ok) return undefined;
  if (status === 401 || status === 403) return `${endpoint}: status ${status}`;
  return door.codes.has(code) ? `${endpoint}: code ${code}, which wrong credentials are answered with` : undefined;
};

/** None of these rows could be asked about, for one reason. */
export const noteUnasked = ({ note, contract }: ExaminationState, rows: readonly RowPath[], why: string): void => {
  note(...rows.map((row) => unasked(contract.profile, row, why)));
};
