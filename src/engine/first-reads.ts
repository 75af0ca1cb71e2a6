/**
 * What an engine reads before anybody trades: products, resting orders, recent orders.
 *
 * Invariants: either all of it was read, complete and fresh, or the start fails and says what could not be read and why.
 */
import { distinctUntilChanged, filter, firstValueFrom, map, type Observable, takeUntil } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import { SluiceError } from "../errors.ts";
import type { StreamsOfState } from "../host/context.ts";
import type { Desk } from "../orders/desk.ts";
import type { Snapshot } from "../resources/resource.ts";

const startMsMax = 90_000;
/** So many denials are no matter of clocks that do not agree yet. */
const denialsMax = 3;

/** Waits for a value of a resource, or fails with what the service answered instead. */
const readOnce = async <T>(clock: Clock, source$: Observable<Snapshot<T>>, what: string): Promise<void> => {
  let last = "no answer";
  let denials = 0;
  const fresh$ = source$.pipe(
    filter(({ stale, problem = last, denied = false }) => {
      last = problem;
      if (denied && ++denials === denialsMax) {
        throw new SluiceError(
          "ENGINE_STATE",
          `The engine cannot start: ${what} may not be read with these keys (${problem}). Check the keys and their permissions.`,
        );
      }
      return !stale;
    }),
    map(() => true),
  );
  const done = await firstValueFrom(fresh$.pipe(takeUntil(after(clock, startMsMax))), { defaultValue: false });
  if (!done) throw new SluiceError("ENGINE_STATE", `The engine cannot start: ${what} could not be read (${last}).`);
};

export const readState = async (clock: Clock, desk: Desk, streams: StreamsOfState): Promise<void> => {
  // Kept open while the engine runs: products are listed, delisted and changed.
  const lists$ = streams.instruments$.pipe(map(({ value }) => value));
  lists$
    .pipe(
      distinctUntilChanged(),
      filter(({ size }) => size > 0),
    )
    .subscribe(() => {
      desk.reconsider();
    });
  await readOnce(clock, streams.instruments$, "the list of instruments");
  await readOnce(clock, streams.pending$, "pending orders");
  await readOnce(clock, streams.history$, "order history");
};
