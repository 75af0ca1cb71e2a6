import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { concat, map, NEVER, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import consolePanel from "../../plugins/console-panel/index.ts";
import journalFile from "../../plugins/journal-file/index.ts";
import killSwitch from "../../plugins/kill-switch/index.ts";
import { definePlugin, type Event } from "../../src/index.ts";
import { testPlugin } from "../../src/testing.ts";
import { calm, closed, far, run, stored, strategy } from "../support/harness/backtest.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const dir = stored(calm(60));
const folder = temporaryFolder("plugins");

const recorder = (events: Event[]) =>
  definePlugin({
    name: "recorder",
    options: closed,
    setup: ({ events$ }) => events$.subscribe((event) => events.push(event)),
  })({});
const resting = strategy("resting", { wanted: () => concat(of([far("a"), far("b")]), NEVER) });
describe("The journal-file plugin", () => {
  it("writes everything that happens after its start, one object a line, the last one included", async () => {
    const path = join(folder, "deep", "journal.ndjson");
    const events: Event[] = [];
    const many = strategy("many", {
      wanted: () => timer(0, 50).pipe(map((round) => [{ ...far(), round, px: `${30_000 + (round % 90)}` }])),
    });
    await run(dir, [many, resting], { plugins: [recorder(events), journalFile({ path })] });
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(JSON.parse(JSON.stringify(events)));
    expect(lines.at(-1)).toContain("engine.stopped");
    expect(lines.map((line) => (JSON.parse(line) as Event).seq)).toEqual(
      lines.map((_, index) => (events[0]?.seq ?? 0) + index),
    );
  });

  it("that cannot write is named and harms nobody", async () => {
    const events: Event[] = [];
    const report = await run(dir, [resting], {
      plugins: [recorder(events), journalFile({ path: "/dev/null/journal" })],
    });
    expect(events.filter(({ type }) => type === "plugin.failed")).toEqual([
      expect.objectContaining({ plugin: "journal-file", message: expect.stringContaining("/dev/null") }),
    ]);
    expect(report.orders.placed).toBe(2);
  });

  it.skipIf(!existsSync("/dev/full"))("takes no device or pipe, whose reader could hold up the engine", async () => {
    const events: Event[] = [];
    await run(dir, [resting], { plugins: [recorder(events), journalFile({ path: "/dev/full" })] });
    expect(events.find(({ type }) => type === "plugin.failed")).toMatchObject({
      message: expect.stringContaining("/dev/full is not a regular file"),
    });
  });
});

describe("The kill-switch plugin", () => {
  it("trips on a failed strategy when asked to, cancels everything, places nothing more, and says so", async () => {
    const t = await testPlugin(killSwitch({ onFailure: true }), { strategies: [resting] });
    await t.advance();
    t.failStrategy("no luck");
    await t.advance(60_000);
    expect(t.printed).toEqual([
      "kill switch: a strategy failed; canceling all entries",
      "kill switch: no entry of ours is left",
    ]);
    expect(t.orders.map(({ strategy: name, phase }) => [name, phase])).toEqual([
      ["resting", "canceled"],
      ["resting", "canceled"],
    ]);
    await t.stop();
  });

  it("leaves a failed strategy alone otherwise", async () => {
    const t = await testPlugin(killSwitch({}), { strategies: [resting] });
    await t.advance();
    t.failStrategy("no luck");
    await t.advance(60_000);
    expect([t.printed, t.mode, t.open.length]).toEqual([[], "active", 2]);
    await t.stop();
  });

  it.each([
    [3, true],
    [6, false],
  ])("counts rejected orders within its time: %i of them trip it: %s", async (rejects, tripped) => {
    const t = await testPlugin(killSwitch({ rejects }), { strategies: [resting] });
    for (let round = 0; round < 5; round++) {
      t.reject("x");
      t.want([{ ...far("x"), round }]);
      await t.advance(400);
    }
    expect(t.printed[0] ?? "").toBe(tripped ? "kill switch: 3 orders rejected within 60 s; canceling all entries" : "");
    expect(t.orders.filter(({ phase }) => phase === "rejected")).toHaveLength(tripped ? 3 : 5);
    expect(t.open).toHaveLength(tripped ? 0 : 2);
    await t.stop();
  });

  it("forgets rejections that are older than its time", async () => {
    const t = await testPlugin(killSwitch({ rejects: 2, withinMs: 10_000 }));
    for (const waitMs of [10_001, 9_000, 1_000]) {
      t.reject("x");
      t.want([{ ...far("x"), round: waitMs }]);
      expect(t.mode).toBe("active");
      await t.advance(waitMs);
    }
    expect(t.printed[0]).toBe("kill switch: 2 orders rejected within 10 s; canceling all entries");
    await t.stop();
  });
});

describe("The console-panel plugin", () => {
  it("prints the quota and who spent it, on the engine's clock", async () => {
    const t = await testPlugin(consolePanel({ everyMs: 30_000 }), { strategies: [resting] });
    await t.advance(60_000);
    expect(t.printed).toHaveLength(2);
    expect(t.printed[0]).toMatch(
      /^00:00:30 {2}ip [#.]{10} \d+\/1200 {2}uid [#.]{10} \d+\/1200 {2}key [#.]{10} \d+\/10 {2}reserve \d+ {2}queued 0, in flight 0 {2}spent: .*resting 20$/,
    );
    await t.stop();
  });
});
