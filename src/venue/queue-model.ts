/**
 * Queue position of a resting order, where only the length of the queue is shown, and how much a print or a crossing
 * price fills.
 *
 * Known are the displayed quantity at the order's price, from time to time, and the prints in between. Prints take from
 * the front. Any other decrease was canceled by unknown owners, and the rules below differ in how they interpret it.
 * Invariants: under every rule, an order is never further back than the quantity that is displayed; under
 * `probabilistic` it is never further back than under `risk-averse`; of two orders the one with more ahead of it stays
 * behind the other; places are whole lots, rounded against the order.
 * Not here: the orders themselves (order-book-side.ts), what a recording can support (backtest/fill-choice.ts).
 */

/**
 * - `risk-averse`: every cancel was behind us, as long as that is possible. Of the rules that look at a queue it fills
 *   latest.
 * - `{ power: n }`: part of the cancels was ahead of us. With A lots ahead and B behind, the share Bⁿ / (Aⁿ + Bⁿ) of
 *   what is canceled was behind. 1 spreads cancels evenly over the queue, more concentrates them in its longer part.
 * - `probabilistic`: the same with n = 2.
 * - `through`: nothing is known of the queue. The price alone never fills an order, only prints and prices beyond it
 *   do.
 * - `touch`: there is no queue. The first print at the price fills: more than any order can hope for, useful as a
 *   bound.
 */
export type Queue =
  | "risk-averse"
  | "probabilistic"
  | "through"
  | "touch"
  /** A multiple of a half from 1 to 16. */
  | { readonly power: number };

/** Whole orders or traded quantities; `FillModel` explains both. */
export type FillVolume = "unlimited" | "traded";

/** One instrument's rules as the book uses them. */
export interface Matching {
  /** Quantity ahead of an arriving order: the displayed one, an unknown one, or none. */
  readonly joins: "displayed" | "unknown" | "nothing";
  /** The power by which cancels are shared out; without it all were behind. */
  readonly power?: number;
  readonly volume: FillVolume;
  /** True if a price displayed across an order fills it; false where the price is made of the prints that do. */
  readonly crosses: boolean;
  /** True if takers get their whole quantity at a displayed price, whose own quantity is not known. */
  readonly endless?: boolean;
}

export const powerDefault = 2;

export const matchingOf = (queue: Queue, volume: FillVolume, crosses = true): Matching => {
  if (queue === "through" || queue === "touch")
    return { joins: queue === "through" ? "unknown" : "nothing", volume, crosses };
  if (queue === "risk-averse") return { joins: "displayed", volume, crosses };
  return { joins: "displayed", power: queue === "probabilistic" ? powerDefault : queue.power, volume, crosses };
};

/** By multiplications and a square root, which every machine rounds alike. */
const raised = (value: number, power: number): number => {
  let result = power % 1 === 0 ? 1 : Math.sqrt(value);
  for (let times = Math.floor(power); times > 0; times--) result *= value;
  return result;
};

const shareAhead = (ahead: number, behind: number, power: number): number =>
  ahead === 0 ? 0 : 1 / (1 + raised(behind / ahead, power));

/** Less than a lot can be, but more than rounding can produce. */
const dust = 1e-9;

/**
 * Lots ahead of an order once its price shows `displayed`, prints being taken off already.
 *
 * A large decrease is applied in steps, and the shares are computed again after each. In a single step an order far
 * back could overtake one in front of it, and more could be taken from behind it than there was.
 */
export const advanced = (ahead: number, behind: number, displayed: number, power: number | undefined): number => {
  if (power === undefined || ahead === Number.POSITIVE_INFINITY || displayed === 0) return Math.min(ahead, displayed);
  let left = ahead;
  for (let total = ahead + behind; total > displayed; ) {
    const gone = Math.min(total - displayed, total / power);
    left -= gone * shareAhead(left, Math.max(0, total - left), power);
    total -= gone;
  }
  return Math.min(displayed, Math.max(0, Math.ceil(left - dust)));
};
