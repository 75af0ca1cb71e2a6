/**
 * The counts a scope was told lately, and what they prove of its windows when they are compared.
 *
 * Invariants: two counts are compared only when one call left after the other's answer was in, so that their order is
 * certain; of answers only the last few are kept.
 */

export interface Heard {
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
  window: number;
  used: number;
  /** When it was last told. */
  at: number;
}

const heardKept = 16;

export class HeardCounts {
  /** Of the newest window that told a count. */
  top: Top | undefined;
  /** Of the newest window before that one. */
  earlier: Top | undefined;
  /** No count that was heard is higher. */
  highest = Number.NEGATIVE_INFINITY;
  readonly #heard: Heard[] = [];
  #oldest = 0;

  /**
   * The latest call whose count `used` does not exceed, though it was told before the call left at `sentAt`: a window
   * began in between. Counts that lag are those of a call before. Valid until the next count is heard.
   */
  fallTo(used: number, sentAt: number, lags: boolean): Readonly<Heard> | undefined {
    let before: Heard | undefined;
    let afterAt = Number.NEGATIVE_INFINITY;
    let highest = Number.NEGATIVE_INFINITY;
    const heard = this.#heard;
    for (let index = 0; index < heard.length; index++) {
      const other = heard[index] as Heard;
      if (other.used > highest) highest = other.used;
      if (
        other.used < used ||
        other.receivedAt > sentAt ||
        (other.receivedAt === sentAt && !(lags && other.sentAt < sentAt))
      )
        continue;
      const leftAt = lags ? other.beforeAt : other.sentAt;
      if (leftAt <= afterAt) continue;
      before = other;
      afterAt = leftAt;
    }
    this.highest = highest;
    return before;
  }

  /** No call that surely landed in `window` was answered before one left at `sentAt`. */
  isFirst(window: number, sentAt: number): boolean {
    for (const { first, receivedAt } of this.#heard) if (first === window && receivedAt < sentAt) return false;
    return true;
  }

  hear(sentAt: number, receivedAt: number, used: number, first: number, last: number): void {
    const { top } = this;
    if (first === last) {
      if (top === undefined || first > top.window) this.#begin(first, used, receivedAt);
      else if (first === top.window) {
        if (used > top.used) top.used = used;
        if (receivedAt > top.at) top.at = receivedAt;
      }
    }
    if (used > this.highest) this.highest = used;
    const heard = this.#heard;
    let beforeAt = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < heard.length; index++) {
      const other = heard[index] as Heard;
      if (other.receivedAt < sentAt && other.sentAt > beforeAt) beforeAt = other.sentAt;
    }
    const oldest = heard[this.#oldest];
    if (oldest === undefined) heard[this.#oldest] = { sentAt, receivedAt, used, first, last, beforeAt };
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
    if (this.top !== undefined) this.top.window = index;
    this.earlier = undefined;
  }

  /** Nothing that was heard can be compared any more, but for the highest count. */
  drop(): void {
    this.#heard.length = 0;
    this.highest = Number.NEGATIVE_INFINITY;
    this.#oldest = 0;
  }

  forget(): void {
    this.drop();
    this.top = undefined;
    this.earlier = undefined;
  }

  /** The first count of a window. */
  #begin(window: number, used: number, at: number): void {
    this.earlier = this.top;
    this.top = { window, used, at };
  }
}
