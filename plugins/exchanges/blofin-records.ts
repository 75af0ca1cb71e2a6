/**
 * Records of BloFin v1 in the described service's fields.
 *
 * Invariants: pure; BTC-USDT of the exchange is BTC-USDT-SWAP here and nothing else is; sizes of orders and positions
 * are contracts, those of instruments base currency; contracts settled in coin are left out of the list.
 * Source: public documentation of BloFin v1: the response examples of each endpoint and channel.
 * Not here: envelopes and codes (blofin-dialect.ts).
 */
import { type ChannelArg, type EndpointName, readInstId } from "sluice/dialect";
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

const suffix = "-SWAP";

/** The exchange's id of a swap; it has no spot here. */
export const theirInstId = (instId: string): string => {
  if (instId.endsWith(suffix)) return instId.slice(0, -suffix.length);
  throw new TypeError(`${instId} is no swap, and nothing else is traded at this exchange`);
};

/** Returns our id of the exchange's instrument; a value that is no text is returned unchanged. */
export const ourInstId = (instId: unknown): unknown => (typeof instId === "string" ? `${instId}${suffix}` : instId);

const instId = (record: Raw): unknown => ourInstId(record["instId"]);

/** Returns the records of `data`, which may be a list or a single record. */
const recordsOf = (data: unknown): readonly unknown[] => {
  if (Array.isArray(data)) return data;
  if (Object.keys(recordOf(data)).length === 0) throw new TypeError("a record without a field");
  return [data];
};

/** The records of each read, and of a write that answers with one. */
export const blofinRecords: Readonly<
  Record<Exclude<EndpointName, "placeOrder" | "amendOrder" | "cancelBatch">, (data: unknown) => readonly unknown[]>
> = {
  instruments: (data) => listOf(data).flatMap(instrumentsOf),
  spotBalance: (data) => listOf(isRaw(data) ? data["details"] : data).map(translated(balance)),
  positions: (data) => listOf(data).map(translated(position)),
  getOrder: (data) => recordsOf(data).map(translated(order)),
  pendingOrders: (data) => listOf(data).map(translated(order)),
  orderHistory: (data) => listOf(data).map(translated(order)),
  closePosition: (data) => recordsOf(data).map(translated({ instId, clOrdId: textIfAny("clientOrderId") })),
  setLeverage: (data) => recordsOf(data).map(translated({ instId, lever: amount("leverage"), mgnMode: "marginMode" })),
};

/** The records of a push by channel. */
export const blofinPushes: Readonly<Record<string, (data: unknown, arg: ChannelArg) => readonly unknown[]>> = {
  trades: (data) =>
    listOf(data).map(
      translated({ instId, tradeId: "tradeId", px: amount("price"), sz: amount("size"), side: "side", ts: "ts" }),
    ),
  tickers: (data) => listOf(data).map(translated(ticker)),
  candle1m: (data, arg) => listOf(data).map(minuteOf(volumeAt, arg.instId)),
  orders: blofinRecords.pendingOrders,
  positions: blofinRecords.positions,
  account: blofinRecords.spotBalance,
};

/** Index of a candle's volume in base currency; the volume in contracts is in front of it. */
const volumeAt = 6;

const order: RecordTable = {
  instId,
  ordId: "orderId",
  clOrdId: textIfAny("clientOrderId"),
  px: priceIfAny("price"),
  sz: amount("size"),
  ordType: "orderType",
  side: "side",
  state: "state",
  avgPx: priceIfAny("averagePrice"),
  accFillSz: amount("filledSize"),
  fee: amount("fee"),
  createdAt: "createTime",
  updatedAt: "updateTime",
};

const balance: RecordTable = {
  currency: "currency",
  balance: amount("balance"),
  available: amount("available"),
  frozen: amount("frozen"),
};

const position: RecordTable = {
  instId,
  // In the mode of two sides a size has no sign and an instrument two records: not read, because the sign would be
  // lost.
  pos: ({ positions, positionSide }) =>
    isNone(positionSide) || positionSide === "net" ? exact(positions) : `${String(positionSide)} ${String(positions)}`,
  avgPx: priceIfAny("averagePrice"),
  markPx: priceIfAny("markPrice"),
  lever: amountIfAny("leverage"),
  margin: ({ margin, initialMargin }) =>
    isNone(margin) ? (isNone(initialMargin) ? undefined : exact(initialMargin)) : exact(margin),
  upl: amountIfAny("unrealizedPnl"),
  liqPx: priceIfAny("liquidationPrice"),
  mgnMode: "marginMode",
  updatedAt: "updateTime",
};

const ticker: RecordTable = {
  instId,
  last: textIfAny("last"),
  bidPx: textIfAny("bidPrice"),
  bidSz: textIfAny("bidSize"),
  askPx: textIfAny("askPrice"),
  askSz: textIfAny("askSize"),
  ts: "ts",
};

const instrument: RecordTable = {
  instId,
  instType: "instType",
  baseCurrency: "baseCurrency",
  quoteCurrency: "quoteCurrency",
  settleCurrency: "settleCurrency",
  tickSize: amount("tickSize"),
  lotSize: ({ lotSize, contractValue }) => product(lotSize, contractValue),
  minSize: ({ minSize, contractValue }) => product(minSize, contractValue),
  contractValue: amount("contractValue"),
  maxLeverage: amountIfAny("maxLeverage"),
  state: "state",
};

const orElse = (given: unknown, fallback: string | undefined): unknown =>
  given === undefined || given === "" ? fallback : given;

/**
 * Returns the instrument, or none for a kind that is not traded here; a value that is no record is kept to be reported.
 */
const instrumentsOf = (item: unknown): readonly unknown[] => {
  if (!isRaw(item)) return [item];
  const parts = readInstId(instId(item));
  // Older records have neither of these two.
  const contractType = orElse(item["contractType"], "linear");
  const settleCurrency = orElse(item["settleCurrency"], parts?.quote);
  const isTraded =
    item["instType"] === "SWAP" && contractType === "linear" && parts !== undefined && settleCurrency === parts.quote;
  return isTraded ? [translated(instrument)({ ...item, settleCurrency })] : [];
};
