/**
 * Writes a fixture from rows of several series, or adds them to the fixture of a folder.
 *
 * Invariants: a folder that is no fixture is refused when the writer is opened; what a fixture holds already stays,
 * unless it is asked for that rows of the same time are replaced; the new fixture replaces the old one in one step.
 * Not here: joining (tape-join.ts), the format written (fixture.ts).
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SluiceError } from "../../errors.ts";
import {
  checkWritable,
  type Fixture,
  type FixtureManifest,
  type FixtureMeta,
  heldIn,
  readFixture,
  type WriteOptions,
  writeFixture,
} from "./fixture.ts";
import type { FixtureNote } from "./manifest-schema.ts";
import type { Tape } from "./tape.ts";
import { joinTapes, type NamedTape, type Overlap } from "./tape-join.ts";
import { type TextRow, type TextSeries, type TextSeriesOf, textSeries } from "./text-series.ts";

/** Options of `openFixtureWriter`. */
interface FixtureWriterOptions extends WriteOptions {
  /** Replaces rows of the same instrument and time; with `isNew` the whole fixture. Default false: they are refused. */
  readonly force?: boolean;
  /** Makes a fixture of its own and adds to none. Default false. */
  readonly isNew?: boolean;
}

/** Sources of the rows of a fixture. */
interface FixtureSources extends Pick<FixtureMeta, "feed"> {
  /** One sentence each. The manifest names the first six. */
  readonly sources: readonly string[];
  /** Name of the rows in messages: "the import". */
  readonly name: string;
  /** Permits bars that the fixture holds already with the same values. Default false. */
  readonly sameBars?: boolean;
}

/** Collects rows and writes them as a fixture. */
export interface FixtureWriter {
  /**
   * The fixture in the folder when the writer was opened. Undefined for a new folder, and for a damaged fixture that is
   * to be replaced.
   */
  readonly before: Fixture | undefined;
  /** Adds a series. Its rows are pushed in order of time, as decimal text. */
  series<K extends keyof TextRow>(of: TextSeriesOf<K>): TextSeries<K>;
  /** Adds the rows of a tape. `name` is used in messages. */
  add(name: string, tape: Tape): void;
  /** Counts something that readers of the manifest should know. */
  note(what: string, count?: number): void;
  /**
   * Writes the fixture. Bars that were added twice with the same values are kept once, with a note.
   * @throws IMPORT_INVALID where other rows of one series overlap in time, USAGE where the fixture holds rows of the same time,
   * FIXTURE_INVALID where there are no rows.
   */
  write(from: FixtureSources): { readonly manifest: FixtureManifest; readonly added: Tape };
}

/**
 * Opens the fixture of a folder for new rows; nothing is written before `write`.
 *
 * @param dir - the folder
 * @param options - instruments, series and where they come from
 * @returns the writer
 * @throws FIXTURE_INVALID where the folder holds anything else, USAGE where `isNew` and it holds a fixture
 */
export const openFixtureWriter = (dir: string, options: FixtureWriterOptions = {}): FixtureWriter => {
  const { force = false, isNew = false } = options;
  checkWritable(dir, { force: force || !isNew });
  const before = !isNew && existsSync(join(dir, "manifest.json")) ? readBefore(dir, force) : undefined;
  const parts: (() => readonly NamedTape[])[] = [];
  const notes = new Map<string, number>();
  const note = (what: string, count = 1): void => {
    notes.set(what, (notes.get(what) ?? 0) + count);
  };

  const write: FixtureWriter["write"] = ({ name, sources, feed, sameBars = false }) => {
    const added = joinTapes(
      parts.flatMap((part) => part()),
      { overlap: "same", note },
    );
    const result = before && addedTo(dir, before, { name, tape: added }, { force, sameBars });
    // Nothing remains of a fixture all of whose rows are replaced.
    const kept = before && result && result.replaced < before.tape.length ? before.manifest : undefined;
    for (const { what, count } of kept?.notes ?? []) note(what, count);
    if (kept && result && result.replaced > 0) note("rows replaced", result.replaced);
    const source = sourceOf([...(kept === undefined ? [] : [kept.source]), ...sources]);
    const told = kept === undefined ? feed : kept.feed;
    const meta = { source, notes: listOf(notes), ...(told && { feed: told }) };
    const manifest = writeFixture(dir, result?.tape ?? added, meta, { force: force || !isNew });
    return { manifest, added };
  };
  return {
    before,
    series: (of) => {
      const { rows, tape } = textSeries(of);
      parts.push(() => (rows.length === 0 ? [] : [{ name: of.place, tape: tape() }]));
      return rows;
    },
    add: (name, tape) => {
      parts.push(() => [{ name, tape }]);
    },
    note,
    write,
  };
};

const listOf = (notes: ReadonlyMap<string, number>): readonly FixtureNote[] =>
  [...notes].map(([what, count]) => ({ what, count }));

/** The fixture in the folder; undefined where it is damaged and may be replaced. */
const readBefore = (dir: string, force: boolean): Fixture | undefined => {
  try {
    return readFixture(dir);
  } catch (error) {
    if (force) return undefined;
    throw error;
  }
};

/** Both as one tape, and the number of rows of the fixture that were replaced. */
const addedTo = (
  dir: string,
  { manifest, tape }: Fixture,
  added: NamedTape,
  { force, sameBars }: { readonly force: boolean; readonly sameBars: boolean },
): { readonly tape: Tape; readonly replaced: number } => {
  let replaced = 0;
  const refusal = ({ series, fromMs, toMs }: Overlap): SluiceError =>
    new SluiceError(
      "USAGE",
      `${dir} holds a fixture already: ${heldIn(manifest)}. It has rows of ${series} from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}. ` +
        "Name a new folder, or replace the rows of that time with --force (from code: { force: true }).",
    );
  const note = (_: string, count: number): void => {
    if (force) replaced += count;
  };
  const overlap = force ? "replace" : sameBars ? "same" : "refuse";
  return { tape: joinTapes([{ name: dir, tape }, added], { overlap, note, refusal }), replaced };
};

const sourcesShown = 6;

const sourceOf = (all: readonly string[]): string => {
  const sources = [...new Set(all)];
  const more = sources.length - sourcesShown;
  return [...sources.slice(0, sourcesShown), ...(more > 0 ? [`And ${more} more files.`] : [])].join(" ");
};
