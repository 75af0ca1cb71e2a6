/**
 * Widths of a table's columns, on wide screens and on narrow ones.
 *
 * Invariants: pure; on a narrow screen columns that are `wide` are left out.
 */

/** Least widths of all columns, and of those on a narrow screen. */
export const leastWidths = (columns: readonly { width: number; narrow?: number; wide?: boolean }[]) => [
  columns.reduce((sum, { width }) => sum + width, 0),
  columns.reduce((sum, { width, narrow = width, wide = false }) => sum + (wide ? 0 : narrow), 0),
];

type Track = { width: number; narrow?: number; grow?: boolean };

/** Returns the column as on a narrow screen. */
export const narrowed = ({ width, narrow = width, grow = false }: Track): Track => ({ width: narrow, grow });

/** Tracks of the grid that each row is: one column takes the room that is left, or all share it. */
export const tracksOf = (columns: readonly Track[]) => {
  const someGrow = columns.some(({ grow }) => grow === true);
  return columns
    .map(({ width, grow }) =>
      someGrow && grow !== true ? `${width}px` : `minmax(${width}px, ${someGrow ? 1 : width}fr)`,
    )
    .join(" ");
};

export const classOf = ({ isText = false, wide = false }: { isText?: boolean; wide?: boolean }) =>
  `${isText ? "" : "n"}${wide ? " wide" : ""}`;
