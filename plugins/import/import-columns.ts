/**
 * Columns that grow row by row while a recording is read.
 *
 * Invariants: values below `length` are unchanged when the column grows; values beyond it are undefined.
 * Not here: decimals that share a step (import-decimals.ts), columns that are checked as they grow
 * (market/tape/series-builder.ts).
 */
export interface Growing<C extends Float64Array | Int8Array | Uint8Array> {
  values: C;
  length: number;
}

const atFirst = 4_096;

/** An empty column that grows as rows are added, of the kind of array that is given. */
export const growing = <C extends Float64Array | Int8Array | Uint8Array>(
  kind: new (length: number) => C,
): Growing<C> => ({
  values: new kind(atFirst),
  length: 0,
});

/** Makes room for `rows` more. */
export const makeRoom = <C extends Float64Array | Int8Array | Uint8Array>(column: Growing<C>, rows: number): void => {
  const { values, length } = column;
  if (length + rows <= values.length) return;
  const larger = new (values.constructor as new (length: number) => C)(Math.max(4 * values.length, length + rows));
  larger.set(values);
  column.values = larger;
};

/** `value` at the end, `times` times. */
export const append = (
  column: Growing<Float64Array> | Growing<Int8Array> | Growing<Uint8Array>,
  value: number,
  times = 1,
): void => {
  makeRoom<Float64Array | Int8Array | Uint8Array>(column, times);
  const end = column.length + times;
  for (let row = column.length; row < end; row++) column.values[row] = value;
  column.length = end;
};

/** Returns a copy of the column's values without spare capacity. */
export const held = <C extends Float64Array | Int8Array | Uint8Array>({ values, length }: Growing<C>): C =>
  values.slice(0, length) as C;
