/** Times of a file are read as what they are: dates in digits, counts, serial dates, or refused with the reason. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { microsecondsOf } from "../../../plugins/import/index.ts";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("import-times");

let counter = 0;
const read = (rows: readonly string[], options: Partial<RecordingOptions> = {}, header = "time") => {
  const file = join(home, `times-${counter++}.csv`);
  const text = [`${header},open,high,low,close,volume`, ...rows.map((row) => `${row},10,12,9,11,5`)].join("\n");
  writeFileSync(file, text);
  return readRecording({ file, instrument: "BTC-USDT", now: Date.parse("2026-06-01T00:00:00Z"), ...options });
};
const opened = async (rows: readonly string[], header?: string): Promise<readonly string[]> => {
  const { tape } = await read(rows, {}, header);
  const [series] = tape.series;
  if (series?.kind !== "candle") throw new Error("no bars");
  return [...series.at].map((at) => new Date(at - series.barMs).toISOString());
};

/** More rows than are looked at to find the form. */
const later = Array.from(
  { length: 300 },
  (_, row) => `20240302${String(Math.floor(row / 60)).padStart(2, "0")}${String(row % 60).padStart(2, "0")}`,
);

describe("Times of an imported file", () => {
  const expected = ["2024-03-01T09:30:00.000Z", "2024-03-01T09:31:00.000Z", "2024-03-01T09:32:00.000Z"];

  // .NET ticks and file times by Python: (t - datetime(1, 1, 1)) and (t - datetime(1601, 1, 1)) in units of 100 ns.
  it.each([
    ["YYYYMMDDHHMM", ["202403010930", "202403010931", "202403010932"]],
    ["YYMMDDHHMMSS", ["240301093000", "240301093100", "240301093200"]],
    ["YYMMDDHHMM", ["2403010930", "2403010931", "2403010932"]],
    ["dates with milliseconds", ["20240301093000000", "20240301093100000", "20240301093200000"]],
    ["dates with microseconds", ["20240301093000000000", "20240301093100000000", "20240301093200000000"]],
    ["serial dates", ["45352.395833333", "45352.396527778", "45352.397222222"]],
    ["serial dates of few digits", ["45352.39583", "45352.39653", "45352.39722"]],
    ["serial dates of doubles", ["45352.395833333336", "45352.396527777775", "45352.39722222222"]],
    [".NET ticks", ["638448822000000000", "638448822600000000", "638448823200000000"]],
    ["file times", ["133537590000000000", "133537590600000000", "133537591200000000"]],
  ])("are read as %s", async (_, rows) => expect(await opened(rows)).toEqual(expected));

  it.each([
    ["date,time", ["20240301,0930", "20240301,0931", "20240301,0932"]],
    ["date,time", ["20240301,093000", "20240301,093100", "20240301,093200"]],
    ["date,time", ["20240301,93000", "20240301,93100", "20240301,93200"]],
    ["date,time", ["20240301,093000000", "20240301,093100000", "20240301,093200000"]],
    ["date,time", ["2024-03-01,093000", "2024-03-01,093100", "2024-03-01,093200"]],
    ["date,time", ["20240301,09:30", "20240301,09:31", "20240301,09:32"]],
    ["<DATE>,<TIME>", ["20240301,9:30:00", "20240301,9:31:00", "20240301,9:32:00"]],
  ])("are read from the columns %s as %s", async (header, rows) =>
    expect(await opened(rows, header)).toEqual(expected),
  );

  it("are read by the hour", async () =>
    expect(await opened(["2024030109", "2024030110"])).toEqual([
      "2024-03-01T09:00:00.000Z",
      "2024-03-01T10:00:00.000Z",
    ]));

  it("are dates of shares too, long before coins", async () =>
    expect((await opened(["199903010930", "199903010931"]))[0]).toBe("1999-03-01T09:30:00.000Z"));

  it("are counts where they can be, though they look like dates", async () =>
    expect(await opened(["1612010000", "1612010060"])).toEqual([
      "2021-01-30T12:33:20.000Z",
      "2021-01-30T12:34:20.000Z",
    ]));

  it.each([
    [
      "day and month may be exchanged",
      ["010220240930", "010220240931"],
      /"010220240930", which is a date of which day/,
    ],
    ["one row is no date", ["202403010930", "202403010931", ...later, "202402300000"], /202402300000/],
    ["bars are of 1 ms", ["1709251200000", "1709251200001"], /bars would be 1 ms long.* --any-time/],
    ["bars are of 1 ms and a row is missing", ["1709251200000", "1709251200001", "1709251200003"], /--any-time/],
    ["a row is in the future", ["2099-01-01", "2099-01-02"], /"2099-01-01", read as dates.*in the future.*--any-time/],
    ["counts are in the future", ["2224121111", "2224121171"], /seconds.*in the future/],
  ])("are refused where %s", async (_, rows, reason) => await expect(read(rows)).rejects.toThrow(reason));

  it("may be odd if that was asked for", async () => {
    const { tape } = await read(["1709251200000", "1709251200001"], { anyTime: true });
    expect(tape.length).toBe(2);
    expect((await read(["2099-01-01", "2099-01-02"], { anyTime: true })).tape.length).toBe(2);
  });

  it("before there were coins are counted in a note", async () => {
    const { meta } = await read(["1136073600", "1136073660"]);
    expect(meta.notes).toEqual([{ what: "rows before 2009, by times read as seconds", count: 2 }]);
  });
});

describe("One instant by itself", () => {
  it.each([
    ["202403010930", "2024-03-01T09:30:00.000Z"],
    ["2024030109", "2024-03-01T09:00:00.000Z"],
    ["1709285400", "2024-03-01T09:30:00.000Z"],
    ["1709285400000", "2024-03-01T09:30:00.000Z"],
    ["2024-03-01", "2024-03-01T00:00:00.000Z"],
  ])("is %s", (text, expected) => {
    expect(new Date((microsecondsOf(text) ?? 0) / 1_000).toISOString()).toBe(expected);
  });
});
