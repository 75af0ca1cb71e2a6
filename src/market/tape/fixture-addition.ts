/**
 * Rows that are added to the fixture of a folder, or become its first ones.
 *
 * Invariants: a folder that is no fixture is refused before anything is made for it; what a fixture holds already stays, unless it is
 * asked for that rows of the same time are replaced; the fixture is written beside the old one and takes its place in one step.
 * Not here: where rows come from (import.ts), joining (tape-join.ts), the format written (fixture.ts).
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
  writeFixture,
} from "./fixture.ts";
import { createNotes } from "./read-recording.ts";
import type { Tape } from "./tape.ts";
import { joinTapes, type Overlap } from "./tape-join.ts";

interface Addition extends Omit<FixtureMeta, "source"> {
  /** For messages. */
  readonly name: string;
  readonly tape: Tape;
  /** Where the rows come from, one sentence each. */
  readonly sources: readonly string[];
}

interface AddOptions {
  /** Bars that the fixture holds already, just the same, are no reason to refuse. */
  readonly sameBars?: boolean;
}

/** The folder as it is now; ask before a long work is begun. */
export const openForAdding = (out: string, force: boolean) => {
  checkWritable(out, { force: true });
  const before = existsSync(join(out, "manifest.json")) ? readBefore(out, force) : undefined;
  return {
    before,
    add: ({ name, tape, sources, notes: own = [], feed }: Addition, options: AddOptions = {}): FixtureManifest => {
      const notes = createNotes();
      for (const { what, count } of own) notes.note(what, count);
      const result = before === undefined ? undefined : addedTo(out, before, { name, tape }, force, options);
      // Of a fixture all of whose rows are replaced nothing remains to be told.
      const kept =
        before !== undefined && result !== undefined && result.replaced < before.tape.length
          ? { ...result, ...before.manifest }
          : undefined;
      for (const { what, count } of kept?.notes ?? []) notes.note(what, count);
      if (kept !== undefined && kept.replaced > 0) notes.note("rows replaced", kept.replaced);
      const source = sourceOf([...(kept === undefined ? [] : [kept.source]), ...sources]);
      const told = kept === undefined ? feed : kept.feed;
      return writeFixture(
        out,
        result?.tape ?? tape,
        { source, notes: notes.list(), ...(told && { feed: told }) },
        { force: true },
      );
    },
  };
};

/** What the folder holds; nothing where it is damaged and may be replaced. */
const readBefore = (out: string, force: boolean): Fixture | undefined => {
  try {
    return readFixture(out);
  } catch (error) {
    if (force) return undefined;
    throw error;
  }
};

/** Both, and how many rows of the fixture had to go. */
const addedTo = (
  out: string,
  { manifest, tape }: Fixture,
  added: Pick<Addition, "name" | "tape">,
  force: boolean,
  { sameBars = false }: AddOptions,
): { readonly tape: Tape; readonly replaced: number } => {
  let replaced = 0;
  const refusal = ({ series, fromMs, toMs }: Overlap): SluiceError =>
    new SluiceError(
      "USAGE",
      `${out} holds a fixture already: ${heldIn(manifest)}. It has rows of ${series} from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}. ` +
        "Name a new folder, or replace the rows of that time with --force (from code: { force: true }).",
    );
  const note = (_: string, count: number): void => {
    if (force) replaced += count;
  };
  const overlap = force ? "replace" : sameBars ? "same" : "refuse";
  return { tape: joinTapes([{ name: out, tape }, added], { overlap, note, refusal }), replaced };
};

const sourcesShown = 6;

const sourceOf = (all: readonly string[]): string => {
  const sources = [...new Set(all)];
  const more = sources.length - sourcesShown;
  return [...sources.slice(0, sourcesShown), ...(more > 0 ? [`And ${more} more files.`] : [])].join(" ");
};
