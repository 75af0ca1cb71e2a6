/** The quantity that the engine reports as protected. */
import { expect, it } from "vitest";
import { ArmedPositions } from "../../../plugins/simulate/armed-positions.ts";
import type { EventBody } from "../../../src/journal/events.ts";

const one = { strategy: "s", instId: "i" };
const terms = { side: "sell", avgPx: "1", stopPx: "1", takeProfitPx: undefined, trigger: "best" } as const;
const armed = (name: string, qty: string): EventBody => ({ type: "protection.armed", ...one, name, qty, ...terms });
const unprotected = (reason: string): EventBody => ({
  type: "position.unprotected",
  ...one,
  slot: "in.exit",
  side: "sell",
  qty: "2",
  reason,
});
const triggered: EventBody = {
  type: "protection.triggered",
  ...one,
  name: "in",
  side: "sell",
  qty: "2",
  trigger: "best",
  kind: "stopLoss",
  triggerPx: "1",
  px: "1",
  late: false,
};

it.each<[string, readonly (readonly [process: number, EventBody])[], number]>([
  ["nothing where nothing was armed", [], 0],
  [
    "the sum of what is armed",
    [
      [1, armed("in", "2")],
      [1, armed("out", "3")],
    ],
    5,
  ],
  [
    "the quantity of the latest change",
    [
      [1, armed("in", "2")],
      [1, { ...armed("in", "1"), type: "protection.changed" } as EventBody],
    ],
    1,
  ],
  [
    "nothing after the end",
    [
      [1, armed("in", "2")],
      [1, { type: "protection.ended", ...one, name: "in", reason: "" }],
    ],
    0,
  ],
  [
    "nothing while it is suspended",
    [
      [1, armed("in", "2")],
      [1, unprotected("trading is stopped, exits included: x")],
    ],
    0,
  ],
  [
    "all while only its closing order is late",
    [
      [1, armed("in", "2")],
      [1, unprotected("no quota")],
    ],
    2,
  ],
  [
    "nothing before the next process reports it",
    [
      [1, armed("in", "2")],
      [2, armed("other", "1")],
    ],
    1,
  ],
  [
    "any quantity once it is triggered, also in the next process",
    [
      [1, armed("in", "2")],
      [1, triggered],
      [2, armed("other", "1")],
    ],
    Number.POSITIVE_INFINITY,
  ],
])("covers %s", (_, events, qty) => {
  const positions = new ArmedPositions();
  for (const [process, event] of events) positions.event(process, { ...event, seq: 0, at: 0 } as never);
  expect(positions.qtyOf("s", "i")).toBe(qty);
});
