/**
 * One market: its prices with own fills and orders, and its book.
 *
 * Invariants: offers every instrument that the engine follows, trades or holds; when the chosen one is gone, the first is shown.
 */

import { choice, element, offer, toggle } from "../../ui-kit/client/elements.ts";
import { BookLadder } from "./book-ladder.ts";
import { inTurn } from "./browser-clock.ts";
import { plainDecimal, plus } from "./decimal-texts.ts";
import { MarketChart } from "./market-chart.ts";
import type { SeenPrices } from "./seen-prices.ts";
import type { SourceState } from "./source-state.ts";
import { put } from "./table-cells.ts";
import type { WatchedEngine } from "./watched-engine.ts";
import { ageText, shortFigure } from "./wording.ts";

const emptyText = "No market yet: the engine shows one when a strategy follows or trades it.";

export class MarketView {
  name = "Market";
  node;
  #instruments = choice("instrument", [], () => this.forget());
  #chart;
  #book = new BookLadder();
  #price = element("p", { class: "lastprice" });
  #empty = element("p", { class: "empty" }, emptyText);
  #body;
  #bookVersion = "";

  constructor(seen: SeenPrices) {
    this.#chart = new MarketChart(
      "Prices with own fills and resting orders",
      seen,
      innerWidth < 600 ? 260 : 430,
      this.#instruments,
      choice(
        "kind of chart",
        [
          ["bars", "candles"],
          ["line", "line"],
        ],
        (value) => this.#chart.change({ asLine: value === "line" }),
      ),
      toggle("fills", true, (withFills) => this.#chart.change({ withFills })),
      toggle("orders", true, (withOrders) => this.#chart.change({ withOrders })),
    );
    this.#body = element(
      "div",
      { class: "split" },
      element("section", { class: "first" }, this.#chart.node),
      element("section", {}, element("h2", {}, "Book"), this.#price, this.#book.node),
    );
    this.node = element("div", {}, this.#empty, this.#body);
  }

  draw({ state, now }: WatchedEngine) {
    const instIds = instrumentsOf(state);
    this.#empty.hidden = instIds.length > 0;
    this.#body.hidden = instIds.length === 0;
    put(this.#empty, state.lacks("prices") ? "Prices are not recorded." : emptyText);
    if (instIds.length === 0) return;
    offer(
      this.#instruments,
      instIds.map((instId) => [instId, instId]),
    );
    const instId = this.#instruments.value;
    inTurn(this.#chart, () => this.#chart.update(state, instId));
    const market = state.row("markets", instId);
    const age = market === undefined ? "" : ` · ${ageText(Math.max(0, now - market.at))}`;
    const text =
      market === undefined
        ? ""
        : `${shortFigure(market.bid)} / ${shortFigure(market.ask)}${market.last === "" ? "" : ` · last ${shortFigure(market.last)}`}${age}`;
    put(this.#price, text);
    const version = `${instId} ${state.version(["book", "markets", "orders"])}`;
    if (version === this.#bookVersion) return;
    this.#bookVersion = version;
    inTurn(this.#book, () => this.#drawBook(state, instId));
  }

  #drawBook(state: SourceState, instId: string) {
    const isUnrecorded = state.lacks("book");
    const book = isUnrecorded ? undefined : state.row("book", instId);
    this.#book.draw(book, state.row("markets", instId), ownOrders(state, instId), isUnrecorded);
  }

  shown() {}

  forget() {
    this.#bookVersion = "";
    this.#chart.change({});
  }

  restyle() {
    this.#chart.restyle();
  }
}

/** Instruments that the engine follows, trades or holds. */
export const instrumentsOf = (state: SourceState) => [
  ...new Set([
    ...state.rows("markets").keys(),
    ...state.rows("book").keys(),
    ...state.list("positions").map(({ instId }) => instId),
    ...state.list("fills").map(({ instId }) => instId),
  ]),
];

/** Returns the quantity of own open orders at each price. */
const ownOrders = (state: SourceState, instId: string) => {
  const own: Map<string, string> = new Map();
  for (const order of state.rows("orders").values()) {
    if (order.isFinal || order.instId !== instId || order.px === "" || order.qty === "") continue;
    const px = plainDecimal(order.px);
    own.set(px, plus(own.get(px) ?? "0", order.qty));
  }
  return own;
};
