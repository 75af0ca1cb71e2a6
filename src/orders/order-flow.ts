/**
 * Order flow: the parts of the order manager, and what follows in one from what happens in another.
 *
 * Invariants: a slot is considered as a whole each time, so that considering it once too often changes nothing; a change is counted
 * before it is published; a slot without a wanted order and without an order is dropped.
 * Not here: what others ask of the order manager (order-manager.ts), which step is next (plan.ts), wanted orders that need none yet
 * (conflation.ts).
 */

import { instTypeOf } from "../contract/inst-id.ts";
import type { Side } from "../contract/profile.ts";
import { equal } from "../decimal.ts";
import type { Amendments } from "./amendment.ts";
import { amendmentCode } from "./amendment-code.ts";
import { Cancellation } from "./cancellation.ts";
import { createClientOrderIds, IdGeneration } from "./client-order-id.ts";
import { weigh } from "./conflation.ts";
import { ExitLimits, ExitTrims } from "./exit-limits.ts";
import { Exits } from "./exits.ts";
import type { OrderFlowOptions } from "./order-flow-options.ts";
import { OrderLifecycle } from "./order-lifecycle.ts";
import { OrderResolver } from "./order-resolver.ts";
import { advance, endingOf, isChanging, isClosed, isResting, type Order } from "./order-state.ts";
import { Placements } from "./placement.ts";
import { planSlot, urgencyOf } from "./plan.ts";
import { type FillBody, Positions } from "./positions.ts";
import { PostOnlyOrders } from "./post-only.ts";
import { misplacedProtect } from "./protection/protect.ts";
import { Protections } from "./protection/protections.ts";
import { Reconciliation } from "./reconciliation.ts";
import { Refusals } from "./refusals.ts";
import { type EntrySource, type Execution, executionOf } from "./risk/exposure-entry.ts";
import { type Approval, type Ruling, rule } from "./risk/pre-trade-checks.ts";
import { RiskManager } from "./risk/risk-manager.ts";
import { isFull, isHalt, mayPlace, mayRest, type Restriction, TradingModes } from "./risk/trading-mode.ts";
import type { Slot } from "./slot.ts";
import { Slots } from "./slots.ts";
import { Specifications } from "./specifications.ts";
import { SpotCover } from "./spot-cover.ts";
import { UnknownOrders } from "./unknown-orders.ts";
import { type OrderSpec, sameWanted, type WantedOrder } from "./wanted-order.ts";

export class OrderFlow {
  readonly modes = new TradingModes();
  readonly slots: Slots;
  readonly lifecycle: OrderLifecycle;
  readonly risk: RiskManager;
  readonly positions: Positions;
  readonly exits: Exits;
  readonly exitLimits: ExitLimits;
  readonly cover: SpotCover;
  readonly exitTrims: ExitTrims;
  readonly refusals: Refusals;
  readonly postOnly: PostOnlyOrders;
  readonly protections: Protections;
  readonly cancellation: Cancellation;
  readonly reconciliation: Reconciliation;
  #amendments: Amendments | undefined;
  #openTold = -1;
  readonly #placements: Placements;
  readonly #unknownOrders: UnknownOrders;
  readonly #options: OrderFlowOptions;
  readonly #specifications: Specifications;
  readonly #source: EntrySource;

  constructor(
    options: OrderFlowOptions,
    onLoss: { strategy(name: string, reason: string): void; all(reason: string): void },
  ) {
    const { clock, contract, gateway, journal, store, serviceNow } = options;
    this.#options = options;
    this.#specifications = new Specifications(options);
    const ids = createClientOrderIds(options.instance);
    this.slots = new Slots(ids, new IdGeneration(clock.wallNow()));
    this.risk = new RiskManager(options, onLoss);
    const considered = this.consider.bind(this);
    const source = { profile: contract.profile, instruments: options.instruments, marketPx: options.marketPx };
    this.#source = source;
    this.positions = new Positions(source);
    this.lifecycle = new OrderLifecycle(journal, this.slots, source, this);
    this.cover = new SpotCover({
      clock,
      balances: options.balances,
      fundsCode: contract.profile.answers.fundsCode,
      onRead: (instId) => this.exits.covered(instId),
    });
    this.exitLimits = new ExitLimits(this.slots, this.risk.exposure, source, (order) => this.risk.ownerOf(order), {
      positions: this.positions,
      cover: this.cover,
      flagOnly: (instId) => options.flagOnly?.() ?? this.#unclaimedIn(instId),
    });
    this.exits = new Exits(options, this.slots, this.exitLimits, this);
    this.exitTrims = new ExitTrims(clock, this.slots, this.exitLimits, considered);
    this.refusals = new Refusals(options, this.lifecycle, this);
    this.postOnly = new PostOnlyOrders(options, this.slots, considered);
    this.protections = new Protections(options, this.slots, this.positions, this);
    const resolver = new OrderResolver({ clock, gateway, journal, profile: contract.profile, serviceNow });
    this.#unknownOrders = new UnknownOrders(clock, store, resolver, this.lifecycle, this);
    this.cancellation = new Cancellation(options, this.lifecycle, this.#unknownOrders, this.weigh.bind(this));
    this.#placements = new Placements(options, this.slots, this.lifecycle, this.#unknownOrders, this);
    this.reconciliation = new Reconciliation(
      options,
      ids,
      this.slots,
      this.lifecycle,
      this.#unknownOrders,
      this.cancellation,
      this,
    );
  }

  /** Takes the next step of a slot. */
  consider(slot: Slot): void {
    const { cancellation } = this;
    // A new slot may have executed orders of a previous run, which change what is left to do.
    if (this.slots.unclaimed.hasClaimed) this.reconciliation.unrecorded.settle();
    const { isActive } = this.modes;
    const mode = isActive ? "active" : this.#modeOf(slot);
    const wanted = isActive && this.protections.isIdle ? slot.wanted : this.#countedOf(slot);
    if (slot.inherited !== undefined && wanted !== undefined)
      this.lifecycle.recognise(slot, wanted, this.#specifications.compare);
    if (slot.queued !== undefined && wanted !== undefined && slot.queued.lane !== this.#placements.laneOf(wanted))
      slot.unqueue();
    const { order, settled } = slot;
    const isFree = order === undefined || isClosed(order);
    const isOpen =
      wanted !== undefined && wanted !== settled && (settled === undefined || !sameWanted(wanted, settled));
    const waits = isFree && isOpen && this.#holds(slot, wanted);
    const isExcess = order !== undefined && order.terms.wantedQty !== "" && this.exitLimits.isExcess(order);
    const isAllowed = !waits && (isActive || mayPlace(mode, wanted));
    const mayAmend =
      isAllowed &&
      order !== undefined &&
      amendmentCode !== undefined &&
      this.#changes?.mayChange(order, wanted) === true;
    const view = { wanted, order, queued: slot.queued !== undefined, settled, mayPlace: isAllowed, isExcess, mayAmend };
    const step = planSlot(view, this.#specifications.compare);
    const stays = step.kind !== "cancel" && step.kind !== "amend" && (order === undefined || !isChanging(order));
    if (wanted !== undefined && order !== undefined && isResting(order) && stays)
      advance(order, { type: "suited", wanted });
    switch (step.kind) {
      case "place":
        this.#placements.place(slot);
        return;
      case "unqueue":
        slot.unqueue();
        break;
      case "amend":
        if (order !== undefined) this.#changes?.request(slot, order);
        return;
      case "keep-cancel-off":
        if (order !== undefined) cancellation.recall(order);
        return;
      case "cancel":
        if (order !== undefined) cancellation.request(order, urgencyOf(mode, step.reason, wanted), step.reason);
        return;
      case "nothing":
    }
    if (slot.wanted !== undefined && mayRest(mode, slot.wanted)) return;
    if (slot.spare !== undefined) this.lifecycle.dropSpare(slot);
    if (slot.wanted !== undefined) return;
    this.refusals.forget(slot);
    this.exits.forget(slot);
    this.postOnly.forget(slot);
    this.slots.dropIfIdle(slot);
  }

  executed(order: Order): Execution {
    return executionOf(order, this.#source);
  }

  book(order: Order, executed: Execution): FillBody | undefined {
    // Most changes are of orders that we placed and that have executed nothing: they are in nobody's books.
    if (!executed.isAny && order.wanted !== undefined && this.protections.isIdle) return undefined;
    const owner = order.strategy === "" ? this.risk.ownerOf(order) : order.strategy;
    const fill = this.positions.take(order, owner, executed);
    if (!this.protections.isIdle || this.protections.isWantedFor(order)) this.protections.take(order, owner);
    return fill;
  }

  filled({ strategy, instId }: FillBody): void {
    this.cover.moved(instId);
    this.positions.tell(strategy);
    if (!this.protections.isIdle) this.protections.act();
  }

  /** An order changed and is not published yet. */
  count(order: Order, executed = this.executed(order), hasEnded = isClosed(order)): boolean {
    if (this.slots.openCount !== this.#openTold) this.#tellOpen();
    // Without limits only what was executed matters: it says what a strategy holds.
    if (executed.isAny || this.risk.isLimited) this.risk.take(order, executed);
    const isFollowed =
      (hasEnded || this.exits.retried.size > 0 || this.exits.unprotected.count > 0) &&
      this.exits.take(order, executed, hasEnded);
    if (order.terms.wantedQty !== "" || (executed.isAny && this.exitTrims.trimmable.size > 0))
      this.exitTrims.take(order);
    const isRejected = endingOf(order) === "rejected";
    if (order.spec.ordType === "post_only" && (isRejected || this.postOnly.slowed.size > 0)) this.postOnly.take(order);
    if (isRejected) {
      this.cover.rejected(order);
      this.#options.onRejected?.(order);
    }
    return isFollowed;
  }

  /** An order is over and its slot was considered. */
  over(order: Order): void {
    if (this.#unknownOrders.searched.size > 0) this.#unknownOrders.settle(order);
    if (this.refusals.crowded.size > 0) this.refusals.retryCrowded(this.risk.retries);
    const { exits } = this;
    if (exits.waits.size > 0 || exits.retried.size > 0 || exits.unprotected.count > 0) exits.release(order);
    if (!this.protections.isIdle) this.protections.act();
  }

  /** Compares an order with the latest wanted order of its slot, where that has changed since. */
  weigh(order: Order): void {
    const slot = this.slots.of(order);
    if (slot?.order !== order || !slot.isUncompared) return;
    const mayStay = order.terms.wantedQty === "" || !this.exitLimits.isExcess(order);
    weigh(slot, mayStay ? this.#countedOf(slot) : undefined, this.#specifications.compare);
  }

  rule(slot: Slot, wanted: WantedOrder): Ruling {
    const { instruments, contract, rules, refused } = this.#options;
    const rest = slot.rest === undefined ? wanted : this.exits.remaining(slot, wanted);
    const listed = instruments();
    const marketPx = this.#specifications.marketPxFor(rest);
    const ruling = rule({
      wanted: rest,
      instruments: listed,
      contract,
      rules,
      refused: refused?.(wanted.reduceOnly === true),
      marketPx,
      specified: this.#specifications.known(rest, listed.get(rest.instId), marketPx),
      // What closes a position is not refused for want of room.
      openOfStrategy: slot.reserved ? 0 : this.slots.openCountOf(slot.strategy),
      openInAll: slot.reserved ? 0 : this.slots.openCount,
      risk: this.risk.isLimited ? this.risk.view(slot, rest) : undefined,
      exit: wanted.reduceOnly === true ? this.exitLimits.of(slot.strategy, wanted.instId, wanted.side) : undefined,
    });
    const misplaced =
      ruling.approved && wanted.protect !== undefined ? this.#misplaced(wanted, ruling.spec) : undefined;
    const told = misplaced === undefined ? ruling : ({ approved: false, reason: misplaced } as const);
    return this.risk.isLimited ? this.risk.steady(slot, wanted, told) : told;
  }

  mayPlace(slot: Slot, wanted: WantedOrder): boolean {
    return (
      mayPlace(slot.closing ? "active" : this.modes.mode, wanted) &&
      !this.protections.withdraws(slot) &&
      !this.#holds(slot, wanted)
    );
  }

  refuse(slot: Slot, wanted: WantedOrder, ruling: Exclude<Ruling, Approval>): void {
    this.refusals.refuse(slot, wanted, ruling);
  }

  /** A wanted order was refused for a reason that is news. */
  refused(slot: Slot, wanted: WantedOrder, reason: string): void {
    this.exits.refused(slot, wanted, reason);
  }

  /** The service took an order. */
  accept(order: Order, ordId: string): void {
    this.reconciliation.accept(order, ordId);
  }

  /** The record of an order that was searched for has come. */
  evidence(order: Order): void {
    this.reconciliation.take(order);
  }

  doubtLists(needed: () => boolean): void {
    this.#options.onDoubt(needed);
  }

  /** Entries found at the service have to go. */
  isHalted(): boolean {
    return isHalt(this.modes.mode);
  }

  isStopped(strategy: string): boolean {
    return isFull(this.modes.of(strategy));
  }

  isBounded(strategy: string, instId: string, side: Side): boolean {
    return this.exitLimits.isBounded(strategy, instId, side);
  }

  closesAll({ strategy }: Slot, { instId, side, qty = "0" }: WantedOrder): boolean {
    const { exitLimits } = this;
    return exitLimits.isBounded(strategy, instId, side) && equal(exitLimits.held(strategy, instId, side), qty);
  }

  /** The closing order of a protection is not in force after some time. */
  isLate(slot: Slot, wanted: WantedOrder, reason: string): void {
    this.exits.refused(slot, wanted, reason);
  }

  /** The strategy that wanted an order of a previous run. */
  own(clOrdId: string, strategy: string): void {
    this.risk.owned(clOrdId, strategy);
    if (strategy !== "") this.slots.unclaimed.own(clOrdId);
  }

  /** An order is known better than before, such as its strategy or its instrument. */
  recount(order: Order): void {
    const executed = this.executed(order);
    const fill = this.book(order, executed);
    if (executed.isAny || this.risk.isLimited) this.risk.take(order, executed);
    if (fill === undefined) return;
    this.exits.grew(fill.strategy, fill.instId);
    this.exitTrims.look(fill.instId);
    this.#options.journal.append(fill);
    this.filled(fill);
  }

  claimClosings(): void {
    this.protections.claimClosings();
  }

  recountAll(): void {
    for (const order of this.slots.orders()) this.recount(order);
    if (this.slots.openCount !== this.#openTold) this.#tellOpen();
  }

  /** An unknown strategy's position of the instrument has changed: what an exit without the flag would do is not known. */
  #unclaimedIn(instId: string): string | undefined {
    if (instTypeOf(instId) === "SPOT" || !this.slots.unclaimed.has(instId)) return undefined;
    return "orders of a previous run are in no strategy's position";
  }

  /** The number of open orders has changed, as it does with few changes of orders. */
  #tellOpen(): void {
    const { openCount } = this.slots;
    this.#openTold = openCount;
    this.#options.onOpenOrders(openCount);
  }

  /** Changes of orders, where the service has them and their code is loaded; without it orders are canceled and placed anew. */
  get #changes(): Amendments | undefined {
    if (amendmentCode === undefined || !this.#options.contract.profile.capabilities.amend) return undefined;
    this.#amendments ??= new amendmentCode.Amendments(this.#options, this.lifecycle, this.#unknownOrders, {
      specified: this.#specifications.compare,
      rule: (slot, wanted) => this.rule(slot, wanted),
      mayPlace: (slot, wanted) => this.mayPlace(slot, wanted),
      countedOf: (slot) => this.#countedOf(slot),
      count: (order) => this.count(order),
      consider: (slot) => this.consider(slot),
    });
    return this.#amendments;
  }

  /** The wanted order of a slot as far as it counts now. */
  #countedOf(slot: Slot): WantedOrder | undefined {
    if (slot.reserved) return this.isStopped(slot.strategy) && !slot.closing ? undefined : slot.wanted;
    return this.protections.withdraws(slot) ? undefined : this.modes.within(slot.strategy, slot.wanted);
  }

  #modeOf({ closing, strategy }: Slot): Restriction {
    return closing ? "active" : this.modes.of(strategy);
  }

  /** It may not be placed yet, and is considered again when it may. */
  #holds(slot: Slot, wanted: WantedOrder): boolean {
    // What is no exit, and the rest of no order, waits for the market at most.
    if (wanted.reduceOnly !== true && slot.rest === undefined)
      return wanted.ordType === "post_only" && this.postOnly.holds(slot, wanted);
    this.protections.yieldTo(slot, wanted);
    return this.exits.holds(slot, wanted) || this.postOnly.holds(slot, wanted);
  }

  #misplaced({ protect = {}, instId }: WantedOrder, { side, px }: OrderSpec): string | undefined {
    return misplacedProtect(side, protect, px === "" ? this.#options.marketPx(instId, side) : px);
  }
}
