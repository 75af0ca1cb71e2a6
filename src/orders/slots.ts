/**
 * The wanted orders by slot, and our orders by client id.
 *
 * Invariants: a slot holds at most one order that is not over; a generation is used once; an order found at the service that
 * carries a slot's id is taken over by that slot instead of being placed again.
 */
import type { Subscription } from "rxjs";
import type { OrdType, Side } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { SluiceError } from "../errors.ts";
import type { OrderStore } from "../resources/order-store.ts";
import type { ClientOrderIds } from "./client-order-id.ts";
import { isOver, type TrackedOrder } from "./order.ts";
import { type OrderSpec, type WantedOrder, wishMark } from "./wanted.ts";

export interface Slot {
  readonly strategy: string;
  readonly name: string;
  readonly hash: string;
  /** Placed by hand: not part of the declared set. */
  readonly byHand: boolean;
  wish: WantedOrder | undefined;
  order: TrackedOrder | undefined;
  queued: Subscription | undefined;
  settledMark: string | undefined;
  /** The settled wish was refused by a rule and may pass when instruments change. */
  refused: boolean;
}

export interface Slots {
  /** The slots whose wish appeared, changed or disappeared. */
  replace(strategy: string, wanted: readonly WantedOrder[]): readonly Slot[];
  put(strategy: string, name: string, wish: WantedOrder | undefined): Slot | undefined;
  open(slot: Slot, wish: WantedOrder, spec: OrderSpec, now: number): TrackedOrder;
  of(order: TrackedOrder): Slot | undefined;
  byClientId(clOrdId: string): TrackedOrder | undefined;
  /** To be told when an order is over. */
  close(order: TrackedOrder): void;
  dropIfIdle(slot: Slot): void;
  all(): readonly Slot[];
  /** Orders that are not over. */
  orders(): readonly TrackedOrder[];
  openCount(strategy?: string): number;
  mark(wish: WantedOrder): string;
}

const slotsMax = 1_000;

export const createSlots = (ids: ClientOrderIds, store: OrderStore): Slots => {
  const byStrategy = new Map<string, Map<string, Slot>>();
  const generations = new Map<string, number>();
  const open = new Map<string, TrackedOrder>();
  const counts = new Map<string, number>();

  const slotsOf = (strategy: string): Map<string, Slot> => {
    let slots = byStrategy.get(strategy);
    if (slots === undefined) {
      slots = new Map();
      byStrategy.set(strategy, slots);
    }
    return slots;
  };
  const track = (order: TrackedOrder): void => {
    open.set(order.clOrdId, order);
    counts.set(order.strategy, (counts.get(order.strategy) ?? 0) + 1);
  };
  /** An order with this slot's id rests at the service: left by an earlier life of this instance. */
  const adopt = (slot: Slot): void => {
    for (const record of store.active()) {
      const own = ids.read(record.clOrdId);
      if (own === undefined || own.slotHash !== slot.hash || open.has(record.clOrdId)) continue;
      generations.set(slot.hash, Math.max(generations.get(slot.hash) ?? 0, own.generation + 1));
      slot.order ??= trackedFrom(record, slot);
      if (slot.order.clOrdId === record.clOrdId) track(slot.order);
    }
    for (const { clOrdId } of store.finished()) {
      const own = ids.read(clOrdId);
      if (own?.slotHash === slot.hash) generations.set(slot.hash, Math.max(generations.get(slot.hash) ?? 0, own.generation + 1));
    }
  };
  const create = (strategy: string, name: string, byHand: boolean): Slot => {
    const slots = slotsOf(strategy);
    if (slots.size >= slotsMax) {
      throw new SluiceError(
        "ORDER_REFUSED",
        `${strategy}: more than ${slotsMax} slots. A slot is the stable name of one wanted order; reuse the names.`,
      );
    }
    const slot: Slot = {
      strategy,
      name,
      hash: ids.slotHash(strategy, name),
      byHand,
      wish: undefined,
      order: undefined,
      queued: undefined,
      settledMark: undefined,
      refused: false,
    };
    adopt(slot);
    slots.set(name, slot);
    return slot;
  };

  return {
    mark: wishMark,
    replace: (strategy, wanted) => {
      const slots = slotsOf(strategy);
      const changed: Slot[] = [];
      const named = new Set<string>();
      for (const wish of wanted) {
        if (named.has(wish.slot)) {
          throw new SluiceError(
            "ORDER_REFUSED",
            `${strategy}: two wanted orders have the slot "${wish.slot}". Give every order of a set its own slot.`,
          );
        }
        named.add(wish.slot);
        const slot = slots.get(wish.slot) ?? create(strategy, wish.slot, false);
        const before = slot.wish;
        slot.wish = wish;
        if (before !== wish && (before === undefined || wishMark(before) !== wishMark(wish))) changed.push(slot);
      }
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
      if (known === undefined && wish === undefined) return undefined;
      const slot = known ?? create(strategy, name, true);
      slot.wish = wish;
      return slot;
    },
    open: (slot, wish, spec, now) => {
      const generation = generations.get(slot.hash) ?? 0;
      generations.set(slot.hash, generation + 1);
      const order: TrackedOrder = {
        strategy: slot.strategy,
        slot: slot.name,
        clOrdId: ids.of(slot.hash, generation),
        spec,
        wish,
        mark: wishMark(wish),
        sentAt: now,
        ordId: "",
        phase: "planned",
        record: undefined,
        cancelClass: undefined,
        canceling: false,
        reason: "",
      };
      slot.order = order;
      slot.refused = false;
      track(order);
      return order;
    },
    of: (order) => byStrategy.get(order.strategy)?.get(order.slot),
    byClientId: (clOrdId) => open.get(clOrdId),
    close: (order) => {
      if (open.delete(order.clOrdId)) counts.set(order.strategy, (counts.get(order.strategy) ?? 1) - 1);
    },
    dropIfIdle: (slot) => {
      if (slot.wish !== undefined || slot.order !== undefined || slot.queued !== undefined) return;
      slotsOf(slot.strategy).delete(slot.name);
      if (slot.byHand) generations.delete(slot.hash);
    },
    all: () => [...byStrategy.values()].flatMap((slots) => [...slots.values()]),
    orders: () => [...open.values()].filter((order) => !isOver(order)),
    openCount: (strategy) => (strategy === undefined ? open.size : (counts.get(strategy) ?? 0)),
  };
};

const trackedFrom = (record: OrderRecord, slot: Slot): TrackedOrder => ({
  strategy: slot.strategy,
  slot: slot.name,
  clOrdId: record.clOrdId,
  spec: {
    instId: record.instId,
    side: record.side as Side,
    ordType: record.ordType as OrdType,
    px: record.px,
    sz: record.sz,
    reduceOnly: false,
  },
  wish: undefined,
  mark: "adopted",
  sentAt: Number(record.createdAt),
  ordId: record.ordId,
  phase: record.state,
  record,
  cancelClass: undefined,
  canceling: false,
  reason: "adopted",
});
