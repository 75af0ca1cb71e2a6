/**
 * Plays bars at the embedded service as quotes and prints inside each bar's own time.
 *
 * A bar becomes four prints: the open when it begins, one extreme after a third, the other after two thirds, the close
 * when it ends; the low comes first when the bar rose, the high first when it fell. Where the path is to be
 * pessimistic, the worse end for the account comes first (worse-end.ts), and once the price is on its way there it goes
 * on. Strategies see none of these prints, only the finished bar, so an order can be filled by the bar it was placed
 * in, at the prices still to come, but never by what was past. Stops and take-profits that the engine holds see them:
 * where the price passes one between two prints it is quoted there on its way, at the instant that a steady price would
 * be there.
 *
 * Invariants: no price outside the bar is printed or quoted, except that a bar without a range shows an ask one tick
 * above it; a quarter of the bar's volume, at least one lot, is behind each print.
 */
import type { Clock, Timer } from "../clock/clock.ts";
import { type CandleSeries, isTerms, openingsOf, type Series } from "../market/tape/tape.ts";
import type { Venue } from "../venue/venue.ts";
import type { BarFollowers } from "./bar-followers.ts";
import type { BarPath } from "./fill-models.ts";

/** Bars applied late, at a service where no order rests: only the latest print is visible there. */
export interface LateBars {
  /** Called when row `row` closed at its own instant. Rows since the last call may be left out. */
  closed(row: number): void;
  /**
   * Makes the prints of the following bar that were due before `at`. Those of `at` itself are timers of that instant.
   */
  until(at: number): void;
  /** Leaves future prints to the clock. */
  arm(): void;
}

/** Number of prints of a bar before its close. */
const prints = 3;

/**
 * Returns whether a bar opened before the previous one had closed. Their prints then alternate, and none may be left
 * out.
 */
export const overlaps = (series: CandleSeries): boolean => {
  const { at } = series;
  const openedAt = openingsOf(series);
  for (let row = 1; row < at.length; row++) if (openedAt(row) < (at[row - 1] as number)) return true;
  return false;
};

/** Returns whether bars are played: only if nothing finer was recorded, and of several lengths only the shortest. */
export const isPlayed = (series: CandleSeries, all: readonly Series[]): boolean =>
  all.every(
    (other) =>
      other.instrument !== series.instrument ||
      isTerms(other) ||
      (other.kind === "candle" && (other === series || other.barMs > series.barMs)),
  );

/** The bid around a print of the bar, in ticks; the ask is one above it. */
export const bidAt = (px: number, low: number, high: number): number => (px >= high && low < high ? px - 1 : px);

const lowFirst = (row: number, { open, close }: CandleSeries): boolean =>
  (close[row] as number) >= (open[row] as number);

/** The rule of worse-end.ts without positions: undefined if both extremes meet resting orders, or neither does. */
const restingAlone = (
  row: number,
  { high, low }: CandleSeries,
  { bidPx, askPx }: ReturnType<Venue["resting"]>,
): boolean | undefined => {
  const buys = bidPx >= (low[row] as number);
  const sells = askPx <= (high[row] as number);
  return buys === sells ? undefined : sells;
};

export class CandlePlayer implements LateBars {
  readonly #venue: Venue;
  readonly #clock: Clock;
  readonly #instId: string;
  readonly #series: CandleSeries;
  readonly #skewMs: number;
  readonly #path: BarPath;
  readonly #followers: BarFollowers | undefined;
  /** The price that was printed last. */
  #before = 0;
  /** Current price on the path of the bar. */
  #px = 0;
  #pxAt = 0;
  /** Quotes the next price between two prints at which a follower acts. */
  #stop: Timer | undefined;
  #fromLow = true;
  /** True once the price has left the open for the first extreme. */
  #onItsWay = false;
  readonly #openedAt: (row: number) => number;
  /** The row of the bar that is running, the instant it opened, and the number of prints made before its close. */
  #running = 0;
  #opensAt = 0;
  #lengthMs: number;
  #made = 0;
  #armed = true;

  constructor(
    venue: Venue,
    clock: Clock,
    instId: string,
    series: CandleSeries,
    skewMs: number,
    path: BarPath = "shortest",
    followers?: BarFollowers,
  ) {
    this.#venue = venue;
    this.#clock = clock;
    this.#instId = instId;
    this.#series = series;
    this.#openedAt = openingsOf(series);
    this.#lengthMs = series.barMs;
    this.#skewMs = skewMs;
    this.#path = path;
    this.#followers = followers;
    if (followers !== undefined) followers.replan = () => this.#plan();
  }

  /** Row `row` of the series has just closed. */
  take(row: number): void {
    this.#close(row, this.#clock.now());
    this.#arm();
    this.#plan();
  }

  closed(row: number): void {
    this.#close(row, this.#series.at[row] as number);
    this.#armed = false;
  }

  until(at: number): void {
    if (this.#armed || this.#running === this.#series.at.length) return;
    while (this.#made < prints && this.#dueAt(this.#made) < at)
      this.#printOf(this.#running, this.#made, this.#dueAt(this.#made));
  }

  arm(): void {
    if (!this.#armed) this.#arm();
  }

  #arm(): void {
    this.#armed = true;
    const row = this.#running;
    if (row === this.#series.at.length) return;
    for (let which = this.#made; which < prints; which++) {
      this.#clock.setTimer(this.#dueAt(which), () => {
        this.#printOf(row, which, this.#clock.now());
        this.#plan();
      });
    }
  }

  /** `at` is when row `row` closed. */
  #close(row: number, at: number): void {
    const { at: closes, close, grid } = this.#series;
    this.#print(row, close[row] as number, at);
    this.#running = row + 1;
    this.#made = 0;
    this.#onItsWay = false;
    // Instants on the clock: the tape may be played later than it was recorded, but bars keep their distance.
    if (this.#running === closes.length) return;
    const opensAt = this.#openedAt(this.#running);
    this.#opensAt = at + Math.max(0, opensAt - (closes[row] as number));
    if (grid !== undefined) this.#lengthMs = (closes[this.#running] as number) - opensAt;
  }

  #dueAt(which: number): number {
    return this.#opensAt + (which * this.#lengthMs) / 3;
  }

  #printOf(row: number, which: number, at: number): void {
    if (row === this.#running) this.#made = which + 1;
    this.#print(row, this.#pxOf(row, which), at);
  }

  /** The order of the extremes is decided when the first one is due, by the orders that rest at that time. */
  #pxOf(row: number, which: number): number {
    const { open, high, low } = this.#series;
    if (which === 0) return open[row] as number;
    if (which === 1 && !this.#onItsWay) {
      const worse = this.#path === "pessimistic" ? this.#isLowWorse(row) : undefined;
      this.#fromLow = worse ?? lowFirst(row, this.#series);
    }
    return (this.#fromLow === (which === 1) ? low[row] : high[row]) as number;
  }

  #isLowWorse(row: number): boolean | undefined {
    const resting = this.#venue.resting(this.#instId);
    if (this.#followers?.any !== true) return restingAlone(row, this.#series, resting);
    const { low, high, close } = this.#series;
    return this.#followers.isLowWorse({
      ...resting,
      px: this.#px,
      low: low[row] as number,
      high: high[row] as number,
      close: close[row] as number,
    });
  }

  #print(row: number, px: number, at: number): void {
    const qty = this.#quote(row, px, at);
    this.#venue.trade(this.#instId, px >= this.#before ? "buy" : "sell", px, qty, at + this.#skewMs);
    this.#before = px;
    this.#followers?.tell(px);
  }

  /** Returns the quantity. */
  #quote(row: number, px: number, at: number): number {
    const { low, high, volume } = this.#series;
    const qty = Math.max(1, Math.floor((volume[row] as number) / 4));
    const bid = bidAt(px, low[row] as number, high[row] as number);
    this.#venue.quote(this.#instId, bid, qty, bid + 1, qty, at + this.#skewMs);
    this.#px = px;
    this.#pxAt = at;
    return qty;
  }

  /**
   * Looks for a price at which a follower acts before the next print. Between two bars there is none, because the
   * market jumps to the next open.
   */
  #plan(): void {
    const followers = this.#followers;
    this.#stop?.cancel();
    this.#stop = undefined;
    const row = this.#running;
    if (followers?.any !== true || !this.#armed || this.#made === 0 || row === this.#series.at.length) return;
    const isClose = this.#made === prints;
    const to = isClose ? (this.#series.close[row] as number) : this.#pxOf(row, this.#made);
    const stop = followers.firstBetween(this.#px, to);
    if (stop === undefined) return;
    const at = this.#pxAt + ((this.#dueAt(this.#made) - this.#pxAt) * (stop - this.#px)) / (to - this.#px);
    this.#stop = this.#clock.setTimer(at, () => {
      if (this.#made === 1) this.#onItsWay = true;
      this.#quote(row, stop, this.#clock.now());
      followers.tell(stop);
      this.#plan();
    });
  }
}
