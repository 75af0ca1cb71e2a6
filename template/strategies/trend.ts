/**
 * Follows a trend with a stop: buys when a fast average of closing prices rises above a slow one, and sells what it
 * holds when the fast one falls below again. What it bought has a stop from its first fill on, which the engine holds.
 */
import { distinctUntilChanged, filter, map, type Observable, scan, zip } from "rxjs";
import { buy, defineStrategy, sell } from "sluice";

const average = (length: number) => (values$: Observable<number>) =>
  values$.pipe(
    scan((last: readonly number[], value) => [...last, value].slice(-length), []),
    map((last) => (last.length < length ? Number.NaN : last.reduce((sum, value) => sum + value, 0) / length)),
  );

export default defineStrategy({
  name: "trend",
  options: {
    type: "object",
    required: ["instId", "qty"],
    additionalProperties: false,
    properties: {
      instId: { description: "Instrument to trade.", type: "string", format: "inst-id" },
      qty: { description: "In base currency.", type: "string", format: "decimal" },
      barMs: { description: "Length of a bar in milliseconds.", type: "integer", minimum: 1000, default: 60000 },
      fast: { description: "Bars of the fast average.", type: "integer", minimum: 1, default: 3 },
      slow: { description: "Bars of the slow average.", type: "integer", minimum: 2, default: 8 },
      stopPct: {
        description: "Distance of the stop below the average price of the entry, in percent.",
        type: "string",
        format: "decimal",
        default: "0.25",
      },
    },
  },
  wanted: ({ market, options: { instId, qty, barMs, fast, slow, stopPct } }) => {
    const closes$ = market.candles(instId, barMs).pipe(map(({ closeFloat }) => closeFloat));
    const isUp$ = zip(closes$.pipe(average(fast)), closes$.pipe(average(slow))).pipe(
      filter(([quick, calm]) => !Number.isNaN(calm) && quick !== calm),
      map(([quick, calm]) => quick > calm),
      distinctUntilChanged(),
    );
    return isUp$.pipe(
      // Each crossing upwards begins a round of its own: an order that was filled is placed again only in another
      // round.
      scan(({ round }, isUp) => ({ isUp, round: isUp ? round + 1 : round }), { isUp: false, round: 0 }),
      filter(({ round }) => round > 0),
      map(({ isUp, round }) => {
        const protect = { stopLoss: { percent: stopPct } };
        if (isUp) return [buy({ slot: "entry", instId, ordType: "market", qty, round, protect })];
        // It sells at most what is held, and waits where the stop was faster.
        return [sell({ slot: "exit", instId, ordType: "market", qty, round, reduceOnly: true })];
      }),
    );
  },
});
