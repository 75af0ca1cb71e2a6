/**
 * Market data from exchanges through ccxt: the functions that programs call, and their options.
 *
 * Invariants: options are checked before anything is loaded; ccxt and what reads its answers are loaded with the first call.
 * Not here: what a call does (fetch-market.ts).
 */
import type { Clock } from "../../clock/clock.ts";
import { checkOptions, type OptionRules } from "../../contract/option-check.ts";
import type { WriteOptions } from "../tape/fixture.ts";
import type { ExchangeChoice } from "./ccxt-exchange.ts";
import type { InstrumentTerms } from "./ccxt-symbols.ts";
import type { FetchedFixture } from "./fetch-market.ts";

/** Options of `fetchInstruments`. */
export interface FetchInstrumentsOptions {
  /** Id of the exchange at ccxt, such as "binance", or an exchange of ccxt that you made, without a key. */
  readonly exchange: ExchangeChoice;
  /** Instrument ids (`BTC-USDT-SWAP`) or symbols of ccxt (`BTC/USDT:USDT`). */
  readonly symbols: readonly string[];
  /** Stops the work, which then throws `STOPPED`. */
  readonly signal?: AbortSignal | undefined;
  /** Told what is waited for: a short name and a sentence. */
  readonly onNote?: ((what: string, detail: string) => void) | undefined;
  /** The time that limits and waits are reckoned by; the machine's when left out. */
  readonly clock?: Clock | undefined;
}

/** Options of `fetchMarketData`: those of the command `fetch`. */
export interface FetchMarketOptions extends FetchInstrumentsOptions, WriteOptions {
  /** Default "candles". */
  readonly kind?: "candles" | "trades";
  /** Length of bars, such as "1m", "15m", "1h" or "1d", of those the exchange has. Default "1m". */
  readonly bar?: string;
  /** First instant, ISO 8601 in UTC, such as 2024-01-01. */
  readonly from: string;
  /** The instant at which it ends; nothing at or after it is fetched. Default now. */
  readonly to?: string;
  /** Folder of the fixture. One that is there is added to; rows of the same product and time are replaced only with `force`. */
  readonly out: string;
  /** Called with each page: which product, and the share of everything that is done, 0 to 1. */
  readonly onProgress?: ((progress: { readonly symbol: string; readonly done: number }) => void) | undefined;
}

const text = { type: "string", minLength: 1 };
const asked: OptionRules = {
  required: ["exchange", "symbols"],
  others: { exchange: {}, symbols: { type: "array", minItems: 1, items: text }, signal: {}, onNote: {}, clock: {} },
};
const rules: OptionRules = {
  required: ["exchange", "symbols", "from", "out"],
  others: {
    ...asked.others,
    kind: { enum: ["candles", "trades"] },
    bar: text,
    from: text,
    to: text,
    out: text,
    force: { type: "boolean" },
    onProgress: {},
  },
};

/**
 * Fetches public bars or trades of an exchange through ccxt (`npm install ccxt`) and writes them as a fixture, or adds them to one. Requests
 * keep to the exchange's limit. Stretches that the exchange did not show are in `gaps`. Throws `USAGE`, `CONFIG_INVALID`,
 * `INSTRUMENT_UNKNOWN`, `DATA_UNAVAILABLE`, and `STOPPED` where `signal` was aborted; what was fetched by then is kept beside `out`, and the
 * same call goes on from there.
 */
export const fetchMarketData = async (options: FetchMarketOptions): Promise<FetchedFixture & { readonly fixture: string }> => {
  checkOptions("fetchMarketData", rules, options);
  const { fetchInto } = await import("./fetch-market.ts");
  return { fixture: options.out, ...(await fetchInto(options)) };
};

/** The terms of products at an exchange, through ccxt: steps, sizes and fees as decimal text. Throws as `fetchMarketData` does. */
export const fetchInstruments = async (options: FetchInstrumentsOptions): Promise<readonly InstrumentTerms[]> => {
  checkOptions("fetchInstruments", asked, options);
  const { termsAt } = await import("./fetch-market.ts");
  return termsAt(options);
};
