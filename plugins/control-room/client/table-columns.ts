/**
 * Columns of tables: what a cell shows, what a column is sorted by, and its width.
 *
 * Invariants: decimal text has the exact figure in its title; a column is sorted by its value, not by its text.
 * Not here: the table (virtual-table.tsx), its grid (column-widths.ts).
 */
import { figure } from "../../ui-kit/client/texts.ts";

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
