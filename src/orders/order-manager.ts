/**
 * Order manager: keeps the service in agreement with the wanted orders of all strategies.
 *
 * Invariants: one order per slot; a wanted order that is replaced while it waits is never sent; an order of unknown
 * outcome keeps its slot and its exposure until there is evidence; orders of previous runs are adopted by their slots.
 * Not here: the next step of a slot (slot-step.ts), what follows from a change of an order (changes.ts), performing
 * effects (perform.ts).
 */
import type { Observable } from "rxjs";
import type { OrderRecord } from "../contract/schemas.ts";
import { isZero, neg, read, spell } from "../decimal-value.ts";
import type { ActionClass, EventBody } from "../journal/events.ts";
import type { BookedPosition } from "../journal/holdings.ts";
import type { ProtectionRecord } from "../journal/protection-records.ts";
import { Cancellation } from "./cancellation.ts";
import { ClosingSlots } from "./closing-slots.ts";
import type { Refusal } from "./effects.ts";
import { type Effects, evaluate, record } from "./effects.ts";
import { tradedBy } from "./executions.ts";
import { hastenExits } from "./exits.ts";
import { ForeignOrders } from "./foreign-orders.ts";
import { ManagerState } from "./manager-state.ts";
import { OrderAmends } from "./order-amends.ts";
import type { OrderManagerOptions } from "./order-manager-options.ts";
import { OrderSearch } from "./order-search.ts";
import { advance, isResting, type Order } from "./order-state.ts";
import { type OrderUpdate, updateOf } from "./order-update.ts";
import { Performer, type UpdateListener } from "./perform.ts";
import { Placements } from "./placement.ts";
import type { Positions } from "./positions.ts";
import { releaseQuoted } from "./post-only.ts";
import type { OpenOrder, PlannedProtection } from "./protection/earlier-order.ts";
import type { WantedProtection } from "./protection/protect.ts";
import { Reconciliation } from "./reconciliation.ts";
import { endQuoteWaits, retryRefused } from "./refusals.ts";
import { admit } from "./risk/order-throttle.ts";
import type { Inherited } from "./risk/risk-manager.ts";
import {
  isFull,
  type Mode,
  mayPlace,
  type Restriction,
  shownMode,
  stoppedWords,
  stopsWords,
} from "./risk/trading-mode.ts";
import type { Slot } from "./slot.ts";
import { type JournalEnd, UnrecordedOrders } from "./unrecorded-orders.ts";
import type { OrderSpec, WantedOrder } from "./wanted-order.ts";
import type { WatchdogStanding } from "./watchdog-cancels.ts";

export class OrderManager {
  readonly #state: ManagerState;
  readonly #performer: Performer;
  readonly #cancellation: Cancellation;
  readonly #reconciliation: Reconciliation;
  readonly #unrecorded: UnrecordedOrders;
  readonly #closing: ClosingSlots;

  constructor(options: OrderManagerOptions) {
    const { store, journal } = options;
    const run = (effects: Effects): void => this.#performer.run(effects);
    const state = new ManagerState(options, run);
    const search = new OrderSearch(options, (order) => this.#reconciliation.take(order), run);
    const accept = (order: Order, ordId: string): Effects => this.#reconciliation.accept(order, ordId);
    this.#state = state;
    this.#unrecorded = new UnrecordedOrders(state);
    this.#cancellation = new Cancellation(options, (order) => state.compare(order), run);
    const foreign = new ForeignOrders();
    this.#reconciliation = new Reconciliation(state, search, this.#cancellation, this.#unrecorded, foreign);
    this.#closing = new ClosingSlots(state, run);
    this.#performer = new Performer(state, {
      search,
      placements: new Placements(state, accept, run),
      cancellation: this.#cancellation,
      unrecorded: this.#unrecorded,
      amends: new OrderAmends(state, run),
      restrict: (strategy, reason) => this.#restrictAfterLoss(strategy, reason),
    });
    journal.on(["engine.started"], () => run(foreign.begin()));
    journal.on(["position.closing"], ({ clOrdId }) => {
      if (clOrdId !== undefined) foreign.close(clOrdId);
    });
    store.onChange((record, previous) => this.#run(this.#reconciliation.changed(record, previous)));
    store.onForgotten(({ clOrdId }) => {
      const order = state.slots.byClientId(clOrdId);
      if (order !== undefined) this.#run([{ kind: "query", order, how: "search" }]);
    });
  }

  #restrictAfterLoss(strategy: string | undefined, reason: string): void {
    const { onLoss } = this.#state.options;
    if (strategy !== undefined) {
      if (this.modeOf(strategy) === "active") this.setStrategyMode(strategy, "reducing", reason);
    } else if (onLoss === undefined) this.setMode("halted", reason);
    else onLoss(reason);
  }

  #run(effects: Effects): void {
    this.#performer.run(effects);
  }

  /** Emits every refusal that was not reported before. */
  get refusals$(): Observable<Refusal> {
    return this.#performer.refusals$;
  }

  /** Journals a refusal that concerns no slot. */
  noteRefusal(refusal: Refusal): void {
    this.#run([record({ type: "order.refused", ...refusal })]);
  }

  /** Calls `listener` with every change of an order. The returned function removes the listener. */
  listen(listener: UpdateListener): () => void {
    return this.#performer.listen(listener);
  }

  /** Replaces everything `strategy` wants, except orders it placed by hand. */
  want(strategy: string, wanted: readonly WantedOrder[], protections: readonly WantedProtection[] = []): void {
    if (protections.length > 0 || !this.renew(strategy, wanted)) this.replace(strategy, wanted, protections);
  }

  /**
   * Does the same as `want` if nothing has to be done now. Returns false, with nothing changed, if there is something
   * to do.
   */
  renew(strategy: string, wanted: readonly WantedOrder[]): boolean {
    const { protections, slots } = this.#state;
    return (protections.isIdle || !protections.has(strategy)) && slots.renew(strategy, wanted);
  }

  /**
   * Does the same as `want` for a set that `renew` did not take. `protections` of whole positions replace the previous
   * ones; if left out, those stay.
   */
  replace(strategy: string, wanted: readonly WantedOrder[], protections?: readonly WantedProtection[]): void {
    const { slots, protections: held } = this.#state;
    const changed = slots.replace(strategy, wanted);
    if (slots.hasClaimed) this.#run(this.#reconciliation.settleIn());
    for (let index = 0; index < changed.length; index++) this.#admit(changed[index] as Slot);
    if (protections !== undefined) this.#run(held.declare(strategy, wanted, protections));
    if (slots.unclaimed.hasClaimed) this.#run(this.#reconciliation.settleIn());
  }

  /**
   * Adds a wanted order by hand, or withdraws it (undefined). Returns a reason if the slot is taken or trading is
   * halted.
   */
  wantOne(strategy: string, name: string, wanted: WantedOrder | undefined): string | undefined {
    // The caller waits for an answer now. An order of this moment must not leave when a halt ends later.
    const halted = wanted === undefined ? undefined : this.#state.modes.haltOf(strategy, wanted);
    if (halted !== undefined) return halted;
    const slot = this.#state.slots.put(strategy, name, wanted);
    if (typeof slot === "string") return slot;
    this.#run(this.#reconciliation.settleIn());
    if (slot !== undefined) this.#admit(slot);
    return undefined;
  }

  /** Called when the slot's wanted order changed. Evaluates the slot now or later. */
  #admit(slot: Slot): void {
    const { changesPerSecond } = this.#state.options.rules;
    if (changesPerSecond === undefined) this.#performer.evaluate(slot);
    else this.#run(admit(this.#state, slot, changesPerSecond));
  }

  /** Withdraws what a strategy wants and what it placed by hand; what closes its protected positions stays. */
  withdraw(strategy: string): void {
    this.replace(strategy, []);
    for (const { name, byHand } of this.#state.slots.ofStrategy(strategy))
      if (byHand) this.wantOne(strategy, name, undefined);
  }

  /**
   * Cancels these orders now. Unless it is an emergency, their wanted orders are not placed again until they change.
   */
  cancel(orders: readonly Order[], urgency: ActionClass): void {
    for (const order of orders) {
      const slot = this.#state.slots.of(order);
      if (slot !== undefined && urgency !== "emergency") slot.settled = slot.wanted ?? order.serves;
      if (slot?.wanted !== undefined && slot.byHand && !slot.reserved) slot.wanted = undefined;
      this.#run(this.#cancellation.ask(order, urgency, "cancelled on demand"));
    }
  }

  /** The order as it is now, for those who listen to it. */
  updateOf(order: Order): OrderUpdate {
    return updateOf(order, this.#state.executed(order).filled);
  }

  /** Positions of strategies by their own fills, at average cost. */
  get positions(): Positions {
    return this.#state.positions;
  }

  /** Slots that close what strategies hold, on demand and in any mode, and that book what was closed at the service. */
  get closing(): ClosingSlots {
    return this.#closing;
  }

  /** Returns whether a strategy has traded an instrument, wants orders in it or has an order in it that is not over. */
  trades(strategy: string, instId: string): boolean {
    const isIn = ({ wanted, order }: Slot): boolean => wanted?.instId === instId || order?.spec.instId === instId;
    return this.positions.has(strategy, instId) || this.#state.slots.ofStrategy(strategy).some(isIn);
  }

  /** Orders that are not over. */
  orders(): readonly Order[] {
    return this.#state.slots.orders();
  }

  /** Returns true for an order of the engine that closes a protected position. */
  isReserved(order: Order): boolean {
    return this.#state.slots.of(order)?.reserved === true;
  }

  /** Returns false if the service has no call that cancels the order. */
  cancelable(order: Order): boolean {
    return this.#cancellation.cancelable(order);
  }

  get mode(): Mode {
    return shownMode(this.#state.modes.mode);
  }

  /**
   * Restriction of all strategies together or of one strategy. Unlike `modeOf`, it distinguishes a full stop from a
   * halt.
   */
  restrictionOf(strategy?: string): Restriction {
    const { modes } = this.#state;
    return strategy === undefined ? modes.mode : modes.ownOf(strategy);
  }

  /** Mode of a strategy: the stricter one of its own and that of all. */
  modeOf(strategy: string): Mode {
    return shownMode(this.#state.modes.of(strategy));
  }

  /** Returns true in a full stop of the strategy or of all. */
  isStopped(strategy: string): boolean {
    return this.#state.modes.of(strategy) === "stopped";
  }

  /** Reason for the mode of a strategy; empty while it is active. */
  reasonOf(strategy: string): string {
    return this.#state.modes.reasonOf(strategy);
  }

  setMode(mode: Restriction, reason: string): void {
    this.#restrict(mode, reason, undefined);
  }

  /** Sets the mode of one strategy: halted cancels its entries, reducing withdraws and refuses them. */
  setStrategyMode(strategy: string, mode: Restriction, reason: string): void {
    this.#restrict(mode, reason, strategy);
  }

  /**
   * Registers an order that a previous run sent for `strategy` and of which nothing is known. It counts as open until
   * there is evidence.
   */
  recall(clOrdId: string, spec: OrderSpec, sentAt: number, strategy: string): void {
    this.#run(this.#reconciliation.recall(clOrdId, spec, sentAt, strategy));
  }

  /**
   * Takes over the protections of a previous run; `open` are orders of it that may still execute. Call it before those
   * are recalled.
   */
  restore(records: readonly ProtectionRecord[], open: readonly OpenOrder[]): void {
    this.#state.protections.restore(records, open);
  }

  /** Registers an order of a previous run that is recalled next, with the protection of what it buys or sells. */
  expect(clOrdId: string, planned: { readonly slot: string; readonly protect?: object }): void {
    this.#state.protections.expect(clOrdId, planned);
  }

  /**
   * Books executions of own orders that are missing in the journal. `records` is the service's history, newest first,
   * back to `end`.
   */
  readBack(records: readonly OrderRecord[], end: JournalEnd | undefined): void {
    this.#run(this.#unrecorded.begin(records, end));
  }

  /** The latest generation seen in own orders of other runs. */
  get latestSeen(): number | undefined {
    return this.#state.slots.latestSeen;
  }

  /** Activates the protections of a previous run, before anything new is placed. */
  rearm(): void {
    this.#run(this.#state.protections.endRecovery());
    this.#run(this.#reconciliation.settleIn());
  }

  /**
   * Called when the engine ends. The engine holds the stops itself, so positions that lose their protection are
   * reported, and so are orders that waited.
   */
  leave(): void {
    this.#run(endQuoteWaits(this.#state));
    this.#run(this.#state.protections.suspend("stopped", stopsWords));
  }

  /** Called after the engine has ended. No price is watched and no request is made any more. */
  close(): void {
    this.#state.protections.close();
    this.#state.cover.close();
    this.#state.refusals.phase = "ended";
    this.#state.risk.close();
  }

  /**
   * Takes over holdings of previous runs. The losses of `judged` strategies were already reported (empty string: all
   * together). Nothing is closed until `rearm` is called.
   */
  inherit(holdings: readonly Inherited[], judged: readonly string[]): void {
    this.#state.protections.beginRecovery();
    for (const held of holdings) {
      const { strategy, instId, position, cash } = held;
      const { positions } = this.#state;
      if (strategy !== "") positions.inherit(strategy, instId, bookedOf(held));
      else positions.inheritUnowned(instId, { position: read(position), cash: read(cash) });
    }
    this.#run(this.#state.risk.inherited(judged));
  }

  /** Strategy of an order that is not over; empty if it is not known. */
  ownerOf(clOrdId: string): string {
    return this.#state.slots.byClientId(clOrdId)?.strategy ?? "";
  }

  /** Record, for the next run, of an order that is protected or that closes a protected position. */
  plannedOf(clOrdId: string): PlannedProtection | undefined {
    const order = this.#state.slots.byClientId(clOrdId);
    if (order === undefined) return undefined;
    const { slot, wanted } = order;
    if (wanted?.protect !== undefined) return { slot: this.#state.protections.nameOf(order), protect: wanted.protect };
    return this.isReserved(order) ? { slot } : undefined;
  }

  /** Returns true for an open order that is an exit without the service's flag. */
  isUnflaggedExit(clOrdId: string): boolean {
    const order = this.#state.slots.byClientId(clOrdId);
    return order?.spec.reduceOnly === true && order.terms.withoutFlag;
  }

  /** Returns whether an order that is not over is an exit, with or without the service's flag. */
  isExit(clOrdId: string): boolean {
    return this.#state.slots.byClientId(clOrdId)?.spec.reduceOnly === true;
  }

  /**
   * Specification of the order that a close call with this client order id makes; undefined if the order is not ours or
   * is over.
   */
  closeOf(clOrdId: string): OrderSpec | undefined {
    return this.#state.slots.byClientId(clOrdId)?.spec;
  }

  /** Change of position and money by an order, from its record. */
  tradedBy(record: OrderRecord): ReturnType<typeof tradedBy> {
    return tradedBy(record, this.#state.source);
  }

  /**
   * Registers the watchdog, which cancels orders of this engine when it is silent. Call `reconsider` when the
   * value of `standing` has changed.
   */
  watchedBy(standing: () => WatchdogStanding): void {
    this.#state.watchdog = standing;
  }

  /** Called when instruments or the watchdog's state changed. Refused orders may pass now. */
  reconsider(): void {
    const state = this.#state;
    this.#run(hastenExits(state));
    for (const slot of state.slots.all()) this.#run(retryRefused(state, slot));
  }

  /** Called when a quote of an instrument arrived. An order that would have taken may rest now. */
  quoted(instId: string): void {
    this.#run(releaseQuoted(this.#state, instId));
  }

  /**
   * Called when the request of an order decided earlier is about to leave. Returns the reason why it may not leave any
   * more; otherwise sets the time of sending to now.
   */
  leaves(clOrdId: string): string | undefined {
    const order = this.#state.slots.byClientId(clOrdId);
    const barred = this.#barred(order);
    // Writing its record may have taken long, and an order that was sent late may arrive late.
    if (order !== undefined && barred === undefined)
      advance(order, { type: "left", at: this.#state.options.clock.now() });
    return barred;
  }

  #barred(order: Order | undefined): string | undefined {
    const slot = order === undefined ? undefined : this.#state.slots.of(order);
    if (slot?.closing === true) return this.#state.options.refused?.(true);
    const mode = this.#state.modes.of(order?.strategy ?? "");
    const wanted = order?.wanted;
    return mayPlace(mode, wanted) ? this.#state.options.refused?.(wanted?.reduceOnly === true) : `trading is ${mode}`;
  }

  /** Restricts one strategy, or all where none is named. */
  #restrict(mode: Restriction, reason: string, strategy: string | undefined): void {
    const { modes } = this.#state;
    const before = this.restrictionOf(strategy);
    if (mode === before) return;
    modes.set(strategy, mode, reason);
    if (isShownOtherwise(mode, before)) this.#run([record(modeEvent(strategy, mode, reason))]);
    this.#apply(mode, reason, strategy);
  }

  /** Acts on a mode that has changed, of one strategy or of all. */
  #apply(mode: Restriction, reason: string, strategy: string | undefined): void {
    const { slots, protections, modes } = this.#state;
    const isMeant = (name: string): boolean => strategy === undefined || name === strategy;
    const isStopped = (name: string): boolean => isFull(modes.of(name));
    const words = `${stoppedWords}: ${reason}`;
    this.#run(protections.suspend("suspended", words, (name) => isMeant(name) && isStopped(name)));
    this.#run(protections.resume((name) => isMeant(name) && !isStopped(name)));
    for (const order of slots.orders())
      if (isMeant(order.strategy) && isResting(order) && !this.#mayRest(mode, order))
        this.#run(this.#cancellation.ask(order, "emergency", reason));
    this.#run(protections.reconsider());
    for (const slot of slots.all()) if (isMeant(slot.strategy)) this.#run([evaluate(slot)]);
  }

  #mayRest(mode: Restriction, order: Order): boolean {
    if (mode === "halted") return order.spec.reduceOnly || this.isReserved(order);
    return !isFull(mode) || this.#state.slots.of(order)?.closing === true;
  }
}

const isShownOtherwise = (mode: Restriction, before: Restriction): boolean =>
  shownMode(mode) !== shownMode(before) || (mode === "stopped") !== (before === "stopped");

const modeEvent = (strategy: string | undefined, mode: Restriction, reason: string): EventBody => {
  if (strategy === undefined) return { type: "mode.changed", mode: shownMode(mode), reason, ...fullIn(mode) };
  if (mode === "active") return { type: "strategy.resumed", strategy, reason };
  if (mode === "reducing") return { type: "strategy.reducing", strategy, reason };
  return { type: "strategy.halted", strategy, reason, ...fullIn(mode) };
};

const fullIn = (mode: Restriction): { readonly full?: true } => (mode === "stopped" ? { full: true } : {});

/**
 * Journals of earlier versions contain the money paid, but not the realised profit: all of it becomes the entry value,
 * or profit if nothing is held.
 */
const bookedOf = ({ position, cash, booked }: Inherited): BookedPosition => {
  if (booked !== undefined) return booked;
  const isFlat = isZero(read(position));
  return {
    qty: position,
    entry: isFlat ? "0" : spell(neg(read(cash))),
    realised: isFlat ? cash : "0",
    fees: "0",
    open: {},
  };
};
