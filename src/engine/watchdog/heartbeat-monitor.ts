/**
 * Listens to an engine's heart and decides when it has stopped.
 *
 * Invariants: it acts on silence only, counted while it was awake itself, and never before an engine was heard; an orderly goodbye
 * ends the watch; a new engine that reports in time takes over without anything being cancelled, also in the middle of
 * cancelling; an engine that was taken for dead is told so for as long as it asks.
 * Not here: how silence is counted (silence.ts), what is done about it (watchdog.ts), how words travel (ipc-socket.ts).
 */
import type { Subscription } from "rxjs";
import { type Clock, every } from "../../clock/clock.ts";
import type { Ears, Talk } from "./ipc.ts";
import type { Report, Word } from "./messages.ts";
import { beaten, noSilence, type Silence, tick, verdict } from "./silence.ts";

export type WatchNews =
  | { readonly kind: "armed"; readonly silenceMs: number; readonly again: boolean }
  /** The engine's connection ended without a goodbye; the time runs. */
  | { readonly kind: "disconnected" }
  | { readonly kind: "goodbye" }
  | { readonly kind: "tripped"; readonly reason: string }
  /** A new engine reported while the orders of the old one were being cancelled. */
  | { readonly kind: "taken-over" }
  /** An engine that was taken for dead speaks again. */
  | { readonly kind: "undead" };

interface HeartbeatMonitorOptions {
  readonly clock: Clock;
  readonly silenceMs: number;
  readonly tell: (news: WatchNews) => void;
  /** Cancels everything; called at each trip, and again when an engine that was taken for dead speaks. */
  readonly act: (reason: string) => void;
  /** A living engine looks after its orders itself. */
  readonly desist: () => void;
  /** What was done last, for the next engine to know. */
  readonly before: () => string | undefined;
}

interface HeartbeatMonitor {
  readonly pickUp: (talk: Talk<Word>) => Ears<Report>;
  /** Engines that are watched now: none or one. */
  readonly armed: boolean;
  stop(): void;
}

/** A start reads lists for a minute and a half at most; twice that and more is no start any more. */
const unreadyMsMax = 300_000;
const beatsLeast = 3;
const deadMax = 100;

export const createHeartbeatMonitor = ({ clock, tell, act, desist, before, ...options }: HeartbeatMonitorOptions): HeartbeatMonitor => {
  /** Why each was taken for dead, oldest first. */
  const dead = new Map<string, string>();
  let session: string | undefined;
  let talk: Talk<Word> | undefined;
  let silence: Silence = noSilence;
  let { silenceMs } = options;
  const tickMs = Math.min(1_000, Math.max(50, Math.floor(silenceMs / 20)));

  const bury = (name: string, reason: string): void => {
    dead.set(name, reason);
    const [oldest] = dead.keys();
    if (dead.size > deadMax && oldest !== undefined) dead.delete(oldest);
  };
  const trip = (reason: string): void => {
    if (session === undefined) return;
    bury(session, reason);
    talk?.say({ kind: "tripped", reason });
    session = undefined;
    talk = undefined;
    tell({ kind: "tripped", reason });
    act(reason);
  };
  const ticks: Subscription = every(clock, tickMs).subscribe(() => {
    if (session === undefined) return;
    silence = tick(silence, tickMs);
    const reason = verdict(silence, silenceMs, unreadyMsMax);
    if (reason !== undefined) trip(reason);
  });

  const greet = (name: string, beatMs: number, from: Talk<Word>): void => {
    const isWatched = session !== undefined;
    const again = isWatched && session !== name;
    const done = before();
    silenceMs = Math.max(options.silenceMs, beatMs * beatsLeast);
    silence = isWatched ? beaten(silence, false) : noSilence;
    session = name;
    talk = from;
    desist();
    from.say({ kind: "armed", silenceMs, ...(done === undefined ? {} : { before: done }) });
    tell({ kind: "armed", silenceMs, again });
  };
  const haunt = (reason: string, from: Talk<Word>): void => {
    from.say({ kind: "tripped", reason });
    // It may have placed something before it knew; with another engine at work that one looks after it.
    if (session !== undefined) return;
    tell({ kind: "undead" });
    act(reason);
  };

  return {
    get armed() {
      return session !== undefined;
    },
    pickUp: (from) => {
      let name: string | undefined;
      let told = false;
      const hear = (report: Report): void => {
        if (report.kind === "hello") name = report.session;
        if (name === undefined) {
          from.hangUp();
          return;
        }
        const reason = dead.get(name);
        if (reason !== undefined) {
          if (!told) haunt(reason, from);
          else from.say({ kind: "tripped", reason });
          told = true;
        } else if (report.kind === "hello") greet(name, report.beatMs, from);
        else if (name !== session) from.hangUp();
        else if (report.kind === "beat") {
          silence = beaten(silence, report.ready);
          from.say({ kind: "heard" });
        } else {
          session = undefined;
          talk = undefined;
          from.say({ kind: "farewell" });
          tell({ kind: "goodbye" });
        }
      };
      return {
        heard: hear,
        ended: () => {
          if (talk !== from) return;
          talk = undefined;
          tell({ kind: "disconnected" });
        },
      };
    },
    stop: () => {
      ticks.unsubscribe();
    },
  };
};
