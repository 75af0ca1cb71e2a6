/**
 * The story of a fill: its order from the strategy's request to this fill, and the tip that shows it next to its mark.
 *
 * Invariants: a group says how many fills it holds; a fill without an order of a strategy says so; the tip stays within
 * the charts.
 */

import type { VNode } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import type uPlot from "uplot";
import type { PriceData } from "../page-data.ts";
import type { FillGroup } from "./columns.ts";
import { valueAt } from "./columns.ts";
import { livesOf } from "./orders.ts";
import { countOf, figure, instant, lasting } from "./texts.ts";

const instrumentOf = ({ instruments }: PriceData, instrument: number) =>
  instruments[instrument] as PriceData["instruments"][number];

export const storyOf = (data: PriceData, group: FillGroup) =>
  group.count === 1 ? <FillStory data={data} fill={group.first} /> : <GroupStory data={data} group={group} />;

const GroupStory = ({ data, group }: { data: PriceData; group: FillGroup }) => {
  const { first, count, buy, px, low, high, qty, fee, until } = group;
  const { base, places, instId } = instrumentOf(data, valueAt(data.fills.instrument, first));
  const [from, to] = [valueAt(data.fills.at, first), until].map((at) => instant(at + data.startAt));
  return (
    <>
      <strong class={buy ? "buy" : "sell"}>
        {`${buy ? "▲" : "▼"} ${countOf(count, buy ? "buy" : "sell")}, ${figure(qty)} ${base}`}
      </strong>
      <p>{`at ${figure(px, places + 2)} on average, ${figure(low, places)} to ${figure(high, places)} (${instId})`}</p>
      <p>{`fees ${figure(fee)} ${data.currency}`}</p>
      <p class="soft">{`${from} to ${to?.slice(11)}. Zoom in to see each fill.`}</p>
    </>
  );
};

const FillStory = ({ data, fill }: { data: PriceData; fill: number }) => {
  const { fills } = data;
  const { base, places, instId } = instrumentOf(data, valueAt(fills.instrument, fill));
  const isBuy = fills.buy[fill] === 1;
  const fee = valueAt(fills.fee, fill);
  const order = valueAt(fills.order, fill);
  const at = valueAt(fills.at, fill);
  const size = `${figure(valueAt(fills.qty, fill))} ${base} at ${figure(valueAt(fills.px, fill), places)}`;
  const side = fills.maker[fill] === 1 ? "maker" : "taker";
  return (
    <>
      <strong class={isBuy ? "buy" : "sell"}>{`${isBuy ? "▲ bought" : "▼ sold"} ${size}`}</strong>
      <p>{`${instId}, ${side}, ${fee < 0 ? "rebate" : "fee"} ${figure(Math.abs(fee))}`}</p>
      <p class="soft">{instant(at + data.startAt)}</p>
      {order < 0 ? (
        <p class="soft">not from an order of a strategy</p>
      ) : (
        <OrderStory data={data} order={order} filledAt={at} />
      )}
    </>
  );
};

/** Steps of an order, by time: the strategy's request, the phases, and the fill. */
const stepsOf = (data: PriceData, order: number, filledAt: number) => {
  const { orders, phases } = data;
  const first = valueAt(livesOf(data).first, order);
  const steps = Array.from({ length: valueAt(orders.phases, order) }, (_, index) => ({
    name: (phases[valueAt(orders.phase, first + index)] ?? "").replace("_", " "),
    at: valueAt(orders.phaseAt, first + index),
  }));
  const waited = valueAt(orders.waited, order);
  const wantedAt = (steps[0]?.at ?? filledAt) - waited;
  return [
    { name: "wanted", at: wantedAt },
    ...(waited > 0 ? [{ name: `queued ${lasting(waited)}`, at: wantedAt }] : []),
    ...steps,
    { name: "this fill", at: filledAt },
  ].sort((a, b) => a.at - b.at);
};

const OrderStory = ({ data, order, filledAt }: { data: PriceData; order: number; filledAt: number }) => {
  const { orders, slots, types, reasons } = data;
  const strategy = data.strategies[valueAt(orders.strategy, order)] ?? "no strategy";
  const px = valueAt(orders.px, order);
  const { places } = instrumentOf(data, valueAt(orders.instrument, order));
  const type = `${types[valueAt(orders.type, order)]}${px > 0 ? ` at ${figure(px, places)}` : ""}`;
  const reason = reasons[valueAt(orders.reason, order)];
  const steps = stepsOf(data, order, filledAt);
  const wantedAt = steps[0]?.at ?? filledAt;
  return (
    <>
      <p>{`${strategy}, slot ${slots[valueAt(orders.slot, order)]}: ${type}, size ${figure(valueAt(orders.sz, order))}`}</p>
      <ol>
        {steps.map(({ name, at }, place) => (
          <li key={place}>
            <span>{name}</span>
            <time>{at === wantedAt ? instant(at + data.startAt).slice(11) : `+${lasting(at - wantedAt)}`}</time>
          </li>
        ))}
      </ol>
      {reason !== undefined && <p>{reason}</p>}
      <p class="soft id">{orders.id[order] ?? ""}</p>
    </>
  );
};

/** A story and its mark. A pinned one stays until another is chosen. */
export type Told = { at: number; px: number; story: VNode; isPinned?: boolean };

/** Returns the story of one fill at its mark. */
export const fillTold = (data: PriceData, fill: number): Told => ({
  at: valueAt(data.fills.at, fill),
  px: valueAt(data.fills.px, fill),
  story: <FillStory data={data} fill={fill} />,
});

/** @param said - is called with the text of a pinned story */
export const Tip = ({ told, plot, said }: { told: Told | undefined; plot: uPlot; said?: (text: string) => void }) => {
  const tip = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (tip.current === null || told === undefined) return;
    placeTip(tip.current, plot, told);
    if (told.isPinned) said?.([...tip.current.children].map(({ textContent }) => textContent).join(". "));
  }, [told]);
  return told === undefined ? null : (
    <div ref={tip} class="tip">
      {told.story}
    </div>
  );
};

/** Places the tip next to its mark, within its parent. */
const placeTip = (tip: HTMLElement, plot: uPlot, { at, px }: Told) => {
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
