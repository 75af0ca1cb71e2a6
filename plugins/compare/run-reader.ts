/**
 * Makes a run of its events: each order from sending to its end, and refusals, waits and limits on the way.
 *
 * Invariants: orders are distinguished by client order id; a wait belongs to the placement that left with it; a
 * placement that never left is no order; totals are sums of recorded events, so that a truncated journal still adds up.
 */

import { abs, add, compare, type Event, neg } from "sluice";
import type { EventOf, FeeSign } from "sluice/extension";
import type { Hold, Line, OrderSpec, OrderTrace, Refusal, RunFacts, RunRecord, Totals } from "./run-record.ts";

interface RunReaderParts {
  readonly name: string;
  readonly kind: RunRecord["kind"];
  readonly facts?: RunFacts;
  readonly notes?: readonly string[];
  readonly feeSign?: FeeSign;
  /** Milliseconds to add to an instant to reach the calendar. */
  readonly offsetMs?: number;
}

type Draft = { -readonly [K in keyof OrderTrace]: OrderTrace[K] } & { lines: Line[] };

export class RunReader {
  readonly #orders = new Map<string, Draft>();
  readonly #specs = new Map<string, OrderSpec>();
  readonly #refusals: Refusal[] = [];
  readonly #holds: Hold[] = [];
  readonly #waits: number[] = [];
  #leaving: Draft | undefined;
  #limited = 0;
  #fills = 0;
  #startAt: number | undefined;
  #endAt = 0;

  /** The content of a placement that left, where requests are known. */
  sent(clOrdId: string, spec: OrderSpec): void {
    this.#specs.set(clOrdId, spec);
  }

  /** Takes an event; `number` is the number of its line. */
  event(event: Event, number: number): void {
    this.#startAt ??= event.at;
    this.#endAt = Math.max(this.#endAt, event.at);
    const ms = event.at - this.#startAt;
    const line: Line = { number, ms, text: eventWords(event) };
    if (event.type === "order.changed") this.#change(event, line);
    else if (event.type === "order.refused")
      this.#refusals.push({ strategy: event.strategy, slot: event.slot, ms, reason: event.reason, line });
    else if (event.type === "action.held")
      this.#holds.push({ ms, untilMs: event.until - this.#startAt, layer: event.layer, class: event.class, line });
    else if (event.type === "quota.rejected") this.#limited++;
    else if (event.type === "action.sent") {
      if (event.waitedMs > 0) this.#waits.push(event.waitedMs);
      if (event.endpoint !== "placeOrder" || this.#leaving === undefined || this.#leaving.strategy !== event.owner)
        return;
      this.#leaving.waitedMs = event.waitedMs;
      this.#leaving.wantedMs = this.#leaving.sentMs - event.waitedMs;
      this.#leaving = undefined;
    }
  }

  finish({
    name,
    kind,
    facts = {},
    notes = [],
    feeSign = "negative_is_cost",
    offsetMs = 0,
  }: RunReaderParts): RunRecord {
    const orders = [...this.#orders.values()].map((order) => ({
      ...order,
      spec: this.#specs.get(order.clOrdId) ?? order.spec,
      cost: feeSign === "negative_is_cost" ? neg(order.cost) : order.cost,
    }));
    orders.sort((a, b) => a.wantedMs - b.wantedMs);
    const counts = { refused: this.#refusals.length, fills: this.#fills, waits: this.#waits, limited: this.#limited };
    return {
      name,
      kind,
      startAt: (this.#startAt ?? 0) + offsetMs,
      endAt: this.#endAt + offsetMs,
      orders,
      refusals: this.#refusals,
      holds: this.#holds,
      totals: totalsOf(orders, counts),
      facts,
      notes,
    };
  }

  #change(event: EventOf<"order.changed">, line: Line): void {
    const { clOrdId, phase, strategy, slot } = event;
    // An id of a previous run, or an order that was only recalled: nothing this run decided.
    if (phase === "sent" && !this.#orders.has(clOrdId)) {
      this.#leaving = begun(strategy, slot, clOrdId, line);
      this.#orders.set(clOrdId, this.#leaving);
    }
    const order = this.#orders.get(clOrdId);
    if (order === undefined) return;
    if (compare(event.record?.accFillSz || "0", order.filledSz) > 0) this.#fills++;
    follow(order, event, line);
  }
}

const begun = (strategy: string, slot: string, clOrdId: string, { ms }: Line): Draft => ({
  strategy,
  slot,
  clOrdId,
  wantedMs: ms,
  sentMs: ms,
  waitedMs: 0,
  spec: undefined,
  ackAfterMs: undefined,
  cancelMs: undefined,
  phase: "sent",
  endMs: ms,
  reason: "",
  filledSz: "0",
  avgPx: "",
  cost: "0",
  lines: [],
});

const taken = ["acked", "live", "partially_filled", "filled", "canceled"];

const follow = (order: Draft, { phase, record, reason }: EventOf<"order.changed">, line: Line): void => {
  order.lines.push(line);
  order.phase = phase;
  order.endMs = line.ms;
  order.reason = reason;
  if (taken.includes(phase)) order.ackAfterMs ??= line.ms - order.sentMs;
  if (phase === "canceling") order.cancelMs ??= line.ms;
  if (record === undefined) return;
  const { instId, side, ordType, px, sz, accFillSz, avgPx, fee } = record;
  order.spec ??= { instId, side, ordType, px, sz };
  order.filledSz = accFillSz || "0";
  order.avgPx = avgPx;
  order.cost = fee || "0";
};

const totalsOf = (
  orders: readonly OrderTrace[],
  {
    refused,
    fills,
    waits,
    limited,
  }: { readonly refused: number; readonly fills: number; readonly waits: readonly number[]; readonly limited: number },
): Totals => {
  const ended = (phase: string): number => orders.filter((order) => order.phase === phase).length;
  return {
    orders: orders.length,
    filled: ended("filled"),
    canceled: ended("canceled"),
    rejected: ended("rejected"),
    refused,
    fills,
    volume: orders.reduce((sum, { filledSz }) => add(sum, abs(filledSz)), "0"),
    fees: orders.reduce((sum, { cost }) => add(sum, cost), "0"),
    pnl: undefined,
    waits: waits.length,
    waitedMs: Math.round(waits.reduce((sum, ms) => sum + ms, 0)),
    limited,
  };
};

/** An event in a few words. */
const eventWords = (event: Event): string => {
  if (event.type === "order.refused") return `${event.strategy}/${event.slot} refused: ${event.reason}`;
  if (event.type === "action.held") return `${event.endpoint} (${event.class}) held by ${event.layer}`;
  if (event.type !== "order.changed") return event.type;
  const { strategy, slot, phase, record, reason } = event;
  const order = record === undefined ? "" : ` ${record.side} ${record.sz} ${record.instId} at ${record.px || "market"}`;
  const filled =
    record === undefined || compare(record.accFillSz || "0", "0") === 0
      ? ""
      : `, ${record.accFillSz} filled at ${record.avgPx}`;
  return `${strategy}/${slot} ${phase}${order}${filled}${reason === "" ? "" : ` (${reason})`}`;
};
