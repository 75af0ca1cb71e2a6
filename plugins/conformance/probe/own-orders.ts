/**
 * Orders that probes place, tracked until listings prove that they are gone.
 *
 * Invariants: an order is expected from before it is sent; it is gone only when a complete listing does not show it,
 * two in a row where its placement was not answered; clean-up ends after a bounded number of listings and names what
 * may be left.
 * Not here: sizes and prices (conformance/test-orders.ts, doctor/order-size.ts).
 */
import { from, lastValueFrom, map } from "rxjs";
import { type EndpointName, paging } from "sluice/dialect";
import { type Clock, cancelAll, type Listed } from "sluice/extension";
import { fieldOf, openOf, type Reply } from "./reply.ts";

interface OwnOrdersOptions {
  /** Begins every client order id. */
  readonly tag: string;
  readonly clock: Clock;
  readonly elementsMax: number;
  /** Undefined when no response was read. */
  readonly ask: (endpoint: EndpointName, input: unknown) => Promise<Reply | undefined>;
}

interface OpenOrder {
  readonly instId: string;
  readonly ordId: string;
  readonly clOrdId: string;
}

export class OwnOrders {
  readonly #options: OwnOrdersOptions;
  readonly #prefix: string;
  /** Service ids by client id; none while a placement was not answered. */
  readonly #ours = new Map<string, { readonly instId: string; readonly ordIds: Set<string> }>();
  /** Service ids for which a cancel was answered: they are canceled again only if a listing contains them. */
  readonly #asked = new Set<string>();
  #count = 0;

  constructor(options: OwnOrdersOptions) {
    this.#options = options;
    this.#prefix = `${options.tag}${Math.floor(options.clock.wallNow()).toString(36)}x`;
  }

  /** A client order id that was never used. */
  nextId(): string {
    return `${this.#prefix}${this.#count++}`;
  }

  expect(clOrdId: string, instId: string): void {
    if (!this.#ours.has(clOrdId)) this.#ours.set(clOrdId, { instId, ordIds: new Set() });
  }

  placed(clOrdId: string, ordId: string): void {
    this.#ours.get(clOrdId)?.ordIds.add(ordId);
  }

  /** Its placement was refused. The same id may name an order that was taken before. */
  refused(clOrdId: string): void {
    if (this.#ours.get(clOrdId)?.ordIds.size === 0) this.#ours.delete(clOrdId);
  }

  /** A cancel of it was answered. */
  cancelAsked(ordId: string): void {
    this.#asked.add(ordId);
  }

  /** Client ids of orders that are not proved gone. */
  left(): readonly string[] {
    return [...this.#ours.keys()];
  }

  /** Cancels and lists until nothing is left, `listingsMax` times at most; whether it is proved that nothing is. */
  async cancelAll(listingsMax: number): Promise<boolean> {
    for (const instId of new Set([...this.#ours.values()].map((one) => one.instId)))
      await this.#cancelIn(instId, listingsMax);
    return this.#ours.size === 0;
  }

  async #cancelIn(instId: string, listingsMax: number): Promise<void> {
    const { clock, ask, elementsMax } = this.#options;
    const mine = [...this.#ours].filter(([, one]) => one.instId === instId);
    const cancel = async (elements: readonly object[]): Promise<boolean> => {
      const reply = await ask("cancelBatch", elements);
      return reply !== undefined && !reply.ok && !reply.limited && reply.records.length === 0;
    };
    // One kind of id for each call: a mix may be refused. A listing may be late, so known orders are canceled before it
    // is read.
    const known = mine.flatMap(([, { ordIds }]) =>
      [...ordIds].filter((ordId) => !this.#asked.has(ordId)).map((ordId) => ({ instId, ordId })),
    );
    const unanswered = mine.filter(([, { ordIds }]) => ordIds.size === 0).map(([clOrdId]) => ({ instId, clOrdId }));
    for (const batch of [...chunks(known, elementsMax), ...chunks(unanswered, elementsMax)]) await cancel(batch);
    const work = cancelAll<OpenOrder>({
      clock,
      elementsMax,
      listingsMax,
      confirmations: unanswered.length > 0 ? 2 : 1,
      list: () => from(this.#list(instId)),
      cancel: (batch) => from(cancel(batch.map(({ ordId }) => ({ instId, ordId })))),
    });
    const flat = await lastValueFrom(work.pipe(map(({ kind }) => kind === "flat")), { defaultValue: false });
    if (flat) for (const [clOrdId] of mine) this.#ours.delete(clOrdId);
  }

  async #list(instId: string): Promise<Listed<OpenOrder>> {
    const reply = await this.#options.ask("pendingOrders", { instId, limit: String(paging.limitMax) });
    if (reply?.ok !== true || !Array.isArray(reply.envelope["data"]))
      return { kind: "unread", why: reply?.shown ?? "no answer" };
    const orders = openOf(reply).map((record) => ({
      instId,
      ordId: fieldOf(record, "ordId"),
      clOrdId: fieldOf(record, "clOrdId"),
    }));
    const mine = orders.filter(({ ordId, clOrdId }) => clOrdId.startsWith(this.#prefix) || this.#isKnown(ordId));
    // Beyond a full page there may be more.
    const full = reply.records.length >= paging.limitMax && mine.length === 0;
    return full ? { kind: "unread", why: "more orders than a page holds" } : { kind: "orders", orders: mine };
  }

  #isKnown(ordId: string): boolean {
    return [...this.#ours.values()].some(({ ordIds }) => ordIds.has(ordId));
  }
}

/** Splits the list into parts of at most `size` elements. */
export const chunks = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
