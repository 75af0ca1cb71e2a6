/**
 * One scope of one layer with its windows: may a call leave now, and if not, when to ask again; where an answer
 * belongs.
 *
 * Not here: windows fixed on a clock (fixed-window.ts), windows that begin anywhere (rolling-window.ts).
 */
import type { LayerSpec } from "./layers.ts";

/** Spending of a layer: by what the service reports, or evenly without evidence. */
export type QuotaMode = "measured" | "floor";

/**
 * Most units that may be used, as of `at`, of a window that ends, at the latest, at client instant `endAt`.
 *
 * @param endAt - latest end of the window, client instant
 * @param startAt - its earliest beginning, client instant
 * @param at - instant of the call
 * @returns units of the window's capacity
 */
export type Ceiling = (endAt: number, startAt: number, at: number) => number;

export interface WindowTicket {
  units: number;
  first: number;
  /**
   * Use of the first window that was beyond doubt when the call left: ours may be a lost call's, or have landed next to
   * it.
   */
  knownThen: number;
  /** Units settled in it by then without a count of the service: the count of the answer includes them. */
  unheardThen: number;
  /** Units settled by then in the first window by answers with a count: a lower count contradicts them. */
  surelyThen: number;
}

/** Window of one limit and one scope, such as the weight of one user. */
export interface LimitWindow {
  /** The layer, with the capacity that is stated for now. */
  readonly spec: LayerSpec;
  readonly scope: string;
  /** Units a window holds, as far as is known: never more than is stated. */
  readonly capacity: number;
  /** Takes the limit that is declared for `now`; nothing changes without declared changes. */
  restate(now: number): void;
  /** Client instant after which a declared change may give more room; infinite when none is declared. */
  readonly changesAt: number;
  /** The stated limit between two client instants; undefined where a declared change falls between them, or may. */
  limitBetween(from: number, to: number): number | undefined;
  /** Undefined when the call fits, otherwise the earliest instant at which more could fit. */
  blockedUntil(units: number, now: number, ceiling: Ceiling): number | undefined;
  /**
   * Units that fit now if every window holds what `floor` returns, and at most what is paced: no call of as many is
   * blocked, unless the ceiling is lower. A floor that `isFlat` is the same for all windows.
   */
  room(now: number, floor: Ceiling, isFlat?: boolean): number;
  /** All units that were ever begun. */
  readonly begun: number;
  /** A call leaves; a `ticket` that is no longer needed may be passed to be reused. */
  begin(units: number, now: number, ticket?: WindowTicket): WindowTicket;
  /** One more call that leaves at the same instant and of which the same is known. */
  again(ticket: WindowTicket, now: number): void;
  /**
   * Places an answered call. `used` is the service's number, if it gave one; only that of a call it `counted` shows
   * where the call landed. Returns newly seen use by others.
   */
  end(ticket: WindowTicket, sentAt: number, receivedAt: number, used: number | undefined, counted: boolean): number;
  /** The call failed unread: it may have landed in any window until now. */
  lose(ticket: WindowTicket, now: number): void;
  /** The call never left. */
  undo(ticket: WindowTicket): void;
  /** A call was refused and no other layer can have done it: true when the limit was found to be lower than stated. */
  learnRefusal(sentAt: number, at: number): boolean;
  /** A call was refused that entered a window at its beginning: true when windows were found to begin late. */
  learnLate(ticket: WindowTicket, sentAt: number): boolean;
  /** A call that left at `sentAt` was refused, nothing explains it, and most likely it was this layer. */
  noteUnexplained(sentAt: number, at: number): void;
  /** Mode of spending: by the counts of the service, or evenly without evidence. */
  readonly mode: QuotaMode;
  /** Refused or blocked: nothing more before the window after `at` has surely begun. */
  shut(at: number): number;
  /** The clock was disturbed: windows have to be named again. */
  reset(): void;
  used(now: number): number;
  /** Units of calls that are not answered yet. */
  readonly open: number;
  /** Units used that are not ours, or missing from the limit: the two cannot be distinguished. */
  foreign(now: number): number;
  /** Units that the limit lacks by the answers, or that were used before the first count of a window. */
  readonly missing: number;
  /** Milliseconds between the earliest and the latest possible end of a window. */
  readonly widthMs: (at: number) => number;
  /**
   * Units ordinary actions may have used by `at` of a window whose end or limit is in doubt; infinite where they are
   * known.
   */
  paced(at: number): number;
  /** Quota comes free all the time, rather than where a window begins: no slots of it need be kept for exits. */
  readonly flows: boolean;
  /** True if a call of `units` answered at `at` may have been too much for a window that was assumed to be over. */
  isRisky(units: number, at: number): boolean;
  /** The last answer may be of two windows. */
  readonly ambiguous: boolean;
  /** Now and then something is used of it that is not ours, as of a request that arrived twice. */
  readonly unsteady: boolean;
  /**
   * Its counts are those from before the call they came with, so that a single call does not show whether a window has
   * begun.
   */
  readonly lags: boolean;
  readonly windowEndsAt: (now: number) => number;
}
