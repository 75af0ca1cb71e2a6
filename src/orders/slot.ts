/**
 * Slot: the stable place of one wanted order of a strategy, and of the order that was sent for it.
 *
 * Not here: its next step (slot-step.ts), why it waits (waits.ts), all of them (slots.ts).
 */
import { SluiceError } from "../errors.ts";
import type { FollowUp } from "./follow-up.ts";
import type { Order } from "./order-state.ts";
import type { WantedOrder } from "./wanted-order.ts";

/** A placement that waits in the scheduler, with the wanted order for which it was queued. */
export interface QueuedPlacement {
  readonly wanted: WantedOrder;
  withdraw(): void;
}

export type SlotKind = "declared" | "byHand" | "reserved" | "closing" | "late";

export class Slot {
  readonly strategy: string;
  readonly name: string;
  readonly hash: string;
  /** True if the slot is not part of the declared set: it holds an order placed by hand, or it is reserved. */
  readonly byHand: boolean;
  /** True if the slot is the engine's own, for an order that closes a protected position. */
  readonly reserved: boolean;
  /** True if the slot is reserved for closing on demand. It may place orders even while trading is halted. */
  readonly closing: boolean;
  /**
   * True if the slot is reserved for a stop whose own slot is taken by an order that cannot be canceled. It does not
   * wait for that cancel.
   */
  readonly isLate: boolean;
  wanted: WantedOrder | undefined = undefined;
  order: Order | undefined = undefined;
  /** True if its wanted order has changed since its order was last compared (plan.ts). */
  isUncompared = false;
  queued: QueuedPlacement | undefined = undefined;
  /**
   * The wanted order that was settled here (filled, refused or canceled on purpose) and has been repeated ever since.
   */
  settled: WantedOrder | undefined = undefined;
  /**
   * An order of a previous run that the service ended and that no wanted order of this run has been compared with yet.
   */
  inherited: Order | undefined = undefined;
  /** True if the settled wanted order was refused by a rule and may pass when instruments change. */
  refused = false;
  /** The most recent refusal that was reported. */
  refusal: { readonly wanted: WantedOrder; readonly reason: string; readonly at: number } | undefined = undefined;
  /** The limit on money that the wanted order broke, with the reason that was reported. */
  limited: { readonly wanted: WantedOrder; readonly limit: string; readonly reason: string } | undefined = undefined;
  /** An order that a rate limit kept from being executed. Its id is used again. */
  spare: Order | undefined = undefined;
  /** The latest set of its strategy that contains it. */
  round = 0;
  /** Order that will follow for the remaining quantity of the wanted order. */
  followUp: FollowUp | undefined = undefined;
  /** Set while the exit that is wanted here is not in force and this was reported. */
  unprotected: Pick<WantedOrder, "instId" | "side"> | undefined = undefined;

  constructor(strategy: string, name: string, hash: string, kind: SlotKind) {
    this.strategy = strategy;
    this.name = name;
    this.hash = hash;
    this.byHand = kind !== "declared";
    this.reserved = kind === "reserved" || kind === "closing" || kind === "late";
    this.closing = kind === "closing";
    this.isLate = kind === "late";
  }
}

const fewMax = 8;

/** Checks that no two orders of a set share a slot. */
export const checkNames = (strategy: string, wanted: readonly WantedOrder[]): void => {
  if (wanted.length > fewMax) {
    const named = new Set<string>();
    for (const { slot } of wanted) {
      if (named.has(slot)) throw shared(strategy, slot);
      named.add(slot);
    }
    return;
  }
  for (let index = 1; index < wanted.length; index++) {
    const { slot } = wanted[index] as WantedOrder;
    for (let before = 0; before < index; before++) if (wanted[before]?.slot === slot) throw shared(strategy, slot);
  }
};

const shared = (strategy: string, slot: string): SluiceError =>
  new SluiceError(
    "ORDER_REFUSED",
    `${strategy}: two wanted orders have the slot "${slot}". Give every order of a set its own slot.`,
  );

/** Returns true for a name that the framework gave to an order placed by hand. It means nothing to a later run. */
export const isNumbered = (name: string): boolean => name.startsWith("#");

/** The slot of a closing order that leaves although an order in the slot `exitSlot` cannot be canceled. */
export const lateSlotOf = (exitSlot: string): string => `${exitSlot}.late`;

/** The slot of closing orders of a protection. `count` numbers several protections of one name, from 1. */
export const exitSlotOf = (name: string, count: number): string => `${name}.exit${count === 1 ? "" : count}`;

const exitSlotForm = /^(.*)\.exit\d*(?:\.late)?$/;

/** Name of the protection that uses a slot for its closing orders; undefined for other slots. */
export const protectionIn = (slot: string): string | undefined => exitSlotForm.exec(slot)?.[1];
