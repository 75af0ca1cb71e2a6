/**
 * Map of event names to the event that a listener receives.
 *
 * Invariants: the table of names has one line for each name of the core in `EventMap` and no other, which the compiler
 * checks; an event type may not be named like an order phase (`order.filled`), as the map would then not compile.
 * Not here: what events hold (events.ts), how they reach listeners (event-emitter.ts).
 */
import { didYouMean, SluiceError } from "../errors.ts";
import type { Event, EventOf, EventType, OrderPhase, PluginEvents } from "./events.ts";

type ByType = { readonly [T in EventType]: EventOf<T> };
type ByPhase = { readonly [P in OrderPhase as `order.${P}`]: EventOf<"order.changed"> & { readonly phase: P } };

/**
 * Names that `on` takes, and the event that its listener receives: every event type, such as `fill` or
 * `quota.rejected`; `order.<phase>`, such as `order.filled`, for the `order.changed` of that phase; and `event` for
 * all. `EventMap["fill"]` is the type of one fill.
 */
export interface EventMap extends ByType, ByPhase {
  readonly event: Event;
}

export type EventName = keyof EventMap;

const names: Readonly<Record<Exclude<EventName, keyof PluginEvents>, true>> = {
  event: true,
  "engine.started": true,
  "start.waiting": true,
  "engine.stopped": true,
  "journal.opened": true,
  "journal.failed": true,
  "journal.restored": true,
  "action.held": true,
  "action.sent": true,
  "action.answered": true,
  "action.dropped": true,
  "quota.rejected": true,
  "quota.otherClients": true,
  "quota.mode": true,
  "order.changed": true,
  "order.planned": true,
  "order.sent": true,
  "order.acked": true,
  "order.live": true,
  "order.partially_filled": true,
  "order.canceling": true,
  "order.filled": true,
  "order.canceled": true,
  "order.rejected": true,
  "order.unknown": true,
  "order.absent": true,
  fill: true,
  "order.refused": true,
  "order.slowed": true,
  "order.inexact": true,
  "position.unprotected": true,
  "position.protected": true,
  "protection.armed": true,
  "protection.changed": true,
  "protection.triggered": true,
  "protection.ended": true,
  "order.external": true,
  "history.external": true,
  "position.closing": true,
  "position.closed": true,
  "position.left": true,
  "position.agreed": true,
  "strategy.failed": true,
  "strategy.restarting": true,
  "strategy.restarted": true,
  "strategy.quarantined": true,
  "strategy.reducing": true,
  "strategy.halted": true,
  "strategy.resumed": true,
  "strategy.changed": true,
  "operator.acted": true,
  "plugin.failed": true,
  "engine.stalled": true,
  "standby.lost": true,
  "mode.changed": true,
  anomaly: true,
};

/**
 * Throws for a name that is neither an event of the core nor of `ofPlugins`. Types cannot check this for plain
 * JavaScript.
 */
export const checkEventName = (name: unknown, ofPlugins: ReadonlySet<string>): void => {
  if (typeof name !== "string") throw unknownName(typeof name, `Give a text such as "order.filled".`);
  const isKnown = (text: string): boolean => Object.hasOwn(names, text) || ofPlugins.has(text);
  if (isKnown(name)) return;
  const dotted = name.replace(":", ".");
  if (isKnown(dotted)) throw unknownName(`"${name}"`, `Names are written with a dot: "${dotted}".`);
  const near = didYouMean(dotted, [...Object.keys(names), ...ofPlugins]).trim();
  throw unknownName(
    `"${name}"`,
    `${near} The type EventMap lists them all; those of a plugin exist where the config has the plugin.`.trim(),
  );
};

const unknownName = (name: string, remedy: string): SluiceError =>
  new SluiceError("EVENT_UNKNOWN", `on(${name}): no event has this name. ${remedy}`);
