/**
 * Followers of an instrument's prices inside its bars, such as the stops of a position: they receive every price
 * that is played, and the prices at which they act are played as well.
 *
 * Invariants: a price is delivered after the feed's delay, in the order in which prices are played; nothing is drawn or
 * set without a follower.
 * Not here: the path through a bar (candle-prints.ts).
 */
import type { FollowedPath, PathFollower } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import { type Grid, grid } from "../decimal.ts";
import { isLowWorse } from "./worse-end.ts";

/** The rest of a bar and the best prices of our own resting orders, in ticks. */
interface BarAheadTicks {
  readonly px: number;
  readonly low: number;
  readonly high: number;
  readonly close: number;
  readonly bidPx: number;
  readonly askPx: number;
}

export class BarFollowers {
  /** Plans the next prices again. Set by the player of the bars. */
  replan: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #feedMs: () => number;
  readonly #tick: Grid;
  readonly #onCount: (change: 1 | -1) => void;
  readonly #all: PathFollower[] = [];
  #toldAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, feedMs: () => number, tickSize: string, onCount: (change: 1 | -1) => void) {
    this.#clock = clock;
    this.#feedMs = feedMs;
    this.#tick = grid(tickSize);
    this.#onCount = onCount;
  }

  get any(): boolean {
    return this.#all.length > 0;
  }

  add(follower: PathFollower): FollowedPath {
    this.#all.push(follower);
    this.#onCount(1);
    // Called by a timer: rows that were left for later are applied before one is set.
    const changed = (): void => {
      this.#clock.setTimer(this.#clock.now(), () => this.replan());
    };
    changed();
    return {
      changed,
      end: () => {
        const index = this.#all.indexOf(follower);
        if (index < 0) return;
        this.#all.splice(index, 1);
        this.#onCount(-1);
      },
    };
  }

  /** The first price on the way from `from` to `to`, both left out, at which a follower acts; all in ticks. */
  firstBetween(from: number, to: number): number | undefined {
    const sign = to < from ? -1 : 1;
    let first: number | undefined;
    for (const follower of this.#all) {
      for (const level of follower.levels()) {
        const px = this.#tick.parseTo(level, sign === 1 ? "up" : "down");
        const isBetween = sign * (px - from) > 0 && sign * (to - px) > 0;
        if (isBetween && (first === undefined || sign * (first - px) > 0)) first = px;
      }
    }
    return first;
  }

  /**
   * Returns whether the low of a bar is worse than its high for held positions and resting orders, undefined if neither
   * is worse (worse-end.ts). All prices are in ticks; `bidPx` and `askPx` are infinite if no order rests on that side.
   */
  isLowWorse({ bidPx, askPx, ...bar }: BarAheadTicks): boolean | undefined {
    const { format } = this.#tick;
    const px = (ticks: number): string | undefined => (Number.isFinite(ticks) ? format(ticks) : undefined);
    const prices = { px: format(bar.px), low: format(bar.low), high: format(bar.high), close: format(bar.close) };
    return isLowWorse(
      { ...prices, bidPx: px(bidPx), askPx: px(askPx) },
      this.#all.flatMap((follower) => follower.exits()),
    );
  }

  /** Called when a price in ticks has been played now. */
  tell(ticks: number): void {
    if (this.#all.length === 0) return;
    const px = this.#tick.format(ticks);
    this.#toldAt = Math.max(this.#toldAt, this.#clock.now() + this.#feedMs());
    this.#clock.setTimer(this.#toldAt, () => {
      for (const follower of [...this.#all]) follower.passed(px);
      // A trailing stop now acts at a different price.
      this.replan();
    });
  }
}
