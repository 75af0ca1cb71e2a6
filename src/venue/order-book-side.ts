/**
 * One side of a book: the recorded market's displayed quantity, and our users' resting orders among it.
 *
 * Invariants: resting orders are sorted by price, then by arrival; `best` is the rank of the first one, so that a tick
 * far from all of them costs one comparison; a rank is the price made such that larger is better for the taker on the
 * other side. A recording of best quotes alone shows one price and leaves the deeper ones unknown: an order resting
 * there has an infinite queue ahead until its price is shown, because assuming an empty queue would fill it too early.
 */
import { type Order, type Sign, takeOut } from "./account.ts";
import { advanced, type Matching } from "./queue-model.ts";

/** Outside quantity, or a resting order, in the order in which a taker meets them. */
export interface Offer {
  readonly px: number;
  readonly lots: number;
  readonly maker: Order | undefined;
}

export interface OrderBookSide {
  readonly sign: Sign;
  readonly matching: Matching;
  /** Rank of the best resting order; -Infinity when none rests. */
  best: number;
  readonly orders: Order[];
  /** Best displayed price by the latest quote, NaN when it showed none; the quantity is what takers have left of it. */
  quotePx: number;
  quoteQty: number;
  /** The quantity of the latest quote. */
  toldQty: number;
  /**
   * Displayed quantity by price, when the recording has more than best quotes; the quantities of quotes are among them.
   */
  readonly levels: Map<number, number>;
  levelled: boolean;
  /** Best price among `levels`, or one better than it that was removed since; infinitely bad when there is none. */
  top: number;
}

export const createOrderBookSide = (sign: Sign, matching: Matching): OrderBookSide => ({
  sign,
  matching,
  best: Number.NEGATIVE_INFINITY,
  orders: [],
  quotePx: Number.NaN,
  quoteQty: 0,
  toldQty: 0,
  levels: new Map(),
  levelled: false,
  top: -sign * Number.POSITIVE_INFINITY,
});

const setBest = (half: OrderBookSide): void => {
  const first = half.orders[0];
  half.best = first === undefined ? Number.NEGATIVE_INFINITY : half.sign * first.px;
};

export const displayedAt = (half: OrderBookSide, px: number): number =>
  half.quoteQty > 0 && px === half.quotePx ? half.quoteQty : (half.levels.get(px) ?? 0);

const queueAt = (half: OrderBookSide, px: number): number => {
  const { joins } = half.matching;
  if (joins !== "displayed") return joins === "unknown" ? Number.POSITIVE_INFINITY : 0;
  const displayed = displayedAt(half, px);
  const unknown = !half.levelled && half.sign * px < half.sign * half.quotePx;
  return unknown ? Number.POSITIVE_INFINITY : displayed;
};

/** Index of the first resting order whose rank is below `rank`; the number of orders when there is none. */
const firstBelow = ({ orders, sign }: OrderBookSide, rank: number): number => {
  let low = 0;
  let high = orders.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sign * (orders[middle] as Order).px < rank) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** Index of the oldest resting order at `px`, or of the order that would follow it. Prices are whole ticks. */
const firstAt = (half: OrderBookSide, px: number): number => firstBelow(half, half.sign * px + 0.5);

/** Resting orders at `px`, the oldest first. */
export const ordersAt = (half: OrderBookSide, px: number): readonly Order[] =>
  half.orders.slice(firstAt(half, px), firstBelow(half, half.sign * px));

/** Resting orders of a rank above `rank`, the best first. Ranks of orders are whole; `rank` is whole or a half. */
export const ordersAbove = (half: OrderBookSide, rank: number): readonly Order[] =>
  half.orders.slice(0, firstBelow(half, rank + 0.5));

export const join = (half: OrderBookSide, order: Order): void => {
  order.ahead = queueAt(half, order.px);
  order.behind = 0;
  const index = firstBelow(half, half.sign * order.px);
  if (index === half.orders.length) half.orders.push(order);
  else half.orders.splice(index, 0, order);
  setBest(half);
};

export const leave = (half: OrderBookSide, order: Order): void => {
  takeOut(half.orders, order, firstAt(half, order.px));
  setBest(half);
};

/** Moves an order up by the quantity that is displayed at its price now, as far as the rule permits. */
const advance = (order: Order, displayed: number, { power }: Matching): void => {
  order.ahead = advanced(order.ahead, order.behind, displayed, power);
  order.behind = displayed - order.ahead;
};

/** Forgets levels better than the best quote: the market has left them. */
const prune = (half: OrderBookSide, px: number): void => {
  const { levels, sign } = half;
  const gap = sign * (half.top - px);
  if (gap > 0 && gap <= levels.size) for (let at = half.top; at !== px; at -= sign) levels.delete(at);
  else if (gap > 0) for (const at of levels.keys()) if (sign * at > sign * px) levels.delete(at);
  half.top = px;
};

/** Among the levels the quantity of a quote outlasts it: it holds until the price is shown again. */
const keepQuote = (half: OrderBookSide): void => {
  const { quotePx, quoteQty, sign } = half;
  if (quoteQty <= 0) return;
  half.levels.set(quotePx, quoteQty);
  if (sign * quotePx > sign * half.top) half.top = quotePx;
};

export const showQuote = (half: OrderBookSide, px: number, qty: number): void => {
  const { matching } = half;
  // A quote has both sides; the unchanged one is no evidence of what was taken from it.
  if (px !== half.quotePx || qty !== half.toldQty || matching.volume === "unlimited") half.quoteQty = qty;
  half.toldQty = qty;
  half.quotePx = qty > 0 ? px : Number.NaN;
  if (half.levelled) {
    if (qty > 0) prune(half, px);
    else {
      half.levels.clear();
      half.top = -half.sign * Number.POSITIVE_INFINITY;
    }
    keepQuote(half);
  }
  if ((half.best < half.sign * px && qty > 0) || matching.joins === "unknown") return;
  for (const order of half.orders) {
    const rank = half.sign * order.px;
    if (qty === 0 || rank > half.sign * px) order.ahead = order.behind = 0;
    else if (rank === half.sign * px) advance(order, qty, matching);
    else break;
  }
};

export const showLevel = (half: OrderBookSide, px: number, qty: number): void => {
  if (!half.levelled) keepQuote(half);
  half.levelled = true;
  if (qty > 0) half.levels.set(px, qty);
  else half.levels.delete(px);
  if (px === half.quotePx) half.quoteQty = qty;
  if (qty > 0 && half.sign * px > half.sign * half.top) half.top = px;
  if (half.best < half.sign * px || half.matching.joins === "unknown") return;
  for (const order of ordersAt(half, px)) advance(order, qty, half.matching);
};

/** Takes displayed quantity away until the recording shows the price again. */
export const consume = (half: OrderBookSide, px: number, qty: number): void => {
  const left = displayedAt(half, px) - qty;
  if (px === half.quotePx) half.quoteQty = Math.max(0, left);
  if (left > 0 && half.levels.has(px)) half.levels.set(px, left);
  else half.levels.delete(px);
  for (const order of ordersAt(half, px)) order.ahead -= Math.min(order.ahead, qty);
};

/** The best of `levels`, found again where it was removed: mostly a few ticks away. */
const topOf = (half: OrderBookSide): number => {
  const { levels, sign } = half;
  if (levels.has(half.top)) return half.top;
  const worst = -sign * Number.POSITIVE_INFINITY;
  let top = worst;
  if (levels.size > 0) {
    const last = half.top - sign * levels.size;
    for (let at = half.top - sign; at !== last && top === worst; at -= sign) if (levels.has(at)) top = at;
    if (top === worst) for (const at of levels.keys()) if (sign * at > sign * top) top = at;
  }
  half.top = top;
  return top;
};

/** Best displayed price, or undefined. */
export const bestDisplayed = (half: OrderBookSide): number | undefined => {
  if (!half.levelled) return half.quoteQty > 0 ? half.quotePx : undefined;
  const top = topOf(half);
  if (half.quoteQty > 0 && half.sign * half.quotePx >= half.sign * top) return half.quotePx;
  return half.levels.size > 0 ? top : undefined;
};

/**
 * Everything a taker may meet at `rankMin` or better, best first. Orders of `taker` are left out; `room` returns the
 * lots of an order that may fill now.
 */
export const offersOf = (
  half: OrderBookSide,
  rankMin: number,
  room: (order: Order) => number,
  taker: unknown,
): Offer[] => {
  const { sign, orders, quotePx } = half;
  if (orders.length === 0 || half.best < rankMin) {
    // Best quotes alone, which is most recordings: one price or none.
    if (!half.levelled)
      return half.quoteQty > 0 && sign * quotePx >= rankMin
        ? [{ px: quotePx, lots: half.quoteQty, maker: undefined }]
        : [];
    const displayed = bestDisplayed(half);
    if (displayed === undefined || sign * displayed < rankMin) return [];
  }
  const prices = new Set<number>();
  for (const px of half.levels.keys()) if (sign * px >= rankMin) prices.add(px);
  if (half.quoteQty > 0 && sign * quotePx >= rankMin) prices.add(quotePx);
  const resting = firstBelow(half, rankMin);
  for (let index = 0; index < resting; index++) prices.add((orders[index] as Order).px);
  const offers: Offer[] = [];
  for (const px of [...prices].sort((a, b) => sign * (b - a))) addOffersAt(offers, half, px, room, taker);
  return offers;
};

const addOffersAt = (
  offers: Offer[],
  half: OrderBookSide,
  px: number,
  room: (order: Order) => number,
  taker: unknown,
): void => {
  let outside = displayedAt(half, px);
  let passed = 0;
  for (const maker of ordersAt(half, px)) {
    if (maker.account === taker) continue;
    const front = Math.min(maker.ahead - passed, outside);
    if (front > 0) {
      offers.push({ px, lots: front, maker: undefined });
      outside -= front;
      passed += front;
    }
    const lots = room(maker);
    if (lots > 0) offers.push({ px, lots, maker });
  }
  if (outside > 0) offers.push({ px, lots: outside, maker: undefined });
};
