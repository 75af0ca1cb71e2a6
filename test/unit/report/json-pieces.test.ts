/** JSON in pieces is the JSON of the whole. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { writeContents } from "../../../src/cli/written-files.ts";
import { csvLines, csvPieces } from "../../../src/report/csv-lines.ts";
import { jsonPieces } from "../../../src/report/json-pieces.ts";

const home = mkdtempSync(join(tmpdir(), "sluice-pieces-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe("JSON in pieces", () => {
  it.each<[unknown]>([
    [{}],
    [[]],
    [{ a: undefined, b: 1, c: undefined, d: [] }],
    [{ a: [1, "two", null, undefined, { b: { c: [[[[[[["deep", { x: 1 }]]]]]]] } }], 'quote"': "\u2028" }],
    [{ at: new Date(0), n: Number.NaN, e: 1e21 }],
    ["text"],
    [null],
  ])("is that of the whole: %j", (value) => expect([...jsonPieces(value)].join("")).toBe(JSON.stringify(value)));

  it("has no piece that grows with the number of elements", () => {
    const fills = Array.from({ length: 5_000 }, (_, at) => ({ at, px: "100.5", qty: "1" }));
    const prices = [{ instId: "BTC-USDT", close: Array.from({ length: 5_000 }, (_, at) => at) }];
    const longest = Math.max(...[...jsonPieces({ fills, prices })].map(({ length }) => length));
    expect(longest).toBeLessThan(256 * 50);
  });
});

describe("A file in pieces", () => {
  it("holds all of them, also characters that are cut between two", () => {
    const pieces = Array.from({ length: 3_000 }, (_, index) => `${"é".repeat(200)}${index}\n`);
    writeContents(join(home, "a"), pieces);
    expect(readFileSync(join(home, "a"), "utf8")).toBe(pieces.join(""));
    writeContents(join(home, "a"), ["x"]);
    expect(readFileSync(join(home, "a"), "utf8")).toBe("x");
  });

  it("of values separated by commas are the lines of the whole", () => {
    const rows = [
      ["a", "b,c"],
      ["=d", 'e"f'],
    ];
    expect([...csvPieces(rows)]).toEqual(['a,"b,c"\r\n', '\'=d,"e""f"\r\n']);
    expect(csvLines(rows)).toBe([...csvPieces(rows)].join(""));
  });
});
