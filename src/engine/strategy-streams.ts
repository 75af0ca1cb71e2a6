/**
 * Streams of one strategy: its positions, its profit and its orders.
 *
 * Invariants: a subscriber receives the current state, then one value after each fill; an order that is over has left
 * the list of open orders; profit follows the prices of open positions, at most once a second, and costs nothing while
 * no price changes; nothing is read from the service.
 */
import { defer, EMPTY, map, merge, Observable, startWith, takeUntil } from "rxjs";
import type { OpenService } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import { equal } from "../decimal.ts";
import type { Own } from "../host/context.ts";
import { printsOf } from "../market/last-quotes.ts";
import { HeldPrices, type PriceChanges } from "../orders/held-prices.ts";
import type { OrderManager } from "../orders/order-manager.ts";
import type { OrderUpdate } from "../orders/order-update.ts";
import type { Position, Positions } from "../orders/positions.ts";

/**
 * Price changes of a service's market; none for an instrument that the market does not know. Tickers of a real service
 * carry every price; a recording may have only trades or bars.
 */
export const priceChangesOf =
  ({ market, watchful = false }: Pick<OpenService, "market" | "watchful">): PriceChanges =>
  (instId) => {
    try {
      const quotes$ = market.quotes(instId);
      return watchful ? quotes$ : merge(quotes$, printsOf(market, instId));
    } catch {
      return EMPTY;
    }
  };

/** Positions of one strategy, for that strategy. */
export const positionsOf = (
  positions: Positions,
  strategy: string,
  clock: Clock,
  priceChanges: PriceChanges,
  stopped$: Observable<void>,
): Pick<Own, "position" | "positions$" | "equity$"> => ({
  position: (instId) => positions.of(strategy, instId),
  positions$: positionStream(positions, strategy).pipe(takeUntil(stopped$)),
  equity$: equityStream(clock, positions, priceChanges, strategy).pipe(takeUntil(stopped$)),
});

const positionStream = (positions: Positions, strategy: string): Observable<ReadonlyMap<string, Position>> =>
  new Observable((subscriber) => {
    const emit = (changed: string): void => {
      if (changed === strategy) subscriber.next(positions.all(strategy));
    };
    const stop = positions.listen(emit);
    emit(strategy);
    return stop;
  });

type Profit = ReadonlyMap<string, string>;

/** Profit of one strategy, or of all strategies when none is named. */
export const equityStream = (
  clock: Clock,
  positions: Positions,
  priceChanges: PriceChanges,
  strategy?: string,
): Observable<Profit> =>
  new Observable((subscriber) => {
    let last = positions.equity(strategy);
    const emit = (): void => {
      last = positions.equity(strategy);
      subscriber.next(last);
    };
    const prices = new HeldPrices(clock, priceChanges, () => {
      if (!isSame(positions.equity(strategy), last)) emit();
    });
    subscriber.add(
      positions.listen((changed) => {
        if (strategy !== undefined && changed !== strategy) return;
        prices.follow(positions.heldInstruments(strategy));
        emit();
      }),
    );
    subscriber.add(() => prices.close());
    prices.follow(positions.heldInstruments(strategy));
    subscriber.next(last);
  });

const isSame = (a: Profit, b: Profit): boolean =>
  a.size === b.size && [...a].every(([currency, profit]) => equal(profit, b.get(currency) ?? "0"));

/** Open orders of a strategy, and every change of its orders. */
export const ownOrders = (orderManager: OrderManager, strategy: string): Pick<Own, "orders$" | "updates$"> => {
  const updates$ = new Observable<OrderUpdate>((subscriber) =>
    orderManager.listen((update) => {
      if (update.strategy === strategy) subscriber.next(update);
    }),
  );
  const open = (): readonly OrderUpdate[] =>
    orderManager
      .orders()
      .filter((order) => order.strategy === strategy)
      .map((order) => orderManager.updateOf(order));
  return { updates$, orders$: defer(() => updates$.pipe(map(open), startWith(open()))) };
};
