/**
 * Wanted orders by slot, and our orders by client order id.
 *
 * Invariants: a slot holds at most one order that is not over; a generation is used once, in this run and in previous ones; an order
 * found at the service that carries a slot's id is adopted by that slot instead of being placed again, and one more than a slot can
 * hold is surplus.
 * Not here: what is done with orders (order-manager.ts), finding them (orders/state/).
 */
import { SluiceError } from "../errors.ts";
import type { ClientOrderIds } from "./client-order-id.ts";
import { mayWait, takeNote } from "./conflation.ts";
import { isOver, newOrder, type TrackedOrder } from "./tracked-order.ts";
import { type OrderSpec, sameWish, type WantedOrder, wishMark } from "./wanted-order.ts";

/** What is left of a slot's wanted order, and when it may be placed. */
export interface Rest {
  readonly mark: string;
  readonly kind: "rest" | "exit";
  qty: string;
  /** Not before this instant. */
  at: number;
  /** Orders in a row that executed nothing of it. */
  vain: number;
  reason: string;
}

export interface Slot {
  readonly strategy: string;
  readonly name: string;
  readonly hash: string;
  /** Placed by hand: not part of the declared set. */
  readonly byHand: boolean;
  wish: WantedOrder | undefined;
  order: TrackedOrder | undefined;
  /** The placement that waits, and the lane it waits in. */
  queued: { readonly withdraw: () => void; readonly lane: string } | undefined;
  settledMark: string | undefined;
  /** The settled wish was refused by a rule and may pass when instruments change. */
  refused: boolean;
  /** An order that a rate limit kept from being executed: its id is used again. */
  spare: TrackedOrder | undefined;
  /** What earlier orders left of the wanted quantity, if another order is to follow. */
  rest: Rest | undefined;
}

export interface Slots {
  /** Takes a set that asks for nothing to be done now; false, with nothing changed, when there is something to do. */
  readonly renew: (strategy: string, wanted: readonly WantedOrder[]) => boolean;
  /** The slots whose wish appeared, changed or disappeared. */
  replace(strategy: string, wanted: readonly WantedOrder[]): readonly Slot[];
  /** The slot of an order by hand; undefined when there is nothing to withdraw, a reason when the name is taken. */
  put(strategy: string, name: string, wish: WantedOrder | undefined): Slot | string | undefined;
  /** `qty`: base quantity the order should execute; empty where it is not known. */
  open(slot: Slot, wish: WantedOrder, spec: OrderSpec, qty: string, now: number): TrackedOrder;
  of(order: TrackedOrder): Slot | undefined;
  byClientId(clOrdId: string): TrackedOrder | undefined;
  /** Takes in an order of ours found at the service; undefined when it is known. */
  adopt(found: TrackedOrder): TrackedOrder | undefined;
  /** Orders that got a home since this was last asked. */
  housed(): readonly TrackedOrder[];
  /** A generation was seen in use: ours go on after it. */
  skip(generation: number): void;
  /** To be told when an order is over. */
  close(order: TrackedOrder): void;
  /** The slot's order is over: a surplus one takes its place, if there is one. */
  vacate(slot: Slot): void;
  dropIfIdle(slot: Slot): void;
  all(): readonly Slot[];
  /** Orders that are not over. */
  readonly orders: () => readonly TrackedOrder[];
  openCount(strategy?: string): number;
}

const slotsMax = 1_000;
/**
 * An earlier life whose journal is gone may have sent more orders than the service shows: some are still on their way, some too
 * young for its lists. No key lets more leave while an answer is waited for.
 */
const unseenMax = 100;

/** A name the framework gave: it means nothing to a later life. */
const isNumbered = (name: string): boolean => name.startsWith("#");

export const createSlots = (ids: ClientOrderIds, firstGeneration: number): Slots => {
  const byStrategy = new Map<string, Map<string, Slot>>();
  /** Of each strategy the slots of its last set, in the order of the set. */
  const declared = new Map<string, readonly Slot[]>();
  const byHash = new Map<string, Slot>();
  const open = new Map<string, TrackedOrder>();
  const counts = new Map<string, number>();
  const homeless = new Map<string, TrackedOrder[]>();
  const surplus = new Set<TrackedOrder>();
  let news: TrackedOrder[] = [];
  let generation = firstGeneration;

  const slotsOf = (strategy: string): Map<string, Slot> => {
    let slots = byStrategy.get(strategy);
    if (slots === undefined) {
      slots = new Map();
      byStrategy.set(strategy, slots);
    }
    return slots;
  };
  const count = (strategy: string, by: 1 | -1): void => {
    counts.set(strategy, (counts.get(strategy) ?? 0) + by);
  };
  const house = (order: TrackedOrder, slot: Slot): void => {
    count(order.strategy, -1);
    order.strategy = slot.strategy;
    order.slot = slot.name;
    count(order.strategy, 1);
    if (slot.order === undefined) slot.order = order;
    else surplus.add(order);
    news.push(order);
  };
  const create = (strategy: string, name: string, byHand: boolean): Slot => {
    const slots = slotsOf(strategy);
    if (slots.size >= slotsMax) {
      throw new SluiceError(
        "ORDER_REFUSED",
        `${strategy}: more than ${slotsMax} slots. A slot is the stable name of one wanted order; reuse the names.`,
      );
    }
    const hash = ids.slotHash(strategy, name);
    const empty = {
      wish: undefined,
      order: undefined,
      queued: undefined,
      settledMark: undefined,
      refused: false,
      spare: undefined,
      rest: undefined,
    };
    const slot: Slot = { strategy, name, hash, byHand, ...empty };
    slots.set(name, slot);
    if (byHand && isNumbered(name)) return slot;
    byHash.set(hash, slot);
    // The newest is taken over; it is what the earlier life wanted last.
    const left = (homeless.get(hash) ?? []).sort((a, b) => (a.clOrdId < b.clOrdId ? 1 : -1));
    homeless.delete(hash);
    for (const order of left) house(order, slot);
    return slot;
  };

  return {
    renew: (strategy, wanted) => {
      const known = declared.get(strategy);
      if (known?.length !== wanted.length) return false;
      for (let index = 0; index < wanted.length; index++) {
        const [slot, wish] = [known[index] as Slot, wanted[index] as WantedOrder];
        if (slot.name !== wish.slot || !mayWait(slot, wish)) return false;
      }
      for (let index = 0; index < wanted.length; index++) takeNote(known[index] as Slot, wanted[index] as WantedOrder);
      return true;
    },
    replace: (strategy, wanted) => {
      const slots = slotsOf(strategy);
      const named = namesOf(strategy, wanted);
      const changed: Slot[] = [];
      const set: Slot[] = [];
      declared.delete(strategy);
      for (const wish of wanted) {
        const slot = slots.get(wish.slot) ?? create(strategy, wish.slot, false);
        if (slot.byHand) {
          const text = `${strategy}: the slot "${wish.slot}" is in use by an order placed by hand. Give the wanted order another slot.`;
          throw new SluiceError("ORDER_REFUSED", text);
        }
        const before = slot.wish;
        slot.wish = wish;
        set.push(slot);
        if (before !== undefined && sameWish(before, wish)) continue;
        // What came to its end is new when something else was wanted in between.
        if (before !== undefined) slot.settledMark = undefined;
        changed.push(slot);
      }
      declared.set(strategy, set);
      for (const slot of slots.values()) {
        if (slot.byHand || slot.wish === undefined || named.has(slot.name)) continue;
        slot.wish = undefined;
        // Wanted again later, it is a new wish.
        slot.settledMark = undefined;
        changed.push(slot);
      }
      return changed;
    },
    put: (strategy, name, wish) => {
      const known = slotsOf(strategy).get(name);
      if (wish === undefined) {
        if (known?.byHand) known.wish = undefined;
        return known?.byHand ? known : undefined;
      }
      if (known !== undefined && (!known.byHand || known.wish !== undefined || known.order !== undefined)) {
        return `the slot "${name}" is in use by ${known.byHand ? "another order placed by hand" : "a declared order"}; choose another or leave it out`;
      }
      const slot = known ?? create(strategy, name, true);
      slot.wish = wish;
      return slot;
    },
    open: (slot, wish, spec, qty, now) => {
      const clOrdId = slot.spare?.clOrdId ?? ids.of(slot.hash, generation++);
      const order = newOrder({ strategy: slot.strategy, slot: slot.name }, clOrdId, wish, wishMark(wish), spec, now);
      order.qty = qty;
      slot.spare = undefined;
      slot.order = order;
      slot.refused = false;
      open.set(clOrdId, order);
      count(slot.strategy, 1);
      return order;
    },
    of: (order) => byStrategy.get(order.strategy)?.get(order.slot),
    byClientId: (clOrdId) => open.get(clOrdId),
    adopt: (order) => {
      const own = ids.read(order.clOrdId);
      if (own === undefined || open.has(order.clOrdId)) return undefined;
      open.set(order.clOrdId, order);
      count(order.strategy, 1);
      const slot = byHash.get(own.slotHash);
      if (slot !== undefined) house(order, slot);
      else homeless.set(own.slotHash, [...(homeless.get(own.slotHash) ?? []), order]);
      return order;
    },
    housed: () => {
      if (news.length === 0) return news;
      const orders = news;
      news = [];
      return orders;
    },
    skip: (used) => {
      if (used >= generation) generation = used + 1 + unseenMax;
    },
    close: (order) => {
      if (open.get(order.clOrdId) !== order) return;
      open.delete(order.clOrdId);
      surplus.delete(order);
      count(order.strategy, -1);
      if (order.strategy !== "") return;
      for (const [hash, left] of homeless) {
        if (!left.includes(order)) continue;
        homeless.set(
          hash,
          left.filter((other) => other !== order),
        );
      }
    },
    vacate: (slot) => {
      slot.order = undefined;
      for (const order of surplus) {
        if (order.strategy !== slot.strategy || order.slot !== slot.name) continue;
        surplus.delete(order);
        slot.order = order;
        return;
      }
    },
    dropIfIdle: (slot) => {
      if (slot.wish !== undefined || slot.order !== undefined || slot.queued !== undefined) return;
      slotsOf(slot.strategy).delete(slot.name);
      if (byHash.get(slot.hash) === slot) byHash.delete(slot.hash);
    },
    all: () => [...byStrategy.values()].flatMap((slots) => [...slots.values()]),
    orders: () => [...open.values()].filter((order) => !isOver(order)),
    openCount: (strategy) => (strategy === undefined ? open.size : (counts.get(strategy) ?? 0)),
  };
};

const namesOf = (strategy: string, wanted: readonly WantedOrder[]): ReadonlySet<string> => {
  const named = new Set<string>();
  for (const { slot } of wanted) {
    if (named.has(slot)) {
      throw new SluiceError(
        "ORDER_REFUSED",
        `${strategy}: two wanted orders have the slot "${slot}". Give every order of a set its own slot.`,
      );
    }
    named.add(slot);
  }
  return named;
};
