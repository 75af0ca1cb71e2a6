/**
 * One example of everything that crosses the wire, as a service of the given profile would write it.
 *
 * Invariants: pure and the same at every call; every example fits its schema (a test holds them to it); units, signs
 * and spellings follow the profile.
 */
import { type Contract, type EndpointName, type Profile, wire } from "sluice/dialect";
import { type Json, publishedRecord } from "./published.ts";

const { schemas } = wire;

const swap = "BTC-USDT-SWAP";
const ordId = "1000000000000000001";
const clOrdId = "example1";
/** The example's instant, milliseconds since the Unix epoch. */
export const exampleAt = 1_700_000_000_000;

/** 0.01 BTC at 60000, in each unit a size may have; one contract is 0.001 BTC. */
const sizes: Readonly<Record<wire.SzUnit, string>> = { quote_notional: "600", base: "0.01", contracts: "10" };
const perMs = { ms: 1, s: 0.001, us: 1_000 } as const;

const timeOf = ({ order }: Profile): string => String(exampleAt * perMs[order.timeUnit]);

const orderExample = (profile: Profile, state: "live" | "filled"): Json => {
  const { order } = profile;
  const sz = sizes[order.szUnit.SWAP];
  const filled = state === "filled";
  const fee = order.feeSign === "negative_is_cost" ? "-0.12" : "0.12";
  return {
    instId: swap,
    ordId,
    clOrdId,
    px: "60000",
    sz,
    ordType: order.ordTypes[0] ?? "limit",
    side: order.sides[0] ?? "buy",
    state,
    avgPx: filled ? "60000" : order.emptyDecimal,
    accFillSz: filled ? sz : "0",
    fee: filled ? fee : "0",
    createdAt: timeOf(profile),
    updatedAt: timeOf(profile),
  };
};

const instrumentExample = (profile: Profile): Json =>
  publishedRecord(
    profile,
    {
      instId: swap,
      instType: "SWAP",
      baseCurrency: "BTC",
      quoteCurrency: "USDT",
      settleCurrency: "USDT",
      tickSize: "0.1",
      lotSize: "0.001",
      minSize: "0.001",
      contractValue: "0.001",
      maxLeverage: "50",
      state: "live",
    },
    schemas.instrumentRecord,
  );

const positionExample = (profile: Profile): Json => ({
  instId: swap,
  pos: profile.order.szUnit.SWAP === "contracts" ? "10" : "0.01",
  avgPx: "60000",
  markPx: "60010.5",
  lever: "10",
  margin: "60",
  upl: "0.105",
  mgnMode: "cross",
  updatedAt: timeOf(profile),
});

const balance: Json = { currency: "USDT", balance: "1000", available: "940", frozen: "60" };

const resultExample = (profile: Profile, sCode: string, sMsg: string): Json =>
  publishedRecord(profile, { ordId, clOrdId, sCode, sMsg }, schemas.elementResult);

/** The records of one success. The batch shows both endings of an element. */
export const exampleRecords = ({ profile }: Contract, name: EndpointName): readonly Json[] => {
  switch (name) {
    case "instruments":
      return [instrumentExample(profile)];
    case "spotBalance":
      return [balance];
    case "positions":
      return [positionExample(profile)];
    case "getOrder":
    case "pendingOrders":
      return [orderExample(profile, "live")];
    case "orderHistory":
      return [orderExample(profile, "filled")];
    case "placeOrder":
    case "amendOrder":
      return [resultExample(profile, "0", "")];
    case "cancelBatch":
      return [
        resultExample(profile, "0", ""),
        resultExample(profile, profile.answers.notCancelableCode, "The order does not exist or is already complete."),
      ];
    case "closePosition":
      return [{ instId: swap, clOrdId: "" }];
    case "setLeverage":
      return [{ instId: swap, lever: "10", mgnMode: "cross" }];
  }
};

/** Values of query parameters by name, or of the whole body. */
export const exampleInput = ({ profile }: Contract, name: EndpointName): unknown => {
  switch (name) {
    case "instruments":
      return { instType: "SWAP", instId: swap };
    case "spotBalance":
      return { currency: "USDT" };
    case "positions":
      return { instId: swap };
    case "getOrder":
      return { ordId, clOrdId, instId: swap };
    case "pendingOrders":
      return { instType: "SWAP", instId: swap, limit: "20", after: ordId, before: ordId };
    case "orderHistory":
      return { instType: "SWAP", state: "filled", limit: "20", after: ordId, before: ordId };
    case "placeOrder": {
      const { ordTypes, sides, szUnit } = profile.order;
      return {
        instId: swap,
        side: sides[0] ?? "buy",
        ordType: ordTypes[0] ?? "limit",
        sz: sizes[szUnit.SWAP],
        px: "60000",
        clOrdId,
      };
    }
    case "amendOrder":
      return { instId: swap, ordId, px: "60001", sz: sizes[profile.order.szUnit.SWAP] };
    case "cancelBatch":
      return [
        { instId: swap, ordId },
        { instId: swap, ordId: "1000000000000000002" },
      ];
    case "closePosition":
      return { instId: swap };
    case "setLeverage":
      return { instId: swap, lever: "10", mgnMode: "cross" };
  }
};

/** One record of each channel. */
export const exampleMessage = ({ profile }: Contract, channel: wire.channels.ChannelName): Json => {
  const ts = String(exampleAt);
  const sz = sizes[profile.websocket.szUnit];
  switch (channel) {
    case "trades":
      return { instId: swap, tradeId: "42", px: "60000", sz, side: "buy", ts };
    case "tickers":
      return { instId: swap, last: "60000", bidPx: "59999.9", bidSz: sz, askPx: "60000", askSz: sz, ts };
    case "books":
      return { instId: swap, bids: [["59999.9", sz]], asks: [["60000", sz]], ts };
    case "candle1m":
      return { instId: swap, ts, open: "60000", high: "60010", low: "59990", close: "60005", volume: sz, confirm: "0" };
    case "orders":
      return orderExample(profile, "live");
    case "positions":
      return positionExample(profile);
    case "account":
      return balance;
  }
};
