/** Binary files of rows, written by other programs: each gives the rows that pandas reads from it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { add, grid } from "../../../src/decimal.ts";
import { columnNames, columnsOf, type Series, type Tape } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("binary");
const folder = fileURLToPath(new URL("../../fixtures/formats/", import.meta.url));
const fileOf = (name: string): string => join(folder, name);

interface Expected {
  readonly layout: string;
  readonly rows: number;
  readonly times: readonly [number, number];
  readonly firsts: readonly string[];
  readonly lasts: readonly string[];
  readonly sums: readonly string[];
  readonly bought?: number;
}
const expected = JSON.parse(readFileSync(fileOf("expected.json"), "utf8")) as Readonly<Record<string, Expected>>;

const read = (file: string, options: Partial<RecordingOptions> = {}) =>
  readRecording({ file, instrument: "BTC-USDT-SWAP", ...options });

/** The decimals of a series, column by column. */
const decimalsOf = ({ instruments, series }: Tape): readonly (readonly string[])[] => {
  const [one] = series as [Series];
  const { tickSize = "1", lotSize = "1" } = instruments[0] ?? {};
  const columns = columnsOf(one);
  return columnNames[one.kind].flatMap((name, place) => {
    if (name === "side") return [];
    const { format } = grid(/qty$|volume/i.test(name) ? lotSize : tickSize);
    return [Array.from(columns[place] as Float64Array, (count) => format(count))];
  });
};
const plain = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

describe("Rows are those that pandas reads from", () => {
  it.each(Object.entries(expected))("%s", async (name, { layout, rows, times, firsts, lasts, sums, bought }) => {
    const { tape, found, meta } = await read(fileOf(name));
    const [series] = tape.series as [Series];
    const columns = decimalsOf(tape);
    expect([found?.plan.layout.name, found?.rows, series.at[0], series.at.at(-1)]).toEqual([layout, rows, ...times]);
    expect(columns.map((column) => plain(column[0] as string))).toEqual(firsts);
    expect(columns.map((column) => plain(column.at(-1) as string))).toEqual(lasts);
    expect(columns.map((column) => plain(column.reduce(add, "0")))).toEqual(sums);
    if (series.kind === "trade") expect(series.side.filter((side) => side === 1).length).toBe(bought);
    expect(meta.notes).toEqual([]);
  });
});

describe("A binary file", () => {
  const stored = (name: string, bytes: Uint8Array): string => {
    const file = join(home, name);
    writeFileSync(file, bytes);
    return file;
  };
  const bytesOf = (name: string): Buffer => readFileSync(fileOf(name));

  it.each(["bars-zstd.parquet", "bars-lz4.feather", "bars-records.npy"])("is read packed as well: %s", async (name) => {
    const { tape, found } = await read(stored(`${name}.gz`, gzipSync(bytesOf(name))));
    expect([found?.rows, tape.startAt]).toEqual([50, expected[name]?.times[0]]);
  });

  it.each([
    "bars-snappy.parquet",
    "bars-zstd.feather",
    "bars-stream.arrow",
    "bars-records.npy",
    "bars-table.npy",
    "bars.csv.zst",
  ])("is refused where it ends early: %s", async (name) => {
    const bytes = bytesOf(name);
    for (const part of [0.3, 0.9])
      await expect(read(stored(`early-${name}`, bytes.subarray(0, Math.floor(bytes.length * part))))).rejects.toThrow(
        /early-.*: the (Parquet|Arrow|NumPy|zstd) data is damaged or ends early \(.*\)\. Fetch the file again/,
      );
  });

  it.each(["bars-snappy.parquet", "bars-lz4.feather", "bars-uncompressed.feather", "bars-records.npy"])(
    "ends in rows or in a refusal, whichever byte is wrong: %s",
    async (name) => {
      const bytes = bytesOf(name);
      for (let at = 0; at < bytes.length; at += 97) {
        const wrong = Buffer.from(bytes);
        wrong[at] = ~(wrong[at] as number) & 255;
        const outcome = await read(stored(`wrong-${name}`, wrong)).catch((error: Error) => error);
        if (outcome instanceof Error) expect([outcome.name, at], outcome.message).toEqual(["SluiceError", at]);
      }
    },
    60_000,
  );

  it.each([
    ["\u0089HDF\r\n", "an HDF5 file"],
    ["FEA1 and more", "a Feather file of the first version"],
    ["PARE and more", "an encrypted Parquet file"],
    ["SQLite format 3", "an SQLite database"],
  ])("that is not read is named: %s", async (head, what) => {
    await expect(read(stored("unknown", Buffer.from(head, "latin1")))).rejects.toThrow(
      `it is ${what}, which is not read.`,
    );
  });
});
