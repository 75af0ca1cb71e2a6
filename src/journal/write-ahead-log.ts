/**
 * Write-ahead log: append-only, checksummed, durable on request, in segments that begin with a snapshot.
 *
 * Invariants: every record for which `commit` resolved is read back by each later run, unchanged and in order, or the
 * journal refuses to open; commits of one instant share one flush, and so do all commits during a flush; after a
 * failed write or flush every commit rejects until a new segment was begun; a torn last line is dropped and reported,
 * damage is refused unless the caller sets the journal aside; segments are created atomically.
 * Not here: the records (the callers), the hash chain (record-chain.ts), files (disk.ts).
 */
import { isSluiceError, messageOf, SluiceError } from "../errors.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { type ChainReading, genesis, lineOf, readChain } from "./record-chain.ts";

interface WriteAheadLogOptions {
  readonly disk: Disk;
  /** Owner of the journal, such as service, user and instance: a journal with another owner is refused. */
  readonly owner: Readonly<Record<string, string>>;
  /**
   * The state that makes older segments unnecessary, as records. It may already include records that are not durable
   * yet; these follow it once more, so reading a record twice must change nothing.
   */
  readonly snapshot: () => readonly object[];
  /**
   * Damage is refused by default; `set_aside` keeps the damaged file under another name and begins with what could be
   * read.
   */
  readonly damaged?: "refuse" | "set_aside";
  readonly segmentBytes?: number;
}

export interface WriteAheadLog {
  /** Records of previous runs: the snapshot at the beginning of the last segment, and all that follow. */
  readonly past: readonly object[];
  /** Description of what had to be repaired; undefined when nothing was. */
  readonly repaired: string | undefined;
  append(record: object): void;
  /**
   * Resolves when everything appended so far is durable; rejects when a write or flush failed, and from then on until
   * `restart`.
   */
  commit(): Promise<void>;
  /**
   * After a failure: begins a segment with the present state, so that nothing appended so far is missing. The rest of
   * the previous segment is not written any more. Rejects while the disk still fails, and always if `isLost`.
   */
  restart(): Promise<void>;
  /** True if the disk has not failed, but another process continues this journal. */
  readonly isLost: boolean;
  close(): Promise<void>;
}

const format = "sluice-journal/1";
const segmentName = (number: number): string => `${String(number).padStart(8, "0")}.journal`;
const isSegment = (name: string): boolean => /^\d{8}\.journal$/.test(name);
const segmentBytesDefault = 4 * 1024 * 1024;
/** The current segment and the previous one, in case the current one is unreadable. */
const segmentsKept = 2;
const encoder = new TextEncoder();

interface Header {
  readonly format: string;
  readonly owner: Readonly<Record<string, string>>;
}

interface Opened {
  readonly past: readonly object[];
  readonly mark: string;
  readonly number: number;
  readonly bytes: number;
  readonly repaired: string | undefined;
}

const refuse = (message: string): never => {
  throw new SluiceError("JOURNAL_INVALID", message);
};

const sameOwner = (a: Header["owner"], b: Header["owner"]): boolean =>
  Object.keys({ ...a, ...b }).every((name) => Object.hasOwn(a, name) && a[name] === b[name]);

const spell = (owner: Header["owner"]): string =>
  Object.entries(owner)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");

/** A whole segment as bytes: its header, then `records`. */
const segmentOf = (owner: Header["owner"], records: readonly object[]): Batch => {
  const header: Header = { format, owner };
  return batchOf(
    genesis,
    [header, ...records].map((record) => JSON.stringify(record)),
  );
};

interface Batch {
  readonly bytes: Uint8Array;
  /** Mark of its last line. */
  readonly mark: string;
}

const batchOf = (previous: string, records: readonly string[]): Batch => {
  let mark = previous;
  let text = "";
  for (const record of records) {
    const line = lineOf(mark, record);
    mark = line.mark;
    text += line.text;
  }
  return { bytes: encoder.encode(text), mark };
};

const checkHeader = (header: Partial<Header> | undefined, owner: Header["owner"], place: string): void => {
  if (header?.format !== format) {
    refuse(`${place}: it is not a journal of format ${format}. Move it away, or use the version that wrote it.`);
  } else if (!sameOwner(header.owner ?? {}, owner)) {
    refuse(
      `${place}: it is the journal of ${spell(header.owner ?? {})}, not of ${spell(owner)}. Give each its own folder.`,
    );
  }
};

const begin = async (
  { disk, owner }: WriteAheadLogOptions,
  number: number,
  records: readonly object[],
  repaired?: string,
): Promise<Opened> => {
  const { bytes, mark } = segmentOf(owner, records);
  await disk.create(segmentName(number), bytes);
  return { past: records, mark, number, bytes: bytes.length, repaired };
};

const setAside = async (
  options: WriteAheadLogOptions,
  name: string,
  { records, bytes }: ChainReading,
): Promise<Opened> => {
  const { disk } = options;
  await disk.rename(name, `${name}.damaged`);
  const words = `${disk.name}/${name} is damaged after byte ${bytes}; it is kept as ${name}.damaged, and ${Math.max(0, records.length - 1)} records before the damage are used.`;
  return begin(options, Number.parseInt(name, 10) + 1, records.slice(1), words);
};

const openLast = async (options: WriteAheadLogOptions): Promise<Opened> => {
  const { disk, owner, damaged = "refuse" } = options;
  const name = (await disk.list()).filter(isSegment).at(-1);
  if (name === undefined) return begin(options, 1, []);
  const place = `${disk.name}/${name}`;
  const reading = readChain(await disk.read(name));
  const { records, mark, bytes, ending } = reading;
  // A segment appears as a whole, so that one without its header is damaged, even if its end looks torn.
  if (ending === "damaged" || records.length === 0) {
    if (damaged === "set_aside") return setAside(options, name, reading);
    refuse(
      `${place}: it is damaged after byte ${bytes}: its contents there are not what was written. Look at the service first; then start once with journal.rebuild in the config, which sets it aside and reads everything from the service.`,
    );
  }
  checkHeader(records[0] as Partial<Header>, owner, place);
  const past = records.slice(1);
  const number = Number.parseInt(name, 10);
  if (ending === "whole") return { past, mark, number, bytes, repaired: undefined };
  await disk.truncate(name, bytes);
  return {
    past,
    mark,
    number,
    bytes,
    repaired: `${place}: the last line was cut off while it was written, and is dropped.`,
  };
};

/**
 * Opens the journal in a folder and repairs what a crash left half written.
 *
 * @param options - the disk, the kinds of records, and how often they are written
 * @returns the journal with what it holds
 */
export const openWriteAheadLog = async (options: WriteAheadLogOptions): Promise<WriteAheadLog> => {
  const opened = await openLast(options);
  return new SegmentedLog(options, opened, await options.disk.open(segmentName(opened.number)));
};

/** The log from its last segment on. */
class SegmentedLog implements WriteAheadLog {
  readonly past: readonly object[];
  readonly repaired: string | undefined;
  readonly #options: WriteAheadLogOptions;
  readonly #segmentBytes: number;
  #file: DiskFile;
  #mark: string;
  #number: number;
  #bytes: number;
  #waiting: string[] = [];
  #isFlushing = false;
  /** True until the records of this instant are together; a commit meanwhile shares the flush that follows. */
  #isGathering = false;
  /** The latest flush, ended or not. */
  #flushing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #failure: SluiceError | undefined;
  #closed = false;
  isLost = false;

  constructor(options: WriteAheadLogOptions, { past, repaired, mark, number, bytes }: Opened, file: DiskFile) {
    this.past = past;
    this.repaired = repaired;
    this.#options = options;
    this.#segmentBytes = options.segmentBytes ?? segmentBytesDefault;
    this.#file = file;
    this.#mark = mark;
    this.#number = number;
    this.#bytes = bytes;
  }

  append(record: object): void {
    if (this.#closed) {
      throw new SluiceError(
        "JOURNAL_FAILED",
        `${this.#options.disk.name}: the journal was closed; nothing can be written to it.`,
      );
    }
    this.#waiting.push(JSON.stringify(record));
  }

  commit(): Promise<void> {
    if (this.#isGathering) return this.#flushing;
    if (!this.#isFlushing) {
      this.#flushing = this.#flush();
      return this.#flushing;
    }
    // A commit during a flush shares the next one, because its record may have missed the current one.
    const restart = (): Promise<void> => {
      this.#next = undefined;
      return this.commit();
    };
    this.#next ??= this.#flushing.then(restart, restart);
    return this.#next;
  }

  async restart(): Promise<void> {
    if (this.#failure === undefined) return;
    if (this.isLost || this.#closed) throw this.#failure;
    // The state contains these records, and later records follow it.
    this.#waiting = [];
    try {
      await this.#rotate();
    } catch (error) {
      throw this.#fail(error);
    }
    this.#failure = undefined;
    await this.commit();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    try {
      await this.commit();
      await this.#flushing;
    } finally {
      this.#closed = true;
      await this.#file.close();
    }
  }

  async #flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#isFlushing = true;
    this.#isGathering = true;
    await Promise.resolve();
    this.#isGathering = false;
    try {
      if (this.#waiting.length === 0) return;
      if (this.#bytes > this.#segmentBytes) await this.#rotate();
      const batch = batchOf(this.#mark, this.#waiting);
      this.#waiting = [];
      await this.#file.append(batch.bytes);
      const synced = this.#file.sync();
      if (synced !== undefined) await synced;
      this.#mark = batch.mark;
      this.#bytes += batch.bytes.length;
    } catch (error) {
      throw this.#fail(error);
    } finally {
      this.#isFlushing = false;
    }
  }

  #fail(error: unknown): SluiceError {
    this.isLost ||= isSluiceError(error);
    this.#failure = new SluiceError(
      "JOURNAL_FAILED",
      `${this.#options.disk.name}: the journal cannot be written (${messageOf(error)}). No order leaves without it; ${this.isLost ? "cancels do" : "only exits and cancels do, without a record"}.`,
    );
    return this.#failure;
  }

  async #rotate(): Promise<void> {
    const { disk, owner, snapshot } = this.#options;
    const segment = segmentOf(owner, snapshot());
    await disk.create(segmentName(this.#number + 1), segment.bytes);
    await this.#file.close();
    this.#number++;
    this.#file = await disk.open(segmentName(this.#number));
    this.#mark = segment.mark;
    this.#bytes = segment.bytes.length;
    const old = (await disk.list()).filter(isSegment).slice(0, -segmentsKept);
    for (const name of old) await disk.remove(name);
  }
}
