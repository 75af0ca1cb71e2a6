import { filter, map, pairwise } from "rxjs";
import { describe, expect, it } from "vitest";
import type { CcxtMarket } from "../../../plugins/ccxt/ccxt-exchange.ts";
import { ccxtMarket, fromCcxt } from "../../../plugins/ccxt/index.ts";
import { ensureMarket } from "../../../plugins/session/market-fixture.ts";
import { recordEngine } from "../../../plugins/session/recorded-engine.ts";
import { createSessionFile, readSession } from "../../../plugins/session/session-file.ts";
import {
  backtest,
  constant,
  type LivePrices,
  paper,
  type RunDetails,
  runBacktest,
  withDetails,
} from "../../../src/backtest.ts";
import type { ServiceEnv } from "../../../src/client/service-port.ts";
import type { Clock } from "../../../src/clock/clock.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { grid } from "../../../src/decimal.ts";
import { type Config, createEngine, type Event, type HistorySource, type Strategy } from "../../../src/index.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";
import { generateTape, instrumentFor } from "../../../src/market/tape/generate.ts";
import { type Tape, timeAt } from "../../../src/market/tape/tape.ts";
import { CcxtLike, swap } from "../ccxt/harness/ccxt-like.ts";
import { newFolder, strategy } from "./harness/session.ts";

const instId = "BTC-USDT-SWAP";
const symbol = "BTC/USDT:USDT";
const market = swap(symbol, { maker: 0.00015, taker: 0.00045 });
const minutes = 5;
const made = generateTape({ seed: "live", minutes, instruments: [instrumentFor(instId)], startAt: 0 });

/** Tells the rows of `tape` from three seconds after its start on, as a connection of ccxt would. */
const playTo = (exchange: CcxtLike, clock: Clock, tape: Tape): void => {
  const { tickSize, lotSize } = tape.instruments[0] as Tape["instruments"][0];
  const [tick, lot] = [grid(tickSize), grid(lotSize)];
  const startAt = clock.now() + 3_000;
  for (let index = 0; index < tape.length; index++) {
    const series = tape.series[tape.order.series[index] as number] as Tape["series"][0];
    const row = tape.order.row[index] as number;
    const at = startAt + timeAt(tape, index);
    clock.setTimer(at, () => {
      if (series.kind === "trade") {
        const [price, amount] = [tick.format(series.px[row] as number), lot.format(series.qty[row] as number)];
        exchange.tell(`trades ${symbol}`, [
          { id: `t${index}`, timestamp: Math.floor(at), side: series.side[row] === 1 ? "buy" : "sell", price, amount },
        ]);
      } else if (series.kind === "quote") {
        const [bid, ask] = [tick.format(series.bidPx[row] as number), tick.format(series.askPx[row] as number)];
        const [bidVolume, askVolume] = [
          lot.format(series.bidQty[row] as number),
          lot.format(series.askQty[row] as number),
        ];
        exchange.tell(`best ${symbol}`, { [symbol]: { symbol, bid, bidVolume, ask, askVolume } });
      }
    });
  }
};

class LiveLike extends CcxtLike {
  override readonly has = { fetchTrades: true, fetchTicker: true, watchTrades: true, watchBidsAsks: true };
  override markets: Record<string, CcxtMarket> = { [symbol]: market };
}

/** An exchange that tells the made market on the clock of whoever opens it. */
const played = (
  then: (exchange: LiveLike, clock: Clock) => void = (exchange, clock) => playTo(exchange, clock, made),
) => {
  const exchanges: LiveLike[] = [];
  const source: LivePrices = {
    name: "testex",
    open: async (parts) => {
      const exchange = new LiveLike(parts.clock.now);
      exchanges.push(exchange);
      const opened = await ccxtMarket(exchange, { instruments: [instId], staleMs: 30_000 }).open(parts);
      then(exchange, parts.clock);
      return opened;
    },
  };
  return { source, exchanges };
};

/** Rests where the price just was, and takes now and then. */
const trader = (): Strategy =>
  strategy("trader", {
    wanted: ({ market: prices }) =>
      prices.quotes(instId).pipe(
        pairwise(),
        filter((_, index) => index % 7 === 0),
        map(([before, now], round) => [
          {
            slot: "rest",
            instId,
            side: round % 2 === 0 ? ("buy" as const) : ("sell" as const),
            px: round % 2 === 0 ? before.bidPx : before.askPx,
            qty: "0.05",
          },
          ...(round % 5 === 0
            ? [
                {
                  slot: "take",
                  instId,
                  side: now.bidFloat > before.bidFloat ? ("buy" as const) : ("sell" as const),
                  ordType: "market" as const,
                  qty: "0.02",
                  round,
                },
              ]
            : []),
        ]),
      ),
  });

type Facts = Readonly<Record<string, unknown>>;

const eventsOf = (dir: string, type: string): readonly Facts[] =>
  [...readSession(dir).records()].flatMap((one) =>
    "out" in one && one.out === "event" && (one.event as Facts)["type"] === type ? [one.event as Facts] : [],
  );

/** Runs an engine on the source, recorded, and gives the folder of the session. */
const run = async (source: LivePrices, strategies: readonly Strategy[], ms: number, history?: HistorySource) => {
  const clock = createVirtualClock(1_767_575_000_000.25);
  const dir = newFolder();
  const service = paper({ market: source, latency: constant(7.5), clock });
  const engine = recordEngine({ service, strategies, ...(history && { history }) }, (facts) =>
    createSessionFile(dir, facts),
  );
  const drive = async (until: number): Promise<void> => {
    await letPromisesSettle();
    while (clock.step(until)) {
      await engine.settled();
      await letPromisesSettle();
    }
  };
  await engine.load();
  const started = engine.start();
  await drive(clock.now() + 2_000);
  await started;
  await drive(clock.now() + ms);
  const stopped = engine.stop();
  await drive(clock.now() + 2_000);
  await stopped;
  return { dir, clock };
};

describe("Paper on live prices", () => {
  it("fills as a backtest of the same rows does, to the last digit", async () => {
    const { source, exchanges } = played();
    const { dir, clock } = await run(source, [trader()], minutes * 60_000 + 5_000);
    // Best prices that did not change are no news.
    const [quotes, trades] = made.series;
    if (quotes?.kind !== "quote" || trades?.kind !== "trade") throw new Error("quotes come first");
    const columns = [quotes.bidPx, quotes.bidQty, quotes.askPx, quotes.askQty];
    const isChanged = (row: number): boolean => row === 0 || columns.some((column) => column[row] !== column[row - 1]);
    ensureMarket(readSession(dir));
    const { tape } = readFixture(dir);
    const startAt = (tape.series[0]?.at[0] as number) - (quotes.at[0] as number);
    const since = (at: Float64Array): readonly number[] => Array.from(at, (one) => one - startAt);
    expect(since(tape.series[0]?.at as Float64Array)).toEqual(Array.from(quotes.at).filter((_, row) => isChanged(row)));
    expect(since(tape.series[1]?.at as Float64Array)).toEqual(Array.from(trades.at));
    const fees = { makerBps: "1.5", takerBps: "4.5" };
    const config: Config = {
      service: backtest({ latency: constant(7.5, { feedMs: 0 }), fees }),
      strategies: [trader()],
    };
    let details: RunDetails | undefined;
    const report = await runBacktest(
      withDetails(config, (told) => {
        details = told;
      }),
      { fixture: dir },
    );
    const fillsOf = (fills: readonly object[]) =>
      (fills as readonly Facts[]).map(({ at, side, px, qty, fee }) => [
        at,
        side,
        px,
        qty,
        String(fee).replace("-", ""),
      ]);
    const live = eventsOf(dir, "fill");
    expect(details?.fills.length).toBeGreaterThan(60);
    expect(fillsOf(live).map(([, ...facts]) => facts)).toEqual(
      fillsOf(details?.fills ?? []).map(([, ...facts]) => facts),
    );
    expect(live.at(-1)?.["position"]).toBe(report.positions[0]?.qty);
    expect([exchanges[0]?.closed, clock.nextAt()]).toEqual([1, Number.POSITIVE_INFINITY]);
  });

  const bought = (): Strategy =>
    strategy("bought", {
      wanted: ({ market: prices }) =>
        prices.quotes(instId).pipe(
          map(() => [
            {
              slot: "entry",
              instId,
              side: "buy" as const,
              ordType: "market" as const,
              qty: "0.01",
              protect: { stopLoss: { percent: "1" } },
            },
          ]),
        ),
    });
  const quote = (exchange: CcxtLike, bid: string, ask: string): void =>
    exchange.tell(`best ${symbol}`, { [symbol]: { bid, bidVolume: 1, ask, askVolume: 1 } });

  it("tells when a held position is without a price, and refuses orders until one comes", async () => {
    const { source } = played((exchange, clock) => {
      clock.setTimer(clock.now() + 3_000, () => quote(exchange, "60000", "60000.1"));
      clock.setTimer(clock.now() + 200_000, () => quote(exchange, "60000.1", "60000.2"));
    });
    const refusals: (string | undefined)[] = [];
    const clock = createVirtualClock(1_767_575_000_000);
    const spec = paper({ market: source, latency: constant(7.5), clock });
    // As on the machine's clock.
    const engine = createEngine({
      service: { ...spec, open: (env: ServiceEnv) => ({ ...spec.open(env), realTime: true }) },
      strategies: [bought()],
    });
    const events: Event[] = [];
    engine.events$.subscribe((event) => events.push(event));
    const drive = async (until: number): Promise<void> => {
      await letPromisesSettle();
      while (clock.step(until)) await letPromisesSettle();
      clock.advanceTo(until);
    };
    await engine.load();
    const started = engine.start();
    await drive(clock.now() + 2_000);
    await started;
    for (const second of [0.5, 5, 40, 199.5])
      clock.setTimer(clock.now() + second * 1_000, () => refusals.push(engine.service.ordersRefused?.()));
    await drive(clock.now() + 205_000);
    const told = events.flatMap((event) => (event.type === "anomaly" ? [`${event.what}: ${event.detail}`] : []));
    expect(told).toEqual([
      "market.stale: testex: no price of BTC-USDT-SWAP for 35 s",
      "market.back: testex: BTC-USDT-SWAP has prices again",
    ]);
    expect(JSON.stringify(events.find((event) => JSON.stringify(event).includes("60 s")))).toContain(
      "no best price of BTC-USDT-SWAP has come for 60 s",
    );
    expect(refusals).toEqual([
      "testex has sent no price yet",
      undefined,
      "testex has sent no price for 39 s",
      undefined,
    ]);
    expect(events.filter(({ type }) => type === "fill")).toMatchObject([{ side: "buy", px: "60000.1", qty: "0.01" }]);
    await engine.stop();
    expect(clock.nextAt()).toBe(Number.POSITIVE_INFINITY);
  });

  it("begins bars with those the exchange had before", async () => {
    const minuteAt = Math.floor(1_767_575_000_000 / 60_000) * 60_000;
    const { source } = played((exchange, clock) => playTo(exchange, clock, made));
    const past = new LiveLike(() => 0, 0);
    past.bars = Array.from({ length: 9 }, (_, index) => [
      minuteAt - (8 - index) * 60_000,
      100,
      110,
      90,
      `${101 + index}.5`,
      3,
    ]);
    const seen: string[] = [];
    const watcher = strategy("watcher", {
      wanted: ({ market: prices }) =>
        prices.candles(instId, 60_000, { history: 3 }).pipe(
          map(({ openedAt, close, volume }) => {
            seen.push(`${(openedAt - minuteAt) / 60_000} ${close} ${volume}`);
            return [];
          }),
        ),
    });
    await run(source, [watcher], 130_000, fromCcxt(past));
    // The bar under way at the start is read when it has ended, which the exchange shows as it was.
    expect(seen.slice(0, 4)).toEqual(["-3 106.5 3", "-2 107.5 3", "-1 108.5 3", "0 109.5 3"]);
    expect(seen.length).toBeGreaterThan(4);
  });

  it.each<[string, object, RegExp]>([
    ["fixture", { fixture: "x" }, /fixture goes with a market that is played, and market is live/],
    ["instruments", { instruments: ["BTC-USDT-SWAP"] }, /instruments goes with a market that is played/],
    ["an unknown option", { fixtures: "x" }, /fixtures/],
  ])("refuses %s beside it", (_, more, message) => {
    expect(() => paper({ market: played().source, ...more })).toThrow(message);
  });

  it("does not start where a product is not there, and says so", async () => {
    const clock = createVirtualClock(0);
    const service = paper({ market: ccxtMarket(new LiveLike(clock.now), { instruments: ["XRP-USDT"] }), clock });
    const engine = createEngine({ service, strategies: [bought()] });
    await expect(engine.start()).rejects.toMatchObject({
      code: "INSTRUMENT_UNKNOWN",
      message: expect.stringContaining("testex lists no XRP-USDT"),
    });
    expect(clock.nextAt()).toBe(Number.POSITIVE_INFINITY);
  });
});
