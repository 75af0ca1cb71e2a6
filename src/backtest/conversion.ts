/**
 * The currency of a run, and the rates of other currencies at an instant.
 *
 * Invariants: rates are those of the embedded service at that moment, so that the results of strategies add up to that
 * of the account; while a price that connects two currencies is not known yet, the first recorded one is used. A
 * currency that nothing connects has no rate.
 * Not here: ways between currencies (venue/valuation.ts).
 */
import type { Assumption } from "../contract/assumption.ts";
import { readInstId } from "../contract/inst-id.ts";
import { SluiceError } from "../errors.ts";
import type { Tape } from "../market/tape/tape.ts";
import { firstPrices } from "../report/price-extremes.ts";
import type { RateOf } from "../report/trade-statistics.ts";
import { readAmount, spell } from "../venue/money.ts";
import { rateOver } from "../venue/valuation.ts";
import type { Venue } from "../venue/venue.ts";

const unit = 10n ** 18n;

const quoteOf = (instId: string): string => readInstId(instId)?.quote ?? "";

/** Throws CONFIG_INVALID where a currency is named that cannot value everything that may be traded. */
export const reportCurrency = (tape: Tape, named?: string): string => {
  if (named === undefined) return quoteOf(tape.instruments[0]?.instId ?? "");
  const [lost] = unconnected(tape, named);
  if (lost === undefined) return named;
  throw new SluiceError(
    "CONFIG_INVALID",
    `backtest options.currency: nothing in the recording connects ${lost} with ${JSON.stringify(named)}. Add an instrument such as ${lost}-${named} to the recording, or name a currency that its instruments are quoted in.`,
  );
};

/** Assumption of a report about currencies. */
export const currencyAssumption = (tape: Tape, currency: string): Assumption => {
  const about = { what: "Currency", value: `results are in ${currency}` };
  if (tape.instruments.every(({ instId }) => quoteOf(instId) === currency)) return { ...about, consequence: "" };
  const lost = unconnected(tape, currency);
  const converted = "what is quoted in another currency is converted at the prices of its instant";
  return {
    ...about,
    consequence:
      lost.length === 0
        ? converted
        : `${converted}, but ${lost.join(", ")}, which nothing connects with it, is not valued`,
  };
};

/** Quote currencies of the tape that nothing connects with `currency`. */
const unconnected = ({ instruments }: Tape, currency: string): readonly string[] => {
  const connections = instruments.flatMap(({ instId }) => connectionOf(instId, unit));
  const quotes = [...new Set(connections.map(({ quote }) => quote))];
  return quotes.filter((quote) => rateOver(connections, quote, currency) === undefined);
};

const connectionOf = (instId: string, px = 0n) => {
  const read = readInstId(instId);
  return read === undefined ? [] : [{ base: read.base, quote: read.quote, px }];
};

/**
 * Value of one unit of an instrument's quote currency in `currency`, at most 18 fraction digits; "1" only for that
 * currency itself.
 */
export const conversionRates = (tape: Tape, venue: Venue, currency: string): RateOf => {
  let first: ReturnType<typeof firstRates> | undefined;
  const known = new Map(tape.instruments.map(({ instId }) => [instId, quoteOf(instId)]));
  return (instId) => {
    const quote = known.get(instId) ?? quoteOf(instId);
    if (quote === currency) return "1";
    const now = venue.convert("1", quote, currency);
    if (now === undefined) first ??= firstRates(tape, currency);
    const rate = now ?? first?.(quote);
    // Otherwise another currency of equal value at this moment would be treated as the currency of the run.
    return rate === "1" ? "1.0" : rate;
  };
};

const firstRates = (tape: Tape, currency: string) => {
  const prices = firstPrices(tape);
  const connections = tape.instruments.flatMap(({ instId }) =>
    connectionOf(instId, readAmount(prices.get(instId) ?? "0")),
  );
  return (quote: string): string | undefined => {
    const rate = rateOver(connections, quote, currency);
    return rate && spell((unit * rate.of) / rate.per);
  };
};
