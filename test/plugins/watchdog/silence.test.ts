import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { beaten, noSilence, tick, verdict } from "../../../plugins/watchdog/silence.ts";

const ticks = (count: number, ms: number, from = noSilence) =>
  Array.from({ length: count }).reduce((silence: typeof from) => tick(silence, ms), from);

describe("The measured silence of an engine", () => {
  it.each([
    ["just short of it", ticks(14, 1_000), undefined],
    ["at the bound", ticks(15, 1_000), "no beat for 15 s"],
    ["a beat begins anew", ticks(14, 1_000, beaten(ticks(14, 1_000), true)), undefined],
    [
      "an engine that beats and never trades",
      beaten(ticks(301, 1_000), false),
      "no engine got as far as trading for 301 s",
    ],
    ["one that trades", beaten(ticks(301, 1_000), true), undefined],
  ])("%s", (_, silence, reason) => {
    expect(verdict(silence, 15_000, 300_000)).toBe(reason);
  });

  it("never ends a life before its own time, whatever comes between", () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 200 }), (story) => {
        let silence = noSilence;
        let since = 0;
        for (const isBeat of story) {
          silence = isBeat ? beaten(silence, true) : tick(silence, 100);
          since = isBeat ? 0 : since + 1;
          expect(verdict(silence, 1_000, 1e9) === undefined).toBe(since < 10);
        }
      }),
    );
  });
});
