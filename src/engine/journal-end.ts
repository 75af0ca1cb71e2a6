/**
 * End of a journal: the last own order of each user that it accounts for, so that the next run finds later ones at the
 * service.
 *
 * Invariants: an order that the journal accounts for is never after its end; if the journal does not contain its end,
 * and something of it was booked, no order counts as later.
 * Not here: the records (journal/), what is found after the end (orders/unrecorded-orders.ts).
 */
import type { JournalRecord } from "../journal/journal-records.ts";
import { type ClientOrderIds, createClientOrderIds, firstGeneration, isLater } from "../orders/client-order-id.ts";
import type { JournalEnd } from "../orders/unrecorded-orders.ts";

/** Longest time from the start of a run, which determines its first generation, to the record that it began. */
const startMs = 120_000;

export class JournalEnds {
  readonly #ids: ClientOrderIds;
  /** Latest generation by user. */
  readonly #latest = new Map<string, number>();
  /** Strategies by slot hash, by user, only for orders that are read back. */
  readonly #owners = new Map<string, Map<string, string>>();
  #at = 0;
  /** True if the journal records its end, even without any order. */
  #isTold = false;
  #isEmpty = true;
  #isBooked = false;

  constructor(instance: string) {
    this.#ids = createClientOrderIds(instance);
  }

  /** A record of a previous run. */
  read(record: JournalRecord): void {
    this.take(record);
    if (record.type === "sent" && record.strategy !== undefined && record.strategy !== "") this.#own(record);
  }

  take(record: JournalRecord): void {
    if (record.type === "held" || (record.type === "over" && record.held !== undefined)) this.#isBooked = true;
    else if (record.type === "life") {
      this.#isEmpty = false;
      this.#at = Math.max(this.#at, record.at);
      if (record.upTo === undefined) return;
      this.#isTold = true;
      for (const [uid, generation] of Object.entries(record.upTo)) this.reach(uid, generation);
    } else if (record.type === "sent") {
      this.#at = Math.max(this.#at, record.sentAt);
      const own = this.#ids.read(record.clOrdId);
      if (own !== undefined) this.reach(record.uid, own.generation);
    }
  }

  /** Orders of the user up to this generation are accounted for. */
  reach(uid: string, generation: number): void {
    const known = this.#latest.get(uid);
    if (known === undefined || isLater(generation, known)) this.#latest.set(uid, generation);
  }

  /** Undefined for a new journal, or one that does not record its end. */
  of(uid: string): JournalEnd | undefined {
    const after = this.#latest.get(uid);
    const common = { at: this.#at, owners: this.#owners.get(uid) ?? new Map<string, string>() };
    if (this.#isEmpty) return undefined;
    if (after !== undefined || this.#isTold) return { after, ...common };
    return this.#isBooked ? undefined : { after: firstGeneration(this.#at - startMs), ...common };
  }

  /** As a `life` record keeps it. */
  upTo(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#latest);
  }

  #own({ uid, clOrdId, strategy = "" }: Extract<JournalRecord, { type: "sent" }>): void {
    const own = this.#ids.read(clOrdId);
    if (own === undefined) return;
    let owners = this.#owners.get(uid);
    if (owners === undefined) {
      owners = new Map();
      this.#owners.set(uid, owners);
    }
    owners.set(own.slotHash, strategy);
  }
}
