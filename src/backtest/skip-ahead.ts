/**
 * Skip-ahead of a backtest: how many rows can be applied in bulk, because they change nothing at the embedded service but prices.
 *
 * That is so while nobody's order rests there and no price comes near one at which somebody's position would be liquidated. Where
 * volume counts, an order also leaves a mark on what is displayed, which lasts until it is displayed anew: there it is so until the
 * first order has come. A product that comes or goes decides what becomes of the prints around it, and so do bars that overlap;
 * funding is charged to who holds a position, and of whole levels nobody can tell which price they will show.
 * Not here: what is made of it (player.ts, batched-rows.ts).
 */
import { isActive } from "../contract/order-states.ts";
import type { Series, Tape } from "../market/tape/tape.ts";
import type { Venue } from "../venue/venue.ts";
import { overlaps } from "./candle-prints.ts";
import type { FillChoice } from "./fill-choice.ts";

export interface SkipAhead {
  /** How far from `from` no row changes more, at most `to`; where it has to look at them, it looks only so far ahead at a time. */
  readonly until: (from: number, to: number) => number;
  /** Something happened at the service that may have changed more. */
  readonly disturb: () => void;
}

/** Rows that are looked at in one go: what was looked at is thrown away when something happens, and that may be soon. */
const rowsAtFirst = 128;
const rowsAtMost = 8_192;

/** Lowest and highest price of each row; undefined where a row has no say in what positions are worth. */
type Prices = readonly [low: Float64Array, high: Float64Array];

const pricesOf = (series: Series): Prices | undefined => {
  switch (series.kind) {
    case "trade":
    case "mark":
      return [series.px, series.px];
    case "quote":
      return [series.bidPx, series.askPx];
    case "candle":
      return [series.low, series.high];
    case "level":
    case "funding":
    case "change":
      return undefined;
  }
};

export const createSkipAhead = (tape: Tape, venue: Venue, { models, plays }: Pick<FillChoice, "models" | "plays">): SkipAhead => {
  const { series, instruments, order } = tape;
  const never: SkipAhead = { until: (from) => from, disturb: () => undefined };
  if (series.some((one) => one.kind === "change" || (one.kind === "candle" && overlaps(one)))) return never;
  const lasting = models.some((model) => model?.volume === "traded");
  const resting = new Set<string>();
  const prices = series.map(pricesOf);
  const played = series.map(plays);
  /** Series whose prices have to stay inside a band, and the band; looked at only while somebody holds a position. */
  const watched = new Uint8Array(series.length);
  const above = new Float64Array(series.length);
  const below = new Float64Array(series.length);
  /** A bar is printed from the end of the one before it on. */
  const ahead = series.map(({ kind }) => (kind === "candle" ? 1 : 0));
  let state: "unknown" | "quiet" | "held" | "loud" = "quiet";
  let looked = 0;
  let reach = rowsAtFirst;

  const judge = (): typeof state => {
    if (lasting || resting.size > 0) return "loud";
    const bands = instruments.map(({ instId }) => venue.safeBand(instId));
    let held = false;
    for (const [which, { instrument, kind }] of series.entries()) {
      const band = bands[instrument];
      if (band === undefined) return "loud";
      const free = band.above === Number.NEGATIVE_INFINITY && band.below === Number.POSITIVE_INFINITY;
      if (!free) held = true;
      if (!free && kind === "level" && played[which]) return "loud";
      watched[which] = !free && played[which] === true ? 1 : 0;
      above[which] = band.above;
      below[which] = band.below;
    }
    return held ? "held" : "quiet";
  };
  const isSafe = (index: number): boolean => {
    const which = order.series[index] as number;
    if (watched[which] === 0) return true;
    const floor = above[which] as number;
    const ceiling = below[which] as number;
    const columns = prices[which];
    if (columns === undefined) return false;
    const [low, high] = columns;
    const row = order.row[index] as number;
    const last = Math.min(row + (ahead[which] as number), low.length - 1);
    for (let one = row; one <= last; one++) {
      if (!((low[one] as number) > floor && (high[one] as number) < ceiling)) return false;
    }
    return true;
  };
  const disturb = (): void => {
    state = "unknown";
  };
  venue.onOrder((_, { ordId, state: now }) => {
    if (isActive(now)) resting.add(ordId);
    else resting.delete(ordId);
    disturb();
  });
  venue.onFill(disturb);
  venue.onFunding(disturb);
  return {
    disturb,
    until: (from, to) => {
      if (state === "unknown") {
        state = judge();
        looked = from;
        reach = rowsAtFirst;
      }
      if (state !== "held") return state === "quiet" ? to : from;
      if (looked < from) looked = from;
      const goal = Math.min(to, from + reach);
      while (looked < goal && isSafe(looked)) looked++;
      if (looked >= goal) reach = Math.min(2 * reach, rowsAtMost);
      return Math.min(looked, to);
    },
  };
};
