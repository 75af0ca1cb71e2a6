/**
 * Fees that depend on what a user traded: a schedule of rates, and the rates in force for a user on a day.
 *
 * Invariants: the rates of a day follow from the volume of the thirty whole days before it (UTC), so they change at
 * midnight and never within an event; without tiers nothing is counted. Volume is value in the quote currency, spot and
 * swaps each by itself; quote currencies count alike, as those of one service usually are all of one worth.
 * Not here: what a rate is applied to (settlement.ts).
 */
import type { InstType } from "../contract/inst-id.ts";
import { SluiceError } from "../errors.ts";
import type { Account, Traded } from "./account.ts";
import { type Amount, one, type Rates, readAmount } from "./money.ts";

/** Basis points as decimal text; a negative maker fee is a rebate. */
export interface Fees {
  /** Of a resting order's fill, in basis points of its value; negative for a rebate. */
  readonly makerBps: string;
  /** Fee of a taker's fill, in basis points of its value. */
  readonly takerBps: string;
  /** Rates that apply from a 30-day volume on, the smallest volume first. Flat when left out. */
  readonly tiers?: readonly FeeTier[];
}

/** Fees in basis points from a traded volume on. */
export interface FeeTier {
  /** Value traded in the thirty days before, in the quote currency, decimal text. */
  readonly volumeMin: string;
  readonly makerBps: string;
  readonly takerBps: string;
}

export interface Schedule {
  readonly flat: Rates;
  /** From the largest volume down. */
  readonly steps: readonly { readonly from: Amount; readonly rates: Rates }[];
}

const dayMs = 86_400_000;
const daysCounted = 30;

const refuse = (message: string): never => {
  throw new SluiceError("CONFIG_INVALID", message);
};

const rateOf = (text: string, place: string): Amount => {
  const bps = readAmount(text);
  const limit = 10_000n * one;
  if (bps === undefined || bps >= limit || bps <= -limit) {
    return refuse(
      `${place}: ${JSON.stringify(text)} is not a fee. Write basis points as decimal text between -10000 and 10000, such as "5".`,
    );
  }
  if (bps % 10_000n !== 0n)
    return refuse(`${place}: ${text} is finer than a fee can be. Use at most 14 fraction digits.`);
  return bps / 10_000n;
};

const readRates = ({ makerBps, takerBps }: Pick<Fees, "makerBps" | "takerBps">, place: string): Rates => ({
  maker: rateOf(makerBps, `${place}.makerBps`),
  taker: rateOf(takerBps, `${place}.takerBps`),
});

export const readSchedule = (fees: Fees, instType: InstType): Schedule => {
  const place = `fees.${instType}`;
  const steps = (fees.tiers ?? []).map((tier, index) => {
    const from = readAmount(tier.volumeMin);
    if (from === undefined || from <= 0n) {
      const found = JSON.stringify(tier.volumeMin);
      return refuse(
        `${place}.tiers[${index}].volumeMin: ${found} is not a volume. Write a positive decimal in a string.`,
      );
    }
    return { from, rates: readRates(tier, `${place}.tiers[${index}]`) };
  });
  const wrong = steps.findIndex(({ from }, index) => index > 0 && from <= (steps[index - 1]?.from ?? 0n));
  if (wrong > 0)
    refuse(`${place}.tiers[${wrong}].volumeMin: volumes rise from tier to tier. Sort the tiers by volume.`);
  return { flat: readRates(fees, place), steps: steps.reverse() };
};

const ratesAfter = ({ flat, steps }: Schedule, days: ReadonlyMap<number, Amount>): Rates => {
  let volume = 0n;
  for (const value of days.values()) volume += value;
  return steps.find(({ from }) => volume >= from)?.rates ?? flat;
};

const tradedOf = (schedule: Schedule, account: Account, instType: InstType, at: number): Traded => {
  const today = Math.floor(at / dayMs);
  let traded = account.traded[instType];
  if (traded === undefined) {
    traded = { days: new Map(), today, rates: schedule.flat };
    account.traded[instType] = traded;
  }
  if (traded.today !== today) {
    for (const day of traded.days.keys()) if (day < today - daysCounted) traded.days.delete(day);
    traded.today = today;
    traded.rates = ratesAfter(schedule, traded.days);
  }
  return traded;
};

export const ratesFor = (schedule: Schedule, account: Account, instType: InstType, at: number): Rates =>
  schedule.steps.length === 0 ? schedule.flat : tradedOf(schedule, account, instType, at).rates;

/** Counts what was traded, for a schedule with tiers. */
export const noteTraded = (
  schedule: Schedule,
  account: Account,
  instType: InstType,
  value: Amount,
  at: number,
): void => {
  const { days, today } = tradedOf(schedule, account, instType, at);
  days.set(today, (days.get(today) ?? 0n) + value);
};
