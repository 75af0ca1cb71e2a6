/** A sweep on worker processes that die and submitters that are stopped gives the bytes of one process. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { SweepReport } from "../../../plugins/sweep/sweep-report.ts";
import { main } from "../../../src/cli/main.ts";
import { type CapturedIo, capturedIo } from "../../support/captured-io.ts";
import { queueServers, until, type WatchedQueue } from "../../support/harness/queues.ts";
import { type OwnWorker, startWorker } from "../../support/harness/workers.ts";
import { once } from "../../support/once.ts";
import { marketOf, stand } from "./harness/sweep.ts";

const begin = (...argv: readonly string[]): { readonly io: CapturedIo; readonly code: Promise<number> } => {
  const io = capturedIo();
  return { io, code: main(["sweep", stand, ...argv, "--json"], io) };
};

const told = async (...argv: readonly string[]): Promise<{ readonly out: string; readonly err: string }> => {
  const { io, code } = begin(...argv);
  expect(await code, io.errText).toBe(0);
  return { out: io.outText, err: io.errText };
};

// The same for every store: what is made here is made once.
const grid = [
  "--fixture",
  marketOf(1),
  "--vary",
  "ladder.levels=1..3",
  "--vary",
  "ladder.notional=100,200",
  "--vary",
  "fickle.mood=calm",
];
const whole = once(() => told(...grid, "--jobs", "1"));

const learning = [
  "--fixture",
  marketOf(3),
  "--vary",
  "ladder.levels=1..8",
  "--sampler",
  "tpe",
  "--trials",
  "4",
  "--batch",
  "2",
];
const forward = [...learning, "--vary", "ladder.notional=100", "--folds", "2", "--train", "0.5"];
const forwardHere = once(() => told(...forward, "--jobs", "1"));

const simulated = async (...argv: readonly string[]): Promise<string> => {
  const io = capturedIo();
  expect(
    await main(["simulate", "config/backtest.ts", "--seeds", "5", "--minutes", "1", "--json", ...argv], io),
    io.errText,
  ).toBe(0);
  return io.outText.replace(/"elapsedMs":\d+/, "");
};
const simulatedHere = once(() => simulated());

const failing = ["--fixture", marketOf(1), "--vary", "fickle.mood=calm,throws,exits", "--vary", "ladder.notional=100"];
const failingHere = once(async () => {
  const { io, code } = begin(...failing, "--jobs", "1");
  return { code: await code, out: io.outText };
});

describe.each(queueServers)(
  "A sweep on workers with a queue in $name (skipped where there is no $program)",
  ({ isInstalled, start, watch }) => {
    beforeEach(({ skip }) => skip(!isInstalled));
    let server: Awaited<ReturnType<typeof start>>;
    let queue: WatchedQueue;
    const workers: OwnWorker[] = [];
    const join = (...flags: readonly string[]): OwnWorker => {
      const worker = startWorker(server.url, ...flags);
      workers.push(worker);
      return worker;
    };

    beforeAll(async () => {
      if (!isInstalled) return;
      server = await start();
      queue = watch(server.url);
    });
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.kill()));
      if (isInstalled) await queue.empty();
    });
    afterAll(async () => {
      if (!isInstalled) return;
      await queue.close();
      await server.stop();
    });

    it("gives the bytes of threads here on one process, and on two others after it was killed", async () => {
      const first = join();
      const one = await told(...grid, "--workers", server.url);
      expect(one.out).toBe((await whole()).out);
      const { runs, ranking } = JSON.parse(one.out) as SweepReport;
      expect(runs).toEqual({ wanted: 6, done: 6, failed: 0, unaccepted: 0 });
      expect(new Set(ranking.map(({ score }) => score)).size).toBeGreaterThan(4);

      await queue.empty();
      const { io, code } = begin(...grid, "--workers", server.url);
      // Stopped first, so that it holds a run when it dies; where it stood between two, it goes on to the next.
      await until(async () => {
        first.process.kill("SIGCONT");
        if ((await queue.results()) === 0 || (await queue.active()) !== 1) return false;
        first.process.kill("SIGSTOP");
        return (await queue.active()) === 1;
      });
      await first.kill();
      const [, second] = [join(), join()];
      expect([await code, io.outText]).toEqual([0, (await whole()).out]);
      expect(await second?.stop()).toMatch(/\d runs? done\.\n$/);
    });

    it("goes on after the submitter was stopped, and runs nothing twice", async () => {
      const { io, code } = begin(...grid, "--workers", server.url);
      const worker = join();
      await until(async () => (await queue.results()) >= 2);
      io.stop();
      expect(await code).toBe(130);
      expect(io.errText).toContain("Results are kept with the queue: ask for the same again to go on.");
      expect((JSON.parse(io.outText) as SweepReport).runs.wanted).toBe(6);
      expect((await told(...grid, "--workers", server.url)).out).toBe((await whole()).out);
      expect(await worker.stop()).toContain("\n6 runs done.\n");
    });

    it("that walks forward and learns gives the same bytes, and so does a simulation, but for the time it took", async () => {
      join();
      const there = await told(...forward, "--workers", server.url);
      expect(there.out).toBe((await forwardHere()).out);
      expect((JSON.parse(there.out) as SweepReport).folds?.every(({ outOfSample }) => outOfSample !== undefined)).toBe(
        true,
      );
      const simulation = await simulated("--workers", server.url);
      expect(simulation).toBe(await simulatedHere());
      expect((JSON.parse(simulation.replace(",,", ",")) as { weight: number }).weight).toBeGreaterThan(100);
    });

    it("fails a run whose threads die three times as threads here do, and one whose strategy throws at once", async () => {
      const here = await failingHere();
      expect(here.code).toBe(1);
      const worker = join();
      const there = begin(...failing, "--workers", server.url);
      expect([await there.code, there.io.outText]).toEqual([1, here.out]);
      expect(there.io.errText).toContain("its worker died: it ended with code 3");
      expect(await worker.stop()).toContain("\n2 runs done.\n");
    });
  },
);
