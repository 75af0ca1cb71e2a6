/**
 * Follows a trend with a stop: buys when a fast average of closing prices rises above a slow one, and sells what it holds when the
 * fast one falls below again or the bid touches the stop, whichever comes first.
 */
import { distinctUntilChanged, filter, map, merge, type Observable, scan, zip } from "rxjs";
import { compare, defineStrategy, div, mul, sub, type WantedOrder } from "sluice";

/** Where the strategy stands; `round` counts its trades. */
export interface State {
  readonly long: boolean;
  readonly round: number;
  readonly stopPx: string;
}

export const flat: State = { long: false, round: 0, stopPx: "0" };

/** What it hears: a crossing of the averages at a closing price, or the best bid. Prices are decimal text. */
export type Heard =
  | { readonly kind: "crossing"; readonly up: boolean; readonly px: string }
  | { readonly kind: "bid"; readonly px: string };

/** The decision, as a plain function: easy to read, and to test without a market. */
export const next = (state: State, heard: Heard, stopPct: string): State => {
  if (heard.kind === "bid") return state.long && compare(heard.px, state.stopPx) <= 0 ? { ...state, long: false } : state;
  if (heard.up === state.long) return state;
  if (!heard.up) return { ...state, long: false };
  const kept = sub("1", div(stopPct, "100", 8));
  return { long: true, round: state.round + 1, stopPx: mul(heard.px, kept) };
};

/**
 * The orders wanted in a state. The set replaces the one before: in leaving, what is left of the entry is withdrawn.
 * The exit is `reduceOnly`: it sells at most what is held, so an entry that was filled only in part is closed and never turned
 * into a short. If the service rejects or cuts it, it is placed again while a position is held.
 */
export const wanted = ({ long, round }: State, instId: string, qty: string): readonly WantedOrder[] => {
  if (round === 0) return [];
  const order = { instId, ordType: "market", qty, round } as const;
  return long ? [{ slot: "entry", side: "buy", ...order }] : [{ slot: "exit", side: "sell", reduceOnly: true, ...order }];
};

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
      instId: { type: "string", format: "inst-id" },
      /** In base currency. */
      qty: { type: "string", format: "decimal" },
      barMs: { type: "integer", minimum: 1000, default: 60000 },
      fast: { type: "integer", minimum: 1, default: 3 },
      slow: { type: "integer", minimum: 2, default: 8 },
      /** Distance of the stop below the price of the entry, in percent. */
      stopPct: { type: "string", format: "decimal", default: "0.25" },
    },
  },
  desired: ({ market, options: { instId, qty, barMs, fast, slow, stopPct } }) => {
    const bars$ = market.candles(instId, barMs);
    const closes$ = bars$.pipe(map(({ closeFloat }) => closeFloat));
    const crossings$ = zip(bars$, closes$.pipe(average(fast)), closes$.pipe(average(slow))).pipe(
      filter(([, quick, calm]) => !Number.isNaN(calm) && quick !== calm),
      map(([bar, quick, calm]): Heard => ({ kind: "crossing", up: quick > calm, px: bar.close })),
    );
    const bids$ = market.quotes(instId).pipe(map(({ bidPx }): Heard => ({ kind: "bid", px: bidPx })));
    // After a stop the averages have to cross anew: what they said already is not said again.
    const changes$ = crossings$.pipe(distinctUntilChanged((a, b) => a.kind === "crossing" && b.kind === "crossing" && a.up === b.up));
    return merge(changes$, bids$).pipe(
      scan((state, heard) => next(state, heard, stopPct), flat),
      distinctUntilChanged(),
      map((state) => wanted(state, instId, qty)),
    );
  },
});
