import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ControlDocument } from "../../../plugins/control-room/control-document.ts";
import { readEvents } from "../../../plugins/playback/event-file.ts";
import { timelineOfEvents } from "../../../plugins/playback/event-timeline.ts";
import type { Timeline } from "../../../plugins/playback/timeline.ts";
import type { Event } from "../../../src/journal/events.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const instId = "BTC-USDT-SWAP";
const at = 1_767_600_000_000;
const facts = { name: "run", kind: "session", version: "1" } as const;

const fill = (seq: number, ms: number, side: "buy" | "sell", px: string, qty: string, cost: string): Event =>
  ({
    type: "fill",
    seq,
    at: at + ms,
    strategy: "a",
    slot: "s",
    instId,
    clOrdId: `c${seq}`,
    ordId: "",
    side,
    px,
    qty,
    fee: cost,
    cost,
    currency: "USDT",
    liquidity: "maker",
    position: "",
    recovered: false,
  }) as Event;
const sent = (seq: number, ms: number, weight: number): Event =>
  ({
    type: "action.sent",
    seq,
    at: at + ms,
    action: seq,
    endpoint: "placeOrder",
    class: "place",
    owner: "a",
    weight,
    key: "k",
    waitedMs: 0,
  }) as Event;

const events: readonly Event[] = [
  { type: "engine.started", seq: 0, at, strategies: ["a", "b"], plugins: [] },
  sent(1, 1_000, 10),
  fill(2, 2_000, "buy", "100", "3", "0.30"),
  fill(3, 4_000, "sell", "110", "1", "0.11"),
  sent(4, 4_500, 10),
  { type: "mode.changed", seq: 5, at: at + 6_000, mode: "halted", reason: "by hand" },
  sent(6, 70_000, 15),
];
const prices = [
  { at: at + 500, instId, bid: "99", ask: "101" },
  { at: at + 2_500, instId, bid: "104", ask: "106" },
  { at: at + 61_000, instId, bid: "120", ask: "122" },
];

const documentAt = (timeline: Timeline, ms: number): ControlDocument => {
  const document = new ControlDocument("run");
  document.apply({ source: "run", seq: 1, at: at + ms, rows: timeline.rowsAfter(timeline.countUntil(at + ms)) });
  return document;
};

describe("A timeline of recorded events", () => {
  it("gives the money of each instant: what was realised, held at the bid, and paid", () => {
    const timeline = timelineOfEvents(facts, events, { prices });
    // 3 bought at 100, marked at the bid of 104; 1 sold at 110: 10 realised; the other 2 at 104, later at 120.
    expect(documentAt(timeline, 3_000).row("money", "USDT")).toEqual({
      currency: "USDT",
      realised: "0",
      unrealised: "12",
      fees: "0.3",
      profit: "11.7",
    });
    expect(documentAt(timeline, 5_000).row("money", "USDT")).toEqual({
      currency: "USDT",
      realised: "10",
      unrealised: "8",
      fees: "0.41",
      profit: "17.59",
    });
    expect(documentAt(timeline, 69_000).row("money", "USDT")).toEqual({
      currency: "USDT",
      realised: "10",
      unrealised: "40",
      fees: "0.41",
      profit: "49.59",
    });
    expect(documentAt(timeline, 5_000).row("positions", `a|${instId}`)).toMatchObject({
      qty: "2",
      avgPx: "100",
      markPx: "104",
    });
  });

  it("marks by the last fill, and has no bars, where no price was recorded", () => {
    const document = documentAt(timelineOfEvents(facts, events), 5_000);
    expect(document.row("positions", `a|${instId}`)).toMatchObject({ qty: "2", markPx: "110", unrealised: "20" });
    expect(document.keys("candles")).toEqual([]);
    expect(document.keys("markets")).toEqual([]);
  });

  it("shows the weight of each minute, and none of it in the next", () => {
    const timeline = timelineOfEvents(facts, events, { prices });
    const used = (ms: number) => documentAt(timeline, ms).rows("quota")[0]?.used;
    expect([used(2_000), used(5_000), used(65_000), used(70_000)]).toEqual([10, 20, 0, 15]);
  });

  it("shows modes, strategies and bars as they were then", () => {
    const timeline = timelineOfEvents(facts, events, { prices });
    expect(documentAt(timeline, 5_900).row("engine", "")?.mode).toBe("active");
    expect(documentAt(timeline, 6_200).row("engine", "")).toMatchObject({ mode: "halted", reason: "by hand" });
    expect(
      documentAt(timeline, 6_900)
        .rows("strategies")
        .map(({ name, mode }) => `${name} ${mode}`),
    ).toEqual(["a halted", "b halted"]);
    expect(documentAt(timeline, 59_000).rows("candles")).toEqual([
      { instId, at: at + 60_000, o: "100", h: "105", l: "100", c: "105" },
    ]);
  });
});

describe("A file of events", () => {
  const file = (name: string, text: string): string => {
    const path = join(temporaryFolder("events"), name);
    writeFileSync(path, text);
    return path;
  };

  it("is read line by line, and a torn last line is left out", async () => {
    const path = file("torn.ndjson", `${events.map((event) => JSON.stringify(event)).join("\n")}\n{"type":"fil`);
    expect(await readEvents(path)).toEqual(events);
  });

  it.each([
    ["not-json", '{"type":"x","seq":1,"at":1}\nnonsense\n{"type":"x","seq":2,"at":2}', ":2: this is not JSON"],
    ["other", '{"resultHash":"abc"}', ":1: "],
    ["back", '{"type":"x","seq":1,"at":5}\n{"type":"x","seq":2,"at":2}', ":2: its instant 2 lies before"],
    ["empty", "", ":1: there is no event"],
  ])("is refused by line: %s", async (name, text, problem) => {
    await expect(readEvents(file(`${name}.ndjson`, text))).rejects.toThrow(problem);
  });
});
