/** A strategy that does in a thread of its own what its options say. */
import { concat, EMPTY, from, map, mergeMap, NEVER, type Observable, of, take, tap, timer } from "rxjs";
import { defineStrategy, type WantedOrder } from "sluice";

const bid = (px: string, slot = "bid"): WantedOrder => ({
  slot,
  instId: "BTC-USDT-SWAP",
  side: "buy",
  px,
  qty: "0.01",
});

export default defineStrategy({
  name: "moody",
  options: {
    type: "object",
    required: ["does"],
    additionalProperties: false,
    properties: { does: { type: "string" }, afterMs: { type: "integer", default: 0 } },
  },
  wanted: ({ options: { does, afterMs }, market, orders, listed, now, random, name }) => {
    const instId = "BTC-USDT-SWAP";
    const then = (work: () => void): Observable<readonly WantedOrder[]> =>
      concat(
        of([bid("1")]),
        timer(afterMs).pipe(
          tap(work),
          mergeMap(() => NEVER),
        ),
      );
    switch (does) {
      case "lives": {
        const facts = `${Math.abs(now() - Date.now()) < 60_000} ${random.next() < 1} ${name} ${Object.keys(process.env).length < 3}`;
        const ask = async (): Promise<string> => {
          try {
            return String((await fetch("http://127.0.0.1:9")).status);
          } catch (error) {
            return (error as Error).message;
          }
        };
        const net$ = from(ask());
        return concat(
          of([bid(listed()[0]?.tickSize ?? "", facts)]),
          net$.pipe(map((said) => [bid("1", String(said).slice(0, 60))])),
          orders.place(bid("7", "hand")).pipe(map(({ phase, clOrdId }) => [bid("2", `${phase} ${clOrdId}`)])),
          market.quotes(instId).pipe(
            take(2),
            map((quote) => [bid(quote.bidPx, `${quote.askPx} ${quote.midFloat}`)]),
          ),
        );
      }
      case "throws":
        return then(() => {
          throw new Error("a bad day");
        });
      case "loops":
        return then(() => {
          for (;;) Math.hypot(1, 2);
        });
      case "grows":
        return then(() => {
          const all: number[][] = [];
          for (;;) all.push(Array.from({ length: 10_000 }, (_, index) => index));
        });
      case "exits":
        return then(() => process.exit(7));
      default:
        return EMPTY;
    }
  },
});
