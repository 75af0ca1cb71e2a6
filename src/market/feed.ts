/**
 * Delivers a tape as streams: the market as strategies see it.
 *
 * Invariants: one stream per instrument and kind, reached through a table and never by filtering; an object is built
 * only when it has a subscriber; `at` of what is emitted is the instant of delivery, except that a bar carries the
 * instant it closed; deliveries come in tape order at instants that do not fall.
 * Bars: recorded ones of the grid asked for; else built from the longest recorded ones that fit into it; else built
 * from trades. A bar built from trades is emitted before the first event delivered at or past its end, or by `tick`;
 * one built from recorded bars when the recorded bar that ends it is delivered, after a gap like one from trades. See
 * bars.ts for the rest.
 * Books: a new subscriber gets the latest book; rows of one instant are one change.
 * Not here: when to deliver (backtest/runner.ts), reading files (market/tape/fixture.ts).
 */
import { parseInstId } from "../contract/inst-id.ts";
import { assert, didYouMean, SluiceError } from "../errors.ts";
import type { Bars } from "./bars.ts";
import { askedBars } from "./calendar/bar-calendar.ts";
import { Channel, type Route } from "./channel.ts";
import type { PrintedMarket } from "./last-quotes.ts";
import type { CandleSeries, Series, Tape, TapeInstrument } from "./tape/tape.ts";
import { scaleOf } from "./views.ts";

interface FeedOptions {
  /** Called with what a subscriber threw; the other subscribers run on. */
  readonly onError?: (error: unknown) => void;
  /**
   * Milliseconds to add to a recorded instant to reach the engine's clock; dates recorded bars when a tape is replayed
   * later.
   */
  readonly shiftMs?: number;
  /** Levels a side in each emitted book; all of them when left out. */
  readonly bookDepth?: number;
}

/** A market to which rows of a tape are delivered one by one. */
export interface Feed extends PrintedMarket {
  /** Delivers the event at `index` of the tape's order; `at` is the instant of delivery on the engine's clock. */
  deliver(tape: Tape, index: number, at: number): void;
  /**
   * The route of each series of the tape, for a caller that observes `nextBarAt` itself. The array stays, its entries
   * may change.
   */
  routesOf(tape: Tape): readonly Route[];
  /** Emits the bars that have ended by `at`, for times in which nothing is delivered. */
  tick(at: number): void;
  /** Time at which `tick` next has work; infinite while no bar is being built from trades. */
  readonly nextBarAt: number;
  complete(): void;
}

/**
 * Makes a market of which a caller delivers the rows.
 *
 * @param instruments - products with tick and lot size
 * @param options - where errors of subscribers go, shift of times, depth of books
 * @returns streams for the engine, and functions that take rows
 */
export const createFeed = (instruments: readonly TapeInstrument[], options: FeedOptions = {}): Feed => {
  const { shiftMs = 0 } = options;
  const channels = new Map(
    instruments.map((instrument) => [instrument.instId, new Channel(scaleOf(instrument), options)]),
  );
  let current: Tape | undefined;
  const routes: Route[] = [];
  let built: readonly Bars[] = [];
  let completed = false;

  const opened = (closesAt: number): void => {
    if (closesAt < feed.nextBarAt) feed.nextBarAt = closesAt;
  };
  const route = (tape: Tape): void => {
    for (const instrument of tape.instruments) checkSteps(instrument, instruments);
    const channelFor = (series: Series): Channel => channelOf(tape.instruments[series.instrument]?.instId ?? "");
    for (const [instId, channel] of channels) channel.bind(recordedBars(tape, instId), tape.startAt + shiftMs, shiftMs);
    routes.length = 0;
    for (const series of tape.series) routes.push(channelFor(series).route(series, shiftMs, opened));
    built = [...channels.values()].flatMap((channel) => [...channel.bars]);
    current = tape;
  };
  const channelOf = (instId: string): Channel => {
    const channel = channels.get(instId);
    if (channel !== undefined) return channel;
    throw unknownInstrument(instId, [...channels.keys()]);
  };
  const tick = (at: number): void => {
    if (at < feed.nextBarAt) return;
    const due = built.filter(({ dueAt }) => dueAt <= at).sort((a, b) => a.dueAt - b.dueAt);
    for (const bars of due) bars.emit();
    feed.nextBarAt = built.reduce((earliest, { dueAt }) => Math.min(earliest, dueAt), Number.POSITIVE_INFINITY);
  };
  // A plain property and no getter, which would give every feed a shape of its own.
  const feed: Feed & { nextBarAt: number } = {
    nextBarAt: Number.POSITIVE_INFINITY,
    trades: (instId) => channelOf(instId).trades,
    prints: (instId) => channelOf(instId).prints,
    quotes: (instId) => channelOf(instId).quotes,
    books: (instId) => channelOf(instId).book.stream,
    candles: (instId, length, options) => {
      const channel = channelOf(instId);
      const bars = channel.barsOf(askedBars(length, options));
      if (completed) bars.stream.complete();
      // A length asked for while the tape runs must be bound to its source.
      else if (current !== undefined) route(current);
      return bars.stream;
    },
    lastPx: (instId) => channelOf(instId).lastPx,
    routesOf: (tape) => {
      if (tape !== current) route(tape);
      return routes;
    },
    deliver: (tape, index, at) => {
      if (tape !== current) route(tape);
      if (at >= feed.nextBarAt) tick(at);
      (routes[tape.order.series[index] as number] as Route).take(tape.order.row[index] as number, at);
    },
    tick,
    complete: () => {
      completed = true;
      for (const channel of channels.values()) channel.complete();
    },
  };
  return feed;
};

/** Throws itself where the name is none of an instrument. */
const unknownInstrument = (instId: string, known: readonly string[]): SluiceError => {
  parseInstId(instId, "market data");
  return new SluiceError(
    "INSTRUMENT_UNKNOWN",
    `Market data: there is none for "${instId}"; there is for ${known.join(", ") || "no instrument"}.${didYouMean(instId, known)}`,
  );
};

const recordedBars = (tape: Tape, instId: string): readonly CandleSeries[] =>
  tape.series.filter(
    (series): series is CandleSeries =>
      series.kind === "candle" && tape.instruments[series.instrument]?.instId === instId,
  );

/** Counts of one step read as counts of another would be wrong prices that look right. */
const checkSteps = ({ instId, tickSize, lotSize }: TapeInstrument, known: readonly TapeInstrument[]): void => {
  const own = known.find((instrument) => instrument.instId === instId);
  const same = own === undefined || (own.tickSize === tickSize && own.lotSize === lotSize);
  assert(same, `the tape counts ${instId} in steps of ${tickSize} and ${lotSize}, as the feed does`);
};
