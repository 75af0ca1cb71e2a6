/**
 * Streams of the engine, wrapped for the strategy or plugin that subscribes to them.
 *
 * Invariants: a value is delivered in the execution context of the subscription's owner; an error thrown by a
 * subscriber fails its owner only; every subscription ends with its owner, and a stream completes then, while the
 * result of a call completes only when the call has ended; an owner that has ended causes no new work of the engine;
 * the engine's side of a subscription runs in the engine's context. A Subscriber is handed to the source itself,
 * because a plain observer would be wrapped twice for every value.
 */
import { Observable, Subscriber, Subscription } from "rxjs";
import type { Market } from "../market/market-data.ts";
import type { Orders } from "../orders/manual-orders.ts";
import type { Account, Own, SharedState } from "./context.ts";
import { enter, guarded, leave, type Owner, outside } from "./execution-context.ts";
import { handling } from "./failure.ts";
import { handOver } from "./rxjs-version.ts";

/** Subscriptions and timers of an owner. */
export class OwnerLife extends Subscription {
  /** True while they end: a stream that is subscribed to again at its completion would never end. */
  isEnding = false;

  override unsubscribe(): void {
    if (this.closed) return;
    this.isEnding = true;
    try {
      super.unsubscribe();
    } finally {
      this.isEnding = false;
    }
  }
}

class OwnedSubscriber<T> extends Subscriber<T> {
  readonly #owner: Owner;
  readonly #target: Subscriber<T>;
  readonly #completes: boolean;

  /** `completes` is true if the end of the owner completes the target. */
  constructor(owner: Owner, target: Subscriber<T>, completes: boolean) {
    super();
    this.#owner = owner;
    this.#target = target;
    this.#completes = completes;
    owner.life.add(this);
    target.add(this);
  }

  /** Same as `guarded`, but without a function for each value. */
  override next(value: T): void {
    const owner = this.#owner;
    if (this.closed || owner.life.closed) return;
    const before = enter(owner);
    const given = handling.value;
    handling.value = value;
    try {
      handOver(this.#target, value);
    } catch (error) {
      owner.fail(error);
    } finally {
      handling.value = given;
      leave(before);
    }
  }

  override error(error: unknown): void {
    this.#end((target) => {
      target.error(error);
    });
  }

  override complete(): void {
    this.#end((target) => {
      target.complete();
    });
  }

  /** Unsubscribing is work of the engine, even when user code calls it. */
  override unsubscribe(): void {
    if (this.closed) return;
    outside(() => {
      super.unsubscribe();
    });
    // An owner ends in its own context, for every cause. A target that unsubscribed receives nothing further.
    if (this.#completes && this.#owner.life.closed) this.#target.complete();
  }

  #end(notify: (target: Subscriber<T>) => void): void {
    if (this.closed) return;
    guarded(this.#owner, notify, this.#target);
    this.unsubscribe();
  }
}

const wrapped = <T>(owner: Owner, source$: Observable<T>, completes: boolean): Observable<T> =>
  new Observable((target) => {
    const { life } = owner;
    if (!life.closed) {
      const subscriber = new OwnedSubscriber(owner, target, completes);
      outside(() => source$.subscribe(subscriber));
    } else if (completes && !isEnding(life)) target.complete();
  });

const isEnding = (life: Subscription): boolean => life instanceof OwnerLife && life.isEnding;

/** A stream of the engine, which completes when the owner ends. */
export const owned = <T>(owner: Owner, source$: Observable<T>): Observable<T> => wrapped(owner, source$, true);

/**
 * Values of a plugin's call. Its completion means that the call has ended, so the end of the owner does not complete
 * it.
 */
export const ownedResult = <T>(owner: Owner, source$: Observable<T>): Observable<T> => wrapped(owner, source$, false);

export const ownedAccount = (owner: Owner, account: Account): Account => ({
  pending$: owned(owner, account.pending$),
  history$: owned(owner, account.history$),
  balances$: owned(owner, account.balances$),
  positions$: owned(owner, account.positions$),
  equity$: owned(owner, account.equity$),
});

export const ownedOwn = (owner: Owner, own: Own): Own => ({
  position: (instId) => outside(() => own.position(instId)),
  positions$: owned(owner, own.positions$),
  equity$: owned(owner, own.equity$),
  orders$: owned(owner, own.orders$),
  updates$: owned(owner, own.updates$),
});

export const ownedState = (owner: Owner, { instruments$, quota$ }: SharedState): SharedState => ({
  instruments$: owned(owner, instruments$),
  quota$: owned(owner, quota$),
});

export const ownedMarket = (owner: Owner, market: Market): Market => ({
  trades: (instId, options) => owned(owner, market.trades(instId, options)),
  quotes: (instId, options) => owned(owner, market.quotes(instId, options)),
  books: (instId) => owned(owner, market.books(instId)),
  candles: (instId, length, options) => owned(owner, market.candles(instId, length, options)),
  lastPx: (instId) => market.lastPx(instId),
});

export const ownedOrders = (owner: Owner, orders: Orders): Orders => ({
  place: (order) => owned(owner, orders.place(order)),
  cancel: (where) =>
    owned(
      owner,
      outside(() => orders.cancel(where)),
    ),
});
