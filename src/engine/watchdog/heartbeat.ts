/**
 * The engine's side of the watchdog: beats while the event loop turns, and stops trading when it was taken for dead.
 *
 * Invariants: beats come from a timer of the same loop that trades, so a loop that hangs does not beat; after a standstill that
 * the watchdog may have taken for death no placement leaves before the watchdog has answered; an engine that was taken for dead
 * halts and says why; without a watchdog it goes on and says that nobody listens.
 * Not here: what the watchdog does (heartbeat-monitor.ts), whether this process lives at all (only the other one can tell).
 */
import { firstValueFrom, ReplaySubject, type Subscription, takeUntil } from "rxjs";
import { after, type Clock, every } from "../../clock/clock.ts";
import type { EventLog } from "../../journal/event-log.ts";
import type { Dial, Talk } from "./ipc.ts";
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
  /** Called once, when the watchdog took this engine for dead. */
  readonly halt: (reason: string) => void;
  /** What was refused while the watchdog was waited for may pass now. */
  readonly cleared: () => void;
}

export interface Heartbeat {
  start(): void;
  /** The engine trades from now on. */
  ready(): void;
  /** Why no order may leave, if so. Asked for every placement. */
  readonly refused: () => string | undefined;
  /** Stops in order: the watchdog is told that what rests may rest. False when it did not hear it. */
  leave(): Promise<boolean>;
  /** Stops beating without a word: the watchdog will act. */
  stop(): void;
}

/** Not to be told of while a watchdog that was started together with the engine is still loading. */
const graceMs = 10_000;
const farewellMs = 1_000;
/** A watchdog that confirms nothing for so long is taken for gone. */
const unheardMsMax = 10_000;

export const createHeartbeat = (options: HeartbeatOptions): Heartbeat => {
  const { clock, journal, dial, beatMs, session, open, halt, cleared } = options;
  const farewell$ = new ReplaySubject<true>(1);
  let talk: Talk<Report> | undefined;
  let beats: Subscription | undefined;
  let startedAt = clock.now();
  /** When a beat was last said. */
  let beatAt = clock.now();
  let silenceMs: number | undefined;
  let isReady = false;
  /** The length of a standstill of which the watchdog has not yet said what it made of it. */
  let doubtMs = 0;
  let dead: string | undefined;
  let toldLost = false;
  /** Beats in a row that nobody confirmed. */
  let unheard = 0;

  const die = (reason: string): void => {
    if (dead !== undefined) return;
    dead = reason;
    journal.append({ type: "watchdog.tripped", reason });
    halt(`the watchdog tripped: ${reason}`);
  };
  const heard = (word: Word): void => {
    unheard = 0;
    switch (word.kind) {
      case "armed":
        silenceMs = word.silenceMs;
        toldLost = false;
        journal.append({ type: "watchdog.armed", silenceMs, before: word.before });
        break;
      case "heard":
        break;
      case "farewell":
        farewell$.next(true);
        return;
      case "tripped":
        die(word.reason);
        return;
    }
    if (doubtMs === 0 && !isDoubtful()) return;
    doubtMs = 0;
    beatAt = clock.now();
    cleared();
  };
  const lose = (why: string): void => {
    talk = undefined;
    if (silenceMs === undefined && clock.now() - startedAt < graceMs) return;
    const lost = silenceMs === undefined ? 0 : Math.max(doubtMs, clock.now() - beatAt);
    // It may have done its work and gone: nobody is left to ask.
    if (silenceMs !== undefined && lost >= silenceMs / 2)
      die(`this process stood still for ${Math.round(lost)} ms, and the watchdog is gone`);
    silenceMs = undefined;
    doubtMs = 0;
    if (toldLost) return;
    toldLost = true;
    journal.append({ type: "watchdog.lost", reason: why });
  };
  /** Since the last beat so much time has passed that the watchdog may act, or has. */
  const isDoubtful = (): boolean => silenceMs !== undefined && clock.now() - beatAt >= silenceMs / 2;

  const call = (): Talk<Report> => {
    const made: Talk<Report> = dial({
      heard: (word) => {
        if (talk === made) heard(word);
      },
      ended: (why) => {
        if (talk === made) lose(why);
      },
    });
    made.say({ kind: "hello", version: 1, session, beatMs });
    return made;
  };
  const beat = (): void => {
    if (isDoubtful()) doubtMs = clock.now() - beatAt;
    if (++unheard * beatMs > unheardMsMax && talk !== undefined) {
      unheard = 0;
      const deaf = talk;
      lose("it does not answer");
      deaf.hangUp();
    }
    talk ??= call();
    talk.say({ kind: "beat", ready: isReady, open: open() });
    beatAt = clock.now();
  };
  const stop = (): void => {
    beats?.unsubscribe();
    const last = talk;
    talk = undefined;
    last?.hangUp();
  };

  return {
    start: () => {
      startedAt = clock.now();
      beat();
      beats = every(clock, beatMs).subscribe(beat);
    },
    ready: () => {
      isReady = true;
    },
    refused: () => {
      if (dead !== undefined) return `the watchdog took this engine for dead (${dead}); look at the service, then start anew`;
      if (doubtMs === 0 && !isDoubtful()) return undefined;
      return "this process stood still, and the watchdog has not yet said whether it acted";
    },
    leave: async () => {
      if (talk === undefined || silenceMs === undefined || dead !== undefined) {
        stop();
        return true;
      }
      beats?.unsubscribe();
      talk.say({ kind: "goodbye" });
      const wasHeard = await firstValueFrom(farewell$.pipe(takeUntil(after(clock, farewellMs))), { defaultValue: false });
      stop();
      return wasHeard;
    },
    stop,
  };
};
