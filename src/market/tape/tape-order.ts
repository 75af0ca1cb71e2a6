/**
 * Merges sorted columns of times once, so that replay is a walk along two arrays.
 *
 * Invariants: the result visits every row once, by time; rows of equal time come in the order of their columns.
 * Runs of one column are copied without touching the heap, so the cost is per change of column and not per row.
 */

export interface TapeOrder {
  /** Series of the event. */
  readonly series: Uint8Array | Uint16Array;
  /** Row of the event in its series. */
  readonly row: Uint32Array;
}

export const mergeOrder = (times: readonly Float64Array[]): TapeOrder => {
  const length = times.reduce((total, at) => total + at.length, 0);
  const series = times.length <= 256 ? new Uint8Array(length) : new Uint16Array(length);
  const row = new Uint32Array(length);
  const heads = new Float64Array(times.length);
  const next = new Uint32Array(times.length);
  const heap = times.flatMap((at, index) => (at.length > 0 ? [index] : []));
  for (const index of heap) heads[index] = times[index]?.[0] ?? 0;
  for (let slot = (heap.length >> 1) - 1; slot >= 0; slot--) sink(heap, heads, slot);
  let out = 0;
  while (heap.length > 0) {
    const index = heap[0] as number;
    const at = times[index] as Float64Array;
    const rival = secondOf(heap, heads);
    let from = next[index] as number;
    const stop = runEnd(
      at,
      from,
      rival === undefined ? Number.POSITIVE_INFINITY : (heads[rival] as number),
      (rival ?? 0) > index,
    );
    // Runs are short where several instruments trade at once; a call to fill would cost more than the loop.
    for (; from < stop; out++) {
      series[out] = index;
      row[out] = from++;
    }
    next[index] = stop;
    if (stop < at.length) heads[index] = at[stop] as number;
    else heap[0] = heap.at(-1) as number;
    if (stop >= at.length) heap.pop();
    sink(heap, heads, 0);
  }
  return { series, row };
};

/** The row at which the column no longer comes before an event at `limit`; a tie is won when `winsTies`. */
const runEnd = (at: Float64Array, from: number, limit: number, winsTies: boolean): number => {
  if (limit === Number.POSITIVE_INFINITY) return at.length;
  let stop = from + 1;
  if (winsTies) while (stop < at.length && (at[stop] as number) <= limit) stop++;
  else while (stop < at.length && (at[stop] as number) < limit) stop++;
  return stop;
};

const before = (a: number, b: number, heads: Float64Array): boolean => {
  const difference = (heads[a] as number) - (heads[b] as number);
  return difference < 0 || (difference === 0 && a < b);
};

const secondOf = (heap: readonly number[], heads: Float64Array): number | undefined => {
  const left = heap[1];
  const right = heap[2];
  return left !== undefined && right !== undefined && before(right, left, heads) ? right : left;
};

const sink = (heap: number[], heads: Float64Array, from: number): void => {
  let slot = from;
  for (;;) {
    let child = 2 * slot + 1;
    if (child >= heap.length) return;
    if (child + 1 < heap.length && before(heap[child + 1] as number, heap[child] as number, heads)) child++;
    if (!before(heap[child] as number, heap[slot] as number, heads)) return;
    [heap[slot], heap[child]] = [heap[child] as number, heap[slot] as number];
    slot = child;
  }
};
