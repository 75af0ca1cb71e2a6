/**
 * A series built from decimal text, on steps that are found from its values.
 *
 * Invariants: exact integers throughout; the steps divide every value and the steps that were given (their greatest
 * common divisor); a value that needs a count of 2^53 or more is refused, never rounded.
 * Not here: series on known steps (series-builder.ts), recordings of other programs (import-decimals.ts).
 */
import { SluiceError } from "../../errors.ts";
import { commonDivisor, decimalOf, priceColumns, quantityColumns } from "./common-step.ts";
import { columnNames, createTape, seriesOf, type Tape } from "./tape.ts";

/** Values of one row after its time: prices and quantities as plain digits with an optional fraction. */
export interface TextRow {
  readonly trade: readonly [side: 1 | -1, px: string, qty: string];
  readonly quote: readonly [bidPx: string, bidQty: string, askPx: string, askQty: string];
  readonly level: readonly [side: 1 | -1, px: string, qty: string, snapshot: 0 | 1];
  readonly candle: readonly [open: string, high: string, low: string, close: string, volume: string];
}

/** Rows of one kind of one instrument, in order of time. */
export interface TextSeries<K extends keyof TextRow> {
  /** Number of rows added. */
  readonly length: number;
  /** Adds a row at the instant `at`, in milliseconds since the epoch. A candle's instant is its close. */
  push(at: number, ...values: TextRow[K]): void;
}

/** Instrument and kind of a series of decimal text. */
export interface TextSeriesOf<K extends keyof TextRow> {
  readonly kind: K;
  readonly instId: string;
  /** Length of the bars; candles only. */
  readonly barMs?: number;
  /**
   * Price step of the instrument. A smaller one is used where a price needs it. Default: the largest that divides all
   * prices.
   */
  readonly tickSize?: string | undefined;
  /** The same for quantities. */
  readonly lotSize?: string | undefined;
  /** Name of the rows' source, for messages. */
  readonly place: string;
}

/** Counts of ten to the minus `places`, row by row. */
interface Decimals {
  readonly counts: number[];
  readonly places: number[];
}

/** An empty series, and `tape`, which returns its rows so far as a tape of one instrument. */
export const textSeries = <K extends keyof TextRow>(
  of: TextSeriesOf<K>,
): { readonly rows: TextSeries<K>; readonly tape: () => Tape } => {
  const { kind, instId, barMs = 0, tickSize, lotSize, place } = of;
  const at: number[] = [];
  const names: readonly string[] = columnNames[kind];
  const columns = names.map((name) => ({
    name,
    decimals: { counts: [], places: [] } as Decimals,
    numbers: [] as number[],
  }));
  const isText = (name: string): boolean => priceColumns.has(name) || quantityColumns.has(name);

  const push = (when: number, ...values: readonly (string | number)[]): void => {
    at.push(when);
    for (const [index, { name, decimals, numbers }] of columns.entries()) {
      const value = values[index];
      if (isText(name)) append(decimals, value, `${place}:${at.length}`, name);
      else numbers.push(value as number);
    }
  };
  const tape = (): Tape => {
    const ofNames = (chosen: ReadonlySet<string>): readonly Decimals[] =>
      columns.filter(({ name }) => chosen.has(name)).map(({ decimals }) => decimals);
    const prices = inOneStep(ofNames(priceColumns), { name: "tick size", place, given: tickSize });
    const quantities = inOneStep(ofNames(quantityColumns), { name: "lot size", place, given: lotSize });
    const typed = columns.map(({ name, decimals, numbers }) => {
      if (isText(name)) return prices.counts.get(decimals) ?? (quantities.counts.get(decimals) as Float64Array);
      return name === "snapshot" ? Uint8Array.from(numbers) : Int8Array.from(numbers);
    });
    const series = seriesOf(kind, 0, Float64Array.from(at), typed, barMs);
    return createTape([{ instId, tickSize: prices.step, lotSize: quantities.step }], [series]);
  };
  const rows: TextSeries<K> = {
    get length() {
      return at.length;
    },
    push,
  };
  return { rows, tape };
};

/** The whole part and the fraction without the zeros that end it, which would only waste precision. */
const plainDigits = /^(\d+)(?:\.(?!$)(\d*?)0*)?$/;

const append = ({ counts, places }: Decimals, text: unknown, place: string, name: string): void => {
  const [, whole, fraction = ""] = (typeof text === "string" ? plainDigits.exec(text) : undefined) ?? [];
  if (whole === undefined)
    throw new SluiceError(
      "IMPORT_INVALID",
      `${place}: "${name}" is ${JSON.stringify(text) ?? "missing"}; expected a decimal of plain digits that is not negative.`,
    );
  counts.push(Number(whole + fraction));
  places.push(fraction.length);
};

interface StepOptions {
  readonly name: "tick size" | "lot size";
  readonly place: string;
  readonly given: string | undefined;
}

/**
 * The columns as counts of the largest step that divides all their values and the given step; "1" where every value is
 * 0.
 */
const inOneStep = (columns: readonly Decimals[], { name, place, given }: StepOptions) => {
  const step: Decimals = { counts: [], places: [] };
  if (given !== undefined) append(step, given, place, name);
  const finest = [step, ...columns].reduce((most, { places }) => places.reduce((a, b) => Math.max(a, b), most), 0);
  const factors = Array.from({ length: finest + 1 }, (_, places) => 10 ** (finest - places));
  const whole = (count: number, places: number, row: number): number => {
    const scaled = count * (factors[places] as number);
    if (Number.isSafeInteger(scaled)) return scaled;
    throw new SluiceError(
      "IMPORT_INVALID",
      `${place}:${row + 1}: the values need a ${name} of 10^-${finest} and one of them is then beyond 2^53.`,
    );
  };
  const scaled = [step, ...columns].map((column) => {
    const { counts, places } = column;
    return { column, counts: Float64Array.from(counts, (count, row) => whole(count, places[row] as number, row)) };
  });
  const unit = scaled.reduce((divisor, { counts }) => counts.reduce(commonDivisor, divisor), 0);
  const divisor = unit === 0 ? 1 : unit;
  return {
    step: unit === 0 ? "1" : decimalOf(unit, finest),
    counts: new Map(scaled.map(({ column, counts }) => [column, counts.map((count) => count / divisor)])),
  };
};
