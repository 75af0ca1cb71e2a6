/**
 * Records of OKX v5 in the described service's fields.
 *
 * Invariants: pure; swaps that are not settled in their quote currency are left out of the list of instruments, orders
 * of products that are not listed are left out of pushes; spot sizes count base currency, sizes of swaps contracts,
 * sizes of instruments base currency.
 * Source: public documentation of OKX v5: the response tables of each endpoint and channel.
 * Not here: envelopes and codes (okx-dialect.ts).
 */

import { compare, isDecimal, sum } from "sluice";
import { type ChannelArg, type EndpointName, plain, readInstId } from "sluice/dialect";
import { listOf, recordOf } from "./exchange-answer.ts";
import { minuteOf } from "./exchange-socket.ts";
import {
  amount,
  amountIfAny,
  exact,
  isNone,
  isRaw,
  priceIfAny,
  product,
  type Raw,
  type RecordTable,
  textIfAny,
  translated,
} from "./record-table.ts";

/** The records of each read, and of a write that answers with one. */
export const okxRecords: Readonly<
  Record<Exclude<EndpointName, "placeOrder" | "amendOrder" | "cancelBatch">, (data: unknown) => readonly unknown[]>
> = {
  instruments: (data) => listOf(data).flatMap(instrumentsOf),
  spotBalance: (data) =>
    listOf(data).flatMap((account) => listOf(recordOf(account)["details"]).map((item) => translated(balance)(item))),
  positions: (data) => listOf(data).map((item) => translated(position)(item)),
  getOrder: (data) => ordersOf(data),
  pendingOrders: (data) => ordersOf(data),
  orderHistory: (data) => ordersOf(data),
  closePosition: (data) => listOf(data).map(translated({ instId: "instId", clOrdId: textIfAny("clOrdId") })),
  setLeverage: (data) => listOf(data).map(translated({ instId: "instId", lever: amount("lever"), mgnMode: "mgnMode" })),
};

/** The records of a push by channel. */
export const okxPushes: Readonly<Record<string, (data: unknown, arg: ChannelArg) => readonly unknown[]>> = {
  trades: (data) =>
    listOf(data).map(
      translated({ instId: "instId", tradeId: "tradeId", px: amount("px"), sz: amount("sz"), side: "side", ts: "ts" }),
    ),
  tickers: (data) => listOf(data).map(translated(ticker)),
  candle1m: (data, { instId }) =>
    listOf(data).map(minuteOf(readInstId(instId)?.instType === "SWAP" ? swapVolumeAt : spotVolumeAt, instId)),
  orders: (data) => listOf(data).filter(isTraded).map(translated(order)),
  positions: (data) => listOf(data).filter(isTraded).map(translated(position)),
  account: okxRecords.spotBalance,
};

/**
 * Indexes of a candle's volume in base currency: on spot the first volume, on swaps the second, behind the one in
 * contracts.
 */
const [spotVolumeAt, swapVolumeAt] = [5, 6];

const isTraded = (item: unknown): boolean =>
  !isRaw(item) || isNone(item["instType"]) || item["instType"] === "SPOT" || item["instType"] === "SWAP";

const ordersOf = (data: unknown): readonly unknown[] => listOf(data).map(translated(order));

const order: RecordTable = {
  instId: "instId",
  ordId: "ordId",
  clOrdId: textIfAny("clOrdId"),
  px: priceIfAny("px"),
  // The base quantity of a market order with a quote amount is known only as far as it was executed.
  sz: ({ tgtCcy, sz, accFillSz }) => exact(tgtCcy === "quote_ccy" ? accFillSz : sz),
  ordType: "ordType",
  side: "side",
  state: "state",
  avgPx: priceIfAny("avgPx"),
  accFillSz: amount("accFillSz"),
  fee: (record) => feeOf(record).fee,
  feeCcy: (record) => feeOf(record).feeCcy,
  createdAt: "cTime",
  updatedAt: "uTime",
};

interface Fee {
  readonly fee: unknown;
  /** Fee currency; absent if the profile defines it, or if no fee was charged. */
  readonly feeCcy?: string;
}

/**
 * Returns the fee of a record. On swaps it is one amount. On spot there are a fee and a rebate, each in a currency of
 * its own: the fee of a purchase mostly in the coin bought. A fee in a third currency has no price here and is left
 * out; so is a rebate in quote currency next to a fee in base currency, because a record has one fee. The fee of a sale
 * in quote currency already includes its rebate: a rebate in base currency next to it is the same amount in another
 * unit.
 */
const feeOf = (record: Raw): Fee => {
  const { instId, instType, side, fee, feeCcy, rebate, rebateCcy } = record;
  const parts = readInstId(instId);
  if (instType !== "SPOT" || parts === undefined) return { fee: exact(fee) };
  const isWhole = side === "sell" && rebateCcy === parts.base && isDecimal(fee) && compare(fee, "0") !== 0;
  if (isWhole && feeCcy === parts.quote) return { fee: plain(fee), feeCcy: parts.quote };
  const amounts = [
    { currency: feeCcy, value: fee },
    { currency: rebateCcy, value: rebate },
  ].flatMap(({ currency, value }) => (isDecimal(value) && compare(value, "0") !== 0 ? [{ currency, value }] : []));
  if (amounts.length === 0) return { fee: exact(fee) };
  for (const currency of [parts.base, parts.quote]) {
    const taken = amounts.filter((one) => one.currency === currency).map(({ value }) => value);
    if (taken.length > 0) return { fee: sum(taken), feeCcy: currency };
  }
  return { fee: "" };
};

const balance: RecordTable = {
  currency: "ccy",
  balance: amount("cashBal"),
  // Where margin is shared among currencies, only equity is reported.
  available: ({ availBal, availEq }) => exact(isNone(availBal) ? availEq : availBal),
  frozen: amount("frozenBal"),
};

const position: RecordTable = {
  instId: "instId",
  // In the mode of two sides a size has no sign and an instrument two records: not read, because the sign would be
  // lost.
  pos: ({ pos, posSide }) => (isNone(posSide) || posSide === "net" ? exact(pos) : `${String(posSide)} ${String(pos)}`),
  avgPx: priceIfAny("avgPx"),
  markPx: priceIfAny("markPx"),
  lever: amountIfAny("lever"),
  // Margin of an isolated position; for a cross position the value of `imr` is used.
  margin: ({ margin, imr }) => (isNone(margin) ? (isNone(imr) ? undefined : exact(imr)) : exact(margin)),
  upl: amountIfAny("upl"),
  liqPx: priceIfAny("liqPx"),
  mgnMode: "mgnMode",
  updatedAt: "uTime",
};

const ticker: RecordTable = {
  instId: "instId",
  last: textIfAny("last"),
  bidPx: textIfAny("bidPx"),
  bidSz: textIfAny("bidSz"),
  askPx: textIfAny("askPx"),
  askSz: textIfAny("askSz"),
  ts: "ts",
};

const spot: RecordTable = {
  instId: "instId",
  instType: "instType",
  baseCurrency: "baseCcy",
  quoteCurrency: "quoteCcy",
  settleCurrency: "quoteCcy",
  tickSize: amount("tickSz"),
  lotSize: amount("lotSz"),
  minSize: amount("minSz"),
  // Market data of spot counts base currency where that of swaps counts contracts.
  contractValue: () => "1",
  state: "state",
};

const swap: RecordTable = {
  instId: "instId",
  instType: "instType",
  baseCurrency: "ctValCcy",
  quoteCurrency: "settleCcy",
  settleCurrency: "settleCcy",
  tickSize: amount("tickSz"),
  lotSize: (record) => product(record["lotSz"], contractOf(record)),
  minSize: (record) => product(record["minSz"], contractOf(record)),
  contractValue: (record) => contractOf(record),
  maxLeverage: amountIfAny("lever"),
  state: "state",
};

const contractOf = ({ ctVal, ctMult }: Raw): unknown => (isNone(ctMult) ? exact(ctVal) : product(ctVal, ctMult));

/**
 * Returns the instrument, or none for a kind that is not traded here; a value that is no record is kept to be reported.
 */
const instrumentsOf = (item: unknown): readonly unknown[] => {
  if (!isRaw(item)) return [item];
  const { instId, instType, ctType, ctValCcy, settleCcy } = item;
  const parts = readInstId(instId);
  if (parts === undefined || parts.instType !== instType) return [];
  if (instType === "SPOT") return [translated(spot)(item)];
  return ctType === "linear" && ctValCcy === parts.base && settleCcy === parts.quote ? [translated(swap)(item)] : [];
};
