/**
 * Join of history and live data in one stream of bars: history, then the bar that was open at the time, then live bars.
 *
 * Invariants: live bars are buffered while the source is queried; no bar is emitted at or before the last one. When the
 * first live bar began before the subscription, or does not follow the last bar of history, the source is queried once
 * more: bars that closed meanwhile are emitted first, and a bar that live data saw only in part is taken from the
 * source.
 */
import type { Observable, Subscriber, TeardownLogic } from "rxjs";
import { lengthName } from "../market/calendar/bar-calendar.ts";
import type { Candle } from "../market/market-data.ts";
import type { BarSeries, HistoryReader } from "./history-reader.ts";

export class CandleSeam {
  readonly #series: BarSeries;
  readonly #reader: HistoryReader;
  readonly #subscriber: Subscriber<Candle>;
  readonly #since: number;
  readonly #waiting: Candle[] = [];
  #asking = true;
  #answered = false;
  #settled = false;
  #ended = false;
  #last: Candle | undefined;
  #cancel: () => void = () => undefined;

  constructor(series: BarSeries, reader: HistoryReader, subscriber: Subscriber<Candle>) {
    this.#series = series;
    this.#reader = reader;
    this.#subscriber = subscriber;
    this.#since = reader.clock.now();
  }

  begin(live: Observable<Candle>): TeardownLogic {
    // Subscribed before history is queried, so that there is no gap between the two.
    this.#subscriber.add(
      live.subscribe({
        next: (bar) => {
          if (this.#asking) this.#waiting.push(bar);
          else this.#take(bar);
        },
        complete: () => {
          this.#ended = true;
          if (!this.#asking) this.#subscriber.complete();
        },
      }),
    );
    const { calendar, count } = this.#series;
    const from = calendar.before(this.#since, count);
    this.#ask(this.#series, from, (bars, answered) => {
      this.#answered = answered;
      this.#reportMissing(bars);
      for (const bar of bars) this.#emit(bar);
    });
    return () => this.#cancel();
  }

  #ask(
    series: BarSeries,
    from: number,
    take: (bars: readonly Candle[], answered: boolean) => void,
    closedAt?: number,
  ): void {
    this.#asking = true;
    const done = (bars: readonly Candle[], answered: boolean): void => {
      take(bars, answered);
      this.#asking = false;
      this.#drain();
    };
    this.#cancel = this.#reader.candles(series, from, done, closedAt);
  }

  #drain(): void {
    for (let bar = this.#waiting.shift(); bar !== undefined; bar = this.#waiting.shift()) {
      this.#take(bar);
      if (this.#asking) return;
    }
    if (this.#ended) this.#subscriber.complete();
  }

  #take(bar: Candle): void {
    if (this.#settled) this.#subscriber.next(bar);
    else if (this.#isAfterLast(bar)) this.#settle(bar);
  }

  #settle(bar: Candle): void {
    this.#settled = true;
    const before = this.#last;
    const { barMs } = this.#series.calendar;
    const follows = before === undefined || bar.openedAt === before.at;
    if (!this.#answered || (follows && bar.openedAt >= this.#since)) {
      this.#emit(bar);
      return;
    }
    const from = before?.at ?? bar.openedAt;
    const series = { ...this.#series, count: Math.max(1, Math.round((bar.at - from) / barMs)) };
    const take = (bars: readonly Candle[]): void => {
      for (const found of bars)
        if (found.at <= bar.at && (before !== undefined || found.at === bar.at)) this.#emit(found);
      this.#emit(bar);
      if (before !== undefined)
        this.#reportHoles([before, ...bars.filter(({ at }) => at > before.at && at < bar.at), bar]);
    };
    this.#ask(series, from, take, bar.at);
  }

  #emit(bar: Candle): void {
    if (!this.#isAfterLast(bar) || this.#subscriber.closed) return;
    this.#last = bar;
    this.#subscriber.next(bar);
  }

  #isAfterLast({ at }: Candle): boolean {
    return this.#last === undefined || at > this.#last.at;
  }

  #reportMissing(bars: readonly Candle[]): void {
    const { count } = this.#series;
    if (this.#answered && bars.length < count) {
      this.#reader.report("history.short", this.#name(), `${count} were asked for, and there are ${bars.length}`);
    }
    this.#reportHoles(bars);
  }

  #reportHoles(bars: readonly Candle[]): void {
    if (this.#reader.isComplete) return;
    const holes = bars.flatMap((bar, index) => {
      const before = bars[index - 1];
      return before !== undefined && bar.openedAt > before.at ? [{ from: before.at, to: bar.openedAt }] : [];
    });
    const [first] = holes;
    if (first === undefined) return;
    const missing = holes.reduce(
      (total, { from, to }) => total + Math.round((to - from) / this.#series.calendar.barMs),
      0,
    );
    const [from, to] = [first.from, first.to].map((at) => new Date(at).toISOString());
    this.#reader.report(
      "history.gap",
      this.#name(),
      `${missing} between history and live are missing or were quiet, the first from ${from} to ${to}; they are left out`,
    );
  }

  #name(): string {
    return `${lengthName(this.#series.asked.grid)} bars of ${this.#series.instId}`;
  }
}
