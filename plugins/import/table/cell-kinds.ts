/**
 * Kinds of cells by their text, and decimals as written by programs.
 *
 * Invariants: nothing is rounded: an exponent is written out in digits.
 */
import { microsecondsOf } from "../import-instants.ts";
import type { Layout, Role } from "./layout.ts";

const numeric = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

export const isNumeric = (text: string): boolean => numeric.test(text);

const scientific = /^(\d+)\.?(\d*)e([+-]?\d{1,3})$/i;

/**
 * `1.2e-7` as `0.00000012`, `.5` as `0.5`, `7.` as `7`; any other text as it is, to be refused or not by who reads it.
 */
export const plainDigits = (text: string): string => {
  const last = text.charCodeAt(text.length - 1);
  // Most texts are these; a pattern would cost as much as reading the number.
  if (text.charCodeAt(0) !== 46 && last !== 46 && !text.includes("e") && !text.includes("E")) return text;
  const match = scientific.exec(text);
  if (match === null) return text.replace(/^\.(?=\d)/, "0.").replace(/\.$/, "");
  const [, whole = "", fraction = "", exponent = "0"] = match;
  const shift = Number(exponent);
  const digits = shift < 0 ? whole.padStart(1 - shift, "0") + fraction : whole + fraction.padEnd(shift, "0");
  const point = (shift < 0 ? Math.max(whole.length, 1 - shift) : whole.length) + shift;
  const [before, after] = [digits.slice(0, point).replace(/^0+(?=\d)/, ""), digits.slice(point)];
  return after === "" ? before : `${before}.${after}`;
};

/** Returns true if the text, in place of a price, marks a row as empty. */
export const isBlank = (text: string): boolean => /^(null|nan|none|n\/a)?$/i.test(text);

export const flagOf = (text: string): boolean | undefined => {
  if (/^(true|t|1|yes)$/i.test(text)) return true;
  return /^(false|f|0|no)$/i.test(text) ? false : undefined;
};

/** 1 bought, or a bid; -1 sold, or an ask. */
export const sideOf = (text: string): 1 | -1 | undefined => {
  if (/^(buy|b|bid|bids|long|1)$/i.test(text)) return 1;
  return /^(sell|s|ask|asks|a|offer|short|-1)$/i.test(text) ? -1 : undefined;
};

type Column = NonNullable<Layout["order"]>[number];

const isTime = (text: string): boolean => microsecondsOf(text) !== undefined;
const isWhole = (text: string): boolean => /^\d+$/.test(text);
const isFlag = (text: string): boolean => /^(true|false)$/i.test(text);
const isPrice = (text: string): boolean => isNumeric(text) && Number(text) > 0;
const isQty = (text: string): boolean => isNumeric(text) && Number(text) >= 0;

/** Tests for cells of columns in files without a header; cells of all other columns must be numbers. */
const looks: Readonly<Partial<Record<Column, (text: string) => boolean>>> = {
  time: isTime,
  endTime: isTime,
  exchangeTime: isTime,
  "?": () => true,
  "?time": isTime,
  "?count": isWhole,
  "?flag": isFlag,
  id: (text) => text !== "" && !isFlag(text),
  buyerIsMaker: isFlag,
  snapshot: isFlag,
  side: (text) => sideOf(text) !== undefined && !isWhole(text),
  symbol: (text) => /[a-z]/i.test(text),
  exchange: (text) => /[a-z]/i.test(text),
  open: isPrice,
  high: isPrice,
  low: isPrice,
  close: isPrice,
  price: isPrice,
};

const looksLike = (column: Column, text: string): boolean => (looks[column] ?? isQty)(text);

/**
 * Returns true if a row without a header can have this order of columns, by its cells and by the relations between
 * them.
 */
export const canBe = (order: readonly Column[], cells: readonly string[]): boolean => {
  if (cells.length !== order.length || !order.every((column, index) => looksLike(column, cells[index] as string)))
    return false;
  const value = (role: Role): number => Number(cells[order.indexOf(role)]);
  if (order.includes("high")) {
    const inner = [value("open"), value("close")];
    return value("low") <= Math.min(...inner) && Math.max(...inner) <= value("high");
  }
  return !order.includes("bid") || value("bid") <= value("ask") || value("askQty") === 0;
};
