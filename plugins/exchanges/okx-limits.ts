/**
 * Rate limits of OKX v5 as layers.
 *
 * Source: public documentation of OKX v5: "Rate Limit" of each endpoint, "Sub-account rate limit", "Connect". Batches
 * of cancels may be of several products, so theirs counts for the user as a whole, which is stricter than each product
 * by itself. That windows slide is not documented; it is the strictest reading.
 */
import type { EndpointName, LayerSpec } from "sluice/dialect";

const windowMs = 2_000;

const layer = (
  name: string,
  scope: LayerSpec["scope"],
  capacity: number,
  endpoints: readonly EndpointName[],
  part: Partial<LayerSpec> = {},
): LayerSpec => ({
  name,
  scope,
  unit: "requests",
  capacity,
  windowMs,
  anchor: "sliding",
  endpoints,
  banMs: 0,
  ...part,
});

export const okxLayers: readonly LayerSpec[] = [
  // POST trade/order: 60 requests per 2 s, by user and instrument.
  layer("place", "instrument", 60, ["placeOrder"]),
  // POST trade/amend-order: 60 requests per 2 s, by user and instrument.
  layer("amend", "instrument", 60, ["amendOrder"]),
  // POST trade/cancel-batch-orders: 300 orders per 2 s, by user and instrument.
  layer("cancel", "uid", 300, ["cancelBatch"], { unit: "elements" }),
  // GET trade/order: 60 requests per 2 s, by user and instrument; GET trade/orders-pending: 60 requests per 2 s, by
  // user.
  layer("order", "instrument", 60, ["getOrder"]),
  layer("pending", "uid", 60, ["pendingOrders"]),
  // GET trade/orders-history: 40 requests per 2 s, by user.
  layer("history", "uid", 40, ["orderHistory"]),
  // GET account/balance, GET account/positions: 10 requests per 2 s each, by user.
  layer("balance", "uid", 10, ["spotBalance"]),
  layer("positions", "uid", 10, ["positions"]),
  // POST account/set-leverage, POST trade/close-position: 20 requests per 2 s each, by user.
  layer("leverage", "uid", 20, ["setLeverage"]),
  layer("close", "uid", 20, ["closePosition"]),
  // GET public/instruments: 20 requests per 2 s, by address.
  layer("instruments", "ip", 20, ["instruments"]),
  // 1,000 new orders per 2 s of a sub-account, for all instruments together.
  layer("sub-account", "uid", 1_000, ["placeOrder", "amendOrder", "closePosition"]),
  // 3 connections a second to the sockets of an address; each is charged as an unsigned call of this endpoint.
  layer("connect", "ip", 3, ["instruments"], { windowMs: 1_000 }),
];
