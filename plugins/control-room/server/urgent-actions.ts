/**
 * Urgent actions: halts, and the cancel of all orders, which no rate limit of the port refuses.
 *
 * Invariants: an urgent action begins within `pauseMs` of its request, independent of other actions; equal actions
 * begin at most once every `pauseMs`, and requests in between share the next one, so that the cost of a flood is
 * bounded.
 * Not here: the list of urgent actions (control-source.ts), access (request-guard.ts), rate limits of other requests
 * (token-bucket.ts).
 */
import { firstValueFrom } from "rxjs";
import { after, type Clock } from "sluice/extension";
import type { ControlAction } from "../control-source.ts";

const pauseMs = 100;

/** Returns the key of an action. Actions with one key are equal: at most their reasons differ. */
export const urgentKey = (source: string, action: ControlAction): string =>
  JSON.stringify([source, action.type, "strategy" in action ? (action.strategy ?? "") : ""]);

export class UrgentActions<T> {
  readonly #clock: Clock;
  /** Keys of which one began less than a pause ago, and the next one of each where it was asked for. */
  readonly #begun = new Map<string, Promise<T> | undefined>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs it now; or when the pause after the last equal one is over, together with all that wait for that. */
  run(key: string, act: () => Promise<T>): Promise<T> {
    if (!this.#begun.has(key)) return this.#begin(key, act);
    const next = this.#begun.get(key) ?? this.#pause().then(() => this.#begin(key, act));
    this.#begun.set(key, next);
    return next;
  }

  #begin(key: string, act: () => Promise<T>): Promise<T> {
    this.#begun.set(key, undefined);
    void this.#pause().then(() => {
      if (this.#begun.get(key) === undefined) this.#begun.delete(key);
    });
    return act();
  }

  async #pause(): Promise<void> {
    await firstValueFrom(after(this.#clock, pauseMs), { defaultValue: undefined });
  }
}
