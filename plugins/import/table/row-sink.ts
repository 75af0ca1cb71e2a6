/**
 * Destination of the rows of a file before they become series.
 */

import type { Column, Series } from "sluice/extension";
import type { Parsed } from "../import-decimals.ts";
import type { Role } from "./layout.ts";

/** A row whose instant was read. */
export interface RowValues {
  readonly at: number;
  readonly line: number;
  /** End of the bar, if a column contains it. */
  readonly endAt: number | undefined;
  /** Value of a quantity of one in base currency; undefined if that is one. */
  readonly unit: Parsed | undefined;
  /** The text of a column, "" where the file has none. */
  readonly cell: (role: Role) => string;
  /** Levels of a book, the best first: price and quantity as text. */
  readonly levels: (side: 1 | -1) => readonly (readonly [string, string])[];
}

export interface RowSink {
  push(row: RowValues): void;
  /** Series of instrument 0; ask when everything has been read. */
  series(): Series[];
}

/** The rows of a column at `places`, in their order; the column itself where these are undefined. */
export const inOrder = <C extends Column>(column: C, places: Uint32Array | undefined): C => {
  if (places === undefined) return column;
  const picked = new (column.constructor as new (length: number) => C)(places.length);
  for (let row = 0; row < places.length; row++) picked[row] = column[places[row] as number] as number;
  return picked;
};

/** A quantity in base currency. */
export const times = ({ count, places }: Parsed, unit: Parsed | undefined): Parsed =>
  unit === undefined ? { count, places } : { count: count * unit.count, places: places + unit.places };
