/**
 * The bar above the charts: whose and which data they show, and buttons for what pointer and keys do.
 *
 * Invariants: a choice with one answer is not offered; spans are those that a part of the run fills.
 */
import { day } from "../../ui-kit/client/columns.ts";
import { button, choice, element, toggle } from "../../ui-kit/client/elements.ts";
import type { Shown } from "../../ui-kit/client/price-pane.ts";
import { lasting } from "../../ui-kit/client/texts.ts";
import type { View } from "../../ui-kit/client/view.ts";
import type { PageData } from "../../ui-kit/page-data.ts";

type Acts = {
  instruments: HTMLSelectElement;
  clock: HTMLElement;
  asLine: boolean;
  withBenchmark: boolean;
  change: (what: Partial<Shown>) => void;
  strategy: (strategy: number) => void;
  benchmark: (on: boolean) => void;
  step: (by: 1 | -1) => void;
};

const spanLengths = [1_000, 60_000, 3_600_000, day, 7 * day, 30 * day];

export const toolbar = (
  data: PageData,
  view: View,
  { instruments, clock, asLine, withBenchmark, change, strategy, benchmark, step }: Acts,
) => {
  const kinds = [
    ["line", "line"],
    ["bars", "candles"],
  ] as const;
  const names = data.strategies.map((name, index) => [String(index), name] as const);
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

const zoomButtons = ({ spanMs }: PageData, view: View) => {
  const spans = spanLengths.filter((ms) => ms < spanMs * 0.8 && ms > spanMs / 20_000).slice(-3);
  const show = (ms: number) => {
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
