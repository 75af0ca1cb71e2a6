/** `sluice data` lists, shows, checks, cuts and merges fixtures, and changes none of them. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { readFixture, writeFixture } from "../../../src/market/tape/fixture.ts";
import {
  type Column,
  createTape,
  type Series,
  type SeriesKind,
  seriesOf,
  type Tape,
} from "../../../src/market/tape/tape.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("data");
const start = Date.UTC(2024, 0, 1);
const minute = 60_000;

const sluice = async (...words: string[]) => {
  const io = capturedIo({ columns: 200 });
  const code = await main(["data", ...words], io);
  return { code, out: io.outText, err: io.errText };
};

let counter = 0;
const stored = (tape: Tape, name = `fixture-${counter++}`): string => {
  const dir = join(home, name);
  writeFixture(dir, tape, { source: `Made for ${name}.` });
  return dir;
};
const series = (kind: SeriesKind, at: readonly number[], rows: readonly (readonly number[])[], instrument = 0) => {
  const column = (place: number): Column => Float64Array.from(rows, (row) => row[place] as number);
  return seriesOf(
    kind,
    instrument,
    Float64Array.from(at),
    (rows[0] ?? []).map((_, place) => column(place)),
    minute,
  );
};
const btc = { instId: "BTC-USDT", tickSize: "0.5", lotSize: "1" };
const eth = { instId: "ETH-USDT", tickSize: "0.1", lotSize: "0.1" };
/** Bars that close at the minutes `from` to `to`, at as many ticks. */
const bars = (from: number, to: number, instrument = 0, times = 1) => {
  const minutes = Array.from({ length: to - from }, (_, index) => from + index);
  return series(
    "candle",
    minutes.map((index) => start + index * minute),
    minutes.map((index) => [index, index + 5, 1, index * times, 10]),
    instrument,
  );
};
const closes = (dir: string, place = 0): readonly number[] => {
  const one = readFixture(dir).tape.series[place];
  return one?.kind === "candle" ? [...one.close] : [];
};
const numbers = (from: number, to: number, times = 1) =>
  Array.from({ length: to - from }, (_, index) => (from + index) * times);

describe("sluice data ls and show", () => {
  it("list the fixtures below a folder, and those that cannot be read", async () => {
    const both = createTape([btc, eth], [bars(2, 12), bars(2, 7, 1)]);
    stored(both, "listed/b");
    stored(createTape([btc], [bars(2, 4)]), "listed/a/deep");
    writeFileSync(join(stored(both, "listed/c"), "manifest.json"), "{}");
    const folder = join(home, "listed");
    const { code, out } = await sluice("ls", folder);
    expect(code).toBe(0);
    expect(out.split("\n")).toEqual([
      `${folder}/a/deep  2024-01-01 00:02 to 2024-01-01 00:03  2 rows  BTC-USDT (candle)`,
      `${folder}/b  2024-01-01 00:02 to 2024-01-01 00:11  15 rows  BTC-USDT (candle), ETH-USDT (candle)`,
      expect.stringMatching(/\/c .*expected format "sluice-fixture\/1"/),
      "",
    ]);
    const [first] = JSON.parse((await sluice("ls", folder, "--json")).out);
    expect(first).toEqual({ fixture: `${folder}/a/deep`, ...readFixture(`${folder}/a/deep`).manifest });
    expect((await sluice("ls", join(home, "listed/a/deep"))).out).toContain("2 rows");
    expect(await sluice("ls", join(home, "none"))).toMatchObject({
      code: 2,
      err: expect.stringContaining("there is no such folder"),
    });
  });

  it("show a fixture by its manifest", async () => {
    const dir = stored(createTape([btc], [bars(2, 12)]));
    const { out } = await sluice("show", dir);
    expect(out).toContain(`${dir}: 10 rows`);
    expect(out).toMatch(/BTC-USDT {2}tick 0.5 {2}lot 1\n.* Made for fixture-\d+\.\n$/s);
    expect(JSON.parse((await sluice("show", dir, "--json")).out)).toEqual({
      fixture: dir,
      ...readFixture(dir).manifest,
    });
  });
});

describe("sluice data check", () => {
  it("finds nothing but gaps in a sound fixture", async () => {
    const dir = stored(
      createTape(
        [btc],
        [
          series(
            "candle",
            [1, 2, 5].map((index) => start + index * minute),
            [
              [5, 6, 4, 5, 1],
              [5, 6, 4, 5, 0],
              [5, 6, 4, 5, 1],
            ],
          ),
        ],
      ),
    );
    expect(await sluice("check", dir)).toEqual({
      code: 0,
      out: [
        `${dir}: 3 rows, files as written`,
        "  remark: 60000 ms candle of BTC-USDT: bars without volume: 1 (first 2024-01-01T00:02:00.000Z)",
        "  remark: 60000 ms candle of BTC-USDT: bars missing in gaps: 2 (first 2024-01-01T00:02:00.000Z)",
        "",
      ].join("\n"),
      err: "",
    });
  });

  it.each<[string, ReturnType<typeof series>, RegExp]>([
    [
      "bars that cannot be",
      series(
        "candle",
        [start, start + minute],
        [
          [5, 6, 4, 5, 1],
          [5, 4, 4, 5, 1],
        ],
      ),
      /problem: .*low or high is not .*: 1 \(first 2024-01-01T00:01/,
    ],
    [
      "bars that overlap",
      series(
        "candle",
        [start, start + 1_000],
        [
          [5, 6, 4, 5, 1],
          [5, 6, 4, 5, 1],
        ],
      ),
      /problem: .*begin before the one before them ended: 1/,
    ],
    [
      "crossed prices",
      series("quote", [start], [[11, 1, 10, 1]]),
      /problem: quote of BTC-USDT: best prices that cross: 1/,
    ],
    [
      "trades of nothing",
      series("trade", [start], [[1, 10, 0]]),
      /problem: trade of BTC-USDT: trades of price or quantity zero: 1/,
    ],
    [
      "a book without a beginning",
      series("level", [start], [[1, 10, 1, 0]]),
      /problem: level of BTC-USDT: the book does not begin with a snapshot: 1/,
    ],
  ])("ends with 1 for %s", async (_, one, message) => {
    const { code, out, err } = await sluice("check", stored(createTape([btc], [one])));
    expect([code, out]).toEqual([1, expect.stringMatching(message)]);
    expect(err).toContain("There are problems in the data:");
  });

  it("tells empty sides, equal prices and the longest silence", async () => {
    const dir = stored(
      createTape(
        [btc],
        [
          series(
            "quote",
            [0, 1, 61, 62].map((s) => start + s * 1_000),
            [
              [10, 1, 11, 1],
              [10, 0, 11, 1],
              [10, 1, 10, 1],
              [10, 1, 11, 1],
            ],
          ),
        ],
      ),
    );
    expect(
      JSON.parse((await sluice("check", dir, "--json")).out)[0].findings.map(
        ({ what, count }: { what: string; count: number }) => `${what}: ${count}`,
      ),
    ).toEqual([
      "best prices of one side only: 1",
      "best prices that are equal: 1",
      "seconds without a row at most, after 2024-01-01T00:00:01.000Z: 60",
    ]);
  });

  it("ends with 1 for a damaged file", async () => {
    const dir = stored(createTape([btc], [bars(2, 12)]));
    writeFileSync(join(dir, "BTC-USDT.candle-60000.bin"), "x");
    expect(await sluice("check", dir)).toMatchObject({
      code: 1,
      err: expect.stringContaining("The fixture is damaged"),
    });
  });
});

describe("sluice data cut", () => {
  it("writes the rows of a window and of some instruments", async () => {
    const dir = stored(createTape([btc, eth], [bars(1, 30), bars(1, 30, 1, 2)]));
    const out = join(home, "cut");
    const before = readFileSync(join(dir, "manifest.json"), "utf8");
    // Bars that begin at 00:05 or later and end by 00:10.
    expect(
      (
        await sluice(
          "cut",
          dir,
          "--out",
          out,
          "--from",
          "2024-01-01T00:05:00Z",
          "--to",
          "2024-01-01T00:10:00Z",
          "--instrument",
          "ETH-USDT",
        )
      ).code,
    ).toBe(0);
    expect(closes(out)).toEqual(numbers(6, 11, 2));
    expect(readFixture(out).manifest.instruments).toEqual([eth]);
    expect(readFixture(out).manifest.source).toMatch(/^Part of fixture-\d+: Made for fixture-\d+\.$/);
    expect(readFileSync(join(dir, "manifest.json"), "utf8")).toBe(before);
    expect(await sluice("cut", dir, "--out", out)).toMatchObject({
      code: 2,
      err: expect.stringContaining("holds a fixture already"),
    });
    expect((await sluice("cut", dir, "--out", out, "--force")).code).toBe(0);
    expect(readFixture(out).manifest.contentHash).toBe(readFixture(dir).manifest.contentHash);
  });

  it("keeps the last trade where no end is named, and leaves out what lies at an end that is", async () => {
    const dir = stored(
      createTape(
        [btc],
        [
          series(
            "trade",
            [0, 5, 9].map((ms) => start + ms),
            [
              [1, 10, 1],
              [1, 11, 1],
              [1, 12, 1],
            ],
          ),
        ],
      ),
    );
    const out = join(home, "trades");
    await sluice("cut", dir, "--out", out, "--from", "2024-01-01");
    expect(readFixture(out).manifest.contentHash).toBe(readFixture(dir).manifest.contentHash);
    await sluice("cut", dir, "--out", out, "--force", "--to", "2024-01-01T00:00:00.009Z");
    expect(readFixture(out).tape.series.map(({ at }) => [...at])).toEqual([[start, start + 5]]);
  });

  it.each([
    [["--from", "yesterday"], /--from: "yesterday" is not an instant in UTC/],
    [["--from", "2025-01-01"], /nothing in it lies from 2025-01-01 to its end; it holds 2024-01-01T00:01:00.000Z to/],
    [["--instrument", "BTC-USD"], /holds no BTC-USD. Did you mean "BTC-USDT"\?/],
    [["--instrument", "BTC"], /not an instrument id/],
  ])("refuses %j and writes nothing", async (words, message) => {
    const dir = stored(createTape([btc], [bars(1, 5)]));
    const out = join(home, "refused");
    expect(await sluice("cut", dir, "--out", out, ...words)).toMatchObject({
      code: 2,
      err: expect.stringMatching(message),
    });
    expect(existsSync(out)).toBe(false);
  });
});

describe("sluice data merge", () => {
  it("shows its steps on a terminal, and leaves nothing of them there", async () => {
    const [one, other] = [stored(createTape([btc], [bars(2, 7)])), stored(createTape([eth], [bars(2, 7)]))];
    const io = capturedIo({ isTty: true, columns: 200 });
    expect(await main(["data", "merge", one, other, "--out", join(home, "watched")], io)).toBe(0);
    const steps = [`0 of 4 steps, reading ${one}`, `1 of 4 steps, reading ${other}`, "2 of 4 steps, writing", ""];
    expect(io.errText.split("\u001b[K").map((line) => line.replace("\r", "").replace(/, [\d.]+ m?s left/, ""))).toEqual(
      [...steps, ""],
    );
  });

  it("joins instruments and times, in steps that divide both", async () => {
    const one = stored(createTape([btc], [bars(1, 5)]));
    const later = stored(createTape([{ ...btc, tickSize: "0.2" }], [bars(5, 9)]));
    const other = stored(createTape([eth], [bars(1, 5)]));
    const out = join(home, "merged");
    expect((await sluice("merge", later, one, other, "--out", out)).code).toBe(0);
    const { manifest } = readFixture(out);
    expect(manifest.instruments.map(({ instId, tickSize }) => [instId, tickSize])).toEqual([
      ["BTC-USDT", "0.1"],
      ["ETH-USDT", "0.1"],
    ]);
    // Counts of 0.5 and of 0.2, in counts of 0.1.
    expect(closes(out)).toEqual([...numbers(1, 5, 5), ...numbers(5, 9, 2)]);
    expect(closes(out, 1)).toEqual(numbers(1, 5));
  });

  it("keeps marks and rules what they are in a finer step", async () => {
    const terms = (px: number, at: number) => [
      seriesOf("change", 0, Float64Array.of(start + at), [Float64Array.of(2), Float64Array.of(3), Uint8Array.of(1)]),
      // So many whole ticks, and a quarter of one.
      seriesOf("mark", 0, Float64Array.of(start + at), [Float64Array.of(px), Float64Array.of(250_000_000)]),
    ];
    const one = stored(createTape([btc], [...terms(10, 0), bars(1, 3)]));
    const finer = { instId: "BTC-USDT", tickSize: "0.1", lotSize: "0.2" };
    const other = stored(createTape([finer], [...terms(70, minute), bars(5, 7)]));
    const out = join(home, "terms");
    await sluice("merge", one, other, "--out", out);
    const [change, mark] = readFixture(out).tape.series as [
      Extract<Series, { kind: "change" }>,
      Extract<Series, { kind: "mark" }>,
    ];
    expect(readFixture(out).manifest.instruments).toEqual([{ instId: "BTC-USDT", tickSize: "0.1", lotSize: "0.2" }]);
    // Rules of a tick of 1 and a lot of 3, then of 0.2 and 0.6.
    expect([[...change.tick], [...change.lot]]).toEqual([
      [10, 2],
      [15, 3],
    ]);
    // 10.25 ticks of 0.5 are 5.125, which are 51.25 of 0.1; 70.25 stay.
    expect([[...mark.px], [...mark.part]]).toEqual([
      [51, 70],
      [250_000_000, 250_000_000],
    ]);
  });

  it("takes bars that are the same once, and refuses others of the same time", async () => {
    const [one, same, other] = [bars(1, 5), bars(3, 8), bars(3, 8, 0, 2)].map((list) =>
      stored(createTape([btc], [list])),
    ) as [string, string, string];
    const out = join(home, "overlap");
    await sluice("merge", one, same, "--out", out);
    expect(closes(out)).toEqual(numbers(1, 8));
    const refused = join(home, "refused-merge");
    expect(await sluice("merge", one, other, "--out", refused)).toMatchObject({
      code: 1,
      err: expect.stringContaining("both hold rows from 2024-01-01T00:03:00.000Z"),
    });
    expect(await sluice("merge", one, "--out", refused)).toMatchObject({
      code: 2,
      err: expect.stringContaining("Name two fixtures or more"),
    });
    expect(existsSync(refused)).toBe(false);
  });
});
