/**
 * Orders of a run, counted from its events: which are open, which are unknown, why others were refused or rejected.
 *
 * Invariants: an order is counted once, by its client order id; sent and not answered is unknown, never gone.
 */

import { readInstId } from "../contract/inst-id.ts";
import type { Profile } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { Event, OrderPhase } from "../journal/events.ts";
import { printable } from "./io.ts";

interface Seen {
  readonly phase: OrderPhase;
  readonly instId: string;
}

export interface RunOrders {
  take(event: Event): void;
  /** Why a person should worry about orders once the run has stopped, a line each. */
  closingLines(policy: "keep" | "cancel", baseUrl: string | undefined, path: string): readonly string[];
  /** Orders that are open, or of which it is not known. */
  readonly left: number;
}

const openPhases: readonly OrderPhase[] = ["acked", "live", "partially_filled", "canceling"];
const unknownPhases: readonly OrderPhase[] = ["sent", "unknown"];
const overPhases: readonly OrderPhase[] = ["filled", "canceled", "rejected", "absent"];
const namedMax = 20;

export const createRunOrders = (): RunOrders => {
  const orders = new Map<string, Seen>();
  const reasons = new Map<string, number>();
  let taken = 0;
  const refuse = (reason: string): void => {
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  };
  const idsIn = (phases: readonly OrderPhase[]): readonly string[] =>
    [...orders].filter(([, { phase }]) => phases.includes(phase)).map(([id]) => id);
  return {
    take: (event) => {
      if (event.type === "order.refused") refuse(event.reason);
      if (event.type !== "order.changed") return;
      const { clOrdId, instId, phase, reason } = event;
      if (phase === "rejected") refuse(reason);
      if (openPhases.includes(phase) || phase === "filled") taken++;
      if (overPhases.includes(phase)) orders.delete(clOrdId);
      else orders.set(clOrdId, { phase, instId });
    },
    get left() {
      return idsIn([...openPhases, ...unknownPhases]).length;
    },
    closingLines: (policy, baseUrl, path) => {
      const place = baseUrl === undefined ? "the service" : printable(baseUrl);
      const open = idsIn(openPhases);
      const lost = idsIn(unknownPhases);
      // The embedded service ends with the run, and its orders with it.
      const lines =
        baseUrl === undefined ? [] : [...openLine(open, orders, policy, place, path), ...lostLine(lost, place)];
      return [...lines, ...(taken === 0 ? refusedLine(reasons) : [])];
    },
  };
};

const named = (ids: readonly string[]): string =>
  `${ids.slice(0, namedMax).map(printable).join(", ")}${ids.length > namedMax ? ` and ${ids.length - namedMax} more` : ""}`;

const openLine = (
  open: readonly string[],
  orders: ReadonlyMap<string, Seen>,
  policy: "keep" | "cancel",
  place: string,
  path: string,
): readonly string[] => {
  if (open.length === 0) return [];
  const many = `${open.length} ${open.length === 1 ? "order" : "orders"}`;
  if (policy === "cancel")
    return [`${many} could not be confirmed as canceled at ${place}; look for clOrdId ${named(open)}.`];
  const counts = new Map<string, number>();
  for (const id of open) {
    const instId = orders.get(id)?.instId ?? "";
    counts.set(instId, (counts.get(instId) ?? 0) + 1);
  }
  const where = [...counts].map(([instId, count]) => `${count} in ${printable(instId)}`).join(", ");
  return [
    `${many} ${open.length === 1 ? "stays" : "stay"} open at ${place}: ${where}. To cancel: sluice run ${path} --seconds 5 --cancel`,
  ];
};

const lostLine = (lost: readonly string[], place: string): readonly string[] =>
  lost.length === 0
    ? []
    : [
        `${lost.length} ${lost.length === 1 ? "order" : "orders"} may or may not have reached ${place}; look for clOrdId ${named(lost)}.`,
      ];

const refusedLine = (reasons: ReadonlyMap<string, number>): readonly string[] => {
  const [commonest] = [...reasons].sort(([, a], [, b]) => b - a);
  if (commonest === undefined) return [];
  const all = [...reasons.values()].reduce((sum, count) => sum + count, 0);
  return [`warning: every order was refused (${all}); most often (${commonest[1]}): ${printable(commonest[0])}`];
};

/** The event as it is shown: quantities with what they count, as a bare number may mean three things. */
export const withUnits = (event: Event, profile: Profile): Event => {
  if (event.type === "order.external") return { ...event, sz: `${event.sz} ${unitOf(event.instId, profile)}`.trim() };
  if (event.type !== "order.changed" || event.record === undefined) return event;
  const record: OrderRecord = {
    ...event.record,
    accFillSz: `${event.record.accFillSz} ${unitOf(event.record.instId, profile)}`.trim(),
  };
  return { ...event, record };
};

const unitOf = (instId: string, { order }: Profile): string => {
  const parts = readInstId(instId);
  if (parts === undefined) return "";
  const unit = order.szUnit[parts.instType];
  return unit === "contracts" ? "contracts" : unit === "base" ? parts.base : parts.quote;
};
