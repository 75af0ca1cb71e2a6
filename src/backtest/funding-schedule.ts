/**
 * Funding that a run charges: the recorded one, a rate of the config at equal intervals, or none.
 *
 * Invariants: a recorded series is charged as it is; a configured rate is used only for swaps without one, at whole
 * multiples of the interval on the service's clock (UTC); after `stop` no timer is left; each charge is stated in one
 * sentence.
 * Not here: what funding does to money (venue/funding.ts).
 */

import type { Clock, Timer } from "../clock/clock.ts";
import type { Assumption } from "../contract/assumption.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import { parseHuman } from "../contract/validate.ts";
import { SluiceError } from "../errors.ts";
import type { Tape } from "../market/tape/tape.ts";
import type { Venue } from "../venue/venue.ts";

/**
 * Every `intervalHours` (such as 8) all swaps without recorded rates are charged `rate`, decimal text such as "0.0001".
 */
export interface FundingSchedule {
  /** Hours between two charges. */
  readonly intervalHours: number;
  /** Share of a position's value, decimal text; negative where shorts pay longs. */
  readonly rate: string;
}

/** Funding that a backtest charges: the recorded rates, none, or a stated rate. */
export type FundingChoice = "recorded" | "off" | FundingSchedule;

const scheduleSchema = {
  type: "object",
  additionalProperties: false,
  required: ["intervalHours", "rate"],
  properties: { intervalHours: { type: "number", minimum: 0.01 }, rate: { type: "string", format: "decimal" } },
} as const;

export const checkFunding = (choice: FundingChoice, place: string): void => {
  if (choice === "recorded" || choice === "off") return;
  if (typeof choice === "string") {
    throw new SluiceError(
      "CONFIG_INVALID",
      `${place}: ${JSON.stringify(choice)} is not one of "recorded", "off" or { intervalHours: 8, rate: "0.0001" }.`,
    );
  }
  parseHuman(scheduleSchema, choice, place);
};

const recordedIn = (tape: Tape): ReadonlySet<string> =>
  new Set(
    tape.series.flatMap(({ kind, at, instrument }) =>
      kind === "funding" && at.length > 0 ? (tape.instruments[instrument]?.instId ?? []) : [],
    ),
  );

const unrecorded = (tape: Tape): readonly string[] => {
  const recorded = recordedIn(tape);
  return tape.instruments
    .map(({ instId }) => instId)
    .filter((instId) => instTypeOf(instId) === "SWAP" && !recorded.has(instId));
};

const hourMs = 3_600_000;

/** Begins to charge the funding of the config; returns the function that stops it. */
export const scheduleFunding = (
  tape: Tape,
  venue: Venue,
  clock: Clock,
  choice: FundingChoice,
  skewMs: number,
): (() => void) => {
  const charged = typeof choice === "string" ? [] : unrecorded(tape);
  if (typeof choice === "string" || charged.length === 0) return () => undefined;
  const intervalMs = choice.intervalHours * hourMs;
  let timer: Timer | undefined;
  const arm = (count: number): void => {
    timer = clock.setTimer(count * intervalMs - skewMs, () => {
      for (const instId of charged) venue.funding(instId, choice.rate, clock.now() + skewMs);
      arm(count + 1);
    });
  };
  arm(Math.floor((clock.now() + skewMs) / intervalMs) + 1);
  return () => {
    timer?.cancel();
  };
};

/** The assumption about funding, for a report. */
export const fundingTerms = (tape: Tape, choice: FundingChoice): Omit<Assumption, "what"> => {
  const recorded = [...recordedIn(tape)];
  const free = { value: "not charged", consequence: "holding a swap costs and earns nothing" };
  if (choice === "off")
    return recorded.length === 0 ? free : { ...free, value: "not charged, though rates were recorded" };
  const stated = typeof choice === "string" ? [] : unrecorded(tape);
  const parts = [
    ...(recorded.length === 0 ? [] : [`${recorded.join(", ")} at the recorded rates`]),
    ...(stated.length === 0 || typeof choice === "string"
      ? []
      : [`${stated.join(", ")} at a rate of ${choice.rate} every ${choice.intervalHours} h, as the config says`]),
  ];
  if (parts.length === 0) return free;
  return { value: parts.join("; "), consequence: "charged on the value of positions at each of its instants" };
};
