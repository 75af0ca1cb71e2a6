/**
 * Levels of events in a log: what needs a person, what is worth a line, and what only a search for a fault wants.
 */
import type { Event } from "sluice";
import type { EventText, EventType } from "sluice/extension";

export const names = ["trace", "debug", "info", "warn", "error"] as const;
export type Level = (typeof names)[number];

/** Events whose level is not `info`. */
export const levels: Readonly<Partial<Record<EventType, Level>>> = {
  "start.waiting": "warn",
  "action.held": "debug",
  "action.sent": "trace",
  "action.answered": "debug",
  "action.dropped": "debug",
  "quota.rejected": "warn",
  "quota.otherClients": "debug",
  "quota.mode": "warn",
  "order.changed": "debug",
  "order.refused": "warn",
  "order.slowed": "warn",
  "order.inexact": "warn",
  "position.unprotected": "error",
  "protection.changed": "debug",
  "position.left": "error",
  "journal.failed": "error",
  "strategy.failed": "error",
  "strategy.restarting": "warn",
  "strategy.quarantined": "error",
  "strategy.reducing": "warn",
  "strategy.halted": "warn",
  "plugin.failed": "error",
  "engine.stalled": "warn",
  "mode.changed": "warn",
  anomaly: "warn",
};

const levelBySeverity = { info: "info", warn: "warn", bad: "error" } as const;

/** `text`: that of a plugin's event. Rejected orders, and those whose state is not known, rank above other changes. */
export const levelOf = (event: Event, text: EventText | undefined): Level => {
  if (event.type === "order.changed" && (event.phase === "rejected" || event.phase === "unknown")) return "warn";
  return levels[event.type] ?? (text === undefined ? "info" : levelBySeverity[text[0]]);
};
