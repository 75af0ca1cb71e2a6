/** Values of the service and the engine, for tests of what is said about them. */
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import type { QuotaState } from "../../../src/host/context.ts";
import type { StrategyView } from "../../../src/host/operator-view.ts";
import type { Position } from "../../../src/orders/positions.ts";

export const orderRecord = (given: Partial<OrderRecord> = {}): OrderRecord => ({
  instId: "BTC-USDT-SWAP",
  ordId: "1",
  clOrdId: "c",
  px: "42000.5",
  sz: "50",
  ordType: "limit",
  side: "buy",
  state: "filled",
  avgPx: "42000.5",
  accFillSz: "50",
  fee: "-0.01",
  createdAt: "1767575000000",
  updatedAt: "1767575000000",
  ...given,
});

export const layerState = (layer: string, capacity: number, used: number): QuotaState["layers"][number] => ({
  layer,
  scope: "own",
  capacity,
  used,
  reserved: 0,
  free: capacity - used,
  foreign: 0,
  windowEndsAt: 60_000,
  mode: "measured",
});

export const quotaState = (): QuotaState => ({
  at: 0,
  layers: [layerState("ip", 1_200, 12), layerState("key", 10, 3), layerState("uid", 1_200, 480)],
  queued: 2,
  inFlight: 0,
  spent: {},
});

/** 0.012 BTC held at 60,000 with a profit of 12.34 after fees. */
export const ownPosition = (given: Partial<Position> = {}): Position => ({
  instId: "BTC-USDT-SWAP",
  qty: "0.012",
  avgPx: "60000",
  markPx: "60024.1666",
  currency: "USDT",
  unrealised: "0.29",
  realised: "13.1",
  fees: "1.05",
  profit: "12.34",
  ...given,
});

export const strategyView = (
  positions: readonly Position[] = [ownPosition()],
  given: Partial<StrategyView> = {},
): StrategyView => ({
  name: "ladder",
  user: "main",
  state: "running",
  mode: "active",
  reason: "",
  options: {},
  positions: new Map(positions.map((position) => [position.instId, position])),
  ...given,
});
