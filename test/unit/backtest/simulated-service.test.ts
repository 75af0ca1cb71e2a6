import fc from "fast-check";
import { map } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Fills } from "../../../src/backtest/fill-models.ts";
import { rowTakers } from "../../../src/backtest/row-dispatch.ts";
import { createSimulated, userOf } from "../../../src/backtest/simulated-service.ts";
import { constant, createTape, lognormal, type Tape } from "../../../src/backtest.ts";
import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { emptyColumns, type Series, type SeriesKind, seriesOf } from "../../../src/market/tape/tape.ts";
import { createRandom } from "../../../src/random.ts";
import type { Venue } from "../../../src/venue/venue.ts";
import { btc, quoteTape, run, startAt, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { responsesOf } from "../../support/transports.ts";

describe("Market data of the simulated service", () => {
  const rows = Array.from({ length: 80 }, (_, index) => [
    index * 97 + ((index * 31) % 90),
    600_000 + index,
    5_000,
    600_010 + index,
    5_000,
  ]).sort(([a = 0], [b = 0]) => a - b);
  const dir = stored(quoteTape(rows));
  /** Milliseconds after the start at which each bid was seen. */
  const sights = async (
    latency: ReturnType<typeof constant>,
    seed = 1,
  ): Promise<readonly (readonly [bid: number, at: number])[]> => {
    const seen: [number, number][] = [];
    const eyes = strategy("eyes", {
      run: ({ market, now }) =>
        market.quotes(swap).pipe(
          map(({ bidFloat, at }) => {
            expect(at).toBe(now());
            seen.push([Math.round(bidFloat * 10), at - startAt]);
          }),
        ),
    });
    await run(dir, [eyes], { latency, seed });
    return seen;
  };

  it("is late by the feed's delay", async () => {
    const seen = await sights(constant(10, { feedMs: 35 }));
    expect(seen).toEqual(rows.map(([ms = 0, bid = 0]) => [bid, ms + 35]));
  });

  it("is never a quote before the service had it, nor one out of order, whatever the delays", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.double({ min: 0, max: 1.5, noNaN: true }),
        fc.nat(),
        async (medianMs, sigma, seed) => {
          const seen = await sights(lognormal({ medianMs, sigma, maxMs: 900 }), seed);
          expect(seen).toHaveLength(rows.length);
          seen.forEach(([bid, at], index) => {
            const [ms = 0, expected] = rows[index] ?? [];
            expect(bid).toBe(expected);
            expect(at).toBeGreaterThanOrEqual(ms);
          });
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe("Orders at the simulated service meet the market of their arrival:", () => {
  it("a market order sent at an old price pays the new one", async () => {
    const tape = quoteTape([
      [0, 600_000, 5_000, 600_010, 5_000],
      [1_000, 600_000, 5_000, 600_010, 5_000],
      [1_030, 610_000, 5_000, 610_010, 5_000],
    ]);
    const prices: string[] = [];
    const eager = strategy("eager", {
      wanted: ({ market, own }) => {
        own.updates$.subscribe(({ phase, record }) => {
          if (phase === "filled") prices.push(record?.avgPx ?? "");
        });
        return market
          .quotes(swap)
          .pipe(
            map(({ at }) =>
              at < startAt + 1_000
                ? []
                : [{ slot: "x", instId: swap, side: "buy" as const, ordType: "market" as const, qty: "0.01" }],
            ),
          );
      },
    });
    // Seen at 1020, sent at once, there at 1040: ten milliseconds after the price has gone.
    await run(tape, [eager], { latency: constant(20) });
    expect(prices).toEqual(["61001"]);
  });

  it("reads its service's clock: a skew changes nothing but the records", async () => {
    const once = strategy("once", {
      wanted: ({ market }) =>
        market
          .quotes(swap)
          .pipe(map(({ askPx }) => [{ slot: "x", instId: swap, side: "buy" as const, px: askPx, qty: "0.01" }])),
    });
    const tape = stored(
      quoteTape([
        [0, 600_000, 5_000, 600_010, 5_000],
        [90_000, 600_000, 5_000, 600_010, 5_000],
      ]),
    );
    const straight = await run(tape, [once]);
    const skewed = await run(tape, [once], { skewMs: 3_700 });
    expect(skewed.orders).toEqual(straight.orders);
    expect(skewed.quota.rejected429).toBe(0);
  });

  it("works without pushes: records are polled", async () => {
    const tape = stored(
      quoteTape(Array.from({ length: 120 }, (_, index) => [index * 1_000, 600_000, 5_000, 600_010, 5_000])),
    );
    const buyer = strategy("buyer", {
      wanted: ({ market }) =>
        market
          .quotes(swap)
          .pipe(map(({ askPx }) => [{ slot: "x", instId: swap, side: "buy" as const, px: askPx, qty: "0.01" }])),
    });
    const polled = await run(tape, [buyer], { push: false });
    expect(polled.orders).toMatchObject({ placed: 1, filled: 1 });
    expect(polled.assumptions).toContainEqual(expect.objectContaining({ what: "Order records", value: "polled" }));
  });
});

describe("The simulated service's rows without resting orders", () => {
  const coins = ["BTC", "ETH"];
  const fees = { makerBps: "2", takerBps: "5" };
  const never = (): void => expect.unreachable();
  const open = (tape: Tape, fills?: Fills) =>
    createSimulated(
      tape,
      createVirtualClock(startAt),
      {
        latency: constant(10),
        fees: { SPOT: fees, SWAP: fees },
        users: [userOf("u", { USDT: "100000", BTC: "1", ETH: "1" })],
        ...(fills && { fills }),
        limits: true,
        push: true,
        skewMs: 0,
        timeoutMs: 10_000,
      },
      { contract: createContract(), random: createRandom(1), onError: never, onAnomaly: never, leave: () => undefined },
    );

  it("is worth the same at every point whether its rows came one by one or late", () => {
    const price = fc.integer({ min: 1_000, max: 2_000 });
    const row = fc.record({ series: fc.integer({ min: 0, max: 2 }), px: price, qty: fc.integer({ min: 0, max: 3 }) });
    fc.assert(
      fc.property(fc.array(row, { minLength: 3, maxLength: 40 }), fc.integer({ min: 1, max: 9 }), (rows, each) => {
        const of = (which: number) =>
          rows.flatMap((one, index) => (one.series === which ? [{ ...one, at: startAt + index }] : []));
        const trades = (instrument: number) => ({
          kind: "trade" as const,
          instrument,
          at: Float64Array.from(of(instrument), ({ at }) => at),
          side: Int8Array.from(of(instrument), ({ px }) => (px % 2 === 0 ? 1 : -1)),
          px: Float64Array.from(of(instrument), ({ px }) => px),
          qty: Float64Array.from(of(instrument), ({ qty }) => qty + 1),
        });
        const quotes = {
          kind: "quote" as const,
          instrument: 1,
          at: Float64Array.from(of(2), ({ at }) => at),
          bidPx: Float64Array.from(of(2), ({ px }) => px),
          bidQty: Float64Array.from(of(2), ({ qty }) => qty),
          askPx: Float64Array.from(of(2), ({ px }) => px + 1),
          askQty: Float64Array.from(of(2), ({ qty }) => qty),
        };
        const instruments = coins.map((coin) => ({ instId: `${coin}-USDT`, tickSize: "0.1", lotSize: "0.001" }));
        const tape = createTape(instruments, [trades(0), trades(1), quotes]);
        const [prompt, late] = [open(tape), open(tape)];
        for (let from = 0; from < tape.length; from += each) {
          const to = Math.min(tape.length, from + each);
          for (let index = from; index < to; index++) prompt.apply(index, startAt);
          late.applyLate(from, to);
          expect(late.venue.equity("u")).toBe(prompt.venue.equity("u"));
        }
      }),
    );
  });

  const order = (service: ReturnType<typeof open>, content: object, path = "/api/v1/trade/order") => {
    const request = { method: "POST", path, query: {}, body: content, key: "u-1", ip: "local" };
    expect(service.venue.handle(request, startAt)).toMatchObject({ status: 200 });
  };
  const bid = { instId: swap, side: "buy", ordType: "limit", px: "60000", sz: "600", clOrdId: "a" };

  const bids = (...prices: readonly number[]) =>
    quoteTape(prices.map((px, index) => [index * 2_000, px, 5_000_000, px + 10, 5_000_000]));

  it("are quiet while no order rests", () => {
    const service = open(bids(600_000, 600_000));
    expect(service.quietUntil(0, 2)).toBe(2);
    order(service, bid);
    expect(service.quietUntil(0, 2)).toBe(0);
    order(service, [{ instId: swap, clOrdId: "a" }], "/api/v1/trade/cancel-batch-orders");
    expect(service.quietUntil(0, 2)).toBe(2);
  });

  it("with a position are quiet up to the first that comes near its liquidation", () => {
    const service = open(bids(600_000, 600_000, 640_000, 598_000, 590_000, 560_000, 600_000, 600_000));
    service.apply(0, startAt);
    const lever = (text: string) => {
      const body = { instId: swap, lever: text, mgnMode: "isolated" };
      const request = {
        endpoint: "setLeverage",
        method: "POST",
        path: "/api/v1/account/set-leverage",
        query: {},
        body,
        key: "u-1",
      } as const;
      responsesOf(service.transport, request).subscribe();
      (service.clock as VirtualClock).advanceTo(service.clock.now() + 50);
    };
    lever("20");
    order(service, { instId: swap, side: "buy", ordType: "market", sz: "600" });
    service.apply(1, startAt + 2_000);
    expect(service.quietUntil(2, 8)).toBe(5);
    expect(service.quietUntil(2, 4)).toBe(4);
    expect(service.quietUntil(6, 8)).toBe(8);
    lever("90");
    expect(service.quietUntil(2, 8)).toBe(4);
    // As much as 600 bought, at the price of a sale.
    order(service, { instId: swap, side: "sell", ordType: "market", sz: "540" });
    expect(service.quietUntil(2, 8)).toBe(8);
  });

  it("are not quiet any more after an order where volume counts", () => {
    const service = open(bids(600_000, 600_000), { from: "quotes", queue: "risk-averse", volume: "traded" });
    order(service, bid);
    order(service, [{ instId: swap, clOrdId: "a" }], "/api/v1/trade/cancel-batch-orders");
    expect(service.quietUntil(0, 2)).toBe(0);
  });
});

describe("Book rows at the simulated service:", () => {
  const series = (kind: SeriesKind, rows: readonly (readonly number[])[]): Series => {
    const columns = emptyColumns(kind, rows.length);
    for (const [index, column] of columns.entries()) column.set(rows.map((row) => row[index + 1] as number));
    return seriesOf(
      kind,
      0,
      Float64Array.from(rows, ([ms = 0]) => startAt + ms),
      columns,
    );
  };
  /** What the service is told of levels while the tape plays. */
  const levelsOf = (...all: readonly Series[]): readonly string[] => {
    const shown: string[] = [];
    const venue = {
      level: (_: string, side: string, px: number, qty: number) => shown.push(`${side} ${px} ${qty}`),
      quote: () => undefined,
    } as unknown as Venue;
    const tape = createTape([btc], all);
    const takers = rowTakers(tape, venue, createVirtualClock(startAt), 0);
    for (let index = 0; index < tape.length; index++)
      takers[tape.order.series[index] ?? 0]?.(tape.order.row[index] ?? 0, 0);
    return shown;
  };

  it("a snapshot takes away exactly what it does not show", () => {
    const rows = [
      [0, 1, 95, 1, 1],
      [0, 1, 94, 2, 0],
      [0, -1, 97, 3, 0],
      [1, 1, 94, 0, 0],
      [1, 1, 93, 4, 0],
      [2, 1, 95, 5, 1],
      [2, -1, 98, 6, 0],
    ];
    const shown = [
      "buy 95 1",
      "buy 94 2",
      "sell 97 3",
      "buy 94 0",
      "buy 93 4",
      "buy 93 0",
      "sell 97 0",
      "buy 95 5",
      "sell 98 6",
    ];
    expect(levelsOf(series("level", rows))).toEqual(shown);
  });

  it("a snapshot also takes away what only quotes have told", () => {
    const levels = series("level", [
      [0, 1, 95, 1, 1],
      [0, -1, 99, 1, 0],
      [2, 1, 95, 1, 1],
      [2, -1, 98, 1, 0],
    ]);
    const quotes = series("quote", [
      [1, 96, 5, 98, 5],
      [1, 95, 5, 97, 5],
      [1, 95, 5, 0, 0],
      [2, 94, 5, 98, 5],
    ]);
    expect(levelsOf(levels, quotes).slice(2)).toEqual(["buy 96 0", "sell 99 0", "sell 97 0", "buy 95 1", "sell 98 1"]);
  });
});
