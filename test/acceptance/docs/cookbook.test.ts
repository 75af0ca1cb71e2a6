/**
 * The recipes of the cookbook do what their pages promise: strategies trade the recorded hour, plugins and programs are used.
 */
import { rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { backtest, paper, type RunReport, runBacktest } from "../../../src/backtest.ts";
import {
  abs,
  add,
  type CandleHistory,
  type Config,
  compare,
  definePlugin,
  type Event,
  type EventMap,
  isPositive,
  mul,
  type Plugin,
  sub,
  sum,
} from "../../../src/index.ts";
import { testPlugin } from "../../../src/testing.ts";
import ladder from "../../../strategies/ladder.ts";
import { writeDocFiles } from "../../support/doc-blocks.ts";

const place = writeDocFiles("doc-cookbook");

afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

const load = async <T>(path: string): Promise<T> => (await import(/* @vite-ignore */ join(place, path))) as T;

interface Ran {
  readonly report: RunReport;
  readonly events: readonly Event[];
  readonly fills: readonly EventMap["fill"][];
}

/** A config of a page in a backtest, and everything that happened. */
const ran = async (path: string): Promise<Ran> => ranWith((await load<{ readonly default: Config }>(path)).default);

const ranWith = async (config: Config): Promise<Ran> => {
  const events: Event[] = [];
  const listener = definePlugin({
    name: "listener",
    options: { type: "object", additionalProperties: false, properties: {} },
    setup: ({ events$ }) => {
      events$.subscribe((event) => events.push(event));
    },
  });
  const report = await runBacktest({ ...config, plugins: [...(config.plugins ?? []), listener({})] });
  return { report, events, fills: events.filter((event) => event.type === "fill") };
};

const ofType = <T extends Event["type"]>(
  events: readonly Event[],
  type: T,
): readonly Extract<Event, { readonly type: T }>[] =>
  events.filter((event): event is Extract<Event, { readonly type: T }> => event.type === type);

const grouped = <T, K>(values: readonly T[], keyOf: (value: T) => K): ReadonlyMap<K, readonly T[]> => {
  const groups = new Map<K, T[]>();
  for (const value of values) groups.set(keyOf(value), [...(groups.get(keyOf(value)) ?? []), value]);
  return groups;
};

/** Nothing was turned down, and no rate limit was met. */
const expectClean = ({ report }: Ran, name: string): void => {
  expect(report.perStrategy[name]).toMatchObject({ state: "running", rejected: 0, refused: 0 });
  expect(report.quota.rejected429).toBe(0);
};

describe("RSI with a stop", () => {
  it("leaves at the stop whenever the bid falls to it, and holds nothing afterwards", async () => {
    const run = await ran("cookbook/rsi-with-a-stop/config/rsi-stop.ts");
    expectClean(run, "rsi-stop");
    const triggered = ofType(run.events, "protection.triggered");
    expect(triggered.length).toBeGreaterThan(0);
    for (const { seq, kind, px, triggerPx, qty } of triggered) {
      expect(kind).toBe("stopLoss");
      expect(compare(px, triggerPx)).toBeLessThanOrEqual(0);
      const entry = run.fills.findLast((fill) => fill.seq < seq && fill.side === "buy");
      const exit = run.fills.find((fill) => fill.seq > seq);
      expect(exit).toMatchObject({ side: "sell", qty, position: "0" });
      // A tenth of a percent below the entry, up to a tick.
      expect(Number(sub(mul(entry?.px ?? "0", "0.999"), triggerPx))).toBeCloseTo(0, 0);
    }
    expect(run.fills.every(({ position }) => !isPositive(sub("0", position)))).toBe(true);
  });
});

describe("The breakout of the page on stops", () => {
  it("is closed by its protections alone, each time as a whole", async () => {
    const { default: breakout } = await load<{ readonly default: (options: object) => Config["strategies"][number] }>(
      "guides/stops/strategies/breakout.ts",
    );
    const run = await ranWith({
      service: backtest({ fixture: "test/fixtures/demo" }),
      strategies: [breakout({ instId: "BTC-USDT-SWAP" })],
    });
    expectClean(run, "breakout");
    const triggered = ofType(run.events, "protection.triggered");
    expect(triggered.length).toBeGreaterThan(1);
    expect(run.fills.filter(({ side }) => side === "sell")).toHaveLength(triggered.length);
    for (const { side, position } of run.fills) expect(position).toBe(side === "sell" ? "0" : "0.01");
  });
});

describe("The strategy of the page on positions", () => {
  it("takes its profit each time, and never holds more than one entry", async () => {
    const { default: takeProfit } = await load<{ readonly default: (options: object) => Config["strategies"][number] }>(
      "concepts/positions/strategies/take-profit.ts",
    );
    const run = await ranWith({
      service: backtest({ fixture: "test/fixtures/demo" }),
      strategies: [takeProfit({ instId: "BTC-USDT-SWAP", profit: "0.1" })],
    });
    expectClean(run, "take-profit");
    expect(run.fills.filter(({ side }) => side === "sell").length).toBeGreaterThan(2);
    for (const { position } of run.fills) expect(compare(position, "0.01")).toBeLessThanOrEqual(0);
  });
});

describe("Pairs", () => {
  it("opens and closes both legs together, one bought and one sold, of about the same value", async () => {
    const run = await ran("cookbook/pairs/config/pairs.ts");
    expectClean(run, "pairs");
    expect(run.fills.length).toBeGreaterThanOrEqual(4);
    const bursts = grouped(run.fills, ({ at }) => Math.floor(at / 60_000));
    for (const fills of bursts.values()) {
      const held = new Map(fills.map(({ instId, position }) => [instId, position]));
      expect(held.size).toBe(2);
      const [a, b] = [...held.values()] as [string, string];
      expect(compare(mul(a, b), "0")).toBeLessThanOrEqual(0);
      const values = [...held.keys()].map((instId) =>
        Number(sum(fills.filter((fill) => fill.instId === instId).map(({ px, qty }) => mul(px, qty)))),
      ) as [number, number];
      expect(Math.abs(values[0] / values[1] - 1)).toBeLessThan(0.05);
    }
  });
});

describe("The market maker", () => {
  it("buys and sells as a maker only, and never holds more than its bound", async () => {
    const run = await ran("cookbook/market-maker/config/skewed-maker.ts");
    expect(run.report.perStrategy["skewed-maker"]).toMatchObject({ state: "running", refused: 0 });
    expect(run.report.quota.rejected429).toBe(0);
    expect(new Set(run.fills.map(({ liquidity }) => liquidity))).toEqual(new Set(["maker"]));
    expect(new Set(run.fills.map(({ side }) => side))).toEqual(new Set(["buy", "sell"]));
    for (const { position } of run.fills) expect(compare(abs(position), "0.03")).toBeLessThanOrEqual(0);
    expect(run.fills.length).toBeGreaterThan(10);
    const { default: config } = await load<{ readonly default: Config }>(
      "cookbook/market-maker/config/skewed-maker.ts",
    );
    const strict = await ranWith({
      ...config,
      strategies: config.strategies.map((one) => one.with?.({ most: "0.01" }) ?? one),
    });
    expect(strict.fills.length).toBeGreaterThan(10);
    for (const { position } of strict.fills) expect(compare(abs(position), "0.01")).toBeLessThanOrEqual(0);
  });
});

describe("The grid", () => {
  it("earns a step on every pair of fills of a level, and one order of a level rests at a time", async () => {
    const run = await ran("cookbook/grid/config/grid.ts");
    expectClean(run, "grid");
    const levels = grouped(run.fills, ({ slot }) => slot);
    let pairs = 0;
    for (const fills of levels.values()) {
      let cash = "0";
      for (const { side, px, qty } of fills) cash = side === "buy" ? sub(cash, mul(px, qty)) : add(cash, mul(px, qty));
      const [bought, sold] = (["buy", "sell"] as const).map((side) =>
        sum(fills.filter((fill) => fill.side === side).map(({ qty }) => qty)),
      );
      if (compare(bought as string, sold as string) !== 0) continue;
      const closed = Number(sold) / 0.01;
      pairs += closed;
      // 30 a step times 0.01; a sale may be at a better price, never at a worse one.
      expect(compare(cash, mul("0.3", String(closed)))).toBeGreaterThanOrEqual(0);
    }
    expect(pairs).toBeGreaterThan(0);
  });
});

describe("History at the start", () => {
  it("makes the average ready with the first bar, and without a source after twenty", async () => {
    const { default: aboveAverage } = await load<{
      readonly default: (options: object) => Config["strategies"][number];
    }>("cookbook/history/strategies/above-average.ts");
    const cheap: CandleHistory = (_, barMs, __, to, count) =>
      Array.from({ length: count }, (___, index) => {
        const openedAt = (Math.floor(to / barMs) - count + index) * barMs;
        return { openedAt, open: "10", high: "10", low: "10", close: "10", volume: "1" };
      });
    const config: Config = {
      service: backtest({ fixture: "test/fixtures/demo" }),
      strategies: [aboveAverage({ instId: "BTC-USDT-SWAP" })],
    };
    const [ready, late] = [await ranWith({ ...config, history: cheap }), await ranWith(config)];
    expectClean(ready, "above-average");
    const minutes = ({ report, fills }: Ran): number =>
      ((fills[0]?.at ?? 0) - Date.parse(report.fixture.startAt)) / 60_000;
    expect(minutes(ready)).toBeLessThan(1.1);
    expect(minutes(late)).toBeGreaterThan(19);
  });
});

/** A page that keeps what is posted to it. */
const page = async (
  status: number,
): Promise<{ readonly url: string; readonly posted: unknown[]; readonly server: Server }> => {
  const posted: unknown[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (part: Buffer) => {
      text += part.toString();
    });
    request.on("end", () => {
      posted.push(JSON.parse(text));
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, posted, server };
};

const bid = { slot: "bid", instId: "BTC-USDT-SWAP", side: "buy", px: "59000", qty: "0.01" } as const;

describe("The webhook", () => {
  it.each([200, 500])("posts a fill, and says so where the page answers %d", async (status) => {
    const { default: postFills } = await load<{ readonly default: (options: object) => Plugin }>(
      "cookbook/webhook/plugins/post-fills.ts",
    );
    const { url, posted, server } = await page(status);
    const t = await testPlugin(postFills({ url }));
    t.quote("BTC-USDT-SWAP", { bidPx: "60000", askPx: "60001" });
    t.want([bid]);
    await t.advance();
    t.fill("bid");
    await t.advance();
    await expect.poll(() => posted).toHaveLength(1);
    expect(posted[0]).toMatchObject({ type: "fill", side: "buy", qty: "0.01", px: "59000", position: "0.01" });
    await expect.poll(() => t.printed.length).toBe(status === 200 ? 0 : 1);
    await t.stop();
    server.close();
  });
});

describe("The HTTP server", () => {
  it("shows an engine's state, halts it and stops it", async () => {
    const { startServer } = await load<{
      readonly startServer: (
        config: Config,
        port: number,
      ) => Promise<{ readonly server: Server; readonly close: () => Promise<void> }>;
    }>("cookbook/http-server/server.ts");
    const { server, close } = await startServer(
      { service: paper(), strategies: [ladder({ instId: "BTC-USDT-SWAP" })] },
      0,
    );
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const json = async (path: string, method = "GET"): Promise<unknown> =>
      (await fetch(`${url}${path}`, { method })).json();
    expect(await json("/strategies")).toEqual({ ladder: { state: "running" } });
    expect(await json("/quota")).toMatchObject({
      layers: expect.arrayContaining([expect.objectContaining({ layer: "uid" })]) as unknown,
    });
    expect(await json("/orders")).toMatchObject({ stale: expect.any(Boolean) as unknown });
    expect(await json("/halt", "POST")).toEqual({ mode: "halted" });
    expect(await json("/resume", "POST")).toEqual({ mode: "active" });
    expect((await fetch(`${url}/none`)).status).toBe(404);
    await close();
  });
});
