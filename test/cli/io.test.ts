import { describe, expect, it } from "vitest";
import { capturedIo, colourOf, inkOf } from "../../src/cli/io.ts";

describe("the captured streams", () => {
  it("keep results and messages apart, in order", () => {
    const io = capturedIo();
    io.out("a");
    io.err("x");
    io.out("b\n");
    expect([io.outText, io.errText]).toEqual(["ab\n", "x"]);
  });

  it("pass a request to stop to whoever listens, and to nobody who left", () => {
    const io = capturedIo();
    const heard: string[] = [];
    const leave = io.onStop(() => heard.push("first"));
    io.onStop(() => heard.push("second"));
    io.stop();
    leave();
    io.stop();
    expect(heard).toEqual(["first", "second", "second"]);
  });
});

describe("colour", () => {
  it.each([
    ["is used where a person is watching", true, {}, true],
    ["is not used in a pipe", false, {}, false],
    ["is not used against NO_COLOR", true, { NO_COLOR: "1" }, false],
    ["is used when NO_COLOR is empty", true, { NO_COLOR: "" }, true],
    ["is not used on a terminal that knows none", true, { TERM: "dumb" }, false],
    ["is used anywhere when forced", false, { FORCE_COLOR: "1" }, true],
    ["is not used when forced off", true, { FORCE_COLOR: "0" }, false],
    ["obeys NO_COLOR above all", false, { FORCE_COLOR: "1", NO_COLOR: "1" }, false],
  ])("%s", (_, isTty, env, expected) => expect(colourOf(capturedIo({ isTty, env }))).toBe(expected));

  it("reaches the words", () => {
    expect(inkOf(capturedIo({ isTty: true })).red("x")).not.toBe("x");
    expect(inkOf(capturedIo()).red("x")).toBe("x");
  });
});
