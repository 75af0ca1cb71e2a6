/**
 * Records of OKX v5, made of the described service's.
 *
 * Invariants: all fields are text; sizes of swaps are contracts; a field that the venue knows nothing about is left
 * out, or empty where readers expect it.
 * Not here: envelopes and calls (served-okx-calls.ts), sockets (served-okx-sockets.ts).
 */

import { div, isPositive, parseInstId } from "sluice";
import { instTypeOf } from "sluice/dialect";
import type { Service } from "sluice/plugins/venue-server";
import { quoteOf, sizeOf } from "./wire-fields.ts";

type OurRecord = Readonly<Record<string, string>>;
export type OkxRecord = Readonly<Record<string, unknown>>;

export const instrumentOf = (service: Service, record: OurRecord): OkxRecord => {
  const { instId = "", tickSize, lotSize = "", minSize = "", maxLeverage = "" } = record;
  const { base, quote } = parseInstId(instId, "venue");
  const swap = instTypeOf(instId) === "SWAP";
  const onSwap = (text: string): string => (swap ? text : "");
  const onSpot = (text: string): string => (swap ? "" : text);
  return {
    instType: instTypeOf(instId),
    instId,
    uly: onSwap(`${base}-${quote}`),
    instFamily: onSwap(`${base}-${quote}`),
    baseCcy: onSpot(base),
    quoteCcy: onSpot(quote),
    settleCcy: onSwap(quote),
    ctVal: onSwap(record["contractValue"] ?? ""),
    ctMult: onSwap("1"),
    ctValCcy: onSwap(base),
    ctType: onSwap("linear"),
    tickSz: tickSize,
    lotSz: sizeOf(service, instId, lotSize),
    minSz: sizeOf(service, instId, minSize),
    lever: maxLeverage,
    state: "live",
    ruleType: "normal",
    alias: "",
    category: "1",
    expTime: "",
    listTime: "",
    optType: "",
    stk: "",
  };
};

export const orderOf = (record: OurRecord): OkxRecord => {
  const { instId = "", createdAt, updatedAt, szUnit, side, ordType, fee: _fee, ...rest } = record;
  const spot = instTypeOf(instId) === "SPOT";
  const target = szUnit === "quote_notional" ? "quote_ccy" : spot && ordType === "market" ? "base_ccy" : "";
  return {
    instType: instTypeOf(instId),
    instId,
    ...rest,
    side,
    ordType,
    tgtCcy: target,
    posSide: "net",
    ...feeOf(record),
    category: "normal",
    tag: "",
    cTime: createdAt,
    uTime: updatedAt,
  };
};

const places = 18;

/**
 * Returns the fee fields of a record: for swaps one amount; for spot the charge and the rebate, each in the currency
 * that the order received. The rebate of a sale is included in its fee and reported again in coins.
 */
const feeOf = ({ instId = "", side, fee = "0", avgPx = "" }: OurRecord): OkxRecord => {
  const { base, quote, instType } = parseInstId(instId, "venue");
  if (instType === "SWAP") return { fee, feeCcy: quote };
  const currency = side === "buy" ? base : quote;
  const isRebate = isPositive(fee);
  if (isRebate && side === "sell") return { fee, feeCcy: quote, rebate: div(fee, avgPx, places), rebateCcy: base };
  return { fee: isRebate ? "0" : fee, feeCcy: currency, rebate: isRebate ? fee : "0", rebateCcy: currency };
};

export const positionOf = (record: OurRecord): OkxRecord => {
  const {
    instId = "",
    pos,
    avgPx,
    markPx = "",
    lever = "",
    upl = "",
    liqPx = "",
    mgnMode = "",
    margin = "",
    updatedAt = "",
  } = record;
  return {
    instType: "SWAP",
    instId,
    ccy: quoteOf(instId),
    posSide: "net",
    pos,
    avgPx,
    markPx,
    lever,
    mgnMode,
    // Margin of an isolated position; a cross position has an initial margin requirement instead.
    margin: mgnMode === "isolated" ? margin : "",
    imr: mgnMode === "isolated" ? "" : margin,
    upl,
    liqPx,
    uTime: updatedAt,
  };
};

/** One account with a row for each currency. */
export const accountOf = (records: readonly OurRecord[], at = ""): OkxRecord => ({
  uTime: at,
  totalEq: "",
  details: records.map(({ currency, balance, available, frozen }) => ({
    ccy: currency,
    cashBal: balance,
    eq: balance,
    availBal: available,
    availEq: available,
    frozenBal: frozen,
    ordFrozen: frozen,
    uTime: at,
  })),
});
