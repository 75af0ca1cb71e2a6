import { effect } from "@preact/signals";
import { expect, it } from "vitest";
import { SourceState } from "../../../../plugins/control-room/client/source-state.ts";

const health = (value: number) => ({ value, unit: "", state: "ok" }) as const;

it("An update replaces the rows that it names, removes those that are null, and leaves the others", () => {
  const state = new SourceState("a");
  state.apply(
    {
      source: "a",
      seq: 1,
      at: 10,
      rows: [
        ["health", "x", health(1)],
        ["health", "y", health(2)],
      ],
    },
    true,
  );
  state.apply(
    {
      source: "a",
      seq: 2,
      at: 20,
      rows: [
        ["health", "x", health(3)],
        ["health", "y", null],
      ],
    },
    false,
  );
  expect([...state.rows("health")]).toEqual([["x", health(3)]]);
  expect(state.at).toBe(20);
});

it("A snapshot leaves nothing of what was known before", () => {
  const state = new SourceState("a");
  state.apply(
    {
      source: "a",
      seq: 1,
      at: 10,
      rows: [
        ["health", "x", health(1)],
        ["queue", "all", { queued: 1, inFlight: 0 }],
      ],
    },
    true,
  );
  const before = state.version(["queue"]);
  state.apply({ source: "a", seq: 9, at: 30, rows: [["health", "z", health(2)]] }, true);
  expect(state.rows("queue").size).toBe(0);
  expect([...state.rows("health").keys()]).toEqual(["z"]);
  expect(state.version(["queue"])).not.toBe(before);
});

it("Only sections that an update names count as changed", () => {
  const state = new SourceState("a");
  state.apply({ source: "a", seq: 1, at: 10, rows: [["health", "x", health(1)]] }, true);
  const [health1, queue1] = [state.version(["health"]), state.version(["queue"])];
  state.apply({ source: "a", seq: 2, at: 11, rows: [["queue", "all", { queued: 1, inFlight: 0 }]] }, false);
  expect(state.version(["health"])).toBe(health1);
  expect(state.version(["queue"])).not.toBe(queue1);
});

it("What reads a section runs again when it has changed, and not for another section", () => {
  const state = new SourceState("a");
  const seen: number[] = [];
  effect(() => {
    seen.push(Number(state.row("health", "x")?.value ?? -1));
  });
  state.apply({ source: "a", seq: 1, at: 10, rows: [["health", "x", health(1)]] }, true);
  state.apply({ source: "a", seq: 2, at: 11, rows: [["queue", "all", { queued: 1, inFlight: 0 }]] }, false);
  state.apply({ source: "a", seq: 3, at: 12, rows: [["health", "x", health(2)]] }, false);
  expect(seen).toEqual([-1, 1, 2]);
});

it("A snapshot is shown as a whole and at once, the sections of an update in turn", () => {
  const later: (() => void)[] = [];
  const state = new SourceState("a", (_, work) => later.push(work));
  const seen: string[] = [];
  effect(() => {
    seen.push(`${state.row("health", "x")?.value} ${state.row("queue", "all")?.queued}`);
  });
  const rows = (value: number) =>
    [
      ["health", "x", health(value)],
      ["queue", "all", { queued: value, inFlight: 0 }],
    ] as const;
  state.apply({ source: "a", seq: 1, at: 10, rows: rows(1) }, true);
  expect(seen).toEqual(["undefined undefined", "1 1"]);
  state.apply({ source: "a", seq: 2, at: 11, rows: rows(2) }, false);
  expect(seen.length).toBe(2);
  for (const work of later) work();
  expect(seen.at(-1)).toBe("2 2");
});

it("An hour of events at a thousand a second stays within the bound, the oldest gone first", () => {
  const state = new SourceState("a");
  const event = (seq: number) => ({ seq, at: seq, type: "fill", text: "x", severity: "info" }) as const;
  for (let second = 0; second < 60; second++) {
    const rows = Array.from(
      { length: 1_000 },
      (_, index) => ["events", `${second * 1_000 + index}`, event(second * 1_000 + index)] as const,
    );
    state.apply({ source: "a", seq: second, at: second, rows }, second === 0);
  }
  const kept = state.list("events");
  expect(kept.length).toBe(6_000);
  expect(kept[0]?.seq).toBe(54_000);
  expect(kept.at(-1)?.seq).toBe(59_999);
});
