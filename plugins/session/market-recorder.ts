/**
 * Recorder of market data for days: streams of many instruments into segments that become fixtures one after the other.
 *
 * Invariants: a segment begins at whole multiples of its length on the calendar, and with whole books, so that each can
 * be read alone; a time in which rows may be missing is marked as a gap from the last row before it to the first row
 * after it; segments that a process left behind are sealed before anything is recorded; one process records into a
 * folder; only what is older than asked is removed.
 * Not here: files (segment-file.ts, segment-seal.ts), what a service streams (client/live/).
 */
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { Observable, Subscription } from "rxjs";
import { type Market, SluiceError } from "sluice";
import { type Clock, every, holdLock, messageOf, readManifest, startThread } from "sluice/extension";
import { codecOf, type MarketValue, type StreamName, spellName, streamOf } from "./market-rows.ts";
import { type SegmentHeader, SegmentWriter } from "./segment-file.ts";
import { isSegment, readIndex, type SealedSegment, segmentName, segmentPath } from "./segment-seal.ts";

export interface MarketRecorderOptions {
  /** Folder of the recording; made where it is missing. */
  readonly dir: string;
  readonly clock: Clock;
  readonly market: Market;
  readonly streams: readonly StreamName[];
  readonly instruments: SegmentHeader["instruments"];
  /** Source of the data, in words. */
  readonly source: string;
  /** Length of a segment. */
  readonly segmentMs: number;
  /** Characters after which a segment ends before its time; 256 MiB when left out. */
  readonly lengthMax?: number;
  /** Segments that ended longer ago are removed; all are kept when left out. */
  readonly keepMs?: number;
  readonly onSealed?: (segment: SealedSegment) => void;
  /** The recording cannot go on, as when the disk is full. */
  readonly onFailed: (error: SluiceError) => void;
  /** Seals a segment; in a thread when left out. */
  readonly seal?: (path: string, endedAt?: number) => Promise<SealedSegment | undefined>;
}

/** One stream and its state. */
interface Followed {
  readonly name: StreamName;
  readonly stream: string;
  codec: ReturnType<typeof codecOf>;
  /** Instant of its last row, on the engine's clock; -1 before any. */
  lastAt: number;
  /** Since when rows may be missing. */
  cut: { readonly from: number; readonly why: string } | undefined;
  following: Subscription | undefined;
}

const flushMs = 1_000;
/** A segment that has grown so long ends before its time: its rows have to fit into memory at once. */
const lengthMax = 256 * 1_048_576;

export class MarketRecorder {
  /** Rows so far, of all segments. */
  rows = 0;
  gaps = 0;
  readonly #options: MarketRecorderOptions;
  readonly #seal: NonNullable<MarketRecorderOptions["seal"]>;
  readonly #followed: readonly Followed[];
  readonly #release: () => Promise<void>;
  #writer: SegmentWriter;
  /** End of the segment, by the calendar. */
  #endsAt: number;
  #flushing: Subscription | undefined;
  #turning: Promise<void> = Promise.resolve();
  /** Rows that come between two segments. */
  #between: (() => void)[] | undefined;
  #isOver = false;

  private constructor(options: MarketRecorderOptions, release: () => Promise<void>, writer: SegmentWriter) {
    this.#options = options;
    this.#seal = options.seal ?? sealInThread;
    this.#release = release;
    this.#writer = writer;
    this.#endsAt = endOf(writer.header.wall, options.segmentMs);
    this.#followed = options.streams.map((name) => ({
      name,
      stream: spellName(name),
      codec: codecOf(name),
      lastAt: -1,
      cut: undefined,
      following: undefined,
    }));
  }

  /** Resolves when everything that an earlier process left is sealed and recording has begun. */
  static async start(options: MarketRecorderOptions): Promise<MarketRecorder> {
    const { dir, clock, onSealed, seal = sealInThread } = options;
    mkdirSync(dir, { recursive: true });
    const release = await holdLock(resolve(dir)).catch((error: unknown) => {
      throw new SluiceError(
        "USAGE",
        `${dir}: another process records here (${messageOf(error)}). Name another folder.`,
      );
    });
    try {
      for (const file of readdirSync(dir).filter(isSegment).sort()) {
        const sealed = await seal(join(dir, file));
        if (sealed !== undefined) onSealed?.(sealed);
      }
      const before = readIndex(dir).at(-1);
      const recorder = new MarketRecorder(options, release, await newSegment(options));
      // Between two processes nothing was recorded.
      if (before !== undefined) recorder.cut("the recorder did not run", before.to - clock.wallNow() + clock.now());
      recorder.#follow();
      return recorder;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Rows of every stream may be missing from now on, until the next one of each comes. */
  cut(why: string, since?: number): void {
    const now = this.#options.clock.now();
    for (const followed of this.#followed) {
      if (followed.cut !== undefined) continue;
      followed.cut = { from: since ?? (followed.lastAt < 0 ? now : followed.lastAt), why };
      this.#writer.cut({ stream: followed.stream, ...followed.cut });
    }
  }

  /** Ends the recording; resolves when the last segment is sealed. */
  async stop(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#flushing?.unsubscribe();
    for (const { following } of this.#followed) following?.unsubscribe();
    try {
      await this.#turning;
      await this.#end(this.#writer, this.#options.clock.now());
    } finally {
      await this.#release();
    }
  }

  #follow(): void {
    const { clock, market } = this.#options;
    for (const followed of this.#followed) {
      followed.following = (streamOf(market, followed.name) as Observable<MarketValue>).subscribe((value) => {
        this.#take(followed, value);
      });
    }
    this.#flushing = every(clock, flushMs).subscribe(() => {
      if (this.#between !== undefined) return;
      if (clock.wallNow() >= this.#endsAt || this.#writer.length >= (this.#options.lengthMax ?? lengthMax))
        this.#turn();
      else this.#writer.flush().catch((error: unknown) => this.#fail(error));
    });
  }

  #take(followed: Followed, value: MarketValue): void {
    if (this.#between !== undefined) {
      const waiting = (): void => this.#take(followed, value);
      this.#between.push(waiting);
      return;
    }
    const { stream, cut, name } = followed;
    const { at } = value;
    if (cut !== undefined) {
      followed.cut = undefined;
      // The book is written whole, with its changes in between.
      followed.codec = codecOf(name);
      if (at > cut.from) this.#gap(stream, cut.from, at, cut.why);
    }
    followed.lastAt = Math.max(at, followed.lastAt);
    this.rows++;
    this.#writer.row(stream, followed.codec.encode(value));
  }

  #gap(stream: string, from: number, to: number, why: string): void {
    this.gaps++;
    this.#writer.gap({ stream, from, to, why });
  }

  /** The next segment; rows that come while its file is opened wait for it. */
  #turn(): void {
    const ended = this.#writer;
    const waiting: (() => void)[] = [];
    this.#between = waiting;
    this.#turning = newSegment(this.#options).then(
      async (writer) => {
        const { now, wall } = writer.header;
        const sealing = this.#end(ended, now);
        this.#writer = writer;
        this.#endsAt = endOf(wall, this.#options.segmentMs);
        for (const followed of this.#followed) {
          followed.codec = codecOf(followed.name);
          if (followed.cut === undefined) continue;
          followed.cut = { ...followed.cut, from: now };
          writer.cut({ stream: followed.stream, ...followed.cut });
        }
        this.#between = undefined;
        for (const take of waiting) take();
        await sealing;
        this.#forget();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** Open gaps end with their segment. */
  async #end(writer: SegmentWriter, now: number): Promise<void> {
    const { onSealed } = this.#options;
    for (const { stream, cut } of this.#followed) {
      if (cut !== undefined && now > cut.from) {
        this.gaps++;
        writer.gap({ stream, from: cut.from, to: now, why: cut.why });
      }
    }
    try {
      await writer.close();
      const sealed = await this.#seal(writer.path, now);
      if (sealed !== undefined) onSealed?.(sealed);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Fixtures of the index that are older than asked. */
  #forget(): void {
    const { dir, clock, keepMs } = this.#options;
    if (keepMs === undefined) return;
    for (const { fixture, to, contentHash } of readIndex(dir)) {
      if (fixture === "" || to >= clock.wallNow() - keepMs || !isFixture(join(dir, fixture), contentHash)) continue;
      rmSync(join(dir, fixture), { recursive: true });
    }
  }

  #fail(error: unknown): void {
    const { dir, onFailed } = this.#options;
    onFailed(new SluiceError("JOURNAL_FAILED", `${dir}: the recording cannot be written (${messageOf(error)}).`));
  }
}

const endOf = (wall: number, segmentMs: number): number => (Math.floor(wall / segmentMs) + 1) * segmentMs;

const newSegment = ({ dir, clock, instruments, source }: MarketRecorderOptions): Promise<SegmentWriter> => {
  const [now, wall] = [clock.now(), clock.wallNow()];
  return SegmentWriter.create(segmentPath(dir, segmentName(wall)), { source, now, wall, instruments });
};

/** Nothing but what was recorded here is ever removed. */
const isFixture = (dir: string, contentHash: string): boolean => {
  try {
    return readManifest(dir).contentHash === contentHash;
  } catch {
    return false;
  }
};

const sealInThread = (path: string, endedAt?: number): Promise<SealedSegment | undefined> =>
  new Promise((resolve, reject) => {
    const worker = startThread(new URL("./seal-worker", import.meta.url), { path, endedAt }, { loadsFiles: false });
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => {
      reject(new Error(`the thread that seals ${basename(path)} ended with code ${code}`));
    });
  });
