/**
 * Armed positions: the quantity that the engine reports as protected, by strategy and instrument.
 *
 * Invariants: reads events only; a triggered protection covers any quantity, also in the next process, because its
 * closing order is checked by time.
 * Not here: the quantity that has to be protected (protection-oracle.ts).
 */
import type { Event } from "sluice";

interface Armed {
  qty: number;
  /** It reports that a full stop suspends it. */
  isSuspended: boolean;
}

/** The engine's reason begins so when trading is stopped completely. */
const suspendedWords = "trading is stopped";

export class ArmedPositions {
  /** By strategy and instrument, then by name of the protection. */
  readonly #armed = new Map<string, Map<string, Armed>>();

  #process = 0;

  /** Takes an event of a process, by the number of the process. */
  event(process: number, event: Event): void {
    if (process !== this.#process) this.#begin();
    this.#process = process;
    const { type } = event;
    if (type === "protection.armed" || type === "protection.changed") {
      this.#of(event).set(event.name, { qty: Number(event.qty), isSuspended: false });
    } else if (type === "protection.triggered") {
      this.#of(event).set(event.name, { qty: Number.POSITIVE_INFINITY, isSuspended: false });
    } else if (type === "protection.ended") {
      this.#of(event).delete(event.name);
    } else if (type === "position.unprotected" || type === "position.protected") {
      const armed = this.#of(event).get(event.slot.replace(/\.exit\d*(\.late)?$/, ""));
      if (armed === undefined) return;
      armed.isSuspended = type === "position.unprotected" && event.reason.startsWith(suspendedWords);
    }
  }

  /** Protected quantity of a strategy's position; a suspended protection covers nothing. */
  qtyOf(strategy: string, instId: string): number {
    let sum = 0;
    for (const { qty, isSuspended } of this.#of({ strategy, instId }).values()) if (!isSuspended) sum += qty;
    return sum;
  }

  /** A new process reports what it protects, except for protections that were triggered before. */
  #begin(): void {
    for (const held of this.#armed.values())
      for (const [name, { qty }] of held) if (Number.isFinite(qty)) held.delete(name);
  }

  #of({ strategy, instId }: { readonly strategy: string; readonly instId: string }): Map<string, Armed> {
    const key = `${strategy} ${instId}`;
    const known = this.#armed.get(key) ?? new Map<string, Armed>();
    this.#armed.set(key, known);
    return known;
  }
}
