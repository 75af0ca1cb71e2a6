/**
 * Close calls as the service carried them out: each makes an order at the service, whose record has the price and the
 * fee.
 *
 * Invariants: every call has its own client order id; while the service may still report a record, nothing is guessed
 * in its place; a record that comes later, with other reads or pushes, is booked as well.
 * Not here: when a close is sent (close-positions.ts), who held what was closed (orders/closing-slots.ts).
 */
import { firstValueFrom, merge, type Observable, takeUntil } from "rxjs";
import type { Outcome } from "../client/outcome.ts";
import { after, type Clock } from "../clock/clock.ts";
import { isActive, type OrderRecord } from "../contract/schemas.ts";
import { isPositive } from "../decimal.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ClosedPart } from "../journal/holdings.ts";
import type { UserAccount } from "./user-account.ts";

export interface ClosingParts {
  readonly clock: Clock;
  readonly journal: EventLog;
  /** Called when a position or a part of it was closed. Returns the part of each strategy. */
  readonly onClosed: (
    account: UserAccount,
    closed: Parameters<UserAccount["orderManager"]["closing"]["account"]>[0],
  ) => readonly ClosedPart[];
  /**
   * Called when the record of an order that closed something came late. Returns the parts that are still provisional.
   */
  readonly onLate: (account: UserAccount, order: OrderRecord, standing: readonly ClosedPart[]) => readonly ClosedPart[];
  readonly stopped$: Observable<void>;
}

/** Time for which the record of a closing order is queried. Its price and fee are not known without it. */
const recordMs = 15_000;
/** Number of queries in a row without a result after which an unanswered call counts as not executed. */
const unknownNonesMax = 3;
const roundMs = 1_000;
const call = { class: "close", owner: "engine" } as const;

interface Sent {
  readonly clOrdId: string;
  readonly nonesMax: number;
}

/** Orders that close calls of ours made at the service, by the client order ids they were sent with. */
export class ClosingCalls {
  readonly #parts: ClosingParts;
  readonly #account: UserAccount;
  /** Close calls by instrument. */
  readonly #sent = new Map<string, readonly Sent[]>();
  #count = 0;

  constructor(parts: ClosingParts, account: UserAccount) {
    this.#parts = parts;
    this.#account = account;
  }

  /** Makes an id for each call that differs from the ids of all strategies' orders. */
  idOf(instId: string): string {
    const at = Math.floor(this.#parts.clock.wallNow()).toString(36);
    return `close${at}x${(++this.#count).toString(36)}${instId.replace(/[^A-Za-z0-9]/g, "").slice(0, 12)}`;
  }

  sent(instId: string, clOrdId: string, outcome: Outcome<unknown>["kind"]): void {
    if (outcome !== "done" && outcome !== "unknown") return;
    const nonesMax = outcome === "done" ? Number.POSITIVE_INFINITY : unknownNonesMax;
    this.#sent.set(instId, [...(this.#sent.get(instId) ?? []), { clOrdId, nonesMax }]);
  }

  /**
   * Books what the calls for an instrument executed, as far as the service reports it in time. For the rest `px` is
   * used.
   */
  async book(
    instId: string,
    { left, px, until }: { readonly left: string; readonly px: string; readonly until: number },
  ): Promise<void> {
    const { clock, onClosed } = this.#parts;
    const endAt = Math.min(until, clock.now() + recordMs);
    const sent = this.#sent.get(instId) ?? [];
    const found = await Promise.all(sent.map(async (one) => this.#recordOf(instId, one, endAt)));
    const orders = found.flatMap((record) => record ?? []);
    const { avgPx = "" } = orders.at(-1) ?? {};
    const parts = onClosed(this.#account, {
      instId,
      orders,
      left,
      px: isPositive(avgPx || "0") ? avgPx : px || undefined,
    });
    const standing = parts.filter(({ standsIn }) => standsIn === true);
    const missing = sent.flatMap(({ clOrdId }, index) => (found[index] === undefined ? [clOrdId] : []));
    if (missing.length > 0) this.#await(new Set(missing), standing);
  }

  /** Books the records of these orders when they come. */
  #await(missing: Set<string>, standing: readonly ClosedPart[]): void {
    let left = standing;
    this.#account.resources.store.onChange((record) => {
      if (isActive(record.state) || !missing.delete(record.clOrdId)) return;
      left = this.#parts.onLate(this.#account, record, left);
    });
  }

  async #recordOf(instId: string, { clOrdId, nonesMax }: Sent, until: number): Promise<OrderRecord | undefined> {
    const { clock, stopped$ } = this.#parts;
    const { gateway, resources } = this.#account;
    for (let nones = 0; nones < nonesMax; ) {
      const known = resources.store.find({ clOrdId });
      if (known !== undefined && !isActive(known.state)) return known;
      const left = until - clock.now();
      if (left <= 0) return undefined;
      const read$ = gateway
        .read("getOrder", { clOrdId, instId }, call)
        .pipe(takeUntil(merge(after(clock, left), stopped$)));
      const outcome = await firstValueFrom(read$, { defaultValue: undefined });
      const { records = [], problems = [""] } = outcome?.kind === "done" ? outcome : {};
      const record = records.find((one) => one.clOrdId === clOrdId);
      if (record !== undefined && !isActive(record.state)) return record;
      if (records.length + problems.length === 0) nones++;
      await firstValueFrom(merge(after(clock, roundMs), stopped$), { defaultValue: undefined });
    }
    return undefined;
  }
}
