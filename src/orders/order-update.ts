/**
 * Order update: one of our orders at one moment, as strategies, plugins and embedding programs receive it.
 *
 * Invariants: it is made once for all who listen and frozen.
 * Not here: when it is made (order-lifecycle.ts), state that goes on changing (tracked-order.ts).
 */
import type { OrderRecord } from "../contract/schemas.ts";
import type { OrderPhase } from "../journal/events.ts";
import type { TrackedOrder } from "./tracked-order.ts";
import type { OrderSpec } from "./wanted-order.ts";

export interface OrderUpdate {
  readonly strategy: string;
  readonly slot: string;
  readonly clOrdId: string;
  /** Empty until the service gave it. */
  readonly ordId: string;
  readonly phase: OrderPhase | "refused";
  readonly spec: OrderSpec | undefined;
  /** The service's record as last seen. */
  readonly record: OrderRecord | undefined;
  readonly reason: string;
}

export const updateOf = ({ strategy, slot, clOrdId, ordId, phase, spec, record, reason }: TrackedOrder): OrderUpdate =>
  Object.freeze({ strategy, slot, clOrdId, ordId, phase, spec, record, reason });
