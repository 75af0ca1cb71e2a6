/**
 * Reader of history sources: queries them, synchronously or with a deadline, and reports missing data.
 *
 * Invariants: exactly one answer is passed on, an empty one if the source gave none; each problem is reported once per
 * series; where the service has its own history, time is virtual and an asynchronous answer is refused.
 * Not here: order of bars and live data (candle-seam.ts).
 */
import type { Clock } from "../clock/clock.ts";
import { messageOf, SluiceError } from "../errors.ts";
import { type AskedBars, type BarCalendar, lengthName } from "../market/calendar/bar-calendar.ts";
import type { CandleHistory, HistorySource } from "../market/history.ts";
import type { Candle, Quote, Trade } from "../market/market-data.ts";
import { outside } from "./execution-context.ts";
import { readCandles } from "./history-candles.ts";
import { isPromise } from "./promises.ts";

export interface BarSeries {
  readonly instId: string;
  readonly asked: AskedBars;
  readonly calendar: BarCalendar;
  readonly count: number;
}

type Done<T> = (found: readonly T[], answered: boolean) => void;

const answerMs = 10_000;

export class HistoryReader {
  readonly clock: Clock;
  readonly #own: HistorySource | undefined;
  readonly #configured: HistorySource | undefined;
  readonly #onAnomaly: (what: string, detail: string) => void;
  readonly #reported = new Set<string>();

  constructor(
    clock: Clock,
    own: HistorySource | undefined,
    configured: HistorySource | undefined,
    onAnomaly: (what: string, detail: string) => void,
  ) {
    this.clock = clock;
    this.#own = own;
    this.#configured = configured;
    this.#onAnomaly = onAnomaly;
  }

  /** True if a missing bar means that nothing was traded, not that data is missing. */
  get isComplete(): boolean {
    return this.#own?.isComplete === true && this.#configured === undefined;
  }

  /**
   * Passes the last `count` bars that opened at or after `from` and closed by now, or by `closedAt`, which has passed
   * at the service, to `done`. Returns a function that cancels the query.
   */
  candles({ instId, asked, calendar, count }: BarSeries, from: number, done: Done<Candle>, closedAt = 0): () => void {
    const now = Math.max(this.clock.now(), closedAt);
    const what = `${lengthName(asked.grid)} bars of ${instId}`;
    const read = (source: HistorySource, answer: unknown): readonly Candle[] => {
      const { bars, ahead } =
        source.bars === undefined ? readCandles(instId, calendar, answer, now) : builtBars(answer, now);
      if (ahead > 0)
        this.report("history.ahead", what, `${source.name} showed ${ahead} that had not closed; they are left out`);
      return bars;
    };
    return this.#both<Candle>(
      what,
      (source, end, wanted) => {
        if (source.bars !== undefined) return source.bars(instId, asked, end, wanted);
        const begin = Math.max(0, Math.min(from, calendar.before(end, 1)));
        const pieceMs = asked.isExplicit || !calendar.isFixed ? pieceOf(calendar, begin, end) : calendar.barMs;
        return source.candles(instId, pieceMs, begin, end, Math.ceil((wanted * calendar.barMs) / pieceMs));
      },
      read,
      { count, now, startOf: ({ openedAt }) => openedAt },
      done,
    );
  }

  /** Passes the last `count` trades or quotes before now to `done`; returns a function that cancels the query. */
  rows<T extends Trade | Quote>(
    kind: "trades" | "quotes",
    instId: string,
    count: number,
    done: (rows: readonly T[]) => void,
  ): () => void {
    const now = this.clock.now();
    const what = `${kind} of ${instId}`;
    const read = (source: HistorySource, answer: unknown): readonly T[] => {
      if (!Array.isArray(answer)) throw new Error(`it answered ${typeof answer}, not a list`);
      const past = (answer as readonly T[]).filter(({ at }) => at < now || (source.isComplete === true && at <= now));
      if (past.length < answer.length) {
        this.report(
          "history.ahead",
          what,
          `${source.name} returned ${answer.length - past.length} values that lie after the instant asked for; they are left out`,
        );
      }
      return past.toSorted((a, b) => a.at - b.at);
    };
    return this.#both<T>(
      what,
      (source, end, wanted) => {
        const ask = source[kind] as
          | ((instId: string, count: number, to: number) => readonly T[] | PromiseLike<readonly T[]>)
          | undefined;
        if (ask === undefined) throw new Error(`it has no ${kind}`);
        return ask.call(source, instId, wanted, end);
      },
      read,
      { count, now, startOf: ({ at }) => at },
      (found, answered) => {
        if (answered && found.length < count)
          this.report("history.short", what, `${count} were asked for, and there are ${found.length}`);
        done(found);
      },
    );
  }

  /** Reports an anomaly, once per series. */
  report(what: string, series: string, detail: string): void {
    if (this.#reported.has(`${what} ${series}`)) return;
    this.#reported.add(`${what} ${series}`);
    this.#onAnomaly(what, `${series}: ${detail}`);
  }

  /** Queries the service's own history first, then the config's source for what lies before it. */
  #both<T>(
    series: string,
    ask: (source: HistorySource, end: number, count: number) => unknown,
    read: (source: HistorySource, answer: unknown) => readonly T[],
    { count, now, startOf }: { readonly count: number; readonly now: number; readonly startOf: (row: T) => number },
    done: Done<T>,
  ): () => void {
    const [own, configured] = [this.#own, this.#configured];
    const end = Math.floor(now);
    if (own === undefined && configured === undefined) {
      this.report(
        "history.none",
        series,
        'there is no history source; name one in the config, such as history: fromFolder("out/perp")',
      );
      done([], false);
      return () => undefined;
    }
    const late = own === undefined ? [] : (this.#atOnce(series, own, () => read(own, ask(own, now, count))) ?? []);
    const missing = count - late.length;
    if (configured === undefined || missing <= 0) {
      done(late.slice(-count), true);
      return () => undefined;
    }
    const before = late[0] === undefined ? end : startOf(late[0]);
    const join = (early: readonly T[] | undefined): void => {
      const older = (early ?? []).filter((row) => startOf(row) < before);
      done([...older, ...late].slice(-count), early !== undefined || late.length > 0);
    };
    return this.#wait(
      series,
      configured,
      () => ask(configured, before, missing),
      (answer) => read(configured, answer),
      join,
    );
  }

  #atOnce<T>(series: string, source: HistorySource, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#fail(series, source, messageOf(error));
      return undefined;
    }
  }

  #wait<T>(
    series: string,
    source: HistorySource,
    ask: () => unknown,
    read: (answer: unknown) => readonly T[],
    take: (found: readonly T[] | undefined) => void,
  ): () => void {
    const asked = this.#atOnce(series, source, () => ({ answer: ask() }));
    if (asked === undefined || !isPromise(asked.answer)) {
      take(asked === undefined ? undefined : this.#atOnce(series, source, () => read(asked.answer)));
      return () => undefined;
    }
    if (this.#own !== undefined) {
      asked.answer.then(undefined, () => undefined);
      this.#fail(
        series,
        source,
        "its answer is a promise, and virtual time does not wait; answer at once in a backtest",
      );
      take(undefined);
      return () => undefined;
    }
    let open = true;
    const end = (work: () => void): void => {
      if (!open) return;
      open = false;
      timer.cancel();
      outside(work);
    };
    const timer = this.clock.setTimer(this.clock.now() + answerMs, () =>
      end(() => {
        this.report(
          "history.unanswered",
          series,
          `${source.name} did not answer within ${answerMs / 1_000} s; live data begins without`,
        );
        take(undefined);
      }),
    );
    asked.answer.then(
      (answer) => end(() => take(this.#atOnce(series, source, () => read(answer)))),
      (error: unknown) =>
        end(() => {
          this.#fail(series, source, messageOf(error));
          take(undefined);
        }),
    );
    return () => {
      open = false;
      timer.cancel();
    };
  }

  #fail(series: string, source: HistorySource, why: string): void {
    this.report("history.failed", series, `${source.name}: ${why}; live data begins without`);
  }
}

/** Bars of a source that built them from its rows. */
const builtBars = (answer: unknown, now: number): { readonly bars: readonly Candle[]; readonly ahead: number } => {
  const all = answer as readonly Candle[];
  const bars = all.filter(({ at }) => at <= now);
  return { bars, ahead: all.length - bars.length };
};

const pieces = [86_400_000, 3_600_000, 1_800_000, 900_000, 60_000] as const;
/** Number of bars that are examined to find the length that they all have. */
const barsMax = 500;

/** The longest usual bars from which the bars from `from` to `to` can be joined. */
const pieceOf = (calendar: BarCalendar, from: number, to: number): number => {
  const begins: number[] = [];
  for (let at = calendar.startOf(from); at <= to && begins.length < barsMax; at = calendar.endOf(at)) begins.push(at);
  return pieces.find((ms) => ms <= calendar.barMs && begins.every((at) => at % ms === 0)) ?? 60_000;
};

/**
 * The source of a config, also where it is only a function that gives bars. Throws CONFIG_INVALID for anything else.
 *
 * @param given - `history` of a config, also where it is only a function that gives bars
 * @returns the source; undefined without one
 * @throws CONFIG_INVALID for anything else
 */
export const historySourceOf = (given: unknown): HistorySource | undefined => {
  if (given === undefined) return undefined;
  if (typeof given === "function")
    return { name: given.name === "" ? "config.history" : given.name, candles: given as CandleHistory };
  const { name, candles } = (given ?? {}) as Partial<HistorySource>;
  if (typeof name === "string" && typeof candles === "function") return given as HistorySource;
  throw new SluiceError(
    "CONFIG_INVALID",
    `config.history: ${JSON.stringify(given)} is no history source. Write fromFolder("out/perp"), or a function (instId, barMs, from, to) => bars.`,
  );
};
