/**
 * Doubt about the first count of a window that goes on where the window before left off.
 *
 * Such a count is the old window's, because the new one has not begun or because counts lag, or others have used as
 * much again. It is not believed before calls that left after each other were told the same; meanwhile calls leave one
 * at a time.
 */
import type { Top } from "./heard-counts.ts";

interface Doubt {
  readonly window: number;
  readonly used: number;
  readonly receivedAt: number;
  /** Answers of calls that left after each other. */
  readonly looks: number;
}

/** A count as it was told to a call that landed in `window`. */
interface Told {
  readonly window: number;
  readonly used: number;
  readonly sentAt: number;
  readonly receivedAt: number;
  /** What is ours of it at most, and what other engines of ours hold. */
  readonly ours: number;
}

/**
 * Where the scope stands: the counts of the window before and of this one, and whether no answer of this one came
 * before the call.
 */
interface Known {
  readonly before: Top | undefined;
  readonly top: Top | undefined;
  readonly isFirst: boolean;
  readonly lags: boolean;
}

/** What to make of a count. */
type Judgement = "believed" | "doubted" | "confirmed";

/** Counts below this part of the capacity are believed, whatever they go on from: little is lost if they are wrong. */
const doubtShare = 0.25;
/** The first look may itself be what a count that lags is behind. */
const looksLagging = 3;
const retryMs = 1_000;

export class CountDoubt {
  /** While there is none, calls that leave and end need not be told of here. */
  current: Doubt | undefined;
  readonly #capacity: number;
  /** A call is under way that left since the doubt came up. */
  #checkedAt: number | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  judge({ window, used, sentAt, receivedAt, ours }: Told, { before, top, isFirst, lags }: Known): Judgement {
    const doubt = this.current?.window === window ? this.current : undefined;
    const goesOn = before?.window === window - 1 && used > before.used && used - ours > this.#capacity * doubtShare;
    if (!goesOn || !(doubt !== undefined || isFirst)) {
      if (doubt !== undefined && used <= doubt.used) this.current = undefined;
      return "believed";
    }
    // Of calls under way together one was told less: this count is the old window's.
    if (top?.window === window) return "doubted";
    if (doubt === undefined || sentAt < doubt.receivedAt) {
      this.current = {
        window,
        used: Math.max(used, doubt?.used ?? 0),
        receivedAt: doubt?.receivedAt ?? receivedAt,
        looks: 1,
      };
      return "doubted";
    }
    if (lags && doubt.looks < looksLagging) {
      this.current = { window, used, receivedAt, looks: doubt.looks + 1 };
      return "doubted";
    }
    this.current = undefined;
    return "confirmed";
  }

  /** Whether a call into `window` has to wait for the answer to another. */
  holds(window: number, now: number): boolean {
    if (this.current === undefined) return false;
    if (this.current.window === window) return this.#checkedAt !== undefined && now - this.#checkedAt < retryMs;
    this.current = undefined;
    return false;
  }

  noteBegun(now: number): void {
    if (this.current !== undefined) this.#checkedAt = now;
  }

  /** A call that left at `sentAt` is over. */
  noteEnded(sentAt: number): void {
    if (this.current !== undefined && sentAt >= this.current.receivedAt) this.#checkedAt = undefined;
  }

  forget(): void {
    this.current = undefined;
    this.#checkedAt = undefined;
  }
}
