/**
 * A small service to knock at: two users, three keys, a spot pair and two swaps, and short ways to call it.
 */
import { createContract } from "../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import type { BalanceRecord, ElementResult, OrderRecord, PositionRecord } from "../../../src/contract/schemas.ts";
import {
  createVenue,
  type Fill,
  type VenueInstrument,
  type VenueOptions,
  type VenueResponse,
} from "../../../src/venue/venue.ts";

export const swap = "BTC-USDT-SWAP";
export const spot = "BTC-USDT";

export const instruments: readonly VenueInstrument[] = [
  { instId: swap, tickSize: "0.1", lotSize: "0.001", maxLeverage: "50" },
  { instId: spot, tickSize: "0.1", lotSize: "0.001" },
  { instId: "ETH-USDT-SWAP", tickSize: "0.01", lotSize: "0.01", contractValue: "0.1" },
];

/** Prices and quantities of the BTC products in steps of their book. */
const ticks = (px: number): number => Math.round(px * 10);
const lots = (qty: number): number => Math.round(qty * 1000);

export const everything = ["read", "trade_futures", "trade_spot"] as const;

export interface Body {
  readonly code: string;
  readonly msg: string;
  readonly data: readonly Readonly<Record<string, string>>[];
}

export type Reply = Omit<VenueResponse, "body"> & { readonly body: Body };

export interface CallOptions {
  readonly key?: string | undefined;
  readonly ip?: string;
  readonly at?: number;
}

export const setting = (profile: ProfileOverrides = {}, options: Partial<VenueOptions> = {}) => {
  const venue = createVenue({
    contract: createContract(profile),
    instruments,
    users: [
      {
        uid: "ann",
        keys: [
          { name: "ann-1", permissions: everything },
          { name: "ann-2", permissions: everything },
          { name: "ann-read", permissions: ["read"] },
        ],
        balances: { USDT: "100000", BTC: "10" },
      },
      { uid: "bob", keys: [{ name: "bob-1", permissions: everything }], balances: { USDT: "100000", BTC: "10" } },
    ],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: false,
    ...options,
  });
  // Far from a minute's edge; tests about windows name their own instants.
  let now = 1_700_000_000_000;
  const fills: Fill[] = [];
  const changes: { readonly uid: string; readonly record: OrderRecord; readonly at: number }[] = [];
  venue.onFill((fill) => fills.push(fill));
  venue.onOrder((uid, record, at) => changes.push({ uid, record, at }));
  const send = (method: string, path: string, input: unknown, call: CallOptions = {}): Reply => {
    const { ip = "1.1.1.1", at } = call;
    now = at ?? now + 1;
    const query = method === "GET" ? (input as Record<string, string>) : {};
    const body = method === "GET" ? undefined : input;
    // A key named as undefined means a request without one; not naming it means Ann's first.
    const key = "key" in call ? call.key : "ann-1";
    return venue.handle({ method, path: `/api/v1/${path}`, query, body, key, ip }, now) as Reply;
  };
  const read = (path: string, query: Record<string, string> = {}, call: CallOptions = {}): Reply =>
    send("GET", path, query, call);
  const write = (path: string, body: unknown, call: CallOptions = {}): Reply => send("POST", path, body, call);
  const place = (order: Record<string, unknown>, call: CallOptions = {}): Reply =>
    write("trade/order", { instId: swap, side: "buy", ordType: "limit", px: "60000", sz: "600", ...order }, call);
  const ids = (reply: Reply): string[] => reply.body.data.map((record) => record["ordId"] ?? "");
  return {
    venue,
    fills,
    changes,
    send,
    read,
    write,
    place,
    ids,
    moment: () => now,
    trade: (instId: string, side: "buy" | "sell", px: number, qty: number): void => {
      venue.trade(instId, side, ticks(px), lots(qty), ++now);
    },
    quote: (instId: string, bidPx: number, bidQty: number, askPx: number, askQty: number): void => {
      venue.quote(instId, ticks(bidPx), lots(bidQty), ticks(askPx), lots(askQty), ++now);
    },
    level: (instId: string, side: "buy" | "sell", px: number, qty: number): void => {
      venue.level(instId, side, ticks(px), lots(qty), ++now);
    },
    /** Places and returns the id; fails the test when it was refused. */
    placed: (order: Record<string, unknown>, call: CallOptions = {}): string => {
      const reply = place(order, call);
      if (reply.body.code !== "0") throw new Error(`refused: ${reply.body.code} ${reply.body.msg}`);
      return ids(reply)[0] ?? "";
    },
    order: (ordId: string, uid = "ann"): OrderRecord => {
      const found = venue.truth(uid).orders.find((order) => order.ordId === ordId);
      if (found === undefined) throw new Error(`no order ${ordId}`);
      return found;
    },
    balance: (currency: string, uid = "ann"): BalanceRecord | undefined =>
      venue.truth(uid).balances.find((balance) => balance.currency === currency),
    position: (instId = swap, uid = "ann"): PositionRecord | undefined =>
      venue.truth(uid).positions.find((position) => position.instId === instId),
    results: (reply: Reply): readonly ElementResult[] => reply.body.data as unknown as readonly ElementResult[],
  };
};
