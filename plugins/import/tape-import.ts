/**
 * Turns recordings made elsewhere into a fixture, or adds them to one.
 *
 * Invariants: a folder that must not be overwritten is refused before anything is read; a stopped import leaves
 * existing files unchanged; the same files and options give the same contentHash.
 * Not here: reading a file (read-recording.ts), what a fixture keeps that is added to (fixture-writer.ts).
 */
import { basename } from "node:path";
import { SluiceError } from "sluice";
import type { Tape } from "sluice/backtest";
import {
  type FixtureFinding,
  type FixtureManifest,
  type ImportedFile,
  openFixtureWriter,
  type WriteOptions,
} from "sluice/extension";
import { partsOf, type TextPart } from "./byte-source.ts";
import { findingsOf } from "./fixture-findings.ts";
import { filesNamed, type InstrumentChoice, instrumentOf } from "./import-names.ts";
import { type RecordingOptions, type RowsFound, readPart } from "./read-recording.ts";

/** Progress of an import. */
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

export interface ReadFile extends ImportedFile {
  readonly part: TextPart;
  readonly tape: Tape;
  readonly source: string;
  readonly feed?: FixtureManifest["feed"];
  /** Facts found in files of rows. */
  readonly found?: RowsFound;
}

export interface Imported extends FixtureManifest {
  readonly files: readonly ImportedFile[];
  readonly problems?: readonly FixtureFinding[];
}

export const importRecordings = async (options: ImportOptions): Promise<Imported> => {
  const { out, force = false, signal } = options;
  const writer = openFixtureWriter(out, { force });
  const files = await readFiles(options);
  for (const { file, tape, notes } of files) {
    for (const { what, count } of notes) writer.note(what, count);
    writer.add(basename(file), tape);
  }
  if (signal?.aborted) throw stopped();
  const sources = files.map(({ source }) => source);
  const feed = files.find((file) => file.feed !== undefined)?.feed;
  const { manifest, added } = writer.write({ name: "the import", sources, ...(feed && { feed }) });
  const problems = findingsOf(added).filter(({ kind }) => kind === "problem");
  return {
    ...manifest,
    files: files.map(({ part: _part, tape: _tape, source: _source, feed: _feed, found: _found, ...file }) => file),
    ...(problems.length > 0 && { problems }),
  };
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
