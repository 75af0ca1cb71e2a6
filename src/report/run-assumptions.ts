/**
 * Assumptions behind the figures of a run in real time, and those that every report has.
 */
import type { Assumption } from "../contract/assumption.ts";
import { layers } from "../contract/limits.ts";
import { isAnnualised } from "./return-series.ts";

interface CountedHow {
  readonly equity: "account" | "fills";
  /** Something was held at the start. */
  readonly carried: boolean;
  readonly sampleMs: number;
  readonly ms: number;
}

const { ip, uid, key } = layers;

/** The described limits in words. */
export const describedLimitsText = `ip ${ip.capacity} and user weight ${uid.capacity} a minute, ${key.capacity} requests a second and key`;

export const tradesAssumption: Assumption = {
  what: "Trades",
  value: "from flat to flat",
  consequence: "after fees, funding and fees of liquidations",
};

export const yearsAssumption: Assumption = {
  what: "Annual figures",
  value: "years of 365 days, compounded",
  consequence: "the risk-free rate is 0",
};

export const assumptionsOf = ({ equity, carried, sampleMs, ms }: CountedHow): readonly Assumption[] => [
  ...(equity === "account" ? ofAccount : ofFills),
  ...(carried ? [carriedAssumption] : []),
  { what: "Quota", value: "as this client sent it", consequence: `described limits: ${describedLimitsText}` },
  { what: "Times of orders", value: "from sending to the answer", consequence: "" },
  tradesAssumption,
  {
    what: "Equity curve",
    value: `a point every ${sampleMs / 1_000} s`,
    consequence: "falls and the furthest moves of trades are seen once a second",
  },
  ...(isAnnualised(ms) ? [yearsAssumption] : []),
];

const carriedAssumption: Assumption = {
  what: "Holdings at the start",
  value: "carried over at their average entry price",
  consequence: "their earlier profit and fees are left out",
};

const ofAccount: readonly Assumption[] = [
  { what: "Equity", value: "of the embedded account", consequence: "valued by its marks" },
];

const ofFills: readonly Assumption[] = [
  {
    what: "Equity",
    value: "profit of own fills since the start; what is held is valued by the last quotes at which it could be closed",
    consequence: "what the account held before, funding and liquidations are not in it",
  },
  { what: "Fills of limit orders", value: "counted as makers", consequence: "records do not name the maker" },
];
