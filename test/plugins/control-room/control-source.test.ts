import { describe, expect, it } from "vitest";
import { readAction } from "../../../plugins/control-room/index.ts";

describe("An action from outside", () => {
  it.each([
    [{ type: "halt" }],
    [{ type: "halt", strategy: "ladder", reason: "lunch" }],
    [{ type: "resume" }],
    [{ type: "cancel", where: {} }],
    [{ type: "cancel", where: { strategy: "ladder", instId: "BTC-USDT", side: "buy", slot: "bid 1", clOrdId: "x1" } }],
    [{ type: "close", reason: "enough" }],
    [{ type: "close", strategy: "ladder", instId: "BTC-USDT-SWAP" }],
    [{ type: "options", strategy: "ladder", changes: { levels: 2 } }],
    [{ type: "play", paused: true, seekTo: 1, speed: 60 }],
  ])("is taken as it is: %j", (value) => expect(readAction(value)).toEqual({ action: value }));

  it.each([
    ["no object", "halt", "an action is an object"],
    ["a list", [{ type: "halt" }], "an action is an object"],
    ["nothing", null, "an action is an object"],
    ["no type", {}, "request.type: one of halt, resume, cancel, close, options, play is wanted."],
    ["an unknown type", { type: "toString" }, "request.type"],
    ["an unknown field", { type: "halt", strateg: "ladder" }, 'unknown key "strateg". Did you mean "strategy"?'],
    [
      "an unknown condition",
      { type: "cancel", where: { instid: "BTC-USDT" } },
      'request.where: unknown key "instid". Did you mean "instId"?',
    ],
    [
      "a misspelt strategy to close",
      { type: "close", strategie: "ladder" },
      'unknown key "strategie". Did you mean "strategy"?',
    ],
    ["no condition at all", { type: "cancel" }, '"where" is missing'],
    ["a side that there is not", { type: "cancel", where: { side: "both" } }, "request.where.side"],
    ["a line break in a name", { type: "halt", strategy: "a\r\nSet-Cookie: b" }, "request.strategy"],
    ["a long name", { type: "halt", strategy: "a".repeat(101) }, "request.strategy"],
    ["text as a number", { type: "play", speed: "2" }, 'request.speed: must be number (got "2")'],
    ["nothing to change", { type: "options", strategy: "ladder", changes: {} }, "request.changes"],
    ["a prototype", JSON.parse('{"type":"halt","__proto__":{"strategy":"ladder"}}'), "__proto__"],
    [
      "a prototype further in",
      JSON.parse('{"type":"options","strategy":"a","changes":{"a":[{"__proto__":{}}]}}'),
      "__proto__",
    ],
    ["a constructor", { type: "options", strategy: "a", changes: { constructor: { prototype: {} } } }, "constructor"],
    [
      "a deep nest",
      { type: "options", strategy: "a", changes: { a: JSON.parse("[".repeat(50) + "]".repeat(50)) } },
      "nested deeper than 16",
    ],
  ])("is refused with what is wrong: %s", (_, value, problem) => {
    const read = readAction(value);
    expect("problems" in read ? read.problems.join("\n") : "taken").toContain(problem);
  });
});
