import { describe, expect, it } from "vitest";
import { ControlDocument } from "../../../plugins/control-room/control-document.ts";
import type { ControlRows, EngineRow } from "../../../plugins/control-room/control-rows.ts";
import { PlaybackSource } from "../../../plugins/playback/playback-source.ts";
import { Timeline } from "../../../plugins/playback/timeline.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Event } from "../../../src/journal/events.ts";

const engine: EngineRow = {
  name: "run",
  kind: "backtest",
  environment: "",
  version: "1",
  startedAt: 0,
  mode: "active",
  reason: "",
  state: "running",
};
const startAt = 1_000_000;

/** Ten seconds with a figure that counts them, fills at 4 s and 7 s, and more events before them. */
const played = (events: readonly object[] = []) => {
  const timeline = new Timeline("run");
  for (const event of events) timeline.note(event as Event);
  const count = (value: number): ControlRows["health"] => ({ value, unit: "", state: "ok" });
  timeline.add({
    source: "run",
    seq: 0,
    at: startAt,
    rows: [
      ["engine", "", engine],
      ["health", "count", count(0)],
    ],
  });
  for (let second = 1; second <= 10; second++) {
    const mode = second >= 6 ? "halted" : "active";
    const rows = [
      ["health", "count", count(second)],
      ["engine", "", { ...engine, mode }],
    ] as const;
    timeline.add({ source: "run", seq: second, at: startAt + 1_000 * second, rows });
    if (second === 4 || second === 7)
      timeline.note({ type: "fill", seq: second, at: startAt + 1_000 * second, clOrdId: "c1" } as unknown as Event);
  }
  const clock = createVirtualClock(50);
  const source = new PlaybackSource(timeline, clock);
  const shown = new ControlDocument("run");
  shown.apply(source.snapshot());
  source.updates$.subscribe((update) => shown.apply(update));
  const pass = (ms: number): void => {
    const until = clock.now() + ms;
    while (clock.step(until));
    clock.reach(until);
  };
  return {
    source,
    shown,
    pass,
    counted: () => shown.row("health", "count")?.value,
    state: () => shown.row("engine", "")?.playback,
  };
};

describe("A played run", () => {
  it.each([
    ["the first event of an order", [{ type: "order.changed", at: startAt + 3_000, clOrdId: "c1" }], 3_000],
    ["its start, where that event was before it", [{ type: "order.changed", at: startAt - 500, clOrdId: "c1" }], 0],
    [
      "the first fill, where no event before it is of an order",
      [{ type: "engine.started", at: startAt + 1_000 }],
      4_000,
    ],
  ])("begins at %s, paused, and can go back to its start", async (_, events, ms) => {
    const { source, state, counted } = played(events);
    expect(state()).toMatchObject({ at: startAt + ms, paused: true });
    expect(counted()).toBe(ms / 1_000);
    await source.act({ type: "play", seekTo: startAt });
    expect([state()?.at, counted()]).toEqual([startAt, 0]);
  });

  it("stands still until it is played, and says so each second", async () => {
    const { source, pass, counted, state, shown } = played();
    await source.act({ type: "play", seekTo: startAt });
    const before = shown.seq;
    pass(3_000);
    expect(counted()).toBe(0);
    expect(state()).toEqual({ from: startAt, to: startAt + 10_000, at: startAt, speed: 1, paused: true });
    expect(shown.seq).toBe(before + 3);
    expect(await source.act({ type: "play", paused: false })).toMatchObject({ ok: true });
    pass(3_050);
    expect(counted()).toBe(3);
  });

  it("plays at the speed that is asked for, and stands still at its end", async () => {
    const { source, pass, counted, state } = played();
    await source.act({ type: "play", seekTo: startAt });
    await source.act({ type: "play", paused: false, speed: 5 });
    pass(1_000);
    expect(counted()).toBe(5);
    pass(60_000);
    expect(counted()).toBe(10);
    expect(state()).toMatchObject({ at: startAt + 10_000, paused: true });
    await source.act({ type: "play", paused: false });
    expect(state()).toMatchObject({ at: startAt, paused: false });
  });

  it("goes to any instant and back, with the mode of that instant", async () => {
    const { source, shown, counted } = played();
    await source.act({ type: "play", seekTo: startAt + 8_500 });
    expect([counted(), shown.row("engine", "")?.mode]).toEqual([8, "halted"]);
    await source.act({ type: "play", seekTo: startAt + 2_000 });
    expect([counted(), shown.row("engine", "")?.mode]).toEqual([2, "active"]);
    await source.act({ type: "play", seekTo: 5 });
    expect(counted()).toBe(0);
  });

  it("steps from fill to fill and pauses there; no story tells what comes later", async () => {
    const { source, counted, state } = played();
    await source.act({ type: "play", seekTo: startAt });
    expect(source.story("c1")).toEqual([]);
    await source.act({ type: "play", paused: false });
    await source.act({ type: "play", toNextFill: true });
    expect(counted()).toBe(4);
    expect(state()?.paused).toBe(true);
    expect(source.story("c1").length).toBe(1);
    await source.act({ type: "play", toNextFill: true });
    expect(counted()).toBe(7);
    expect(await source.act({ type: "play", toNextFill: true })).toMatchObject({ ok: false, code: "FILL_ABSENT" });
  });

  it("changes nothing but what is shown", async () => {
    const { source } = played();
    expect(await source.act({ type: "halt" })).toMatchObject({ ok: false, code: "UNSUPPORTED" });
  });
});
