import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { foldsOf } from "../../../plugins/sweep/folds.ts";
import { readMarkets } from "../../../plugins/sweep/sweep-markets.ts";
import { cutTape } from "../../../src/market/cut-tape.ts";
import { readFixture, readManifest, writeFixture } from "../../../src/market/tape/fixture.ts";
import { folder, marketOf } from "./harness/sweep.ts";

type Tape = ReturnType<typeof readMarkets>[number]["tape"];

const columnsIn = ({ series, order }: Tape): readonly ArrayBufferView[] =>
  [...series, order].flatMap((one) => Object.values(one).filter((value) => ArrayBuffer.isView(value)));

describe("Shared markets of a sweep", () => {
  const fixture = marketOf(3);

  it("lie in shared memory, every column of them, and hold the same rows", () => {
    const [whole] = readMarkets({ fixture, windows: [] });
    const { tape, manifest } = readFixture(fixture);
    expect(whole?.tape).toEqual(tape);
    expect(whole?.facts).toEqual({ name: fixture, contentHash: manifest.contentHash });
    const columns = columnsIn(whole?.tape as Tape);
    expect(columns.length).toBeGreaterThan(8);
    expect(columns.every(({ buffer }) => buffer instanceof SharedArrayBuffer)).toBe(true);
  });

  it("are not copied by a message", () => {
    const [whole] = readMarkets({ fixture, windows: [] });
    const other = structuredClone(whole?.tape) as Tape;
    const column = (tape: Tape | undefined) => tape?.series[0]?.at as Float64Array;
    column(whole?.tape)[0] = 7;
    expect(column(other)[0]).toBe(7);
  });

  it("are for folds the windows in turn, named after what they are of and hashed as the fixtures they would make", () => {
    const { startAtMs, endAtMs } = readManifest(fixture);
    const windows = foldsOf(startAtMs, endAtMs, 2, 0.5);
    const markets = readMarkets({ fixture, windows });
    expect(markets.map(({ facts }) => facts.name)).toEqual(
      ["train of fold 1", "test of fold 1", "train of fold 2", "test of fold 2"].map((part) => `${fixture}, ${part}`),
    );
    const { tape } = readFixture(fixture);
    for (const [index, window] of windows.flatMap(({ train, test }) => [train, test]).entries()) {
      const cut = cutTape(tape, window);
      expect(markets[index]?.facts.contentHash).toBe(
        writeFixture(join(folder, `window-${index}`), cut, { source: "test" }).contentHash,
      );
      expect(markets[index]?.tape).toEqual(cut);
      expect(columnsIn(markets[index]?.tape as Tape).every(({ buffer }) => buffer instanceof SharedArrayBuffer)).toBe(
        true,
      );
    }
  });
});
