/**
 * Control source of a recorded run: plays its timeline at any speed, pauses, and goes to any instant or to the next
 * fill.
 *
 * Invariants: the shown state of an instant is the true one, independent of the way to that instant; time stops at the
 * end; only `play` is executed, because there is no engine.
 * Not here: the timeline (timeline.ts), its controls on the page (client/playback-bar.ts of the control room).
 */
import { type Observable, Subject } from "rxjs";
import type { Event } from "sluice";
import type { Clock, Timer } from "sluice/extension";
import type {
  ControlAction,
  ControlChange,
  ControlResult,
  ControlSource,
  ControlUpdate,
  EngineRow,
  PlaybackState,
} from "sluice/plugins/control-room";
import type { Timeline } from "./timeline.ts";

const stepMs = 100;
/**
 * Number of steps between two beats, which are also sent while nothing changes, so that viewers know that the source is
 * alive.
 */
const beatSteps = 10;

export class PlaybackSource implements ControlSource {
  readonly id: string;
  readonly #timeline: Timeline;
  readonly #clock: Clock;
  readonly #updates$ = new Subject<ControlUpdate>();
  #at: number;
  #count: number;
  #speed = 1;
  #isPaused = true;
  #seq = 1;
  #steps = 0;
  #timer: Timer | undefined;
  #steppedAt: number;
  #engine: ControlChange | undefined;

  /** Begins paused at the first event of an order. `clock` turns it: real time, or a test's. */
  constructor(timeline: Timeline, clock: Clock) {
    this.id = timeline.source;
    this.#timeline = timeline;
    this.#clock = clock;
    this.#at = timeline.beginsAt;
    this.#count = timeline.countUntil(this.#at);
    this.#engine = timeline.rowsAfter(this.#count).find(([section]) => section === "engine");
    this.#steppedAt = clock.now();
    this.#arm();
  }

  get updates$(): Observable<ControlUpdate> {
    return this.#updates$;
  }

  snapshot(): ControlUpdate {
    const rows = this.#timeline.rowsAfter(this.#count).map((change) => this.#played(change));
    return { source: this.id, seq: this.#seq, at: this.#at, rows };
  }

  story(clOrdId: string): readonly Event[] {
    return this.#timeline.story(clOrdId, this.#at);
  }

  act(action: ControlAction): Promise<ControlResult> {
    if (action.type !== "play") {
      return Promise.resolve({
        ok: false,
        code: "UNSUPPORTED",
        text: "This is a recorded run: it can be played, and nothing in it can be changed.",
      });
    }
    const { speed, paused, seekTo, toNextFill } = action;
    if (speed !== undefined) this.#speed = speed;
    if (paused !== undefined) {
      // Played from its end it begins again.
      if (!paused && this.#at >= this.#timeline.to) this.#go(this.#timeline.from);
      this.#isPaused = paused;
    }
    if (seekTo !== undefined) this.#go(seekTo);
    if (toNextFill === true) {
      const fillAt = this.#timeline.nextFill(this.#at);
      if (fillAt === undefined)
        return Promise.resolve({ ok: false, code: "FILL_ABSENT", text: "No fill comes after this instant." });
      this.#isPaused = true;
      this.#go(fillAt);
    }
    this.#tell();
    return Promise.resolve({ ok: true, text: "" });
  }

  end(): void {
    this.#timer?.cancel();
    this.#updates$.complete();
  }

  get #state(): PlaybackState {
    const { from, to } = this.#timeline;
    return { from, to, at: this.#at, speed: this.#speed, paused: this.#isPaused };
  }

  #arm(): void {
    this.#timer = this.#clock.setTimer(this.#clock.now() + stepMs, () => {
      this.#arm();
      this.#step();
    });
  }

  #step(): void {
    const now = this.#clock.now();
    const passedMs = now - this.#steppedAt;
    this.#steppedAt = now;
    this.#steps++;
    if (this.#isPaused) {
      if (this.#steps % beatSteps === 0) this.#tell();
      return;
    }
    const { to } = this.#timeline;
    const at = this.#at + passedMs * this.#speed;
    if (at >= to) this.#isPaused = true;
    this.#move(Math.min(at, to));
  }

  /** To an instant within the run, in either direction. */
  #go(at: number): void {
    const { from, to } = this.#timeline;
    this.#move(Math.max(from, Math.min(to, at)));
  }

  #move(at: number): void {
    const count = this.#timeline.countUntil(at);
    const rows = count === this.#count ? [] : this.#timeline.between(this.#count, count);
    this.#at = at;
    this.#count = count;
    this.#engine = rows.findLast(([section]) => section === "engine") ?? this.#engine;
    this.#tell(rows.filter(([section]) => section !== "engine"));
  }

  #tell(rows: readonly ControlChange[] = []): void {
    const all = this.#engine === undefined ? rows : [this.#played(this.#engine), ...rows];
    this.#updates$.next({ source: this.id, seq: ++this.#seq, at: this.#at, rows: all });
  }

  #played(change: ControlChange): ControlChange {
    const [section, key, row] = change;
    return section === "engine" && row !== null
      ? ["engine", key, { ...(row as EngineRow), playback: this.#state }]
      : change;
  }
}
