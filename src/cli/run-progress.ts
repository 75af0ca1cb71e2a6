/**
 * Text output of a run: a line of progress, a line for each notable event, the counts at the end.
 *
 * Invariants: pure text, one line each, no colour needed to understand it; text from outside is made printable.
 * Not here: the line of status (status-line.ts), when and where lines are written (run.ts, backtest.ts).
 */

import { instTypeOf } from "../contract/inst-id.ts";
import { ownWordsOf } from "../host/failure.ts";
import { groupHaltPrefix } from "../host/operator-view.ts";
import type { Event, EventOf, EventText, EventType } from "../journal/events.ts";
import { accountSlot } from "../orders/closing-slots.ts";
import { stoppedWords, stopsWords } from "../orders/risk/trading-mode.ts";
import { cut, type Ink, ink, printable, widthOf } from "../report/ansi.ts";
import type { Progress } from "../report/report.ts";

/** Counts of a run so far, from its events. */
export interface Tally {
  readonly startedAt: number;
  mode: string;
  /** Why nothing is traded, by strategy; under "" of all. */
  readonly halted: Map<string, string>;
  /** The last halt was a full stop: exits, stops and targets are suspended. */
  isFull: boolean;
  /** Protections in force. */
  armed: number;
  /** Remedy of a halt. */
  readonly remedy: string;
  /** Trading has begun, so that a halt is not one of a previous run. */
  started: boolean;
  /** The run is being stopped, and what that halts is no news. */
  stopping: boolean;
  sent: number;
  weight: number;
  unknown: number;
  limited: number;
  held: number;
  placed: number;
  filled: number;
  canceled: number;
  rejected: number;
  refused: number;
  /** Why the first order was refused or rejected. */
  turnedDown: string | undefined;
  anomalies: number;
  /** Number of anomalies by name. */
  readonly anomalyKinds: Map<string, number>;
  readonly failures: string[];
}

export const createTally = (startedAt: number, remedy = "resume with --resume"): Tally => ({
  startedAt,
  mode: "active",
  halted: new Map(),
  isFull: false,
  armed: 0,
  remedy,
  started: false,
  stopping: false,
  sent: 0,
  weight: 0,
  unknown: 0,
  limited: 0,
  held: 0,
  placed: 0,
  filled: 0,
  canceled: 0,
  rejected: 0,
  refused: 0,
  turnedDown: undefined,
  anomalies: 0,
  anomalyKinds: new Map(),
  failures: [],
});

/** Functions by type of event; types without a meaning here have no entry. */
type PerEvent<Arg, Result> = { readonly [T in EventType]?: (event: EventOf<T>, arg: Arg) => Result };

const counters: PerEvent<Tally, void> = {
  "action.sent": ({ endpoint, weight }, tally) => {
    tally.sent++;
    tally.weight += weight;
    if (endpoint === "placeOrder") tally.placed++;
  },
  "action.answered": ({ outcome }, tally) => {
    if (outcome === "unknown") tally.unknown++;
  },
  "action.held": (_, tally) => {
    tally.held++;
  },
  "quota.rejected": (_, tally) => {
    tally.limited++;
  },
  "order.changed": ({ phase, reason }, tally) => {
    if (phase === "filled" || phase === "canceled" || phase === "rejected") tally[phase]++;
    if (phase === "rejected") tally.turnedDown ??= reason;
  },
  "order.refused": ({ reason }, tally) => {
    tally.refused++;
    // Orders that the stop itself cancels are not rejections.
    if (!tally.stopping) tally.turnedDown ??= reason;
  },
  "engine.started": (_, tally) => {
    tally.started = true;
  },
  "mode.changed": ({ mode, reason, full }, tally) => {
    if (tally.stopping && reason === ownStop) return;
    tally.mode = mode;
    tally.isFull = full === true;
    noteHalt(tally, "", mode === "halted" ? reason : undefined);
  },
  "protection.armed": (_, tally) => {
    tally.armed++;
  },
  "protection.ended": (_, tally) => {
    tally.armed--;
  },
  "strategy.halted": ({ strategy, reason, full }, tally) => {
    tally.isFull ||= full === true;
    noteHalt(tally, strategy, reason);
  },
  "strategy.reducing": ({ strategy }, tally) => {
    noteHalt(tally, strategy, undefined);
  },
  "strategy.resumed": ({ strategy }, tally) => {
    noteHalt(tally, strategy, undefined);
  },
  "strategy.failed": ({ strategy, message }, tally) => {
    tally.failures.push(`strategy ${strategy}: ${ownWordsOf(strategy, message)}`);
  },
  "plugin.failed": ({ plugin, message }, tally) => {
    tally.failures.push(`plugin ${plugin}: ${message}`);
  },
  anomaly: ({ what }, tally) => {
    noteAnomaly(tally, what);
  },
  "engine.stalled": ({ type }, tally) => {
    noteAnomaly(tally, type);
  },
};

const noteAnomaly = (tally: Tally, kind: string): void => {
  tally.anomalies++;
  tally.anomalyKinds.set(kind, (tally.anomalyKinds.get(kind) ?? 0) + 1);
};

const noteHalt = ({ halted, started }: Tally, strategy: string, reason: string | undefined): void => {
  if (reason === undefined) halted.delete(strategy);
  else halted.set(strategy, started ? reason : `${reason}${ofPrevious}`);
};

const ofPrevious = " (previous run)";

/** The reason that an engine gives for the mode in which it stops. */
const ownStop = "stop";

/** All engines of the group were halted together, while this one ran. */
export const isGroupHalt = ({ halted }: Tally): boolean => {
  const reason = halted.get("") ?? "";
  return reason.startsWith(groupHaltPrefix) && !reason.endsWith(ofPrevious);
};

/**
 * Halted parts and the reason, in one line; undefined where nothing is halted. With a width the reason is cut, so that
 * the remedy stays.
 */
export const haltWords = (tally: Tally, width = Number.POSITIVE_INFINITY): string | undefined => {
  const { halted, remedy } = tally;
  const all = halted.get("");
  const [[strategy, its] = ["", ""]] = halted;
  if (halted.size === 0) return undefined;
  const many = `${halted.size} strategies`;
  const [whom, why] =
    all !== undefined
      ? ["", all]
      : halted.size > 1
        ? [` ${many}`, [...halted.keys()].join(", ")]
        : [` ${strategy}`, its];
  const head = `HALTED${printable(whom)}: `;
  const tail = `; ${isGroupHalt(tally) ? "resume the group" : remedy}`;
  return `${head}${cut(printable(why), Math.max(1, width - widthOf(head) - widthOf(tail)))}${tail}`;
};

/** Adds one event to the tally. */
export const count = (tally: Tally, event: Event): void => {
  (counters[event.type] as ((event: Event, tally: Tally) => void) | undefined)?.(event, tally);
};

/** Hours, minutes and seconds, such as 0:01:30. */
export const timeOf = (ms: number): string => {
  const seconds = Math.floor(ms / 1_000);
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${Math.floor(seconds / 3_600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
};

/**
 * The line of an event that a person wants to read as it happens; undefined for the many others. `text`: that of a
 * plugin's event.
 */
export const eventLine = (event: Event, paint: Ink = ink(false), text?: EventText): string | undefined => {
  const words =
    (sayings[event.type] as ((event: Event, paint: Ink) => string | undefined) | undefined)?.(event, paint) ??
    (text && painted(text, paint));
  return words === undefined ? undefined : `${paint.dim(clockOf(event.at))}  ${words}`;
};

const painted = ([severity, text]: EventText, paint: Ink): string => {
  const line = printable(text);
  if (severity === "info") return line;
  return severity === "bad" ? paint.red(line) : paint.yellow(line);
};

const sayings: PerEvent<Ink, string | undefined> = {
  "engine.started": ({ strategies, plugins }) =>
    `started ${listed(strategies, "without strategies")}${plugins.length === 0 ? "" : ` with plugins ${listed(plugins, "")}`}`,
  "start.waiting": ({ reason }, paint) => `${paint.yellow("not started yet")}: ${printable(reason)}`,
  "engine.stopped": ({ reason }) => `stopped: ${printable(reason)}`,
  "order.changed": (event, paint) => orderWords(event, paint),
  "order.refused": ({ strategy, slot, reason }, paint) =>
    `${paint.yellow("refused")} ${nameOf(strategy, slot)}: ${printable(reason)}`,
  "order.external": ({ instId, ordId, side, px, sz, state }, paint) => {
    const how =
      state === "live" ? "open order" : state === "partially_filled" ? "partly filled order" : `${state} order`;
    const order = `${side} ${sz} ${instId} ${px === "" || px === "0" ? "at the market" : `at ${px}`} (${ordId})`;
    return `${paint.yellow(how)} not placed by this instance: ${printable(order)}`;
  },
  "order.inexact": ({ strategy, slot, reason }, paint) =>
    `${paint.yellow("inexact")} ${nameOf(strategy, slot)}: ${printable(reason)}`,
  "order.slowed": ({ strategy, slot, rejections, reason }, paint) =>
    `${paint.yellow("slowed down")} ${nameOf(strategy, slot)}: ${rejections} post-only orders in a row were rejected: ${printable(reason)}`,
  "position.unprotected": ({ strategy, slot, instId, side, qty, reason }, paint) =>
    `${paint.red("UNPROTECTED")} ${nameOf(strategy, slot)}: ${qty} of ${printable(instId)} without the wanted ${side}: ${printable(reason)}${waysOut(reason, strategy, instId)}`,
  "position.protected": ({ strategy, slot, instId, closed }) =>
    closed ? undefined : `protected ${nameOf(strategy, slot)}: the exit in ${printable(instId)} is in place`,
  "position.closing": ({ uid, strategy = uid, instId, pos }, paint) =>
    `${paint.yellow("closing")} ${printable(`${pos} ${instId} of ${strategy}`)} at the market`,
  "position.closed": ({ uid, strategy = uid, instId, pos }, paint) =>
    `${paint.green("closed")} ${printable(`${pos} ${instId} of ${strategy}`)}`,
  "position.left": ({ uid, strategy = uid, instId, pos, reason }, paint) =>
    `${paint.red("NOT CLOSED")} ${printable(`${pos} ${instId} of ${strategy}: ${reason}`)}`,
  "journal.failed": ({ reason }, paint) => `${paint.red("JOURNAL")} ${printable(reason)}`,
  "journal.restored": ({ unrecorded }) =>
    `the journal is written again; exits that had left without a record: ${unrecorded}`,
  "position.agreed": ({ instId, pos }) =>
    `in agreement again: account and strategies hold ${printable(`${pos} ${instId}`)}`,
  // The end of a strategy's order is reported.
  fill: ({ strategy, slot, side, qty, instId, px, cost, currency }) =>
    slot === accountSlot
      ? `${side === "buy" ? "bought" : "sold"} by the close: ${printable(`${qty} ${instId} of ${strategy} at ${px}, fee ${cost} ${currency}`)}`
      : undefined,
  "quota.rejected": ({ layer, until }, paint) =>
    `${paint.red("429")} by the ${printable(layer)} limit, blocked until ${clockOf(until)}`,
  // The command that stops a run prints its own line.
  "mode.changed": ({ mode, reason, full }, paint) =>
    reason === ownStop
      ? undefined
      : `${mode === "halted" ? paint.red(full === true ? "HALTED, exits included" : "HALTED") : paint.yellow(`mode ${mode}`)}: ${printable(reason)}`,
  "strategy.failed": ({ strategy, message }, paint) =>
    `${paint.red("strategy failed")} ${printable(strategy)}: ${printable(ownWordsOf(strategy, message))}`,
  "strategy.restarting": ({ strategy, failures, inMs }, paint) =>
    `${paint.yellow("strategy")} ${printable(strategy)} restarts in ${(inMs / 1_000).toFixed(1)} s, after ${failures} ${failures === 1 ? "failure" : "failures"}`,
  "strategy.restarted": ({ strategy }) => `strategy ${printable(strategy)} restarted`,
  "strategy.quarantined": ({ strategy, failures, withinMs }, paint) =>
    `${paint.red("strategy quarantined")} ${printable(strategy)}: it failed ${failures} times within ${withinMs / 1_000} s and is not restarted`,
  "strategy.reducing": ({ strategy, reason }, paint) =>
    `${paint.yellow("strategy reducing")} ${printable(strategy)}: ${printable(reason)}`,
  "strategy.halted": ({ strategy, reason, full }, paint) =>
    `${paint.red(`HALTED ${printable(strategy)}${full === true ? ", exits included" : ""}`)}: ${printable(reason)}`,
  "strategy.resumed": ({ strategy, reason }, paint) =>
    `${paint.yellow("strategy resumed")} ${printable(strategy)}: ${printable(reason)}`,
  "strategy.changed": ({ strategy, changes }, paint) =>
    `${paint.yellow("options changed")} ${printable(strategy)}: ${printable(JSON.stringify(changes))}`,
  "operator.acted": ({ action, target, by, reason }, paint) =>
    `${paint.yellow(printable(action))}${target === "" ? "" : ` ${printable(target)}`} by ${printable(by)}${reason === "" ? "" : `: ${printable(reason)}`}`,
  "engine.stalled": ({ lateMs }, paint) => `${paint.yellow("engine stalled")} for ${lateMs} ms`,
  "standby.lost": ({ leader }, paint) =>
    `${paint.red("lost the lead")} to ${printable(leader)}: this process sends nothing more`,
  "plugin.failed": ({ plugin, message }, paint) =>
    `${paint.red("plugin failed")} ${printable(plugin)}: ${printable(message)}`,
  anomaly: ({ what, detail }, paint) => `${paint.yellow("anomaly")} ${printable(what)}: ${printable(detail)}`,
};

/** Commands that close a position whose stops are suspended. */
const waysOut = (reason: string, strategy: string, instId: string): string => {
  const whose = instTypeOf(instId) === "SPOT" ? ` --strategy ${printable(strategy)}` : "";
  if (reason.startsWith(stoppedWords))
    return `; \`sluice ctl close${whose} --yes\` closes it, a resume puts its exit back`;
  if (reason !== stopsWords) return "";
  return whose === ""
    ? "; `sluice close <config>` closes it"
    : "; `sluice close <config>` sells it if config.journal keeps what strategies hold, else sell it at the service";
};

const listed = (names: readonly string[], none: string): string =>
  names.length === 0 ? none : names.map(printable).join(", ");
const nameOf = (strategy: string, slot: string): string => `${printable(strategy)}/${printable(slot)}`;
type OrderChanged = EventOf<"order.changed">;

/** Only endings and surprises: a maker's orders come and go by the thousand. */
const orderWords = ({ strategy, slot, phase, record, reason }: OrderChanged, paint: Ink): string | undefined => {
  const name = nameOf(strategy, slot);
  if (phase === "rejected" || phase === "unknown") return `${paint.red(phase)} ${name}: ${printable(reason)}`;
  if (phase === "absent") return `${paint.yellow("absent")} ${name}: ${printable(reason)}`;
  if (phase !== "filled") return undefined;
  const deal = record === undefined ? "" : ` ${record.side} ${record.instId} ${record.accFillSz} at ${record.avgPx}`;
  return `${paint.green("filled")} ${name}${printable(deal)}`;
};

/** Time of day in UTC. */
const clockOf = (at: number): string => (Number.isFinite(at) ? new Date(at).toISOString().slice(11, 23) : "-");

export const progressLine = ({ at, startAt, endAt, events }: Progress, elapsedMs: number, columns: number): string => {
  const share = endAt > startAt ? Math.min(1, Math.max(0, (at - startAt) / (endAt - startAt))) : 1;
  const width = 24;
  const full = Math.floor(share * width);
  const bar = `${"█".repeat(full)}${"░".repeat(width - full)}`;
  const left = share > 0.02 ? `, ${timeOf((elapsedMs / share) * (1 - share))} left` : "";
  return cut(`${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${events} events${left}`, columns - 1);
};

const anomalyWords = ({ anomalies, anomalyKinds }: Tally): string => {
  const kinds = [...anomalyKinds]
    .sort(([, a], [, b]) => b - a)
    .map(([kind, count]) => `${printable(kind)}${count === 1 ? "" : ` ${count} times`}`);
  return `${anomalies} ${anomalies === 1 ? "anomaly" : "anomalies"}: ${kinds.join(", ")}.`;
};

export const closingText = (tally: Tally, now: number, paint: Ink = ink(false)): string => {
  const lines = [
    `${paint.bold("Ran")} ${timeOf(now - tally.startedAt)}: ${tally.sent} requests, weight ${tally.weight}, ${tally.held} held for quota, ${tally.limited} refused with 429`,
    `Orders: ${tally.placed} placed, ${tally.filled} filled, ${tally.canceled} canceled, ${tally.rejected} rejected, ${tally.refused} refused before they were sent`,
    ...(tally.unknown === 0
      ? []
      : [`${tally.unknown} ${tally.unknown === 1 ? "request" : "requests"} had no answer that proves the result.`]),
    ...(tally.anomalies === 0 ? [] : [anomalyWords(tally)]),
  ];
  return `${lines.join("\n")}\n`;
};
