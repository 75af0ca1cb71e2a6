/** History in a backtest: what strategies have seen of the recording, what lies before its window, and a source of the config. */
import { concatMap, map, mergeMap, NEVER, type Observable, take, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { fromFolder } from "../../../plugins/session/folder-history.ts";
import { createTape, runBacktest, type Tape } from "../../../src/backtest.ts";
import type { Candle, HistorySource, Strategy, StrategyContext } from "../../../src/index.ts";
import { cutTape, rowsBeforeWindow } from "../../../src/market/cut-tape.ts";
import { type Series, seriesOf } from "../../../src/market/tape/tape.ts";
import {
  btc,
  candles,
  configOf,
  quoteTape,
  recorder,
  startAt,
  stored,
  strategy,
  swap,
} from "../../support/harness/backtest.ts";

const minute = 60_000;
const closes = Array.from({ length: 60 }, (_, index) => 600_000 + ((index * 37) % 101));
const bars = (): Series =>
  candles(
    closes.map((close) => [600_000, 600_200, 599_000, close]),
    minute,
  );

/** A trade each 700 ms for `seconds`, its price and quantity told by its number. */
const trades = (seconds: number): Series => {
  const count = Math.floor((seconds * 1_000) / 700);
  const column = (of: (index: number) => number) => Float64Array.from({ length: count }, (_, index) => of(index));
  const side = Int8Array.from({ length: count }, () => 1);
  const [px, qty] = [column((index) => 600_000 + ((index * 31) % 97)), column((index) => (index % 7) + 1)];
  return seriesOf(
    "trade",
    0,
    column((index) => startAt + index * 700),
    [side, px, qty],
  );
};

const texts = ({ at, open, high, low, close, volume }: Candle): string =>
  `${(at - startAt) / minute} ${open} ${high} ${low} ${close} ${volume}`;

interface Heard {
  readonly seen: string[];
  readonly anomalies: readonly string[];
}

/** Runs a strategy that notes what `watch` emits. */
const hear = async (
  dir: string,
  watch: (context: StrategyContext<object>) => Observable<string>,
  {
    market,
    history,
  }: { readonly market?: Parameters<typeof runBacktest>[1] & object; readonly history?: HistorySource } = {},
): Promise<Heard> => {
  const seen: string[] = [];
  const ears: Strategy = strategy("ears", { run: (context) => watch(context).pipe(map((text) => seen.push(text))) });
  const { events, plugin } = recorder();
  const config = configOf(dir, [ears], { plugins: [plugin] });
  await runBacktest(history === undefined ? config : { ...config, history }, market ?? {});
  return {
    seen,
    anomalies: events.flatMap((event) => (event.type === "anomaly" ? [`${event.what}: ${event.detail}`] : [])),
  };
};

/** Listens from `afterMs` after the beginning of the recording on. */
const late =
  (afterMs: number, barMs: number, history: number) =>
  ({ market, now }: StrategyContext<object>): Observable<string> =>
    timer(startAt + afterMs - now()).pipe(
      mergeMap(() => market.candles(swap, barMs, { history })),
      map(texts),
    );

const fromTheStart =
  (barMs: number) =>
  ({ market }: StrategyContext<object>): Observable<string> =>
    market.candles(swap, barMs).pipe(map(texts));

describe("A strategy that asks for history in the middle of a recording", () => {
  // What was recorded at 13:00 has not been delivered then; a bar of trades ends by the clock.
  it.each([
    ["recorded bars", minute, bars, [660, 720]],
    ["longer bars of recorded ones", 5 * minute, bars, [300, 300]],
    ["bars of trades", minute, () => trades(3_600), [720, 720]],
    ["bars of trades, shorter than a minute", 10_000, () => trades(1_000), [770, 790]],
  ])("sees the %s that it would have seen from the start", async (_, barMs, series, firsts) => {
    const dir = stored(createTape([btc], [series()]));
    const { seen: all } = await hear(dir, fromTheStart(barMs));
    for (const [index, afterMs] of [13 * minute, 13.37 * minute].entries()) {
      const { seen, anomalies } = await hear(dir, late(afterMs, barMs, 2));
      expect(Number(seen[0]?.split(" ")[0]) * 60).toBeCloseTo(firsts[index] as number, 6);
      expect(seen.length).toBeGreaterThan(6);
      expect(all.slice(-seen.length)).toEqual(seen);
      expect(anomalies).toEqual([]);
    }
  });

  it("sees nothing of the current instant or later", async () => {
    const dir = stored(createTape([btc], [bars(), trades(600)]));
    const { seen } = await hear(dir, ({ market, now }) =>
      timer(0, 17_300).pipe(
        concatMap(() => {
          const since = now();
          const begun: string[] = [];
          market
            .candles(swap, minute, { history: 3 })
            .subscribe(({ at }) => begun.push(at <= since ? "past" : "future"))
            .unsubscribe();
          market
            .trades(swap, { history: 3 })
            .subscribe(({ at }) => begun.push(at < since ? "past" : "future"))
            .unsubscribe();
          return begun;
        }),
      ),
    );
    expect(seen.length).toBeGreaterThan(400);
    expect(new Set(seen)).toEqual(new Set(["past"]));
  });

  it("sees each trade once", async () => {
    const dir = stored(createTape([btc], [trades(60)]));
    const { seen } = await hear(dir, ({ market, now }) =>
      timer(startAt + 20_000 - now()).pipe(
        mergeMap(() => market.trades(swap, { history: 5 })),
        take(10),
        map(({ px, qty }) => `${px} ${qty}`),
      ),
    );
    // Of the 20 seconds before, trade 28 at 19.6 s is the last that the feed had brought.
    expect(seen).toEqual(
      Array.from({ length: 10 }, (_, index) => {
        const trade = 24 + index;
        return `${((600_000 + ((trade * 31) % 97)) / 10).toFixed(1).replace(/\.0$/, "")} ${((trade % 7) + 1) / 1_000}`;
      }),
    );
  });

  it("sees the latest quote once", async () => {
    const rows = Array.from({ length: 100 }, (_, index) => [index * 1_000, 600_000 + index, 5, 600_001 + index, 5]);
    const { seen } = await hear(stored(quoteTape(rows)), ({ market, now }) =>
      timer(startAt + 20_500 - now()).pipe(
        mergeMap(() => market.quotes(swap, { history: 3 })),
        take(5),
        map(({ bidPx }) => bidPx),
      ),
    );
    expect(seen).toEqual(["60001.8", "60001.9", "60002", "60002.1", "60002.2"]);
  });

  it("is told once where the recording holds fewer", async () => {
    const dir = stored(createTape([btc], [bars()]));
    const { seen, anomalies } = await hear(dir, late(10 * minute, minute, 200));
    expect(seen.map((text) => text.split(" ")[0])).toEqual(Array.from({ length: 60 }, (_, index) => String(index + 1)));
    expect(anomalies).toEqual([
      expect.stringMatching(/^history\.short: 60000 ms bars of BTC-USDT-SWAP: 200 were asked for, and there are \d+$/),
    ]);
  });
});

describe("The window of a longer recording", () => {
  it.each([
    ["recorded bars", minute, bars],
    ["longer bars of recorded ones", 5 * minute, bars],
    ["bars of trades", 5 * minute, () => trades(3_600)],
  ])("begins with the %s before it", async (_, barMs, series) => {
    const whole: Tape = createTape([btc], [series()]);
    const dir = stored(whole);
    const { seen: all } = await hear(dir, fromTheStart(barMs));
    // In the middle of a bar of either length.
    const window = { fromAt: startAt + 31.5 * minute, toAt: startAt + 50 * minute };
    const market = {
      tape: cutTape(whole, window),
      before: rowsBeforeWindow(whole, window),
      facts: { name: "cut", contentHash: "0" },
    };
    const watch = ({ market: seenMarket }: StrategyContext<object>) =>
      seenMarket.candles(swap, barMs, { history: 4 }).pipe(map(texts));
    const { seen, anomalies } = await hear(dir, watch, { market: { market } });
    const place = all.indexOf(seen[0] as string);
    expect(seen.length).toBeGreaterThan(6);
    expect(seen).toEqual(all.slice(place, place + seen.length));
    const beginsAt = (market.tape.startAt - startAt - 3_000) / minute;
    expect(seen.filter((text) => Number(text.split(" ")[0]) <= beginsAt)).toHaveLength(4);
    expect(anomalies).toEqual([]);
  });
});

describe("A history source in the config of a backtest", () => {
  const early = (): string => {
    const series = bars();
    return stored(createTape([btc], [{ ...series, at: series.at.map((at) => at - 60 * minute) } as Series]));
  };

  it("lies before the recording", async () => {
    const dir = stored(createTape([btc], [bars()]));
    const watch = ({ market }: StrategyContext<object>) =>
      market.candles(swap, minute, { history: 3 }).pipe(take(5), map(texts));
    const { seen, anomalies } = await hear(dir, watch, { history: fromFolder(early()) });
    // The recording's first row is the close of its first bar.
    expect(seen.map((text) => text.split(" ")[0])).toEqual(["-2", "-1", "0", "1", "2"]);
    expect(anomalies).toEqual([]);
    expect(await hear(dir, watch, { history: fromFolder(early()) })).toEqual({ seen, anomalies });
  });

  it("is refused where it has to be waited for", async () => {
    const dir = stored(createTape([btc], [bars()]));
    const source: HistorySource = { name: "slow", candles: () => Promise.resolve([]) };
    const { seen, anomalies } = await hear(
      dir,
      ({ market }) => market.candles(swap, minute, { history: 3 }).pipe(map(texts)),
      {
        history: source,
      },
    );
    expect(seen).toHaveLength(60);
    expect(anomalies).toEqual([
      expect.stringMatching(/^history\.failed: .*slow: its answer is a promise, and virtual time does not wait/),
    ]);
  });

  it("that is missing is told by its folder, and the run goes on", async () => {
    const dir = stored(createTape([btc], [bars()]));
    const { seen, anomalies } = await hear(
      dir,
      ({ market }) => market.candles(swap, minute, { history: 3 }).pipe(map(texts)),
      {
        history: fromFolder("no/such/folder"),
      },
    );
    expect(seen).toHaveLength(60);
    expect(anomalies).toEqual([expect.stringMatching(/^history\.failed: .*fromFolder\("no\/such\/folder"\): /)]);
  });

  it("that is no source is refused with what to write", async () => {
    const dir = stored(createTape([btc], [bars()]));
    const config = { ...configOf(dir, [strategy("idle", { wanted: () => NEVER })]), history: "out/perp" };
    await expect(runBacktest(config)).rejects.toThrow(
      /config\.history: "out\/perp" is no history source\. Write fromFolder/,
    );
  });
});

it("Streams without history are untouched by a source", async () => {
  const dir = stored(createTape([btc], [bars()]));
  let asked = 0;
  const source: HistorySource = {
    name: "counted",
    candles: () => {
      asked++;
      return [];
    },
  };
  const plain = await hear(dir, fromTheStart(minute));
  expect(await hear(dir, fromTheStart(minute), { history: source })).toEqual(plain);
  expect(asked).toBe(0);
});
