/** Samples of many strategies: what they come to, and what they take. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { RunSamples } from "../../../src/report/run-samples.ts";
import type { TradeStatistics } from "../../../src/report/trade-statistics.ts";

const samplesMax = 2_000;

/** Samples of strategies of which every tenth has another profit each time. */
const sampled = (strategies: number, samples: number) => {
  let round = 0;
  const tally = {
    profits: () =>
      new Map(Array.from({ length: strategies }, (_, own) => [`s${own}`, own % 10 === 0 ? `${own}.${round}` : "0"])),
    exposure: () => ({ gross: "0", net: "0" }),
  } as unknown as TradeStatistics;
  const taken = new RunSamples(tally);
  for (; round < samples; round++) taken.add(round, "100", new Map());
  return taken;
};

it("Profits of strategies are those of their samples, also after every second one was dropped", () => {
  const samples = sampled(12, 6);
  const pointsOf = (name: string) =>
    samples.strategies.find(({ strategy }) => strategy === name)?.points.map(({ at, equity }) => [at, equity]);
  expect(samples.strategies.map(({ strategy }) => strategy)).toEqual(Array.from({ length: 12 }, (_, own) => `s${own}`));
  expect(pointsOf("s10")).toEqual([0, 1, 2, 3, 4, 5].map((at) => [at, `10.${at}`]));
  expect(pointsOf("s3")).toEqual([0, 1, 2, 3, 4, 5].map((at) => [at, "0"]));
  samples.halve();
  expect(pointsOf("s10")).toEqual([0, 2, 4].map((at) => [at, `10.${at}`]));
});

it("As many samples as a run keeps of 200 strategies take less than 8 MB", () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  collect();
  const before = process.memoryUsage().heapUsed;
  const samples = sampled(200, samplesMax);
  collect();
  const mb = (process.memoryUsage().heapUsed - before) / 1e6;
  expect(samples.equity).toHaveLength(samplesMax);
  expect(mb).toBeLessThan(8);
});
