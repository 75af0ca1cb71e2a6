/**
 * Feed of one source to all its readers: the document in the port's thread, and server-sent events for each reader.
 *
 * Invariants: an update is written as bytes once, for all readers; a reader whose socket is full gets nothing
 * until it does: only the keys of the rows that it missed are kept, at most `missedMax`, then it receives a snapshot;
 * so a reader costs one update at most, at any speed; one that takes nothing for `stuckMs` is disconnected.
 * Not here: access (request-guard.ts), the origin of updates (control-thread.ts).
 */
import { ControlDocument, type ControlUpdate } from "../control-document.ts";
import type { ControlChange, EngineRow, SectionName } from "../control-rows.ts";

/** The part of a response that a stream is written to. */
export interface Sink {
  /** Writes bytes. Returns false if the stream takes no further bytes until `onDrain` is called. */
  write(bytes: Uint8Array): boolean;
  onDrain(run: () => void): void;
  end(): void;
  /** Lets go of the connection at once. */
  destroy(): void;
}

const missedMax = 5_000;
const stuckMs = 30_000;

const encoder = new TextEncoder();
const frame = (event: string, data: string): Uint8Array => encoder.encode(`event: ${event}\ndata: ${data}\n\n`);

class StreamReader {
  readonly #sink: Sink;
  readonly #feed: SourceFeed;
  /** Undefined while the sink accepts data; `all` after too many missed rows to be counted. */
  #missed: Map<string, readonly [SectionName, string]> | "all" | undefined;
  #blockedAt = 0;

  constructor(sink: Sink, feed: SourceFeed) {
    this.#sink = sink;
    this.#feed = feed;
    sink.onDrain(() => this.#drained());
  }

  write(bytes: Uint8Array, now: number): void {
    if (this.#missed !== undefined || this.#sink.write(bytes)) return;
    this.#missed = new Map();
    this.#blockedAt = now;
  }

  take(bytes: Uint8Array, rows: readonly ControlChange[], now: number): void {
    if (this.#missed === undefined) this.write(bytes, now);
    else if (this.#missed !== "all") {
      for (const [section, key] of rows) this.#missed.set(`${section}\n${key}`, [section, key]);
      if (this.#missed.size > missedMax) this.#missed = "all";
    }
  }

  takeWhole(bytes: Uint8Array, now: number): void {
    if (this.#missed === undefined) this.write(bytes, now);
    else this.#missed = "all";
  }

  isStuck(now: number): boolean {
    return this.#missed !== undefined && now > this.#blockedAt + stuckMs;
  }

  end(): void {
    if (this.#missed === undefined) this.#sink.end();
    else this.#sink.destroy();
  }

  destroy(): void {
    this.#sink.destroy();
  }

  #drained(): void {
    const missed = this.#missed;
    this.#missed = undefined;
    if (missed === undefined || (missed !== "all" && missed.size === 0)) return;
    this.write(missed === "all" ? this.#feed.snapshotFrame() : this.#feed.frameOf(missed.values()), this.#feed.now());
  }
}

export class SourceFeed {
  readonly id: string;
  readonly now: () => number;
  #document: ControlDocument;
  readonly #readers = new Set<StreamReader>();
  #whole: { readonly seq: number; readonly bytes: Uint8Array } | undefined;
  #heardAt: number;
  #isGone = false;

  constructor(id: string, now: () => number) {
    this.id = id;
    this.now = now;
    this.#document = new ControlDocument(id);
    this.#heardAt = now();
  }

  get readers(): number {
    return this.#readers.size;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  /** Row of the engine in a list of sources. */
  get engine(): EngineRow | undefined {
    return this.#document.row("engine", "");
  }

  hasStrategy(name: string): boolean {
    return this.#document.row("strategies", name) !== undefined;
  }

  snapshotText(): string {
    return JSON.stringify(this.#document.snapshot());
  }

  /** Made once for all who come between two updates. */
  snapshotFrame(): Uint8Array {
    const { seq } = this.#document;
    if (this.#whole?.seq !== seq) this.#whole = { seq, bytes: frame("snapshot", this.snapshotText()) };
    return this.#whole.bytes;
  }

  frameOf(keys: Iterable<readonly [SectionName, string]>): Uint8Array {
    const rows = Array.from(
      keys,
      ([section, key]) => [section, key, this.#document.row(section, key) ?? null] as ControlChange,
    );
    const { source, seq, at } = { source: this.id, seq: this.#document.seq, at: this.#document.at };
    return frame("update", JSON.stringify({ source, seq, at, rows } satisfies ControlUpdate));
  }

  /** Text of an update as the engine's thread wrote it. */
  take(text: string): void {
    const update = JSON.parse(text) as ControlUpdate;
    this.#document.apply(update);
    this.#heardAt = this.now();
    if (this.#readers.size === 0) return;
    const bytes = frame("update", text);
    for (const reader of this.#readers) reader.take(bytes, update.rows, this.#heardAt);
  }

  /** Replaces the document with a snapshot, because updates were left out on the way here. */
  takeSnapshot(text: string): void {
    this.#document = new ControlDocument(this.id);
    this.#document.apply(JSON.parse(text) as ControlUpdate);
    this.#whole = undefined;
    this.#heardAt = this.now();
    for (const reader of this.#readers) reader.takeWhole(this.snapshotFrame(), this.#heardAt);
  }

  beat(): void {
    this.#heardAt = this.now();
  }

  /**
   * Once a second: readers learn that the port lives, and since when the engine's thread is silent. Those who take
   * nothing go.
   */
  heartbeat(): void {
    const now = this.now();
    const bytes = frame("heartbeat", JSON.stringify({ silentMs: Math.round(now - this.#heardAt) }));
    for (const reader of this.#readers) {
      if (reader.isStuck(now)) reader.destroy();
      else reader.write(bytes, now);
    }
  }

  /** Adds a reader, which first receives the complete state. The returned function removes it. */
  join(sink: Sink): () => void {
    const reader = new StreamReader(sink, this);
    this.#readers.add(reader);
    reader.write(this.snapshotFrame(), this.now());
    if (this.#isGone) reader.end();
    return () => {
      this.#readers.delete(reader);
    };
  }

  /** Ends the feed: readers are informed and their streams end. */
  gone(): void {
    this.#isGone = true;
    const bytes = frame("gone", JSON.stringify({ source: this.id }));
    for (const reader of this.#readers) {
      reader.write(bytes, this.now());
      reader.end();
    }
    this.#readers.clear();
  }
}
