/**
 * Second source of prices for a protection: the mark price of the account's positions, read while the market data is silent.
 *
 * Invariants: positions are read only after a silence; with the first price of the market data the reads end; once a read has served,
 * the next silence is filled before it is reported.
 * Not here: the market data itself (price-watch.ts), the report of a silence (orders/protection/price-triggers.ts).
 */
import type { Subscription } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import { isDecimal, isPositive } from "../decimal.ts";
import type { Resources } from "../orders/state/resources.ts";

interface MarkPricesOptions {
  readonly clock: Clock;
  readonly positions: Resources["positions"];
  readonly instId: string;
  readonly onPx: (px: string) => void;
}

/** Less than the silence that is reported, so that a read in time leaves no gap. */
export const markReadMs = 4_000;
const firstSilenceMs = 5_000;

export class MarkPrices {
  readonly #options: MarkPricesOptions;
  #silenceMs = firstSilenceMs;
  #receivedAt: number;
  #timer: Timer | undefined;
  #reads: Subscription | undefined;

  constructor(options: MarkPricesOptions) {
    this.#options = options;
    this.#receivedAt = options.clock.now();
    this.#look();
  }

  /** The market data had a price. */
  received(): void {
    this.#receivedAt = this.#options.clock.now();
    if (this.#reads === undefined) return;
    this.#reads.unsubscribe();
    this.#reads = undefined;
    this.#look();
  }

  get isSilent(): boolean {
    return this.#reads !== undefined;
  }

  end(): void {
    this.#timer?.cancel();
    this.#reads?.unsubscribe();
  }

  #look(): void {
    const { clock } = this.#options;
    const at = this.#receivedAt + this.#silenceMs;
    if (clock.now() >= at) this.#read();
    else this.#timer = clock.setTimer(at, () => this.#look());
  }

  #read(): void {
    const { positions, instId, onPx } = this.#options;
    this.#reads = positions.watch(markReadMs).subscribe(({ value, stale }) => {
      const px = stale ? undefined : markPxOf(value, instId);
      if (px === undefined) return;
      this.#silenceMs = markReadMs;
      onPx(px);
    });
  }
}

/** Mark price of the instrument's position, if the record has one. */
export const markPxOf = (
  positions: readonly { readonly instId: string; readonly markPx?: string | undefined }[],
  instId: string,
): string | undefined => {
  const px = positions.find((position) => position.instId === instId)?.markPx;
  return isDecimal(px) && isPositive(px) ? px : undefined;
};
