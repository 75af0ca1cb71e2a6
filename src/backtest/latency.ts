/**
 * Models of the way to the service and back.
 *
 * Invariants: each request or message draws its own delay from the run's seed; the shortest way is never below the stated
 * minimum; the same seed gives the same delays.
 */
import { SluiceError } from "../errors.ts";
import type { Random } from "../random.ts";
import type { Latency } from "../transport/in-process.ts";

export interface LatencyModel {
  readonly name: string;
  make(random: Random): Latency;
}

/** The same way every time: entry and response each `ms`, the market feed `feedMs` (the same when left out). */
export const constant = (ms: number, { feedMs = ms }: { readonly feedMs?: number } = {}): LatencyModel => {
  checkMs("constant", { ms, feedMs });
  return {
    name: `constant ${ms} ms each way, feed ${feedMs} ms`,
    make: () => ({ name: `constant ${ms}`, entryMs: () => ms, responseMs: () => ms, feedMs: () => feedMs }),
  };
};

export interface LognormalOptions {
  /** Median of one way, milliseconds. */
  readonly medianMs: number;
  /** Spread: about two thirds of the delays lie within a factor of 1 + sigma of the median. Default 0.35. */
  readonly sigma?: number;
  readonly minMs?: number;
  /** Longer delays are cut here. Default 20 medians. */
  readonly maxMs?: number;
}

/** Delays with a long tail, as networks have them. */
export const lognormal = ({ medianMs, sigma = 0.35, minMs = 0, maxMs = medianMs * 20 }: LognormalOptions): LatencyModel => {
  checkMs("lognormal", { medianMs, sigma, minMs, maxMs });
  if (medianMs === 0) throw invalid("lognormal: medianMs is 0. Use constant(0) for no latency.");
  if (minMs > maxMs) throw invalid(`lognormal: minMs ${minMs} is above maxMs ${maxMs}. Swap them, or leave one out.`);
  return {
    name: `lognormal, median ${medianMs} ms each way, sigma ${sigma}`,
    make: (random) => {
      const draw = (source: Random) => (): number =>
        Math.min(maxMs, Math.max(minMs, roundUs(medianMs * Math.exp(sigma * source.normal()))));
      return {
        name: `lognormal ${medianMs}`,
        entryMs: draw(random.fork("entry")),
        responseMs: draw(random.fork("response")),
        feedMs: draw(random.fork("feed")),
      };
    },
  };
};

/** Whole microseconds: what a clock could tell, and the same text on every machine. */
const roundUs = (ms: number): number => Math.round(ms * 1_000) / 1_000;

const checkMs = (model: string, given: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(given)) {
    if (Number.isFinite(value) && value >= 0) continue;
    throw invalid(`${model}: ${name} is ${value}. Write a finite number that is not negative.`);
  }
};

const invalid = (message: string): SluiceError => new SluiceError("CONFIG_INVALID", message);
