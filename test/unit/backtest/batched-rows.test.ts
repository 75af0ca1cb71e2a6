import fc from "fast-check";
import { merge } from "rxjs";
import { describe, expect, it } from "vitest";
import { createPlayer } from "../../../src/backtest/player.ts";
import { createSimulated, userOf } from "../../../src/backtest/simulated-service.ts";
import { constant, createTape, type Tape } from "../../../src/backtest.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { CandleSeries, Series } from "../../../src/market/tape/tape.ts";
import { createRandom } from "../../../src/random.ts";
import type { FillVolume } from "../../../src/venue/queue-model.ts";
import { candleTape, startAt, swap } from "../../support/harness/backtest.ts";
import { responsesOf } from "../../support/transports.ts";

const barMs = 60_000;
const coins = ["BTC-USDT", "ETH-USDT"];
const ether = "ETH-USDT-SWAP";
const fees = { makerBps: "2", takerBps: "5" };
const never = (): void => expect.unreachable();

const open = (
  tape: Tape,
  {
    feedMs = 0,
    skewMs = 0,
    pessimistic = false,
    volume = "unlimited" as FillVolume,
    mixed = false,
    dense = false,
    usdt = "1000000",
  } = {},
) => {
  const clock = createVirtualClock(startAt - 1_000);
  const simulated = createSimulated(
    tape,
    clock,
    {
      latency: constant(10, { feedMs }),
      fees: { SPOT: fees, SWAP: fees },
      users: [userOf("u", { USDT: usdt, BTC: "1", ETH: "1" })],
      // Without one each product is filled by the finest it has.
      ...(!mixed &&
        !dense && {
          fills: { from: "candles", queue: "touch", volume, path: pessimistic ? "pessimistic" : "shortest" },
        }),
      limits: false,
      push: true,
      skewMs,
      timeoutMs: 10_000,
    },
    { contract: createContract(), random: createRandom(1), onError: never, onAnomaly: never, leave: () => undefined },
  );
  return { clock, simulated };
};

/** Bars with now and then one missing, as `[open, high, low, close]` in ticks. */
const bars = fc.array(
  fc
    .tuple(fc.integer({ min: 1_000, max: 1_050 }), fc.integer({ min: 0, max: 20 }), fc.nat(20), fc.nat(20), fc.nat(5))
    .map(([low, range, a, b, gap]) => ({
      bar: [low + Math.min(a, range), low + range, low, low + Math.min(b, range)],
      gap: gap === 0 ? 25_000 : 0,
    })),
  { minLength: 2, maxLength: 30 },
);

const seriesOf = (
  instrument: number,
  rows: readonly { readonly bar: readonly number[]; readonly gap: number }[],
): CandleSeries => {
  let at = startAt;
  const column = (index: number) => Float64Array.from(rows, ({ bar }) => bar[index] as number);
  return {
    kind: "candle",
    instrument,
    barMs,
    at: Float64Array.from(rows, ({ gap }) => (at += barMs + gap)),
    open: column(0),
    high: column(1),
    low: column(2),
    close: column(3),
    volume: Float64Array.from(rows, (_, index) => 3 + (index % 9)),
  };
};

/** A print at each close, and one more halfway to it. */
const tradesOf = (instrument: number, { at, open: opens, close }: CandleSeries): Series => ({
  kind: "trade",
  instrument,
  at: Float64Array.from([...at].flatMap((time) => [time - barMs / 2, time])),
  side: Int8Array.from([...at].flatMap((_, row) => [row % 3 === 0 ? 1 : -1, row % 2 === 0 ? 1 : -1])),
  px: Float64Array.from([...at].flatMap((_, row) => [opens[row] as number, close[row] as number])),
  qty: Float64Array.from([...at].flatMap((_, row) => [1 + (row % 7), 2 + (row % 5)])),
});

const funding = (instrument: number, hours: readonly number[]): Series => ({
  kind: "funding",
  instrument,
  at: Float64Array.from(hours, (hour) => startAt + hour),
  sign: Int8Array.from(hours, () => 1),
  rate: Float64Array.from(hours, () => 8_000_000_000_000_000),
});

const perBar = 24;

/** Prints from each open to each close, several a second: more than anybody looks at margins. */
const denseOf = (instrument: number, { at, open: opens, close }: CandleSeries): Series => {
  const rows = [...at].flatMap((time, bar) =>
    Array.from({ length: perBar }, (_, index) => {
      const [from, to] = [opens[bar] as number, close[bar] as number];
      return {
        time: time - barMs + index * 170,
        index,
        px: Math.round(from + ((to - from) * index) / (perBar - 1)) + ((index * 7) % 3),
      };
    }),
  );
  return {
    kind: "trade",
    instrument,
    at: Float64Array.from(rows, ({ time }) => time),
    side: Int8Array.from(rows, ({ index }) => (index % 11 < 8 ? 1 : -1)),
    px: Float64Array.from(rows, ({ px }) => px),
    qty: Float64Array.from(rows, ({ index }) => 5_000 + index),
  };
};

/** A mark around each close, in billionths of a tick. */
const marksOf = (instrument: number, { at, close }: CandleSeries): Series => ({
  kind: "mark",
  instrument,
  at: Float64Array.from(at, (time, row) => time - (row % 3) * 20_000),
  px: Float64Array.from(close, (px, row) => px - (row % 2)),
  part: Float64Array.from(at, (_, row) => (row % 4) * 250_000_000),
});

/** Waits after a delivery; thirds of a bar meet its prints at their very instant. */
const wait = fc.constantFrom(0, 1, 10, barMs / 3, (barMs * 2) / 3, barMs, 5 * barMs, -1, -1, -1, -1);

describe("Batched rows of an idle service", () => {
  it("are the same to whoever looks, asks or trades, whether their prints wait or not", () => {
    const gone = { late: 0, afterOrders: 0, fills: 0, holding: 0 };
    let liquidations = 0;
    fc.assert(
      fc.property(
        fc.tuple(bars, bars),
        fc.array(wait, { minLength: 3, maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 40 * barMs }), { maxLength: 3 }),
        fc.record({
          feedMs: fc.constantFrom(0, 25, barMs / 3, barMs, 3 * barMs),
          skewMs: fc.constantFrom(0, 700),
          pessimistic: fc.boolean(),
          mixed: fc.boolean(),
          volume: fc.constantFrom<FillVolume>("unlimited", "unlimited", "unlimited", "traded"),
          marked: fc.boolean(),
          dense: fc.boolean(),
          isolated: fc.boolean(),
          // What is behind positions of 200 in a market that moves by up to 7 %.
          usdt: fc.constantFrom("1000000", "30", "12", "8"),
        }),
        fc.uniqueArray(fc.nat(7), { maxLength: 3 }),
        fc.integer({ min: 1, max: 9 }),
        ([first, second], waits, paid, options, trades, rows) => {
          const instruments = [...coins, swap, ether].map((instId) => ({ instId, tickSize: "0.1", lotSize: "0.001" }));
          const times = paid.toSorted((a, b) => a - b);
          const tape = createTape(instruments, [
            seriesOf(0, first),
            options.mixed ? tradesOf(1, seriesOf(1, second)) : seriesOf(1, second),
            options.dense ? denseOf(2, seriesOf(2, first)) : seriesOf(2, first),
            seriesOf(3, second),
            ...(times.length > 0 ? [funding(2, times)] : []),
            ...(options.marked ? [marksOf(2, seriesOf(2, first))] : []),
          ]);
          const story = (late: boolean): readonly string[] => {
            const { clock, simulated } = open(tape, options);
            const { venue, feed } = simulated;
            const told: string[] = [];
            const tell = (text: string) => told.push(`${clock.now() - startAt} ${text}`);
            const look = (what: string) => tell(`${what} ${venue.equity("u")}`);
            const charged: string[] = [];
            venue.onFunding(({ at, px }) => charged.push(`funding ${at - startAt} ${px}`));
            venue.onFill((fill) => {
              gone.fills++;
              tell(JSON.stringify(fill));
            });
            venue.onLiquidation((closed) => {
              liquidations++;
              tell(JSON.stringify(closed));
            });
            let seen = 0;
            const send = (path: string, body: object): void => {
              const request = { method: "POST", path: `/api/v1/${path}`, query: {}, body, key: "u-1", ip: "local" };
              responsesOf(simulated.transport, { ...request, endpoint: "placeOrder" } as never).subscribe(
                ({ body: said }) => tell(JSON.stringify(said)),
              );
            };
            const trade = (count: number): void => {
              const side = count % 2 === 0 ? "buy" : "sell";
              const instId = [swap, ...coins, ether][count % 4];
              const price = count % 3 < 2 ? { ordType: "market" } : { ordType: "limit", px: "102.5" };
              if (count % 5 === 4) send("trade/cancel-batch-orders", [{ instId, clOrdId: `c${count - 1}` }]);
              else
                send("trade/order", {
                  instId,
                  side,
                  ...price,
                  sz: instId === swap || instId === ether ? "200" : "20",
                  clOrdId: `c${count}`,
                });
              if (count % 3 === 1)
                send("account/set-leverage", { instId: swap, lever: count % 2 === 0 ? "100" : "20" });
            };
            send("account/set-leverage", {
              instId: swap,
              lever: "50",
              mgnMode: options.isolated ? "isolated" : "cross",
            });
            for (const coin of coins) {
              merge(feed.candles(coin, barMs), feed.trades(coin)).subscribe((value) => {
                const count = seen++;
                tell(`${coin} ${"px" in value ? value.px : value.close}`);
                const ms = waits[count % waits.length] as number;
                if (ms < 0) return;
                clock.setTimer(clock.now() + ms, () => {
                  look("timer");
                  if (trades.includes(count % 8)) trade(count);
                });
              });
            }
            clock.setTimer(startAt + 10 * barMs, () => look("timer from before"));
            clock.setTimer(startAt + 12 * barMs + barMs / 3, () => look("timer from before"));
            const player = createPlayer(tape, clock, {
              ...simulated,
              quietUntil: (from, to) => (late ? simulated.quietUntil(from, to) : from),
              applyLate: (from, to) => {
                gone.late += to - from;
                if (venue.truth("u").orders.length > 0) gone.afterOrders += to - from;
                if (venue.holdings("u").positions.length > 0) gone.holding += to - from;
                simulated.applyLate(from, to);
              },
            });
            player.play(tape.startAt, 1, {
              get asked() {
                return player.rowsApplied >= 1;
              },
            });
            for (let until = tape.startAt; until <= tape.endAt + 4 * barMs; until += 3.5 * barMs) {
              while (player.play(until, rows)) {
                // so many rows a turn
              }
              look("sample");
            }
            return [...told, ...charged];
          };
          expect(story(true)).toEqual(story(false));
        },
      ),
      { numRuns: 300 },
    );
    expect(Math.min(gone.late, gone.afterOrders, gone.fills, gone.holding)).toBeGreaterThan(200);
    // Counted in both ways of each story.
    expect(liquidations).toBeGreaterThan(40);
  });

  it("wait only where each has closed before the next one opens", () => {
    expect(open(candleTape([[1, 1, 1, 1]])).simulated.quietUntil(0, 1)).toBe(1);
    const late = { ...candleTape([[1, 1, 1, 1]]).series[0], at: Float64Array.of(startAt, startAt + barMs - 1) };
    const two = { open: [1, 1], high: [1, 1], low: [1, 1], close: [1, 1], volume: [1, 1] };
    const columns = Object.fromEntries(Object.entries(two).map(([name, values]) => [name, Float64Array.from(values)]));
    const tape = createTape(candleTape([[1, 1, 1, 1]]).instruments, [{ ...late, ...columns } as Series]);
    expect(open(tape).simulated.quietUntil(0, 2)).toBe(0);
  });
});
