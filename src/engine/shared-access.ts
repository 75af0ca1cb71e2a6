/**
 * Detection of shared access: warns when another program uses this engine's key or another engine its instance name,
 * and reports the quota used by other clients of the user or the address.
 *
 * Invariants: nothing waits for a warning; a shared key or name is reported once, in an event that names the remedy; a
 * late order of a previous run does not count as a second engine.
 * Not here: the reaction. The quota counts the other clients' requests, and the order manager adopts the orders.
 */
import type { EventLog } from "../journal/event-log.ts";
import type { EventOf } from "../journal/events.ts";
import type { Ledger } from "../scheduler/quota/ledger.ts";

/** Number of seconds in which the service counted more requests of a key than we sent, before a warning. */
const keyWindowsLeast = 3;
/** Time after which requests of a previous run have landed. */
const lateMs = 60_000;
/** A previous run leaves fewer orders than this at once. */
const ordersLeast = 3;

/** `found` returns the client order ids of the orders that are known at that moment. */
export const watchSharedAccess = (
  journal: EventLog,
  ledger: Pick<Ledger, "othersUse">,
  instance: string,
  found: () => readonly { readonly clOrdId: string }[],
): void => {
  let isKeyReported = false;
  let isInstanceReported = false;
  let tradesSince: number | undefined;
  const windows = new Set<string>();
  const known = new Set<string>();
  let strange = 0;

  const takeAnswer = (at: number): void => {
    for (const { layer, scope, windowEndsAt } of ledger.othersUse(at)) {
      if (layer !== "key") continue;
      windows.add(`${scope} ${windowEndsAt}`);
      if (windows.size < keyWindowsLeast) return;
      isKeyReported = true;
      windows.clear();
      const detail = `another program uses the key "${scope}", or the key has fewer requests a second than its profile states: requests may be refused. Give each program a key of its own, or set the layer's capacity.`;
      journal.append({ type: "anomaly", what: "shared.key", detail });
      return;
    }
  };
  const takeOrder = ({ clOrdId, reason, at }: EventOf<"order.changed">): void => {
    if (reason !== "adopted" || known.has(clOrdId)) return;
    known.add(clOrdId);
    if (tradesSince === undefined || (++strange < ordersLeast && at - tradesSince < lateMs)) return;
    isInstanceReported = true;
    known.clear();
    const detail = `order ${clOrdId} carries the instance name "${instance}", and this engine did not place it: another engine with that name trades on this account. Stop one of them, or give it another config.instance.`;
    journal.append({ type: "anomaly", what: "shared.instance", detail });
  };

  journal.on(["engine.started", "action.answered", "order.changed"], (event) => {
    if (event.type === "engine.started") {
      tradesSince = event.at;
      // Orders that already rest are of a previous run, even if their records arrive later.
      for (const { clOrdId } of found()) known.add(clOrdId);
    } else if (event.type === "action.answered" && !isKeyReported) takeAnswer(event.at);
    else if (event.type === "order.changed" && !isInstanceReported) takeOrder(event);
  });
};

/** Share of a window's capacity from which use by others is reported. */
const reportedShare = 0.1;
/** Shortest time between two looks at the windows. */
const lookMs = 1_000;

/** Reports use by other clients once for each window and layer. */
export const monitorForeignUsage = (journal: EventLog, ledger: Pick<Ledger, "othersUse">): void => {
  const reported = new Map<string, number>();
  let lookedAt = Number.NEGATIVE_INFINITY;
  journal.on(["action.answered"], ({ at }) => {
    if (at - lookedAt < lookMs) return;
    lookedAt = at;
    const uses = ledger.othersUse(at);
    if (uses.length === 0) return;
    for (const { layer, scope, foreign, capacity, windowEndsAt } of uses) {
      const name = `${layer} ${scope}`;
      if (foreign < capacity * reportedShare || reported.get(name) === windowEndsAt) continue;
      reported.set(name, windowEndsAt);
      journal.append({ type: "quota.otherClients", layer, used: foreign });
    }
  });
};
