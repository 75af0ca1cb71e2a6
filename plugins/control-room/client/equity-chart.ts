/**
 * The curve of profit: all strategies together, and each of those that made or lost most.
 *
 * Invariants: one currency at a time, as profits of different ones are not added; at most five strategies have a line of their own, and the
 * number of the others is shown.
 */

import { choice, element, offer } from "../../ui-kit/client/elements.ts";
import { linePane, lookOf } from "../../ui-kit/client/pane.ts";
import { countOf } from "../../ui-kit/client/texts.ts";
import type { EquityRow } from "../control-rows.ts";
import { ChartGroup } from "./chart-group.ts";
import type { SourceState } from "./source-state.ts";
import { put } from "./table-cells.ts";
import { gainText, localOffset, shortName } from "./wording.ts";

type Curve = {
  name: string;
  at: number[];
  value: number[];
  colour: string;
  dash: number[];
  spell: (value: number) => string;
};

const curvesMax = 5;
const spell = (value: number) => gainText(String(value));

export class EquityChart {
  node;
  #currencies = choice("currency of the curve", [], () => this.#forget());
  #empty = element("p", { class: "empty" }, "The curve begins with the first fill.");
  #about = element("span", { class: "soft" });
  #group = new ChartGroup("Profit over time", this.#currencies, this.#about);
  #curves: Curve[] = [];
  #names = "";
  #version = -1;

  constructor() {
    this.node = element("div", {}, this.#group.node, this.#empty);
  }

  update(state: SourceState, height: number) {
    const version = state.version(["equity"]);
    const rows = version === this.#version ? undefined : state.list("equity");
    if (rows === undefined) return;
    const [first, last] = [rows[0], rows.at(-1)];
    this.#empty.hidden = rows.length > 1;
    this.#group.node.hidden = rows.length < 2;
    if (first === undefined || last === undefined || rows.length < 2) return;
    if (!this.#group.isDue(first.at, Math.max(last.at, state.at))) return;
    this.#version = version;
    const currencies = Object.keys(last.profit);
    offer(
      this.#currencies,
      currencies.map((currency) => [currency, currency]),
    );
    this.#currencies.hidden = currencies.length < 2;
    this.#fold(rows, last, height);
    this.#group.redraw();
  }

  restyle() {
    this.#group.restyle();
  }

  #forget() {
    this.#version = -1;
    this.#names = "";
  }

  #fold(rows: readonly EquityRow[], last: EquityRow, height: number) {
    const currency = this.#currencies.value;
    const profitOf = (name: string) => Number(last.strategies[name]?.[currency] ?? 0);
    const all = Object.keys(last.strategies);
    const most = all.toSorted((a, b) => Math.abs(profitOf(b)) - Math.abs(profitOf(a))).slice(0, curvesMax);
    const shown = all.length < 2 ? [] : all.filter((name) => most.includes(name));
    const names = [currency, ...shown].join("\n");
    if (names !== this.#names) {
      this.#names = names;
      this.#build(currency, shown, height);
    }
    const left = all.length < 2 ? 0 : all.length - shown.length;
    put(this.#about, left > 0 ? `${countOf(left, "strategy", "strategies")} without a line` : "");
    for (const [place, curve] of this.#curves.entries()) {
      const name = shown[place - 1];
      curve.at = rows.map(({ at }) => at);
      curve.value = rows.map((row) => Number((place === 0 ? row.profit : row.strategies[name ?? ""])?.[currency] ?? 0));
    }
  }

  #build(currency: string, names: readonly string[], height: number) {
    const total: Curve = { name: "all", at: [], value: [], colour: "accent", dash: [], spell };
    this.#curves = [
      total,
      ...names.map((name, index) => ({ name: shortName(name), at: [], value: [], spell, ...lookOf(index + 1) })),
    ];
    this.#group.shared.startAt = localOffset(this.#group.view.span.to);
    const pane = linePane(
      this.#group.shared,
      { title: `Profit in ${currency}`, height, lines: this.#curves, spell, zero: true },
      true,
    );
    this.#group.stage.replaceChildren(pane.node);
    this.#group.hold([pane]);
  }
}
