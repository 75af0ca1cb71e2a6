/**
 * Market data from exchanges through ccxt: the functions that programs call.
 *
 * Invariants: options are checked before anything is loaded; ccxt and the parsers of its answers are loaded with the
 * first call.
 * Not here: the implementation of calls (fetch-market.ts).
 */
import { checkOptions, type OptionRules } from "sluice/extension";
import type { InstrumentTerms } from "./ccxt-symbols.ts";
import type { FetchInstrumentsOptions, FetchMarketOptions } from "./fetch-market.ts";
import type { FetchedFixture } from "./fetched-rows.ts";

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
 * Fetches public bars or trades of an exchange through ccxt (`npm install ccxt`) and writes them as a fixture, or adds
 * them to one. Requests keep to the exchange's limit. Spans that the exchange did not return are in `gaps`. Throws
 * `USAGE`, `CONFIG_INVALID`, `INSTRUMENT_UNKNOWN`, `DATA_UNAVAILABLE`, and `STOPPED` where `signal` was aborted; pages
 * fetched by then are kept next to `out`, and the same call continues from there.
 */
export const fetchMarketData = async (
  options: FetchMarketOptions,
): Promise<FetchedFixture & { readonly fixture: string }> => {
  checkOptions("fetchMarketData", rules, options);
  const { fetchInto } = await import("./fetch-market.ts");
  return { fixture: options.out, ...(await fetchInto(options)) };
};

/**
 * The terms of products at an exchange, through ccxt: steps, sizes and fees as decimal text. Throws as
 * `fetchMarketData` does.
 */
export const fetchInstruments = async (options: FetchInstrumentsOptions): Promise<readonly InstrumentTerms[]> => {
  checkOptions("fetchInstruments", asked, options);
  const { termsAt } = await import("./fetch-market.ts");
  return termsAt(options);
};
