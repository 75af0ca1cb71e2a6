/**
 * The counts a scope was told lately, and what they prove of its windows when they are compared.
 *
 * Invariants: two counts are compared only when one call left after the other's answer was in, so that their order is certain;
 * of answers only the last few are kept.
 */

interface Heard {
  sentAt: number;
  receivedAt: number;
  used: number;
  /** Windows it may have landed in. */
  first: number;
  last: number;
  /** When the latest call left that surely landed before it. */
  beforeAt: number;
}

/** The highest count of a window. */
export interface Top {
  readonly window: number;
  readonly used: number;
  /** When it was last told. */
  readonly at: number;
}

/** A window began after `afterAt`: the one after `first` or, if that is not certain, one up to the one after `last`. */
interface Fall {
  readonly afterAt: number;
  readonly first: number;
  readonly last: number;
  readonly used: number;
}

const heardKept = 16;

export class HeardCounts {
  /** Of the newest window that told a count. */
  top: Top | undefined;
  readonly #heard: Heard[] = [];
  #oldest = 0;
  #earlier: Top | undefined;

  /** Of the newest window before `window` that told a count. */
  topBefore(window: number): Top | undefined {
    return this.top !== undefined && this.top.window < window ? this.top : this.#earlier;
  }

  /**
   * The latest call whose count `used` does not exceed, though it was told before the call left at `sentAt`: a window began in
   * between. Counts that lag are those of a call before.
   */
  fallTo(used: number, sentAt: number, lags: boolean): Fall | undefined {
    let before: Heard | undefined;
    let afterAt = Number.NEGATIVE_INFINITY;
    for (const other of this.#heard) {
      if (other.receivedAt >= sentAt || other.used < used) continue;
      const leftAt = lags ? other.beforeAt : other.sentAt;
      if (leftAt <= afterAt) continue;
      before = other;
      afterAt = leftAt;
    }
    return before === undefined
      ? undefined
      : { afterAt, first: lags ? before.first - 1 : before.first, last: before.last, used: before.used };
  }

  /** No call that surely landed in `window` was answered before one left at `sentAt`. */
  isFirst(window: number, sentAt: number): boolean {
    for (const { first, receivedAt } of this.#heard) if (first === window && receivedAt < sentAt) return false;
    return true;
  }

  hear(sentAt: number, receivedAt: number, used: number, first: number, last: number): void {
    if (first === last) this.#raise(first, used, receivedAt);
    let beforeAt = Number.NEGATIVE_INFINITY;
    for (const other of this.#heard) if (other.receivedAt < sentAt && other.sentAt > beforeAt) beforeAt = other.sentAt;
    const oldest = this.#heard[this.#oldest];
    if (oldest === undefined) this.#heard[this.#oldest] = { sentAt, receivedAt, used, first, last, beforeAt };
    else {
      oldest.sentAt = sentAt;
      oldest.receivedAt = receivedAt;
      oldest.used = used;
      oldest.first = first;
      oldest.last = last;
      oldest.beforeAt = beforeAt;
    }
    this.#oldest = (this.#oldest + 1) % heardKept;
  }

  /** All that was heard turned out to be of window `index`. */
  renumber(index: number): void {
    for (const heard of this.#heard) heard.first = heard.last = index;
    if (this.top !== undefined) this.top = { ...this.top, window: index };
    this.#earlier = undefined;
  }

  /** Nothing that was heard can be compared any more, but for the highest count. */
  drop(): void {
    this.#heard.length = 0;
    this.#oldest = 0;
  }

  forget(): void {
    this.drop();
    this.top = undefined;
    this.#earlier = undefined;
  }

  #raise(window: number, used: number, at: number): void {
    const top = this.top;
    if (top === undefined || window > top.window) {
      this.#earlier = top;
      this.top = { window, used, at };
    } else if (window === top.window && (used > top.used || at > top.at)) {
      this.top = { window, used: Math.max(top.used, used), at: Math.max(top.at, at) };
    }
  }
}
