import { map, timer } from "rxjs";
import { expect, it } from "vitest";
import { ControlDocument } from "../../../plugins/control-room/control-document.ts";
import { timelineOfEvents } from "../../../plugins/playback/event-timeline.ts";
import type { Timeline } from "../../../plugins/playback/timeline.ts";
import { createRunRecorder } from "../../../plugins/playback/view-recorder.ts";
import playableRuns from "../../../plugins/session/played-session.ts";
import * as decimal from "../../../src/decimal.ts";
import { definePlugin } from "../../../src/index.ts";
import { calm, closed, recorder, run, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { record, strategy as recorded } from "../session/harness/session.ts";

const swinger = (name: string) =>
  strategy(name, {
    wanted: () =>
      timer(1_000, 5_000).pipe(
        map((round) => [
          {
            slot: "swing",
            instId: swap,
            side: round % 2 === 0 ? ("buy" as const) : ("sell" as const),
            ordType: "market" as const,
            qty: "0.05",
            round,
          },
        ]),
      ),
  });

const endOf = (timeline: Timeline): ControlDocument => {
  const document = new ControlDocument("run");
  document.apply({
    source: "run",
    seq: 1,
    at: timeline.to,
    rows: timeline.rowsAfter(timeline.countUntil(timeline.to)),
  });
  return document;
};
const sumOf = (values: readonly string[]): string => values.reduce((sum, value) => decimal.add(sum, value), "0");

it("A recorded backtest is the same run, and ends with the money of its fills", async () => {
  const dir = stored(calm(120));
  // The names of plugins are told at the start, so that the run without it has one of its name.
  const idle = definePlugin({ name: "playback recorder", options: closed, setup: () => undefined });
  const plain = recorder();
  await run(dir, [swinger("a"), swinger("b")], { plugins: [idle({}), plain.plugin] });
  const taken = createRunRecorder({ name: "run", kind: "backtest", version: "1" }, 120_000);
  const events = recorder();
  await run(dir, [swinger("a"), swinger("b")], { plugins: [taken.plugin, events.plugin] });
  expect(events.events).toEqual(plain.events);
  const document = endOf(taken.timeline());
  const fills = events.events.filter((event) => event.type === "fill");
  expect(fills.length).toBeGreaterThan(20);
  expect(document.keys("fills").length).toBe(fills.length);
  expect(document.row("money", "USDT")?.fees).toBe(sumOf(fills.map(({ cost }) => cost)));
  const cash = sumOf(fills.map(({ side, px, qty }) => decimal.mul(decimal.mul(px, qty), side === "buy" ? "-1" : "1")));
  const held = document.rows("positions");
  const value = sumOf(held.map(({ qty, markPx }) => decimal.mul(qty, markPx)));
  const money = document.row("money", "USDT");
  expect(decimal.equal(money?.profit ?? "", decimal.sub(decimal.add(cash, value), money?.fees ?? ""))).toBe(true);
  expect(document.keys("candles").length).toBeGreaterThan(0);
  expect(taken.timeline().nextFill(taken.timeline().from)).toBe(fills[0]?.at);
  expect(document.row("engine", "")?.state).toBe("stopped");
});

it("Its events alone give the same fills, fees and realised profit", async () => {
  const events = recorder();
  const taken = createRunRecorder({ name: "run", kind: "backtest", version: "1" }, 60_000);
  await run(calm(60), [swinger("a")], { plugins: [taken.plugin, events.plugin] });
  const [whole, part] = [
    endOf(taken.timeline()),
    endOf(timelineOfEvents({ name: "run", kind: "backtest", version: "1" }, events.events)),
  ];
  expect(part.rows("fills")).toEqual(whole.rows("fills"));
  const money = (document: ControlDocument) => {
    const { realised, fees } = document.row("money", "USDT") ?? {};
    return { realised, fees };
  };
  expect(money(part)).toEqual(money(whole));
  expect(part.rows("orders").map(({ clOrdId, phase }) => [clOrdId, phase])).toEqual(
    whole.rows("orders").map(({ clOrdId, phase }) => [clOrdId, phase]),
  );
});

it("A recorded session is played with its events and the prices that its engine saw", async () => {
  const { dir } = await record([
    recorded("a", {
      wanted: ({ market }) =>
        market.quotes(swap).pipe(
          map((_, round) => [
            {
              slot: "swing",
              instId: swap,
              side: round % 2 === 0 ? ("buy" as const) : ("sell" as const),
              ordType: "market" as const,
              qty: "0.01",
              round,
            },
          ]),
        ),
    }),
  ]);
  const { events, prices } = playableRuns.read(dir);
  expect(events.every(({ at }, index) => at >= (events[index - 1]?.at ?? 0))).toBe(true);
  expect(events[0]?.type).toBeDefined();
  expect(prices.length).toBeGreaterThan(5);
  const document = endOf(timelineOfEvents({ name: "run", kind: "session", version: "1" }, events, { prices }));
  const fills = events.filter((event) => event.type === "fill");
  expect(fills.length).toBeGreaterThan(0);
  expect(document.row("money", "USDT")?.fees).toBe(sumOf(fills.map(({ cost }) => cost)));
  expect(document.row("markets", swap)).toMatchObject({
    bid: expect.stringMatching(/^\d/),
    ask: expect.stringMatching(/^\d/),
  });
  expect(document.keys("candles").length).toBeGreaterThan(0);
});
