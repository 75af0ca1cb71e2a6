/**
 * Streams of strategies' positions and profit.
 *
 * Invariants: a subscriber receives the current state, then one value after each fill; profit is updated from the market once a second
 * while a position is held and the stream has subscribers; nothing is read from the service.
 * Not here: the positions themselves (orders/positions.ts).
 */
import { Observable, takeUntil } from "rxjs";
import { type Clock, every } from "../clock/clock.ts";
import { equal } from "../decimal.ts";
import type { StrategyContext } from "../host/context.ts";
import type { Position, Positions } from "../orders/positions.ts";

const lookMs = 1_000;

/** Positions of one strategy, for that strategy. */
export const positionsOf = (
  positions: Positions,
  strategy: string,
  clock: Clock,
  stopped$: Observable<void>,
): Pick<StrategyContext<never>, "position" | "position$" | "equity$"> => ({
  position: (instId) => positions.of(strategy, instId),
  position$: positionStream(positions, strategy).pipe(takeUntil(stopped$)),
  equity$: equityStream(clock, positions, strategy).pipe(takeUntil(stopped$)),
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

/** Of all strategies when none is named. */
export const equityStream = (clock: Clock, positions: Positions, strategy?: string): Observable<Profit> =>
  new Observable((subscriber) => {
    let last = positions.equity(strategy);
    const emit = (): void => {
      last = positions.equity(strategy);
      subscriber.next(last);
    };
    subscriber.add(
      positions.listen((changed) => {
        if (strategy === undefined || changed === strategy) emit();
      }),
    );
    subscriber.next(last);
    subscriber.add(
      every(clock, lookMs).subscribe(() => {
        if (positions.isHeld(strategy) && !isSame(positions.equity(strategy), last)) emit();
      }),
    );
  });

const isSame = (a: Profit, b: Profit): boolean =>
  a.size === b.size && [...a].every(([currency, profit]) => equal(profit, b.get(currency) ?? "0"));
