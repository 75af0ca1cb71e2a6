/**
 * The story of a fill: the trade, its order, and the phases of that order.
 *
 * Invariants: the text of one fill contains all known facts; the text of a group contains their number and the place to zoom in.
 */

import type uPlot from "uplot";
import type { PageData } from "../page-data.ts";
import type { FillGroup } from "./columns.ts";
import { valueAt } from "./columns.ts";
import { element } from "./elements.ts";
import { livesOf } from "./orders.ts";
import { countOf, figure, instant, lasting } from "./texts.ts";

const instrumentOf = ({ instruments }: PageData, instrument: number) =>
  instruments[instrument] as PageData["instruments"][number];

export const storyOf = (data: PageData, group: FillGroup) =>
  group.count === 1 ? fillStory(data, group.first) : groupStory(data, group);

const groupStory = (data: PageData, { first, count, buy, px, low, high, qty, fee, until }: FillGroup) => {
  const { base, places, instId } = instrumentOf(data, valueAt(data.fills.instrument, first));
  const at = valueAt(data.fills.at, first);
  return [
    element(
      "strong",
      { class: buy ? "buy" : "sell" },
      `${buy ? "▲" : "▼"} ${countOf(count, buy ? "buy" : "sell")}, ${figure(qty)} ${base}`,
    ),
    element(
      "p",
      {},
      `at ${figure(px, places + 2)} on average, ${figure(low, places)} to ${figure(high, places)} (${instId})`,
    ),
    element("p", {}, `fees ${figure(fee)} ${data.currency}`),
    element(
      "p",
      { class: "soft" },
      `${instant(at + data.startAt)} to ${instant(until + data.startAt).slice(11)}. Zoom in, or press Enter, to see each.`,
    ),
  ];
};

export const fillStory = (data: PageData, fill: number) => {
  const { fills } = data;
  const { base, places, instId } = instrumentOf(data, valueAt(fills.instrument, fill));
  const buy = fills.buy[fill] === 1;
  const [px, qty, fee] = [valueAt(fills.px, fill), valueAt(fills.qty, fill), valueAt(fills.fee, fill)];
  const order = valueAt(fills.order, fill);
  return [
    element(
      "strong",
      { class: buy ? "buy" : "sell" },
      `${buy ? "▲ bought" : "▼ sold"} ${figure(qty)} ${base} at ${figure(px, places)}`,
    ),
    element(
      "p",
      {},
      `${instId}, ${fills.maker[fill] === 1 ? "maker" : "taker"}, ${fee < 0 ? "rebate" : "fee"} ${figure(Math.abs(fee))}`,
    ),
    element("p", { class: "soft" }, instant(valueAt(fills.at, fill) + data.startAt)),
    ...(order < 0
      ? [element("p", { class: "soft" }, "of no order of a strategy")]
      : orderStory(data, order, valueAt(fills.at, fill))),
  ];
};

const orderStory = (data: PageData, order: number, filledAt: number) => {
  const { orders, slots, types, reasons, phases } = data;
  const strategy = data.strategies[valueAt(orders.strategy, order)] ?? "no strategy";
  const px = valueAt(orders.px, order);
  const first = valueAt(livesOf(data).first, order);
  const steps = Array.from({ length: valueAt(orders.phases, order) }, (_, index) => ({
    name: (phases[valueAt(orders.phase, first + index)] ?? "").replace("_", " "),
    at: valueAt(orders.phaseAt, first + index),
  }));
  const waited = valueAt(orders.waited, order);
  const wantedAt = (steps[0]?.at ?? filledAt) - waited;
  const told = [
    { name: "wanted", at: wantedAt },
    ...(waited > 0 ? [{ name: `queued ${lasting(waited)}`, at: wantedAt }] : []),
    ...steps,
    { name: "this fill", at: filledAt },
  ].sort((a, b) => a.at - b.at);
  const reason = reasons[valueAt(orders.reason, order)];
  return [
    element(
      "p",
      {},
      `${strategy}, slot ${slots[valueAt(orders.slot, order)]}: ${types[valueAt(orders.type, order)]}${px > 0 ? ` at ${figure(px, instrumentOf(data, valueAt(orders.instrument, order)).places)}` : ""}, size ${figure(valueAt(orders.sz, order))}`,
    ),
    element(
      "ol",
      {},
      ...told.map(({ name, at }) =>
        element(
          "li",
          {},
          element("span", {}, name),
          element("time", {}, at === wantedAt ? instant(at + data.startAt).slice(11) : `+${lasting(at - wantedAt)}`),
        ),
      ),
    ),
    ...(reason === undefined ? [] : [element("p", {}, reason)]),
    element("p", { class: "soft id" }, orders.id[order] ?? ""),
  ];
};

/** Shows a story next to its mark, within the parent of the tip. */
export const placeTip = (tip: HTMLElement, plot: uPlot, { at, px }: { at: number; px: number }, story: Node[]) => {
  tip.replaceChildren(...story);
  tip.hidden = false;
  const stage = (tip.parentElement as HTMLElement).getBoundingClientRect();
  const area = plot.over.getBoundingClientRect();
  const x = area.left - stage.left + plot.valToPos(at, "x");
  const y = area.top - stage.top + plot.valToPos(px, "y");
  const { offsetWidth, offsetHeight } = tip;
  // Next to the mark where there is room, else below it.
  const isBeside = stage.width > 2 * offsetWidth + 60;
  const left = !isBeside ? x - offsetWidth / 2 : x + 16 + offsetWidth < stage.width ? x + 16 : x - 16 - offsetWidth;
  tip.style.left = `${Math.max(0, Math.min(left, stage.width - offsetWidth))}px`;
  tip.style.top = `${isBeside ? Math.max(0, y - offsetHeight / 2) : y + 24}px`;
};
