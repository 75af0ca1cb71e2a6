/**
 * One engine as followed by the page: its rows, its stream, and whether they are current.
 *
 * Invariants: the engine's clock advances between updates only while its stream is alive and it runs in real time; the
 * data of an engine that is not connected is marked as old; what reads the clock is drawn again with each tick.
 */
import type { ReadonlySignal } from "@preact/signals";
import { inTurn, nowMs } from "./browser-clock.ts";
import { Feed } from "./feed.ts";
import { SourceState } from "./source-state.ts";
import { leftText } from "./wording.ts";

/** Shortest pause in which a section is shown again: lists are read, not watched. */
const pauseMs = 200;
const aheadMax = 5_000;
/** Silence from which an engine counts as hung; a little longer than the pause between messages of an idle engine. */
const standsStillMs = 2_500;

export class WatchedEngine {
  id;
  state;
  feed;
  #tick;
  #takenAt = nowMs();
  /** Sections that have changed since `shownAt`, with the work that shows them. */
  #waiting: Map<object, () => void> = new Map();
  #shownAt = Number.NEGATIVE_INFINITY;

  /** @param tick - changes several times a second */
  constructor(id: string, tick: ReadonlySignal<number>) {
    this.id = id;
    this.#tick = tick;
    this.state = new SourceState(id, (owner, work) => this.#waiting.set(owner, work));
    this.feed = new Feed(id, (update, isWhole) => {
      this.#takenAt = nowMs();
      this.state.apply(update, isWhole);
      this.#show();
    });
  }

  /** To be called several times a second: finds out whether the stream is alive, and shows what waits. */
  watch() {
    this.feed.watch();
    this.#show();
  }

  get engine() {
    return this.state.row("engine");
  }

  get name() {
    return this.engine?.name ?? this.id;
  }

  /** True if the shown data is current. */
  get isFresh() {
    return (
      this.feed.state.state === "open" && this.engine?.state !== "gone" && this.feed.engineSilentMs < standsStillMs
    );
  }

  /** True if the shown data is outdated; false while the page is still connecting. */
  get isOld() {
    return !this.isFresh && this.feed.state.state !== "connecting";
  }

  /** Milliseconds on the engine's clock, as far as they are known. */
  get now() {
    void this.#tick.value;
    const { engine } = this;
    const goesOn = this.isFresh && engine?.playback === undefined && engine?.state === "running";
    return this.state.at + (goesOn ? Math.min(aheadMax, nowMs() - this.#takenAt) : 0);
  }

  /** Milliseconds since the last row arrived. */
  get ageMs() {
    void this.#tick.value;
    return this.feed.ageMs;
  }

  /** Reason for which it is not fresh, for people; empty if it is. */
  get trouble() {
    const { state, text } = this.feed.state;
    if (state === "connecting") return "";
    if (state === "refused")
      return `The engine refused the token of this page: ${text} Open the link that the engine printed when it started; tokens of your own go behind it: #token=…`;
    if (this.engine?.state === "stopped") return "";
    if (state === "lost") return text;
    if (this.engine?.state === "gone") return "The engine ended without a message.";
    if (!this.isFresh)
      return `The engine has not responded for ${leftText(this.feed.engineSilentMs)}: its process runs, but its thread is busy or blocked.`;
    return "";
  }

  /** Sections are shown over the next frames, so that none takes longer for many of them. */
  #show() {
    if (nowMs() - this.#shownAt < pauseMs) return;
    this.#shownAt = nowMs();
    for (const [owner, work] of this.#waiting) inTurn(owner, work);
    this.#waiting.clear();
  }
}
