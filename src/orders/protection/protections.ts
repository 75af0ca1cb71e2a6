/**
 * Protections of all positions: what each covers by the fills of its orders, and the consequences of a trigger.
 *
 * Invariants: together the protections of a position never cover more than its strategy holds by its own fills; the
 * covered quantity is recorded before the order that changed it is recorded as closed; the consequences of a change
 * follow its publication; a triggered protection waits for a resting take-profit only while two simultaneous exits
 * could reduce more than the strategy holds.
 * Not here: arithmetic and levels (protection.ts, protect.ts), events of one protection (held-protection.ts), prices
 * (price-triggers.ts).
 */
import type { Timer } from "../../clock/clock.ts";
import type { Side } from "../../contract/profile.ts";
import { abs, isPositive, sub } from "../../decimal-value.ts";
import type { ProtectionRecord } from "../../journal/protection-records.ts";
import { type Effects, evaluate, joined, next, noEffects, type Run } from "../effects.ts";
import { broughtBy, type Execution } from "../executions.ts";
import { exitRefused } from "../exits.ts";
import { isClosed, isResting, type Order } from "../order-state.ts";
import { isFull, stoppedWords } from "../risk/trading-mode.ts";
import { exitSlotOf, isNumbered, lateSlotOf, type Slot } from "../slot.ts";
import { sameWanted, type WantedOrder } from "../wanted-order.ts";
import type { World } from "../world.ts";
import { fitCoverage } from "./covered-part.ts";
import type { OpenOrder, PlannedProtection } from "./earlier-order.ts";
import { HeldProtection } from "./held-protection.ts";
import { PriceTriggers } from "./price-triggers.ts";
import { closes, exitOf, isEmpty, nameOf, type Protect, type WantedProtection } from "./protect.ts";
import { Protection } from "./protection.ts";

type Name = Protection["name"];

/** Longest time until a closing order has to be in force. Later this is reported. */
const waitMs = 5_000;
const seconds = `${waitMs / 1_000} s`;

export class Protections {
  readonly #state: World;
  readonly #run: Run;
  readonly #triggers: PriceTriggers<HeldProtection>;
  /** Protections by strategy, oldest first. */
  readonly #held = new Map<string, HeldProtection[]>();
  /** Orders of a previous run, by client order id. */
  readonly #planned = new Map<string, PlannedProtection>();
  readonly #changed = new Set<HeldProtection>();
  /** Timers of protections whose position is being closed. */
  readonly #timers = new Map<HeldProtection, Timer>();
  #isRecovering = false;

  constructor(state: World, run: Run) {
    const { prices, clock, priceSilenceMs: ms } = state.options;
    this.#state = state;
    this.#run = run;
    this.#triggers = new PriceTriggers({
      prices,
      onPrice: (one, range) => {
        const { isHit, effects } = one.see(range);
        run(effects);
        if (isHit) run(this.#change(one));
      },
      levelsOf: (one) => one.levels,
      exitOf: (one) => one.exit,
      silence:
        ms === undefined ? undefined : { clock, ms, tell: (one, reason) => run(one.tellUnprotected("silent", reason)) },
    });
  }

  /** True if no position is protected and no order of a previous run may be. */
  get isIdle(): boolean {
    return this.#held.size === 0 && this.#planned.size === 0;
  }

  has(strategy: string): boolean {
    return this.#held.has(strategy);
  }

  /**
   * Name of the protection of what an order executes: the order's slot. A slot that the framework numbered means
   * another order in the next run. For such a slot the name is the client order id of the first protected order.
   */
  nameOf({ strategy, slot, clOrdId, spec }: Order): string {
    if (!isNumbered(slot)) return slot;
    const known = this.#of(strategy, spec.instId).find(({ protection }) => protection.slot === slot);
    return known?.protection.name.name ?? clOrdId;
  }

  /**
   * Applies the set of a strategy: changes the protections of entries, and replaces those of whole positions.
   */
  declare(strategy: string, wanted: readonly WantedOrder[], positions: readonly WantedProtection[]): Effects {
    const held = this.#held.get(strategy);
    if (held === undefined && positions.length === 0) return noEffects;
    const replaced = (held ?? []).flatMap((one) => {
      const { scope, name, instId } = one.protection.name;
      const isEntry = (wanted: WantedOrder): boolean =>
        wanted.slot === name && wanted.instId === instId && exitOf(wanted.side) === one.protection.side;
      const now = scope === "order" ? wanted.find(isEntry) : positions.find((position) => nameOf(position) === name);
      if (now?.protect !== undefined) return one.replace(now.protect);
      return scope === "position" && !one.protection.inherited ? one.replace({}) : noEffects;
    });
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
    return [...replaced, next(() => this.act())];
  }

  /**
   * Counts an execution or the end of an order. Call it after the position is booked. The returned records are written
   * before the change of the order is.
   */
  take(order: Order, strategy: string, executed: Execution): Effects {
    // An order found at the service gets the protection that its slot has now.
    const latest = order.wanted ?? this.#state.slots.find(order.strategy, order.slot)?.wanted;
    if (strategy === "" || (this.isIdle && latest?.protect === undefined)) return noEffects;
    const { clOrdId, spec } = order;
    // An order of a previous run may have ended before a slot took it over.
    const slot = this.#planned.get(clOrdId)?.slot ?? order.slot;
    const closing = this.#held
      .get(strategy)
      ?.find(({ protection: { name } }) => name.exitSlot === slot || lateSlotOf(name.exitSlot) === slot);
    const filled = abs(broughtBy(spec.side, executed));
    const value = executed.feeQty === undefined ? executed.value : sub(executed.value, executed.cost);
    if (closing !== undefined) closing.exited(clOrdId, filled);
    else if (isPositive(filled)) this.#entryOf(order, strategy)?.protection.entered({ clOrdId, filled, value });
    this.#fit(strategy, spec.instId);
    const all = this.#of(strategy, spec.instId);
    if (order.record !== undefined || isClosed(order)) for (const { protection } of all) protection.found(clOrdId);
    if (!isClosed(order)) return noEffects;
    this.#planned.delete(clOrdId);
    const records = all.map((one) => one.record());
    for (const { protection } of all) protection.forget(clOrdId);
    closing?.closing.ended(order, slot);
    return records;
  }

  /** Performs the consequences of the changes since the last call: arms, changes, withdraws and closes protections. */
  act(): Effects {
    if (this.#changed.size === 0 || this.#isRecovering) return noEffects;
    const one = this.#changed.values().next().value as HeldProtection;
    this.#changed.delete(one);
    return [...this.#settle(one), next(() => this.act())];
  }

  /** Called when the position of an instrument was closed by no order of a strategy. */
  closed(instId: string): Effects {
    for (const strategy of this.#held.keys()) this.#fit(strategy, instId);
    return this.act();
  }

  /**
   * Returns true if the slot's wanted order does not count now, because what it bought was closed, or because another
   * order is closing the position that it would reduce.
   */
  withdraws({ strategy, name, reserved, wanted }: Slot): boolean {
    if (this.#held.size === 0 || reserved || wanted === undefined) return false;
    return this.#of(strategy, wanted.instId).some((one) => {
      const { hit, side, qty, name: of } = one.protection;
      if (hit === undefined) return false;
      if (wanted.reduceOnly === true) return wanted.side === side && isPositive(qty);
      return of.scope === "order" && one.protection.slot === name && one.withdraws(wanted);
    });
  }

  /** An exit of the strategy goes before a resting take-profit, which is withdrawn for it. */
  yieldTo({ strategy, reserved }: Slot, { reduceOnly, instId, side }: WantedOrder): Effects {
    if (this.#held.size === 0 || reserved || reduceOnly !== true) return noEffects;
    return this.#of(strategy, instId).flatMap((one) => (one.protection.side === side ? this.#close(one) : noEffects));
  }

  /**
   * Called before the orders of a previous run are taken over one by one. Until all are, an order that closes a
   * position may be among them.
   */
  beginRecovery(): void {
    this.#isRecovering = true;
  }

  /** Protects again what a previous run protected. */
  endRecovery(): Effects {
    this.#isRecovering = false;
    return this.act();
  }

  /** Takes over protections of a previous run. Call it before its orders that may still execute are taken over. */
  restore(records: readonly ProtectionRecord[], open: readonly OpenOrder[]): void {
    for (const record of records) {
      const { strategy, instId, scope, name, exitSlot, side, protect } = record;
      const own = open
        .filter((order) => order.strategy === strategy && order.instId === instId)
        .map(({ clOrdId }) => clOrdId);
      this.#add({ strategy, instId, scope, name, exitSlot }, side, protect).protection.restore(record, own);
      // An order that closes the position may be on its way. It is recognised by its slot.
      this.#state.slots.reserve(strategy, exitSlot);
      this.#state.slots.reserve(strategy, lateSlotOf(exitSlot), "late");
      this.#fit(strategy, instId);
    }
  }

  /**
   * Called when executed orders without a known slot were found. Some may have closed a protected position, and their
   * slot is not in use until that protection closes.
   */
  claimClosings(): void {
    for (const one of [...this.#held.values()].flat()) this.#claim(one);
  }

  /** Registers an order of a previous run that may still execute. */
  expect(clOrdId: string, planned: PlannedProtection): void {
    this.#planned.set(clOrdId, planned);
  }

  /** Called when a mode that allows or forbids orders has changed. */
  reconsider(): Effects {
    for (const held of this.#held.values()) for (const one of held) this.#changed.add(one);
    return this.act();
  }

  /** Suspends the protections of these strategies until `resume`, or until the end. Reports each protection. */
  suspend(
    cause: "suspended" | "stopped",
    reason: string,
    isMeant: (strategy: string) => boolean = () => true,
  ): Effects {
    return this.#heldBy(isMeant).flatMap((one) => one.tellUnprotected(cause, reason));
  }

  /** Ends a suspension of these strategies. */
  resume(isMeant: (strategy: string) => boolean): Effects {
    return this.#heldBy(isMeant).flatMap((one) => one.tellProtected("suspended"));
  }

  /** Ends the watch of all prices. */
  close(): void {
    for (const one of [...this.#held.values()].flat()) {
      this.#triggers.release(one);
      one.stop();
    }
    for (const timer of this.#timers.values()) timer.cancel();
    this.#timers.clear();
  }

  #change(one: HeldProtection): Effects {
    this.#changed.add(one);
    return this.act();
  }

  #heldBy(isMeant: (strategy: string) => boolean): readonly HeldProtection[] {
    return [...this.#held].flatMap(([strategy, held]) => (isMeant(strategy) ? held : []));
  }

  #of(strategy: string, instId: string): readonly HeldProtection[] {
    const held = this.#held.get(strategy);
    return held === undefined ? [] : held.filter((one) => one.protection.name.instId === instId);
  }

  #add(name: Name, side: Side, protect: Protect): HeldProtection {
    const { profile } = this.#state.options.contract;
    const one = new HeldProtection(this.#state, new Protection(name, side, protect, profile));
    const held = this.#held.get(name.strategy);
    if (held === undefined) this.#held.set(name.strategy, [one]);
    else held.push(one);
    this.#changed.add(one);
    this.#claim(one);
    return one;
  }

  /** Takes over executed orders of previous runs that closed the protected position. */
  #claim({ protection: { name } }: HeldProtection): void {
    this.#state.slots.claim(name.strategy, name.exitSlot);
    this.#state.slots.claim(name.strategy, lateSlotOf(name.exitSlot));
  }

  /**
   * A slot that no other protection uses. One slot may have opened positions in several instruments or on both sides.
   */
  #exitSlotOf(strategy: string, name: string): string {
    const used = new Set(this.#held.get(strategy)?.map((one) => one.protection.name.exitSlot));
    for (let count = 1; ; count++) {
      const exitSlot = exitSlotOf(name, count);
      if (!used.has(exitSlot)) return exitSlot;
    }
  }

  /** The protection of what an entry buys or sells. It is made with the first fill. */
  #entryOf(order: Order, strategy: string): HeldProtection | undefined {
    const { clOrdId, wanted, slot, spec } = order;
    const planned = this.#planned.get(clOrdId);
    const asked = planned?.slot ?? this.nameOf(order);
    const side = exitOf(spec.side);
    // An order of the same slot but the other side opens another position.
    const known = this.#of(strategy, spec.instId).find(
      ({ protection: one }) => one.name.scope === "order" && one.name.name === asked && one.side === side,
    );
    if (known !== undefined) return known;
    const latest = this.#state.slots.find(strategy, asked)?.wanted;
    const isSame = latest?.side === spec.side && latest.instId === spec.instId;
    const protect = (isSame ? latest.protect : undefined) ?? planned?.protect ?? wanted?.protect;
    if (protect === undefined || isEmpty(protect)) return undefined;
    // Journals of earlier versions contain the number of a slot.
    const name = isNumbered(asked) ? clOrdId : asked;
    const exitSlot = this.#exitSlotOf(strategy, name);
    const made = this.#add({ strategy, instId: spec.instId, scope: "order", name, exitSlot }, side, protect);
    if (isNumbered(slot)) made.protection.slot = slot;
    return made;
  }

  #fit(strategy: string, instId: string): void {
    const held = this.#of(strategy, instId);
    if (held.length === 0) return;
    fitCoverage(
      held.map(({ protection }) => protection),
      this.#state.positions.netOf(strategy, instId),
    );
    for (const one of held) this.#changed.add(one);
  }

  #settle(one: HeldProtection): Effects {
    const told = one.settle();
    return [...told, next(() => this.#watchPrices(one)), next(() => this.#close(one)), next(() => this.#finish(one))];
  }

  #watchPrices(one: HeldProtection): Effects {
    if (one.isWatching) this.#triggers.hold(one);
    else this.#triggers.release(one);
    const { strategy } = one.protection.name;
    // The protection was armed during a full stop, for example after a restart or by an entry that was in flight.
    const isSuspended = one.isWatching && this.#isStopped(strategy);
    const slots = one.protection.hit === undefined ? [] : this.#state.slots.ofStrategy(strategy);
    return [
      ...(isSuspended ? one.tellUnprotected("suspended", stoppedWords) : noEffects),
      ...slots.filter((slot) => this.withdraws(slot)).map(evaluate),
    ];
  }

  #finish(one: HeldProtection): Effects {
    if (one.isClosing) this.#watch(one);
    return one.isOver ? this.#remove(one) : noEffects;
  }

  /** Checks a protection that is being closed until its closing order is in force. */
  #watch(one: HeldProtection): void {
    if (this.#timers.has(one)) return;
    const look = (): void => {
      this.#timers.delete(one);
      if (!one.isClosing) return;
      this.#run(this.#look(one));
      if (one.isClosing) this.#watch(one);
    };
    const { clock } = this.#state.options;
    this.#timers.set(one, clock.setTimer(clock.now() + waitMs, look));
  }

  #look(one: HeldProtection): Effects {
    const { closing, protection } = one;
    const { strategy, instId } = protection.name;
    if (this.#isStopped(strategy)) return noEffects;
    const isObstructed = closing.obstacle !== undefined;
    const tell = next(() => {
      const { slot } = closing;
      const reason = isObstructed ? `the take-profit that rests has not been canceled for ${seconds}` : lateness(slot);
      if (slot?.wanted === undefined || reason === undefined) return noEffects;
      return exitRefused(this.#state, slot, slot.wanted, reason);
    });
    if (!isObstructed || !this.#state.exitLimits.isBounded(strategy, instId, protection.side)) return [tell];
    const left = closing.leaveObstacle();
    return joined(left === undefined ? noEffects : [evaluate(left)], [next(() => this.#change(one)), tell]);
  }

  /** Returns true if no order of the strategy may rest, not even an exit. */
  #isStopped(strategy: string): boolean {
    return isFull(this.#state.modes.of(strategy));
  }

  #close(one: HeldProtection): Effects {
    const slot = one.close(this.#hasExit(one.protection) || this.#isStopped(one.protection.name.strategy));
    return slot === undefined ? noEffects : [evaluate(slot)];
  }

  /** Returns true if the strategy has an exit of its own that is not over. */
  #hasExit({ name: { strategy, instId }, side }: Protection): boolean {
    return this.#state.slots.ofStrategy(strategy).some(({ reserved, wanted, order, settled }) => {
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
    const ended = one.record(true);
    // Exits of the strategy that waited may leave now.
    const exits = this.#state.slots
      .ofStrategy(strategy)
      .filter((slot) => slot.wanted?.reduceOnly === true && !slot.reserved);
    return [ended, ...exits.map(evaluate)];
  }
}

/** Why the closing order of the slot is not in force; undefined where it is. */
const lateness = (slot: Slot | undefined): string | undefined => {
  if (slot === undefined) return undefined;
  const { order, queued, followUp, spare } = slot;
  if (queued !== undefined || spare !== undefined) return `the closing order has waited ${seconds} for the quota`;
  if (order?.state.kind === "unknown") return "it is not known whether the closing order was executed";
  if (order?.state.kind === "submitted") return `the closing order has not been answered for ${seconds}`;
  if (order !== undefined && isResting(order)) return undefined;
  return followUp?.reason ?? `the closing order has not left for ${seconds}`;
};
