import { describe, expect, it } from "vitest";
import { stepsText } from "../../../src/cli/time-left.ts";

describe("How far a command is", () => {
  it.each([
    ["begins without a forecast", 0, 60_000, "0 of 8 runs"],
    ["has none before a second has passed", 1, 999, "1 of 8 runs"],
    ["foretells from the steps that are done", 2, 10_000, "2 of 8 runs, 30 s left"],
    ["ends without one", 8, 10_000, "8 of 8 runs"],
  ])("%s", (_, done, elapsedMs, text) => expect(stepsText(done, 8, "runs", elapsedMs)).toBe(text));
});
