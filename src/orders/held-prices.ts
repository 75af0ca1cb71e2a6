/**
 * Prices of held instruments: calls back when one of them may have changed, at most once a second.
 *
 * Invariants: only the instruments that were passed last are followed; nothing runs while no position is held.
 * Not here: what is computed then (risk/loss-limits.ts, engine/strategy-streams.ts).
 */
import { type Observable, Subscription } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";

/** A value whenever the price of an instrument may have changed. */
export type PriceChanges = (instId: string) => Observable<unknown>;

/** Shortest time between two calls that a price causes. */
const everyMs = 1_000;

export class HeldPrices {
  readonly #clock: Clock;
  readonly #changes: PriceChanges;
  readonly #look: () => void;
  readonly #watched = new Map<string, Subscription>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(clock: Clock, changes: PriceChanges, look: () => void) {
    this.#clock = clock;
    this.#changes = changes;
    this.#look = look;
  }

  /** Follows these instruments and no others. */
  follow(held: ReadonlySet<string>): void {
    for (const [instId, watching] of this.#watched) {
      if (held.has(instId)) continue;
      watching.unsubscribe();
      this.#watched.delete(instId);
    }
    for (const instId of held) {
      if (this.#watched.has(instId)) continue;
      // Stored before it is subscribed to, because the first value may arrive synchronously.
      const watching = new Subscription();
      this.#watched.set(instId, watching);
      watching.add(this.#changes(instId).subscribe(() => this.#lookSoon()));
    }
  }

  /**
   * Called when the caller has computed for another reason. The next call that a price causes then comes a second
   * later.
   */
  looked(): void {
    this.#lookedAt = this.#clock.now();
  }

  close(): void {
    this.#timer?.cancel();
    this.follow(new Set());
  }

  #lookSoon(): void {
    this.#timer ??= this.#clock.setTimer(Math.max(this.#clock.now(), this.#lookedAt + everyMs), () => {
      this.#timer = undefined;
      this.looked();
      this.#look();
    });
  }
}
