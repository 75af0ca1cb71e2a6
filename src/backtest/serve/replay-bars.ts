/**
 * The bars of one minute that a served market shows: the one that is running, and each when it is over.
 *
 * Invariants: bars begin with the clock's minutes; a bar shows the trades shown in its minute, except that a recorded
 * bar, where there is one, is what is shown at its end; the running bar is shown at most once a second, and only after
 * it changed; nothing is shown of a minute without trades.
 * Not here: who calls `tick` every second (market-replay.ts).
 */
import type { CandleMessage } from "../../contract/channels.ts";
import { addTrade, barColumns, openBar } from "../../market/bars.ts";
import type { BarColumns, Scale } from "../../market/views.ts";

export const minuteMs = 60_000;

export class ReplayBars {
  readonly #scale: Scale;
  readonly #show: (bar: CandleMessage, at: number) => void;
  readonly #opensAt: ((at: number) => number | undefined) | undefined;
  /** The running bar in its only row. */
  readonly #bar = barColumns(minuteMs, 1);
  #open = false;
  #openedAt = 0;
  #changed = false;

  /**
   * `opensAt` is given where bars are recorded; it returns the opening of the bar that contains an instant;
   * undefined for none.
   */
  constructor(
    scale: Scale,
    show: (bar: CandleMessage, at: number) => void,
    opensAt?: (at: number) => number | undefined,
  ) {
    this.#scale = scale;
    this.#show = show;
    this.#opensAt = opensAt;
  }

  /** True if a bar is running that `tick` has to end. */
  get running(): boolean {
    return this.#open && (this.#opensAt === undefined || this.#changed);
  }

  trade(px: number, qty: number, at: number): void {
    if (this.#overdue(at)) this.#end(this.#bar, 0, at);
    if (!this.#open) {
      const opened = this.#opensAt === undefined ? Math.floor(at / minuteMs) * minuteMs : this.#opensAt(at);
      if (opened === undefined) return;
      this.#openedAt = opened;
      this.#open = true;
      openBar(this.#bar, 0, px);
    }
    addTrade(this.#bar, 0, px, qty);
    this.#changed = true;
  }

  /** Shows the running bar when it changed, or its end when it is over. */
  tick(at: number): void {
    if (this.#overdue(at)) this.#end(this.#bar, 0, at);
    else if (this.#open && this.#changed) this.#show(this.#message(this.#bar, 0, "0"), at);
    this.#changed = false;
  }

  /** The recorded bar in `row`, which opened at `opened`, ends now. */
  closed(bars: BarColumns, row: number, opened: number, at: number): void {
    this.#openedAt = opened;
    this.#end(bars, row, at);
  }

  #overdue(at: number): boolean {
    return this.#open && this.#opensAt === undefined && at >= this.#openedAt + minuteMs;
  }

  #end(bars: BarColumns, row: number, at: number): void {
    this.#show(this.#message(bars, row, "1"), at);
    this.#open = false;
    this.#changed = false;
  }

  #message({ open, high, low, close, volume }: BarColumns, row: number, confirm: "0" | "1"): CandleMessage {
    const { instId, tick, lot } = this.#scale;
    const text = (column: Float64Array): string => tick.format(column[row] as number);
    return {
      instId,
      ts: String(Math.round(this.#openedAt)),
      open: text(open),
      high: text(high),
      low: text(low),
      close: text(close),
      volume: lot.format(volume[row] as number),
      confirm,
    };
  }
}
