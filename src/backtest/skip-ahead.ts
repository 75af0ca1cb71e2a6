/**
 * Skip-ahead of a backtest: how many rows can be applied in bulk, because they change nothing at the embedded service
 * but prices.
 *
 * That holds while no order rests there and no price comes near one at which a position would be liquidated. If volume
 * counts, an order also changes the displayed quantity until it is displayed again, so rows are skipped only until the
 * first order. An instrument that comes or goes changes the effect of the prints around it, and so do bars that
 * overlap; funding is charged to holders of a position, and which price whole levels will show is not known beforehand.
 * Not here: how rows are applied in bulk (player.ts, batched-rows.ts).
 */
import type { Series, Tape, TapeInstrument } from "../market/tape/tape.ts";
import type { Venue } from "../venue/venue.ts";
import { overlaps } from "./candle-prints.ts";
import type { FillChoice } from "./fill-choice.ts";

/**
 * Number of rows that are examined at a time: few at first, because the next order discards the result, and twice as
 * many each time that none comes.
 */
const rowsAtFirst = 16;
const rowsAtMost = 8_192;

/** Lowest and highest price of each row. */
interface Prices {
  readonly low: Float64Array;
  readonly high: Float64Array;
}

/** Undefined if a row does not change the value of positions. */
const pricesOf = (series: Series): Prices | undefined => {
  switch (series.kind) {
    case "trade":
    case "mark":
      return { low: series.px, high: series.px };
    case "quote":
      return { low: series.bidPx, high: series.askPx };
    case "candle":
      return { low: series.low, high: series.high };
    case "level":
    case "funding":
    case "change":
      return undefined;
  }
};

export class SkipAhead {
  readonly #tape: Tape;
  readonly #venue: Venue;
  /** Some tapes are never applied in bulk. */
  readonly #never: boolean;
  /** True if an order changes what is displayed. */
  readonly #lasting: boolean;
  readonly #prices: readonly (Prices | undefined)[];
  readonly #played: readonly boolean[];
  /** Series whose prices have to stay inside a band, and the band; looked at only while there is a position. */
  readonly #watched: Uint8Array;
  readonly #bands: ReturnType<Venue["safeBand"]>[];
  readonly #above: Float64Array;
  readonly #below: Float64Array;
  /** A bar is printed from the end of the previous one on. */
  readonly #ahead: readonly number[];
  #state: "unknown" | "quiet" | "held" | "loud" = "quiet";
  /** Number of followers of prices inside bars. They must receive every price. */
  #followers = 0;
  #looked = 0;
  #reach = rowsAtFirst;

  constructor(tape: Tape, venue: Venue, { models, plays }: Pick<FillChoice, "models" | "plays">) {
    const { series } = tape;
    this.#tape = tape;
    this.#venue = venue;
    this.#never = series.some((one) => one.kind === "change" || (one.kind === "candle" && overlaps(one)));
    this.#lasting = models.some((model) => model?.volume === "traded");
    this.#prices = series.map(pricesOf);
    this.#played = series.map((one) => plays(one));
    this.#watched = new Uint8Array(series.length);
    this.#bands = Array.from(tape.instruments, () => undefined);
    this.#above = new Float64Array(series.length);
    this.#below = new Float64Array(series.length);
    this.#ahead = series.map(({ kind }) => (kind === "candle" ? 1 : 0));
    if (this.#never) return;
    // A fill is also reported as a change of its order.
    venue.onOrder(this.disturb);
    venue.onFunding(this.disturb);
  }

  /** Called when something happened at the service that may have changed more than prices. */
  readonly disturb = (): void => {
    this.#state = "unknown";
  };

  readonly follow = (change: 1 | -1): void => {
    this.#followers += change;
  };

  /**
   * First row from `from` on, at most `to`, that changes something. If rows have to be examined, only a limited number
   * are at a time.
   */
  until(from: number, to: number): number {
    if (this.#never || this.#followers > 0) return from;
    if (this.#state === "unknown") {
      this.#state = this.#judge();
      this.#looked = from;
      this.#reach = rowsAtFirst;
    }
    if (this.#state !== "held") return this.#state === "quiet" ? to : from;
    const goal = Math.min(to, from + this.#reach);
    const looked = Math.max(this.#looked, from);
    this.#looked = Math.max(looked, this.#safeUntil(looked, goal));
    if (this.#looked >= goal) this.#reach = Math.min(2 * this.#reach, rowsAtMost);
    return Math.min(this.#looked, to);
  }

  #judge(): "quiet" | "held" | "loud" {
    if (this.#lasting || this.#venue.rests()) return "loud";
    const { instruments, series } = this.#tape;
    const bands = this.#bands;
    for (let index = 0; index < bands.length; index++)
      bands[index] = this.#venue.safeBand((instruments[index] as TapeInstrument).instId);
    let held = false;
    for (let which = 0; which < series.length; which++) {
      const { instrument, kind } = series[which] as Series;
      const band = bands[instrument];
      if (band === undefined) return "loud";
      const free = band.above === Number.NEGATIVE_INFINITY && band.below === Number.POSITIVE_INFINITY;
      if (!free) held = true;
      if (!free && kind === "level" && this.#played[which]) return "loud";
      this.#watched[which] = !free && this.#played[which] === true ? 1 : 0;
      this.#above[which] = band.above;
      this.#below[which] = band.below;
    }
    return held ? "held" : "quiet";
  }

  /** The first row from `from` on, at most `to`, with a price outside its band. */
  #safeUntil(from: number, to: number): number {
    const { series, row } = this.#tape.order;
    for (let index = from; index < to; index++) {
      const which = series[index] as number;
      if (this.#watched[which] === 0) continue;
      const floor = this.#above[which] as number;
      const ceiling = this.#below[which] as number;
      const columns = this.#prices[which];
      if (columns === undefined) return index;
      const { low, high } = columns;
      const first = row[index] as number;
      const last = Math.min(first + (this.#ahead[which] as number), low.length - 1);
      for (let one = first; one <= last; one++) {
        if (!((low[one] as number) > floor && (high[one] as number) < ceiling)) return index;
      }
    }
    return to;
  }
}
