/**
 * Wanted orders by slot, and our orders by client order id.
 *
 * Invariants: a slot holds at most one order that is not over; a generation is used once, in this run and in previous
 * ones; an order found at the service that carries a slot's id is adopted by that slot instead of being placed again,
 * and an order beyond the one that a slot can hold is surplus.
 * Not here: what is done with orders (order-manager.ts), finding them (orders/state/).
 */
import { SluiceError } from "../errors.ts";
import type { ClientOrderIds, IdGeneration } from "./client-order-id.ts";
import { advance, hasExecuted, isClosed, Order, type Terms } from "./order-state.ts";
import { isConcluded, mayWait, takeNote } from "./plan.ts";
import { checkNames, isNumbered, Slot, type SlotKind } from "./slot.ts";
import { UnclaimedOrders } from "./unclaimed-orders.ts";
import { sameWanted, type WantedOrder } from "./wanted-order.ts";

const slotsMax = 1_000;
const closesPosition = "an order that closes a protected position";

export class Slots {
  readonly #ids: ClientOrderIds;
  readonly #byStrategy = new Map<string, Map<string, Slot>>();
  /**
   * The slots of the last set of each strategy, in the order of the set; undefined if the set was not processed to its
   * end.
   */
  readonly #declared = new Map<string, readonly Slot[] | undefined>();
  readonly #byHash = new Map<string, Slot>();
  readonly #open = new Map<string, Order>();
  readonly #counts = new Map<string, number>();
  readonly #ownerless = new Map<string, Order[]>();
  /** The newest order of a previous run that the service ended, for each slot that is not wanted yet. */
  readonly #inherited = new Map<string, Order>();
  readonly #surplus = new Set<Order>();
  /** Executed orders of previous runs whose strategy is not known yet. */
  readonly unclaimed: UnclaimedOrders;
  #news: Order[] = [];
  /** True if orders got a slot since they were last requested. */
  hasClaimed = false;
  readonly #generation: IdGeneration;
  /** Number of sets processed so far. */
  #rounds = 0;
  constructor(ids: ClientOrderIds, generation: IdGeneration) {
    this.#ids = ids;
    this.#generation = generation;
    this.unclaimed = new UnclaimedOrders((strategy, slot) => ids.slotHash(strategy, slot));
  }

  /** Takes a set that requires no action now. Returns false, with nothing changed, if there is something to do. */
  renew(strategy: string, orders: readonly WantedOrder[]): boolean {
    const known = this.#declared.get(strategy);
    if (known?.length !== orders.length) return false;
    const isTaken = orders.every((wanted, index) => {
      const slot = known[index] as Slot;
      return slot.name === wanted.slot && mayWait(slot, wanted);
    });
    if (isTaken) for (const [index, wanted] of orders.entries()) takeNote(known[index] as Slot, wanted);
    return isTaken;
  }

  /** Replaces a strategy's set. Returns the slots whose wanted order appeared, changed or disappeared. */
  replace(strategy: string, orders: readonly WantedOrder[]): readonly Slot[] {
    const slots = this.#byStrategy.get(strategy) ?? this.#slotsOf(strategy);
    if (orders.length > 1) checkNames(strategy, orders);
    const round = ++this.#rounds;
    // Allocated at full size, because a growing array reserves room for many elements.
    const changed = new Array<Slot>(orders.length);
    let changes = 0;
    this.#declared.set(strategy, undefined);
    const set = orders.map((wanted) => {
      const slot = slots.get(wanted.slot) ?? this.#create(strategy, wanted.slot, "declared");
      if (slot.byHand) {
        const by = slot.reserved ? closesPosition : "an order placed by hand";
        const text = `${strategy}: the slot "${wanted.slot}" is in use by ${by}. Give the wanted order another slot.`;
        throw new SluiceError("ORDER_REFUSED", text);
      }
      const before = slot.wanted;
      slot.wanted = Object.freeze(wanted);
      slot.round = round;
      if (before !== undefined) {
        if (sameWanted(before, wanted)) return slot;
        // A settled wanted order counts as new if another one was wanted in between.
        slot.settled = undefined;
      }
      changed[changes++] = slot;
      return slot;
    });
    if (changes < orders.length) changed.length = changes;
    this.#declared.set(strategy, set);
    if (slots.size === set.length) return changed;
    for (const slot of slots.values()) {
      if (slot.byHand || slot.wanted === undefined || slot.round === round) continue;
      slot.wanted = undefined;
      // If it is wanted again later, it counts as a new wanted order.
      slot.settled = undefined;
      changed.push(slot);
    }
    return changed;
  }

  /** The slot of an order by hand. Undefined if there is nothing to withdraw; a reason if the name is taken. */
  put(strategy: string, name: string, wanted: WantedOrder | undefined): Slot | string | undefined {
    const known = this.#slotsOf(strategy).get(name);
    const isOwn = known?.byHand === true && !known.reserved;
    if (wanted === undefined) {
      if (isOwn) known.wanted = undefined;
      return isOwn ? known : undefined;
    }
    if (known !== undefined && !(isOwn && known.wanted === undefined && known.order === undefined)) {
      const by = known.reserved ? closesPosition : isOwn ? "another order placed by hand" : "a declared order";
      return `the slot "${name}" is in use by ${by}; choose another or leave it out`;
    }
    const slot = known ?? this.#create(strategy, name, "byHand");
    slot.wanted = Object.freeze(wanted);
    return slot;
  }

  /** The engine's own slot for an order that closes a protected position or closes on demand. */
  reserve(strategy: string, name: string, kind: "reserved" | "closing" | "late" = "reserved"): Slot {
    const known = this.find(strategy, name);
    if (known !== undefined && !known.reserved) {
      throw new SluiceError(
        "ORDER_REFUSED",
        `${strategy}: the slot "${name}" is needed for the order that closes a position. Rename yours.`,
      );
    }
    return known ?? this.#create(strategy, name, kind);
  }

  find(strategy: string, name: string): Slot | undefined {
    return this.#byStrategy.get(strategy)?.get(name);
  }

  ofStrategy(strategy: string): readonly Slot[] {
    return [...(this.#byStrategy.get(strategy)?.values() ?? [])];
  }

  /** The slot's order, whose placement leaves now. */
  open(slot: Slot, terms: Terms, now: number): Order {
    const clOrdId = slot.spare?.clOrdId ?? this.#ids.of(slot.hash, this.#generation.next());
    const order = new Order(slot.strategy, slot.name, clOrdId, terms, "placed", now);
    slot.spare = undefined;
    slot.order = order;
    slot.isUncompared = false;
    slot.refused = false;
    this.#open.set(clOrdId, order);
    this.#count(slot.strategy, 1);
    return order;
  }

  of({ strategy, slot }: Order): Slot | undefined {
    return this.#byStrategy.get(strategy)?.get(slot);
  }

  byClientId(clOrdId: string): Order | undefined {
    return this.#open.get(clOrdId);
  }

  /** Takes in an order of ours found at the service. Undefined if it is already known. */
  adopt(order: Order): Order | undefined {
    const own = this.#ids.read(order.clOrdId);
    if (own === undefined || this.#open.has(order.clOrdId)) return undefined;
    this.#open.set(order.clOrdId, order);
    this.#count(order.strategy, 1);
    const slot = this.#byHash.get(own.slotHash);
    if (slot !== undefined) this.#claim(order, slot);
    else this.#ownerless.set(own.slotHash, [...(this.#ownerless.get(own.slotHash) ?? []), order]);
    return order;
  }

  /** Orders of a slot that is not known, except the newest one. */
  superseded(slotHash: string): readonly Order[] {
    const orders = (this.#ownerless.get(slotHash) ?? []).filter((order) => !isClosed(order));
    return orders.length < 2 ? [] : orders.sort((a, b) => (a.clOrdId < b.clOrdId ? 1 : -1)).slice(1);
  }

  /** Orders that got a slot since the last call. */
  claimed(): readonly Order[] {
    const orders = this.#news;
    this.#news = [];
    this.hasClaimed = false;
    return orders;
  }

  /** Called when a generation was seen in use. Ours continue after it. */
  skip(used: number): void {
    this.#generation.seen(used);
  }

  /** Returns whether this run sent an order with the generation. */
  isGiven(generation: number): boolean {
    return this.#generation.isGiven(generation);
  }

  /** The latest generation seen in orders of other runs. */
  get latestSeen(): number | undefined {
    return this.#generation.latest;
  }

  /** The slot with this hash, if it is known. */
  byHash(hash: string): Slot | undefined {
    return this.#byHash.get(hash);
  }

  /** Called when the order is over. */
  close(order: Order): void {
    if (this.#open.get(order.clOrdId) !== order) return;
    this.#open.delete(order.clOrdId);
    this.#surplus.delete(order);
    this.#count(order.strategy, -1);
    if (order.strategy !== "") return;
    for (const [hash, left] of this.#ownerless) {
      if (!left.includes(order)) continue;
      const others = left.filter((other) => other !== order);
      this.#ownerless.set(hash, others);
      this.inherit(order, hash);
      const own = this.#ids.read(order.clOrdId);
      if (own !== undefined && hasExecuted(order)) this.unclaimed.keep(order, hash, own.generation);
    }
  }

  /** Called when an order of a previous run is over. Returns its slot, if there is one. */
  inherit(order: Order, hash: string): Slot | undefined {
    const slot = this.#byHash.get(hash);
    if (!isConcluded(order)) return slot;
    const known = slot === undefined ? this.#inherited.get(hash) : slot.inherited;
    if (known !== undefined && known.clOrdId > order.clOrdId) return slot;
    if (slot === undefined) this.#inherited.set(hash, order);
    else slot.inherited = order;
    return slot;
  }

  /** Called when the slot's order is over. A surplus order takes its place, if there is one. */
  vacate(slot: Slot): void {
    slot.order = undefined;
    slot.isUncompared = false;
    if (this.#surplus.size === 0) return;
    for (const order of this.#surplus) {
      if (order.strategy !== slot.strategy || order.slot !== slot.name) continue;
      this.#surplus.delete(order);
      slot.order = order;
      return;
    }
  }

  dropIfIdle(slot: Slot): void {
    if (slot.wanted !== undefined || slot.order !== undefined || slot.queued !== undefined) return;
    this.#slotsOf(slot.strategy).delete(slot.name);
    if (this.#byHash.get(slot.hash) === slot) this.#byHash.delete(slot.hash);
  }

  all(): readonly Slot[] {
    return [...this.#byStrategy.values()].flatMap((slots) => [...slots.values()]);
  }

  /** Orders that are not over. */
  orders(): readonly Order[] {
    return [...this.#open.values()].filter((order) => !isClosed(order));
  }

  /** Open orders of all strategies. */
  get openCount(): number {
    return this.#open.size;
  }

  openCountOf(strategy: string): number {
    return this.#counts.get(strategy) ?? 0;
  }

  /**
   * Registers a slot name of the strategy. Executed orders of previous runs in that slot are taken in by `settleIn`.
   */
  claim(strategy: string, name: string): void {
    this.unclaimed.claim(strategy, name);
    if (this.unclaimed.hasClaimed) this.hasClaimed = true;
  }

  #slotsOf(strategy: string): Map<string, Slot> {
    let slots = this.#byStrategy.get(strategy);
    if (slots === undefined) {
      slots = new Map();
      this.#byStrategy.set(strategy, slots);
    }
    return slots;
  }

  #count(strategy: string, by: 1 | -1): void {
    this.#counts.set(strategy, (this.#counts.get(strategy) ?? 0) + by);
  }

  #claim(order: Order, slot: Slot): void {
    this.#count(order.strategy, -1);
    advance(order, { type: "claimed", strategy: slot.strategy, slot: slot.name });
    this.#count(order.strategy, 1);
    if (slot.order === undefined) slot.order = order;
    else this.#surplus.add(order);
    this.#news.push(order);
    this.hasClaimed = true;
  }

  #create(strategy: string, name: string, kind: SlotKind): Slot {
    const slots = this.#slotsOf(strategy);
    if (slots.size >= slotsMax) {
      throw new SluiceError(
        "ORDER_REFUSED",
        `${strategy}: more than ${slotsMax} slots. A slot is the stable name of one wanted order; reuse the names.`,
      );
    }
    const slot = new Slot(strategy, name, this.#ids.slotHash(strategy, name), kind);
    slots.set(name, slot);
    if (kind === "byHand" && isNumbered(name)) return slot;
    this.#byHash.set(slot.hash, slot);
    this.claim(strategy, name);
    slot.inherited = this.#inherited.get(slot.hash);
    this.#inherited.delete(slot.hash);
    // The newest order is taken over, because it shows what the previous run wanted last.
    const left = (this.#ownerless.get(slot.hash) ?? []).sort((a, b) => (a.clOrdId < b.clOrdId ? 1 : -1));
    this.#ownerless.delete(slot.hash);
    for (const order of left) this.#claim(order, slot);
    return slot;
  }
}
