/**
 * State of the order manager: its parts, and queries that need several of them.
 *
 * Invariants: nothing here sends or journals; a decision that requires either returns effects.
 * Not here: the next step of a slot (slot-step.ts), what follows from a change of an order (changes.ts), performing
 * effects (perform.ts).
 */
import { instTypeOf } from "../contract/inst-id.ts";
import { equal, read } from "../decimal-value.ts";
import { type ClientOrderIds, createClientOrderIds, IdGeneration } from "./client-order-id.ts";
import { type Effects, evaluate, joined, next, noEffects, publish, type Run, record } from "./effects.ts";
import { type Execution, executionOf } from "./executions.ts";
import { ExitLimits } from "./exit-limits.ts";
import { coinsRead, exitRefused, exitsGrew, followOrder, holdExit, remaining } from "./exits.ts";
import type { OrderManagerOptions } from "./order-manager-options.ts";
import { advance, isClosed, type Order } from "./order-state.ts";
import { compareWithLatest, isSettledBy } from "./plan.ts";
import { Positions } from "./positions.ts";
import { followPostOnly, holdPostOnly } from "./post-only.ts";
import { misplacedProtect } from "./protection/protect.ts";
import { Protections } from "./protection/protections.ts";
import { noRefusals, refuseWanted, relist } from "./refusals.ts";
import type { EntrySource } from "./risk/exposure.ts";
import { type Ruling, rule, specifyListed } from "./risk/pre-trade-checks.ts";
import { RiskManager } from "./risk/risk-manager.ts";
import { isFull, mayPlace, type Restriction, TradingModes } from "./risk/trading-mode.ts";
import type { Slot } from "./slot.ts";
import { Slots } from "./slots.ts";
import { SpotCover } from "./spot-cover.ts";
import { after, type Hold, Waits } from "./waits.ts";
import { type OrderSpec, type Specified, sameWanted, type WantedOrder } from "./wanted-order.ts";
import type { WatchdogStanding } from "./watchdog-cancels.ts";
import type { Pace, PostOnlyState, RefusalState, World } from "./world.ts";

export class ManagerState implements World {
  readonly options: OrderManagerOptions;
  readonly source: EntrySource;
  readonly ids: ClientOrderIds;
  readonly modes = new TradingModes();
  /** Slots that wait before they may place. */
  readonly waits = new Waits();
  readonly slots: Slots;
  readonly risk: RiskManager;
  readonly positions: Positions;
  readonly exitLimits = new ExitLimits(this);
  readonly cover: SpotCover;
  readonly refusals: RefusalState = noRefusals();
  readonly postOnly: PostOnlyState = { looks: new Set(), series: new Map() };
  /** Rates of changes, by strategy. */
  readonly paces = new Map<string, Pace>();
  readonly protections: Protections;
  /** State of the cancels by the engine's watchdog. */
  watchdog: () => WatchdogStanding = () => ({ state: "quiet" });
  /** Number of published changes of orders. A ruling is valid while this number is unchanged. */
  changes = 0;

  /** `run` performs decisions that are caused by a price or by an answer about the account. */
  constructor(options: OrderManagerOptions, run: Run) {
    const { clock, contract, balances, instruments, marketPx } = options;
    const { profile } = contract;
    this.options = options;
    this.source = { profile, instruments, marketPx };
    this.ids = createClientOrderIds(options.instance);
    this.slots = new Slots(this.ids, new IdGeneration(clock));
    this.positions = new Positions(this.source);
    this.risk = new RiskManager(options, this.positions, run);
    const onRead = (instId: string): void => run(coinsRead(this, instId));
    this.cover = new SpotCover({ clock, balances, fundsCode: profile.answers.fundsCode, onRead });
    this.protections = new Protections(this, run);
  }

  get now(): number {
    return this.options.clock.now();
  }

  /** The wanted order in the service's terms, by the instruments and prices of now. */
  readonly specify = (wanted: WantedOrder, onlyAt?: string): Specified => {
    const { instruments, contract } = this.options;
    return specifyListed(wanted, instruments(), contract, this.#marketPxFor(wanted), { onlyAt });
  };

  executed(order: Order): Execution {
    return executionOf(order, this.source);
  }

  /** The slot that this order belongs to; undefined for a surplus order and for one whose slot is not known. */
  slotOf(order: Order): Slot | undefined {
    const slot = this.slots.of(order);
    return slot?.order === order ? slot : undefined;
  }

  /**
   * Decides the follow-up of an order after it was counted (`risk.take`). `own` is its slot (`slotOf`).
   */
  follow(order: Order, executed: Execution, own: Slot | undefined): Effects {
    return joined(followOrder(this, order, executed, own), this.exitLimits.take(order), followPostOnly(this, order));
  }

  /** Called when more is known about an order, such as its strategy or its instrument. */
  recount(order: Order): Effects {
    const executed = this.executed(order);
    const owner = this.risk.ownerOf(order);
    const fill = this.positions.take(order, owner, executed);
    const records = this.protections.take(order, owner, executed);
    const restricted = this.risk.take(order, executed);
    if (fill === undefined) return joined(restricted, records);
    return [
      ...restricted,
      ...records,
      ...exitsGrew(this, fill.strategy, fill.instId),
      ...this.exitLimits.trim(fill.instId),
      record(fill),
      { kind: "outside", what: "filled", fill },
    ];
  }

  recountAll(): Effects {
    const counted = this.slots.orders().map((order) => next(() => this.recount(order)));
    return [...counted, { kind: "outside", what: "countOpen" }];
  }

  /**
   * Compares an order with the latest wanted order of its slot if that has changed. The order stays if it suits it
   * after all.
   */
  compare(order: Order): void {
    const slot = order.unwanted === undefined ? undefined : this.slotOf(order);
    if (slot?.isUncompared !== true) return;
    compareWithLatest(slot, this.exitLimits.isExcess(order) ? undefined : this.counted(slot), this.specify);
  }

  /**
   * Compares the slot's wanted order with what a previous run executed for it, so that it is not placed a second time.
   */
  recognise(slot: Slot, wanted: WantedOrder): void {
    const { inherited } = slot;
    slot.inherited = undefined;
    if (inherited === undefined) return;
    if (isSettledBy(wanted, inherited, this.executed(inherited), this.specify)) slot.settled = wanted;
  }

  /** The wanted order of a slot, as far as modes and protections let it count now. */
  counted(slot: Slot): WantedOrder | undefined {
    if (slot.reserved) return isFull(this.modes.of(slot.strategy)) && !slot.closing ? undefined : slot.wanted;
    return this.protections.withdraws(slot) ? undefined : this.modes.within(slot.strategy, slot.wanted);
  }

  modeOf({ closing, strategy }: Slot): Restriction {
    return closing ? "active" : this.modes.of(strategy);
  }

  /** Reason why a slot may not place this order yet. The slot is evaluated again when it may. */
  holdOf(slot: Slot, wanted: WantedOrder): Hold {
    const hold = holdExit(this, slot, wanted);
    return hold.isHeld ? hold : after(hold, holdPostOnly(this, slot, wanted));
  }

  /**
   * Returns false while trading modes or protections forbid the order. Ignores other reasons that hold the slot back.
   */
  mayPlace(slot: Slot, wanted: WantedOrder): boolean {
    return mayPlace(slot.closing ? "active" : this.modes.mode, wanted) && !this.protections.withdraws(slot);
  }

  rule(slot: Slot, wanted: WantedOrder): Ruling {
    const { instruments, contract, rules, refused } = this.options;
    const rest = remaining(slot, wanted);
    const ruling = rule({
      wanted: rest,
      instruments: instruments(),
      contract,
      rules,
      refused: refused?.(wanted.reduceOnly === true),
      marketPx: this.#marketPxFor(rest),
      // An order that closes a position is not refused for lack of room.
      openOfStrategy: slot.reserved ? 0 : this.slots.openCountOf(slot.strategy),
      openInAll: slot.reserved ? 0 : this.slots.openCount,
      risk: this.risk.isLimited ? this.risk.view(slot, rest) : undefined,
      exit: wanted.reduceOnly === true ? this.exitLimits.of(slot.strategy, wanted.instId, wanted.side) : undefined,
    });
    const misplaced =
      ruling.approved && wanted.protect !== undefined ? this.#misplaced(wanted, ruling.spec) : undefined;
    return this.risk.steady(slot, wanted, misplaced === undefined ? ruling : { approved: false, reason: misplaced });
  }

  refuse(slot: Slot, wanted: WantedOrder, ruling: Exclude<Ruling, { readonly approved: true }>): Effects {
    const spare = sameWanted(wanted, slot.settled) ? noEffects : this.withdrawSpare(slot);
    const { effects, isNews } = refuseWanted(this, slot, wanted, ruling);
    const told = isNews ? exitRefused(this, slot, wanted, ruling.reason) : noEffects;
    return [...spare, ...effects, ...told, ...(isNews ? relist(this, wanted.instId) : noEffects)];
  }

  /** Called when an order that a rate limit turned away will not be sent after all. */
  withdrawSpare(slot: Slot): Effects {
    const { spare } = slot;
    slot.spare = undefined;
    return spare !== undefined && advance(spare, { type: "withdrawn" }) ? [publish(spare)] : noEffects;
  }

  /** Called when a rate limit kept the order from being executed. Its wanted order then counts as not yet placed. */
  notExecuted(order: Order, reason: string): Effects {
    const slot = this.slots.of(order);
    if (!advance(order, { type: "notExecuted", reason })) return noEffects;
    this.slots.close(order);
    if (slot?.order !== order) return [publish(order)];
    this.slots.vacate(slot);
    if (!isClosed(order)) slot.spare = order;
    return [publish(order), evaluate(slot)];
  }

  /** Returns true if the slot's order closes all that its strategy holds, so that no other exit can reduce more. */
  closesAll({ strategy }: Slot, { instId, side, qty = "0" }: WantedOrder): boolean {
    const { exitLimits } = this;
    return exitLimits.isBounded(strategy, instId, side) && equal(exitLimits.held(strategy, instId, side), read(qty));
  }

  /** Records which strategy wanted an order of a previous run. */
  own(clOrdId: string, strategy: string): void {
    this.risk.owned(clOrdId, strategy);
    if (strategy !== "") this.slots.unclaimed.own(clOrdId);
  }

  /**
   * Reason why exits of an instrument may leave only with the service's flag; undefined if they may leave without it.
   */
  flagOnly(instId: string): string | undefined {
    const reason = this.options.flagOnly?.();
    if (reason !== undefined) return reason;
    if (instTypeOf(instId) === "SPOT" || !this.slots.unclaimed.has(instId)) return undefined;
    return "orders of a previous run are in no strategy's position";
  }

  /** Price for converting the wanted order; undefined if the conversion needs none. */
  #marketPxFor({ px, ordType, instId, side, cross, reduceOnly }: WantedOrder): string | undefined {
    if (px !== undefined && ordType !== "market" && cross !== "touch") return undefined;
    const { marketPx, prices } = this.options;
    // An exit follows the price inside a bar. No other order may know that price.
    const inside = reduceOnly === true && ordType === "market" ? prices.insideBar?.(instId) : undefined;
    return inside ?? marketPx(instId, side);
  }

  #misplaced({ protect = {}, instId }: WantedOrder, { side, px }: OrderSpec): string | undefined {
    return misplacedProtect(side, protect, px === "" ? this.options.marketPx(instId, side) : px);
  }
}
