/**
 * Request gate of an exchange: each request leaves in turn when the exchange's limit has room for it, and again after a
 * failure that passes.
 *
 * Invariants: no second holds more than the exchange's rate allows, by the costs that ccxt states; after a refusal for
 * too many requests nothing leaves until its time is over; a failed request is repeated a bounded number of times; a
 * stop ends every wait.
 * Not here: the arithmetic of the window (scheduler/quota/rolling-window.ts), the requests (candle-pages.ts,
 * trade-pages.ts).
 */

import { SluiceError } from "sluice";
import { type Clock, messageOf, RollingWindow } from "sluice/extension";

interface GateOptions {
  readonly id: string;
  readonly clock: Clock;
  /** Milliseconds of the limit that cost 1 takes. */
  readonly rateLimitMs: number;
  readonly signal?: AbortSignal | undefined;
}

const triesMax = 8;
const pauseMs = { network: { base: 1_000, most: 30_000 }, limited: { base: 10_000, most: 300_000 } } as const;

export class RequestGate {
  /** Called with each failure that is waited out: a short name and a sentence. */
  readonly listeners = new Set<(what: string, detail: string) => void>();
  readonly #options: GateOptions;
  readonly #window: RollingWindow;
  readonly #windowMs: number;
  #turn: Promise<void> = Promise.resolve();
  #heldUntil = Number.NEGATIVE_INFINITY;

  constructor(options: GateOptions) {
    this.#options = options;
    // A second's worth at most may leave together; slower exchanges get one request at a time.
    this.#windowMs = Math.max(1_000, Math.ceil(options.rateLimitMs));
    const [capacity, windowMs] = [this.#windowMs, this.#windowMs];
    this.#window = new RollingWindow(
      { name: "requests", scope: "ip", unit: "weight", capacity, windowMs, anchor: "sliding", banMs: 0 },
      options.id,
    );
  }

  /** Resolves after `ms`. Rejects with STOPPED where the gate's signal was aborted. */
  pause(ms: number): Promise<void> {
    const { clock, signal } = this.#options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(stopped());
        return;
      }
      const abort = (): void => {
        timer.cancel();
        reject(stopped());
      };
      const timer = clock.setTimer(clock.now() + ms, () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      });
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /**
   * Returns the answer to a request of that cost. A failure that may pass is reported, and the request is repeated.
   */
  async run<T>(
    cost: number,
    request: () => Promise<T>,
    retryAfterS: () => number | undefined = () => undefined,
  ): Promise<T> {
    const { id, clock, signal } = this.#options;
    for (let tries = 1; ; tries++) {
      const answered = await this.#granted(cost);
      if (signal?.aborted) throw stopped();
      try {
        const answer = await orStopped(request(), signal);
        return answer;
      } catch (error) {
        const kind = failureOf(error);
        if (kind === undefined || tries === triesMax) throw error;
        const { base, most } = pauseMs[kind];
        const asked = kind === "limited" ? (retryAfterS() ?? 0) * 1_000 : 0;
        const ms = asked > 0 ? asked : Math.min(most, base * 2 ** (tries - 1));
        if (kind === "limited") this.#heldUntil = Math.max(this.#heldUntil, clock.now() + ms);
        const detail = `${id}: ${messageOf(error).slice(0, 200)}; asked again in ${Math.ceil(ms / 1_000)} s`;
        for (const tell of this.listeners) tell(`exchange.${kind}`, detail);
        await this.pause(ms);
      } finally {
        answered();
      }
    }
  }

  /**
   * Waits for permission for one request, in the order of asking; the returned function must be called when it was
   * answered.
   */
  #granted(cost: number): Promise<() => void> {
    const mine = this.#turn.then(() => this.#enter(cost));
    this.#turn = mine.then(
      () => undefined,
      () => undefined,
    );
    return mine;
  }

  async #enter(cost: number): Promise<() => void> {
    const { clock, rateLimitMs } = this.#options;
    let left = Math.max(0, Math.ceil(cost * rateLimitMs)) || 0;
    for (;;) {
      // A request whose cost exceeds a window takes several windows.
      const units = Math.min(left, this.#windowMs);
      const now = clock.now();
      const until =
        now < this.#heldUntil ? this.#heldUntil : this.#window.blockedUntil(units, now, () => this.#windowMs);
      if (until !== undefined) {
        await this.pause(until - now);
        continue;
      }
      const ticket = this.#window.begin(units, now);
      left -= units;
      if (left <= 0) return () => this.#window.lose(ticket, clock.now());
      this.#window.lose(ticket, now);
    }
  }
}

const stopped = (): SluiceError => new SluiceError("STOPPED", "The fetch was stopped; nothing was written.");

const orStopped = <T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T> => {
  if (signal === undefined) return answer;
  return new Promise<T>((resolve, reject) => {
    const abort = (): void => reject(stopped());
    signal.addEventListener("abort", abort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
};

/** The class of an error of ccxt and those above it, by name: there may be two copies of ccxt. */
export const classesOf = (error: unknown): readonly string[] => {
  const names: string[] = [];
  for (let one: unknown = error; typeof one === "object" && one !== null; one = Object.getPrototypeOf(one))
    names.push((one.constructor as { readonly name?: string } | undefined)?.name ?? "");
  return names;
};

/**
 * Classifies a failure that may pass by waiting: a rate limit, or an unreachable network or exchange; undefined for
 * others.
 */
const failureOf = (error: unknown): "limited" | "network" | undefined => {
  const names = classesOf(error);
  if (names.includes("RateLimitExceeded") || names.includes("DDoSProtection")) return "limited";
  return names.includes("OperationFailed") || names.includes("NetworkError") ? "network" : undefined;
};
