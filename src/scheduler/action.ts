/**
 * An action as the scheduler sees it: queued without content, built when its slot opens, notified of its end.
 *
 * Invariants: what is sent is asked for once, when the slot has opened; every action ends once.
 */
import type { EndpointName } from "../contract/endpoints.ts";
import type { WireRequest, WireResponse } from "../contract/transport.ts";
import type { ActionClass } from "../journal/events.ts";

/** Account that calls. Several keys of one user share its weight but have a second each. */
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
  /** The product it is about, where it is about one. */
  readonly instId?: string | undefined;
  /** Elements of a batch that is put together already; 1 when left out. */
  readonly elements?: number;
  /** Weight of each element, besides `weight`; none when left out. */
  readonly elementWeight?: number;
  /** Instant at which it is dropped, with `done` called, if it still waits. */
  readonly deadlineAt?: number;
  /**
   * Of a batch that is put together as it leaves: how many elements it would have now. It may be asked to take fewer.
   */
  readonly elementsNow?: (() => number) | undefined;
  /**
   * The request as of `now`, of at most `elementsMax` elements, or undefined when it is no longer needed. Called
   * once, when the slot has opened.
   */
  build(key: string | undefined, elementsMax: number, now: number): WireRequest | undefined;
  /** Called once with the ending, and not at all for an action that was withdrawn. */
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
