/**
 * Makes sure that no order of an examination stays behind.
 *
 * Invariants: an order is expected from before it is sent; it is gone only when a listing without it says so, twice where its
 * placement was not answered; cleaning up heeds neither the budget nor the word to stop, and ends after a bounded number of tries.
 */
import { firstValueFrom } from "rxjs";
import { parseResponse } from "../../client/parse-response.ts";
import { after } from "../../clock/clock.ts";
import type { OrderRecord } from "../../contract/schemas.ts";
import type { ExaminationState } from "./examination.ts";

export interface CleanUp {
  /** A client order id nobody used. */
  nextId(): string;
  expect(clOrdId: string): void;
  placed(clOrdId: string, ordId: string): void;
  /** It was refused, so there is nothing to look for; gives `result` back. */
  forget<T>(clOrdId: string, result: T): T;
  /** Cancels what is known to be open. */
  cancelAll(): Promise<void>;
  /** Cancels and lists until nothing of ours is left, or the service does not answer. */
  finish(): Promise<void>;
  /** True when the latest listing showed nothing of ours. */
  confirmed(): boolean;
  /** Client ids of orders that may still be open. */
  left(): readonly string[];
}

const rounds = 4;
const roundMs = 2_000;
const pageSize = "100";

interface Ours {
  /** Ids of orders under this client id; empty while its placement was not answered. */
  readonly ordIds: Set<string>;
  /** Listings in a row that did not show it. */
  absences: number;
}

export const createCleanUp = (examination: ExaminationState, instId: string): CleanUp => {
  const { probeClient, clock, contract } = examination;
  const prefix = `dr${Math.floor(clock.wallNow()).toString(36)}`;
  const ours = new Map<string, Ours>();
  let count = 0;
  let confirmed = false;

  const cancel = async (
    elements: readonly { readonly instId: string; readonly ordId?: string; readonly clOrdId?: string }[],
  ): Promise<void> => {
    if (elements.length > 0) await probeClient.ask("cancelBatch", [...elements]);
  };
  /** One kind of id a call: a mix may be refused. */
  const cancelAll = async (): Promise<void> => {
    const all = [...ours];
    await cancel(all.flatMap(([, { ordIds }]) => [...ordIds].map((ordId) => ({ instId, ordId }))));
    await cancel(all.filter(([, { ordIds }]) => ordIds.size === 0).map(([clOrdId]) => ({ instId, clOrdId })));
    await look();
  };
  /** Reads the listing; what it does not show is gone, or once more to be looked for where it may still arrive. */
  const look = async (): Promise<void> => {
    confirmed = false;
    const answer = await probeClient.ask("pendingOrders", { instId, limit: pageSize });
    const outcome = answer.kind === "answered" ? parseResponse<OrderRecord>("pendingOrders", answer.response, contract, 0) : undefined;
    if (outcome?.kind !== "done" || outcome.problems.length > 0) return;
    for (const [clOrdId, one] of ours) {
      const open = outcome.records.filter((record) => record.clOrdId === clOrdId || one.ordIds.has(record.ordId));
      for (const { ordId } of open) one.ordIds.add(ordId);
      one.absences = open.length > 0 ? 0 : one.absences + 1;
      if (one.absences >= (one.ordIds.size > 0 ? 1 : 2)) ours.delete(clOrdId);
    }
    confirmed = ours.size === 0;
  };
  return {
    nextId: () => `${prefix}${count++}`,
    expect: (clOrdId) => {
      if (!ours.has(clOrdId)) ours.set(clOrdId, { ordIds: new Set(), absences: 0 });
      confirmed = false;
    },
    placed: (clOrdId, ordId) => {
      ours.get(clOrdId)?.ordIds.add(ordId);
    },
    forget: (clOrdId, result) => {
      // The same id may name an order that was taken before.
      if (ours.get(clOrdId)?.ordIds.size === 0) ours.delete(clOrdId);
      return result;
    },
    cancelAll,
    finish: async () => {
      probeClient.insist();
      for (let round = 0; round < rounds && ours.size > 0; round++) {
        if (round > 0) await firstValueFrom(after(clock, roundMs));
        await cancelAll();
      }
    },
    confirmed: () => confirmed,
    left: () => [...ours.keys()],
  };
};
