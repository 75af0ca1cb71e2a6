/**
 * Delays of a recording's own feed as a latency model: `latency: ways({ entry, response, feed: fromFixture("out/perp")
 * })`.
 *
 * A recording imported on the exchange's axis contains the delay of each message to the recorder. If the recorder's
 * clock was behind the exchange's, the quickest message is assumed to have had no delay; `baseMs` is its actual delay,
 * if it is known from elsewhere.
 * Invariants: a fixture without delays is refused.
 * Not here: how they are found (plugins/import/import-exchange.ts), drawing (latency.ts).
 */
import { resolve } from "node:path";
import { SluiceError } from "../errors.ts";
import { readManifest } from "../market/tape/fixture.ts";
import { delaysMin, empirical, type LatencyModel } from "./latency.ts";

/** Options of `fromFixture`. */
export interface FromFixtureOptions {
  /** Milliseconds added to each recorded delay. Default 0. */
  readonly baseMs?: number;
}

/**
 * Delays of the feed as recorded in a fixture; `empirical` describes how they are drawn. As a model for all ways, a
 * request and its answer each take as long as a message of the feed.
 *
 * @param dir - folder of the fixture
 * @param options - `baseMs`, added to each recorded delay
 * @returns a model for `latency` of `backtest`
 * @throws CONFIG_INVALID where the fixture has no delays
 */
export const fromFixture = (dir: string, { baseMs = 0 }: FromFixtureOptions = {}): LatencyModel => {
  const { delaysMs = [] } = readManifest(resolve(dir)).feed ?? {};
  if (delaysMs.length < delaysMin) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `fromFixture(${JSON.stringify(dir)}): it has no delays of messages. Import the recording with --axis exchange, or write constant(5).`,
    );
  }
  const feedMs = delaysMs.map((ms) => ms + baseMs);
  const median = feedMs[feedMs.length >> 1] as number;
  const name = `drawn from the feed of ${dir}, median ${median.toFixed(3)} ms`;
  return empirical({ name, feedMs, roundTripMs: feedMs.map((ms) => 2 * ms) });
};
