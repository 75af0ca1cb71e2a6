/**
 * Follows two moving averages of closing prices: long while the fast one is above the slow one, short while it is
 * below. Each crossing sends one market order that turns the position; the first only opens it.
 */
import { distinctUntilChanged, filter, map, type Observable, pairwise, scan, startWith, zip } from "rxjs";
import { buy, defineStrategy, mul, sell } from "sluice";

const average = (length: number) => (values$: Observable<number>) =>
  values$.pipe(
    scan((last, value) => [...last, value].slice(-length), [] as number[]),
    map((last) => (last.length < length ? Number.NaN : last.reduce((sum, value) => sum + value, 0) / length)),
  );

export default defineStrategy({
  name: "average-cross",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      instId: {
        description: "Instrument to trade; the first that the service lists when left out.",
        type: "string",
        format: "inst-id",
      },
      barMs: { description: "Length of a bar in milliseconds.", type: "integer", minimum: 1000, default: 60000 },
      fast: { description: "Bars of the fast average.", type: "integer", minimum: 1, default: 10 },
      slow: { description: "Bars of the slow average.", type: "integer", minimum: 2, default: 30 },
      qty: {
        description: "Size of the position, in base currency.",
        type: "string",
        format: "decimal",
        default: "0.01",
      },
    },
  },
  wanted: ({ market, listed, options: { instId = listed()[0]?.instId ?? "", barMs, fast, slow, qty } }) => {
    const closes$ = market.candles(instId, barMs).pipe(map(({ closeFloat }) => closeFloat));
    return zip(closes$.pipe(average(fast)), closes$.pipe(average(slow))).pipe(
      filter(([quick, calm]) => !Number.isNaN(calm) && quick !== calm),
      map(([quick, calm]) => quick > calm),
      distinctUntilChanged(),
      startWith(undefined),
      pairwise(),
      map(([before, up], round) => {
        const turn = up === true ? buy : sell;
        return [
          turn({ slot: "position", instId, ordType: "market", qty: before === undefined ? qty : mul(qty, "2"), round }),
        ];
      }),
    );
  },
});
