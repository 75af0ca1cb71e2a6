/**
 * Fold of order events and updates into rows of the control document, with the story of each order.
 *
 * Invariants: an order is one row, by its client order id; the time at which it was first seen stays; a story is kept
 * as long as its row and holds at most `storyMax` events, the first and the latest; events alone suffice, updates add
 * the sent values.
 * Not here: the bounds of rows (control-document.ts).
 */
import { add, type Event, type OrderUpdate } from "sluice";
import type { EventOf } from "sluice/extension";
import type { ControlDocument } from "./control-document.ts";
import type { OrderRow, QueueRow } from "./control-rows.ts";

const storyMax = 200;
const finalPhases: readonly string[] = ["filled", "canceled", "rejected", "absent"];

export class OrderRows {
  readonly #document: ControlDocument;
  readonly #stories = new Map<string, Event[]>();
  /** Current order of each slot, used for events about the slot. */
  readonly #inSlot = new Map<string, string>();
  readonly #open = new Map<string, OrderRow>();
  /** True if updates contain the executed totals; without updates fills are summed. */
  #isUpdated = false;

  constructor(document: ControlDocument) {
    this.#document = document;
  }

  /** Orders that are not over, by strategy. */
  openBy(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { strategy } of this.#open.values()) counts.set(strategy, (counts.get(strategy) ?? 0) + 1);
    return counts;
  }

  /** Returns the waiting and running actions, by class and strategy. */
  queue(): Map<string, QueueRow> {
    const rows = new Map<string, QueueRow>();
    for (const { strategy, phase } of this.#open.values()) {
      if (phase !== "planned" && phase !== "sent" && phase !== "canceling") continue;
      const key = `${phase === "canceling" ? "cancel" : "place"}|${strategy}`;
      const { queued, inFlight } = rows.get(key) ?? { queued: 0, inFlight: 0 };
      rows.set(key, phase === "planned" ? { queued: queued + 1, inFlight } : { queued, inFlight: inFlight + 1 });
    }
    return rows;
  }

  story(clOrdId: string): readonly Event[] {
    return [...(this.#stories.get(clOrdId) ?? [])];
  }

  takeEvent(event: Event): void {
    if (event.type === "order.changed") this.#takeChange(event);
    else if (event.type === "fill") this.#takeFill(event);
    else if (event.type === "order.inexact") this.#tell(event.clOrdId, event);
    else if ("strategy" in event && "slot" in event) this.#tell(this.#inSlot.get(slotKey(event)) ?? "", event);
  }

  takeUpdate(update: OrderUpdate, at: number): void {
    const { clOrdId, strategy, slot, spec, phase, isFinal, qty, filledQty, avgPx, reason } = update;
    // A refused order never became an order.
    if (clOrdId === "" || spec === undefined || phase === "refused") return;
    this.#isUpdated = true;
    const { instId, side, ordType, px, sz } = spec;
    const placedAt = this.#document.row("orders", clOrdId)?.placedAt ?? at;
    const changedAt = at;
    this.#put({
      clOrdId,
      strategy,
      slot,
      instId,
      side,
      ordType,
      px,
      qty,
      sz,
      filledQty,
      avgPx,
      phase,
      isFinal,
      reason,
      placedAt,
      changedAt,
    });
  }

  /** Stories end with their rows. */
  forget(clOrdId: string): void {
    this.#stories.delete(clOrdId);
    this.#open.delete(clOrdId);
  }

  #takeChange(event: EventOf<"order.changed">): void {
    const { clOrdId, strategy, slot, instId, phase, record, reason, at } = event;
    const isFinal = finalPhases.includes(phase);
    const known = this.#document.row("orders", clOrdId);
    this.#tell(clOrdId, event);
    if (isFinal) this.#inSlot.delete(slotKey(event));
    else this.#inSlot.set(slotKey(event), clOrdId);
    if (known === undefined && record === undefined) {
      // Without a row its story cannot be requested, unless an update follows at once.
      if (isFinal && !this.#isUpdated) this.#stories.delete(clOrdId);
      return;
    }
    const { side, ordType, px, sz } = record ?? (known as OrderRow);
    this.#put({
      clOrdId,
      strategy,
      slot,
      instId,
      side: side as OrderRow["side"],
      ordType,
      px,
      qty: known?.qty ?? "",
      sz,
      filledQty: known?.filledQty ?? "0",
      avgPx: known === undefined || known.filledQty === "0" ? "" : (record?.avgPx ?? known.avgPx),
      phase,
      isFinal,
      reason,
      placedAt: known?.placedAt ?? this.#stories.get(clOrdId)?.[0]?.at ?? at,
      changedAt: at,
    });
  }

  #takeFill(event: EventOf<"fill">): void {
    const { clOrdId, qty, px, at } = event;
    this.#tell(clOrdId, event);
    const known = this.#document.row("orders", clOrdId);
    if (known === undefined || this.#isUpdated) return;
    this.#put({
      ...known,
      filledQty: add(known.filledQty, qty),
      avgPx: known.avgPx === "" ? px : known.avgPx,
      changedAt: at,
    });
  }

  #put(row: OrderRow): void {
    if (row.isFinal) this.#open.delete(row.clOrdId);
    else this.#open.set(row.clOrdId, row);
    this.#document.put("orders", row.clOrdId, row);
  }

  #tell(clOrdId: string, event: Event): void {
    if (clOrdId === "") return;
    const story = this.#stories.get(clOrdId);
    if (story === undefined) this.#stories.set(clOrdId, [event]);
    else {
      story.push(event);
      if (story.length > storyMax) story.splice(storyMax / 2, 1);
    }
  }
}

const slotKey = ({ strategy, slot }: { readonly strategy: string; readonly slot: string }): string =>
  `${strategy}\n${slot}`;
