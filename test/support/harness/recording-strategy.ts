/** A strategy that joins the best bid and keeps what it sees in the order in which it sees it. */
import { map, merge, tap } from "rxjs";
import type { Strategy } from "../../../src/index.ts";
import { strategy, swap } from "./backtest.ts";

/** Joins the best bid, and writes down what it is told and by which quote it answers a fill. */
export const witness = (log: string[]): Strategy =>
  strategy("witness", {
    wanted: ({ market }) =>
      market
        .quotes(swap)
        .pipe(map(({ bidPx }) => [{ slot: "bid", instId: swap, side: "buy" as const, px: bidPx, qty: "0.001" }])),
    run: ({ market, own }) => {
      let bid = "";
      return merge(
        market.quotes(swap).pipe(
          tap(({ bidPx }) => {
            bid = bidPx;
            log.push(`quote ${bidPx}`);
          }),
        ),
        market.trades(swap).pipe(tap(({ px }) => log.push(`trade ${px}`))),
        own.updates$.pipe(
          tap(({ phase, record: told }) => {
            if (phase === "filled") log.push(`filled at ${told?.avgPx} with the bid at ${bid}`);
          }),
        ),
      );
    },
  });
