/**
 * Heartbeat of an engine: sent to the watchdog while the event loop runs; halts trading when the watchdog has tripped.
 *
 * Invariants: heartbeats come from a timer of the loop that trades, so a blocked loop sends none; after a pause in
 * which the watchdog may have tripped, no placement is sent before it has answered; an engine whose watchdog tripped
 * halts with its reason; without a watchdog the engine continues and reports that none is connected.
 * Not here: what the watchdog does (heartbeat-monitor.ts), detection of a dead process (only the watchdog can).
 */
import { firstValueFrom, ReplaySubject, Subject, type Subscription, takeUntil } from "rxjs";
import { after, type Clock, type EventLog, every, type WatchdogStanding } from "sluice/extension";
import type { Connection, Dial } from "./ipc.ts";
import type { Report, Word } from "./messages.ts";

interface HeartbeatOptions {
  readonly clock: Clock;
  readonly journal: Pick<EventLog, "append">;
  readonly dial: Dial;
  readonly beatMs: number;
  /** New with each engine. */
  readonly session: string;
  /** Orders that are not over. */
  readonly open: () => number;
  /** Called once, when the watchdog tripped. */
  readonly halt: (reason: string) => void;
  /**
   * Actions that were refused or kept back while the watchdog's answer was awaited may pass now: `standing` has
   * changed.
   */
  readonly cleared: () => void;
}

/** Time in which a watchdog that was started together with the engine may load before its absence is reported. */
const graceMs = 10_000;
const farewellMs = 1_000;
/** A watchdog that confirms nothing for so long counts as lost. */
const unconfirmedMsMax = 10_000;

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #farewell$ = new ReplaySubject<true>(1);
  /** True with each watchdog that connects, false when none is awaited any more. */
  readonly #armed$ = new Subject<boolean>();
  #connection: Connection<Report> | undefined;
  #beats: Subscription | undefined;
  #startedAt: number;
  #beatAt: number;
  /** The watchdog's timeout; undefined while none is armed. */
  #silenceMs: number | undefined;
  #isReady = false;
  /** Length of a pause that the watchdog has not answered yet. */
  #doubtMs = 0;
  #tripped: string | undefined;
  /** Result of the watchdog since it tripped. */
  #afterTrip: WatchdogStanding | undefined;
  #isLossReported = false;
  /** Beats in a row without a confirmation. */
  #unconfirmed = 0;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#startedAt = options.clock.now();
    this.#beatAt = this.#startedAt;
  }

  start(): void {
    const { clock, beatMs } = this.#options;
    this.#startedAt = clock.now();
    this.#beat();
    this.#beats = every(clock, beatMs).subscribe(() => {
      this.#beat();
    });
  }

  /** The engine trades from now on. */
  ready(): void {
    this.#isReady = true;
  }

  /** Resolves with true if a watchdog is connected, now or within this time. */
  async armedWithin(ms: number): Promise<boolean> {
    if (this.isArmed) return true;
    const armed$ = this.#armed$.pipe(takeUntil(after(this.#options.clock, ms)));
    return firstValueFrom(armed$, { defaultValue: false });
  }

  get isArmed(): boolean {
    return this.#silenceMs !== undefined;
  }

  /**
   * Why no entry may leave, if so. Asked for every placement. Exits may: the watchdog cancels orders and closes no
   * position.
   */
  refused(): string | undefined {
    if (this.#tripped !== undefined)
      return `the watchdog tripped (${this.#tripped}); look at the service, then restart`;
    if (this.#doubtMs === 0 && !this.#isDoubtful()) return undefined;
    return "this process was blocked, and the watchdog has not answered yet whether it tripped";
  }

  /** Effects of the watchdog on orders of this engine. */
  get standing(): WatchdogStanding {
    const isQuiet = this.#doubtMs === 0 && !this.#isDoubtful();
    return this.#afterTrip ?? { state: isQuiet ? "quiet" : "doubtful" };
  }

  /** Stops in order: the watchdog leaves open orders alone. False when it did not confirm. */
  async leave(): Promise<boolean> {
    if (this.#connection === undefined || this.#silenceMs === undefined || this.#tripped !== undefined) {
      this.stop();
      return true;
    }
    this.#beats?.unsubscribe();
    this.#connection.send({ kind: "goodbye" });
    const confirmed$ = this.#farewell$.pipe(takeUntil(after(this.#options.clock, farewellMs)));
    const confirmed = await firstValueFrom(confirmed$, { defaultValue: false });
    this.stop();
    return confirmed;
  }

  /** Stops beating without a goodbye: the watchdog will trip. */
  stop(): void {
    this.#beats?.unsubscribe();
    this.#armed$.next(false);
    const last = this.#connection;
    this.#connection = undefined;
    last?.close();
  }

  /** Since the last beat so much time has passed that the watchdog may trip, or has. */
  #isDoubtful(): boolean {
    return this.#silenceMs !== undefined && this.#options.clock.now() - this.#beatAt >= this.#silenceMs / 2;
  }

  #beat(): void {
    const { clock, beatMs, open } = this.#options;
    if (this.#isDoubtful()) this.#doubtMs = clock.now() - this.#beatAt;
    if (++this.#unconfirmed * beatMs > unconfirmedMsMax && this.#connection !== undefined) {
      this.#unconfirmed = 0;
      const lost = this.#connection;
      this.#lose("it does not answer");
      lost.close();
    }
    this.#connection ??= this.#connect();
    this.#connection.send({ kind: "beat", ready: this.#isReady, open: open() });
    this.#beatAt = clock.now();
  }

  #connect(): Connection<Report> {
    const { dial, session, beatMs } = this.#options;
    const made: Connection<Report> = dial({
      received: (word) => {
        if (this.#connection === made) this.#receive(word);
      },
      closed: (why) => {
        if (this.#connection === made) this.#lose(why);
      },
    });
    made.send({ kind: "hello", version: 1, session, beatMs });
    return made;
  }

  #receive(word: Word): void {
    const { journal, clock, cleared } = this.#options;
    this.#unconfirmed = 0;
    switch (word.kind) {
      case "armed":
        this.#silenceMs = word.silenceMs;
        this.#isLossReported = false;
        journal.append({ type: "watchdog.armed", silenceMs: word.silenceMs, before: word.before });
        this.#armed$.next(true);
        break;
      case "heard":
        break;
      case "farewell":
        this.#farewell$.next(true);
        return;
      case "tripped":
        this.#trip(word.reason);
        this.#noteCanceling(word.canceling === true);
        return;
    }
    if (this.#doubtMs === 0 && !this.#isDoubtful()) return;
    this.#doubtMs = 0;
    this.#beatAt = clock.now();
    cleared();
  }

  #trip(reason: string): void {
    if (this.#tripped !== undefined) return;
    this.#tripped = reason;
    this.#options.journal.append({ type: "watchdog.tripped", reason });
    this.#options.halt(`the watchdog tripped: ${reason}`);
  }

  /** Present action of a watchdog that tripped. */
  #noteCanceling(isCanceling: boolean): void {
    const { clock, cleared } = this.#options;
    const state = isCanceling ? "canceling" : "finished";
    if (this.#afterTrip?.state === state) return;
    this.#afterTrip = state === "canceling" ? { state } : { state, at: clock.now() };
    cleared();
  }

  #lose(why: string): void {
    const { clock, journal } = this.#options;
    this.#connection = undefined;
    if (this.#silenceMs === undefined && clock.now() - this.#startedAt < graceMs) return;
    const pausedMs = this.#silenceMs === undefined ? 0 : Math.max(this.#doubtMs, clock.now() - this.#beatAt);
    // The watchdog may have tripped and ended, and cannot answer any more.
    if (this.#silenceMs !== undefined && pausedMs >= this.#silenceMs / 2)
      this.#trip(`this process was blocked for ${Math.round(pausedMs)} ms, and the watchdog is gone`);
    if (this.#tripped !== undefined) this.#noteCanceling(false);
    this.#silenceMs = undefined;
    this.#doubtMs = 0;
    if (this.#isLossReported) return;
    this.#isLossReported = true;
    journal.append({ type: "watchdog.lost", reason: why });
  }
}
