/** Bars of a file follow a calendar or one length; bars off the grid are told, dropped or moved. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { importRecordings } from "../../../plugins/import/tape-import.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";
import { type CandleSeries, openingsOf } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("import-grids");

let counter = 0;
const fileOf = (times: readonly string[]): string => {
  const file = join(home, `grid-${counter++}.csv`);
  writeFileSync(file, ["time,open,high,low,close,volume", ...times.map((at) => `${at},1,2,0.5,1.5,10`)].join("\n"));
  return file;
};
const read = (times: readonly string[], options: Partial<RecordingOptions> = {}) =>
  readRecording({ file: fileOf(times), instrument: "BTC-USDT", ...options });
const barsOf = ({ tape }: Awaited<ReturnType<typeof read>>): readonly string[] => {
  const series = tape.series[0] as CandleSeries;
  const openedAt = openingsOf(series);
  return [...series.at].map((at, row) =>
    [openedAt(row), at].map((instant) => new Date(instant).toISOString().slice(0, 16)).join(" "),
  );
};
const notesOf = ({ meta }: Awaited<ReturnType<typeof read>>) =>
  meta.notes?.map(({ what, count }) => `${what}: ${count}`);

describe("The grid of imported bars", () => {
  it.each<[string, readonly string[], Partial<RecordingOptions>, readonly string[]]>([
    [
      "months",
      ["2024-01-01", "2024-02-01", "2024-03-01", "2024-05-01"],
      {},
      [
        "2024-01-01T00:00 2024-02-01T00:00",
        "2024-02-01T00:00 2024-03-01T00:00",
        "2024-03-01T00:00 2024-04-01T00:00",
        "2024-05-01T00:00 2024-06-01T00:00",
      ],
    ],
    [
      "months by their ends",
      ["2024-02-01", "2024-03-01", "2024-04-01"],
      { timestamp: "close" },
      ["2024-01-01T00:00 2024-02-01T00:00", "2024-02-01T00:00 2024-03-01T00:00", "2024-03-01T00:00 2024-04-01T00:00"],
    ],
    [
      "days over a change of clocks",
      ["2024-03-08T00:00-05:00", "2024-03-09T00:00-05:00", "2024-03-10T00:00-05:00", "2024-03-11T00:00-04:00"],
      {},
      [
        "2024-03-08T05:00 2024-03-09T05:00",
        "2024-03-09T05:00 2024-03-10T05:00",
        "2024-03-10T05:00 2024-03-11T04:00",
        "2024-03-11T04:00 2024-03-12T04:00",
      ],
    ],
    [
      "days from the close of New York",
      ["2024-11-01T21:00Z", "2024-11-02T21:00Z", "2024-11-03T22:00Z", "2024-11-04T22:00Z"],
      { zone: "America/New_York", anchor: "17:00" },
      [
        "2024-11-01T21:00 2024-11-02T21:00",
        "2024-11-02T21:00 2024-11-03T22:00",
        "2024-11-03T22:00 2024-11-04T22:00",
        "2024-11-04T22:00 2024-11-05T22:00",
      ],
    ],
    [
      "weeks of a zone",
      ["2024-03-18T00:00+01:00", "2024-03-25T00:00+01:00", "2024-04-01T00:00+02:00", "2024-04-08T00:00+02:00"],
      {},
      [
        "2024-03-17T23:00 2024-03-24T23:00",
        "2024-03-24T23:00 2024-03-31T22:00",
        "2024-03-31T22:00 2024-04-07T22:00",
        "2024-04-07T22:00 2024-04-14T22:00",
      ],
    ],
  ])("is that of %s", async (_, times, options, expected) =>
    expect(barsOf(await read(times, options))).toEqual(expected),
  );

  it("is kept by a fixture", async () => {
    const out = join(home, "months");
    const files = [fileOf(["2024-01-01", "2024-02-01", "2024-03-01"]), fileOf(["2024-04-01", "2024-05-01"])];
    await importRecordings({ files, instrument: "BTC-USDT", out });
    const { tape, manifest } = readFixture(out);
    expect(manifest.series.map(({ bars, rows }) => `${bars}: ${rows}`)).toEqual(["month: 5"]);
    const series = tape.series[0] as CandleSeries;
    expect([...series.at].map((at) => new Date(at).toISOString().slice(0, 10))).toEqual([
      "2024-02-01",
      "2024-03-01",
      "2024-04-01",
      "2024-05-01",
      "2024-06-01",
    ]);
    expect(new Date(openingsOf(series)(1)).toISOString().slice(0, 10)).toBe("2024-02-01");
  });

  const off = [
    "2018-02-09 09:00:00",
    "2018-02-09 09:01:00",
    "2018-02-09 09:02:14.789",
    "2018-02-09 09:03:14.789",
    "2018-02-09 09:04:00",
    "2018-02-09 09:05:00",
  ];

  it("is told with the number of bars that are off it, and what to do", async () => {
    await expect(read(off)).rejects.toThrow(
      /:4: the bar of 2018-02-09T09:02:14\.789Z is off the grid, the first of 2: .* comes 14789 ms after its place\..*--off-grid drop.*--off-grid shift/,
    );
  });

  it("may leave them out", async () => {
    const found = await read(off, { offGrid: "drop" });
    expect(barsOf(found).map((bar) => bar.slice(11, 16))).toEqual(["09:00", "09:01", "09:04", "09:05"]);
    expect(notesOf(found)).toContain("bars off the grid, dropped: 2");
  });

  it("may move them to the next place, which is after their data", async () => {
    const found = await read(off, { offGrid: "shift" });
    expect(barsOf(found).map((bar) => bar.slice(11, 16))).toEqual(["09:00", "09:01", "09:03", "09:04", "09:05"]);
    expect(notesOf(found)).toEqual(
      expect.arrayContaining(["bars off the grid, moved to their next place: 1", "bars off the grid, dropped: 1"]),
    );
  });
});
