/**
 * Assumptions behind the figures of a run in real time, in sentences for its report.
 */
import { layers } from "../contract/limits.ts";
import { isAnnualised } from "./return-series.ts";

interface CountedHow {
  readonly equity: "account" | "fills";
  /** Something was held at the start. */
  readonly carried: boolean;
  readonly sampleMs: number;
  readonly ms: number;
}

export const assumptionsOf = ({ equity, carried, sampleMs, ms }: CountedHow): readonly string[] => {
  const { ip, uid, key } = layers;
  return [
    ...(equity === "account" ? ["equity is that of the embedded account, valued by its marks"] : ownFills),
    ...(carried
      ? [
          "what was held at the start is carried over at its average entry price; its earlier profit and fees are left out",
        ]
      : []),
    `the quota is as this client sent it; described limits: ip ${ip.capacity} and user weight ${uid.capacity} a minute, ${key.capacity} requests a second and key`,
    "submit to placed and canceled: from sending to the answer",
    "trades: from flat to flat, after fees, funding and fees of liquidations",
    `equity every ${sampleMs / 1_000} s, falls and the furthest moves of trades once a second`,
    ...(isAnnualised(ms) ? ["years have 365 days and compound; the risk-free rate is 0"] : []),
  ];
};

const ownFills = [
  "equity is the profit of own fills since the start; what is held is valued by the last quotes at which it could be closed; what the account held before, funding and liquidations are not in it",
  "fills of limit orders are counted as makers, as records do not say",
];
