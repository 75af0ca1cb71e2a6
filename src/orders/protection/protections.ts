/**
 * Protections of all positions: which there are, what each covers by the fills of its orders, and what follows when one is triggered.
 *
 * Invariants: what the protections of a position cover together is never more than its strategy holds by its own fills; what is
 * covered is recorded before the order that changed it is recorded as over; what follows from a change is done after it was told.
 * Not here: arithmetic and levels (protection.ts, protect.ts), what one does when it changes (held-protection.ts), prices (price-triggers.ts).
 */
import type { Contract } from "../../contract/contract.ts";
import type { Side } from "../../contract/profile.ts";
import { abs, isPositive, sub } from "../../decimal.ts";
import type { ProtectionRecord } from "../../journal/protection-records.ts";
import { isClosed, type Order } from "../order-state.ts";
import type { Positions } from "../positions.ts";
import { broughtBy, executionOf } from "../risk/exposure-entry.ts";
import { stoppedWords } from "../risk/trading-mode.ts";
import type { Slot } from "../slot.ts";
import type { Slots } from "../slots.ts";
import { sameWanted, type WantedOrder } from "../wanted-order.ts";
import { fitCoverage } from "./covered-part.ts";
import type { OpenOrder, PlannedProtection } from "./earlier-order.ts";
import { HeldProtection, type HeldProtectionOptions } from "./held-protection.ts";
import { LateClosings } from "./late-closings.ts";
import { PriceTriggers, type TriggerPrices } from "./price-triggers.ts";
import { closes, exitOf, isEmpty, lateSlotOf, nameOf, type Protect, type WantedProtection } from "./protect.ts";
import { Protection } from "./protection.ts";

interface ProtectionsOptions extends HeldProtectionOptions {
  readonly contract: Contract;
  readonly prices: TriggerPrices;
  /** A price that has not come for so long is told; not watched where left out. */
  readonly priceSilenceMs?: number | undefined;
}

interface ProtectionsOwner {
  consider(slot: Slot): void;
  /** Nothing of the strategy may rest, its exits included. */
  isStopped(strategy: string): boolean;
  /** Two exits of the strategy at a time cannot reduce more than it holds. */
  isBounded(strategy: string, instId: string, side: Side): boolean;
  /** The closing order is not in force after some time. */
  isLate(slot: Slot, wanted: WantedOrder, reason: string): void;
}

type Name = Protection["name"];

export class Protections {
  readonly #options: ProtectionsOptions;
  readonly #slots: Slots;
  readonly #positions: Positions;
  readonly #owner: ProtectionsOwner;
  readonly #triggers: PriceTriggers<HeldProtection>;
  /** By strategy, oldest first. */
  readonly #held = new Map<string, HeldProtection[]>();
  /** Orders of a previous run, by client order id. */
  readonly #planned = new Map<string, PlannedProtection>();
  readonly #changed = new Set<HeldProtection>();
  readonly #late: LateClosings;
  /** Nothing is protected, and no order of a previous run may be: a change of an order without fills concerns nothing here. */
  isIdle = true;
  #isRecovering = false;

  constructor(options: ProtectionsOptions, slots: Slots, positions: Positions, owner: ProtectionsOwner) {
    this.#options = options;
    this.#slots = slots;
    this.#positions = positions;
    this.#owner = owner;
    const { prices, clock, priceSilenceMs: ms } = options;
    const tell = (one: HeldProtection, reason: string): void => one.tellUnprotected("silent", reason);
    this.#late = new LateClosings(clock, owner, (one) => {
      this.#changed.add(one);
      this.act();
    });
    this.#triggers = new PriceTriggers({
      prices,
      onPrice: (one, range) => {
        if (!one.see(range)) return;
        this.#changed.add(one);
        this.act();
      },
      levelsOf: (one) => one.levels,
      exitOf: (one) => one.exit,
      silence: ms === undefined ? undefined : { clock, ms, tell },
    });
  }

  has(strategy: string): boolean {
    return this.#held.has(strategy);
  }

  /** What a strategy wants now: the protection of an entry may have changed, and those of whole positions are replaced. */
  declare(strategy: string, wanted: readonly WantedOrder[], positions: readonly WantedProtection[]): void {
    const held = this.#held.get(strategy);
    if (held === undefined && positions.length === 0) return;
    for (const one of held ?? []) {
      const { scope, name, instId } = one.protection.name;
      const isEntry = (wanted: WantedOrder): boolean =>
        wanted.slot === name && wanted.instId === instId && exitOf(wanted.side) === one.protection.side;
      const now = scope === "order" ? wanted.find(isEntry) : positions.find((position) => nameOf(position) === name);
      if (now?.protect !== undefined) one.replace(now.protect);
      else if (scope === "position" && !one.protection.inherited) one.replace({});
    }
    for (const position of positions) {
      const { instId, side = "long", protect } = position;
      const name = nameOf(position);
      if (isEmpty(protect) || this.#of(strategy, instId).some((one) => one.protection.name.name === name)) continue;
      this.#add(
        { strategy, instId, scope: "position", name, exitSlot: this.#exitSlotOf(strategy, name) },
        closes[side],
        protect,
      );
    }
    for (const instId of new Set((this.#held.get(strategy) ?? []).map((one) => one.protection.name.instId)))
      this.#fit(strategy, instId);
    this.act();
  }

  /** The order's wanted order is protected; of an order found at the service that is the present one of its slot. */
  isWantedFor({ wanted, strategy, slot }: Order): boolean {
    return (wanted ?? this.#slots.find(strategy, slot)?.wanted)?.protect !== undefined;
  }

  /** An order has executed more, or has ended. Call it when the position is booked, before the change is recorded. */
  take(order: Order, strategy: string): void {
    this.isIdle = this.#held.size === 0 && this.#planned.size === 0;
    if (strategy === "" || (this.isIdle && !this.isWantedFor(order))) return;
    const { clOrdId, spec } = order;
    // One of a previous run may have come to its end before a slot took it over.
    const slot = this.#planned.get(clOrdId)?.slot ?? order.slot;
    const { contract, instruments } = this.#options;
    const executed = executionOf(order, { profile: contract.profile, instruments });
    const filled = abs(broughtBy(spec.side, executed));
    const value = executed.feeQty === undefined ? executed.value : sub(executed.value, executed.cost);
    const closing = this.#held
      .get(strategy)
      ?.find(({ protection: { name } }) => name.exitSlot === slot || lateSlotOf(name.exitSlot) === slot);
    if (closing !== undefined) closing.exited(clOrdId, filled);
    else if (isPositive(filled)) this.#entryOf(order, strategy)?.protection.entered({ clOrdId, filled, value });
    this.#fit(strategy, spec.instId);
    if (order.record !== undefined || isClosed(order)) {
      for (const { protection } of this.#of(strategy, spec.instId)) protection.found(clOrdId);
    }
    if (!isClosed(order)) return;
    this.#planned.delete(clOrdId);
    for (const one of this.#of(strategy, spec.instId)) {
      one.record();
      one.protection.forget(clOrdId);
    }
    closing?.closing.ended(order, slot);
  }

  /** Does what follows from the changes since the last call: arms, changes, withdraws, and places what closes. */
  act(): void {
    while (this.#changed.size > 0 && !this.#isRecovering) {
      const [one] = this.#changed as Set<HeldProtection> & Iterable<HeldProtection>;
      this.#changed.delete(one as HeldProtection);
      this.#settle(one as HeldProtection);
    }
  }

  /** The position of an instrument was closed, by no order of a strategy. */
  closed(instId: string): void {
    for (const strategy of this.#held.keys()) this.#fit(strategy, instId);
    this.act();
  }

  /** The slot's wanted order does not count now: what it bought was closed, or another order is closing what it would reduce. */
  withdraws({ strategy, name, reserved, wanted }: Slot): boolean {
    if (this.#held.size === 0 || reserved || wanted === undefined) return false;
    return this.#of(strategy, wanted.instId).some((one) => {
      const { hit, side, qty, name: of } = one.protection;
      if (hit === undefined) return false;
      if (wanted.reduceOnly === true) return wanted.side === side && isPositive(qty);
      return of.scope === "order" && of.name === name && one.withdraws(wanted);
    });
  }

  /** An exit of the strategy itself goes before a take-profit that rests, which is withdrawn for it. */
  yieldTo({ strategy, reserved }: Slot, { reduceOnly, instId, side }: WantedOrder): void {
    if (this.#held.size === 0 || reserved || reduceOnly !== true) return;
    for (const one of this.#of(strategy, instId)) if (one.protection.side === side) this.#close(one);
  }

  /** A previous run's orders are taken in one by one: until all are, what closes a position may be among them. */
  beginRecovery(): void {
    this.#isRecovering = true;
  }

  /** Protects again what a previous run protected. */
  endRecovery(): void {
    this.#isRecovering = false;
    this.act();
  }

  /** What a previous run left, and orders of it that may still execute. Call it before those orders are taken in. */
  restore(records: readonly ProtectionRecord[], open: readonly OpenOrder[]): void {
    for (const record of records) {
      const { strategy, instId, scope, name, exitSlot, side, protect } = record;
      const own = open
        .filter((order) => order.strategy === strategy && order.instId === instId)
        .map(({ clOrdId }) => clOrdId);
      this.#add({ strategy, instId, scope, name, exitSlot }, side, protect).protection.restore(record, own);
      // What closes it may be on its way: it is known by its slot.
      this.#slots.reserve(strategy, exitSlot);
      this.#slots.reserve(strategy, lateSlotOf(exitSlot), "late");
      this.#fit(strategy, instId);
    }
  }

  /** Executed orders were found that no slot has: some may have closed what is protected, whose slot is not in use until it closes. */
  claimClosings(): void {
    for (const one of [...this.#held.values()].flat()) this.#claim(one);
  }

  /** An order of a previous run that may still execute. */
  expect(clOrdId: string, planned: PlannedProtection): void {
    this.#planned.set(clOrdId, planned);
    this.isIdle = false;
  }

  /** What may be placed has changed. */
  reconsider(): void {
    for (const held of this.#held.values()) for (const one of held) this.#changed.add(one);
    this.act();
  }

  /** Nothing of these strategies is triggered for now, or from here on: reports each protection. */
  suspend(cause: "suspended" | "stopped", reason: string, isMeant: (strategy: string) => boolean = () => true): void {
    for (const one of this.#heldBy(isMeant)) one.tellUnprotected(cause, reason);
  }

  /** A suspension of these strategies is over. */
  resume(isMeant: (strategy: string) => boolean): void {
    for (const one of this.#heldBy(isMeant)) one.tellProtected("suspended");
  }

  /** No price is watched any more. */
  close(): void {
    for (const one of [...this.#held.values()].flat()) {
      this.#triggers.release(one);
      one.stop();
    }
    this.#late.close();
  }

  #heldBy(isMeant: (strategy: string) => boolean): readonly HeldProtection[] {
    return [...this.#held].flatMap(([strategy, held]) => (isMeant(strategy) ? held : []));
  }

  #of(strategy: string, instId: string): readonly HeldProtection[] {
    const held = this.#held.get(strategy);
    return held === undefined ? [] : held.filter((one) => one.protection.name.instId === instId);
  }

  #add(name: Name, side: Side, protect: Protect): HeldProtection {
    const one = new HeldProtection(
      this.#options,
      new Protection(name, side, protect, this.#options.contract.profile),
      this.#slots,
    );
    const held = this.#held.get(name.strategy);
    if (held === undefined) this.#held.set(name.strategy, [one]);
    else held.push(one);
    this.isIdle = false;
    this.#changed.add(one);
    this.#claim(one);
    return one;
  }

  /** Takes over executed orders of previous runs that closed what is protected. */
  #claim({ protection: { name } }: HeldProtection): void {
    this.#slots.claim(name.strategy, name.exitSlot);
    this.#slots.claim(name.strategy, lateSlotOf(name.exitSlot));
  }

  /** A slot that no other protection uses: one slot may have opened positions of several instruments or sides. */
  #exitSlotOf(strategy: string, name: string): string {
    const used = new Set(this.#held.get(strategy)?.map((one) => one.protection.name.exitSlot));
    for (let count = 1; ; count++) {
      const exitSlot = count === 1 ? `${name}.exit` : `${name}.exit${count}`;
      if (!used.has(exitSlot)) return exitSlot;
    }
  }

  /** The protection of what an entry buys, made with its first fill. */
  #entryOf({ clOrdId, wanted, slot, spec }: Order, strategy: string): HeldProtection | undefined {
    const planned = this.#planned.get(clOrdId);
    const name = planned?.slot ?? slot;
    const side = exitOf(spec.side);
    // Of the same slot an order of the other side opens another position.
    const known = this.#of(strategy, spec.instId).find(
      ({ protection: one }) => one.name.scope === "order" && one.name.name === name && one.side === side,
    );
    if (known !== undefined) return known;
    const latest = this.#slots.find(strategy, name)?.wanted;
    const isSame = latest?.side === spec.side && latest.instId === spec.instId;
    const protect = (isSame ? latest.protect : undefined) ?? planned?.protect ?? wanted?.protect;
    if (protect === undefined || isEmpty(protect)) return undefined;
    // The framework's own names mean nothing to a later run.
    const exitSlot = this.#exitSlotOf(strategy, name.startsWith("#") ? clOrdId : name);
    return this.#add({ strategy, instId: spec.instId, scope: "order", name, exitSlot }, side, protect);
  }

  #fit(strategy: string, instId: string): void {
    const held = this.#of(strategy, instId);
    if (held.length === 0) return;
    fitCoverage(
      held.map(({ protection }) => protection),
      this.#positions.netOf(strategy, instId),
    );
    for (const one of held) this.#changed.add(one);
  }

  #settle(one: HeldProtection): void {
    const isArmed = one.settle();
    if (isArmed) this.#triggers.hold(one);
    else this.#triggers.release(one);
    const { hit, name } = one.protection;
    // Armed during a full stop, as after a restart or by an entry that was in flight.
    if (isArmed && this.#owner.isStopped(name.strategy)) one.tellUnprotected("suspended", stoppedWords);
    if (hit !== undefined) {
      for (const slot of this.#slots.ofStrategy(name.strategy)) if (this.withdraws(slot)) this.#owner.consider(slot);
    }
    this.#close(one);
    if (one.isClosing) this.#late.watch(one);
    if (one.isOver) this.#remove(one);
  }

  #close(one: HeldProtection): void {
    const slot = one.close(this.#hasExit(one.protection) || this.#owner.isStopped(one.protection.name.strategy));
    if (slot !== undefined) this.#owner.consider(slot);
  }

  /** The strategy has an exit of its own that is not over. */
  #hasExit({ name: { strategy, instId }, side }: Protection): boolean {
    return this.#slots.ofStrategy(strategy).some(({ reserved, wanted, order, settled }) => {
      if (reserved || wanted?.reduceOnly !== true || wanted.instId !== instId || wanted.side !== side) return false;
      return order === undefined ? !sameWanted(wanted, settled) : !isClosed(order);
    });
  }

  #remove(one: HeldProtection): void {
    const { strategy } = one.protection.name;
    const left = (this.#held.get(strategy) ?? []).filter((other) => other !== one);
    if (left.length > 0) this.#held.set(strategy, left);
    else this.#held.delete(strategy);
    this.#changed.delete(one);
    one.record(true);
    // Exits of the strategy that stood back may go on.
    for (const slot of this.#slots.ofStrategy(strategy))
      if (slot.wanted?.reduceOnly === true && !slot.reserved) this.#owner.consider(slot);
  }
}
