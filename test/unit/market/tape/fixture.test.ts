/** Fixtures come back exactly as written, or are refused by file, expectation and finding. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { parseHuman } from "../../../../src/contract/validate.ts";
import { readFixture, readManifest, writeFixture } from "../../../../src/market/tape/fixture.ts";
import { decodeSeries, encodeSeries } from "../../../../src/market/tape/fixture-blocks.ts";
import { isPlainManifest, manifestSchema } from "../../../../src/market/tape/manifest-schema.ts";
import { seriesBuilder } from "../../../../src/market/tape/series-builder.ts";
import { columnsOf, createTape, seriesOf, type Tape, type TapeInstrument } from "../../../../src/market/tape/tape.ts";
import { createRandom } from "../../../../src/random.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const instruments: readonly TapeInstrument[] = [
  { instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.001" },
  { instId: "ETH-USDT", tickSize: "0.01", lotSize: "0.0001" },
];

const home = temporaryFolder("fixture");
let dir = "";
let counter = 0;
beforeEach(() => {
  dir = join(home, `case-${counter++}`);
});

const everyKind = (): Tape => {
  const trades = seriesBuilder("trade", 0);
  trades.push(1_723_161_255_088.176, -1, 618_003, 6);
  trades.push(1_723_161_255_088.177, 1, 618_002, 199);
  const quotes = seriesBuilder("quote", 1);
  quotes.push(1_723_161_255_088.177, 260_000, 0, 260_001, 2 ** 52 - 1);
  const levels = seriesBuilder("level", 0);
  levels.push(1_723_161_255_090, 1, 618_000, 5, 1);
  levels.push(1_723_161_255_090, -1, 618_001, 0, 0);
  const candles = seriesBuilder("candle", 0, 60_000);
  candles.push(1_723_161_300_000, 5, 9, 4, 6, 0);
  return createTape(instruments, [trades.series(), quotes.series(), levels.series(), candles.series()]);
};

const meta = { source: "made by a test", notes: [{ what: "gaps", count: 2 }] };

const edit = (file: string, change: (text: string) => string): void => {
  writeFileSync(join(dir, file), change(readFileSync(join(dir, file), "utf8")));
};

const refusal = (): string => {
  try {
    readFixture(dir);
  } catch (error) {
    expect(error).toMatchObject({ name: "SluiceError", code: "FIXTURE_INVALID" });
    return (error as Error).message;
  }
  return "accepted";
};

describe("A fixture", () => {
  it("comes back with the same instruments, series, order and manifest", () => {
    const tape = everyKind();
    const written = writeFixture(dir, tape, meta);
    const { tape: read, manifest } = readFixture(dir);
    expect(read).toEqual(tape);
    expect(manifest).toEqual(written);
    expect(readManifest(dir)).toEqual(written);
    expect(manifest).toMatchObject({
      format: "sluice-fixture/1",
      source: "made by a test",
      rows: 6,
      notes: [{ what: "gaps", count: 2 }],
      startAt: "2024-08-08T23:54:15.088Z",
      endAt: "2024-08-08T23:55:00.000Z",
      startAtMs: 1_723_161_255_088.176,
    });
    expect(readdirSync(dir).sort()).toEqual(
      [
        "BTC-USDT-SWAP.candle-60000.bin",
        "BTC-USDT-SWAP.level.bin",
        "BTC-USDT-SWAP.trade.bin",
        "ETH-USDT.quote.bin",
        "manifest.json",
      ].sort(),
    );
  });

  it("has the same bytes when it is written again", () => {
    const first = writeFixture(dir, everyKind(), meta);
    const second = writeFixture(`${dir}-again`, readFixture(dir).tape, meta);
    expect(second).toEqual(first);
  });

  it("has a contentHash that depends on the data and not on the words about it", () => {
    const first = writeFixture(dir, everyKind(), meta);
    expect(writeFixture(dir, everyKind(), { source: "other words" }, { force: true }).contentHash).toBe(
      first.contentHash,
    );
    const other = createTape(
      [{ ...instruments[0], tickSize: "0.2" } as TapeInstrument, instruments[1] as TapeInstrument],
      everyKind().series,
    );
    expect(writeFixture(dir, other, meta, { force: true }).contentHash).not.toBe(first.contentHash);
  });

  it("keeps any whole counts and microseconds, also across blocks", () => {
    const row = fc.tuple(
      fc.integer({ min: 0, max: 10 ** 12 }),
      fc.nat({ max: 2 ** 31 }),
      fc.maxSafeNat().map((count) => count % 2 ** 52),
      fc.boolean(),
    );
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 200 }), (rows) => {
        let at = 0;
        const builder = seriesBuilder("trade", 0);
        for (const [gap, px, qty, bought] of rows) {
          at += gap;
          builder.push(at / 1000, bought ? 1 : -1, px, qty);
        }
        const series = builder.series();
        const { bytes, content } = encodeSeries(series, "test");
        const decoded = decodeSeries(bytes, "trade", rows.length, "test");
        expect(decoded.content).toBe(content);
        expect(seriesOf("trade", 0, decoded.at, decoded.columns)).toEqual(series);
      }),
    );
  });

  it("spans blocks", () => {
    const random = createRandom(1);
    const builder = seriesBuilder("quote", 0);
    for (let row = 0; row < 65_536 + 3; row++)
      builder.push(row, random.whole(0, 9), row, random.whole(0, 2 ** 40), row);
    const tape = createTape(instruments, [builder.series()]);
    writeFixture(dir, tape, meta);
    expect(readFixture(dir).tape).toEqual(tape);
  });

  it("takes at most four bytes for a plausible trade", () => {
    const random = createRandom(2);
    const builder = seriesBuilder("trade", 0);
    let [at, px] = [1_700_000_000_000, 600_000];
    for (let row = 0; row < 20_000; row++) {
      at += random.whole(1, 3) === 1 ? random.whole(1, 800) : 0;
      px += random.whole(1, 4) === 1 ? random.whole(-8, 8) : 0;
      builder.push(
        at,
        random.whole(0, 1) === 1 ? 1 : -1,
        px,
        random.whole(1, 3) === 1 ? random.whole(1, 900) : random.whole(1, 20),
      );
    }
    const manifest = writeFixture(dir, createTape(instruments, [builder.series()]), meta);
    expect((manifest.series[0]?.bytes ?? 0) / 20_000).toBeLessThanOrEqual(4);
  });
});

describe("A manifest that is taken at once", () => {
  const { series, ...whole } = writeFixture(join(home, "taken"), everyKind(), meta);
  const manifest = JSON.parse(JSON.stringify({ ...whole, series })) as object;

  it("is one that the schema takes, whatever was done to it", () => {
    expect(isPlainManifest(manifest)).toBe(true);
    const schema = (value: unknown): boolean => {
      try {
        parseHuman(manifestSchema, value, "manifest", "FIXTURE_INVALID");
        return true;
      } catch {
        return false;
      }
    };
    const places = [[], ["series", "0"], ["series", "3"], ["instruments", "1"], ["notes", "0"]];
    const names = [
      ...Object.keys(manifest),
      ...Object.keys(series[3] ?? {}),
      "tickSize",
      "what",
      "count",
      "0",
      "constructor",
    ];
    const values = fc.constantFrom(
      0,
      -1,
      1.5,
      2 ** 60,
      "",
      "../x",
      "x y",
      "trade",
      "BTC",
      "1e3",
      "0.1",
      "a".repeat(64),
      null,
      [],
      {},
      [7],
      undefined,
    );
    let refused = 0;
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.constantFrom(...names), values, (place, name, value) => {
        const changed = structuredClone(manifest) as Record<string, unknown>;
        const inner = place.reduce<Record<string, unknown>>((at, step) => at[step] as Record<string, unknown>, changed);
        if (value === undefined) delete inner[name];
        else inner[name] = value;
        if (isPlainManifest(changed)) expect(schema(changed)).toBe(true);
        else refused++;
      }),
      { numRuns: 3_000 },
    );
    expect(refused).toBeGreaterThan(500);
  });
});

describe("Writing a fixture", () => {
  const folderWith = (file: string, text: string): void => {
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, file), text);
  };

  it("replaces a fixture whole, files of the old one included", () => {
    writeFixture(dir, everyKind(), meta);
    const trades = seriesBuilder("trade", 0);
    trades.push(1, 1, 1, 1);
    writeFixture(dir, createTape(instruments, [trades.series()]), meta, { force: true });
    expect(readdirSync(dir).sort()).toEqual(["BTC-USDT-SWAP.trade.bin", "manifest.json"]);
  });

  it("makes missing folders above and fills an empty one", () => {
    mkdirSync(join(dir, "deep"), { recursive: true });
    writeFixture(join(dir, "deep"), everyKind(), meta);
    writeFixture(join(dir, "a", "b"), everyKind(), meta);
    expect([existsSync(join(dir, "deep", "manifest.json")), existsSync(join(dir, "a", "b", "manifest.json"))]).toEqual([
      true,
      true,
    ]);
  });

  it("leaves nothing beside the target", () => {
    mkdirSync(dir);
    writeFixture(join(dir, "one"), everyKind(), meta);
    writeFixture(join(dir, "one"), everyKind(), meta, { force: true });
    expect(readdirSync(dir)).toEqual(["one"]);
  });

  it("leaves the old fixture and nothing else when a row cannot be stored", () => {
    mkdirSync(dir);
    const target = join(dir, "one");
    const before = writeFixture(target, everyKind(), meta);
    const trades = seriesBuilder("trade", 0);
    trades.push(1, 1, 1, 2 ** 52);
    expect(() => writeFixture(target, createTape(instruments, [trades.series()]), meta, { force: true })).toThrow(
      /trade of BTC-USDT-SWAP: row 0 holds 4503599627370496/,
    );
    expect(readManifest(target)).toEqual(before);
    expect(readdirSync(dir)).toEqual(["one"]);
  });

  it("gives the folder the rights a new folder has", () => {
    mkdirSync(`${dir}-plain`);
    writeFixture(dir, everyKind(), meta);
    expect(statSync(dir).mode).toBe(statSync(`${dir}-plain`).mode);
  });

  it.each<[string, () => void, RegExp]>([
    ["a file", () => writeFileSync(dir, "x"), /it is a file/],
    ["a folder of something else", () => folderWith("thesis.txt", "x"), /holds thesis.txt and no manifest/],
    ["a folder with another manifest", () => folderWith("manifest.json", "{}"), /not that of a fixture/],
    [
      "a fixture with a stranger's file in it",
      () => folderWith("notes.md", writeFixture(dir, everyKind(), meta).source),
      /also holds notes.md/,
    ],
  ])("refuses to replace %s, whoever asks", (_, prepare, message) => {
    prepare();
    expect(() => writeFixture(dir, everyKind(), meta)).toThrow(message);
    expect(() => writeFixture(dir, everyKind(), meta, { force: true })).toThrow(message);
  });

  it("refuses a folder below a file by the name of the file", () => {
    writeFileSync(dir, "x");
    expect(() => writeFixture(join(dir, "a", "b"), everyKind(), meta)).toThrow(`lies below ${dir}, which is a file`);
  });

  it("refuses to replace a fixture that nobody asked to be replaced, and names what it holds", () => {
    const before = writeFixture(dir, everyKind(), { source: "Messages from first.gz." });
    const held =
      "holds a fixture already: 6 rows of BTC-USDT-SWAP, ETH-USDT (Messages from first.gz). Name a new folder, or replace what is there with --force";
    expect(() => writeFixture(dir, everyKind(), meta)).toThrow(
      expect.objectContaining({ code: "USAGE", message: expect.stringContaining(held) }),
    );
    expect(readManifest(dir)).toEqual(before);
    edit("manifest.json", (text) => text.replace('"rows"', '"lines"'));
    expect(() => writeFixture(dir, everyKind(), meta)).toThrow(/one whose manifest cannot be read/);
  });

  it("refuses a tape without rows", () => {
    expect(() => writeFixture(dir, createTape(instruments, []), meta)).toThrow(/no rows/);
  });
});

describe("Reading a fixture refuses", () => {
  const trade = "BTC-USDT-SWAP.trade.bin";

  it("a folder that does not exist, and a file in its place", () => {
    expect(refusal()).toContain(`${dir}: expected a fixture folder, found nothing`);
    writeFileSync(dir, "x");
    expect(refusal()).toContain("found a file");
  });

  it("a folder without a manifest", () => {
    mkdirSync(dir);
    expect(refusal()).toContain(`${join(dir, "manifest.json")}: expected the manifest of a fixture, found nothing`);
  });

  it.each<[string, (text: string) => string, string]>([
    ["a manifest that is not JSON", (text) => text.slice(0, 50), "expected JSON"],
    [
      "another version of the format",
      (text) => text.replace("fixture/1", "fixture/2"),
      'expected format "sluice-fixture/1", found "sluice-fixture/2"',
    ],
    ["a manifest of something else", () => '{"format":3}', "found 3"],
    ["a manifest that is null", () => "null", "found none"],
    ["a missing field", (text) => text.replace('"rows": 6,', ""), '"rows" is missing'],
    [
      "a file outside the folder",
      (text) => text.replace(trade, `../${trade}`),
      "manifest.json.series.0.file: must match pattern",
    ],
    ["a wrong count of rows", (text) => text.replace('"rows": 2,', '"rows": 3,'), `${trade}: expected 3 rows, found 2`],
    ["a wrong count in all", (text) => text.replace('"rows": 6,', '"rows": 7,'), "expected 7 rows in all, found 6"],
    ["a changed tick size", (text) => text.replace('"0.1"', '"0.2"'), "expected contentHash"],
    ["a wrong size", (text) => text.replace(/"bytes": \d+/, '"bytes": 4'), `${trade}: expected 4 bytes, found`],
    [
      "a wrong hash",
      (text) => text.replace(/"sha256": "[0-9a-f]{8}/, '"sha256": "00000000'),
      `${trade}: expected SHA-256 00000000`,
    ],
    [
      "a wrong content hash of a series",
      (text) => text.replace(/"content": "[0-9a-f]{8}/, '"content": "00000000'),
      `${trade}: expected rows of SHA-256 00000000`,
    ],
    [
      "an instrument that is not listed",
      (text) => text.replace('"ETH-USDT",\n      "tickSize"', '"XRP-USDT",\n      "tickSize"'),
      "ETH-USDT among the instruments",
    ],
  ])("%s", (_, change, message) => {
    writeFixture(dir, everyKind(), meta);
    edit("manifest.json", change);
    expect(refusal()).toContain(message);
  });

  it("a missing file", () => {
    writeFixture(dir, everyKind(), meta);
    rmSync(join(dir, trade));
    expect(refusal()).toContain(`${join(dir, trade)}: expected a file of`);
  });

  it("a file cut short", () => {
    writeFixture(dir, everyKind(), meta);
    writeFileSync(join(dir, trade), readFileSync(join(dir, trade)).subarray(0, -1));
    expect(refusal()).toMatch(/trade.bin: expected \d+ bytes, found \d+/);
  });

  it("any flipped byte of any file", () => {
    writeFixture(dir, everyKind(), meta);
    const bytes = readFileSync(join(dir, trade));
    for (let index = 0; index < bytes.length; index++) {
      const flipped = Buffer.from(bytes);
      flipped[index] = (flipped[index] ?? 0) ^ 1;
      writeFileSync(join(dir, trade), flipped);
      expect(refusal()).toContain(`${trade}: expected SHA-256`);
    }
  });

  it("times that fall, even when all hashes agree", () => {
    const tape = everyKind();
    const [trades] = tape.series;
    if (trades === undefined) throw new Error("the tape has trades");
    const wrong = seriesOf("trade", 0, Float64Array.of(12, 10), columnsOf(trades));
    writeFixture(dir, { ...tape, series: [wrong], length: 2 }, meta);
    expect(refusal()).toContain(
      `${dir}: Market data: trade of BTC-USDT-SWAP: row 1 is at 10 ms, the row before it at 12 ms`,
    );
  });
});

describe("A damaged series file is refused without its hash", () => {
  const series = everyKind().series[0];
  if (series === undefined) throw new Error("the tape has trades");
  const { bytes } = encodeSeries(series, "test");
  const headerAt = 8;
  const changed = (change: (copy: Buffer) => Buffer): Buffer => change(Buffer.from(bytes));
  const written =
    (offset: number, value: number) =>
    (copy: Buffer): Buffer => {
      copy.writeUInt32LE(value, offset);
      return copy;
    };
  it.each<[string, Buffer, string]>([
    ["another mark", changed((copy) => copy.fill(0, 0, 4)), "the mark of a series file"],
    ["half a header", bytes.subarray(0, headerAt + 5), "a whole block header"],
    ["half a block", bytes.subarray(0, -3), "a block up to byte"],
    ["more rows than a block holds", changed(written(headerAt, 70_000)), "a block of at most 65536 rows"],
    ["more rows than bytes", changed(written(headerAt, 200)), "200 in"],
    ["more bytes than its rows can have", changed(written(headerAt + 4, 4_000_000_000)), "2 in 4000000000 bytes"],
    ["fewer rows than promised", changed(written(headerAt, 1)), "expected 2 rows, found 1"],
    ["another length of the rows", changed(written(headerAt + 4, 30)), "expected a block of 30 bytes, found 18"],
    ["bytes that do not decompress", changed((copy) => copy.fill(255, headerAt + 12)), "do not decompress"],
  ])("%s", (_, damaged, message) => {
    expect(() => decodeSeries(damaged, "trade", 2, "x.bin")).toThrow(message);
  });
});
