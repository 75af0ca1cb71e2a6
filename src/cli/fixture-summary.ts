/**
 * Summary of a fixture that was written: a few lines of text, or one JSON object.
 *
 * Invariants: the JSON is one line; counts and times are the manifest's own.
 */
import { gridOf, lengthName } from "../market/calendar/bar-calendar.ts";
import type { FixtureFinding, ImportedFile, WrittenFixture } from "../market/tape/fixture.ts";
import { jsonText } from "../report/ansi.ts";
import { grouped } from "../report/number-format.ts";

/**
 * Text about a fixture that a command has written: folder, rows, instruments, series. One JSON document with `json`.
 *
 * @param written - what was written
 * @param json - one JSON document instead of text
 * @returns text that ends with a line feed
 */
export const fixtureSummary = (written: WrittenFixture, json: boolean): string =>
  json ? `${jsonText(written)}\n` : `${linesOf(written).join("\n")}\n`;

const linesOf = ({ fixture: dir, files = [], problems = [], ...manifest }: WrittenFixture): readonly string[] => {
  const bytes = manifest.series.reduce((total, series) => total + series.bytes, 0);
  return [
    `${dir}: ${grouped(manifest.rows)} rows in ${grouped(bytes)} bytes`,
    `  from ${manifest.startAt} to ${manifest.endAt}`,
    ...manifest.instruments.map(({ instId, tickSize, lotSize }) => `  ${instId}  tick ${tickSize}  lot ${lotSize}`),
    ...manifest.series.map(
      ({ instId, kind, barMs, bars, rows }) =>
        `  ${instId}  ${barMs === undefined ? kind : `${kind} ${lengthName(gridOf(bars ?? String(barMs)))}`}: ${grouped(rows)}`,
    ),
    ...feedLines(manifest),
    ...fileLines(files),
    ...manifest.notes.map(({ what, count }) => `  note: ${what}: ${grouped(count)}`),
    ...problems.map(findingLine),
    `  contentHash ${manifest.contentHash}`,
  ];
};

const findingLine = ({ series, kind, what, count, firstAt }: FixtureFinding): string =>
  `  ${kind}: ${series}: ${what}: ${grouped(count)} (first ${firstAt})`;

const filesShown = 12;

const fileLines = (files: readonly ImportedFile[]): readonly string[] => {
  const shown = files.slice(0, filesShown).map(({ file, instrument, layout, rows, startAt, endAt }) => {
    return `  read ${file} as ${layout} of ${instrument}: ${grouped(rows)} rows from ${startAt} to ${endAt}`;
  });
  return files.length > filesShown ? [...shown, `  read ${files.length - filesShown} more files`] : shown;
};

const feedLines = ({ feed }: Pick<WrittenFixture, "feed">): readonly string[] => {
  if (feed === undefined) return [];
  const at = (share: number): string => `${feed.delaysMs[Math.round(share * (feed.delaysMs.length - 1))] ?? 0} ms`;
  const behind =
    feed.clockBehindMs === 0
      ? ""
      : `; the recorder's clock was at least ${feed.clockBehindMs} ms behind the exchange's`;
  return [`  feed: median ${at(0.5)}, 99 % within ${at(0.99)}${behind}`];
};
