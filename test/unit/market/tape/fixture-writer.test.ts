/** Rows of a plugin become a fixture, on steps that are found from their decimal text. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readFixture } from "../../../../src/market/tape/fixture.ts";
import { openFixtureWriter } from "../../../../src/market/tape/fixture-writer.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-writer-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const from = { name: "the test", sources: ["Rows of a test."] };
const btc = { instId: "BTC-USDT-SWAP", place: "rows" };

/** The writer of the folder with one bar that closes at `at`. */
const withBar = (dir: string, at: number, close: string, force = false) => {
  const writer = openFixtureWriter(dir, { force });
  writer.series({ ...btc, kind: "candle", barMs: 60_000 }).push(at, close, close, close, close, "1");
  return writer;
};

describe("The fixture writer", () => {
  it("counts prices and quantities in the largest steps that divide them", () => {
    const dir = join(folder, "a");
    const writer = openFixtureWriter(dir);
    const trades = writer.series({ ...btc, kind: "trade" });
    trades.push(1_000, 1, "100.50", "0.004");
    trades.push(2_000, -1, "101", "0.010");
    expect(trades.length).toBe(2);
    writer.note("rows dropped");
    writer.note("rows dropped", 2);
    const { manifest } = writer.write(from);
    expect(manifest).toMatchObject({
      source: "Rows of a test.",
      instruments: [{ instId: btc.instId, tickSize: "0.5", lotSize: "0.002" }],
      notes: [{ what: "rows dropped", count: 3 }],
    });
    const [series] = readFixture(dir).tape.series;
    expect(series).toMatchObject({
      kind: "trade",
      side: Int8Array.of(1, -1),
      px: Float64Array.of(201, 202),
      qty: Float64Array.of(2, 5),
    });
  });

  it.each([
    ["the step given", "0.25", "100.5", "0.25"],
    ["a smaller one that a price needs", "0.25", "100.1", "0.05"],
    ["the one found", undefined, "100", "100"],
    ["one where all prices are 0", undefined, "0", "1"],
  ])("takes %s", (_, tickSize, px, expected) => {
    const writer = openFixtureWriter(join(folder, "a"));
    writer.series({ ...btc, kind: "trade", tickSize }).push(1_000, 1, px, "1");
    expect(writer.write(from).manifest.instruments[0]?.tickSize).toBe(expected);
  });

  it("brings series of one instrument to common steps, books and best prices beside trades", () => {
    const writer = openFixtureWriter(join(folder, "a"));
    writer.series({ ...btc, kind: "level" }).push(500, -1, "100.25", "3", 1);
    writer.series({ ...btc, kind: "quote" }).push(1_000, "100.1", "1", "100.2", "2");
    writer.series({ ...btc, kind: "trade" }).push(1_000, 1, "100", "1");
    writer.series({ instId: "ETH-USDT", place: "rows", kind: "trade" });
    const { manifest, added } = writer.write(from);
    expect(manifest.instruments).toEqual([{ instId: btc.instId, tickSize: "0.05", lotSize: "1" }]);
    expect(added.series).toMatchObject([
      { kind: "level", side: Int8Array.of(-1), px: Float64Array.of(2_005), snapshot: Uint8Array.of(1) },
      { kind: "quote", bidPx: Float64Array.of(2_002), askQty: Float64Array.of(2) },
      { kind: "trade", px: Float64Array.of(2_000) },
    ]);
  });

  it.each(["", "1.", ".5", "-1", "1e3", "0x1", " 1", "1,5"])("refuses %j as a price, by row and column", (px) => {
    const trades = openFixtureWriter(join(folder, "a")).series({ ...btc, kind: "trade" });
    trades.push(1_000, 1, "1", "1");
    expect(() => trades.push(1_000, 1, px, "1")).toThrow(`rows:2: "px" is ${JSON.stringify(px)}; expected a decimal`);
  });

  it("refuses prices that no common step below 2^53 can count, and writes nothing", () => {
    const dir = join(folder, "a");
    const writer = openFixtureWriter(dir);
    const trades = writer.series({ ...btc, kind: "trade" });
    trades.push(1_000, 1, "0.0000000001", "1");
    trades.push(2_000, 1, "90000000", "1");
    expect(() => writer.write(from)).toThrow(/^rows:2: the values need a tick size of 10\^-10 .* beyond 2\^53/);
    expect(existsSync(dir)).toBe(false);
  });

  it("refuses times that fall", () => {
    const writer = withBar(join(folder, "a"), 120_000, "2");
    const trades = writer.series({ ...btc, kind: "trade" });
    trades.push(2_000, 1, "1", "1");
    trades.push(1_000, 1, "1", "1");
    expect(() => writer.write(from)).toThrow(/times never fall/);
  });

  it("adds to the fixture that is there, and replaces rows of the same time only with force", () => {
    const dir = join(folder, "a");
    withBar(dir, 60_000, "1").write(from);
    const second = withBar(dir, 120_000, "2");
    expect(second.before?.manifest.rows).toBe(1);
    expect(second.write({ ...from, sources: ["More rows."] }).manifest).toMatchObject({
      rows: 2,
      source: "Rows of a test. More rows.",
    });
    expect(() => withBar(dir, 120_000, "3").write(from)).toThrow(/^.* holds a fixture already: 2 rows .* --force/);
    expect(() => withBar(dir, 120_000, "3").write({ ...from, sameBars: true })).toThrow(/holds a fixture already/);
    expect(withBar(dir, 120_000, "2").write({ ...from, sameBars: true }).manifest.rows).toBe(2);
    expect(withBar(dir, 120_000, "3", true).write(from).manifest).toMatchObject({
      rows: 2,
      notes: [{ what: "rows replaced", count: 1 }],
    });
  });

  it("makes a fixture of its own where that is asked for", () => {
    const dir = join(folder, "a");
    withBar(dir, 60_000, "1").write(from);
    expect(() => openFixtureWriter(dir, { isNew: true })).toThrow(/holds a fixture already/);
    const writer = openFixtureWriter(dir, { isNew: true, force: true });
    expect(writer.before).toBeUndefined();
    writer.series({ ...btc, kind: "trade" }).push(1_000, 1, "1", "1");
    expect(writer.write(from).manifest).toMatchObject({ rows: 1, notes: [] });
  });

  it("refuses a folder that is no fixture before any row is added, and a fixture without rows", () => {
    writeFileSync(join(folder, "notes.txt"), "mine");
    expect(() => openFixtureWriter(folder, { force: true })).toThrow(/cannot be replaced/);
    const writer = openFixtureWriter(join(folder, "a"));
    writer.series({ ...btc, kind: "trade" });
    expect(() => writer.write(from)).toThrow(/no rows to write/);
  });
});
