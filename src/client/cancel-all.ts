/**
 * Cancel-all: cancels open orders until complete listings show that none is left.
 *
 * Invariants: only a complete listing counts, and `confirmations` of them in a row are needed, because a placement may
 * still be on its way; a failed read is reported as unknown; the interval between rounds grows while nothing changes;
 * the rounds end when no order is left or after `listingsMax`; an order that the service cannot cancel is reported once
 * and left.
 * Not here: when to begin, which orders are meant, how they are listed (the callers).
 */
import {
  concat,
  concatMap,
  from,
  ignoreElements,
  map,
  Observable,
  of,
  type Subscriber,
  type Subscription,
  switchMap,
  tap,
} from "rxjs";
import { after, type Clock } from "../clock/clock.ts";

/** Reports of `cancelAll` during its work. */
export type CancelNews =
  | { readonly kind: "listed"; readonly open: number; readonly gone: number }
  /** The open orders could not be read. */
  | { readonly kind: "unread"; readonly why: string }
  /** Orders that the service has no call to cancel. */
  | { readonly kind: "stuck"; readonly clOrdIds: readonly string[] }
  /** End: only `stuck` orders are open. `gone` is the number of orders that were listed and are no longer open. */
  | { readonly kind: "flat"; readonly gone: number; readonly stuck: number };

/** Result of one listing of the open orders. */
export type Listed<O> =
  /** `hidden` is the reason why the listing may contain another relevant order, which cannot be read. */
  | { readonly kind: "orders"; readonly orders: readonly O[]; readonly hidden?: string }
  /** The service rejected the call. Another attempt will not change that. */
  | { readonly kind: "rejected"; readonly why: string }
  | { readonly kind: "unread"; readonly why: string };

interface OpenOrder {
  readonly ordId: string;
  readonly clOrdId: string;
}

interface CancelAllOptions<O> {
  readonly clock: Clock;
  /** One listing of all relevant open orders. */
  readonly list: () => Observable<Listed<O>>;
  /** Cancels these orders in one call. Emits whether the call was rejected as a whole. */
  readonly cancel: (batch: readonly O[]) => Observable<boolean>;
  readonly elementsMax: number;
  readonly isStuck?: (order: O) => boolean;
  readonly confirmations?: number;
  /** Maximum number of listings; unlimited when left out. */
  readonly listingsMax?: number;
}

const confirmMs = 2_000;
const pauseMs = 1_000;
const pauseMsMax = 30_000;

/**
 * Cancels every open order of a user.
 *
 * @param options - the calls of the user, and how to wait between listings
 * @returns progress; it completes after `flat`, or without it when `listingsMax` are used up; unsubscribing stops it
 */
export const cancelAll = <O extends OpenOrder>(options: CancelAllOptions<O>): Observable<CancelNews> =>
  new Observable((subscriber) => {
    const work = new CancelWork(options, subscriber);
    work.round();
    return () => work.stop();
  });

interface Step<O> {
  readonly waitMs: number;
  readonly orders: readonly O[];
}

class CancelWork<O extends OpenOrder> {
  readonly #options: CancelAllOptions<O>;
  readonly #news: Subscriber<CancelNews>;
  readonly #seen = new Set<string>();
  #before = "";
  #empty = 0;
  #listings = 0;
  #pauseMs = pauseMs;
  #size: number;
  #stuckTold = false;
  #step: Subscription | undefined;

  constructor(options: CancelAllOptions<O>, news: Subscriber<CancelNews>) {
    this.#options = options;
    this.#news = news;
    this.#size = options.elementsMax;
  }

  round(): void {
    const { clock, list, listingsMax = Number.POSITIVE_INFINITY } = this.#options;
    this.#listings++;
    const next$ = list().pipe(
      switchMap((listed) => {
        const next = this.#judge(listed);
        if (next === "flat" || this.#listings >= listingsMax) return of("over" as const);
        return concat(this.#cancel(next.orders), after(clock, next.waitMs).pipe(map(() => "again" as const)));
      }),
    );
    this.#step = next$.subscribe((next) => {
      if (next === "over") this.#news.complete();
      else this.round();
    });
  }

  stop(): void {
    this.#step?.unsubscribe();
  }

  #cancel(orders: readonly O[]): Observable<never> {
    return from(chunks(orders, this.#size)).pipe(
      concatMap((batch) => this.#options.cancel(batch)),
      // A single element may spoil a batch. Smaller batches isolate it.
      tap((turnedDown) => {
        if (turnedDown) this.#size = Math.max(1, Math.floor(this.#size / 2));
      }),
      ignoreElements(),
    );
  }

  #judge(listed: Listed<O>): Step<O> | "flat" {
    if (listed.kind !== "orders") return this.#unread(listed.why, []);
    const { isStuck = () => false, confirmations = 2 } = this.#options;
    const stuck = listed.orders.filter(isStuck);
    const orders = listed.orders.filter((order) => !isStuck(order));
    for (const { ordId } of orders) this.#seen.add(ordId);
    if (listed.hidden !== undefined) return this.#unread(listed.hidden, orders);
    const gone = this.#seen.size - orders.length;
    this.#news.next({ kind: "listed", open: orders.length, gone });
    if (stuck.length > 0 && !this.#stuckTold) {
      this.#stuckTold = true;
      this.#news.next({ kind: "stuck", clOrdIds: stuck.map(({ clOrdId }) => clOrdId) });
    }
    if (orders.length === 0) {
      if (++this.#empty < confirmations) return { waitMs: confirmMs, orders };
      this.#news.next({ kind: "flat", gone, stuck: stuck.length });
      return "flat";
    }
    this.#empty = 0;
    const now = orders.map(({ ordId }) => ordId).join();
    this.#pauseMs = now === this.#before ? Math.min(this.#pauseMs * 2, pauseMsMax) : pauseMs;
    this.#before = now;
    return { waitMs: this.#pauseMs, orders };
  }

  #unread(why: string, orders: readonly O[]): Step<O> {
    this.#news.next({ kind: "unread", why });
    this.#empty = 0;
    this.#pauseMs = Math.min(this.#pauseMs * 2, pauseMsMax);
    return { waitMs: this.#pauseMs, orders };
  }
}

const chunks = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
