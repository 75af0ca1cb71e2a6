/**
 * The bar above the charts: whose and which data they show, and buttons for what pointer and keys do.
 *
 * Invariants: a choice with one answer is not offered; spans are those that a part of the run fills.
 */
import { day } from "../../ui-kit/client/columns.js";
import { button, choice, element } from "../../ui-kit/client/elements.js";
import { lasting } from "../../ui-kit/client/texts.js";

/** @import {PageData} from "../../ui-kit/page-data.ts" */
/** @import {Shown} from "../../ui-kit/client/price-pane.js" */
/** @import {View} from "../../ui-kit/client/view.js" */
/** @typedef {{ instruments: HTMLSelectElement, clock: HTMLElement, asLine: boolean, withBenchmark: boolean, change: (what: Partial<Shown>) => void, strategy: (strategy: number) => void, benchmark: (on: boolean) => void, step: (by: 1 | -1) => void }} Acts */

const spanLengths = [1_000, 60_000, 3_600_000, day, 7 * day, 30 * day];

/** @param {string} name @param {boolean} on @param {(on: boolean) => void} act */
const toggle = (name, on, act) => {
  const box = element("input", { type: "checkbox" });
  box.checked = on;
  box.addEventListener("change", () => act(box.checked));
  return element("label", {}, box, name);
};

/** @param {PageData} data @param {View} view @param {Acts} acts */
export const toolbar = (
  data,
  view,
  { instruments, clock, asLine, withBenchmark, change, strategy, benchmark, step },
) => {
  const kinds = /** @type {const} */ ([
    ["line", "line"],
    ["bars", "candles"],
  ]);
  const names = data.strategies.map((name, index) => /** @type {const} */ ([String(index), name]));
  return element(
    "div",
    { class: "bar", role: "toolbar", "aria-label": "What the charts show" },
    ...(data.instruments.length > 1 ? [instruments] : []),
    ...(names.length > 1
      ? [choice("strategy", [["-1", "all strategies"], ...names], (value) => strategy(Number(value)))]
      : []),
    choice("kind of chart", asLine ? kinds : [...kinds].reverse(), (value) => change({ asLine: value === "line" })),
    toggle("fills", true, (withFills) => change({ withFills })),
    toggle("resting orders", true, (withOrders) => change({ withOrders })),
    ...(data.benchmark === undefined ? [] : [toggle("buy and hold", withBenchmark, benchmark)]),
    zoomButtons(data, view),
    element(
      "span",
      { class: "group" },
      button("‹ fill", "previous fill", () => step(-1)),
      button("fill ›", "next fill", () => step(1)),
    ),
    clock,
  );
};

/** @param {PageData} data @param {View} view */
const zoomButtons = ({ spanMs }, view) => {
  const spans = spanLengths.filter((ms) => ms < spanMs * 0.8 && ms > spanMs / 20_000).slice(-3);
  const show = (/** @type {number} */ ms) => {
    const { from, to } = view.span;
    view.set((from + to - ms) / 2, (from + to + ms) / 2);
  };
  return element(
    "span",
    { class: "group" },
    button("−", "zoom out", () => view.zoom(1 / 0.6)),
    button("+", "zoom in", () => view.zoom(0.6)),
    ...spans.map((ms) => button(lasting(ms), `show ${lasting(ms)}`, () => show(ms))),
    button("all", "show all", () => view.all()),
  );
};
