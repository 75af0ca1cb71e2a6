/** What a history source answered is part of a session: a replay gives the same without asking it. */
import { rmSync } from "node:fs";
import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import { fromFolder } from "../../../plugins/session/folder-history.ts";
import { writeMarket } from "../../../plugins/session/market-fixture.ts";
import { replaySession } from "../../../plugins/session/replayer.ts";
import { readSession } from "../../../plugins/session/session-file.ts";
import type { Candle, HistoryCandle, HistorySource } from "../../../src/index.ts";
import { linesOf, type Recording, record, rewrite, strategy } from "./harness/session.ts";

const swap = "BTC-USDT-SWAP";
const barMs = 2_000;
const same = { divergence: undefined, changed: [], notes: [] };

/** Bids for what the last bar closed at, far below the market. */
const follower = (seen: string[], history = 3) =>
  strategy("follower", {
    wanted: ({ market }) =>
      market.candles(swap, barMs, { history }).pipe(
        map(({ at, close }: Candle) => {
          seen.push(`${at} ${close}`);
          return [
            {
              slot: "bid",
              instId: swap,
              side: "buy" as const,
              px: close.slice(0, 2).padEnd(5, "0"),
              qty: "0.01",
              keepWithin: "999",
            },
          ];
        }),
      ),
  });

const barsBefore = (to: number, count: number, px = 3): readonly HistoryCandle[] =>
  Array.from({ length: count }, (_, index) => {
    const close = String(px * 10_000 + index);
    return {
      openedAt: Math.floor(to / barMs) * barMs - (count - index) * barMs,
      open: close,
      high: close,
      low: close,
      close,
      volume: "1",
    };
  });

const source = (candles: HistorySource["candles"]): HistorySource => ({ name: "far away", candles });

const recorded = async (history: HistorySource | undefined, ms = 9_000) => {
  const seen: string[] = [];
  const recording = await record([follower(seen)], { ms, ...(history !== undefined && { history }) });
  return { recording, seen };
};

const again = async ({ dir, config }: Recording, history: HistorySource | undefined) => {
  const seen: string[] = [];
  const report = await replaySession(readSession(dir), {
    ...config,
    strategies: [follower(seen)],
    ...(history !== undefined && { history }),
  });
  return { report, seen };
};

const untouched = source(() => {
  throw new Error("a replay asked the source");
});

describe("A session with a history source", () => {
  it.each<[string, HistorySource["candles"]]>([
    ["at once", (_, _barMs, _from, to, count) => barsBefore(to, count)],
    ["by a promise", async (_, _barMs, _from, to, count) => barsBefore(to, count)],
  ])("that answered %s is replayed without it", async (_, candles) => {
    const { recording, seen } = await recorded(source(candles));
    expect(seen.slice(0, 3).map((text) => text.split(" ")[1])).toEqual(["30000", "30001", "30002"]);
    expect(seen.length).toBeGreaterThan(4);
    const { report, seen: told } = await again(recording, untouched);
    expect(report).toMatchObject(same);
    expect(report.commands).toBeGreaterThan(3);
    expect(told).toEqual(seen);
  });

  it.each<[string, HistorySource["candles"]]>([
    [
      "threw",
      () => {
        throw new TypeError("no route");
      },
    ],
    ["rejected", () => Promise.reject(new TypeError("no route"))],
    ["answered what JSON cannot say", () => [1n] as never],
    ["answered nothing", () => undefined as never],
  ])("that %s is replayed with what was told of it", async (_, candles) => {
    const { recording, seen } = await recorded(source(candles));
    const told = linesOf(recording.dir).filter((line) => line.includes('"history.failed"'));
    expect(told).toHaveLength(1);
    const { report, seen: replayed } = await again(recording, untouched);
    expect(report).toMatchObject(same);
    expect(replayed).toEqual(seen);
  });

  it("that never answers is replayed to its deadline", async () => {
    const { recording, seen } = await recorded(
      source(() => new Promise(() => undefined)),
      14_000,
    );
    expect(linesOf(recording.dir).some((line) => line.includes('"history.unanswered"'))).toBe(true);
    expect(seen.length).toBeGreaterThan(0);
    const { report, seen: replayed } = await again(recording, untouched);
    expect(report).toMatchObject(same);
    expect(replayed).toEqual(seen);
  });

  it("that has trades is replayed with all their fields", async () => {
    const trades = async (instId: string, count: number, to: number) =>
      Array.from({ length: count }, (_, index) => {
        const at = to - 1_000 + index;
        return { instId, at, side: "buy" as const, px: "30000.5", qty: "0.3", pxFloat: 30000.5, qtyFloat: 0.3 };
      });
    const listening = (seen: string[]) =>
      strategy("listening", {
        wanted: ({ market }) =>
          market.trades(swap, { history: 2 }).pipe(
            map(({ at, px, pxFloat, qtyFloat }) => {
              seen.push(`${at} ${px} ${pxFloat} ${qtyFloat}`);
              return [];
            }),
          ),
      });
    const history: HistorySource = { ...source(() => []), trades };
    const seen: string[] = [];
    const { dir, config } = await record([listening(seen)], { history });
    expect(seen.slice(0, 2)).toEqual([
      expect.stringMatching(/ 30000\.5 30000\.5 0\.3$/),
      expect.stringMatching(/ 30000\.5 30000\.5 0\.3$/),
    ]);
    const again: string[] = [];
    expect(
      await replaySession(readSession(dir), { ...config, strategies: [listening(again)], history: untouched }),
    ).toMatchObject({
      divergence: undefined,
    });
    expect(again).toEqual(seen);
  });

  it("keeps its answers when the config has none any more", async () => {
    const { recording, seen } = await recorded(source((_, _barMs, _from, to, count) => barsBefore(to, count)));
    const { history: _, ...config } = recording.config;
    const { report, seen: replayed } = await again({ ...recording, config }, undefined);
    expect(report).toMatchObject({ ...same, changed: [] });
    expect(replayed).toEqual(seen);
  });

  it("diverges where the engine asks for something else", async () => {
    const { recording } = await recorded(source((_, _barMs, _from, to, count) => barsBefore(to, count)));
    const report = await replaySession(readSession(recording.dir), {
      ...recording.config,
      strategies: [follower([], 4)],
    });
    expect(report.divergence).toMatchObject({
      kind: "differs",
      fields: [{ path: "args.2" }, { path: "args.4", recorded: 3, replayed: 4 }],
    });
  });
});

describe("A recorded session as a history source", () => {
  /** A session of some seconds, and its market in bars of two seconds. */
  const session = async () => {
    const { recording } = await recorded(undefined, 60_000);
    const kept = fromFolder(recording.dir);
    const whole = await kept.candles(swap, barMs, 0, Number.MAX_SAFE_INTEGER, 100);
    return { dir: recording.dir, bars: whole.map(({ openedAt, close }) => `${openedAt} ${close}`) };
  };
  const barsOf = async (dir: string): Promise<readonly string[]> => {
    const bars = await fromFolder(dir).candles(swap, barMs, 0, Number.MAX_SAFE_INTEGER, 100);
    return bars.map(({ openedAt, close }) => `${openedAt} ${close}`);
  };

  it("gives the bars that its strategy saw, with its market beside it and without", async () => {
    const { recording, seen } = await recorded(undefined, 60_000);
    const shown = seen.map((text) => {
      const [at, close] = text.split(" ");
      return `${Number(at) - barMs} ${close}`;
    });
    expect(shown.length).toBeGreaterThan(6);
    expect(await barsOf(recording.dir)).toEqual(expect.arrayContaining(shown));
    writeMarket(readSession(recording.dir));
    expect(await barsOf(recording.dir)).toEqual(expect.arrayContaining(shown));
  });

  it("gives what is there of one that was cut off in a line", async () => {
    const { dir, bars } = await session();
    const lines = linesOf(dir);
    rewrite(dir, [...lines.slice(0, Math.floor(lines.length / 2)), '{"in":"stream","stre']);
    const half = await barsOf(dir);
    expect(half.length).toBeGreaterThan(1);
    expect(half.length).toBeLessThan(bars.length);
    expect(half.slice(0, -1)).toEqual(bars.slice(0, half.length - 1));
  });

  it("is missing by name where there is neither a session nor a fixture", async () => {
    const { dir } = await session();
    rmSync(dir, { recursive: true });
    await expect(barsOf(dir)).rejects.toMatchObject({ code: "FIXTURE_INVALID" });
  });
});
