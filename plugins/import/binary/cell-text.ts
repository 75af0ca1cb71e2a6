/**
 * Values of binary files as the text of cells.
 *
 * Invariants: integers and decimals keep all digits; a float becomes the shortest text that is read as the same float,
 * of at most fifteen digits, because it cannot hold more digits of a decimal; instants become counts since the epoch;
 * missing values become empty cells.
 */

/** Returns the cell of a column in a row of the current batch. */
export type CellAt = (row: number) => string;

/**
 * Returns the decimal text of a scaled whole number of a column: a decimal of a file, or a fixed-point number of a
 * program.
 */
export const scaled = (count: bigint, places: number): string => {
  if (places <= 0) return String(count * 10n ** BigInt(-places));
  const digits = String(count < 0n ? -count : count).padStart(places + 1, "0");
  return `${count < 0n ? "-" : ""}${digits.slice(0, -places)}.${digits.slice(-places)}`;
};

/** Whole number in two's complement. */
export const wholeOf = (bytes: Uint8Array, order: "little" | "big"): bigint => {
  let value = 0n;
  for (let index = 0; index < bytes.length; index++) {
    value = (value << 8n) | BigInt(bytes[order === "big" ? index : bytes.length - 1 - index] as number);
  }
  return BigInt.asIntN(8 * bytes.length, value);
};

/** A float of 32 bits printed as one of 64 would show digits that it does not have. */
export const singleText = (value: number): string => {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return String(short);
  }
  return String(Number(value.toPrecision(9)));
};

/** Sums of floats have digits beyond the fifteenth that mean nothing: 42004.899999999994. */
export const floatText = (value: number): string => {
  const text = String(value);
  return text.length <= 16 ? text : String(Number(value.toPrecision(15)));
};

const decoder = new TextDecoder();

/** Any value that needs no type to be understood. */
export const plainText = (value: unknown): string => {
  if (typeof value === "number") return floatText(value);
  if (typeof value === "bigint" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return value.trim();
  return value instanceof Uint8Array ? decoder.decode(value).trim() : "";
};

export const ofPresent =
  (text: (value: unknown) => string) =>
  (value: unknown): string =>
    value === undefined || value === null ? "" : text(value);

export const dayMs = 86_400_000;

/**
 * Columns of fixed-point numbers as Nautilus stores them: 8 bytes with nine decimal places, or 16 bytes with sixteen.
 * Numbers that came from binary floats are rounded to the precision of their instrument. Undefined where `facts` of the
 * file contain no instrument.
 */
export const fixedPoint = (
  name: string,
  facts: ReadonlyMap<string, string>,
  width: number,
): ((bytes: Uint8Array) => string) | undefined => {
  const precision = facts.get(/size|volume/.test(name) ? "size_precision" : "price_precision");
  if (precision === undefined || (width !== 8 && width !== 16)) return undefined;
  const places = width === 8 ? 9 : 16;
  const step = 10n ** BigInt(Math.max(0, places - Number(precision)));
  return (bytes) => {
    const count = wholeOf(bytes, "little");
    return scaled(((count + step / 2n) / step) * step, places);
  };
};

/**
 * The name of a column; undefined for what pandas adds: an index without a name that only numbers the rows. One of
 * instants is their time.
 */
export const columnName = (name: string, isInstant: boolean): string | undefined => {
  if (!name.startsWith("__index_level_")) return name;
  return isInstant ? "datetime" : undefined;
};
