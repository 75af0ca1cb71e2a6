/**
 * History of slots by the engine's events: a wanted order that was filled, refused or canceled is settled, also by an
 * order of a previous run that ended before this one began.
 *
 * Invariants: wanted orders are distinguished by their mark; an order that the engine ended early, or that was proved
 * never to have existed, settles nothing.
 */
import type { Event, WantedOrder } from "sluice";
import { type ClientOrderIds, wantedMark } from "sluice/extension";

/** Phases of an order that the service has taken and is not canceled. */
const taken: readonly string[] = ["acked", "live", "partially_filled"];
const settling: readonly string[] = ["filled", "rejected", "canceled"];

export class SlotHistory {
  readonly #wanted: ReadonlyMap<string, readonly WantedOrder[]>;
  readonly #lasts = new Map<string, string>();
  readonly #marks = new Map<string, Set<string>>();
  /** Marks and phases of open orders. */
  readonly #open = new Map<string, { readonly mark: string | undefined; readonly phase: string }>();

  /**
   * Slots, by their part of the client's ids, whose orders of a previous run ended: the first order wanted there is
   * settled.
   */
  readonly #ended = new Set<string>();
  readonly #ids: Pick<ClientOrderIds, "read" | "slotHash">;
  #compared: readonly (readonly WantedOrder[])[] = [];

  constructor(wanted: ReadonlyMap<string, readonly WantedOrder[]>, ids: Pick<ClientOrderIds, "read" | "slotHash">) {
    this.#wanted = wanted;
    this.#ids = ids;
  }

  note(event: Event): void {
    if (this.#ended.size > 0) this.#settleEnded();
    if (event.type === "order.refused") {
      const name = `${event.strategy} ${event.slot}`;
      this.#lasts.set(name, "refused");
      this.#settle(name, this.#markNow(event.strategy, event.slot));
    }
    // The unexecuted part of an entry is withdrawn with it.
    if (event.type === "protection.triggered")
      this.#settle(`${event.strategy} ${event.name}`, this.#markNow(event.strategy, event.name));
    if (event.type !== "order.changed") return;
    const { strategy, slot, clOrdId, phase } = event;
    if (slot === "") {
      if (settling.includes(phase)) this.#ended.add(this.#ids.read(clOrdId)?.slotHash ?? "");
      return;
    }
    const name = `${strategy} ${slot}`;
    const before = this.#open.get(clOrdId);
    const mark = phase === "sent" ? this.#markNow(strategy, slot) : before?.mark;
    this.#lasts.set(name, phase);
    this.#open.set(clOrdId, { mark, phase });
    const forgotten = phase === "absent" && before !== undefined && taken.includes(before.phase);
    if (!settling.includes(phase) && !forgotten) return;
    this.#open.delete(clOrdId);
    if (phase === "canceled" && before?.phase === "canceling") return;
    // With the text at the time of sending, or the latest text: either may have been settled.
    this.#settle(name, mark);
    this.#settle(name, this.#markNow(strategy, slot));
  }

  settled(slot: string, wanted: WantedOrder): boolean {
    return this.#marks.get(slot)?.has(wantedMark(wanted)) === true;
  }

  /** The last phase of an order in a slot. */
  last(slot: string): string {
    return this.#lasts.get(slot) ?? "none";
  }

  /** Examines each set of wanted orders once. */
  #settleEnded(): void {
    const sets = [...this.#wanted.values()];
    if (sets.length === this.#compared.length && sets.every((set, index) => set === this.#compared[index])) return;
    this.#compared = sets;
    for (const [strategy, set] of this.#wanted) {
      for (const wanted of set) {
        if (this.#ended.delete(this.#ids.slotHash(strategy, wanted.slot)))
          this.#settle(`${strategy} ${wanted.slot}`, wantedMark(wanted));
      }
    }
  }

  #markNow(strategy: string, slot: string): string | undefined {
    const wanted = this.#wanted.get(strategy)?.find((candidate) => candidate.slot === slot);
    return wanted === undefined ? undefined : wantedMark(wanted);
  }

  #settle(name: string, mark: string | undefined): void {
    if (mark !== undefined) this.#marks.set(name, (this.#marks.get(name) ?? new Set()).add(mark));
  }
}
