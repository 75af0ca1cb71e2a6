/** Rate at which an engine spends of one layer, smoothed over about a second. */

const leastMs = 200;
const smoothMs = 1_000;

export class SpendRate {
  perSecond = 0;
  #spentThen = 0;
  #at = Number.NaN;

  /** So much was spent in all by `at`. */
  measure(spent: number, at: number): void {
    const ms = at - this.#at;
    if (ms < leastMs) return;
    if (!Number.isNaN(ms)) {
      const rate = ((spent - this.#spentThen) / ms) * 1_000;
      this.perSecond += (rate - this.perSecond) * Math.min(1, ms / smoothMs);
    }
    this.#spentThen = spent;
    this.#at = at;
  }
}
