/**
 * Indicators of a library as streams: values in, results out once there are enough of them.
 *
 * Fits anything that is fed with `add` and answers null or nothing until it is stable, such as every indicator of
 * trading-signals.
 * Invariants: each subscriber has an indicator of its own, fed with every value in order; what is not ready emits
 * nothing.
 */
import { defer, filter, map, type Observable, type OperatorFunction } from "rxjs";

/** Operations of an indicator. */
export interface Indicator<Input, Result> {
  add(input: Input): Result | null | undefined;
}

/** `closes$.pipe(streamed(() => new RSI(14)))`. */
export const streamed =
  <Input, Result>(make: () => Indicator<Input, Result>): OperatorFunction<Input, Result> =>
  (values$: Observable<Input>) =>
    defer(() => {
      const indicator = make();
      return values$.pipe(
        map((value) => indicator.add(value)),
        filter((result) => result !== null && result !== undefined),
      );
    });
