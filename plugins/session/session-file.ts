/**
 * The file of a session: written line by line while the engine runs, read line by line however long it is.
 *
 * Invariants: what was flushed survives a crash; a torn last line is left out and reported; any other damage is refused
 * by line; a file that was changed after it ended is reported.
 * Not here: the contents of a line (session-records.ts), the market data next to it (market-fixture.ts).
 */
import { createHash, type Hash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { SluiceError } from "sluice";
import type { SessionSink } from "./session-recorder.ts";
import {
  type ConfigFacts,
  isEnd,
  isEntry,
  isOutput,
  parseHeader,
  parseLine,
  type SessionEnd,
  type SessionHeader,
  type SessionRecord,
  sessionFile,
  sessionFormat,
} from "./session-records.ts";

/** A recorded session, read from its folder. */
export interface Session {
  /** The folder it was read from. */
  readonly name: string;
  readonly header: SessionHeader;
  /** From the first record on, as often as asked. */
  records(): Generator<SessionRecord, void>;
  /** Missing when recording was cut off. */
  readonly end: SessionEnd | undefined;
  /** Notes for a reader: cut off, changed. */
  readonly notes: readonly string[];
}

const flushChars = 64 * 1024;

/** Writes a new session into `dir`, which must be empty or not exist. */
export const createSessionFile = (dir: string, facts: ConfigFacts): SessionSink => {
  if (existsSync(dir) && (!statSync(dir).isDirectory() || readdirSync(dir).length > 0)) {
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${dir} exists already. Name a new folder for the session, or remove that one yourself.`,
    );
  }
  let file = -1;
  const lines = createLines((bytes) => {
    // A write may take only part of what it is given.
    for (let from = 0; from < bytes.length; ) from += writeSync(file, bytes, from);
  });
  return {
    // Not before there is something to write: a config that cannot be opened leaves no folder behind.
    begin: (service) => {
      mkdirSync(dir, { recursive: true });
      file = openSync(join(dir, sessionFile), "wx");
      lines.add({ format: sessionFormat, ...facts, ...service } satisfies SessionHeader);
      lines.flush();
    },
    write: lines.record,
    flush: lines.flush,
    end: (reason) => {
      lines.end(reason);
      closeSync(file);
    },
  };
};

const createLines = (put: (bytes: Buffer) => void) => {
  const hash = createHash("sha256");
  const counts = { entries: 0, outputs: 0 };
  let text = "";
  const flush = (): void => {
    if (text === "") return;
    const bytes = Buffer.from(text);
    text = "";
    hash.update(bytes);
    put(bytes);
  };
  const add = (line: object): void => {
    text += `${JSON.stringify(line)}\n`;
    if (text.length >= flushChars) flush();
  };
  return {
    add,
    flush,
    record: (record: SessionRecord): void => {
      if (isEntry(record)) counts.entries++;
      else if (isOutput(record)) counts.outputs++;
      add(record);
    },
    end: (reason: string): void => {
      flush();
      put(Buffer.from(endLine(reason, counts, hash)));
    },
  };
};

const endLine = (
  reason: string,
  { entries, outputs }: { readonly entries: number; readonly outputs: number },
  hash: Hash,
): string => `${JSON.stringify({ end: reason, entries, outputs, sha256: hash.digest("hex") } satisfies SessionEnd)}\n`;

/** True if the folder `dir` contains a session, also one that was cut off. */
export const isSession = (dir: string): boolean => existsSync(join(dir, sessionFile));

/** Reads the session in `dir` and looks once through the whole of it. */
export const readSession = (dir: string): Session => {
  const { header, notes, end } = survey(dir);
  return {
    name: dir,
    header,
    end,
    notes,
    *records() {
      for (const { value } of recordsOf(pathIn(dir))) if (!isEnd(value)) yield value;
    },
  };
};

/** Ends a session that was cut off: the torn line goes, the end is written. True when there was something to do. */
export const finishSession = (dir: string): boolean => {
  const { end, wholeBytes, counts, hash } = survey(dir);
  if (end !== undefined) return false;
  const path = pathIn(dir);
  truncateSync(path, wholeBytes);
  const file = openSync(path, "a");
  try {
    writeSync(file, endLine("crashed", counts, hash));
  } finally {
    closeSync(file);
  }
  return true;
};

const pathIn = (dir: string): string => {
  const path = join(dir, sessionFile);
  if (existsSync(path)) return path;
  throw new SluiceError(
    "FIXTURE_INVALID",
    `${path}: expected a recorded session, found nothing. Make one with \`sluice record\`.`,
  );
};

const survey = (dir: string) => {
  const path = pathIn(dir);
  const hash = createHash("sha256");
  const counts = { entries: 0, outputs: 0 };
  const notes: string[] = [];
  let header: SessionHeader | undefined;
  let end: SessionEnd | undefined;
  let wholeBytes = 0;
  for (const { bytes, number, whole } of linesOf(path)) {
    const place = `${path}:${number}`;
    if (end !== undefined)
      throw new SluiceError(
        "FIXTURE_INVALID",
        `${place}: expected nothing after the end of the session. Record it again.`,
      );
    if (!whole) {
      notes.push(`The last line (${number}) was cut off while it was written and is left out.`);
      break;
    }
    const text = bytes.toString("utf8");
    if (header === undefined) header = parseHeader(text, place);
    else {
      const value = parseLine(text, place);
      if (isEnd(value)) end = value;
      else if (isEntry(value)) counts.entries++;
      else if (isOutput(value)) counts.outputs++;
    }
    if (end !== undefined) continue;
    hash.update(bytes).update("\n");
    wholeBytes += bytes.length + 1;
  }
  if (header === undefined) header = parseHeader("", `${path}:1`);
  if (end === undefined) notes.push("The session has no end: recording was cut off. It is replayed as far as it goes.");
  else if (hash.copy().digest("hex") !== end.sha256)
    notes.push("The session was changed after it was recorded: its content does not match its last line.");
  return { header, end, notes, wholeBytes, counts, hash };
};

function* recordsOf(path: string): Generator<{ readonly value: SessionRecord | SessionEnd }> {
  for (const { bytes, number, whole } of linesOf(path)) {
    if (number > 1 && whole) yield { value: parseLine(bytes.toString("utf8"), `${path}:${number}`) };
  }
}

interface Line {
  readonly bytes: Buffer;
  readonly number: number;
  /** False for a last line that nothing ends, or that holds nothing readable where the writing stopped. */
  readonly whole: boolean;
}

const chunkBytes = 1024 * 1024;

/** The lines of a file of any size, one chunk in memory at a time. */
function* linesOf(path: string): Generator<Line> {
  const file = openSync(path, "r");
  try {
    const size = fstatSync(file).size;
    let rest = Buffer.alloc(0);
    let position = 0;
    let number = 0;
    for (;;) {
      const chunk = Buffer.alloc(chunkBytes);
      const length = readSync(file, chunk, 0, chunkBytes, position);
      if (length === 0) break;
      position += length;
      const text = Buffer.concat([rest, chunk.subarray(0, length)]);
      let from = 0;
      for (let to = text.indexOf(10, from); to >= 0; to = text.indexOf(10, from)) {
        const bytes = text.subarray(from, to);
        from = to + 1;
        const last = position >= size && from === text.length;
        yield { bytes, number: ++number, whole: !last || isReadable(bytes) };
      }
      rest = text.subarray(from);
    }
    if (rest.length > 0) yield { bytes: rest, number: number + 1, whole: false };
  } finally {
    closeSync(file);
  }
}

/** A disk that lost power may leave zeros where a line was to come. */
const isReadable = (bytes: Buffer): boolean => {
  try {
    return typeof JSON.parse(bytes.toString("utf8")) === "object";
  } catch {
    return false;
  }
};
