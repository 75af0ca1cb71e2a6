/**
 * What a strategy's own operators cost: the same strategies on plain RxJS subjects, fed by a loop over the columns.
 *
 * Invariants: nothing of Sluice runs here; a row becomes one small object, as whoever hands values to operators has to make one.
 * Whatever plays a recording to streams has this to pay, and what is above it is the player's own.
 */
import { Subject } from "rxjs";

const rowsMax = 500_000;

/** Stands where the package does, for strategies that are only to be subscribed to. */
const plain = { defineStrategy: (definition) => () => definition };

class Row {
  #columns;
  #row;
  #at;
  constructor(columns, row, at) {
    this.#columns = columns;
    this.#row = row;
    this.#at = at;
  }
  get at() {
    return this.#at;
  }
  get closeFloat() {
    return this.#columns.px[this.#row] * 0.1;
  }
}

const columnsOf = (rows) => ({
  at: new Float64Array(rows).map((_, row) => row),
  px: new Float64Array(rows).map((_, row) => 600_000 + ((row * 7_919) % 401)),
});

/** Prepares passes over `rows` rows of all products together, `strategiesOf(plain)` looking on; a pass returns how many it handed out. */
export const bare = (rows, instIds, strategiesOf) => {
  const each = Math.floor(Math.min(rows, rowsMax) / instIds.length);
  return () => {
    const values$ = new Map(instIds.map((instId) => [instId, new Subject()]));
    const stream = (instId) => values$.get(instId);
    for (const { run } of strategiesOf(plain)) run({ market: { trades: stream, candles: stream } }).subscribe();
    const fed = instIds.map((instId) => ({ value$: stream(instId), columns: columnsOf(each) }));
    return () => {
      for (let row = 0; row < each; row++) {
        for (const { value$, columns } of fed) value$.next(new Row(columns, row, columns.at[row]));
      }
      return each * fed.length;
    };
  };
};
