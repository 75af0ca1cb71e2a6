import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readValues } from "../../../plugins/sweep/option-values.ts";
import { frontsOf } from "../../../plugins/sweep/pareto.ts";
import { barsOf, FellBehind, watchRungs } from "../../../plugins/sweep/pruning.ts";
import { type Choice, createSampler, type Point } from "../../../plugins/sweep/sampling.ts";
import type { Scored } from "../../../plugins/sweep/scores.ts";
import type { Space } from "../../../plugins/sweep/space.ts";
import type { Done, Result } from "../../../plugins/sweep/sweep-report.ts";
import { bestFirst } from "../../../plugins/sweep/trial-order.ts";
import { found, medianOf, problems } from "./harness/search-problems.ts";

const axisOf = (values: readonly unknown[], ordered: boolean): Space[number] => ({
  name: "s.o",
  strategy: "s",
  option: "o",
  values,
  ordered,
});
const tpe = (count: number, seed = "1", batch = 4): Choice => ({ kind: "tpe", count, seed, batch });

/** All points a sampler gives when the trials at `best` come out best. */
const walk = (
  space: Space,
  choice: Choice,
  cost: (point: Point) => number,
  possible: (point: Point) => boolean = () => true,
): readonly Point[] => {
  const sample = createSampler({ space, choice, points: [], possible }, "test");
  const all: Point[] = [];
  for (let batch = sample([]); batch.length > 0; batch = sample([...all].sort((a, b) => cost(a) - cost(b))))
    all.push(...batch);
  return all;
};

describe("A sampler that learns", () => {
  it.each(Object.entries(problems))("finds more in 60 trials than chance does in 180: %s", (_, problem) => {
    const over = (kind: "random" | "tpe", trials: number) =>
      medianOf(Array.from({ length: 30 }, (_, seed) => found(problem, kind, seed, trials)));
    expect(over("tpe", 60)).toBeLessThan(over("random", 180));
  });

  it("gives each point once and in batches, the same for the same seed and others for another", () => {
    const space = [axisOf([1, 2, 3, 4, 5, 6], true), axisOf(["a", "b", "c"], false)];
    const cost = ([x = 0, name = 0]: Point): number => Math.abs(x - 4) + name;
    const points = walk(space, tpe(17), cost);
    expect(new Set(points.map(String)).size).toBe(17);
    expect(walk(space, tpe(17), cost)).toEqual(points);
    expect(walk(space, tpe(17, "2"), cost)).not.toEqual(points);
  });

  it("takes numbers by their size, in whatever order they were written", () => {
    const written = [50, 10, 40, 20, 30, 60, 80, 70];
    const space = [
      axisOf(written, true),
      axisOf(
        Array.from({ length: 50 }, (_, at) => at),
        true,
      ),
    ];
    const cost = ([x = 0, y = 0]: Point): number => Math.abs((written[x] ?? 0) - 40) / 10 + Math.abs(y - 25) / 50;
    const last = walk(space, tpe(60), cost).slice(-16);
    expect(medianOf(last.map(([x = 0]) => Math.abs((written[x] ?? 0) - 40)))).toBeLessThanOrEqual(10);
  });

  it("tries only what is possible, and says so when nothing else is left", () => {
    const space = [axisOf([1, 2, 3, 4], true), axisOf([1, 2, 3, 4], true)];
    const possible = ([x = 0, y = 0]: Point): boolean => x + y < 3;
    expect(walk(space, tpe(6), ([x = 0]) => x, possible).every(possible)).toBe(true);
    expect(() => walk(space, tpe(7), ([x = 0]) => x, possible)).toThrow(
      "After 6 trials no other combination was found",
    );
  });
});

describe("Values in equal ratios", () => {
  it.each([
    ["0.001..0.1/log5", "decimal", ["0.001", "0.00316", "0.01", "0.0316", "0.1"]],
    ["0.0000001..0.00001/log3", "decimal", ["0.0000001", "0.000001", "0.00001"]],
    ["1..100/log5", "whole", [1, 3, 10, 32, 100]],
    ["1..4/log9", "whole", [1, 2, 3, 4]],
  ] as const)("%s", (text, kind, values) => expect(readValues(text, kind, "here")).toEqual(values));

  it.each(["0..1/log3", "2..1/log3", "1..2/log1"])("%s is refused with what to write", (text) => {
    expect(() => readValues(text, "number", "--vary 'a.b'")).toThrow(/^--vary 'a.b': .*\. (Ratios need|Write)/);
  });
});

describe("Several objectives", () => {
  const scored = fc.record({
    pnl: fc.integer({ min: -3, max: 3 }).map(String),
    drawdown: fc.integer({ min: 0, max: 3 }).map(String),
  });

  it("put those first that no other run beats, and of the others those that only these beat", () => {
    fc.assert(
      fc.property(fc.array(scored, { maxLength: 12 }), (runs) => {
        const fronts = frontsOf<Scored>(runs, ["pnl", "drawdown"], (run) => run);
        const beats = (a: Scored, b: Scored): boolean => {
          const [more, less] = [Number(a.pnl) - Number(b.pnl), Number(b.drawdown) - Number(a.drawdown)];
          return more >= 0 && less >= 0 && more + less > 0;
        };
        expect(fronts.flat().length).toBe(runs.length);
        for (const [rank, front] of fronts.entries()) {
          const rest = fronts.slice(rank).flat();
          expect(front).toEqual(
            rest
              .filter((run) => !rest.some((other) => beats(other, run)))
              .sort((a, b) => Number(b.pnl) - Number(a.pnl)),
          );
        }
      }),
    );
  });
});

const done = (index: number, pnl: string, drawdown: string): Result =>
  ({ index, status: "done", figures: { pnl, drawdown }, rungs: [pnl] }) as unknown as Done;

describe("Trials to learn from", () => {
  it("stand by figures, then by how far they came, then without any", () => {
    const pruned = (index: number, at: number, pnl: string) =>
      ({ index, status: "pruned", at, pnl }) as unknown as Result;
    const trials = [
      { index: 0, status: "failed" } as unknown as Result,
      pruned(1, 0.25, "9"),
      pruned(2, 0.5, "-5"),
      pruned(3, 0.5, "-4"),
      done(4, "1", "0"),
      { index: 5, status: "unaccepted" } as unknown as Result,
      done(6, "2", "0"),
    ];
    expect(bestFirst(trials, ["pnl"]).map(({ index }) => index)).toEqual([6, 4, 3, 2, 1, 5, 0]);
  });

  it("of a front begin with its ends and go on with what lies apart", () => {
    const trials = [done(0, "5", "10"), done(1, "4", "9"), done(2, "3.9", "8.9"), done(3, "1", "1"), done(4, "3", "5")];
    expect(bestFirst(trials, ["pnl", "drawdown"]).map(({ index }) => index)).toEqual([0, 3, 4, 2, 1]);
  });
});

describe("Giving up runs", () => {
  const at = (share: number, pnl: string) => ({
    at: 1_000 + share * 8_000,
    startAt: 0,
    endAt: 9_000,
    tradesAt: 1_000,
    pnl,
    events: 1,
  });

  it("asks for the median of those that came to a rung, and for nothing before eight did", () => {
    const runs = ["5", "-1", "3", "2", "8", "-4", "0.5"].map((pnl) => [pnl]);
    expect(barsOf(runs)).toEqual([null, null, null]);
    expect(barsOf([...runs, ["1", "7"]])).toEqual(["1", null, null]);
  });

  it("ends a run at the first rung where it has made less, and keeps what it had made", () => {
    const watch = watchRungs(["1", "2", null]);
    watch.onProgress(at(0.2, "-9"));
    watch.onProgress(at(0.25, "1"));
    watch.onProgress(at(0.49, "-9"));
    expect(() => watch.onProgress(at(0.5, "1.999"))).toThrow(FellBehind);
    expect(watch.reached).toEqual(["1", "1.999"]);
  });

  it("lets a run go on where nothing is asked", () => {
    const watch = watchRungs([null, null, null]);
    for (const share of [0.25, 0.5, 0.75, 1]) watch.onProgress(at(share, "-99"));
    expect(watch.reached).toEqual(["-99", "-99", "-99"]);
  });
});
