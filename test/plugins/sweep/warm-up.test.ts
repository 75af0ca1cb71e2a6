/**
 * The beginning of a recording in which strategies look and nothing leaves.
 */
import { fileURLToPath } from "node:url";
import { concat, map, mergeMap, NEVER, of, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { cutRun } from "../../../plugins/compare/cut-run.ts";
import { firstGlimpse } from "../../../plugins/compare/look-ahead.ts";
import { readVariation } from "../../../plugins/sweep/space.ts";
import { readMarkets } from "../../../plugins/sweep/sweep-markets.ts";
import { planSweep } from "../../../plugins/sweep/sweep-plan.ts";
import { backtest, constant, type RunReport, reportText, runBacktest } from "../../../src/backtest.ts";
import { defineStrategy, type Event, type Strategy } from "../../../src/index.ts";
import { calm, closed, configOf, far, startAt, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { definePlugin } from "../../support/harness/generated-market.ts";

const dir = stored(calm(120));
const minute = 60_000;

const run = async (
  strategies: readonly Strategy[],
  warmUpMs?: number,
): Promise<{ report: RunReport; events: readonly Event[] }> => {
  const events: Event[] = [];
  const plugin = definePlugin({
    name: "ears",
    options: closed,
    setup: ({ events$ }) => events$.subscribe((event) => events.push(event)),
  })({});
  const service = backtest({ fixture: dir, latency: constant(10), ...(warmUpMs === undefined ? {} : { warmUpMs }) });
  const report = await runBacktest({ ...configOf(dir, strategies, { plugins: [plugin] }), service });
  return { report, events };
};

const here = fileURLToPath(import.meta.url);
const tuned = defineStrategy({
  name: "tuned",
  options: { type: "object", required: ["n"], properties: { n: { type: "number" } } },
  wanted: () => NEVER,
})({ n: 1 });
const sweepOptions = {
  variations: [readVariation("tuned.n=1,2")],
  choice: { kind: "grid" },
  max: 10,
  by: "pnl",
  folds: { count: 2, train: 0.5 },
} as const;
const cutAt = (config: object, ms: number) => cutRun(() => config, { fixture: dir, cutAt: startAt + ms });

const sentAt = (events: readonly Event[]): readonly number[] =>
  events.flatMap((event) => (event.type === "order.changed" && event.phase === "sent" ? [event.at - startAt] : []));

/** Another price every ten seconds. */
const wanderer = strategy("wanderer", {
  wanted: () => timer(0, 10_000).pipe(map((round) => [far("w", String(30_000 + round))])),
});

/** Buys and sells at the market in turn. */
const swinger = strategy("swinger", {
  wanted: () =>
    timer(0, 7_000).pipe(
      map((round) => [
        {
          slot: "s",
          instId: swap,
          side: round % 2 === 0 ? ("buy" as const) : ("sell" as const),
          ordType: "market" as const,
          qty: "0.01",
          round,
        },
      ]),
    ),
});

describe("A warm-up period", () => {
  it("lets nothing out; what is wanted at its last moment is placed first", async () => {
    const { report, events } = await run([wanderer], minute);
    const sent = events.flatMap((event) =>
      event.type === "action.sent" && event.class !== "read" ? [event.at - startAt] : [],
    );
    expect(Math.min(...sent)).toBe(minute);
    expect(sentAt(events)[0]).toBe(minute);
    const first = events.find((event) => event.type === "order.changed" && event.record !== undefined);
    // Strategies begin five seconds before the recording: the seventh price is that of 55 s.
    expect(first).toMatchObject({ record: { px: "30006" } });
    expect(report.orders.placed).toBe(sentAt(events).length);
  });

  it("shows strategies the market from the first row on", async () => {
    const seen: number[] = [];
    const eyes = strategy("eyes", {
      run: ({ market }) => market.quotes(swap).pipe(map(({ at }) => seen.push(at - startAt))),
    });
    await run([eyes], minute);
    expect(seen).toHaveLength(480);
    expect(seen[0]).toBeLessThan(1_000);
  });

  it("refuses orders by hand with the reason, and nothing of them is left to go off later", async () => {
    const told: string[] = [];
    const hand = strategy("hand", {
      run: ({ orders }) =>
        timer(10_000).pipe(
          mergeMap(() => orders.place({ instId: swap, side: "buy", px: "30000", qty: "0.01" })),
          map(({ phase, reason }) => told.push(`${phase}: ${reason}`)),
        ),
    });
    const { report, events } = await run([hand], minute);
    expect(told).toEqual(["refused: trading is halted: the warm-up is not over"]);
    expect(sentAt(events)).toEqual([]);
    expect(report.orders.placed).toBe(0);
  });

  it("is not in the figures: they begin where it ends, and say so", async () => {
    const [{ report: whole }, { report, events }] = [await run([swinger]), await run([swinger], minute)];
    expect(report.equity[0]).toEqual({ at: startAt + minute, equity: "10000" });
    expect(report.orders.placed).toBeLessThan(whole.orders.placed * 0.6);
    const sent = events.flatMap((event) =>
      event.type === "action.sent" && event.at >= startAt + minute ? [event.weight] : [],
    );
    expect(report.quota).toMatchObject({
      requests: sent.length,
      weight: sent.reduce((sum, weight) => sum + weight, 0),
    });
    expect(report.quota.overTime.spans.reduce((sum, { requests }) => sum + requests, 0)).toBe(sent.length);
    expect(report.quota.overTime.spans[0]?.at).toBe(startAt + minute);
    expect(report.coverage.warmUp).toEqual({ untilAt: new Date(startAt + minute).toISOString(), ms: minute });
    expect(report.assumptions).toContainEqual(
      expect.objectContaining({ what: "Warm-up", value: "until 2024-01-01T00:01:00.000Z" }),
    );
    expect(report.perStrategy["swinger"]?.pnl).toBe(report.pnl);
    expect(reportText(report, { columns: 100, colour: false })).toContain(
      "warm-up of 1 min, until 2024-01-01 00:01 UTC: nothing was placed, all figures begin there",
    );
    expect(whole.coverage).not.toHaveProperty("warmUp");
    expect(reportText(whole, { columns: 100, colour: false })).not.toContain("warm-up");
  });

  it("of nothing is none", async () => {
    const [{ report: none }, { report: zero }] = [await run([swinger]), await run([swinger], 0)];
    expect(zero.resultHash).toBe(none.resultHash);
  });

  it("gives the same again", async () => {
    const [one, two] = [await run([swinger, wanderer], 30_000), await run([swinger, wanderer], 30_000)];
    expect(two.report.resultHash).toBe(one.report.resultHash);
  });

  it("lies before every window of a walk-forward, and none of a window is lost to it", () => {
    const service = backtest({ fixture: dir, warmUpMs: 20_000 });
    const plan = planSweep(here, configOf(dir, [tuned]), sweepOptions);
    const warm = planSweep(here, { ...configOf(dir, [tuned]), service }, sweepOptions);
    expect(plan.windows[0]?.train.fromAt).toBe(startAt);
    expect(warm.windows[0]?.train.fromAt).toBe(startAt + 20_000);
    const starts = readMarkets(warm).map(({ tape }) => tape.startAt);
    expect(starts).toEqual(warm.windows.flatMap(({ train, test }) => [train.fromAt - 20_000, test.fromAt - 20_000]));
  });

  it("may outlast a recording that the look-ahead guard has cut off: then nothing is placed", async () => {
    const config = {
      ...configOf(dir, [wanderer]),
      service: backtest({ fixture: dir, latency: constant(10), warmUpMs: minute }),
    };
    const [whole, early, late] = [await cutRun(() => config), await cutAt(config, 30_000), await cutAt(config, 90_000)];
    expect(firstGlimpse(whole, early, startAt + 30_000)).toBeUndefined();
    expect(firstGlimpse(whole, late, startAt + 90_000)).toBeUndefined();
    expect(early.decisions.map(({ kind }) => kind)).not.toContain("sends");
    expect(late.decisions.filter(({ at }) => at < startAt + minute).every(({ kind }) => kind === "wants")).toBe(true);
  });

  it("does not lift a halt that a plugin asked for meanwhile", async () => {
    const brake = definePlugin({
      name: "brake",
      options: closed,
      setup: ({ halt, updates$ }) => {
        timer(30_000).subscribe(() => halt("the brake was pulled"));
        return updates$.subscribe();
      },
    })({});
    const service = backtest({ fixture: dir, latency: constant(10), warmUpMs: minute });
    const report = await runBacktest({ ...configOf(dir, [wanderer], { plugins: [brake] }), service });
    expect(report.orders.placed).toBe(0);
  });

  it.each([
    [-1, "warmUpMs: must be >= 0"],
    [119_750, "backtest options.warmUpMs: 119750 leaves nothing of a recording of 119750 ms. Shorten the warm-up"],
  ])("of %d ms is refused", async (warmUpMs, message) => {
    await expect(run([strategy("idle", { wanted: () => concat(of([]), NEVER) })], warmUpMs)).rejects.toThrow(message);
  });
});
