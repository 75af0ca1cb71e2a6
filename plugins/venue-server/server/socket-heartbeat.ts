/**
 * WebSocket heartbeat: pings a connection now and then, and reports it silent when nothing comes for too long.
 *
 * Invariants: one timer; silence is noticed at the moment it has lasted too long, not at the next ping.
 */
import type { Clock, Timer } from "sluice/extension";

interface HeartbeatOptions {
  readonly pingMs: number;
  readonly silenceMsMax: number;
  readonly ping: () => void;
  readonly silent: () => void;
}

export class SocketHeartbeat {
  readonly #clock: Clock;
  readonly #options: HeartbeatOptions;
  #heardAt: number;
  #pingAt: number;
  #timer: Timer | undefined;

  constructor(clock: Clock, options: HeartbeatOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#heardAt = clock.now();
    this.#pingAt = this.#heardAt + options.pingMs;
    this.#wait();
  }

  /** Something came. */
  heard(): void {
    this.#heardAt = this.#clock.now();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #wait(): void {
    this.#timer = this.#clock.setTimer(Math.min(this.#pingAt, this.#heardAt + this.#options.silenceMsMax), () =>
      this.#look(),
    );
  }

  #look(): void {
    const { pingMs, silenceMsMax, ping, silent } = this.#options;
    const now = this.#clock.now();
    if (now >= this.#heardAt + silenceMsMax) {
      this.#timer = undefined;
      silent();
      return;
    }
    if (now >= this.#pingAt) {
      this.#pingAt = now + pingMs;
      ping();
    }
    // A ping may have ended the connection.
    if (this.#timer !== undefined) this.#wait();
  }
}
