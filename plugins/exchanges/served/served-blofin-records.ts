/**
 * Records of BloFin v1, made of the described service's.
 *
 * Invariants: a swap has the id of its pair; sizes are contracts; decimals of orders have eighteen places, what there
 * is none of is zero or null; a field that the venue knows nothing about is left out.
 * Not here: envelopes and calls (served-blofin-calls.ts), sockets (served-blofin-sockets.ts).
 */

import { compare, mul, parseInstId } from "sluice";
import { instTypeOf } from "sluice/dialect";
import type { Service } from "sluice/plugins/venue-server";
import { quoteOf, sizeOf } from "./wire-fields.ts";

type OurRecord = Readonly<Record<string, string>>;
export type BlofinRecord = Readonly<Record<string, unknown>>;

/** Returns the exchange's id of an instrument. Only swaps are traded: BTC-USDT is the venue's BTC-USDT-SWAP. */
export const theirId = (instId: string): string => instId.replace(/-SWAP$/, "");
export const ourId = (instId: string): string => `${instId}-SWAP`;
export const isOffered = ({ instId = "" }: OurRecord): boolean => instTypeOf(instId) === "SWAP";

const places = 18;

/** Decimal text with all its places. */
const padded = (text: string): string => {
  const [whole = "0", fraction = ""] = (text === "" ? "0" : text).split(".");
  return `${whole}.${fraction.padEnd(places, "0")}`;
};

export const instrumentOf = (service: Service, record: OurRecord): BlofinRecord => {
  const { instId = "", tickSize, lotSize = "", minSize = "", maxLeverage, contractValue } = record;
  const { base, quote } = parseInstId(instId, "venue");
  return {
    instId: theirId(instId),
    baseCurrency: base,
    quoteCurrency: quote,
    settleCurrency: quote,
    contractValue,
    maxLeverage,
    minSize: sizeOf(service, instId, minSize),
    lotSize: sizeOf(service, instId, lotSize),
    tickSize,
    instType: "SWAP",
    contractType: "linear",
    state: "live",
  };
};

export const orderOf = ({ listing }: Service, record: OurRecord): BlofinRecord => {
  const { instId = "", ordId, clOrdId, side, ordType, state, createdAt, updatedAt } = record;
  const { px = "", sz = "", avgPx = "", accFillSz = "0", fee = "" } = record;
  return {
    orderId: ordId,
    clientOrderId: clOrdId,
    instId: theirId(instId),
    positionSide: "net",
    side,
    orderType: ordType,
    price: padded(px),
    size: padded(sz),
    state: state === "canceled" && compare(accFillSz, "0") !== 0 ? "partially_canceled" : state,
    filledSize: padded(accFillSz),
    filled_amount: padded(mul(accFillSz, listing(instId)?.contractValue ?? "1")),
    averagePrice: padded(avgPx),
    fee: padded(fee),
    createTime: createdAt,
    updateTime: updatedAt,
    orderCategory: "normal",
    tpTriggerPrice: null,
    tpOrderPrice: null,
    slTriggerPrice: null,
    slOrderPrice: null,
    brokerId: "",
  };
};

export const positionOf = (record: OurRecord): BlofinRecord => {
  const {
    instId = "",
    pos,
    avgPx = "",
    markPx = "",
    lever = "",
    upl = "",
    liqPx = "",
    mgnMode = "",
    margin = "",
    updatedAt = "",
  } = record;
  return {
    instId: theirId(instId),
    instType: "SWAP",
    marginMode: mgnMode,
    positionSide: "net",
    positions: pos,
    availablePositions: pos,
    averagePrice: avgPx,
    markPrice: markPx,
    leverage: lever,
    liquidationPrice: liqPx,
    unrealizedPnl: upl,
    ...(mgnMode === "isolated" ? { margin } : { initialMargin: margin, margin: "" }),
    settleCurrency: quoteOf(instId),
    updateTime: updatedAt,
  };
};

/** One account with a row for each currency. */
export const accountOf = (records: readonly OurRecord[], ts: string): BlofinRecord => ({
  ts,
  totalEquity: "",
  isolatedEquity: "",
  details: records.map(({ currency, balance, available, frozen }) => ({
    currency,
    equity: balance,
    balance,
    ts,
    available,
    availableEquity: available,
    frozen,
    orderFrozen: frozen,
    bonus: "0",
  })),
});
