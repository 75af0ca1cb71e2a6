/**
 * Models of the way to the service and back.
 *
 * Invariants: each request or message draws its own delay from the run's seed; the shortest way is never below the
 * stated minimum; the same seed gives the same delays.
 */

import type { Latency } from "../client/transport/in-process.ts";
import { SluiceError } from "../errors.ts";
import type { Random } from "../random.ts";

/**
 * A model of the way to the service and back: what `constant`, `lognormal`, `empirical`, `fromSession`, `fromFixture`
 * and `ways` return.
 */
export interface LatencyModel {
  readonly name: string;
  make(random: Random): Latency;
}

/**
 * The same delay every time.
 *
 * @param ms - time of a request to the service, and of its answer back, milliseconds
 * @param options - `feedMs`, the delay of the market feed; `ms` when left out
 * @returns a model for `latency` of `backtest`
 * @throws CONFIG_INVALID for a negative time
 */
export const constant = (ms: number, { feedMs = ms }: { readonly feedMs?: number } = {}): LatencyModel => {
  checkMs("constant", { ms, feedMs });
  return {
    name: `constant ${ms} ms each way, feed ${feedMs} ms`,
    make: () => ({ name: `constant ${ms}`, entryMs: () => ms, responseMs: () => ms, feedMs: () => feedMs }),
  };
};

/** Options of `lognormal`. Times are milliseconds. */
export interface LognormalOptions {
  /** Median of one way, milliseconds. */
  readonly medianMs: number;
  /** Spread: about two thirds of the delays lie within a factor of 1 + sigma of the median. Default 0.35. */
  readonly sigma?: number;
  readonly minMs?: number;
  /** Longer delays are cut here. Default 20 medians. */
  readonly maxMs?: number;
}

/**
 * Delays with a long tail, as networks have them.
 *
 * @param options - median and spread of one way, and bounds, milliseconds
 * @returns a model for `latency` of `backtest`
 * @throws CONFIG_INVALID for a negative time, or bounds that exclude each other
 * @example
 * lognormal({ medianMs: 25, sigma: 0.5, maxMs: 400 })
 */
export const lognormal = ({
  medianMs,
  sigma = 0.35,
  minMs = 0,
  maxMs = medianMs * 20,
}: LognormalOptions): LatencyModel => {
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

/**
 * Order entry, responses and market feed each by a model of their own; of each model only that way is used.
 *
 * @param models - a model for the way to the service, one for answers, one for the market feed
 * @returns a model for `latency` of `backtest`
 * @throws CONFIG_INVALID where one of the three is missing
 */
export const ways = (models: Readonly<Record<"entry" | "response" | "feed", LatencyModel>>): LatencyModel => {
  for (const way of ["entry", "response", "feed"] as const) {
    if (typeof (models[way] as Partial<LatencyModel> | undefined)?.make === "function") continue;
    throw invalid(
      `ways: ${way} is ${JSON.stringify(models[way])}. Write a latency model for each of entry, response and feed.`,
    );
  }
  const { entry, response, feed } = models;
  return {
    name: `entry ${entry.name}; response ${response.name}; feed ${feed.name}`,
    make: (random) => {
      const made = {
        entry: entry.make(random.fork("entry model")),
        response: response.make(random.fork("response model")),
      };
      const fed = feed.make(random.fork("feed model"));
      return {
        name: "each way its own",
        entryMs: () => made.entry.entryMs(),
        responseMs: () => made.response.responseMs(),
        feedMs: () => fed.feedMs(),
      };
    },
  };
};

/** Options of `empirical`: recorded delays, in milliseconds. */
export interface EmpiricalOptions {
  /** Description of the delays, for reports. */
  readonly name: string;
  /** Recorded times from a request's departure to its answer, milliseconds; at least `delaysMin`. */
  readonly roundTripMs: readonly number[];
  /** Share of a round trip that is the way to the service. No recording contains it. Default 0.5. */
  readonly entryShare?: number;
  /** Recorded delays of the market feed; the way back of the round trips when left out. */
  readonly feedMs?: readonly number[];
}

/** Smallest number of recorded delays from which delays are drawn. */
export const delaysMin = 20;

/**
 * Delays as they were recorded. A draw takes a uniform number u and returns the u-quantile of the recorded delays,
 * straight between neighbours, so that no delay is shorter or longer than those recorded. Draws do not depend on each
 * other: that slow calls came in bunches is lost. The two ways of a call are parts of one round trip; what the service
 * pushes takes the way back of another.
 *
 * @param options - recorded round trips and, where they are known, delays of the feed, milliseconds
 * @returns a model for `latency` of `backtest`
 * @throws CONFIG_INVALID for fewer than 20 delays, or a delay that is none
 */
export const empirical = ({ name, roundTripMs, entryShare = 0.5, feedMs }: EmpiricalOptions): LatencyModel => {
  if (!(entryShare >= 0 && entryShare <= 1))
    throw invalid(`${name}: entryShare is ${entryShare}. Write a share from 0 to 1.`);
  const trips = sortedDelays(name, "round trips", roundTripMs);
  const feeds = feedMs === undefined ? undefined : sortedDelays(name, "feed delays", feedMs);
  return {
    name,
    make: (random) => {
      const [calls, pushes, feed] = [random.fork("calls"), random.fork("response"), random.fork("feed")];
      const back = (source: Random): number => roundUs(quantileOf(trips, source.next()) * (1 - entryShare));
      return {
        name,
        entryMs: () => roundUs(quantileOf(trips, calls.next()) * entryShare),
        responseMs: () => back(pushes),
        feedMs: () => (feeds === undefined ? back(feed) : roundUs(quantileOf(feeds, feed.next()))),
        trip: () => {
          const ms = quantileOf(trips, calls.next());
          return { entryMs: roundUs(ms * entryShare), responseMs: roundUs(ms * (1 - entryShare)) };
        },
      };
    },
  };
};

const sortedDelays = (name: string, what: string, delays: readonly number[]): Float64Array => {
  checkMs(name, Object.fromEntries(delays.map((ms, index) => [`${what} ${index}`, ms])));
  if (delays.length >= delaysMin) return Float64Array.from(delays).sort();
  throw invalid(
    `${name}: there are ${delays.length} ${what}; ${delaysMin} at least are needed to draw from. Record for longer.`,
  );
};

/** Between the smallest (0) and the largest (1). */
const quantileOf = (sorted: Float64Array, share: number): number => {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.min(sorted.length - 1, Math.floor(place) + 1)] as number;
  return below + (above - below) * (place - Math.floor(place));
};

/** Rounds to whole microseconds: the resolution of a clock, and the same text on every machine. */
const roundUs = (ms: number): number => Math.round(ms * 1_000) / 1_000;

const checkMs = (model: string, given: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(given)) {
    if (Number.isFinite(value) && value >= 0) continue;
    throw invalid(`${model}: ${name} is ${value}. Write a finite number that is not negative.`);
  }
};

const invalid = (message: string): SluiceError => new SluiceError("CONFIG_INVALID", message);
