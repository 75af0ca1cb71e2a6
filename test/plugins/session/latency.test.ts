import { mkdirSync } from "node:fs";
import { concat, map, NEVER, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { runOfSession } from "../../../plugins/compare/read-run.ts";
import { backtestOfSession } from "../../../plugins/compare/session-backtest.ts";
import { fromSession } from "../../../plugins/session/index.ts";
import { readSession } from "../../../plugins/session/session-file.ts";
import {
  constant,
  empirical,
  type LatencyModel,
  lognormal,
  runBacktest,
  ways,
  withDetails,
} from "../../../src/backtest.ts";
import { inProcess } from "../../../src/client/transport/in-process.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { WireRequest } from "../../../src/contract/transport.ts";
import { createRandom } from "../../../src/random.ts";
import { configOf, far, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { generateTapeFor } from "../../support/harness/generated-market.ts";
import { responsesOf } from "../../support/transports.ts";
import { linesOf, newFolder, record, rewrite } from "./harness/session.ts";

const draws = (make: ReturnType<typeof lognormal>, seed: number, count = 4_001): number[] => {
  const latency = make.make(createRandom(seed));
  return Array.from({ length: count }, () => latency.entryMs());
};

describe("Latency models", () => {
  it("constant is the same way every time, the feed's its own", () => {
    const latency = constant(25, { feedMs: 3 }).make(createRandom(1));
    expect([latency.entryMs(), latency.responseMs(), latency.feedMs()]).toEqual([25, 25, 3]);
    expect(constant(25).make(createRandom(1)).feedMs()).toBe(25);
  });

  it("lognormal has the median it says, a long tail, and stays within its bounds", () => {
    const values = draws(lognormal({ medianMs: 25, minMs: 12, maxMs: 60 }), 1).sort((a, b) => a - b);
    expect(values[2_000]).toBeGreaterThan(24);
    expect(values[2_000]).toBeLessThan(26);
    expect(values[0]).toBe(12);
    expect(values[4_000]).toBe(60);
  });

  it("draws the same from the same seed, other from another, in whole microseconds", () => {
    const model = lognormal({ medianMs: 25 });
    expect(draws(model, 1, 20)).toEqual(draws(model, 1, 20));
    expect(draws(model, 1, 20)).not.toEqual(draws(model, 2, 20));
    for (const value of draws(model, 1, 200)) expect(value * 1_000).toBeCloseTo(Math.round(value * 1_000), 6);
  });

  it("draws each way apart: more requests do not change the feed", () => {
    const one = lognormal({ medianMs: 25 }).make(createRandom(1));
    const two = lognormal({ medianMs: 25 }).make(createRandom(1));
    for (let index = 0; index < 10; index++) one.entryMs();
    expect(one.feedMs()).toBe(two.feedMs());
  });
});

describe("Latency models per direction", () => {
  it("takes of each model only that way", () => {
    const latency = ways({ entry: constant(1), response: constant(2), feed: constant(3, { feedMs: 4 }) }).make(
      createRandom(1),
    );
    expect([latency.entryMs(), latency.responseMs(), latency.feedMs()]).toEqual([1, 2, 4]);
  });

  it("tells all three, and wants all three", () => {
    expect(ways({ entry: constant(1), response: constant(2), feed: constant(3) }).name).toBe(
      "entry constant 1 ms each way, feed 1 ms; response constant 2 ms each way, feed 2 ms; feed constant 3 ms each way, feed 3 ms",
    );
    expect(() => ways({ entry: constant(1), feed: constant(1) } as never)).toThrow(
      "ways: response is undefined. Write a latency model",
    );
  });
});

describe("Recorded delays", () => {
  const delays = Array.from({ length: 20 }, (_, index) => (index + 1) * 10);

  it("are drawn evenly between their neighbours, never beyond them", () => {
    const latency = empirical({ name: "test", roundTripMs: [...delays].reverse(), entryShare: 1 }).make(
      createRandom(1),
    );
    const drawn = Array.from({ length: 4_001 }, () => latency.entryMs()).sort((a, b) => a - b);
    expect(drawn[0]).toBeGreaterThanOrEqual(10);
    expect(drawn[4_000]).toBeLessThanOrEqual(200);
    for (const [rank, quantile] of [
      [1_000, 57.5],
      [2_000, 105],
      [3_000, 152.5],
    ] as const) {
      expect(Math.abs((drawn[rank] as number) - quantile)).toBeLessThan(6);
    }
    expect(new Set(drawn).size).toBeGreaterThan(3_000);
  });

  it("of a call are parts of one round trip", () => {
    const latency = empirical({ name: "test", roundTripMs: delays, entryShare: 0.25 }).make(createRandom(1));
    for (let index = 0; index < 100; index++) {
      const { entryMs, responseMs } = latency.trip?.() ?? { entryMs: 0, responseMs: 1 };
      expect(responseMs).toBeCloseTo(3 * entryMs, 2);
      expect(entryMs + responseMs).toBeGreaterThanOrEqual(10);
    }
  });

  it("and take that time on the wire", () => {
    const clock = createVirtualClock(0);
    const roundTripMs = [...delays.slice(1), 400];
    const latency = {
      ...empirical({ name: "test", roundTripMs }).make(createRandom(1)),
      trip: () => ({ entryMs: 30, responseMs: 70 }),
    };
    const told: number[] = [];
    const handle = (_: WireRequest, at: number) => {
      told.push(at);
      return { status: 200, headers: {}, body: "" };
    };
    responsesOf(inProcess({ clock, latency, timeoutMs: 1_000, handle }), {} as WireRequest).subscribe(() =>
      told.push(clock.now()),
    );
    clock.advanceTo(1_000);
    expect(told).toEqual([30, 100]);
  });

  it("of the feed are their own, or those of the way back", () => {
    const own = empirical({ name: "test", roundTripMs: delays, feedMs: delays.map((ms) => ms + 1_000) }).make(
      createRandom(1),
    );
    expect(own.feedMs()).toBeGreaterThan(1_000);
    const back = empirical({ name: "test", roundTripMs: delays, entryShare: 0.9 }).make(createRandom(1));
    for (let index = 0; index < 100; index++) expect(back.feedMs()).toBeLessThanOrEqual(20);
  });

  it.each<[string, Parameters<typeof empirical>[0], string]>([
    [
      "too few",
      { name: "x", roundTripMs: [1, 2] },
      "x: there are 2 round trips; 20 at least are needed to draw from. Record for longer.",
    ],
    ["a negative one", { name: "x", roundTripMs: [...delays, -1] }, "x: round trips 20 is -1."],
    [
      "a share that is none",
      { name: "x", roundTripMs: delays, entryShare: 2 },
      "x: entryShare is 2. Write a share from 0 to 1.",
    ],
  ])("%s are refused", (_, options, message) => {
    expect(() => empirical(options)).toThrow(message);
  });
});

describe("Delays taken from a session", () => {
  /** A placement or a cancel every 200 ms. */
  const busy = strategy("busy", {
    wanted: () => timer(0, 400).pipe(map((round) => (round % 2 === 0 ? [] : [far("b", String(30_000 + round))]))),
  });

  it("are those of its calls and pushes", async () => {
    const { dir } = await record([busy], {
      ms: 30_000,
      paper: { latency: ways({ entry: constant(9), response: constant(5), feed: constant(1) }) },
    });
    const model = fromSession(dir);
    expect(model.name).toMatch(
      /^drawn from \d+ round trips of .*, median 14 ms, 0.5 of each the way there; the feed from \d+ pushes, median \d/,
    );
    const latency = model.make(createRandom(1));
    for (let index = 0; index < 50; index++) {
      expect([latency.entryMs(), latency.responseMs()]).toEqual([7, 7]);
      // The service dates by the millisecond.
      expect(Math.abs(latency.feedMs() - 7)).toBeLessThan(1.001);
    }
    const skewed = fromSession(dir, { entryShare: 9 / 14 }).make(createRandom(1));
    expect([skewed.entryMs(), skewed.responseMs()]).toEqual([9, 5]);
  });

  it("are spread as they were", async () => {
    const { dir } = await record([busy], { ms: 60_000, paper: { latency: lognormal({ medianMs: 20 }) } });
    const latency = fromSession(dir).make(createRandom(1));
    const draws = (draw: () => number): number[] => Array.from({ length: 500 }, draw).sort((a, b) => a - b);
    for (const draw of [() => latency.entryMs(), () => latency.feedMs()]) {
      const [low, middle, high] = [50, 250, 450].map((rank) => draws(draw)[rank] as number) as [number, number, number];
      expect(middle).toBeGreaterThan(14);
      expect(middle).toBeLessThan(28);
      expect(high / low).toBeGreaterThan(1.3);
    }
  });

  it("count answers that were not refusals, and a push once", async () => {
    const { dir } = await record([busy], { ms: 30_000 });
    const before = fromSession(dir).name;
    const lines = linesOf(dir).slice(0, -1);
    const push = lines.findLast((line) => line.includes('"in":"stream","stream":"pushes ')) as string;
    const answer = lines.findIndex((line) => line.includes('"in":"answer"'));
    const late = push.replace(/"now":([\d.]+)/, (_, now) => `"now":${Number(now) + 50}`);
    const refused = lines.map((line, index) =>
      index === answer ? line.replace('"status":200', '"status":429') : line,
    );
    const other = newFolder();
    mkdirSync(other);
    rewrite(other, [...refused, late]);
    const count = (name: string): number[] =>
      [...name.matchAll(/(\d+) (?=round|pushes)/g)].map(([, digits]) => Number(digits));
    const [trips = 0, pushes = 0] = count(before);
    expect(count(fromSession(other).name)).toEqual([trips - 1, pushes]);
  });

  it("are those of a backtest that stands beside the session", async () => {
    const eyes = strategy("eyes", { run: ({ market }) => market.quotes(swap) });
    const { dir, config } = await record([busy, eyes], { ms: 10_000 });
    const session = readSession(dir);
    const { notes, facts } = await backtestOfSession(session, runOfSession(session), config);
    expect(notes).toEqual([
      "The config is of paper(…): the backtest has the latency of the session and the default fees and balances.",
    ]);
    expect(JSON.stringify(facts)).toContain("round trips of");
  });

  it("too short is refused, and what is no session too", async () => {
    const { dir } = await record([strategy("idle", { wanted: () => NEVER })], { ms: 100 });
    expect(() => fromSession(dir)).toThrow(
      /^fromSession\(".*"\): \d+ calls were answered; at least 20 are needed to draw from\. Record for longer/,
    );
    expect(() => fromSession("nowhere")).toThrow("nowhere/session.ndjson: expected a recorded session, found nothing");
  });
});

describe("Higher latency", () => {
  const tape = generateTapeFor([swap], 4);
  const dir = stored(tape);
  const firstFill = async (latency: LatencyModel, px: string): Promise<number> => {
    let at = Number.POSITIVE_INFINITY;
    const once = strategy("once", {
      wanted: ({ now }) =>
        concat(
          timer(tape.startAt + 20_000 - now()).pipe(
            map(() => [{ slot: "x", instId: swap, side: "buy" as const, px, qty: "0.01" }]),
          ),
          NEVER,
        ),
    });
    const config = withDetails(configOf(dir, [once], { latency }), ({ fills }) => {
      at = fills[0]?.at ?? at;
    });
    await runBacktest(config);
    return at;
  };
  it("never fills the same order earlier", async () => {
    const series = tape.series.find(({ kind }) => kind === "quote");
    const bid = series?.kind === "quote" ? (series.bidPx[100] as number) : 0;
    for (const ticks of [-30, 0, 10]) {
      const px = ((bid + ticks) / 10).toFixed(1);
      const instants: number[] = [];
      for (const ms of [1, 40, 200, 600]) instants.push(await firstFill(constant(ms), px));
      expect(instants).toEqual([...instants].sort((a, b) => a - b));
      expect(instants[0]).toBeLessThan(tape.endAt);
    }
  });
});
