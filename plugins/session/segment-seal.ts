/**
 * Sealing of a segment: its rows become a fixture with a content hash, its gaps a line in the recording's index.
 *
 * Invariants: a segment is removed only when its fixture is whole and in the index; sealing the same segment again
 * changes nothing.
 * Not here: writing segments (segment-file.ts), the format of fixtures (market/tape/fixture.ts).
 */
import { appendFileSync, existsSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { SluiceError } from "sluice";
import { writeFixture } from "sluice/backtest";
import { type FixtureManifest, messageOf, readManifest } from "sluice/extension";
import { createCollector } from "./market-fixture.ts";
import { readName } from "./market-rows.ts";
import { type Cut, type Gap, readSegment } from "./segment-file.ts";

/** A time in which rows may be missing, by the calendar: milliseconds since 1970. */
interface DatedGap {
  readonly stream: string;
  readonly from: number;
  readonly to: number;
  readonly why: string;
}

/** One line of `segments.ndjson` in a recording's folder, and one fixture next to it. */
export interface SealedSegment {
  /** Folder of the fixture in that of the recording; empty where nothing was recorded. */
  readonly fixture: string;
  /** Start of its time, by the calendar: milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly rows: number;
  /** Empty where nothing was recorded. */
  readonly contentHash: string;
  readonly gaps: readonly DatedGap[];
}

const indexFile = "segments.ndjson";
const segmentFile = /^\.segment-(.+)\.ndjson$/;

export const segmentPath = (dir: string, name: string): string => join(dir, `.segment-${name}.ndjson`);

/** Files of segments that were not sealed, the oldest first. */
export const isSegment = (file: string): boolean => segmentFile.test(file);

/** `2026-01-31T09-00-00-000Z`: an instant that may name a folder anywhere. */
export const segmentName = (wall: number): string => new Date(wall).toISOString().replace(/[:.]/g, "-");

/** All sealed segments of a recording, in order. */
export const readIndex = (dir: string): readonly SealedSegment[] => {
  const path = join(dir, indexFile);
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line, index) => {
      try {
        return JSON.parse(line) as SealedSegment;
      } catch (error) {
        throw new SluiceError(
          "FIXTURE_INVALID",
          `${path}:${index + 1}: expected a line of JSON (${messageOf(error)}). Remove the line.`,
        );
      }
    });
};

/** A line that was cut off, as by a full disk, is replaced by the next one. */
const addToIndex = (dir: string, sealed: SealedSegment): void => {
  const path = join(dir, indexFile);
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const whole = bytes.lastIndexOf("\n") + 1;
  if (whole < bytes.length) truncateSync(path, whole);
  if (!readIndex(dir).some(({ from }) => from === sealed.from)) appendFileSync(path, `${JSON.stringify(sealed)}\n`);
};

/**
 * Seals the segment of `path`; undefined where it held nothing, not even its header. `endedAt`: on the engine's clock,
 * where that is known.
 */
export const sealSegment = (path: string, endedAt?: number): SealedSegment | undefined => {
  const segment = readSegment(path);
  if (segment === undefined) {
    rmSync(path);
    return undefined;
  }
  const { header, lines } = segment;
  const offset = header.wall - header.now;
  const collector = createCollector(new Map(header.instruments.map((one) => [one.instId, one])));
  collector.date(header);
  const gaps: DatedGap[] = [];
  const cuts = new Map<string, Cut>();
  let last = header.now;
  for (const line of lines) {
    if ("cut" in line) {
      cuts.set(line.cut.stream, line.cut);
      continue;
    }
    if ("gap" in line) {
      cuts.delete(line.gap.stream);
      gaps.push(dated(line.gap, offset));
      last = Math.max(last, line.gap.to);
      continue;
    }
    collector.add(line.row, line.value);
    const [at] = line.value as readonly [number];
    // A bar is dated by its close, and may be recorded later.
    if (readName(line.row)?.kind !== "candles") last = Math.max(last, at);
  }
  const ended = endedAt ?? last;
  const to = Math.ceil(ended + offset);
  // Of a process that was killed.
  for (const cut of cuts.values()) if (ended > cut.from) gaps.push(dated({ ...cut, to: ended }, offset));
  const sealed = sealedAs(path, collector.finish(), { from: header.wall, to, source: header.source, gaps });
  addToIndex(dirname(path), sealed);
  rmSync(path);
  return sealed;
};

const dated = ({ stream, from, to, why }: Gap, offset: number): DatedGap => ({
  stream,
  from: Math.floor(from + offset),
  to: Math.ceil(to + offset),
  why,
});

const sealedAs = (
  path: string,
  { tape, notes }: ReturnType<ReturnType<typeof createCollector>["finish"]>,
  { from, to, source, gaps }: { from: number; to: number; source: string; gaps: readonly DatedGap[] },
): SealedSegment => {
  if (tape.length === 0) return { fixture: "", from, to, rows: 0, contentHash: "", gaps };
  const fixture = segmentFile.exec(basename(path))?.[1] ?? segmentName(from);
  const told = gaps.map((gap) => ({ what: gapText(gap), count: 1 }));
  const manifest = writeOnce(join(dirname(path), fixture), () =>
    writeFixture(join(dirname(path), fixture), tape, { source, notes: [...notes, ...told] }, { force: true }),
  );
  return { fixture, from, to, rows: manifest.rows, contentHash: manifest.contentHash, gaps };
};

/** A process that was killed may have written the fixture and nothing after it. */
const writeOnce = (dir: string, write: () => FixtureManifest): FixtureManifest =>
  existsSync(join(dir, "manifest.json")) ? readManifest(dir) : write();

const gapText = ({ stream, from, to, why }: DatedGap): string =>
  `${stream} may lack rows from ${new Date(from).toISOString()} to ${new Date(to).toISOString()}: ${why}`;
