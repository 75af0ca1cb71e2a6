import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { constant, fromFixture, ways, writeFixture } from "../../../src/backtest.ts";
import { createRandom } from "../../../src/random.ts";
import { quoteTape } from "../../support/harness/backtest.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("recorded-feed");
const tape = quoteTape([[0, 1, 1, 2, 1]]);
const told = join(home, "told");
writeFixture(told, tape, {
  source: "test",
  feed: { clockBehindMs: 1_270, delaysMs: Array.from({ length: 41 }, (_, step) => step / 4) },
});

describe("The feed delay of a fixture", () => {
  it("takes as long as was recorded, alone or beside other ways", () => {
    const model = ways({ entry: constant(3), response: constant(4), feed: fromFixture(told) });
    const latency = model.make(createRandom(1));
    const delays = Array.from({ length: 2_000 }, () => latency.feedMs()).sort((a, b) => a - b);
    expect([latency.entryMs(), latency.responseMs()]).toEqual([3, 4]);
    expect(delays[0]).toBeGreaterThanOrEqual(0);
    expect(delays.at(-1)).toBeLessThanOrEqual(10);
    expect(Math.abs((delays[1_000] ?? 0) - 5)).toBeLessThan(0.5);
    expect(model.name).toContain(`drawn from the feed of ${told}, median 5.000 ms`);
  });

  it("can be made longer by what its quickest message took", () => {
    const latency = fromFixture(told, { baseMs: 20 }).make(createRandom(1));
    for (const ms of [latency.feedMs(), latency.entryMs(), latency.responseMs()])
      expect(ms >= 20 && ms <= 30).toBe(true);
  });

  it("is refused where none was recorded", () => {
    const silent = join(home, "silent");
    writeFixture(silent, tape, { source: "test" });
    expect(() => fromFixture(silent)).toThrow(/has no delays of messages. Import the recording with --axis exchange/);
  });
});
