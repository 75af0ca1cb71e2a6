/**
 * Monitor of use by other clients: of the same user, or of the same address.
 *
 * Invariants: reported once a window and layer; nothing waits for it, and what the ledger does about others does not depend on it.
 * Not here: the estimate of others and what is left free for them (scheduler/quota/foreign-usage.ts).
 */
import type { EventLog } from "../journal/event-log.ts";
import type { Ledger } from "../scheduler/quota/ledger.ts";

/** Part of a window's capacity from which on others are worth a word. */
const toldShare = 0.1;
/** The windows are looked at this often at most. */
const lookMs = 1_000;

export const monitorForeignUsage = (journal: EventLog, ledger: Pick<Ledger, "othersUse">): void => {
  const told = new Map<string, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  journal.on(["action.answered"], ({ at }) => {
    if (at - lookedAt < lookMs) return;
    lookedAt = at;
    for (const { layer, scope, foreign, capacity, windowEndsAt } of ledger.othersUse(at)) {
      const name = `${layer} ${scope}`;
      if (foreign < capacity * toldShare || told.get(name) === windowEndsAt) continue;
      told.set(name, windowEndsAt);
      journal.append({ type: "quota.otherClients", layer, used: foreign });
    }
  });
};
