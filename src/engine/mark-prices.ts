/**
 * Second source of prices for a protection: the mark price of the account's positions, read while the market data is
 * silent.
 *
 * Invariants: positions are read only after a silence; the reads end with the first price of the market data; once a
 * read has given a price, the next silence is filled before it is reported; if no read is answered, for example in a
 * long pause, one leaves with the rank of exits every half minute.
 * Not here: the market data itself (price-watch.ts), the report of a silence (orders/protection/price-triggers.ts).
 */
import type { Subscription } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import { isDecimal, isPositive } from "../decimal.ts";
import { urgentReadMs } from "../orders/state/polled-resource.ts";
import type { Resources } from "../orders/state/resources.ts";

interface MarkPricesOptions {
  readonly clock: Clock;
  readonly positions: Resources["positions"];
  readonly instId: string;
  readonly onPx: (px: string) => void;
}

/** Shorter than the silence that is reported, so that a timely read leaves no gap. */
const markReadMs = 4_000;
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

  /** Called when the market data had a price. */
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
    const take = (px: string): void => {
      this.#silenceMs = markReadMs;
      onPx(px);
    };
    this.#reads = watchMarks({ clock: this.#options.clock, positions, instId, onPx: take });
  }
}

/** Reads the account's positions for a held stop until unsubscribed, and passes on their mark price. */
export const watchMarks = ({ clock, positions, instId, onPx }: MarkPricesOptions): Subscription => {
  let readAt = clock.now();
  let timer: Timer;
  const look = (): void => {
    if (clock.now() - readAt >= urgentReadMs) positions.urge();
    timer = clock.setTimer(clock.now() + markReadMs, look);
  };
  const all = positions.watch(markReadMs).subscribe(({ value, stale }) => {
    if (stale) return;
    readAt = clock.now();
    const px = markPxOf(value, instId);
    if (px !== undefined) onPx(px);
  });
  timer = clock.setTimer(clock.now() + markReadMs, look);
  all.add(() => timer.cancel());
  return all;
};

/** Mark price of the instrument's position, if the record has one. */
export const markPxOf = (
  positions: readonly { readonly instId: string; readonly markPx?: string | undefined }[],
  instId: string,
): string | undefined => {
  const px = positions.find((position) => position.instId === instId)?.markPx;
  return isDecimal(px) && isPositive(px) ? px : undefined;
};
