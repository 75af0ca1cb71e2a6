/**
 * One protection in force: its events and records, and the order that closes it, as quantities and prices change.
 * Decisions as effects.
 *
 * Invariants: each quantity and level is reported as armed once; a trigger is reported and recorded before any order is
 * sent for it; a protection stays triggered until nothing is left to close.
 * Not here: all protections (protections.ts), arithmetic (protection.ts), the order itself (closing-order.ts).
 */
import type { InstrumentRecord } from "../../contract/schemas.ts";
import { compare, type Decimal, isPositive, read, spell } from "../../decimal-value.ts";
import { type Effect, type Effects, joined, noEffects, record } from "../effects.ts";
import { leastQty } from "../exit-size.ts";
import type { Slot } from "../slot.ts";
import { sameWanted, type WantedOrder } from "../wanted-order.ts";
import type { World } from "../world.ts";
import { ClosingOrder } from "./closing-order.ts";
import type { HeldExit } from "./price-triggers.ts";
import { isEmpty, type Protect, sameProtect } from "./protect.ts";
import type { PriceRange, Protection } from "./protection.ts";

type Unwatched = "suspended" | "silent" | "stopped";

/** Shortest time between two records of a trailing stop. */
const recordMs = 1_000;
/** Tick of an instrument that is not listed any more. */
const noTick: Decimal = { units: 1, places: 12 };

export class HeldProtection {
  readonly protection: Protection;
  readonly closing: ClosingOrder;
  readonly #state: World;
  #isArmed = false;
  /** Terms that were reported most recently. */
  #told = "";
  /** True if the quantity is too small for an order and this was reported. */
  #isDustTold = false;
  /** Reason why nothing can be triggered now, if it was reported. */
  #unprotected: Unwatched | undefined;
  /** The wanted entry that is not placed again, because the quantity it had opened was closed. */
  #withdrawn: WantedOrder | undefined;
  #recordedAt = Number.NEGATIVE_INFINITY;
  #isRecordDue = false;

  constructor(state: World, protection: Protection) {
    this.#state = state;
    this.protection = protection;
    this.closing = new ClosingOrder(protection, state.slots);
  }

  /** True if the protection covers nothing and can gain nothing. */
  get isOver(): boolean {
    const { name, protect, inherited, isOpen } = this.protection;
    if (this.#isHeld) return false;
    if (isEmpty(protect)) return true;
    // The position of a previous run may not be known yet.
    return !isOpen && (name.scope === "order" || (inherited && this.#told !== ""));
  }

  replace(protect: Protect): Effects {
    const { protection } = this;
    protection.inherited = false;
    if (sameProtect(protection.protect, protect)) return noEffects;
    protection.protect = protect;
    return [this.record()];
  }

  /** Takes the total execution of an order that closes the protected position. */
  exited(clOrdId: string, filled: Decimal): void {
    this.closing.executed(this.protection.exited(clOrdId, filled));
  }

  /** Returns true while its entry is wanted unchanged. After a trigger, the entry counts again only when it changes. */
  withdraws(wanted: WantedOrder): boolean {
    this.#withdrawn ??= wanted;
    return sameWanted(this.#withdrawn, wanted);
  }

  /** True while it waits for prices. */
  get isWatching(): boolean {
    return this.#isArmed && this.protection.hit === undefined;
  }

  /** Reports changes since the last call. */
  settle(): Effects {
    const { protection } = this;
    const isHeld = this.#isHeld;
    let told = noEffects;
    if (isHeld && protection.hit === undefined) told = this.#arm();
    else if (!isHeld && this.#isArmed) told = this.#end();
    else if (!isHeld && !protection.isOpen) told = this.#tellDust();
    // The next position in the instrument is protected again.
    if (!isHeld && protection.name.scope === "position" && !protection.isOpen) protection.hit = undefined;
    return told;
  }

  /** Levels of the price that trigger it. */
  get levels(): readonly string[] {
    return this.protection.levels(this.#tick).map(spell);
  }

  /** The position that it closes, with its present levels. */
  get exit(): HeldExit {
    const { protection } = this;
    const tick = this.#tick;
    const stop = protection.currentStop(tick);
    const takeProfit = protection.takeProfitPx(tick);
    return {
      side: protection.side,
      qty: spell(protection.qty),
      stopPx: textOf(stop?.px),
      takeProfitPx: textOf(takeProfit),
      exitOn: (path) => protection.exitOn(path, tick),
    };
  }

  /** Called when a price arrived. */
  see(range: PriceRange): { readonly isHit: boolean; readonly effects: Effects } {
    const { protection } = this;
    if (!this.isWatching) return { isHit: false, effects: noEffects };
    const told = this.tellProtected("silent");
    const before = protection.trailingPx();
    const hit = protection.see(range, this.#tick);
    const late = protection.unseen;
    protection.unseen = false;
    if (hit === undefined) {
      const trailing = protection.trailingPx();
      const isMoved = trailing !== undefined && (before === undefined || compare(trailing, before) !== 0);
      return { isHit: false, effects: isMoved ? joined(told, this.#recordSoon()) : told };
    }
    protection.hit = hit;
    const { side, trigger } = protection;
    const terms = { instId: protection.name.instId, side, qty: spell(protection.qty), trigger };
    const event = record({ type: "protection.triggered", ...this.#names, ...terms, ...hit, late });
    return { isHit: true, effects: [...told, event, this.record()] };
  }

  /** True if it was triggered and its position is not closed. */
  get isClosing(): boolean {
    return this.protection.hit !== undefined && this.#isHeld;
  }

  /** Requests the closing order that is needed now. Returns its slot if it has to be evaluated. */
  close(yields: boolean): Slot | undefined {
    const { protection, closing } = this;
    if (!this.#isHeld) return closing.want("none");
    if (protection.hit !== undefined) return closing.want("market");
    const px = protection.restsProfit && !yields ? protection.takeProfitPx(this.#tick) : undefined;
    return px === undefined ? closing.want("none") : closing.want("limit", spell(px));
  }

  /** Stops the timer that writes records. */
  stop(): void {
    this.#isRecordDue = false;
  }

  /** Record for the next run. */
  record(ended = false): Effect {
    this.#isRecordDue = false;
    this.#recordedAt = this.#state.now;
    return { kind: "outside", what: "protect", record: this.protection.record(ended) };
  }

  /**
   * Reports that nothing can be triggered: trading is halted, no price arrives, or the engine stops. The last reason is
   * always reported.
   */
  tellUnprotected(cause: Unwatched, reason: string): Effects {
    const isKnown = this.#unprotected === cause || (this.#unprotected !== undefined && cause !== "stopped");
    if (!this.#isArmed || isKnown) return noEffects;
    this.#unprotected = cause;
    const { name, side, qty } = this.protection;
    const { strategy, exitSlot: slot, instId } = name;
    return [record({ type: "position.unprotected", strategy, slot, instId, side, qty: spell(qty), reason })];
  }

  tellProtected(cause: Unwatched): Effects {
    return this.#unprotected === cause ? this.#tellProtected({}) : noEffects;
  }

  #tellProtected(how: { readonly closed?: true }): Effects {
    this.#unprotected = undefined;
    const { strategy, exitSlot: slot, instId } = this.protection.name;
    return [record({ type: "position.protected", strategy, slot, instId, ...how })];
  }

  get #instrument(): InstrumentRecord | undefined {
    return this.#state.options.instruments().get(this.protection.name.instId);
  }

  /** True if it covers a quantity that can be closed. */
  get #isHeld(): boolean {
    const { qty, protect, hit } = this.protection;
    if (!isPositive(qty) || (isEmpty(protect) && hit === undefined)) return false;
    const instrument = this.#instrument;
    return instrument === undefined || compare(qty, leastQty(instrument)) >= 0;
  }

  get #tick(): Decimal {
    const instrument = this.#instrument;
    return instrument === undefined ? noTick : read(instrument.tickSize);
  }

  get #names(): { readonly strategy: string; readonly name: string } {
    const { strategy, name } = this.protection.name;
    return { strategy, name };
  }

  /** Records the level of a trailing stop after a pause, even if no further price arrives. */
  #recordSoon(): Effects {
    const at = this.#recordedAt + recordMs;
    if (this.#state.now >= at) return [this.record()];
    if (this.#isRecordDue) return noEffects;
    this.#isRecordDue = true;
    return [{ kind: "schedule", at, due: () => (this.#isRecordDue ? [this.record()] : noEffects) }];
  }

  #arm(): Effects {
    const { protection } = this;
    const { side, trigger, protect } = protection;
    const { instId } = protection.name;
    const [qty, avgPx] = [spell(protection.qty), spell(protection.avgPx)];
    const stopPx = textOf(protection.stopPx(this.#tick));
    const takeProfitPx = textOf(protection.takeProfitPx(this.#tick));
    const told = [side, qty, avgPx, trigger, stopPx, takeProfitPx, JSON.stringify(protect.trailing)].join(" ");
    if (this.#isArmed && told === this.#told) return noEffects;
    const type = this.#isArmed ? "protection.changed" : "protection.armed";
    if (!this.#isArmed) protection.armedAt = this.#state.now;
    this.#isArmed = true;
    this.#told = told;
    return [record({ type, ...this.#names, instId, side, qty, avgPx, stopPx, takeProfitPx, trigger })];
  }

  /**
   * Reports that the whole quantity, less a fee in coins, is smaller than the smallest order. No order can then close
   * it.
   */
  #tellDust(): Effects {
    const { qty, protect, hit, inherited, name } = this.protection;
    if (this.#isDustTold || this.#told !== "" || hit !== undefined || inherited) return noEffects;
    if (!isPositive(qty) || isEmpty(protect)) return noEffects;
    this.#isDustTold = true;
    const reason = `never in force: ${spell(qty)} is too little for an order`;
    return [record({ type: "protection.ended", ...this.#names, instId: name.instId, reason })];
  }

  #end(): Effects {
    this.#isArmed = false;
    const { hit, qty, protect, name } = this.protection;
    const isWithdrawn = isEmpty(protect) && hit === undefined;
    const told = this.#unprotected !== undefined && !isWithdrawn ? this.#tellProtected({ closed: true }) : noEffects;
    this.#unprotected = undefined;
    const isDust = isPositive(qty) && !isEmpty(protect);
    const left = isDust ? `, but for ${spell(qty)}, which is too little for an order` : "";
    const how = hit === undefined ? "the position was closed" : `closed by ${hit.kind}`;
    const reason = isWithdrawn ? "withdrawn" : `${how}${left}`;
    return [...told, record({ type: "protection.ended", ...this.#names, instId: name.instId, reason })];
  }
}

const textOf = (px: Decimal | undefined): string | undefined => (px === undefined ? undefined : spell(px));
