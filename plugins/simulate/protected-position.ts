/**
 * Protected position as the simulation works it out: the executions of a strategy's orders at the service, the
 * protected part, and the price at which it has to be closed.
 *
 * Invariants: shares no code with the engine's protections; plain numbers, rounded to a step below any lot; a level
 * counts as reached when the price is a tick beyond it, so that the two may round differently.
 * Not here: the time at which an engine has to act (protection-oracle.ts).
 */
import type { Side, WantedOrder } from "sluice";

type Protect = NonNullable<WantedOrder["protect"]>;

const exact = (value: number): number => Math.round(value * 1e9) / 1e9;

/** A protection that is due: its level was reached. */
interface Due {
  readonly at: number;
  readonly level: number;
  /** The engine saw the price and knew of every fill: it has to close, for any later price. */
  hard: boolean;
}

/** Cover of one protection: an entry slot, or the whole position (`slot` empty). */
export class Cover {
  readonly slot: string;
  /** Side of the closing order. */
  side: Side;
  protect: Protect;
  qty = 0;
  due: Due | undefined = undefined;
  /** Milliseconds for which it has been due while nothing kept the engine from closing. */
  idleMs = 0;
  /** Closing orders that left since it is due. */
  attempts = 0;
  #bought = 0;
  #paid = 0;
  #extreme: number | undefined;
  /** Earlier values of the extreme. */
  #extremes: { readonly at: number; readonly px: number }[] = [];

  constructor(slot: string, side: Side, protect: Protect) {
    this.slot = slot;
    this.side = side;
    this.protect = protect;
  }

  entered(qty: number, px: number): void {
    if (this.qty === 0) this.clear();
    this.qty = exact(this.qty + qty);
    this.#bought += qty;
    this.#paid += qty * px;
  }

  exited(qty: number): void {
    this.cutTo(this.qty - qty);
  }

  /** Covers so much of a position at this average price. */
  cover(side: Side, qty: number, avgPx: number): void {
    if (this.side !== side || this.qty === 0) this.clear();
    this.side = side;
    this.qty = qty;
    this.#bought = qty;
    this.#paid = qty * avgPx;
  }

  cutTo(qty: number): void {
    this.qty = exact(Math.max(0, Math.min(this.qty, qty)));
    if (this.qty === 0) this.clear();
  }

  clear(): void {
    this.qty = 0;
    this.#bought = 0;
    this.#paid = 0;
    this.#extreme = undefined;
    this.#extremes = [];
    this.rest();
  }

  /** Nothing is due. */
  rest(): void {
    this.due = undefined;
    this.idleMs = 0;
    this.attempts = 0;
  }

  /** Price of the stop; undefined if no stop is set or a trailing one has seen no price. */
  get level(): number | undefined {
    const { stopLoss, trailing } = this.protect;
    const way = this.side === "sell" ? -1 : 1;
    const away = (from: number, { by, percent }: { readonly by?: string; readonly percent?: string }): number =>
      from + way * (by === undefined ? (from * Number(percent)) / 100 : Number(by));
    const average = this.#paid / this.#bought;
    const fixed =
      stopLoss === undefined ? undefined : typeof stopLoss === "string" ? Number(stopLoss) : away(average, stopLoss);
    const moving = trailing === undefined || this.#extreme === undefined ? undefined : away(this.#extreme, trailing);
    if (fixed === undefined || moving === undefined) return fixed ?? moving;
    return this.side === "sell" ? Math.max(fixed, moving) : Math.min(fixed, moving);
  }

  /** A price that the engine saw, knowing of every fill or not. */
  see(px: number, tick: number, at: number, informed: boolean): void {
    const { level } = this;
    const beyond = level !== undefined && (this.side === "sell" ? px <= level - tick : px >= level + tick);
    if (beyond) {
      this.due ??= { at, level, hard: false };
      if (informed) this.due.hard = true;
      return;
    }
    if (this.due?.hard === true) return;
    this.rest();
    if (!informed || this.protect.trailing === undefined) return;
    const better = this.#extreme === undefined || (this.side === "sell" ? px > this.#extreme : px < this.#extreme);
    if (!better) return;
    this.#extreme = px;
    this.#extremes.push({ at, px });
  }

  /**
   * The process ended: its journal may lack what came after `recordedAt`, except a trigger whose closing order was about
   * to leave, because the journal has that order and everything before it. The next process begins with a first attempt.
   */
  forget(recordedAt: number): void {
    this.#extremes = this.#extremes.filter(({ at }) => at <= recordedAt);
    this.#extreme = this.#extremes.at(-1)?.px;
    const isRecorded = this.due?.hard === true && (this.attempts > 0 || this.due.at <= recordedAt);
    if (!isRecorded) this.due = undefined;
    this.idleMs = 0;
    this.attempts = 0;
  }
}

/** Position of one strategy in an instrument, by the fills of its orders. */
export class Book {
  readonly strategy: string;
  readonly instId: string;
  /** Base currency, negative short. */
  net = 0;
  readonly covers = new Map<string, Cover>();
  #avgPx = 0;

  constructor(strategy: string, instId: string) {
    this.strategy = strategy;
    this.instId = instId;
  }

  /** Adds a fill at this price; `slot` is that of an entry or of the entry whose protection closes. */
  fill(side: Side, qty: number, px: number): void {
    const change = side === "buy" ? qty : -qty;
    const before = this.net;
    this.net = exact(before + change);
    if (before === 0 || Math.sign(before) === Math.sign(change)) {
      this.#avgPx = (this.#avgPx * Math.abs(before) + px * qty) / (Math.abs(before) + qty);
    } else if (Math.sign(this.net) !== Math.sign(before)) this.#avgPx = px;
  }

  /**
   * Limits the protections of orders to the position, the newest first; the one of the whole position covers the rest.
   */
  fit(): void {
    const closing: Side = this.net > 0 ? "sell" : "buy";
    let left = Math.abs(this.net);
    for (const cover of [...this.covers.values()].reverse()) {
      if (cover.slot === "") continue;
      cover.cutTo(cover.side === closing ? left : 0);
      left = exact(left - cover.qty);
    }
    const whole = this.covers.get("");
    if (whole === undefined) return;
    if (left === 0) whole.clear();
    else whole.cover(closing, left, this.#avgPx);
  }
}
