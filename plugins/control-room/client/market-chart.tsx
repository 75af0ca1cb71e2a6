/**
 * The chart of prices of one instrument with this engine's fills and resting orders.
 *
 * Invariants: bars are those that the engine sends; if it sends none, the chart is the line of prices seen since the page was opened, and
 * is labelled as such; every fill that the page knows is in a mark.
 * Not here: how bars, orders and marks are drawn (ui-kit/client/price-pane.ts).
 */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useKept } from "../../ui-kit/client/kept.ts";
import { livesOf } from "../../ui-kit/client/orders.ts";
import type { Shown } from "../../ui-kit/client/price-pane.ts";
import { PricePane } from "../../ui-kit/client/price-pane.ts";
import { storyOf, Tip, type Told } from "../../ui-kit/client/story.tsx";
import type { PriceData } from "../../ui-kit/page-data.ts";
import type { CandleRow, FillRow, MarketRow, OrderRow } from "../control-rows.ts";
import { ChartGroup, ChartTime } from "./chart-group.tsx";
import { fractionOf } from "./decimal-texts.ts";
import type { Room } from "./room.ts";
import type { PriceLine } from "./seen-prices.ts";
import type { SourceState } from "./source-state.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { localOffset } from "./wording.ts";

/** Digits after the point of the prices, as they were sent: of the longest. */
const placesIn = (bars: readonly CandleRow[], market: MarketRow | undefined) => {
  let places = Math.max(...[market?.last, market?.bid, market?.ask].map((text) => fractionOf(text ?? "")));
  for (const { o, h, l, c } of bars)
    places = Math.max(places, fractionOf(o), fractionOf(h), fractionOf(l), fractionOf(c));
  return places;
};

const emptyColumn = new Float64Array();

const shownAtFirst: Shown = {
  instrument: 0,
  asLine: false,
  fills: new Uint32Array(),
  orders: new Uint32Array(),
  plots: [],
  withFills: true,
  withOrders: true,
  trade: undefined,
  chosen: undefined,
};

/** What is drawn besides the bars. */
type Look = { asLine: boolean; withFills: boolean; withOrders: boolean };

type Prices = {
  instId: string;
  bars: readonly CandleRow[];
  barMs: number;
  seen: PriceLine | undefined;
  look: Look;
};

/** The chart of one engine and one place of the page. */
class MarketPrices {
  readonly time;
  readonly price;
  readonly charts;
  readonly tip = signal<Told | undefined>(undefined);
  /** Only one instrument is in the data at a time. */
  #data = dataOf([], [], [], 0);
  #drawn = "";
  #asked = "";

  constructor(label: string, height: number) {
    this.time = new ChartTime(label);
    this.price = new PricePane(this.#data, this.time.shared, shownAtFirst, height);
    this.charts = [this.price];
    const { over } = this.price.plot;
    over.addEventListener("mousemove", (event) => this.#point(event));
    over.addEventListener("mouseleave", () => {
      this.tip.value = undefined;
    });
  }

  update({ state }: WatchedEngine, seen: PriceLine | undefined, instId: string, look: Look) {
    const asked = `${instId} ${JSON.stringify(look)}`;
    const version = `${asked} ${state.version(["candles", "fills", "orders", "markets"])}`;
    if (version === this.#drawn || (asked === this.#asked && !this.time.isDue)) return;
    const bars = state
      .list("candles")
      .filter((row) => row.instId === instId)
      .sort((a, b) => a.at - b.at);
    const barMs = barLength(bars);
    const from = bars[0] === undefined ? (seen?.at[0] ?? state.at) : bars[0].at - barMs;
    const to = Math.max(state.at, bars.at(-1)?.at ?? 0);
    this.#drawn = version;
    this.#asked = asked;
    this.#fold(state, { instId, bars, barMs, seen, look });
    this.time.show(from, to);
  }

  /** Shows the story of the mark under the pointer. */
  #point({ offsetX, offsetY, buttons }: MouseEvent) {
    const group = buttons === 0 ? this.price.markNear(offsetX, offsetY) : undefined;
    this.tip.value = group && { at: group.at, px: group.px, story: storyOf(this.#data, group) };
  }

  #fold(state: SourceState, { instId, bars, barMs, seen, look }: Prices) {
    const fills = state.list("fills").filter((row) => row.instId === instId);
    const orders = state.list("orders").filter((row) => row.instId === instId);
    const places = placesIn(bars, state.row("markets", instId));
    const asBars = bars.length > 0;
    const column = (name: "o" | "h" | "l" | "c") => (asBars ? bars.map((bar) => Number(bar[name])) : (seen?.px ?? []));
    const instrument = {
      instId,
      base: instId.split("-")[0] ?? "",
      // The middle of two prices may lie between two ticks.
      places: asBars ? places : places + 1,
      of: asBars ? ("bar" as const) : ("quote" as const),
      barMs: asBars ? barMs : 0,
      unit: 1,
      at: asBars ? bars.map(({ at }) => at - barMs) : (seen?.at ?? []),
      open: column("o"),
      high: column("h"),
      low: column("l"),
      close: column("c"),
      position: { at: emptyColumn, qty: emptyColumn },
    };
    this.time.shared.startAt = localOffset(state.at);
    Object.assign(this.#data, dataOf(fills, orders, [instrument], state.at));
    livesOf(this.#data);
    this.price.set({
      ...shownAtFirst,
      ...look,
      asLine: look.asLine || !asBars,
      fills: placesTo(fills.length),
      orders: placesTo(orders.length),
    });
  }
}

/**
 * Returns the length of bars: a minute for a single bar, else the smallest distance of two bars, because some may be missing.
 */
const barLength = (bars: readonly CandleRow[]) =>
  bars.length < 2 ? 60_000 : Math.min(...bars.slice(1).map(({ at }, index) => at - (bars[index]?.at ?? 0)), 86_400_000);

const placesTo = (count: number) => Uint32Array.from({ length: count }, (_, place) => place);

const wordsOf = <K extends string>(rows: readonly Record<K, string>[], name: K) => [
  ...new Set(rows.map((row) => row[name])),
];

/** Prices, fills and orders as columns. */
const dataOf = (
  fills: readonly FillRow[],
  orders: readonly OrderRow[],
  instruments: PriceData["instruments"],
  at: number,
): PriceData => {
  const words = {
    strategies: wordsOf<"strategy">([...fills, ...orders], "strategy"),
    slots: wordsOf(orders, "slot"),
    types: wordsOf(orders, "ordType"),
    reasons: wordsOf(orders, "reason"),
  };
  return {
    ...words,
    startAt: localOffset(at),
    spanMs: at,
    currency: fills[0]?.currency ?? "",
    phases: ["live", "canceled"],
    instruments,
    fills: fillColumns(fills, orders, words.strategies),
    orders: orderColumns(orders, words),
  };
};

const fillColumns = (
  fills: readonly FillRow[],
  orders: readonly OrderRow[],
  strategies: readonly string[],
): PriceData["fills"] => {
  const places = new Map(orders.map(({ clOrdId }, place) => [clOrdId, place]));
  return {
    at: fills.map(({ at }) => at),
    order: fills.map(({ clOrdId }) => places.get(clOrdId) ?? -1),
    strategy: fills.map(({ strategy }) => strategies.indexOf(strategy)),
    instrument: fills.map(() => 0),
    buy: fills.map(({ side }) => (side === "buy" ? 1 : 0)),
    maker: fills.map(({ liquidity }) => (liquidity === "maker" ? 1 : 0)),
    px: fills.map(({ px }) => Number(px)),
    qty: fills.map(({ qty }) => Number(qty)),
    fee: fills.map(({ cost }) => Number(cost)),
  };
};

const orderColumns = (
  orders: readonly OrderRow[],
  { strategies, slots, types, reasons }: Pick<PriceData, "strategies" | "slots" | "types" | "reasons">,
): PriceData["orders"] => ({
  id: orders.map(({ clOrdId }) => clOrdId),
  strategy: orders.map(({ strategy }) => strategies.indexOf(strategy)),
  slot: orders.map(({ slot }) => slots.indexOf(slot)),
  instrument: orders.map(() => 0),
  buy: orders.map(({ side }) => (side === "buy" ? 1 : 0)),
  type: orders.map(({ ordType }) => types.indexOf(ordType)),
  px: orders.map(({ px }) => Number(px)),
  sz: orders.map(({ qty, sz }) => Number(qty || sz)),
  waited: orders.map(() => 0),
  reason: orders.map(({ reason }) => (reason === "" ? -1 : reasons.indexOf(reason))),
  phases: orders.map((order) => stepsOf(order).length),
  phase: orders.flatMap((order) => stepsOf(order).map(([phase]) => phase)),
  phaseAt: orders.flatMap((order) => stepsOf(order).map(([, at]) => at)),
});

/**
 * Returns the instants at which an order began and ceased to rest, as indexes of `phases`; a rejected order never rested.
 */
const stepsOf = ({
  phase,
  isFinal,
  placedAt,
  changedAt,
}: OrderRow): readonly (readonly [phase: number, at: number])[] => {
  if (phase === "rejected" || phase === "absent") return [[1, changedAt]];
  return isFinal
    ? [
        [0, placedAt],
        [1, changedAt],
      ]
    : [[0, placedAt]];
};

type Parts = {
  /** Distinguishes this chart from others on the page. */
  label: string;
  watched: WatchedEngine;
  instId: string;
  room: Room;
  height: number;
  look?: Look;
  children?: ComponentChildren;
};

export const MarketChart = ({ label, watched, instId, room, height, look = shownAtFirst, children }: Parts) => {
  const prices = useKept(`${label} of ${watched.id}`, () => new MarketPrices(label, height));
  const { asLine, withFills, withOrders } = look;
  void [room.tick.value, watched.state.version(["candles", "fills", "orders", "markets"])];
  useEffect(() => prices.update(watched, room.seen.of(instId), instId, { asLine, withFills, withOrders }));
  return (
    <div class="stage">
      <ChartGroup label={label} time={prices.time} charts={prices.charts} room={room}>
        {children}
      </ChartGroup>
      <Tip told={prices.tip.value} plot={prices.price.plot} />
    </div>
  );
};
