/**
 * Records of protections, kept over restarts: the quantity covered, the level of a trailing stop, and what was
 * triggered.
 *
 * Invariants: pure; a record holds one protection completely, so that the last one is in force and reading it twice
 * changes nothing.
 * Not here: what a protection does (orders/protection), positions (holdings.ts).
 */
import type { Side } from "../contract/profile.ts";

/** Kind of a protection that has triggered: a stop-loss, a take-profit or a trailing stop. */
export type ProtectionKind = "stopLoss" | "takeProfit" | "trailing";

/** Amounts are decimal text, quantities in base currency. */
export interface ProtectionRecord {
  readonly strategy: string;
  /**
   * Slot of the entry, or the client order id of its first order where it was placed by hand without a slot; the
   * instrument where the whole position is protected.
   */
  readonly name: string;
  readonly instId: string;
  readonly scope: "order" | "position";
  /** Slot of the order that closes. */
  readonly exitSlot: string;
  /** Side of the closing order. */
  readonly side: Side;
  /** As it was wanted. */
  readonly protect: object;
  readonly qty: string;
  readonly entryQty: string;
  readonly entryValue: string;
  /** Best price since the entry, where a trailing stop follows it. */
  readonly extreme?: string;
  readonly hit?: { readonly kind: ProtectionKind; readonly triggerPx: string; readonly px: string };
  /**
   * Executed quantity of orders that are not over, by client order id, and the value of an entry; "0" for an order
   * that closes.
   */
  readonly counted: Readonly<Record<string, readonly [filled: string, value: string]>>;
  readonly ended?: boolean;
}

/** `uid` is the user of the service whose position it is. */
export type Protected = { readonly uid: string } & ProtectionRecord;

export type ProtectedRecord = { readonly type: "protection" } & Protected;

interface ProtectionRecords {
  take(record: Protected): void;
  /** Protections that have not ended, oldest first. */
  all(): readonly Protected[];
  snapshot(): readonly ProtectedRecord[];
}

export const createProtectionRecords = (): ProtectionRecords => {
  const known = new Map<string, Protected>();
  return {
    take: (record) => {
      const name = JSON.stringify([record.uid, record.strategy, record.instId, record.scope, record.name]);
      if (record.ended === true) known.delete(name);
      else known.set(name, record);
    },
    all: () => [...known.values()],
    snapshot: () => [...known.values()].map((record) => ({ ...record, type: "protection" as const })),
  };
};
