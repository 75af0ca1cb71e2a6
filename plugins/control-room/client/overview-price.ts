/**
 * The price of one instrument on the overview: what is held first, with own fills and resting orders.
 *
 * Invariants: absent while the engine follows, trades and holds nothing; a recording without prices shows a note.
 */
import { choice, element, offer } from "../../ui-kit/client/elements.ts";
import { inTurn } from "./browser-clock.ts";
import { MarketChart } from "./market-chart.ts";
import { instrumentsOf } from "./market-view.ts";
import type { SeenPrices } from "./seen-prices.ts";
import type { SourceState } from "./source-state.ts";

export class OverviewPrice {
  node;
  #isChosen = false;
  #instruments = choice("instrument of the price", [], () => {
    this.#isChosen = true;
    this.#chart.change({});
  });
  #unrecorded = element("p", { class: "empty", hidden: true }, "Prices are not recorded.");
  #chart;

  constructor(seen: SeenPrices, height: number) {
    this.#chart = new MarketChart("Price with own fills and resting orders", seen, height, this.#instruments);
    this.node = element("section", {}, element("h2", {}, "Price"), this.#chart.node, this.#unrecorded);
  }

  update(state: SourceState) {
    const held = state.list("positions").filter(({ qty }) => Number(qty) !== 0);
    const instIds = [...new Set([...held.map(({ instId }) => instId), ...instrumentsOf(state)])];
    const isUnrecorded = state.lacks("prices");
    this.node.hidden = instIds.length === 0;
    this.#chart.node.hidden = isUnrecorded;
    this.#unrecorded.hidden = !isUnrecorded;
    if (instIds.length === 0 || isUnrecorded) return;
    offer(
      this.#instruments,
      instIds.toSorted().map((instId) => [instId, instId]),
    );
    // Until one is chosen, what is held comes first.
    if (!this.#isChosen) this.#instruments.value = instIds[0] ?? "";
    inTurn(this.#chart, () => this.#chart.update(state, this.#instruments.value));
  }

  forget() {
    this.#isChosen = false;
    this.#chart.change({});
  }

  restyle() {
    this.#chart.restyle();
  }
}
