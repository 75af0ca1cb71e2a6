/**
 * Fill models of a backtest: models by name, each with the data it reads and its
 * assumptions.
 *
 * All of them: a taker fills against the displayed quantity from the best price on and gets nothing beyond it; the
 * quantity that it took is gone until that price is displayed again; apart from that our orders do not move the
 * recorded market. A post-only order that would take is refused, an IOC order keeps its fills, a FOK order is filled
 * completely or not at all.
 * Invariants: a model is plain data; a wrong one is refused by place, value and remedy before anything is read.
 * Not here: what a recording can support (fill-choice.ts), the queue itself (venue/queue-model.ts).
 */
import type { Assumption } from "../contract/assumption.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import { type FillVolume, powerDefault, type Queue } from "../venue/queue-model.ts";

/** Sources of fills, the finest first. */
export type FillSource = "book" | "quotes" | "trades" | "candles";

/**
 * The way of the price inside a bar, between its open and its close.
 * - `pessimistic`: the worse end for the account comes first. A bar that reaches a stop and a take-profit of a position
 *   reaches the stop first; a bar that only our resting buys can meet goes to its high first, one that only our resting
 *   sells can meet to its low, so that no fill is followed by the favourable end of its own bar; otherwise as
 *   `shortest`. Full rule: worse-end.ts.
 * - `shortest`: the low first when the bar rose, the high first when it fell.
 */
export type BarPath = "pessimistic" | "shortest";

/** Fill model of a backtest: the source, the movement of a resting order in its queue, and the filled quantity. */
export interface FillModel {
  readonly from: FillSource;
  /** Movement of a resting order in the queue at its price. */
  readonly queue: Queue;
  /**
   * - `unlimited`: from candles, orders that take are filled completely. A print through a resting price, or a price
   *   displayed on the other side at or beyond it, fills the order completely, however little was traded or shown. Fit
   *   for orders that are small compared with the market's.
   * - `traded`: no more is filled than was printed or shown, orders in front of others first; of a best price no more
   *   than once until that side of the quote changes. From trades and candles by prints alone. From candles, takers too
   *   get no more than a quarter of the bar's volume at each of its four prices; a volume that cannot be a quantity of
   *   the base currency bounds nothing (bar-volumes.ts).
   */
  readonly volume: FillVolume;
  /** Path of prices inside a bar; for candles only. */
  readonly path?: BarPath;
}

/** A model, or the name of one with its defaults. */
export type Fills = FillSource | FillModel;

/** Options that the fill models share. */
export interface QueueOptions {
  /** Default `risk-averse`; for trades `through`. */
  readonly queue?: Queue;
  /** Default `unlimited`. */
  readonly volume?: FillVolume;
}

/**
 * Fills from the recorded book. Needs book levels; uses quotes and trades where they are recorded too. Assumes that an
 * order joins at the end of what is displayed at its price (of a price beyond the recorded depth: of nothing), that
 * prints take from the front, and that cancels are at the place of `queue`. Without trades only a price displayed
 * across fills.
 *
 * @param options - the place of an order in the queue, and whether volumes bound fills
 * @returns a model for `fills` of `backtest` and `paper`
 * @throws CONFIG_INVALID for an unknown queue or volume
 */
export const bookFills = (options: QueueOptions = {}): FillModel => modelOf("bookFills", { from: "book", ...options });

/**
 * Fills from best bid and ask. Needs quotes; uses trades where they are recorded too, and no levels. Assumes as
 * `bookFills` does at the best price. A deeper price has an unknown queue until it becomes the best one; a taker gets
 * no more than the best quantity.
 *
 * @param options - the place of an order in the queue, and whether volumes bound fills
 * @returns a model for `fills` of `backtest` and `paper`
 * @throws CONFIG_INVALID for an unknown queue or volume
 */
export const quoteFills = (options: QueueOptions = {}): FillModel =>
  modelOf("quoteFills", { from: "quotes", ...options });

/**
 * Fills from prints alone. Needs trades. Assumes that the ask is the price of the last buy and the bid that of the
 * last sell, at least a tick apart, each with the quantity of that print: this is what takers meet. The queue at a
 * price is unknown, so that only prints through it fill (`through`).
 *
 * @param options - the place of an order in the queue, and whether volumes bound fills
 * @returns a model for `fills` of `backtest` and `paper`
 * @throws CONFIG_INVALID for an unknown queue or volume
 */
export const tradeFills = (options: QueueOptions = {}): FillModel =>
  modelOf("tradeFills", { from: "trades", ...options });

/**
 * Fills from bars. Needs candles, and plays the shortest ones of each instrument. Assumes four prints to a bar, a
 * third of it apart: open, one extreme, the other, close, each with a spread of one tick around it and, with `volume:
 * "traded"`, a quarter of the volume. Strategies see finished bars only, so an order meets no price that was past when
 * it came.
 *
 * @param options - the queue, whether volumes bound fills, and the path of prices inside a bar
 * @returns a model for `fills` of `backtest` and `paper`
 * @throws CONFIG_INVALID for an unknown queue, volume or path
 */
export const candleFills = (options: QueueOptions & { readonly path?: BarPath } = {}): FillModel =>
  modelOf("candleFills", { from: "candles", ...options });

const sources: readonly string[] = ["book", "quotes", "trades", "candles"] satisfies readonly FillSource[];
const queues: readonly string[] = ["risk-averse", "probabilistic", "through", "touch"] satisfies readonly Queue[];
const volumes: readonly string[] = ["unlimited", "traded"] satisfies readonly FillVolume[];
const paths: readonly string[] = ["pessimistic", "shortest"] satisfies readonly BarPath[];
const fields: readonly string[] = ["from", "queue", "volume", "path"];
const powerMax = 16;

/** A model as a config names it, defaults filled in. */
export const modelOf = (place: string, given: unknown): FillModel => {
  const wrong = (problem: string): SluiceError => new SluiceError("CONFIG_INVALID", `${place}: ${problem}`);
  const oneOf = (what: string, value: unknown, allowed: readonly string[]): void => {
    if (allowed.includes(value as string)) return;
    const meant = typeof value === "string" ? didYouMean(value, allowed) : "";
    throw wrong(
      `${what} ${JSON.stringify(value)} is not known; it is one of ${allowed.map((name) => `"${name}"`).join(", ")}.${meant}`,
    );
  };
  if (typeof given === "string") {
    oneOf("fill model", given, sources);
    return modelOf(place, { from: given });
  }
  if (given === null || typeof given !== "object") {
    throw wrong(`${JSON.stringify(given)} is not a fill model. Write "book", bookFills({ … }) or leave it out.`);
  }
  const {
    from,
    volume = "unlimited",
    queue = from === "trades" ? "through" : "risk-averse",
    path,
    ...rest
  } = given as Partial<FillModel>;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw wrong(`"${unknown}" is not an option.${didYouMean(unknown, fields)}`);
  oneOf("from", from, sources);
  oneOf("volume", volume, volumes);
  if (typeof queue === "string") oneOf("queue", queue, queues);
  else checkPower(queue, wrong);
  if (from !== "candles" && path !== undefined)
    throw wrong(`path is for candles; ${from} have their own. Leave it out.`);
  const model = { from: from as FillSource, queue, volume };
  if (from !== "candles") return Object.freeze(model);
  oneOf("path", path ?? "pessimistic", paths);
  return Object.freeze({ ...model, path: path ?? "pessimistic" });
};

const checkPower = (queue: Exclude<Queue, string>, wrong: (problem: string) => SluiceError): void => {
  const power = queue?.power;
  if (Object.keys(queue ?? {}).length === 1 && power >= 1 && power <= powerMax && Number.isInteger(power * 2)) return;
  throw wrong(
    `queue ${JSON.stringify(queue)} is not known. Write { power: 2 }, a multiple of 0.5 from 1 to ${powerMax}, or one of its names.`,
  );
};

/** The assumption about the queue at a price, for a report. */
export const queueTerms = (queue: Queue): Omit<Assumption, "what"> => {
  if (queue === "through")
    return {
      value: "through",
      consequence: "the queue is unknown: a price alone never fills an order, only prints and prices beyond it do",
    };
  if (queue === "touch")
    return { value: "touch", consequence: "no queue is assumed: the first print at its price fills an order" };
  const start =
    "a resting order waits behind the quantity displayed when it joined and moves up by prints at its price";
  if (queue === "risk-averse")
    return {
      value: "risk-averse",
      consequence: `${start}; cancels are taken to be behind it, as long as that is possible`,
    };
  const power = queue === "probabilistic" ? powerDefault : queue.power;
  return {
    value: "probabilistic",
    consequence: `${start}; cancels are shared out between what is ahead of it and behind it, in proportion to their lots to the power of ${power}`,
  };
};
