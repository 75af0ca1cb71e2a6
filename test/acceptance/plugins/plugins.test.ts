import { readFileSync } from "node:fs";
import { join } from "node:path";
import { concat, map, NEVER, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import consolePanel from "../../../plugins/console-panel.ts";
import journalFile from "../../../plugins/journal-file.ts";
import killSwitch from "../../../plugins/kill-switch.ts";
import { definePlugin, type Event } from "../../../src/index.ts";
import { calm, closed, far, run, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const dir = stored(calm(60));
const folder = temporaryFolder("plugins");

const recorder = (events: Event[]) =>
  definePlugin({ name: "recorder", options: closed, setup: ({ events$ }) => events$.subscribe((event) => events.push(event)) })({});
const resting = strategy("resting", { desired: () => concat(of([far("a"), far("b")]), NEVER) });
const failing = (afterMs: number) =>
  strategy("failing", {
    run: () =>
      timer(afterMs).pipe(
        map(() => {
          throw new Error("no luck");
        }),
      ),
  });

describe("The journal-file plugin", () => {
  it("writes everything that happens after its start, one object a line, the last one included", async () => {
    const path = join(folder, "deep", "journal.ndjson");
    const events: Event[] = [];
    const many = strategy("many", {
      desired: () => timer(0, 50).pipe(map((round) => [{ ...far(), round, px: `${30_000 + (round % 90)}` }])),
    });
    await run(dir, [many, resting], { plugins: [recorder(events), journalFile({ path })] });
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(JSON.parse(JSON.stringify(events)));
    expect(lines.at(-1)).toContain("engine.stopped");
    expect(lines.map((line) => (JSON.parse(line) as Event).seq)).toEqual(lines.map((_, index) => (events[0]?.seq ?? 0) + index));
  });

  it("that cannot write is named and harms nobody", async () => {
    const events: Event[] = [];
    const report = await run(dir, [resting], { plugins: [recorder(events), journalFile({ path: "/dev/null/journal" })] });
    expect(events.filter(({ type }) => type === "plugin.failed")).toEqual([
      expect.objectContaining({ plugin: "journal-file", message: expect.stringContaining("/dev/null") }),
    ]);
    expect(report.orders.placed).toBe(2);
  });
});

describe("The kill-switch plugin", () => {
  it("trips on a failed strategy when asked to, cancels everything, places nothing more, and says so", async () => {
    const said: string[] = [];
    const report = await run(dir, [resting, failing(20_000)], {
      plugins: [killSwitch({ onFailure: true })],
      print: (line) => said.push(line),
    });
    expect(said).toEqual(["kill switch: a strategy failed; canceling all orders", "kill switch: no order of ours is left"]);
    expect(report.orders).toMatchObject({ placed: 2, canceled: 2 });
  });

  it("leaves a failed strategy alone otherwise", async () => {
    const said: string[] = [];
    const report = await run(dir, [resting, failing(20_000)], { plugins: [killSwitch({})], print: (line) => said.push(line) });
    expect(said).toEqual([]);
    expect(report.orders).toMatchObject({ placed: 2, canceled: 0 });
  });

  it.each([
    [3, true],
    [8, false],
  ])("counts rejected orders within its time: %i of them trip it: %s", async (rejects, tripped) => {
    const said: string[] = [];
    // A post-only order through the market is refused by the service; five of them within two seconds, then none.
    const clumsy = strategy("clumsy", {
      desired: () =>
        timer(6_000, 400).pipe(
          map((round) =>
            round < 5
              ? [{ slot: "x", instId: swap, side: "buy" as const, ordType: "post_only" as const, px: "70000", qty: "0.01", round }]
              : [],
          ),
        ),
    });
    const report = await run(dir, [clumsy, resting], { plugins: [killSwitch({ rejects })], print: (line) => said.push(line) });
    expect(said[0] ?? "").toBe(tripped ? "kill switch: 3 orders rejected within 60 s; canceling all orders" : "");
    expect(report.orders.canceled).toBe(tripped ? 2 : 0);
  });
});

describe("The console-panel plugin", () => {
  it("prints the quota and who spent it, on the engine's clock", async () => {
    const said: string[] = [];
    await run(dir, [resting], { plugins: [consolePanel({ everyMs: 30_000 })], print: (line) => said.push(line) });
    expect(said).toHaveLength(2);
    expect(said[0]).toMatch(
      /^00:00:\d\d {2}ip [#.]{10} \d+\/1200 {2}uid [#.]{10} \d+\/1200 {2}key [#.]{10} \d+\/10 {2}reserve \d+ {2}queued 0, in flight 0 {2}spent: .*resting 20$/,
    );
  });
});
