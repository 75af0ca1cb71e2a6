/**
 * Markets of an exchange by name and by their terms: ccxt's symbols and instrument ids, steps, sizes and fees.
 *
 * Invariants: `BTC/USDT` is `BTC-USDT` and `BTC/USDT:USDT` is `BTC-USDT-SWAP`, both ways; markets that are neither spot
 * nor perpetual swaps settled in the quote currency are refused by name; sizes are in base currency, for any unit of
 * the exchange; nothing is rounded.
 * Not here: prices.
 */
import { formatInstId, fromApproximate, isDecimal, isPositive, mul, parseInstId, SluiceError } from "sluice";
import { readInstId } from "sluice/dialect";
import { didYouMean, plain, type TapeInstrument } from "sluice/extension";
import type { CcxtMarket, Exchange } from "./ccxt-exchange.ts";

/** A market that can be asked for by either of its names. */
export interface NamedMarket {
  readonly symbol: string;
  readonly instId: string;
  readonly market: CcxtMarket;
  /** Base currency in one unit of the exchange: "1" except for contracts. */
  readonly unit: string;
}

/** Returns the decimal text of a number of ccxt, as exact as the number; undefined for other values. */
export const textOf = (value: unknown): string | undefined => {
  if (isDecimal(value)) return plain(value);
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? fromApproximate(number, 18) : undefined;
};

const symbolOf = (instId: string): string => {
  const { instType, base, quote } = parseInstId(instId, "instrument");
  return instType === "SWAP" ? `${base}/${quote}:${quote}` : `${base}/${quote}`;
};

/** The market that `name` means, an instrument id or a symbol of ccxt. */
export const marketNamed = ({ id, markets }: Exchange, name: string): NamedMarket => {
  const symbol = readInstId(name) === undefined ? name : symbolOf(name);
  const market = markets[symbol];
  if (market === undefined) {
    const known = Object.values(markets).flatMap((one) =>
      one === undefined || refusalOf(one) !== undefined ? [] : [one.symbol],
    );
    const near = didYouMean(symbol, known);
    throw new SluiceError(
      "INSTRUMENT_UNKNOWN",
      `${id} lists no ${name}${symbol === name ? "" : ` (${symbol})`}.${near}`,
    );
  }
  const refusal = refusalOf(market);
  if (refusal !== undefined) throw new SluiceError("USAGE", `${id}: ${symbol} ${refusal}`);
  const instId = instIdOf(market);
  const unit = market.swap === true ? (positiveOf(market.contractSize) ?? "1") : "1";
  return { symbol, instId, market, unit };
};

const instIdOf = ({ base, quote, swap }: CcxtMarket): string =>
  formatInstId({ instType: swap === true ? "SWAP" : "SPOT", base, quote });

const refusalOf = (market: CcxtMarket): string | undefined => {
  const { spot, swap, inverse, settle, quote } = market;
  if (inverse === true)
    return "is an inverse contract, worth a fixed sum of the quote currency: only linear ones are computed here.";
  if (spot !== true && swap !== true)
    return "is neither spot nor a perpetual swap: dated futures and options are not traded here.";
  if (swap === true && settle !== quote) return `is settled in ${settle}, not in its quote currency ${quote}.`;
  return readInstId(instIdOf(market)) === undefined
    ? "has a name that is no instrument id of capitals and digits."
    : undefined;
};

const positiveOf = (value: unknown): string | undefined => {
  const text = textOf(value);
  return text !== undefined && isPositive(text) ? text : undefined;
};

const [decimalPlaces, significantDigits] = [2, 3];

/** Returns the step of a precision; undefined if it is missing, or depends on the price. */
const stepOf = (precision: unknown, mode: number | undefined): string | undefined => {
  if (mode === significantDigits) return undefined;
  if (mode !== decimalPlaces) return positiveOf(precision);
  const places = Number(precision);
  if (precision === undefined || !Number.isInteger(places)) return undefined;
  return places > 0 ? `0.${"0".repeat(places - 1)}1` : `1${"0".repeat(-places)}`;
};

/** Exchanges whose bars of contracts count contracts at ccxt; the others count base currency. */
const contractsInBars: ReadonlySet<string> = new Set(["gate", "gateio", "kucoin", "kucoinfutures", "mexc"]);

/** Returns the base currency in one unit of the volumes of bars. */
export const barUnitOf = ({ id }: Exchange, { unit }: NamedMarket): string => (contractsInBars.has(id) ? unit : "1");

/** Terms of a product at the exchange, as decimal text; terms that it does not report are missing. */
export interface InstrumentTerms {
  readonly instId: string;
  /** Its name at ccxt. */
  readonly symbol: string;
  /** Price step in quote currency. */
  readonly tickSize?: string;
  /** Quantity step in base currency. */
  readonly lotSize?: string;
  /** Least quantity in base currency. */
  readonly minSize?: string;
  /** Base currency in one contract, of swaps. */
  readonly contractValue?: string;
  /** Fees in basis points without any discount, as reported by ccxt. */
  readonly makerBps?: string;
  readonly takerBps?: string;
  readonly active: boolean;
}

export const termsOf = (
  { api: { precisionMode } }: Exchange,
  { instId, symbol, market, unit }: NamedMarket,
): InstrumentTerms => {
  const { precision, limits, maker, taker, swap, active } = market;
  const inBase = (size: string | undefined): string | undefined => (size === undefined ? undefined : mul(size, unit));
  const bps = (share: unknown): string | undefined => {
    const text = textOf(share);
    return text === undefined ? undefined : mul(text, "10000");
  };
  const told = {
    tickSize: stepOf(precision.price, precisionMode),
    lotSize: inBase(stepOf(precision.amount, precisionMode)),
    minSize: inBase(positiveOf(limits?.amount?.min)),
    contractValue: swap === true ? unit : undefined,
    makerBps: bps(maker),
    takerBps: bps(taker),
  };
  return {
    instId,
    symbol,
    ...Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined)),
    active: active !== false,
  };
};

/** Returns the terms as an instrument of a traded market; throws if a step is missing. */
export const instrumentOf = ({ id }: Exchange, terms: InstrumentTerms): TapeInstrument => {
  const { instId, tickSize, lotSize, minSize, contractValue } = terms;
  if (tickSize !== undefined && lotSize !== undefined)
    return { instId, tickSize, lotSize, ...(minSize && { minSize }), ...(contractValue && { contractValue }) };
  throw new SluiceError(
    "DATA_UNAVAILABLE",
    `${id} states no fixed ${tickSize === undefined ? "price" : "quantity"} step of ${terms.symbol}, which an order has to keep to. Trade another market on paper.`,
  );
};
