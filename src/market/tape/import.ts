/**
 * Turns recordings made elsewhere into a fixture, or adds them to one.
 *
 * Invariants: a folder that must not be overwritten is refused before anything is read; what a fixture holds already stays, unless it is
 * asked for that rows of the same time are replaced; the fixture is written beside the old one and takes its place in one step, so an
 * import that is stopped leaves what was there; the same files and options give the same contentHash.
 * Not here: reading a file (read-recording.ts), joining (tape-join.ts), the format written (fixture.ts).
 */
import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { SluiceError } from "../../errors.ts";
import { partsOf, type TextPart } from "./byte-source.ts";
import {
  checkWritable,
  type Fixture,
  type FixtureManifest,
  type FixtureNote,
  heldIn,
  readFixture,
  type WriteOptions,
  writeFixture,
} from "./fixture.ts";
import { filesNamed, type InstrumentChoice, instrumentOf } from "./import-names.ts";
import { createNotes, type RecordingOptions, type RowsFound, readPart } from "./read-recording.ts";
import type { Tape } from "./tape.ts";
import { joinTapes, type NamedTape, type Overlap } from "./tape-join.ts";

/** How far an import has come. */
export interface ImportProgress {
  readonly file: string;
  /** Bytes on disk: read so far, and of all files together. */
  readonly bytes: number;
  readonly ofBytes: number;
}

export interface ReadOptions extends Omit<RecordingOptions, "file" | "instrument" | "onRead">, InstrumentChoice {
  readonly files: readonly string[];
  /** Called a few times a second and more. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
  /** Stops the import, which then throws `STOPPED` and has written nothing. */
  readonly signal?: AbortSignal | undefined;
}

export interface ImportOptions extends ReadOptions, WriteOptions {
  /** The fixture's folder. */
  readonly out: string;
}

/** What was read from one file, or from one in an archive. */
export interface ImportedFile {
  readonly file: string;
  readonly instrument: string;
  /** Name of the layout; "messages" for websocket messages, "hftbacktest" for its events. */
  readonly layout: string;
  readonly rows: number;
  readonly startAt: string;
  readonly endAt: string;
  readonly notes: readonly FixtureNote[];
}

export interface ReadFile extends ImportedFile {
  readonly part: TextPart;
  readonly tape: Tape;
  readonly source: string;
  readonly feed?: FixtureManifest["feed"];
  /** Of files of rows. */
  readonly found?: RowsFound;
}

export interface Imported extends FixtureManifest {
  readonly files: readonly ImportedFile[];
}

export const importRecordings = async (options: ImportOptions): Promise<Imported> => {
  const { out, force = false } = options;
  checkWritable(out, { force: true });
  const before = existsSync(join(out, "manifest.json")) ? readBefore(out, force) : undefined;
  const files = await readFiles(options);
  const notes = createNotes();
  for (const { what, count } of files.flatMap((file) => file.notes)) notes.note(what, count);
  const read = joinTapes(files.map(named), { overlap: "same", note: notes.note });
  const result = before === undefined ? undefined : addedTo(out, before, read, force);
  if (options.signal?.aborted) throw stopped();
  // Of a fixture all of whose rows are replaced nothing remains to be told.
  const kept =
    before !== undefined && result !== undefined && result.replaced < before.tape.length ? { ...result, ...before.manifest } : undefined;
  for (const { what, count } of kept?.notes ?? []) notes.note(what, count);
  if (kept !== undefined && kept.replaced > 0) notes.note("rows replaced", kept.replaced);
  const source = sourceOf([...(kept === undefined ? [] : [kept.source]), ...files.map((file) => file.source)]);
  const feed = kept === undefined ? files.find((file) => file.feed !== undefined)?.feed : kept.feed;
  const manifest = writeFixture(out, result?.tape ?? read, { source, notes: notes.list(), ...(feed && { feed }) }, { force: true });
  return { ...manifest, files: files.map(({ part: _part, tape: _tape, source: _source, feed: _feed, found: _found, ...file }) => file) };
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

const named = ({ file, tape }: ReadFile): NamedTape => ({ name: basename(file), tape });

/** Both, and how many rows of the fixture had to go. */
const addedTo = (
  out: string,
  { manifest, tape }: Fixture,
  read: Tape,
  force: boolean,
): { readonly tape: Tape; readonly replaced: number } => {
  let replaced = 0;
  const refusal = ({ series, fromMs, toMs }: Overlap): SluiceError =>
    new SluiceError(
      "USAGE",
      `${out} holds a fixture already: ${heldIn(manifest)}. It has rows of ${series} from ${new Date(fromMs).toISOString()} to ${new Date(toMs).toISOString()}. ` +
        "Name a new folder, or replace the rows of that time with --force (from code: { force: true }).",
    );
  const note = (_: string, count: number): void => {
    replaced += count;
  };
  const parts = [
    { name: out, tape },
    { name: "the import", tape: read },
  ];
  return { tape: joinTapes(parts, { overlap: force ? "replace" : "refuse", note, refusal }), replaced };
};

const sourcesShown = 6;

const sourceOf = (all: readonly string[]): string => {
  const sources = [...new Set(all)];
  const more = sources.length - sourcesShown;
  return [...sources.slice(0, sourcesShown), ...(more > 0 ? [`And ${more} more files.`] : [])].join(" ");
};

/** Reads all files, without writing anything. */
export const readFiles = async (options: ReadOptions): Promise<readonly ReadFile[]> => {
  const files = filesNamed(options.files);
  if (options.terms !== undefined && files.length > 1)
    throw new SluiceError(
      "USAGE",
      `Terms go with one recording, and there are ${files.length} files. Import that one by itself, then the others.`,
    );
  const parts = (await Promise.all(files.map((file) => partsOf(file)))).flat();
  const ofBytes = parts.reduce((total, { bytes }) => total + bytes, 0);
  const read: ReadFile[] = [];
  let done = 0;
  for (const part of parts) {
    const onRead = (bytes: number): void => {
      if (options.signal?.aborted) throw stopped();
      options.onProgress?.({ file: part.name, bytes: done + bytes, ofBytes });
    };
    onRead(0);
    read.push(await readOne(part, options, onRead));
    done += part.bytes;
  }
  return read;
};

const readOne = async (part: TextPart, options: ReadOptions, onRead: (bytes: number) => void): Promise<ReadFile> => {
  const instrument = instrumentOf(part.name, options);
  const { tape, layout, meta, found } = await readPart(part, { ...options, instrument, onRead });
  return {
    file: part.name,
    instrument,
    layout,
    rows: tape.length,
    startAt: new Date(tape.startAt).toISOString(),
    endAt: new Date(tape.endAt).toISOString(),
    notes: meta.notes ?? [],
    part,
    tape,
    source: meta.source,
    ...(meta.feed && { feed: meta.feed }),
    ...(found && { found }),
  };
};

const stopped = (): SluiceError => new SluiceError("STOPPED", "The import was stopped; nothing was written.");
