/**
 * One protection in force: what it tells, records and wants to be closed as its quantity changes and prices come.
 *
 * Invariants: armed is told once with each quantity and level; what triggers is told and recorded before anything is
 * sent for it; one that was triggered stays so until nothing is left to close.
 * Not here: which there are (protections.ts), arithmetic (protection.ts), the order itself (closing-order.ts).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { InstrumentRecord } from "../../contract/schemas.ts";
import { compare, isPositive } from "../../decimal.ts";
import type { EventLog } from "../../journal/event-log.ts";
import type { ProtectionRecord } from "../../journal/protection-records.ts";
import { leastQty } from "../exit-size.ts";
import type { Slot } from "../slot.ts";
import type { Slots } from "../slots.ts";
import { sameWanted, type WantedOrder } from "../wanted-order.ts";
import { ClosingOrder } from "./closing-order.ts";
import type { HeldExit } from "./price-triggers.ts";
import { isEmpty, type Protect, sameProtect } from "./protect.ts";
import type { PriceRange, Protection } from "./protection.ts";

export interface HeldProtectionOptions {
  readonly clock: Clock;
  readonly journal: EventLog;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  /** A protection changed: for the next run. */
  readonly onProtection?: (record: ProtectionRecord) => void;
}

type Unwatched = "suspended" | "silent" | "stopped";

/** A trailing stop is recorded at most so often. */
const recordMs = 1_000;
/** Where the instrument is not listed any more. */
const noTick = "0.000000000001";

export class HeldProtection {
  readonly protection: Protection;
  readonly closing: ClosingOrder;
  readonly #options: HeldProtectionOptions;
  #isArmed = false;
  /** What was told last, as a text. */
  #told = "";
  /** What it covers is too little for an order, and that was told. */
  #isDustTold = false;
  /** Why nothing can be triggered now, where it was told. */
  #unprotected: Unwatched | undefined;
  /** The wanted entry that is not placed again, since what it had bought was closed. */
  #withdrawn: WantedOrder | undefined;
  #recordedAt = Number.NEGATIVE_INFINITY;
  #recording: Timer | undefined;

  constructor(options: HeldProtectionOptions, protection: Protection, slots: Slots) {
    this.#options = options;
    this.protection = protection;
    this.closing = new ClosingOrder(protection, slots);
  }

  /** Nothing is left of it, and nothing can come. */
  get isOver(): boolean {
    const { name, protect, inherited, isOpen } = this.protection;
    if (this.#isHeld()) return false;
    if (isEmpty(protect)) return true;
    // Of what a previous run left the position may not be known yet.
    return !isOpen && (name.scope === "order" || (inherited && this.#told !== ""));
  }

  replace(protect: Protect): void {
    const { protection } = this;
    protection.inherited = false;
    if (sameProtect(protection.protect, protect)) return;
    protection.protect = protect;
    this.record();
  }

  /** The order that closes it has executed so much in all. */
  exited(clOrdId: string, filled: string): void {
    this.closing.executed(this.protection.exited(clOrdId, filled));
  }

  /** Its entry is wanted so. Once triggered it does not count until something else is wanted. */
  withdraws(wanted: WantedOrder): boolean {
    this.#withdrawn ??= wanted;
    return sameWanted(this.#withdrawn, wanted);
  }

  /** Tells what has changed. True while it waits for prices. */
  settle(): boolean {
    const { protection } = this;
    const { name } = protection;
    const isHeld = this.#isHeld();
    if (isHeld && protection.hit === undefined) this.#arm();
    if (!isHeld && this.#isArmed) this.#end();
    else if (!isHeld && !protection.isOpen) this.#tellDust();
    // The next position of the instrument is protected anew.
    if (!isHeld && name.scope === "position" && !protection.isOpen) protection.hit = undefined;
    return this.#isArmed && protection.hit === undefined;
  }

  /** Prices that trigger it. */
  get levels(): readonly string[] {
    return this.protection.levels(this.#tick());
  }

  /** The position that it closes, with its current levels. */
  get exit(): HeldExit {
    const { protection } = this;
    const tick = this.#tick();
    return {
      side: protection.side,
      qty: protection.qty,
      stopPx: protection.standingStop(tick)?.px,
      takeProfitPx: protection.takeProfitPx(tick),
      exitOn: (path) => protection.exitOn(path, tick),
    };
  }

  /** A price has come. True where it triggers. */
  see(range: PriceRange): boolean {
    const { protection } = this;
    if (!this.#isArmed || protection.hit !== undefined) return false;
    this.tellProtected("silent");
    const before = protection.trailingPx();
    const hit = protection.see(range, this.#tick());
    const isLate = protection.unseen;
    protection.unseen = false;
    if (hit === undefined) {
      if (protection.trailingPx() !== before) this.#recordSoon();
      return false;
    }
    protection.hit = hit;
    const { strategy, name: of, instId } = protection.name;
    const { side, qty, trigger } = protection;
    this.#options.journal.append({
      type: "protection.triggered",
      strategy,
      name: of,
      instId,
      side,
      qty,
      trigger,
      ...hit,
      late: isLate,
    });
    this.record();
    return true;
  }

  /** It was triggered, and what it covers is not closed. */
  get isClosing(): boolean {
    return this.protection.hit !== undefined && this.#isHeld();
  }

  /** The slot that has to be considered, if any. */
  close(yields: boolean): Slot | undefined {
    const { protection, closing } = this;
    if (!this.#isHeld()) return closing.want("none");
    if (protection.hit !== undefined) return closing.want("market");
    const px = protection.restsProfit && !yields ? protection.takeProfitPx(this.#tick()) : undefined;
    return px === undefined ? closing.want("none") : closing.want("limit", px);
  }

  /** Nothing is done any more. */
  stop(): void {
    this.#recording?.cancel();
    this.#recording = undefined;
  }

  record(ended = false): void {
    this.stop();
    this.#recordedAt = this.#options.clock.now();
    this.#options.onProtection?.(this.protection.record(ended));
  }

  /**
   * Nothing can be triggered: trading is halted, no price comes, or the engine stops, which is told whatever was told
   * before.
   */
  tellUnprotected(cause: Unwatched, reason: string): void {
    if (!this.#isArmed || this.#unprotected === cause || (this.#unprotected !== undefined && cause !== "stopped"))
      return;
    this.#unprotected = cause;
    const { name, side, qty } = this.protection;
    const { strategy, exitSlot: slot, instId } = name;
    this.#options.journal.append({ type: "position.unprotected", strategy, slot, instId, side, qty, reason });
  }

  tellProtected(cause: Unwatched): void {
    if (this.#unprotected === cause) this.#tellProtected({});
  }

  #tellProtected(how: { readonly closed?: true }): void {
    this.#unprotected = undefined;
    const { strategy, exitSlot: slot, instId } = this.protection.name;
    this.#options.journal.append({ type: "position.protected", strategy, slot, instId, ...how });
  }

  /** It covers something that can be closed. */
  #isHeld(): boolean {
    const { qty, protect, hit, name } = this.protection;
    if (!isPositive(qty) || (isEmpty(protect) && hit === undefined)) return false;
    const instrument = this.#options.instruments().get(name.instId);
    return instrument === undefined || compare(qty, leastQty(instrument)) >= 0;
  }

  /** How far a trailing stop came is not lost because no further price came. */
  #recordSoon(): void {
    const { clock } = this.#options;
    const at = this.#recordedAt + recordMs;
    if (clock.now() >= at) this.record();
    else this.#recording ??= clock.setTimer(at, () => this.record());
  }

  #tick(): string {
    return this.#options.instruments().get(this.protection.name.instId)?.tickSize ?? noTick;
  }

  #arm(): void {
    const { protection } = this;
    const { strategy, name, instId } = protection.name;
    const { side, qty, avgPx, trigger } = protection;
    const tick = this.#tick();
    const stopPx = protection.stopPx(tick);
    const takeProfitPx = protection.takeProfitPx(tick);
    const told = [side, qty, avgPx, trigger, stopPx, takeProfitPx, JSON.stringify(protection.protect.trailing)].join(
      " ",
    );
    if (this.#isArmed && told === this.#told) return;
    const type = this.#isArmed ? "protection.changed" : "protection.armed";
    if (!this.#isArmed) protection.armedAt = this.#options.clock.now();
    this.#isArmed = true;
    this.#told = told;
    this.#options.journal.append({ type, strategy, name, instId, side, qty, avgPx, stopPx, takeProfitPx, trigger });
  }

  /** All that was bought, less a fee in coins, can be less than the smallest order: then nothing ever protects it. */
  #tellDust(): void {
    const { qty, protect, hit, inherited, name: of } = this.protection;
    if (this.#isDustTold || this.#told !== "" || hit !== undefined || inherited) return;
    if (!isPositive(qty) || isEmpty(protect)) return;
    this.#isDustTold = true;
    const { strategy, name, instId } = of;
    const reason = `never in force: ${qty} is too little for an order`;
    this.#options.journal.append({ type: "protection.ended", strategy, name, instId, reason });
  }

  #end(): void {
    const { protection } = this;
    const { strategy, name, instId } = protection.name;
    this.#isArmed = false;
    const { hit, qty, protect } = protection;
    const isWithdrawn = isEmpty(protect) && hit === undefined;
    if (this.#unprotected !== undefined && !isWithdrawn) this.#tellProtected({ closed: true });
    this.#unprotected = undefined;
    const left = isPositive(qty) && !isEmpty(protect) ? `, but for ${qty}, which is too little for an order` : "";
    const reason = isWithdrawn
      ? "withdrawn"
      : `${hit === undefined ? "the position was closed" : `closed by ${hit.kind}`}${left}`;
    this.#options.journal.append({ type: "protection.ended", strategy, name, instId, reason });
  }
}
