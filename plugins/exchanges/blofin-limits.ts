/**
 * Rate limits of BloFin v1 as layers.
 *
 * Source: public documentation of BloFin v1, "Rate Limits" and "Connection Limits". Which calls are "trading-related"
 * is not documented, so every call of a user counts as one. Sliding windows are not documented either. Both are the
 * strictest reading.
 */
import type { LayerSpec } from "sluice/dialect";

const minuteMs = 60_000;
const perUser = [
  ...(["spotBalance", "positions", "getOrder", "pendingOrders", "orderHistory"] as const),
  ...(["placeOrder", "cancelBatch", "closePosition", "setLeverage"] as const),
];

export const blofinLayers: readonly LayerSpec[] = [
  // 500 requests a minute of an address, else suspended for 5 minutes.
  {
    name: "minute",
    scope: "ip",
    unit: "requests",
    capacity: 500,
    windowMs: minuteMs,
    anchor: "sliding",
    banMs: 5 * minuteMs,
  },
  // 1,500 requests in 5 minutes of an address, else suspended for an hour.
  {
    name: "five-minutes",
    scope: "ip",
    unit: "requests",
    capacity: 1_500,
    windowMs: 5 * minuteMs,
    anchor: "sliding",
    banMs: 60 * minuteMs,
  },
  // Trading: 30 requests in 10 seconds of a user.
  {
    name: "trading",
    scope: "uid",
    unit: "requests",
    capacity: 30,
    windowMs: 10_000,
    anchor: "sliding",
    endpoints: perUser,
    banMs: 0,
  },
  // One new connection a second of an address; each is charged as an unsigned call of this endpoint.
  {
    name: "connect",
    scope: "ip",
    unit: "requests",
    capacity: 1,
    windowMs: 1_000,
    anchor: "sliding",
    endpoints: ["instruments"],
    banMs: 0,
  },
];
