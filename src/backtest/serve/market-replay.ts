/**
 * Plays a tape to a venue and its board, so that clients can connect to a recorded or made market.
 *
 * Invariants: the first row plays at once and the others keep their distance, divided by the speed; what is shown is
 * dated on the clock, so that a client sees a market of its own time at any speed; the market of an instant is shown
 * before the orders it changed; one timer waits for the next row and one for the bars; after `stop` nothing is played
 * and no timer is left; when a tape that is not looped has ended, what it showed last stays. Bars shown begin with the
 * clock's minutes. Recorded ones of a minute are shown as such where nothing finer was recorded and the speed is 1; the
 * first row then waits for the minute that lets its bar end with one. All others are made of the trades shown.
 * Not here: deliveries to strategies (backtest/paper-player.ts), sockets (the served venue).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import { SluiceError } from "../../errors.ts";
import { type CandleSeries, type Tape, timeAt } from "../../market/tape/tape.ts";
import type { Venue } from "../../venue/venue.ts";
import { isPlayed } from "../candle-prints.ts";
import { type RowTaker, rowTakers } from "../row-dispatch.ts";
import type { MarketBoard } from "./market-board.ts";
import { minuteMs, ReplayBars } from "./replay-bars.ts";
import { createReplayFeed, type ReplayFeed } from "./replay-feed.ts";
import { createScaledClock, type ScaledClock } from "./scaled-clock.ts";

/** Pace of a replayed market. */
interface MarketReplayOptions {
  /** Factor by which it is faster than recorded. Default 1. */
  readonly speed?: number;
  /** The tape begins again at its end. Default false. */
  readonly loop?: boolean;
}

/**
 * Plays a tape to a venue and shows it on a board, in real time, until it is stopped.
 *
 * @param tape - the market
 * @param venue - the exchange that is served
 * @param board - where it is shown
 * @param clock - of the exchange
 * @param options - speed, and whether it begins again at its end
 * @returns `stop` ends it
 */
export const replayMarket = (
  tape: Tape,
  venue: Venue,
  board: MarketBoard,
  clock: Clock,
  { speed = 1, loop = false }: MarketReplayOptions = {},
): { stop(): void } => {
  checkOptions(tape, venue, speed);
  return new MarketReplay(tape, venue, board, clock, speed, loop);
};

class MarketReplay {
  readonly #tape: Tape;
  readonly #venue: Venue;
  readonly #clock: Clock;
  readonly #loop: boolean;
  readonly #paced: ScaledClock;
  readonly #between: Clock;
  readonly #minutes: ReadonlyMap<number, RecordedMinutes>;
  readonly #bars: ReplayBars[] = [];
  readonly #seconds: Seconds;
  readonly #shown: ReplayFeed;
  readonly #periodMs: number;
  #takers: readonly RowTaker[];
  #shiftMs: number;
  #next = 0;
  #round = 0;
  #stopped = false;

  constructor(tape: Tape, venue: Venue, board: MarketBoard, clock: Clock, speed: number, loop: boolean) {
    this.#tape = tape;
    this.#venue = venue;
    this.#clock = clock;
    this.#loop = loop;
    this.#paced = createScaledClock(clock, speed);
    this.#minutes = recordedMinutes(tape, speed, () => this.#shiftMs);
    this.#periodMs = periodOf(tape, this.#minutes.size > 0);
    this.#shiftMs = firstShift(tape, [...this.#minutes.values()][0], clock.now());
    this.#shown = createReplayFeed(tape, venue, board, clock, (scale, instrument) => {
      const bars = new ReplayBars(scale, (bar, at) => board.candle(bar, at), this.#minutes.get(instrument)?.opensAt);
      this.#bars.push(bars);
      return bars;
    });
    this.#seconds = new Seconds(clock, this.#bars);
    // What a bar prints between rows is shown like a row.
    this.#between = shownWith(this.#paced, (print) => {
      this.#together(print);
      this.#seconds.arm();
    });
    this.#takers = this.#rowTakers();
    this.#step();
  }

  stop(): void {
    this.#stopped = true;
    this.#paced.stop();
    this.#seconds.stop();
  }

  #step(): void {
    const now = this.#paced.now();
    const { length } = this.#tape;
    for (
      let rows = 0;
      this.#next < length && this.#timeOf(this.#next) <= now && rows < rowsPerTurn && !this.#stopped;
    ) {
      const at = this.#timeOf(this.#next);
      this.#together(() => {
        for (; this.#next < length && this.#timeOf(this.#next) === at && !this.#stopped; rows++)
          this.#apply(this.#next++);
      });
      if (this.#next === length && this.#loop) this.#again();
    }
    this.#seconds.arm();
    if (this.#next < length) this.#paced.setTimer(Math.max(now, this.#timeOf(this.#next)), () => this.#step());
  }

  /** The market of an instant is shown before the orders it changed. */
  #together(change: () => void): void {
    this.#venue.together(() => {
      change();
      this.#shown.flush();
    });
  }

  #apply(index: number): void {
    if (index === 0 && this.#round > 0) {
      this.#shown.rewind();
      this.#takers = this.#rowTakers();
    }
    const { order, series } = this.#tape;
    const which = order.series[index] as number;
    const row = order.row[index] as number;
    (this.#takers[which] as RowTaker)(row, 0);
    const minute = this.#minutes.get(series[which]?.instrument ?? -1);
    if (minute === undefined || series[which] !== minute.series) return;
    this.#bars[minute.series.instrument]?.closed(minute.series, row, this.#timeOf(index) - minuteMs, this.#clock.now());
    minute.row = row + 1;
  }

  #again(): void {
    this.#next = 0;
    this.#round++;
    this.#shiftMs += this.#periodMs;
    for (const minute of this.#minutes.values()) minute.row = 0;
  }

  #rowTakers(): readonly RowTaker[] {
    return rowTakers(this.#tape, this.#shown.venue, this.#between, 0);
  }

  #timeOf(index: number): number {
    return timeAt(this.#tape, index) + this.#shiftMs;
  }
}

const shownWith = (clock: Clock, show: (print: () => void) => void): Clock => ({
  now: clock.now,
  wallNow: clock.wallNow,
  setTimer: (at, run) => clock.setTimer(at, () => show(run)),
});

const speedMax = 10_000;
/** Number of rows after which other work gets a turn, even if the market is far behind. */
const rowsPerTurn = 2_000;

const checkOptions = (tape: Tape, venue: Venue, speed: number): void => {
  if (!(speed > 0 && speed <= speedMax)) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `serveMarket: speed is ${speed}; give a number above 0, at most ${speedMax}.`,
    );
  }
  for (const { instId } of tape.instruments) {
    if (venue.lists(instId)) continue;
    throw new SluiceError(
      "INSTRUMENT_UNKNOWN",
      `serveMarket: the tape has ${instId}, which the venue does not list. Create the venue with the tape's instruments.`,
    );
  }
};

/**
 * Time from the beginning of one round to that of the next: a first bar needs its time, and other rows their usual
 * distance.
 */
const periodOf = ({ series, startAt, endAt, length }: Tape, wholeMinutes: boolean): number => {
  const barMs = series.reduce((longest, one) => (one.kind === "candle" ? Math.max(longest, one.barMs) : longest), 0);
  const spanMs = endAt - startAt;
  const periodMs = spanMs + Math.max(1, barMs, length > 1 ? spanMs / (length - 1) : 1_000);
  return wholeMinutes ? toMinute(periodMs) : periodMs;
};

const toMinute = (ms: number): number => Math.ceil(ms / minuteMs) * minuteMs;

/**
 * Offset that is added to recorded instants so that the first row plays now, or as soon as recorded minutes end with
 * the clock's.
 */
const firstShift = ({ startAt }: Tape, minutes: RecordedMinutes | undefined, now: number): number => {
  if (minutes === undefined) return now - startAt;
  const recordedAt = minutes.series.at[0] as number;
  return toMinute(now + recordedAt - startAt) - recordedAt;
};

interface RecordedMinutes {
  readonly series: CandleSeries;
  /** The next row to close. */
  row: number;
  readonly opensAt: (at: number) => number | undefined;
}

const recordedMinutes = (tape: Tape, speed: number, shiftMs: () => number): ReadonlyMap<number, RecordedMinutes> => {
  const found = new Map<number, RecordedMinutes>();
  for (const series of speed === 1 ? tape.series : []) {
    if (
      series.kind !== "candle" ||
      series.barMs !== minuteMs ||
      series.at.length === 0 ||
      !isPlayed(series, tape.series)
    )
      continue;
    const minutes: RecordedMinutes = {
      series,
      row: 0,
      opensAt: (at) => {
        const closesAt = series.at[minutes.row];
        const opens = closesAt === undefined ? Number.POSITIVE_INFINITY : closesAt + shiftMs() - minuteMs;
        return at >= opens ? opens : undefined;
      },
    };
    found.set(series.instrument, minutes);
  }
  return found;
};

/** Updates the bars at every full second while one is running. */
class Seconds {
  readonly #clock: Clock;
  readonly #bars: readonly ReplayBars[];
  #timer: Timer | undefined;
  #stopped = false;

  constructor(clock: Clock, bars: readonly ReplayBars[]) {
    this.#clock = clock;
    this.#bars = bars;
  }

  arm(from = this.#clock.now()): void {
    if (this.#timer !== undefined || this.#stopped || !this.#bars.some(({ running }) => running)) return;
    const at = Math.floor(from / 1_000) * 1_000 + 1_000;
    this.#timer = this.#clock.setTimer(at, () => {
      this.#timer = undefined;
      const now = Math.max(at, this.#clock.now());
      for (const one of this.#bars) one.tick(now);
      this.arm(now);
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }
}
