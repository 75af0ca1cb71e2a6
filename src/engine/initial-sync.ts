/**
 * Initial sync: what an engine reads from the service before strategies start: products, resting orders, recent orders;
 * and when it reads the products again.
 *
 * Invariants: either all of it was read, complete and fresh, or the start fails with what could not be read and why; up
 * to a quarter of an hour of waiting for a rate limit does not count against the start's time limit.
 */
import { distinctUntilChanged, filter, firstValueFrom, map, type Observable, of, switchMap, takeUntil } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import type { Profile } from "../contract/profile.ts";
import { SluiceError } from "../errors.ts";
import type { Account, SharedState } from "../host/context.ts";
import type { OrderManager } from "../orders/order-manager.ts";
import type { Order } from "../orders/order-state.ts";
import type { Snapshot } from "../orders/state/snapshot.ts";
import type { StartWatch } from "./start-watch.ts";

type Watch = Pick<StartWatch, "guard" | "limitedAt">;

const startMsMax = 90_000;
const limitedMsMax = 900_000;
/** Number of denials after which different clocks are no longer the likely cause. */
const denialsMax = 3;

/** Waits for a value of a resource, or fails with the service's answer. */
const readOnce = async <T>(
  clock: Clock,
  watch: Watch,
  source$: Observable<Snapshot<T>>,
  what: string,
): Promise<void> => {
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
  const done = await firstValueFrom(watch.guard(fresh$).pipe(takeUntil(tooLong(clock, watch))), {
    defaultValue: false,
  });
  if (!done) throw new SluiceError("ENGINE_STATE", `The engine cannot start: ${what} could not be read (${last}).`);
};

/** Emits when the start has taken longer than allowed. */
export const tooLong = (clock: Clock, { limitedAt }: Watch): Observable<unknown> => {
  const lastAt = clock.now() + limitedMsMax;
  const from = (at: number): Observable<unknown> =>
    after(clock, Math.min(at + startMsMax, lastAt) - clock.now()).pipe(
      switchMap(() => (clock.now() < lastAt && limitedAt() > at ? from(limitedAt()) : of(undefined))),
    );
  return from(clock.now());
};

/** Streams that have to emit a fresh value before anything is traded. */
export type ReadAtStart = Pick<SharedState, "instruments$"> & Pick<Account, "pending$" | "history$">;

export const initialSync = async (
  clock: Clock,
  orderManager: OrderManager,
  streams: ReadAtStart,
  watch: Watch,
): Promise<void> => {
  // Kept subscribed while the engine runs, because products are listed, delisted and changed.
  const lists$ = streams.instruments$.pipe(map(({ value }) => value));
  lists$
    .pipe(
      distinctUntilChanged(),
      filter(({ size }) => size > 0),
    )
    .subscribe(() => {
      orderManager.reconsider();
    });
  await readOnce(clock, watch, streams.instruments$, "the list of instruments");
  await readOnce(clock, watch, streams.pending$, "pending orders");
  await readOnce(clock, watch, streams.history$, "order history");
};

/** At most one read in this time for each product, however many of its orders are rejected. */
const refreshMs = 60_000;

/**
 * To be called with each order that the service rejected; calls `refresh` when the known rules of its product should be
 * read again: it was rejected for its tick, lot or listing although these were checked before it was sent. Orders are
 * not affected; products that the list has never had are looked up elsewhere (orders/refusals.ts).
 */
export const instrumentRefresh = (
  { answers }: Profile,
  clock: Clock,
  refresh: () => void,
): ((rejected: Order) => void) => {
  const codes = [answers.instrumentCode, answers.priceCode, answers.sizeCode];
  /** Time of the last read by product. For a rejection of another product that list may be too old. */
  const askedAt = new Map<string, number>();
  return ({ reason, spec: { instId } }) => {
    if (!codes.some((code) => reason.startsWith(`${code} `))) return;
    if (clock.now() - (askedAt.get(instId) ?? Number.NEGATIVE_INFINITY) < refreshMs) return;
    askedAt.set(instId, clock.now());
    refresh();
  };
};
