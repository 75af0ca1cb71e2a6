/**
 * An action as the scheduler sees it: queued without content, built when its slot opens, notified of its end.
 *
 * Invariants: the content of an action is requested once, when the slot has opened; every action ends once.
 */
import type { EndpointName } from "../contract/endpoints.ts";
import type { WireRequest, WireResponse } from "../contract/transport.ts";
import type { ActionClass } from "../journal/events.ts";

/** Account that makes the call. Several keys of one user share its weight, but each has a second of its own. */
export interface Account {
  readonly uid: string;
  readonly ip: string;
  /** Names of the user's keys that may make this call, in order of preference; none for an unsigned call. */
  readonly keys: readonly string[];
}

export interface Action {
  readonly endpoint: EndpointName;
  readonly class: ActionClass;
  readonly owner: string;
  readonly weight: number;
  readonly account: Account;
  /** The product that the call is about, if it is about one. */
  readonly instId?: string | undefined;
  /** Number of elements of a batch that is already complete; 1 when left out. */
  readonly elements?: number;
  /** Weight of each element, besides `weight`; none when left out. */
  readonly elementWeight?: number;
  /** Instant at which the action is dropped if it still waits; `done` is called then. */
  readonly deadlineAt?: number;
  /**
   * For a batch that is completed when it leaves: the number of elements that it would have now. The grant may be for
   * fewer.
   */
  readonly elementsNow?: (() => number) | undefined;
  /**
   * Returns the request as of `now`, with at most `elementsMax` elements, or undefined when it is no longer needed.
   * Called once, when the slot has opened.
   */
  build(key: string | undefined, elementsMax: number, now: number): WireRequest | undefined;
  /** Called once with the ending. Not called for an action that was withdrawn. */
  done(ending: Ending): void;
}

export type Ending =
  | {
      readonly kind: "answered";
      readonly response: WireResponse;
      /** Instant at which it was read. */
      readonly at: number;
      readonly waitedMs: number;
      readonly elapsedMs: number;
    }
  | { readonly kind: "lost"; readonly message: string; readonly waitedMs: number }
  | { readonly kind: "dropped"; readonly reason: "withdrawn" | "deadline" | "unwritten" };
