/**
 * WebSocket keep-alive: pings after two thirds of the permitted silence (20 s at most), and reports a connection without a reply dead.
 *
 * Invariants: one timer while it runs, none otherwise; `dead` is called once for each start, and only after the whole silence.
 */
import type { Clock, Timer } from "../../clock/clock.ts";

interface KeepAliveOptions {
  readonly clock: Clock;
  readonly silenceMsMax: number;
  readonly ask: () => void;
  readonly dead: (reason: string) => void;
}

const idleMsMax = 20_000;

export class KeepAlive {
  readonly #options: KeepAliveOptions;
  /** A reply needs some of the silence to arrive in. */
  readonly #askMs: number;
  #heardAt = 0;
  #timer: Timer | undefined;

  constructor(options: KeepAliveOptions) {
    this.#options = options;
    this.#askMs = Math.min(idleMsMax, (options.silenceMsMax * 2) / 3);
  }

  start(): void {
    this.stop();
    this.heard();
    this.#look();
  }

  /** Something was heard, whatever it was. */
  heard(): void {
    this.#heardAt = this.#options.clock.now();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    const { clock, silenceMsMax, ask, dead } = this.#options;
    this.#timer = undefined;
    const idleMs = clock.now() - this.#heardAt;
    if (idleMs >= silenceMsMax) {
      dead(`nothing was heard for ${silenceMsMax} ms`);
      return;
    }
    const quiet = idleMs >= this.#askMs;
    this.#timer = clock.setTimer(this.#heardAt + (quiet ? silenceMsMax : this.#askMs), () => this.#look());
    // Last, as asking may show that there is nobody.
    if (quiet) ask();
  }
}
