/**
 * Protections of all positions: which there are, what each covers by the fills of its orders, and what follows when one
 * is triggered.
 *
 * Invariants: what the protections of a position cover together is never more than its strategy holds by its own fills;
 * what is covered is recorded before the order that changed it is recorded as over; what follows from a change is done
 * after it was told.
 * Not here: arithmetic and levels (protection.ts, protect.ts), what one does when it changes (held-protection.ts),
 * prices (price-triggers.ts).
 */
import type { Contract } from "../../contract/contract.ts";
import type { Side } from "../../contract/profile.ts";
import { abs, isPositive, sub } from "../../decimal.ts";
import type { ProtectionRecord } from "../../journal/protection-records.ts";
import { type Effects, evaluate, next, noEffects, type Run } from "../effects.ts";
import type { ExitLimits } from "../exit-limits.ts";
import type { Exits } from "../exits.ts";
import { isClosed, type Order } from "../order-state.ts";
import type { Positions } from "../positions.ts";
import { broughtBy, executionOf } from "../risk/exposure-entry.ts";
import { isFull, stoppedWords, type TradingModes } from "../risk/trading-mode.ts";
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

/** What protections look at besides their own orders. */
interface Surroundings {
  readonly slots: Slots;
  readonly positions: Positions;
  readonly modes: TradingModes;
  readonly exitLimits: Pick<ExitLimits, "isBounded">;
  readonly exits: Pick<Exits, "refused">;
}

type Name = Protection["name"];

export class Protections {
  readonly #options: ProtectionsOptions;
  readonly #slots: Slots;
  readonly #positions: Positions;
  readonly #modes: TradingModes;
  readonly #triggers: PriceTriggers<HeldProtection>;
  /** By strategy, oldest first. */
  readonly #held = new Map<string, HeldProtection[]>();
  /** Orders of a previous run, by client order id. */
  readonly #planned = new Map<string, PlannedProtection>();
  readonly #changed = new Set<HeldProtection>();
  readonly #late: LateClosings;
  /**
   * Nothing is protected, and no order of a previous run may be: a change of an order without fills concerns nothing
   * here.
   */
  isIdle = true;
  #isRecovering = false;

  constructor(options: ProtectionsOptions, surroundings: Surroundings, run: Run) {
    this.#options = options;
    this.#slots = surroundings.slots;
    this.#positions = surroundings.positions;
    this.#modes = surroundings.modes;
    const { prices, clock, priceSilenceMs: ms } = options;
    const tell = (one: HeldProtection, reason: string): void => one.tellUnprotected("silent", reason);
    const changed = (one: HeldProtection): Effects => {
      this.#changed.add(one);
      return this.act();
    };
    this.#late = new LateClosings(clock, surroundings, changed, run);
    this.#triggers = new PriceTriggers({
      prices,
      onPrice: (one, range) => {
        if (one.see(range)) run(changed(one));
      },
      levelsOf: (one) => one.levels,
      exitOf: (one) => one.exit,
      silence: ms === undefined ? undefined : { clock, ms, tell },
    });
  }

  has(strategy: string): boolean {
    return this.#held.has(strategy);
  }

  /**
   * What a strategy wants now: the protection of an entry may have changed, and those of whole positions are replaced.
   */
  declare(strategy: string, wanted: readonly WantedOrder[], positions: readonly WantedProtection[]): Effects {
    const held = this.#held.get(strategy);
    if (held === undefined && positions.length === 0) return noEffects;
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
    return this.act();
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

  /**
   * What follows from the changes since the last call: protections are armed, changed and withdrawn, and closing orders
   * are placed.
   */
  act(): Effects {
    const [one] = this.#changed;
    if (one === undefined || this.#isRecovering) return noEffects;
    this.#changed.delete(one);
    return [...this.#settle(one), next(() => this.act())];
  }

  /** The position of an instrument was closed, by no order of a strategy. */
  closed(instId: string): Effects {
    for (const strategy of this.#held.keys()) this.#fit(strategy, instId);
    return this.act();
  }

  /**
   * The slot's wanted order does not count now: what it bought was closed, or another order is closing what it would
   * reduce.
   */
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
  yieldTo({ strategy, reserved }: Slot, { reduceOnly, instId, side }: WantedOrder): Effects {
    if (this.#held.size === 0 || reserved || reduceOnly !== true) return noEffects;
    return this.#of(strategy, instId).flatMap((one) => (one.protection.side === side ? this.#close(one) : noEffects));
  }

  /** A previous run's orders are taken in one by one: until all are, what closes a position may be among them. */
  beginRecovery(): void {
    this.#isRecovering = true;
  }

  /** Protects again what a previous run protected. */
  endRecovery(): Effects {
    this.#isRecovering = false;
    return this.act();
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

  /**
   * Executed orders were found that no slot has: some may have closed what is protected, whose slot is not in use until
   * it closes.
   */
  claimClosings(): void {
    for (const one of [...this.#held.values()].flat()) this.#claim(one);
  }

  /** An order of a previous run that may still execute. */
  expect(clOrdId: string, planned: PlannedProtection): void {
    this.#planned.set(clOrdId, planned);
    this.isIdle = false;
  }

  /** What may be placed has changed. */
  reconsider(): Effects {
    for (const held of this.#held.values()) for (const one of held) this.#changed.add(one);
    return this.act();
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

  #settle(one: HeldProtection): Effects {
    const isArmed = one.settle();
    if (isArmed) this.#triggers.hold(one);
    else this.#triggers.release(one);
    const { hit, name } = one.protection;
    // Armed during a full stop, as after a restart or by an entry that was in flight.
    if (isArmed && this.#isStopped(name.strategy)) one.tellUnprotected("suspended", stoppedWords);
    const withdrawn =
      hit === undefined ? [] : this.#slots.ofStrategy(name.strategy).filter((slot) => this.withdraws(slot));
    return [...withdrawn.map(evaluate), next(() => this.#follow(one))];
  }

  #follow(one: HeldProtection): Effects {
    const closing = this.#close(one);
    return [...closing, next(() => this.#finish(one))];
  }

  #finish(one: HeldProtection): Effects {
    if (one.isClosing) this.#late.watch(one);
    return one.isOver ? this.#remove(one) : noEffects;
  }

  /** Nothing of the strategy may rest, its exits included. */
  #isStopped(strategy: string): boolean {
    return isFull(this.#modes.of(strategy));
  }

  #close(one: HeldProtection): Effects {
    const slot = one.close(this.#hasExit(one.protection) || this.#isStopped(one.protection.name.strategy));
    return slot === undefined ? noEffects : [evaluate(slot)];
  }

  /** The strategy has an exit of its own that is not over. */
  #hasExit({ name: { strategy, instId }, side }: Protection): boolean {
    return this.#slots.ofStrategy(strategy).some(({ reserved, wanted, order, settled }) => {
      if (reserved || wanted?.reduceOnly !== true || wanted.instId !== instId || wanted.side !== side) return false;
      return order === undefined ? !sameWanted(wanted, settled) : !isClosed(order);
    });
  }

  #remove(one: HeldProtection): Effects {
    const { strategy } = one.protection.name;
    const left = (this.#held.get(strategy) ?? []).filter((other) => other !== one);
    if (left.length > 0) this.#held.set(strategy, left);
    else this.#held.delete(strategy);
    this.#changed.delete(one);
    one.record(true);
    // Exits of the strategy that stood back may go on.
    return this.#slots
      .ofStrategy(strategy)
      .filter((slot) => slot.wanted?.reduceOnly === true && !slot.reserved)
      .map(evaluate);
  }
}
