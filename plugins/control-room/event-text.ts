/**
 * One line of text for an event, and its severity.
 *
 * Invariants: pure; every event has a text; foreign text is unchanged, so code that shows a line must escape it.
 * Not here: lines of a terminal (cli/run-progress.ts), which leave most events out.
 */

import type { Event } from "sluice";
import { type EventOf, type EventText, type EventType, withoutSecrets } from "sluice/extension";

type Sayings = { readonly [T in EventType]?: (event: EventOf<T>) => EventText };

const orderSaying = ({ strategy, slot, instId, phase, reason }: EventOf<"order.changed">): EventText => {
  const severity = phase === "unknown" || phase === "rejected" ? "bad" : phase === "absent" ? "warn" : "info";
  return [severity, `${strategy}/${slot} ${instId}: ${phase}${because(reason)}`];
};

/** One member of the union for both. */
type Protected = Extract<Event, { readonly takeProfitPx: string | undefined }>;

const protectionSaying = ({ type, strategy, name, instId, qty, stopPx, takeProfitPx }: Protected): EventText => {
  const levels = `${stopPx === undefined ? "" : `, stop ${stopPx}`}${takeProfitPx === undefined ? "" : `, take-profit ${takeProfitPx}`}`;
  return [
    "info",
    `${strategy}/${name}: ${qty} of ${instId} protected${type === "protection.changed" ? " anew" : ""}${levels}`,
  ];
};

const withExits = (full: boolean | undefined): string => (full === true ? ", exits included" : "");
const because = (reason: string): string => (reason === "" ? "" : `: ${reason}`);
const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

const sayings: Sayings = {
  "engine.started": ({ strategies }) => ["info", `engine started with ${strategies.join(", ") || "no strategy"}`],
  "start.waiting": ({ reason }) => ["warn", `not started yet${because(reason)}`],
  "engine.stopped": ({ reason }) => ["warn", `engine stopped${because(reason)}`],
  "journal.opened": ({ run, unresolved, repaired }) => [
    unresolved > 0 || repaired !== undefined ? "warn" : "info",
    `run ${run} on its journal, ${unresolved} orders of earlier runs to be looked for${because(repaired ?? "")}`,
  ],
  "journal.failed": ({ reason }) => ["bad", reason],
  "journal.restored": ({ unrecorded }) => [
    "info",
    `the journal is written again; exits that had left without a record: ${unrecorded}`,
  ],
  "action.held": ({ endpoint, layer }) => ["info", `${endpoint} waits for quota of ${layer}`],
  "action.sent": ({ endpoint, owner, weight }) => ["info", `${endpoint} sent for ${owner}, weight ${weight}`],
  "action.answered": ({ endpoint, outcome, status, code, elapsedMs }) => [
    outcome === "done" ? "info" : "warn",
    `${endpoint} ${outcome} after ${elapsedMs} ms (HTTP ${status}${code === "" ? "" : `, code ${code}`})`,
  ],
  "action.dropped": ({ endpoint, reason }) => ["warn", `${endpoint} given up${because(reason)}`],
  "quota.rejected": ({ layer }) => ["bad", `HTTP 429 by the ${layer} limit`],
  "quota.otherClients": ({ layer, used }) => ["warn", `other clients used ${used} of the ${layer} limit`],
  "quota.mode": ({ layer, scope, mode, why }) =>
    mode === "floor"
      ? ["warn", `the ${layer} limit of ${scope} is spent evenly, without the service's counts: ${why}`]
      : ["info", `the ${layer} limit of ${scope} is spent by the service's counts again: ${why}`],
  "order.changed": orderSaying,
  fill: ({ strategy, slot, instId, side, qty, px, cost, currency }) => [
    "info",
    `${strategy}/${slot}: ${side === "buy" ? "bought" : "sold"} ${qty} ${instId} at ${px}, fee ${cost} ${currency}`,
  ],
  "order.refused": ({ strategy, slot, reason }) => ["warn", `${strategy}/${slot} refused${because(reason)}`],
  "order.slowed": ({ strategy, slot, rejections, reason }) => [
    "warn",
    `${strategy}/${slot} slowed down after ${rejections} rejections${because(reason)}`,
  ],
  "order.inexact": ({ strategy, slot, qty, filledQty, reason }) => [
    "warn",
    `${strategy}/${slot}: ${filledQty} of ${qty} executed finally${because(reason)}`,
  ],
  "order.external": ({ ordId, instId, side, sz, state }) => [
    "warn",
    `order ${ordId} of another client: ${side} ${instId}, sz ${sz}, ${state}`,
  ],
  "history.external": ({ orders }) => ["info", `${orders} orders of other clients had ended before`],
  "position.unprotected": ({ strategy, slot, instId, qty, side, reason }) => [
    "bad",
    `${strategy}/${slot}: ${qty} of ${instId} without the wanted ${side}${because(reason)}`,
  ],
  "position.protected": ({ strategy, slot, instId, closed }) => [
    "info",
    `${strategy}/${slot}: ${closed ? `nothing of ${instId} is left to exit` : `the exit in ${instId} is in place`}`,
  ],
  "position.closing": ({ uid, strategy = uid, instId, pos }) => ["warn", `closing ${pos} ${instId} of ${strategy}`],
  "position.closed": ({ uid, strategy = uid, instId, pos }) => ["info", `closed ${pos} ${instId} of ${strategy}`],
  "position.left": ({ uid, strategy = uid, instId, pos, reason }) => [
    "bad",
    `${pos} ${instId} of ${strategy} is still open${because(reason)}`,
  ],
  "position.agreed": ({ uid, instId, pos }) => [
    "info",
    `strategies hold again what the account of ${uid} has of ${instId}: ${pos}`,
  ],
  "protection.armed": (event) => protectionSaying(event),
  "protection.changed": (event) => protectionSaying(event),
  "protection.triggered": ({ strategy, name, instId, kind, triggerPx, px }) => [
    "warn",
    `${strategy}/${name}: ${kind} of ${instId} at ${triggerPx} reached by ${px}`,
  ],
  "protection.ended": ({ strategy, name, instId, reason }) => [
    "info",
    `${strategy}/${name}: protection of ${instId} ended${because(reason)}`,
  ],
  "strategy.failed": ({ strategy, message }) => [
    "bad",
    `strategy ${strategy} failed${because(ownWordsOf(strategy, message))}`,
  ],
  "strategy.restarting": ({ strategy, failures, inMs }) => [
    "warn",
    `strategy ${strategy} starts again in ${seconds(inMs)} after ${failures} failures`,
  ],
  "strategy.restarted": ({ strategy }) => ["warn", `strategy ${strategy} was started again`],
  "strategy.quarantined": ({ strategy, failures, withinMs }) => [
    "bad",
    `strategy ${strategy} failed ${failures} times within ${seconds(withinMs)} and is not started again`,
  ],
  "strategy.reducing": ({ strategy, reason }) => ["warn", `strategy ${strategy} only reduces${because(reason)}`],
  "strategy.halted": ({ strategy, reason, full }) => [
    "bad",
    `strategy ${strategy} halted${withExits(full)}${because(reason)}`,
  ],
  "strategy.resumed": ({ strategy, reason }) => ["info", `strategy ${strategy} resumed${because(reason)}`],
  "strategy.changed": ({ strategy, changes }) => [
    "warn",
    `strategy ${strategy} starts with changed options ${JSON.stringify(withoutSecrets(changes))}`,
  ],
  "operator.acted": ({ action, target, by, reason }) => [
    "warn",
    `${action}${target === "" ? "" : ` ${target}`} asked for by ${by}${because(reason)}`,
  ],
  "plugin.failed": ({ plugin, message }) => ["bad", `plugin ${plugin} failed${because(message)}`],
  "engine.stalled": ({ lateMs }) => ["warn", `the event loop was blocked for ${lateMs} ms`],
  "standby.lost": ({ leader }) => ["bad", `${leader} has taken the lead; this process sends nothing more`],
  "mode.changed": ({ mode, reason, full }) => [
    mode === "active" ? "info" : "bad",
    `trading ${mode}${withExits(full)}${because(reason)}`,
  ],
  anomaly: ({ what, detail }) => ["warn", `${what}: ${detail}`],
};

const textMax = 500;

/** Severity and text; longer texts are cut. `ofPlugin`: the text of a plugin's event. */
export const eventSaying = (event: Event, ofPlugin?: EventText): EventText => {
  const saying = (sayings[event.type] as ((event: Event) => EventText) | undefined)?.(event) ??
    ofPlugin ?? ["info", event.type];
  return saying[1].length <= textMax ? saying : [saying[0], `${saying[1].slice(0, textMax - 3)}...`];
};

/** The message of a failure without the name, which the line begins with. */
const ownWordsOf = (name: string, message: string): string =>
  message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message;
