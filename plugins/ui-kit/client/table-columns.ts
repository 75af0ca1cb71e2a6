/**
 * Columns of tables: what a cell shows, what a column is sorted by, and its width on wide and narrow screens.
 *
 * Invariants: pure; decimal text has the exact figure in its title; a column is sorted by its value, not by its text; on
 * a narrow screen columns that are `wide` are left out.
 * Not here: the table (table.tsx).
 */
import { figure } from "./texts.ts";

/**
 * A column: `value` is what it is sorted by, `wide` leaves it out on narrow screens, `narrow` is its width there,
 * `grow` takes the room that is left; with `press` its text is that of a button, and no text no button.
 */
export type TableColumn<R> = {
  name: string;
  text: (row: R) => string;
  press?: (row: R) => void;
  value?: (row: R) => number | string;
  title?: (row: R) => string;
  tone?: (row: R) => string;
  isText?: boolean;
  wide?: boolean;
  width: number;
  narrow?: number;
  grow?: boolean;
  label?: string;
};

type Rest<R> = Partial<TableColumn<R>> & { width: number };

/** Column of words, sorted by them. */
export const words = <R>(name: string, text: (row: R) => string, rest: Rest<R>): TableColumn<R> => ({
  name,
  text,
  value: text,
  isText: true,
  ...rest,
});

/** Column of counts. */
export const counts = <R>(name: string, of: (row: R) => number, rest: Rest<R>): TableColumn<R> => ({
  name,
  text: (row) => figure(of(row)),
  value: of,
  ...rest,
});

/** Column of decimal text, which `show` formats. */
export const decimals = <R>(
  name: string,
  of: (row: R) => string | undefined,
  show: (text: string | undefined) => string,
  rest: Rest<R>,
): TableColumn<R> => ({
  name,
  text: (row) => show(of(row)),
  value: (row) => Number(of(row) ?? 0),
  title: (row) => of(row) ?? "",
  ...rest,
});

type Track = { width: number; narrow?: number; grow?: boolean };

const sumOf = (tracks: readonly Track[]) => tracks.reduce((sum, { width }) => sum + width, 0);

/** Tracks of the grid that each row is: one column takes the room that is left, or all share it. */
const tracksOf = (columns: readonly Track[]) => {
  const someGrow = columns.some(({ grow }) => grow === true);
  return columns
    .map(({ width, grow }) =>
      someGrow && grow !== true ? `${width}px` : `minmax(${width}px, ${someGrow ? 1 : width}fr)`,
    )
    .join(" ");
};

/** Style properties with the least width of a table and its tracks, of all columns and of those on a narrow screen. */
export const widthsOf = (columns: readonly (Track & { wide?: boolean })[]) => {
  const narrowed = columns
    .filter(({ wide }) => wide !== true)
    .map(({ width, narrow = width, grow = false }) => ({ width: narrow, grow }));
  return {
    "--least": `${sumOf(columns)}px`,
    "--narrow": `${sumOf(narrowed)}px`,
    "--cols": tracksOf(columns),
    "--ncols": tracksOf(narrowed),
  };
};
