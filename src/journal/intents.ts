/**
 * Open placements of the journal: orders that were sent and are not known to be over, so that they may exist at the
 * service.
 *
 * Invariants: pure; an order is recorded before it is sent, so none can exist that is not here; reading a record twice
 * changes nothing; an order that is over never becomes open again, one that was held back may.
 * Not here: the file (write-ahead-log.ts), executions (holdings.ts), resolving these orders (orders/).
 */
import type { Held } from "./holdings.ts";

export interface Intent {
  readonly uid: string;
  /** Strategy of the order; missing in journals of older versions. */
  readonly strategy?: string;
  readonly clOrdId: string;
  readonly instId: string;
  readonly side: string;
  readonly ordType: string;
  readonly px: string;
  readonly sz: string;
  readonly reduceOnly: boolean;
  /** Wall-clock time in milliseconds: a later run has another steady clock. */
  readonly sentAt: number;
  /** For a protected order its slot and its protection; for an order that closes a protected position its slot. */
  readonly planned?: { readonly slot: string; readonly protect?: object };
}

export type IntentRecord =
  /**
   * A process began to trade with this journal. `upTo`: by user the generation of the last own order that the journal
   * accounts for; missing in journals of older versions and before the service's lists were read.
   */
  | {
      readonly type: "life";
      readonly number: number;
      readonly at: number;
      readonly upTo?: Readonly<Record<string, number>>;
    }
  | ({ readonly type: "sent" } & Intent)
  /** The order was recorded, then held back and not sent. If it is sent later, it is recorded again. */
  | { readonly type: "unsent"; readonly uid: string; readonly clOrdId: string }
  /** `held` is the strategy's holding in the product afterwards, if part of the order was executed. */
  | {
      readonly type: "over";
      readonly uid: string;
      readonly clOrdId: string;
      readonly phase: string;
      readonly held?: Held;
    };

interface Intents {
  take(record: IntentRecord): void;
  /** Number of the latest run. */
  readonly life: number;
  /** Oldest first. */
  open(): readonly Intent[];
  /** Records from which this state can be rebuilt. */
  snapshot(): readonly IntentRecord[];
}

const nameOf = ({ uid, clOrdId }: { readonly uid: string; readonly clOrdId: string }): string => `${uid} ${clOrdId}`;

export const createIntents = (): Intents => {
  const open = new Map<string, Intent>();
  /** Orders that ended since the last snapshot, so that an older record that is read again does not reopen them. */
  const over = new Set<string>();
  let life = 0;
  let lifeAt = 0;
  return {
    take: (record) => {
      switch (record.type) {
        case "life":
          if (record.number > life) ({ number: life, at: lifeAt } = record);
          return;
        case "sent": {
          const { type: _, ...intent } = record;
          if (!over.has(nameOf(intent))) open.set(nameOf(intent), intent);
          return;
        }
        case "unsent":
          open.delete(nameOf(record));
          return;
        case "over":
          open.delete(nameOf(record));
          over.add(nameOf(record));
      }
    },
    get life() {
      return life;
    },
    open: () => [...open.values()],
    snapshot: () => {
      over.clear();
      return [
        { type: "life", number: life, at: lifeAt },
        ...[...open.values()].map((intent) => ({ type: "sent" as const, ...intent })),
      ];
    },
  };
};
