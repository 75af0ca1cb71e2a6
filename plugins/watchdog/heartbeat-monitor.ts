/**
 * Heartbeat monitor of the watchdog: trips when an engine has been silent for too long.
 *
 * Invariants: it trips on silence only, counted while this process itself was running, and never before an engine
 * connected; an orderly goodbye ends the watch; when a new engine connects in time nothing is canceled, and canceling
 * in progress stops; a tripped engine is notified at each of its messages.
 * Not here: how silence is counted (silence.ts), what is done about it (watchdog.ts), how messages travel
 * (ipc-socket.ts).
 */
import type { Subscription } from "rxjs";
import { type Clock, every } from "sluice/extension";
import type { Connection, Receiver } from "./ipc.ts";
import type { Report, Word } from "./messages.ts";
import { beaten, noSilence, type Silence, tick, verdict } from "./silence.ts";

export type WatchNews =
  | { readonly kind: "armed"; readonly silenceMs: number; readonly again: boolean }
  /** The engine's connection ended without a goodbye; the time runs. */
  | { readonly kind: "disconnected" }
  | { readonly kind: "goodbye" }
  | { readonly kind: "tripped"; readonly reason: string }
  /** A new engine connected while the orders of the previous one were being canceled. */
  | { readonly kind: "taken-over" }
  /** A tripped engine connected again. */
  | { readonly kind: "reconnected" };

interface MonitorOptions {
  readonly clock: Clock;
  readonly silenceMs: number;
  readonly report: (news: WatchNews) => void;
  /** Cancels everything; called at each trip, and again when a tripped engine reconnects. */
  readonly act: (reason: string) => void;
  /** True while it still cancels after a trip; left out, the engine assumes that it has finished. */
  readonly isCanceling?: () => boolean;
  /** Stops canceling: a running engine looks after its orders itself. */
  readonly desist: () => void;
  /** Result of the last trip, for the next engine. */
  readonly before: () => string | undefined;
}

/** A start reads lists for a minute and a half at most; twice that and more is no start any more. */
const unreadyMsMax = 300_000;
const beatsLeast = 3;
const trippedMax = 100;

export class HeartbeatMonitor {
  readonly #options: MonitorOptions;
  readonly #ticks: Subscription;
  /** Why each session tripped, oldest first. */
  readonly #tripped = new Map<string, string>();
  #session: string | undefined;
  #connection: Connection<Word> | undefined;
  #silence: Silence = noSilence;
  #silenceMs: number;

  constructor(options: MonitorOptions) {
    this.#options = options;
    this.#silenceMs = options.silenceMs;
    const tickMs = Math.min(1_000, Math.max(50, Math.floor(options.silenceMs / 20)));
    this.#ticks = every(options.clock, tickMs).subscribe(() => {
      if (this.#session === undefined) return;
      this.#silence = tick(this.#silence, tickMs);
      const reason = verdict(this.#silence, this.#silenceMs, unreadyMsMax);
      if (reason !== undefined) this.#trip(this.#session, reason);
    });
  }

  /** An engine is watched now. */
  get armed(): boolean {
    return this.#session !== undefined;
  }

  accept(connection: Connection<Word>): Receiver<Report> {
    let name: string | undefined;
    let notified = false;
    return {
      received: (report) => {
        if (report.kind === "hello") name = report.session;
        const reason = this.#tripped.get(name ?? "");
        if (name === undefined) connection.close();
        else if (reason !== undefined) {
          this.#notifyTripped(reason, connection, notified);
          notified = true;
        } else if (report.kind === "hello") this.#arm(name, report.beatMs, connection);
        else if (name !== this.#session) connection.close();
        else if (report.kind === "beat") {
          this.#silence = beaten(this.#silence, report.ready);
          connection.send({ kind: "heard" });
        } else {
          this.#release();
          connection.send({ kind: "farewell" });
          this.#options.report({ kind: "goodbye" });
        }
      },
      closed: () => {
        if (this.#connection !== connection) return;
        this.#connection = undefined;
        this.#options.report({ kind: "disconnected" });
      },
    };
  }

  stop(): void {
    this.#ticks.unsubscribe();
  }

  #release(): void {
    this.#session = undefined;
    this.#connection = undefined;
  }

  #trip(session: string, reason: string): void {
    this.#tripped.set(session, reason);
    const [oldest] = this.#tripped.keys();
    if (this.#tripped.size > trippedMax && oldest !== undefined) this.#tripped.delete(oldest);
    this.#connection?.send({ kind: "tripped", reason, canceling: true });
    this.#release();
    this.#options.report({ kind: "tripped", reason });
    this.#options.act(reason);
  }

  #arm(session: string, beatMs: number, connection: Connection<Word>): void {
    const { silenceMs, before, desist, report } = this.#options;
    const isWatched = this.#session !== undefined;
    const again = isWatched && this.#session !== session;
    const done = before();
    this.#silenceMs = Math.max(silenceMs, beatMs * beatsLeast);
    this.#silence = isWatched ? beaten(this.#silence, false) : noSilence;
    this.#session = session;
    this.#connection = connection;
    desist();
    connection.send({ kind: "armed", silenceMs: this.#silenceMs, ...(done === undefined ? {} : { before: done }) });
    report({ kind: "armed", silenceMs: this.#silenceMs, again });
  }

  #notifyTripped(reason: string, connection: Connection<Word>, notified: boolean): void {
    // It may have placed something before it was notified. Where another engine runs, that one looks after it.
    if (!notified && this.#session === undefined) {
      this.#options.report({ kind: "reconnected" });
      this.#options.act(reason);
    }
    const isCanceling = this.#options.isCanceling?.() === true;
    connection.send({ kind: "tripped", reason, ...(isCanceling && { canceling: true }) });
  }
}
