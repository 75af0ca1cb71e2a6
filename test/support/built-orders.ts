/** Orders in any state, made by the events that lead there. */
import type { OrderRecord } from "../../src/contract/schemas.ts";
import type { ActionClass, OrderPhase } from "../../src/journal/events.ts";
import { advance, Order, type Terms } from "../../src/orders/order-state.ts";
import type { OrderSpec } from "../../src/orders/wanted-order.ts";

type OrderEvent = Parameters<typeof advance>[1];

export const builtSpec: OrderSpec = {
  instId: "BTC-USDT-SWAP",
  side: "buy",
  ordType: "limit",
  px: "60000",
  sz: "600",
  reduceOnly: false,
};

interface Building extends Partial<Terms> {
  readonly strategy?: string;
  readonly slot?: string;
  readonly clOrdId?: string;
  /** Default `sent`. */
  readonly phase?: OrderPhase;
  /** Fields of the record of an order that has one. */
  readonly record?: Partial<OrderRecord>;
  /** A cancel was asked for, this urgently. */
  readonly cancel?: ActionClass;
  readonly reason?: string;
}

export const builtTerms = (terms: Partial<Terms> = {}): Terms => ({
  spec: builtSpec,
  qty: undefined,
  wanted: undefined,
  wantedQty: undefined,
  withoutFlag: false,
  ...terms,
});

export const builtOrder = (building: Building = {}): Order => {
  const { strategy = "s", slot = "bid", clOrdId = "c", phase = "sent", record = {}, cancel, reason = "" } = building;
  const { spec = builtSpec, qty, wanted, wantedQty, withoutFlag = false } = building;
  const order = new Order(strategy, slot, clOrdId, { spec, qty, wanted, wantedQty, withoutFlag }, reason, 0);
  const { instId, side, ordType, px, sz } = spec;
  const recorded = (state: OrderRecord["state"]): OrderEvent => ({
    type: "recorded",
    record: {
      ...{ instId, side, ordType, px, sz, clOrdId, ordId: `1${clOrdId}`, state, avgPx: "", accFillSz: "0", fee: "0" },
      ...{ createdAt: "1", updatedAt: "1" },
      ...record,
    },
  });
  const asked: OrderEvent[] = cancel === undefined ? [] : [{ type: "cancel", move: "asked", urgency: cancel, reason }];
  for (const event of [...leading(phase, reason, recorded), ...asked, ...ending(phase, recorded)])
    advance(order, event);
  return order;
};

type Recorded = (state: OrderRecord["state"]) => OrderEvent;

const leading = (phase: OrderPhase, reason: string, recorded: Recorded): readonly OrderEvent[] => {
  switch (phase) {
    case "planned":
      return [{ type: "notExecuted", reason }];
    case "acked":
      return [{ type: "acknowledged", ordId: "1" }];
    case "unknown":
    case "absent":
      return [{ type: "doubted", reason, verdict: "" }];
    case "rejected":
      return [{ type: "rejected", reason }];
    case "sent":
      return [];
    case "live":
    case "partially_filled":
    case "canceling":
    case "filled":
    case "canceled":
      return [recorded("live")];
  }
};

const ending = (phase: OrderPhase, recorded: Recorded): readonly OrderEvent[] => {
  if (phase === "canceling") return [{ type: "cancel", move: "sent" }];
  if (phase === "absent") return [{ type: "provedAbsent" }];
  return phase === "filled" || phase === "canceled" || phase === "partially_filled" ? [recorded(phase)] : [];
};
