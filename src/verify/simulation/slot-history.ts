/**
 * History of slots by the engine's events: a wanted order that was filled, refused or canceled is settled.
 *
 * Invariants: wanted orders are told apart by their mark; an order that was cut short by the engine or proved never to have been
 * there settles nothing.
 */
import type { Event } from "../../journal/events.ts";
import { type WantedOrder, wishMark } from "../../orders/wanted-order.ts";

/** Phases of an order that the service has taken and is not canceled. */
const taken: readonly string[] = ["acked", "live", "partially_filled"];
const settling: readonly string[] = ["filled", "rejected", "canceled"];

export class SlotHistory {
  readonly #wanted: ReadonlyMap<string, readonly WantedOrder[]>;
  readonly #lasts = new Map<string, string>();
  readonly #marks = new Map<string, Set<string>>();
  /** Of orders that are not over: the mark they were sent for, and their phase. */
  readonly #open = new Map<string, { readonly mark: string | undefined; readonly phase: string }>();

  constructor(wanted: ReadonlyMap<string, readonly WantedOrder[]>) {
    this.#wanted = wanted;
  }

  note(event: Event): void {
    if (event.type === "order.refused") {
      const name = `${event.strategy} ${event.slot}`;
      this.#lasts.set(name, "refused");
      this.#settle(name, this.#markNow(event.strategy, event.slot));
    }
    // What an entry has not executed is withdrawn with it.
    if (event.type === "protection.triggered") this.#settle(`${event.strategy} ${event.name}`, this.#markNow(event.strategy, event.name));
    if (event.type !== "order.changed") return;
    const { strategy, slot, clOrdId, phase } = event;
    const name = `${strategy} ${slot}`;
    const before = this.#open.get(clOrdId);
    const mark = phase === "sent" ? this.#markNow(strategy, slot) : before?.mark;
    this.#lasts.set(name, phase);
    this.#open.set(clOrdId, { mark, phase });
    const forgotten = phase === "absent" && before !== undefined && taken.includes(before.phase);
    if (!settling.includes(phase) && !forgotten) return;
    this.#open.delete(clOrdId);
    if (phase === "canceled" && before?.phase === "canceling") return;
    // As it was worded when the order left, or last: either may be what was settled.
    this.#settle(name, mark);
    this.#settle(name, this.#markNow(strategy, slot));
  }

  settled(slot: string, wanted: WantedOrder): boolean {
    return this.#marks.get(slot)?.has(wishMark(wanted)) === true;
  }

  /** The last phase of an order in a slot. */
  last(slot: string): string {
    return this.#lasts.get(slot) ?? "none";
  }

  #markNow(strategy: string, slot: string): string | undefined {
    const wanted = this.#wanted.get(strategy)?.find((candidate) => candidate.slot === slot);
    return wanted === undefined ? undefined : wishMark(wanted);
  }

  #settle(name: string, mark: string | undefined): void {
    if (mark !== undefined) this.#marks.set(name, (this.#marks.get(name) ?? new Set()).add(mark));
  }
}
