/** A small market to run strategies in: fixtures written into temporary folders, and short ways to run on them. */
import { join } from "node:path";
import {
  backtest,
  constant,
  createTape,
  type EmbeddedOptions,
  type RunOptions,
  type RunReport,
  runBacktest,
  type Tape,
  writeFixture,
} from "../../../src/backtest.ts";
import {
  definePlugin,
  defineStrategy,
  type Event,
  type Plugin,
  type Strategy,
  type StrategyContext,
  type StrategyDefinition,
} from "../../../src/index.ts";
import type { TapeInstrument } from "../../../src/market/tape/tape.ts";
import { type Column, seriesOf } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export const swap = "BTC-USDT-SWAP";
export const startAt = 1_704_067_200_000;
export const btc: TapeInstrument = { instId: swap, tickSize: "0.1", lotSize: "0.001" };

let count = 0;

/** Writes the tape as a fixture and returns its folder. */
export const stored = (tape: Tape, name = `tape-${count++}`): string => {
  const dir = join(temporaryFolder("market"), name);
  writeFixture(dir, tape, { source: "test" });
  return dir;
};

const columns = (rows: readonly (readonly number[])[], width: number): Column[] =>
  Array.from({ length: width }, (_, index) => Float64Array.from(rows.map((row) => row[index] as number)));

/** Rows `[ms after the start, bid, bidQty, ask, askQty]` in ticks and lots. */
export const quoteTape = (rows: readonly (readonly number[])[], instrument = btc): Tape =>
  createTape(
    [instrument],
    [
      seriesOf(
        "quote",
        0,
        Float64Array.from(rows.map(([ms]) => startAt + (ms as number))),
        columns(
          rows.map(([, ...rest]) => rest),
          4,
        ),
      ),
    ],
  );

/** Bars `[open, high, low, close]` in ticks, one after the other. */
export const candleTape = (bars: readonly (readonly number[])[], barMs = 60_000, instrument = btc): Tape =>
  createTape([instrument], [candles(bars, barMs)]);

export const candles = (bars: readonly (readonly number[])[], barMs: number) =>
  seriesOf(
    "candle",
    0,
    Float64Array.from(bars.map((_, index) => startAt + (index + 1) * barMs)),
    columns(
      bars.map((bar) => [...bar, 4_000]),
      5,
    ),
    barMs,
  );

/** A quote every 250 ms for `seconds`, the price walking up and down by a few ticks. */
export const calm = (seconds: number): Tape =>
  quoteTape(
    Array.from({ length: seconds * 4 }, (_, index) => {
      const bid = 600_000 + ((index * 7) % 23) - ((index * 3) % 11);
      return [index * 250, bid, 5_000, bid + 1, 5_000];
    }),
  );

export const closed = { type: "object", additionalProperties: false, properties: {} } as const;

/** A plugin that keeps every event. */
export const recorder = () => {
  const events: Event[] = [];
  const plugin = definePlugin({
    name: "recorder",
    options: closed,
    setup: ({ events$ }) => events$.subscribe((event) => events.push(event)),
  });
  return { events, plugin: plugin({}) };
};

type Parts = Pick<StrategyDefinition<typeof closed, object>, "wanted" | "run">;

/** A strategy without options. */
export const strategy = (name: string, parts: Parts): Strategy =>
  defineStrategy({ name, options: closed, ...parts })({});

export type Context = StrategyContext<object>;

export interface ArenaOptions
  extends RunOptions,
    Pick<EmbeddedOptions, "latency" | "balances" | "push" | "fees" | "fills" | "skewMs"> {
  readonly plugins?: readonly Plugin[];
  readonly orders?: { readonly allowUncancellable?: boolean };
}

export const configOf = (
  dir: string,
  strategies: readonly Strategy[],
  { plugins = [], orders = {}, ...rest }: ArenaOptions = {},
) => ({
  service: backtest({
    fixture: dir,
    latency: rest.latency ?? constant(10),
    ...(rest.balances === undefined ? {} : { balances: rest.balances }),
    ...(rest.push === undefined ? {} : { push: rest.push }),
    ...(rest.fees === undefined ? {} : { fees: rest.fees }),
    ...(rest.fills === undefined ? {} : { fills: rest.fills }),
    ...(rest.skewMs === undefined ? {} : { skewMs: rest.skewMs }),
  }),
  strategies,
  plugins,
  orders,
});

export const run = (
  tape: Tape | string,
  strategies: readonly Strategy[],
  options: ArenaOptions = {},
): Promise<RunReport> => {
  const { fixture, seed, limits, onProgress, print } = options;
  return runBacktest(configOf(typeof tape === "string" ? tape : stored(tape), strategies, options), {
    ...(fixture === undefined ? {} : { fixture }),
    ...(seed === undefined ? {} : { seed }),
    ...(limits === undefined ? {} : { limits }),
    ...(onProgress === undefined ? {} : { onProgress }),
    ...(print === undefined ? {} : { print }),
  });
};

/** Rests far below the market and never trades. */
export const far = (slot = "far", px = "30000") => ({ slot, instId: swap, side: "buy" as const, px, qty: "0.01" });
