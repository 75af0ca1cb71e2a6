/**
 * Layout of a file of rows: its columns and their meaning. A layout is data without code, so that users can add one.
 *
 * Invariants: names of columns are compared without case, blanks, underscores and quotes.
 * Not here: the layouts that are known (layouts.ts), finding the one of a file (detect.ts).
 */

import { SluiceError } from "sluice";
import { messageOf, parseHuman } from "sluice/extension";

/** Meaning of a column. The roles that a layout must have follow from its rows: `rolesOf`. */
export type Role =
  | "time"
  | "exchangeTime"
  | "endTime"
  | "open"
  | "high"
  | "low"
  | "close"
  | "volume"
  | "baseVolume"
  | "price"
  | "qty"
  | "side"
  | "buyerIsMaker"
  | "id"
  | "bid"
  | "bidQty"
  | "ask"
  | "askQty"
  | "snapshot"
  | "symbol"
  | "exchange";

/**
 * A column of a file without a header that is left alone: anything, a number, a whole number, an instant, true or
 * false.
 */
type Unused = "?" | "?number" | "?count" | "?time" | "?flag";

/** The layout of a file of rows, for `importMarket({ layout })` and `sluice import --layout FILE`. */
export interface Layout {
  /** Name for `--layout` and messages, such as "binance-klines". */
  readonly name: string;
  /** Whose files these are, in words. */
  readonly about: string;
  /**
   * Kind of the rows. `book`: a whole order book, level by level; `changes`: one level of it, 0 where it is removed.
   */
  readonly rows: "candles" | "trades" | "quotes" | "book" | "changes";
  /**
   * The names a column may have in a header, the preferred ones first. `*` matches any text, `{base}` and `{quote}` for
   * the currencies of the instrument. In a `book` the names of `bid`, `bidQty`, `ask` and `askQty` hold a `#` for the
   * level, which counts from 0; or price and quantity have the same name, of a column that holds JSON: `[[price,
   * quantity], ...]`, the best first.
   */
  readonly columns?: Readonly<Partial<Record<Role, readonly string[]>>>;
  /** Names that only this layout's header has, to distinguish it from others. All of them must be present. */
  readonly marks?: readonly string[];
  /** The columns of a file without a header, in order. Left out: such a file is never of this layout. */
  readonly order?: readonly (Role | Unused)[];
  /** Candles: whether `time` is when a bar began (the default) or when it ended. */
  readonly timestamp?: "open" | "close";
  /**
   * A regular expression on the symbol, or on `exchange:symbol` where there is a column for both: quantities of those
   * that match count contracts, and a column `baseVolume` the base currency.
   */
  readonly contracts?: string;
  /** Texts of the first cell that mark rows below the header as no data. */
  readonly skip?: readonly string[];
  /**
   * Values of a column `side`, if they are not "buy" and "sell" or the like. Trades of a side in `none` are left out
   * and counted.
   */
  readonly sides?: Readonly<Partial<Record<Side, readonly string[]>>>;
  /** Prices are floats of 32 bits, printed with all their digits. */
  readonly singles?: boolean;
  /** Caution about these files, reported at every import. */
  readonly caution?: string;
}

type Side = "buy" | "sell" | "none";

const needed: Readonly<Record<Layout["rows"], readonly Role[]>> = {
  candles: ["time", "open", "high", "low", "close", "volume"],
  trades: ["time", "price", "qty"],
  quotes: ["time", "bid", "bidQty", "ask", "askQty"],
  book: ["time", "bid", "bidQty", "ask", "askQty"],
  changes: ["time", "side", "price", "qty"],
};

/** Returns the roles that rows of a kind require. A trade also needs a side, from either of two columns. */
export const rolesOf = (rows: Layout["rows"]): readonly Role[] => needed[rows];

/** Returns the name of a column without differences between writers: OKX once named columns in two languages. */
export const plainName = (name: string): string => {
  const slash = name.indexOf("/");
  const isTwofold = slash >= 0 && /[^ -~]/.test(name.slice(slash));
  return (isTwofold ? name.slice(0, slash) : name).toLowerCase().replaceAll(/[\s_<>"']/g, "");
};

const names = { type: "array", items: { type: "string", minLength: 1 }, minItems: 1 };
/** A column may have no name, as the index of pandas. */
const columnNames = { type: "array", items: { type: "string" }, minItems: 1 };
const roles: readonly Role[] = [...new Set(Object.values(needed).flat())];
const otherRoles: readonly Role[] = [
  "exchangeTime",
  "endTime",
  "baseVolume",
  "buyerIsMaker",
  "id",
  "snapshot",
  "symbol",
  "exchange",
];
const schema = {
  type: "object",
  required: ["name", "about", "rows"],
  additionalProperties: false,
  properties: {
    name: { type: "string", minLength: 1 },
    about: { type: "string" },
    rows: { enum: Object.keys(needed) },
    columns: {
      type: "object",
      additionalProperties: false,
      properties: Object.fromEntries([...roles, ...otherRoles].map((role) => [role, columnNames])),
    },
    marks: names,
    order: { ...names, items: { enum: [...roles, ...otherRoles, "?", "?number", "?count", "?time", "?flag"] } },
    timestamp: { enum: ["open", "close"] },
    contracts: { type: "string" },
    sides: { type: "object", additionalProperties: false, properties: { buy: names, sell: names, none: names } },
    skip: names,
    singles: { type: "boolean" },
    caution: { type: "string" },
  },
};

/** A layout that a user wrote, or `USAGE` with all that is wrong with it. */
export const checkedLayout = (value: unknown, place: string): Layout => {
  const layout = parseHuman<Layout>(schema, value, place, "USAGE");
  try {
    RegExp(layout.contracts ?? "");
  } catch (error) {
    throw new SluiceError(
      "USAGE",
      `${place}.contracts: ${JSON.stringify(layout.contracts)} is no regular expression (${messageOf(error)}).`,
    );
  }
  return layout;
};
