/**
 * Widths of a table's columns, on wide screens and on narrow ones.
 *
 * Invariants: pure; on a narrow screen columns that are `wide` are left out.
 */

/** Least widths of all columns, and of those on a narrow screen. @param {readonly { width: number, narrow?: number, wide?: boolean }[]} columns */
export const leastWidths = (columns) => [
  columns.reduce((sum, { width }) => sum + width, 0),
  columns.reduce((sum, { width, narrow = width, wide = false }) => sum + (wide ? 0 : narrow), 0),
];

/** @typedef {{ width: number, narrow?: number, grow?: boolean }} Track */

/** Returns the column as on a narrow screen. @param {Track} column @returns {Track} */
export const narrowed = ({ width, narrow = width, grow = false }) => ({ width: narrow, grow });

/** Tracks of the grid that each row is: one column takes the room that is left, or all share it. @param {readonly Track[]} columns */
export const tracksOf = (columns) => {
  const someGrow = columns.some(({ grow }) => grow === true);
  return columns
    .map(({ width, grow }) =>
      someGrow && grow !== true ? `${width}px` : `minmax(${width}px, ${someGrow ? 1 : width}fr)`,
    )
    .join(" ");
};

/** @param {{ isText?: boolean, wide?: boolean }} column */
export const classOf = ({ isText = false, wide = false }) => `${isText ? "" : "n"}${wide ? " wide" : ""}`;
