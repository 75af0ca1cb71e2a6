/**
 * Plays a tape to a venue and its board, so that strangers can connect to a recorded or made market.
 *
 * Invariants: the first row plays at once and the others keep their distance, divided by the speed; what is shown is dated on the
 * clock, so that a client sees a market of its own time at any speed; the market of an instant is shown before the orders it changed;
 * one timer waits for the next row and one for the bars;
 * after `stop` nothing is played and no timer is left; when a tape that is not looped has ended, what it showed last stays.
 * Bars shown begin with the clock's minutes. Recorded ones of a minute are shown as such where nothing finer was recorded and the
 * speed is 1; the first row then waits for the minute that lets its bar end with one. All others are made of the trades shown.
 * Not here: deliveries to strategies (backtest/paper-player.ts), sockets (venue/server/).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import { SluiceError } from "../../errors.ts";
import type { CandleSeries, Tape } from "../../market/tape/tape.ts";
import type { PublicChannels } from "../../venue/server/public-channels.ts";
import type { Venue } from "../../venue/venue.ts";
import { isPlayed } from "../candle-prints.ts";
import { type RowTaker, rowTakers } from "../row-dispatch.ts";
import { minuteMs, ReplayBars } from "./replay-bars.ts";
import { createReplayFeed } from "./replay-feed.ts";
import { createScaledClock } from "./scaled-clock.ts";

export interface MarketReplayOptions {
  /** How many times faster than recorded. Default 1. */
  readonly speed?: number;
  /** Whether the tape begins again at its end. Default false. */
  readonly loop?: boolean;
}

/** `clock` is the one the venue runs on; the venue lists the tape's instruments with the tape's steps. */
export const replayMarket = (
  tape: Tape,
  venue: Venue,
  board: PublicChannels,
  clock: Clock,
  options: MarketReplayOptions = {},
): { stop(): void } => {
  const { speed = 1, loop = false } = options;
  checkOptions(tape, venue, speed);
  const paced = createScaledClock(clock, speed);
  const { series: seriesIn, row: rowIn } = tape.order;
  let shiftMs = 0;
  let next = 0;
  let round = 0;
  let stopped = false;
  const bars: ReplayBars[] = [];
  const minutes = recordedMinutes(tape, speed, () => shiftMs);
  const periodMs = periodOf(tape, minutes.size > 0);
  shiftMs = firstShift(tape, [...minutes.values()][0], clock.now());
  const shown = createReplayFeed(tape, venue, board, clock, (scale, instrument) => {
    const one = new ReplayBars(scale, (bar, at) => board.candle(bar, at), minutes.get(instrument)?.opensAt);
    bars.push(one);
    return one;
  });
  const seconds = createSeconds(clock, bars);
  /** What a bar prints between rows is shown like a row. */
  const between = shownWith(paced, (print) => {
    venue.together(() => {
      print();
      shown.flush();
    });
    seconds.arm();
  });
  const takers = (): readonly RowTaker[] => rowTakers(tape, shown.venue, between, 0);
  let takersNow = takers();

  const timeOf = (index: number): number => timeIn(tape, index) + shiftMs;
  const apply = (index: number): void => {
    if (index === 0 && round > 0) {
      shown.rewind();
      takersNow = takers();
    }
    const series = seriesIn[index] as number;
    const row = rowIn[index] as number;
    (takersNow[series] as RowTaker)(row, 0);
    const minute = minutes.get(tape.series[series]?.instrument ?? -1);
    if (minute !== undefined && tape.series[series] === minute.series) {
      bars[minute.series.instrument]?.closed(minute.series, row, timeOf(index) - minuteMs, clock.now());
      minute.row = row + 1;
    }
  };
  const again = (): void => {
    next = 0;
    round++;
    shiftMs += periodMs;
    for (const minute of minutes.values()) minute.row = 0;
  };
  const step = (): void => {
    const now = paced.now();
    for (let rows = 0; next < tape.length && timeOf(next) <= now && rows < rowsPerTurn && !stopped; ) {
      const at = timeOf(next);
      venue.together(() => {
        for (; next < tape.length && timeOf(next) === at && !stopped; rows++) apply(next++);
        shown.flush();
      });
      if (next === tape.length && loop) again();
    }
    seconds.arm();
    if (next < tape.length) paced.setTimer(Math.max(now, timeOf(next)), step);
  };
  step();
  return {
    stop: () => {
      stopped = true;
      paced.stop();
      seconds.stop();
    },
  };
};

const shownWith = (clock: Clock, show: (print: () => void) => void): Clock => ({
  ...clock,
  setTimer: (at, run) => clock.setTimer(at, () => show(run)),
});

const speedMax = 10_000;
/** After so many rows others get a turn, however far behind the market is. */
const rowsPerTurn = 2_000;

const checkOptions = (tape: Tape, venue: Venue, speed: number): void => {
  if (!(speed > 0 && speed <= speedMax)) {
    throw new SluiceError("CONFIG_INVALID", `serveMarket: speed is ${speed}; give a number above 0, at most ${speedMax}.`);
  }
  for (const { instId } of tape.instruments) {
    if (venue.lists(instId)) continue;
    throw new SluiceError(
      "INSTRUMENT_UNKNOWN",
      `serveMarket: the tape has ${instId}, which the venue does not list. Create the venue with the tape's instruments.`,
    );
  }
};

const timeIn = (tape: Tape, index: number): number =>
  (tape.series[tape.order.series[index] as number] as { at: Float64Array }).at[tape.order.row[index] as number] as number;

/** From the beginning of one round to that of the next: a first bar needs its time too, and other rows their usual distance. */
const periodOf = ({ series, startAt, endAt, length }: Tape, wholeMinutes: boolean): number => {
  const barMs = series.reduce((longest, one) => (one.kind === "candle" ? Math.max(longest, one.barMs) : longest), 0);
  const spanMs = endAt - startAt;
  const periodMs = spanMs + Math.max(1, barMs, length > 1 ? spanMs / (length - 1) : 1_000);
  return wholeMinutes ? toMinute(periodMs) : periodMs;
};

const toMinute = (ms: number): number => Math.ceil(ms / minuteMs) * minuteMs;

/** What to add to recorded instants so that the first row plays now, or as soon as recorded minutes end with the clock's. */
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
    if (series.kind !== "candle" || series.barMs !== minuteMs || series.at.length === 0 || !isPlayed(series, tape.series)) continue;
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

/** Turns to the bars at every full second, as long as one is running. */
const createSeconds = (clock: Clock, bars: readonly ReplayBars[]): { arm(): void; stop(): void } => {
  let timer: Timer | undefined;
  let stopped = false;
  const arm = (from = clock.now()): void => {
    if (timer !== undefined || stopped || !bars.some(({ running }) => running)) return;
    const at = Math.floor(from / 1_000) * 1_000 + 1_000;
    timer = clock.setTimer(at, () => {
      timer = undefined;
      const now = Math.max(at, clock.now());
      for (const one of bars) one.tick(now);
      arm(now);
    });
  };
  return {
    arm: () => {
      arm();
    },
    stop: () => {
      stopped = true;
      timer?.cancel();
    },
  };
};
