/**
 * A market that is fed by hand: rows as a test names them, played to the embedded service and to the strategies as a
 * recording is.
 *
 * Invariants: within one instant rows come first, then the bars that end, then deliveries, and timers last, as in a
 * backtest (backtest/player.ts); prices and quantities are exact decimal text on the steps of their instrument; nothing
 * is played before time moves.
 * Not here: the text form of rows (market-text.ts), who asks for time (engine-test.ts).
 */
import type { ServiceEnv } from "../../client/service-port.ts";
import { letPromisesSettle } from "../../clock/microtasks.ts";
import { createVirtualClock, type VirtualClock } from "../../clock/virtual-clock.ts";
import { compare, decimal, type Grid, grid } from "../../decimal.ts";
import { didYouMean, SluiceError } from "../../errors.ts";
import { createTape, type Series, seriesOf, type Tape, type TapeInstrument } from "../../market/tape/tape.ts";
import { createSimulated, type Simulated, type SimulatedOptions } from "../simulated-service.ts";

/**
 * Best bid and ask. Prices and quantities are decimal text, quantities in base currency and 1000 where they are left
 * out.
 */
export interface QuoteInput {
  readonly bidPx: string;
  readonly askPx: string;
  readonly bidQty?: string;
  readonly askQty?: string;
}

/** A public trade. `side` is the aggressor's; `qty` is in base currency. Decimal text. */
export interface TradeInput {
  readonly side: "buy" | "sell";
  readonly px: string;
  readonly qty: string;
}

/**
 * A finished bar, decimal text. `open` is the close of the bar before where it is left out, or `close`; `high` and
 * `low` are the outermost of the two; `volume` is 0.
 */
export interface CandleInput {
  readonly close: string;
  readonly open?: string;
  readonly high?: string;
  readonly low?: string;
  readonly volume?: string;
  /** Length of the bar in milliseconds. Default 60000. */
  readonly barMs?: number;
}

/** One row that has not reached the service: which series it belongs to, and its values in ticks and lots. */
interface Row {
  readonly at: number;
  readonly instrument: number;
  readonly kind: "quote" | "trade" | "candle";
  readonly barMs: number;
  readonly values: readonly number[];
}

interface Delivery {
  readonly tape: Tape;
  readonly at: number;
}

interface Steps {
  readonly instId: string;
  readonly index: number;
  readonly tick: Grid;
  readonly lot: Grid;
}

const infinity = Number.POSITIVE_INFINITY;
const qtyDefault = "1000";
const barMsDefault = 60_000;

export class HandMarket {
  readonly clock: VirtualClock;
  readonly simulated: Simulated;
  readonly #instruments: readonly TapeInstrument[];
  readonly #steps: ReadonlyMap<string, Steps>;
  /** Sorted by time; rows of one instant in the order in which they were fed. */
  readonly #rows: Row[] = [];
  readonly #due: Delivery[] = [];
  /** The bars fed last, by instrument and length. */
  readonly #bars = new Map<string, { readonly closedAt: number; readonly close: string }>();
  /** The lengths of bars that were fed, by instrument: each is a series of the tape from then on. */
  readonly #lengths = new Map<number, Set<number>>();
  #lastDue = Number.NEGATIVE_INFINITY;

  constructor(instruments: readonly TapeInstrument[], startAt: number, options: SimulatedOptions, env: ServiceEnv) {
    this.#instruments = instruments;
    this.#steps = new Map(
      instruments.map(({ instId, tickSize, lotSize }, index) => [
        instId,
        { instId, index, tick: grid(tickSize), lot: grid(lotSize) },
      ]),
    );
    this.clock = createVirtualClock(startAt);
    this.simulated = createSimulated(this.#tapeOf(undefined), this.clock, options, env);
  }

  quote(
    instId: string,
    { bidPx, askPx, bidQty = qtyDefault, askQty = qtyDefault }: QuoteInput,
    at = this.clock.now(),
  ): void {
    const { index, tick, lot } = this.#stepsOf(instId);
    const read = (name: string, value: string, step: Grid): number =>
      countOf(`quote of ${instId}, ${name}`, value, step);
    const values = [
      read("bidPx", bidPx, tick),
      read("bidQty", bidQty, lot),
      read("askPx", askPx, tick),
      read("askQty", askQty, lot),
    ];
    if (compare(bidPx, askPx) >= 0)
      throw invalid(`quote of ${instId}: the bid ${bidPx} is not below the ask ${askPx}. Swap them.`);
    this.#add({ at, instrument: index, kind: "quote", barMs: 0, values });
  }

  trade(instId: string, { side, px, qty }: TradeInput, at = this.clock.now()): void {
    const { index, tick, lot } = this.#stepsOf(instId);
    if (side !== "buy" && side !== "sell")
      throw invalid(`trade of ${instId}: side ${JSON.stringify(side)} is neither "buy" nor "sell".`);
    const values = [
      side === "buy" ? 1 : -1,
      countOf(`trade of ${instId}, px`, px, tick),
      countOf(`trade of ${instId}, qty`, qty, lot),
    ];
    this.#add({ at, instrument: index, kind: "trade", barMs: 0, values });
  }

  /** The next bar of its length: it closes at the next multiple of the length, after the one fed before it. */
  candle(instId: string, bar: CandleInput, at?: number): void {
    const { index, tick, lot } = this.#stepsOf(instId);
    const { barMs = barMsDefault, close, volume = "0" } = bar;
    if (!(Number.isSafeInteger(barMs) && barMs > 0))
      throw invalid(`candle of ${instId}: barMs is ${barMs}. Write whole milliseconds, such as 60000.`);
    const key = `${index} ${barMs}`;
    const before = this.#bars.get(key);
    const closedAt = at ?? (Math.floor(Math.max(this.clock.now(), before?.closedAt ?? 0) / barMs) + 1) * barMs;
    const { open = before?.close ?? close } = bar;
    const { high = higher(open, close), low = lower(open, close) } = bar;
    const read = (name: string, value: string, step: Grid): number =>
      countOf(`candle of ${instId}, ${name}`, value, step);
    const prices = Object.entries({ open, high, low, close }).map(([name, px]) => read(name, px, tick));
    if (compare(high, higher(open, close)) < 0 || compare(low, lower(open, close)) > 0) {
      throw invalid(
        `candle of ${instId}: open ${open} and close ${close} do not lie between low ${low} and high ${high}.`,
      );
    }
    this.#add({
      at: closedAt,
      instrument: index,
      kind: "candle",
      barMs,
      values: [...prices, read("volume", volume, lot)],
    });
    this.#bars.set(key, { closedAt, close });
    this.#lengths.set(index, (this.#lengths.get(index) ?? new Set()).add(barMs));
  }

  /**
   * Moves to `untilAt` and plays what is due on the way; before each step the promises of the code under test settle.
   */
  async advanceTo(untilAt: number): Promise<void> {
    const { clock } = this;
    for (;;) {
      await letPromisesSettle();
      if (Math.min(this.#nextAt(), clock.nextAt()) > untilAt) break;
      if (clock.nextAt() < this.#nextAt()) clock.step();
      else this.#step(this.#nextAt());
    }
    clock.advanceTo(Math.max(untilAt, clock.now()));
  }

  /** The tick and the lot of an instrument, for those who make prices from others. */
  stepsOf(instId: string): { readonly tickSize: string; readonly lotSize: string } {
    return this.#instruments[this.#stepsOf(instId).index] as TapeInstrument;
  }

  #stepsOf(instId: string): Steps {
    const steps = this.#steps.get(instId);
    if (steps !== undefined) return steps;
    const known = [...this.#steps.keys()];
    throw new SluiceError(
      "INSTRUMENT_UNKNOWN",
      `The test trades ${known.join(", ")} and not "${instId}".${didYouMean(instId, known)} Name it in the option instruments.`,
    );
  }

  #add(row: Row): void {
    const { clock } = this;
    if (!(row.at >= clock.now())) {
      throw invalid(
        `${row.kind} of ${this.#instruments[row.instrument]?.instId}: its time ${row.at - clock.now()} ms from now is past.`,
      );
    }
    const rows = this.#rows;
    let place = rows.length;
    while (place > 0 && (rows[place - 1] as Row).at > row.at) place--;
    rows.splice(place, 0, row);
  }

  /** Instant of the next row, bar or delivery. */
  #nextAt(): number {
    return Math.min(this.#rows[0]?.at ?? infinity, this.#due[0]?.at ?? infinity, this.simulated.feed.nextBarAt);
  }

  #step(at: number): void {
    const { clock, simulated } = this;
    const { feed } = simulated;
    clock.reach(at);
    if (this.#rows[0]?.at === at) this.#apply(this.#rows.shift() as Row);
    else if (feed.nextBarAt === at) feed.tick(at);
    else feed.deliver((this.#due.shift() as Delivery).tape, 0, at);
  }

  #apply(row: Row): void {
    const tape = this.#tapeOf(row);
    this.#lastDue = Math.max(this.#lastDue, row.at + this.simulated.feedMs());
    this.#due.push({ tape, at: this.#lastDue });
    this.simulated.follow(tape);
    this.simulated.apply(0, row.at);
  }

  /** A tape of one row, or of none, with every series there is: which bars are built from which depends on them. */
  #tapeOf(row: Row | undefined): Tape {
    const series = this.#instruments.flatMap((_, instrument): Series[] => [
      seriesWith("quote", instrument, 0, row),
      seriesWith("trade", instrument, 0, row),
      ...[...(this.#lengths.get(instrument) ?? [])].map((barMs) => seriesWith("candle", instrument, barMs, row)),
    ]);
    return createTape(this.#instruments, series);
  }
}

const widths = { quote: 4, trade: 3, candle: 5 } as const;

const seriesWith = (kind: Row["kind"], instrument: number, barMs: number, row: Row | undefined): Series => {
  const own = row?.kind === kind && row.instrument === instrument && row.barMs === barMs ? row : undefined;
  const at = Float64Array.from(own === undefined ? [] : [own.at]);
  const values = own?.values ?? [];
  const columns = Array.from({ length: widths[kind] }, (_, index) =>
    Float64Array.from(own === undefined ? [] : [values[index] as number]),
  );
  return seriesOf(kind, instrument, at, columns, barMs);
};

const countOf = (place: string, value: unknown, step: Grid): number => {
  const text = decimal(value, place);
  try {
    return step.parse(text);
  } catch (error) {
    throw invalid(`${place}: ${(error as Error).message}`);
  }
};

const higher = (a: string, b: string): string => (compare(decimal(a, "candle"), decimal(b, "candle")) > 0 ? a : b);
const lower = (a: string, b: string): string => (compare(decimal(a, "candle"), decimal(b, "candle")) < 0 ? a : b);

const invalid = (message: string): SluiceError => new SluiceError("CONFIG_INVALID", message);
