/**
 * An engine's memory on disk: every placement is written down before it leaves, and whoever comes next knows what may exist.
 *
 * Invariants: no placement leaves before its record is durable; one that could not be written is not sent, and no further one is
 * tried; cancels and reads never wait for the disk; one engine at a time uses a journal.
 */
import { defer, from, type Observable, switchMap } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { PlaceBody } from "../contract/schemas.ts";
import { SluiceError } from "../errors.ts";
import type { JournalConfig } from "../host/config.ts";
import type { ServiceUser } from "../host/service.ts";
import type { Disk } from "../journal/disk.ts";
import type { Event } from "../journal/events.ts";
import { createIntents, type Intent, type IntentRecord } from "../journal/intents.ts";
import { openStore, type Store } from "../journal/store.ts";
import { finalPhases } from "../orders/order.ts";
import type { Interceptor, WireRequest } from "../transport/transport.ts";

export interface Durable {
  /** Takes the lock and reads what earlier lives left. */
  open(): Promise<Recovered>;
  readonly interceptor: Interceptor;
  /** Notes what is over; attached to the engine's journal. */
  readonly note: (event: Event) => void;
  /** Why no order may be sent any more. */
  readonly refused: () => string | undefined;
  close(): Promise<void>;
}

export interface Recovered {
  readonly life: number;
  /** Sent by an earlier life and not known to be over. */
  readonly open: readonly Intent[];
  readonly repaired: string | undefined;
}

export interface DurableOptions {
  readonly config: JournalConfig;
  /** Whose journal it is. */
  readonly owner: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly users: readonly ServiceUser[];
  readonly openDisk: (dir: string) => Promise<Disk>;
}

export const createDurable = ({ config, owner, clock, users, openDisk }: DurableOptions): Durable => {
  const intents = createIntents();
  const uidOf = new Map(users.flatMap(({ uid, keys }) => keys.map(({ name }) => [name, uid] as const)));
  /** Users of the orders this life sent or found, by client id. */
  const senders = new Map<string, string>();
  let store: Store | undefined;
  let unlock: (() => Promise<void>) | undefined;
  let failed: string | undefined;

  const write = (record: IntentRecord): void => {
    intents.take(record);
    store?.append(record);
  };
  const fail = (error: unknown): never => {
    failed = error instanceof Error ? error.message : String(error);
    throw error;
  };
  const writeDown = async ({ body, key = "" }: WireRequest): Promise<void> => {
    if (store === undefined) throw new SluiceError("JOURNAL_FAILED", "The journal is not open: no order leaves without it.");
    const { clOrdId = "", instId, side, ordType, px = "", sz, reduceOnly = false } = body as PlaceBody;
    const uid = uidOf.get(key) ?? "";
    senders.set(clOrdId, uid);
    write({ type: "sent", uid, clOrdId, instId, side, ordType, px, sz, reduceOnly, sentAt: clock.wallNow() });
    await store.commit().catch(fail);
  };

  return {
    open: async () => {
      const { dir, rebuild = false } = config;
      const disk = await openDisk(dir);
      unlock = await disk.lock(Object.values(owner).join(" / "));
      store = await openStore({ disk, owner, snapshot: () => intents.snapshot(), damaged: rebuild ? "set_aside" : "refuse" });
      for (const record of store.past) intents.take(record);
      const open = intents.open();
      for (const { clOrdId, uid } of open) senders.set(clOrdId, uid);
      write({ type: "life", number: intents.life + 1, at: clock.wallNow() });
      await store.commit();
      return { life: intents.life, open, repaired: store.repaired };
    },
    interceptor:
      (next) =>
      (request): Observable<never> | ReturnType<typeof next> =>
        request.endpoint === "placeOrder" ? defer(() => from(writeDown(request)).pipe(switchMap(() => next(request)))) : next(request),
    note: (event) => {
      if (event.type !== "order.changed" || !finalPhases.includes(event.phase)) return;
      const { clOrdId, phase } = event;
      const uid = senders.get(clOrdId);
      if (uid === undefined) return;
      senders.delete(clOrdId);
      // Not flushed by itself: should it be lost, the next life asks once more and hears the same.
      if (failed === undefined) write({ type: "over", uid, clOrdId, phase });
    },
    refused: () => failed,
    close: async () => {
      try {
        await store?.close();
      } finally {
        await unlock?.();
      }
    },
  };
};
