/**
 * The windows of one layer for one scope: whether a call may leave now, when to ask again if not, and in which window
 * an answer belongs.
 *
 * Not here: windows fixed on a clock (fixed-window.ts), windows that begin anywhere (rolling-window.ts).
 */
import type { LayerSpec } from "./layers.ts";

/** Spending of a layer: by what the service reports, or evenly without evidence. */
export type QuotaMode = "measured" | "floor";

/**
 * Maximum use, as of `at`, of a window that ends at client instant `endAt` at the latest.
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
   * Certain use of the first window when the call left. Own use may be that of a lost call, or may have landed in the
   * next window.
   */
  knownThen: number;
  /** Units settled in that window by then without a count of the service. The count of the answer includes them. */
  unheardThen: number;
  /** Units settled by then in the first window by answers with a count: a lower count contradicts them. */
  surelyThen: number;
}

/**
 * Circumstances of a refusal for no known reason: by itself; after the call that left alone before it; or before any
 * call into its window was counted.
 */
export type Unexplained = "single" | "repeated" | "entering";

/** Window of one limit and one scope, such as the weight of one user. */
export interface LimitWindow {
  /** The layer, with the capacity that is stated for now. */
  readonly spec: LayerSpec;
  readonly scope: string;
  /** Units that a window holds, as far as known; never more than stated. */
  readonly capacity: number;
  /** Applies the limit that is declared for `now`. Without declared changes nothing happens. */
  restate(now: number): void;
  /** Client instant after which a declared change may give more room; infinite when none is declared. */
  readonly changesAt: number;
  /** The stated limit between two client instants; undefined if a declared change falls between them, or may. */
  limitBetween(from: number, to: number): number | undefined;
  /** Undefined when the call fits, otherwise the earliest instant at which more may fit. */
  blockedUntil(units: number, now: number, ceiling: Ceiling): number | undefined;
  /**
   * Units that fit now if every window holds what `floor` returns, and within `paced`. A call of up to this size is not
   * blocked, unless the ceiling is lower. A floor that `isFlat` is the same for all windows.
   */
  room(now: number, floor: Ceiling, isFlat?: boolean): number;
  /** All units that were ever begun. */
  readonly begun: number;
  /** Called when a call leaves. A `ticket` that is no longer needed may be passed for reuse. */
  begin(units: number, now: number, ticket?: WindowTicket): WindowTicket;
  /** Called for one more call that leaves at the same instant with the same knowledge. */
  again(ticket: WindowTicket, now: number): void;
  /**
   * Places an answered call. `used` is the service's count, if it gave one. Only the count of a `counted` call shows
   * where the call landed. Returns new use by others.
   */
  end(ticket: WindowTicket, sentAt: number, receivedAt: number, used: number | undefined, counted: boolean): number;
  /** The call failed unread: it may have landed in any window until now. */
  lose(ticket: WindowTicket, now: number): void;
  /** The call never left. */
  undo(ticket: WindowTicket): void;
  /**
   * Called when a call was refused and no other layer can have refused it. Returns true if the limit was found to be
   * lower than stated.
   */
  learnRefusal(sentAt: number, at: number): boolean;
  /**
   * Called when a call was refused that entered a window at its beginning. Returns true if windows were found to begin
   * late.
   */
  learnLate(ticket: WindowTicket, sentAt: number): boolean;
  /** Called when a call that left at `sentAt` was refused for no known reason, most likely by this layer. */
  noteUnexplained(sentAt: number, at: number, how?: Unexplained): void;
  /** Mode of spending: by the counts of the service, or evenly without evidence. */
  readonly mode: QuotaMode;
  /** Called after a refusal or a block: nothing leaves before the window after `at` has certainly begun. */
  shut(at: number): number;
  /** Called when the clock was disturbed: windows have to be numbered again. */
  reset(): void;
  used(now: number): number;
  /** Units of calls that are not answered yet. */
  readonly open: number;
  /** Used units that are not ours, or that are missing from the limit: these two cannot be distinguished. */
  foreign(now: number): number;
  /**
   * Units that are missing from the limit according to the answers, or that were used before the first count of a
   * window.
   */
  readonly missing: number;
  /** Milliseconds between the earliest and the latest possible end of a window. */
  readonly widthMs: (at: number) => number;
  /**
   * Units that ordinary actions may have used by `at` in a window whose end or limit is in doubt; infinite if both are
   * known.
   */
  paced(at: number): number;
  /**
   * True if quota is freed continuously and not at the beginning of a window. No slots need to be kept for exits then.
   */
  readonly flows: boolean;
  /** Returns true if a call of `units` answered at `at` may have exceeded a window that was assumed to be over. */
  isRisky(units: number, at: number): boolean;
  /** True if the last answer may belong to either of two windows. */
  readonly ambiguous: boolean;
  /** True if occasionally something is counted that is not ours, such as a request that arrived twice. */
  readonly unsteady: boolean;
  /**
   * True if counts are those from before their own call, so that a single call does not show whether a window has
   * begun.
   */
  readonly lags: boolean;
  readonly windowEndsAt: (now: number) => number;
}
