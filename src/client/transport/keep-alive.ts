/**
 * WebSocket keep-alive: pings after two thirds of the permitted silence (20 s at most), or at the service's interval,
 * and reports a connection without a reply as dead.
 *
 * Invariants: one timer while it runs, none otherwise; `dead` is called once for each start, and only after the whole
 * silence.
 */
import type { Clock, Timer } from "../../clock/clock.ts";

interface KeepAliveOptions {
  readonly clock: Clock;
  readonly silenceMsMax: number;
  /** Interval of pings, also while messages arrive; left out, pings are sent after silence only. */
  readonly everyMs: number | undefined;
  readonly ask: () => void;
  readonly dead: (reason: string) => void;
}

const idleMsMax = 20_000;

export class KeepAlive {
  readonly #options: KeepAliveOptions;
  /** Time after which a ping is sent. It leaves part of the permitted silence for the reply to arrive. */
  readonly #askMs: number;
  #receivedAt = 0;
  #askedAt = 0;
  #timer: Timer | undefined;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
    this.#askMs = Math.min(options.everyMs ?? idleMsMax, (options.silenceMsMax * 2) / 3);
  }

  start(): void {
    this.stop();
    this.received();
    this.#askedAt = this.#receivedAt;
    this.#look();
  }

  /** Any message was received. */
  received(): void {
    this.#receivedAt = this.#options.clock.now();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    const { clock, silenceMsMax, everyMs, ask, dead } = this.#options;
    const now = clock.now();
    const deadAt = this.#receivedAt + silenceMsMax;
    this.#timer = undefined;
    if (now >= deadAt) {
      dead(`no message was received for ${silenceMsMax} ms`);
      return;
    }
    const isDue = now >= this.#dueAt();
    if (isDue) this.#askedAt = now;
    this.#timer = clock.setTimer(isDue && everyMs === undefined ? deadAt : Math.min(deadAt, this.#dueAt()), () =>
      this.#look(),
    );
    // Last, because the ping may show that the connection is closed.
    if (isDue) ask();
  }

  #dueAt(): number {
    return (this.#options.everyMs === undefined ? this.#receivedAt : this.#askedAt) + this.#askMs;
  }
}
