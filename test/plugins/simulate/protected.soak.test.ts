/** Stops, take-profits and trailing stops of several strategies on one account, on a service, a network and a disk that fail. */
import { describe, expect, it } from "vitest";
import { CoverageMarks, markNames } from "../../../plugins/simulate/coverage-marks.ts";
import { Book, Cover } from "../../../plugins/simulate/protected-position.ts";
import { runScenario } from "../../../plugins/simulate/scenario.ts";
import { marketOf } from "../../../plugins/simulate/simulated-market.ts";
import { simulate } from "../../../plugins/simulate/simulation.ts";
import { checkConfig } from "../../../src/host/config.ts";
import guarded from "../../support/configs/protected-positions.ts";

describe("Protected positions under simulation", () => {
  it("keep their stops over eight seeds of faults", async () => {
    const summary = await simulate(guarded, { seeds: 8, minutes: 6, shorten: false });
    expect(summary.failures).toEqual([]);
    expect(summary.processes).toBeGreaterThan(8);
    for (const name of ["stopLoss", "takeProfit", "trailing"])
      expect(summary.marks[`a ${name} was triggered`]).toBeGreaterThan(5);
    expect(summary.marks["a protection closed"]).toBeGreaterThan(50);
    expect(Object.keys(summary.marks).filter((name) => !markNames.includes(name))).toEqual([]);
  });

  it("are closed within two looks where nothing fails", async () => {
    const config = checkConfig(guarded);
    const marks = new CoverageMarks();
    const story = { config, tape: marketOf(config)("calm1", 6), seed: "calm1", minutes: 6, faults: [], plugins: false };
    expect(await runScenario(story, { marks })).toMatchObject({ violations: [], processes: 1 });
    expect(marks.counts.get("a protection closed")).toBeGreaterThan(5);
  });
});

describe("A protected position as the simulation works it out", () => {
  it("stops out where the average price and the best price say, whichever is nearer", () => {
    const cover = new Cover("in", "sell", { stopLoss: { percent: "1" }, trailing: { by: "5" } });
    cover.entered(1, 100);
    cover.entered(3, 104);
    expect(cover.level).toBe(101.97);
    cover.see(110, 0.1, 0, true);
    expect(cover.level).toBe(105);
    cover.see(105, 0.1, 1, true);
    expect(cover.due).toBeUndefined();
    cover.see(104.9, 0.1, 2, true);
    cover.see(120, 0.1, 3, true);
    expect(cover.due).toMatchObject({ at: 2, level: 105 });
  });

  it("is due for as long as the price lies beyond, where the engine did not know of every fill", () => {
    const cover = new Cover("in", "buy", { stopLoss: "110" });
    cover.entered(1, 100);
    cover.see(111, 0.1, 0, false);
    expect(cover.due).toBeDefined();
    cover.see(109, 0.1, 1, false);
    expect(cover.due).toBeUndefined();
  });

  it("remembers after a crash what must have been written down", () => {
    const cover = new Cover("in", "sell", { trailing: { by: "5" } });
    cover.entered(1, 100);
    cover.see(110, 0.1, 0, true);
    cover.see(120, 0.1, 10_000, true);
    cover.forget(5_000);
    expect(cover.level).toBe(105);
    cover.see(100, 0.1, 11_000, true);
    cover.forget(12_000);
    expect(cover.due).toBeDefined();
    cover.forget(10_500);
    expect(cover.due).toBeUndefined();
  });

  it("is due after a crash if an order that closes it was on record, with all its attempts before it", () => {
    const cover = new Cover("in", "sell", { stopLoss: "90" });
    cover.entered(1, 100);
    cover.see(89, 0.1, 10_000, true);
    cover.attempts++;
    cover.forget(5_000);
    expect(cover).toMatchObject({ attempts: 0, idleMs: 0, due: { at: 10_000 } });
    cover.forget(5_000);
    expect(cover.due).toBeUndefined();
  });

  it("is taken from the oldest entry where the strategy itself closes a part", () => {
    const book = new Book("s", "i");
    for (const slot of ["old", "new"]) {
      const cover = new Cover(slot, "sell", { stopLoss: "90" });
      book.covers.set(slot, cover);
      cover.entered(2, 100);
      book.fill("buy", 2, 100);
    }
    book.covers.set("", new Cover("", "sell", { stopLoss: "80" }));
    book.fill("buy", 1, 100);
    book.fill("sell", 2, 101);
    book.fit();
    expect([...book.covers.values()].map(({ qty }) => qty)).toEqual([1, 2, 0]);
    book.fill("buy", 2, 103);
    book.fit();
    expect([...book.covers.values()].map(({ qty }) => qty)).toEqual([1, 2, 2]);
  });
});
