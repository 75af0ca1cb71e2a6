/**
 * Check that volumes of bars can bound the fills from them: they must be quantities of the base currency.
 *
 * The volumes are not used, and no fill is cut, if
 * - no bar of the instrument has a volume;
 * - the base is a currency of a state or a precious metal and all volumes are whole numbers: brokers count price
 *   changes there;
 * - the bars would trade more than `valueMax` of a dollar-like quote currency a day: volumes in the quote currency, as
 *   of inverse contracts.
 * A single bar without a volume but with a price change has lost its volume and cuts nothing either. A flat bar without
 * a volume had no trades.
 *
 * Invariants: depends on the recording alone.
 * Not here: what is filled (venue/matching-engine.ts).
 */
import { approximate } from "../decimal.ts";
import type { CandleSeries, TapeInstrument } from "../market/tape/tape.ts";

/** Twenty times the daily trading of all spot markets of Bitcoin on a busy day. */
const valueMax = 1e12;
const dayMs = 86_400_000;
const states = new Set(
  "USD EUR GBP JPY CHF AUD CAD NZD SEK NOK DKK PLN CZK HUF TRY ZAR MXN SGD HKD CNH CNY INR KRW".split(" "),
);
const metals = new Set(["XAU", "XAG", "XPT", "XPD"]);
const dollars = new Set(["USD", "USDT", "USDC", "BUSD", "FDUSD", "TUSD", "DAI", "EUR", "GBP", "CHF"]);
/** More lots than any order has. */
const unbounded = 1e9;

/** Reason why volumes of the instrument's bars do not bound fills; undefined if they do. */
export const volumeDoubt = (
  { instId, tickSize, lotSize }: TapeInstrument,
  { at, close, volume, barMs }: CandleSeries,
): string | undefined => {
  if (at.length === 0) return undefined;
  if (!volume.some((lots) => lots > 0)) return "no bar has a volume";

  const [base = "", quote = ""] = instId.split("-");
  const lot = approximate(lotSize);
  const isWhole = (lots: number): boolean => Math.abs(lots * lot - Math.round(lots * lot)) < 1e-9;
  if ((states.has(base) || metals.has(base)) && volume.every(isWhole))
    return `volumes of ${base} in whole numbers count price changes`;

  let value = 0;
  for (let row = 0; row < at.length; row++) value += (volume[row] as number) * (close[row] as number);
  const daily = (value * lot * approximate(tickSize) * dayMs) / (at.length * barMs);
  return dollars.has(quote) && daily > valueMax
    ? `volumes of ${daily.toExponential(1)} ${quote} a day are not in ${base}`
    : undefined;
};

/** The same bars, with unbounded volume for a bar that moved without one. */
export const withoutLostVolumes = (series: CandleSeries): CandleSeries => {
  const { high, low, volume } = series;
  const isLost = (lots: number, row: number): boolean => lots === 0 && (high[row] as number) > (low[row] as number);
  return volume.some(isLost)
    ? { ...series, volume: volume.map((lots, row) => (isLost(lots, row) ? unbounded : lots)) }
    : series;
};
