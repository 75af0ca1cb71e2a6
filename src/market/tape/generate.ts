/**
 * A made market: quotes that walk, spreads and sizes that vary, trades that come in clusters. For demonstrations and
 * tests.
 *
 * Invariants: whole-number arithmetic from a seed, so the same options give the same tape on every machine; the bid is
 * always below the ask; a trade prints at the quote it met and never for more than it displayed; an instrument's market
 * does not depend on which others are made together with it; made in parts it is the same market.
 * Not here: any claim that a strategy that earns on this earns anywhere else.
 */
import { parseInstId } from "../../contract/inst-id.ts";
import { grid } from "../../decimal.ts";
import { SluiceError } from "../../errors.ts";
import { createRandom, type Random } from "../../random.ts";
import { type SeriesBuilder, seriesBuilder } from "./series-builder.ts";
import { createTape, type Series, type Tape, type TapeInstrument } from "./tape.ts";

interface GeneratedInstrument extends TapeInstrument {
  /** First price, decimal text on the tick. */
  readonly startPx: string;
}

interface GenerateOptions {
  readonly seed: number | string;
  readonly instruments: readonly GeneratedInstrument[];
  readonly minutes: number;
  /** First instant, milliseconds since the epoch. */
  readonly startAt?: number;
  /** Quote changes a minute on average; trades are somewhat less than half as many. */
  readonly quotesPerMinute?: number;
  /** Minutes made, of how many; instrument after instrument, a day at a time. */
  readonly onProgress?: (done: number, all: number) => void;
}

const known: Readonly<Record<string, readonly [px: string, tickSize: string, lotSize: string]>> = {
  BTC: ["60000", "0.1", "0.001"],
  ETH: ["2600", "0.01", "0.01"],
  SOL: ["150", "0.01", "0.1"],
  XRP: ["0.55", "0.0001", "1"],
};

/**
 * Price, tick and lot that suit the base currency; 100 with hundredths for those without an entry.
 *
 * @param instId - such as "BTC-USDT-SWAP"
 * @returns an instrument for `generateTape`
 */
export const instrumentFor = (instId: string): GeneratedInstrument => {
  const [startPx, tickSize, lotSize] = known[parseInstId(instId, "generate").base] ?? ["100", "0.01", "0.01"];
  return { instId, startPx, tickSize, lotSize };
};

/** 2024-01-01T00:00:00Z, a whole minute so that bars begin with the data. */
export const defaultStartAt = 1_704_067_200_000;

const minutesAStep = 1_440;
const minutesMax = 60 * 24 * 366;
const perMinuteMax = 6_000;

/**
 * Makes a market by chance: trades, quotes, books and bars of the instruments, the same for the same seed.
 *
 * @param options - seed, instruments, length and pace
 * @returns the market
 */
export const generateTape = ({
  seed,
  instruments,
  minutes,
  startAt = defaultStartAt,
  quotesPerMinute = 120,
  onProgress,
}: GenerateOptions): Tape => {
  wholeIn("minutes", minutes, 1, minutesMax);
  return generateParts({ seed, instruments, minutes, startAt, quotesPerMinute, ...(onProgress && { onProgress }) })();
};

/**
 * A market made in parts: each call gives the next one. `prepare` makes one instrument of it ahead, so that no call
 * takes long.
 */
export interface MadeMarket {
  (): Tape;
  readonly prepare: () => void;
}

/** Makes the market `minutes` at a time, without end: what was played need not be kept. */
export const generateParts = ({
  seed,
  instruments,
  minutes,
  startAt = defaultStartAt,
  quotesPerMinute = 120,
  onProgress,
}: GenerateOptions): MadeMarket => {
  wholeIn("quotesPerMinute", quotesPerMinute, 1, perMinuteMax);
  wholeIn("startAt", startAt, 0, Number.MAX_SAFE_INTEGER);
  if (instruments.length === 0) throw new SluiceError("CONFIG_INVALID", "generate: name at least one instrument.");
  const random = createRandom(seed);
  const meanGapMs = Math.floor(60_000 / quotesPerMinute);
  const walks = instruments.map((instrument) =>
    createWalk(random.fork(instrument.instId), instrument, startAt, meanGapMs),
  );
  const listed = instruments.map(({ instId, tickSize, lotSize }) => ({ instId, tickSize, lotSize }));
  let endAt = startAt + minutes * 60_000;
  let made: Series[] = [];
  let count = 0;
  const prepare = (): void => {
    const walk = walks[count];
    if (walk === undefined) return;
    const quotes = seriesBuilder("quote", count);
    const trades = seriesBuilder("trade", count);
    for (let done = minutesAStep; done < minutes; done += minutesAStep) {
      walk(endAt - (minutes - done) * 60_000, quotes, trades);
      onProgress?.(count * minutes + done, walks.length * minutes);
    }
    walk(endAt, quotes, trades);
    made.push(quotes.series(), trades.series());
    count++;
  };
  const next = (): Tape => {
    while (count < walks.length) prepare();
    const tape = createTape(listed, made);
    made = [];
    count = 0;
    endAt += minutes * 60_000;
    return tape;
  };
  return Object.assign(next, { prepare });
};

const wholeIn = (name: string, value: number, from: number, to: number): void => {
  if (Number.isSafeInteger(value) && value >= from && value <= to) return;
  throw new SluiceError("CONFIG_INVALID", `generate: ${name} is ${value}; give a whole number from ${from} to ${to}.`);
};

interface Market {
  readonly random: Random;
  /** The largest usual move of the price between two quotes, ticks. */
  readonly unit: number;
  readonly floorPx: number;
  bidPx: number;
  spread: number;
  bidQty: number;
  askQty: number;
  /** 0 to 100: how busy it has been; trades heat, quiet cools. Heat shortens gaps, widens moves and breeds trades. */
  heat: number;
  /** The side that traded last: 1 bought, -1 sold. */
  lean: 1 | -1;
}

type Trades = Pick<SeriesBuilder<"trade">, "push">;

/** One instrument's market, which continues up to `endAt`. */
const createWalk = (random: Random, { startPx, tickSize }: GeneratedInstrument, startAt: number, meanGapMs: number) => {
  const start = grid(tickSize).parse(startPx);
  if (start < 100)
    throw new SluiceError("CONFIG_INVALID", `generate: a price of ${startPx} is fewer than 100 ticks of ${tickSize}.`);
  const unit = Math.max(1, Math.floor(start / 24_000));
  const market: Market = {
    random,
    unit,
    floorPx: Math.floor(start / 4),
    bidPx: start,
    spread: 1,
    bidQty: 0,
    askQty: 0,
    heat: 20,
    lean: 1,
  };
  let at = startAt;
  /** Trades before the next quote that come after the end of the part. */
  let late: Parameters<Trades["push"]>[] = [];
  return (endAt: number, quotes: SeriesBuilder<"quote">, trades: Trades): void => {
    const due: Trades = {
      push: (...trade) => {
        if (trade[0] < endAt) trades.push(...trade);
        else late.push(trade);
      },
    };
    const waiting = late;
    late = [];
    for (const trade of waiting) due.push(...trade);
    while (at < endAt) {
      requote(market);
      quotes.push(at, market.bidPx, market.bidQty, market.bidPx + market.spread, market.askQty);
      const next = at + gapMs(market, meanGapMs);
      burst(market, at, next, due);
      at = next;
    }
  };
};

const gapMs = ({ random, heat }: Market, meanMs: number): number =>
  Math.max(1, Math.floor((random.whole(1, 2 * meanMs) * 100) / (60 + 2 * heat)));

const requote = (market: Market): void => {
  const { random, unit, heat } = market;
  const before = market.bidPx;
  const emptied = market.bidQty === 0 ? -1 : market.askQty === 0 ? 1 : 0;
  if (emptied !== 0 || random.whole(1, 100) <= 40) {
    const reach = unit + Math.floor((unit * heat) / 50);
    const move = random.whole(-reach, reach) + (emptied === 0 ? 0 : emptied * random.whole(1, unit));
    market.bidPx = Math.max(market.floorPx, market.bidPx + move);
    const width = Math.max(2, Math.floor(reach / 2));
    market.spread = 1 + Math.min(random.whole(0, width), random.whole(0, width), random.whole(0, width));
  }
  const moved = market.bidPx !== before || emptied !== 0;
  if (moved || random.whole(0, 1) === 0) market.bidQty = sizeOf(random);
  if (moved || random.whole(0, 1) === 0) market.askQty = sizeOf(random);
  market.heat = Math.max(0, market.heat - 1 - (market.heat >> 4));
};

/** Mostly small, now and then many times larger. */
const sizeOf = (random: Random): number => random.whole(1, 400) * (random.whole(1, 8) === 1 ? random.whole(2, 12) : 1);

/** The trades that meet the quote of `at` before the next one at `until`. */
const burst = (market: Market, at: number, until: number, trades: Trades): void => {
  const { random } = market;
  if (random.whole(1, 100) > 12 + (market.heat >> 1)) return;
  if (random.whole(1, 100) > 65) market.lean = market.lean === 1 ? -1 : 1;
  const wanted = random.whole(1, 2 + (market.heat >> 4));
  let tradeAt = at;
  for (let count = 0; count < wanted; count++) {
    tradeAt += random.whole(1, 40);
    const displayed = market.lean === 1 ? market.askQty : market.bidQty;
    if (tradeAt >= until || displayed === 0) return;
    const qty = Math.min(displayed, Math.floor((sizeOf(random) + 1) / 2));
    if (market.lean === 1) market.askQty -= qty;
    else market.bidQty -= qty;
    trades.push(tradeAt, market.lean, market.lean === 1 ? market.bidPx + market.spread : market.bidPx, qty);
    market.heat = Math.min(100, market.heat + 6);
  }
};
