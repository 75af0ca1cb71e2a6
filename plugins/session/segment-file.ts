/**
 * Segment of a market recording while it is being written: lines of JSON, the header first, then rows and gaps as they
 * come.
 *
 * Invariants: what was written is in the file at most a second later; a line that was cut off by a crash is left out
 * and nothing else; instants are those of the engine's clock, and the header has the calendar at one of
 * them.
 * Not here: fixtures (segment-seal.ts), what is recorded and when a segment ends (market-recorder.ts).
 */
import { closeSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { SluiceError } from "sluice";
import { messageOf } from "sluice/extension";

const segmentFormat = "sluice-recording/1";

/** The first line. */
export interface SegmentHeader {
  /** Source of the data, in words. */
  readonly source: string;
  /** Milliseconds on the engine's clock, and the calendar at that instant. */
  readonly now: number;
  readonly wall: number;
  readonly instruments: readonly { readonly instId: string; readonly tickSize: string; readonly lotSize: string }[];
}

/** A time in which rows of a stream may be missing. */
export interface Gap {
  readonly stream: string;
  /** Milliseconds on the engine's clock. */
  readonly from: number;
  readonly to: number;
  readonly why: string;
}

/** From here on rows of a stream may be missing, until a gap is recorded or the segment ends. */
export interface Cut {
  readonly stream: string;
  readonly from: number;
  readonly why: string;
}

type SegmentLine = { readonly row: string; readonly value: unknown } | { readonly gap: Gap } | { readonly cut: Cut };

/** Appends to one segment. The first write that fails rejects this one and all that follow. */
export class SegmentWriter {
  readonly path: string;
  readonly header: SegmentHeader;
  /** Characters so far. */
  length = 0;
  readonly #file: FileHandle;
  #text = "";
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, header: SegmentHeader, file: FileHandle) {
    this.path = path;
    this.header = header;
    this.#file = file;
  }

  static async create(path: string, header: SegmentHeader): Promise<SegmentWriter> {
    const writer = new SegmentWriter(path, header, await open(path, "wx", 0o644));
    writer.#add({ format: segmentFormat, ...header });
    await writer.flush();
    return writer;
  }

  row(stream: string, value: unknown): void {
    this.#add({ row: stream, value } satisfies SegmentLine);
  }

  cut(cut: Cut): void {
    this.#add({ cut } satisfies SegmentLine);
  }

  gap(gap: Gap): void {
    this.#add({ gap } satisfies SegmentLine);
  }

  /** Resolves when everything so far is in the file. */
  flush(): Promise<void> {
    const text = this.#text;
    this.#text = "";
    this.#written = this.#written.then(async () => {
      if (text !== "") await this.#file.appendFile(text);
    });
    return this.#written;
  }

  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      await this.#file.close();
    }
  }

  #add(line: object): void {
    const text = `${JSON.stringify(line)}\n`;
    this.length += text.length;
    this.#text += text;
  }
}

interface Segment {
  readonly header: SegmentHeader;
  readonly lines: Iterable<SegmentLine>;
}

/** Contents of the file, in order and once; undefined where not even its header was written whole. */
export const readSegment = (path: string): Segment | undefined => {
  const lines = linesOf(path);
  const first = lines.next();
  if (first.done === true) return undefined;
  const { format, ...header } = parsed(first.value, path, 1) as SegmentHeader & { readonly format?: string };
  if (format !== segmentFormat) {
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${path}: expected format "${segmentFormat}", found ${JSON.stringify(format) ?? "none"}.`,
    );
  }
  const parse = function* (): Generator<SegmentLine> {
    let number = 1;
    for (const line of lines) yield parsed(line, path, ++number) as SegmentLine;
  };
  return { header, lines: parse() };
};

/** Lines that end: what follows the last end was cut off. A day of a busy market is longer than a text may be. */
const linesOf = function* (path: string): Generator<string> {
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.alloc(1 << 20);
    const decoder = new TextDecoder();
    let rest = "";
    for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk)) {
      const parts = (rest + decoder.decode(chunk.subarray(0, size), { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      yield* parts;
    }
  } finally {
    closeSync(file);
  }
};

const parsed = (line: string, path: string, number: number): unknown => {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${path}:${number}: expected a line of JSON (${messageOf(error)}). Set the file aside.`,
    );
  }
};
