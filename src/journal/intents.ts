/**
 * Which orders may exist at the service as far as our own journal tells: sent, and not known to be over.
 *
 * Invariants: pure; an order is written before it is sent, so none can exist that is not here; reading a record twice changes
 * nothing; what is over never comes back, what was kept back may.
 * Not here: the file (write-ahead-log.ts), what was executed (holdings.ts), finding out what became of them (orders/).
 */
import type { Held } from "./holdings.ts";

export interface Intent {
  readonly uid: string;
  /** Whose order it was; not told by journals of older versions. */
  readonly strategy?: string;
  readonly clOrdId: string;
  readonly instId: string;
  readonly side: string;
  readonly ordType: string;
  readonly px: string;
  readonly sz: string;
  readonly reduceOnly: boolean;
  /** Calendar, milliseconds: a later run has another steady clock. */
  readonly sentAt: number;
  /** Of an order that is protected its slot and what protects it; of one that closes what is protected its slot. */
  readonly planned?: { readonly slot: string; readonly protect?: object };
}

export type IntentRecord =
  /** A process began to trade with this journal. */
  | { readonly type: "life"; readonly number: number; readonly at: number }
  | ({ readonly type: "sent" } & Intent)
  /** It was written down and then kept back: it never left, though it may yet, which is then written down again. */
  | { readonly type: "unsent"; readonly uid: string; readonly clOrdId: string }
  /** `held`: what its strategy holds of its product from then on, where something of it was executed. */
  | { readonly type: "over"; readonly uid: string; readonly clOrdId: string; readonly phase: string; readonly held?: Held };

interface Intents {
  take(record: IntentRecord): void;
  /** Number of the latest life. */
  readonly life: number;
  /** Oldest first. */
  open(): readonly Intent[];
  /** Records that say all of it. */
  snapshot(): readonly IntentRecord[];
}

const nameOf = ({ uid, clOrdId }: { readonly uid: string; readonly clOrdId: string }): string => `${uid} ${clOrdId}`;

export const createIntents = (): Intents => {
  const open = new Map<string, Intent>();
  /** Ended since the last snapshot, so that an older record read again does not bring them back. */
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
      return [{ type: "life", number: life, at: lifeAt }, ...[...open.values()].map((intent) => ({ type: "sent" as const, ...intent }))];
    },
  };
};
