/**
 * Rules: which events are worth an alert, and how often.
 *
 * Invariants: pure but for its own memory; the first alert of a subject goes out at once, later ones within the rule's
 * interval are counted and reported as one when it is over; at most 1,000 subjects are remembered, and the oldest is
 * dropped first.
 * Not here: sending (outbox.ts), losses and staleness, which are no events (watches.ts).
 */
import type { Event, EventMap, PluginContext } from "sluice";
import type { EventText, EventType } from "sluice/extension";
import { type Alert, type Level, lineOf } from "./alert.ts";

export interface Rule {
  readonly level: Level;
  /** Time within which a subject has at most one alert. */
  readonly everyMs: number;
  readonly what: string;
}

/** Every rule with its defaults; the reference of options is this table. */
export const rules = {
  fill: { level: "info", everyMs: 0, what: "an order executed" },
  mode: { level: "critical", everyMs: 0, what: "the engine or a strategy was halted, reduced or resumed" },
  strategy: { level: "critical", everyMs: 0, what: "a strategy failed, was restarted or given up; a plugin failed" },
  unprotected: {
    level: "critical",
    everyMs: 60_000,
    what: "a position is held and its exit is not in place; and again when it is",
  },
  protection: { level: "warning", everyMs: 0, what: "a stop or take-profit was triggered" },
  rejects: { level: "warning", everyMs: 300_000, what: "many orders rejected by the service within a minute" },
  refused: { level: "warning", everyMs: 300_000, what: "a wanted order was refused before sending" },
  unknown: { level: "warning", everyMs: 60_000, what: "an order was sent and its state is not known" },
  quotaRejected: { level: "warning", everyMs: 60_000, what: "the service answered that a rate limit is exceeded" },
  quotaBlocked: { level: "warning", everyMs: 300_000, what: "an action waits for quota longer than `heldMs`" },
  watchdog: { level: "critical", everyMs: 60_000, what: "the watchdog is lost or cancels; and again when it is armed" },
  journal: { level: "critical", everyMs: 60_000, what: "the journal cannot be written; and again when it can" },
  positionLeft: { level: "critical", everyMs: 0, what: "a position of the account could not be closed" },
  stalled: { level: "warning", everyMs: 60_000, what: "the event loop was blocked" },
  anomaly: { level: "warning", everyMs: 300_000, what: "something that should not happen was noticed" },
  loss: {
    level: "critical",
    everyMs: 0,
    what: "profit fell below a bound of `losses`; and again when it is above half of it",
  },
  stale: {
    level: "warning",
    everyMs: 0,
    what: "a part of the account's state is stale for longer than `staleMs`; and again when it is fresh",
  },
  operator: {
    level: "warning",
    everyMs: 0,
    what: "a person or program acted at a control port, or options of a strategy were changed",
  },
  started: { level: "info", everyMs: 0, what: "the engine started" },
  stopped: { level: "warning", everyMs: 0, what: "the engine stopped" },
  plugin: { level: "warning", everyMs: 300_000, what: "an event that a plugin declares as bad" },
} as const satisfies Readonly<Record<string, Rule>>;

export type RuleName = keyof typeof rules;

/** Finding of a rule; `subject` distinguishes findings of the same rule. */
export interface Finding {
  readonly rule: RuleName;
  readonly subject: string;
  readonly text: string;
  /** Good news, which is sent at level `info`. */
  readonly isOver?: true;
}

interface Bounds {
  readonly rejects: number;
  readonly heldMs: number;
  /** uid of each user; the user is named where there are several. */
  readonly users: readonly string[];
  /** Text of a plugin's event. */
  readonly eventText: PluginContext<unknown>["eventText"];
}

const rejectsWithinMs = 60_000;

const found = (rule: RuleName, subject: string, text: string): Finding => ({ rule, subject, text });
const over = (rule: RuleName, subject: string, text: string): Finding => ({ rule, subject, text, isOver: true });
const because = (reason: string): string => (reason === "" ? "" : `: ${reason}`);

/** Bursts are the only memory of events: instants of rejections, at most as many as make one. */
export const createFinder = ({
  rejects,
  heldMs,
  users,
  eventText,
}: Bounds): ((event: Event) => Finding | undefined) => {
  let rejectedAt: number[] = [];
  const burst = (at: number, strategy: string, reason: string): Finding | undefined => {
    rejectedAt = [...rejectedAt.filter((one) => one > at - rejectsWithinMs), at].slice(-rejects);
    if (rejectedAt.length < rejects) return undefined;
    return found("rejects", "", `${rejects} orders rejected within 60 s, the last of ${strategy}${because(reason)}`);
  };
  return (event) => {
    if (event.type === "order.changed") {
      const { phase, strategy, slot, instId, reason, at } = event;
      if (phase === "rejected") return burst(at, strategy, reason);
      if (phase === "unknown")
        return found("unknown", strategy, `${strategy}: the state of order ${slot} in ${instId} is not known`);
      return undefined;
    }
    if (event.type === "action.held") {
      const { until, at, endpoint, layer } = event;
      if (until - at < heldMs) return undefined;
      return found(
        "quotaBlocked",
        layer,
        `${endpoint} waits ${Math.ceil((until - at) / 1_000)} s for quota of layer ${layer}`,
      );
    }
    if (event.type === "position.left") {
      const { uid, strategy, pos, instId, reason } = event;
      const whose = strategy !== undefined ? ` of ${strategy}` : users.length > 1 ? ` of ${uid}` : "";
      return found(
        "positionLeft",
        `${uid} ${strategy ?? ""} ${instId}`,
        `${pos} of ${instId}${whose} could not be closed${because(reason)}`,
      );
    }
    const finding = findings[event.type] as ((event: Event) => Finding | undefined) | undefined;
    return finding === undefined ? findingOfPlugin(event.type, eventText(event)) : finding(event);
  };
};

/**
 * Returns the finding of a plugin's event. The watchdog's events have a rule of their own; of other plugins only bad
 * events are reported.
 */
const findingOfPlugin = (type: string, text: EventText | undefined): Finding | undefined => {
  if (text === undefined) return undefined;
  const [severity, words] = text;
  if (type.startsWith("watchdog.")) return (severity === "bad" ? found : over)("watchdog", type, words);
  return severity === "bad" ? found("plugin", type, words) : undefined;
};

/** Events that are worth an alert by themselves; those of no line are not. */
const findings: { readonly [T in EventType]?: (event: EventMap[T]) => Finding | undefined } = {
  fill: ({ strategy, side, qty, instId, px, cost, currency, position }) => {
    const did = side === "buy" ? "bought" : "sold";
    return found(
      "fill",
      "",
      `${strategy} ${did} ${qty} of ${instId} at ${px} (fee ${cost} ${currency}), now holds ${position}`,
    );
  },
  "order.refused": ({ strategy, slot, reason }) =>
    found("refused", `${strategy} ${reason}`, `${strategy}: order ${slot} was refused${because(reason)}`),
  "position.unprotected": ({ strategy, slot, instId, side, qty, reason }) => {
    const text = `${strategy}: ${qty} of ${instId} are without their exit (${side}, ${slot})${because(reason)}`;
    return found("unprotected", `${strategy} ${slot} ${instId}`, text);
  },
  "position.protected": ({ strategy, slot, instId }) =>
    over("unprotected", `${strategy} ${slot} ${instId}`, `${strategy}: the exit of ${instId} (${slot}) is in place`),
  "protection.triggered": ({ strategy, kind, qty, instId, px, triggerPx }) =>
    found("protection", "", `${strategy}: ${kind} of ${qty} ${instId} was triggered by ${px} (level ${triggerPx})`),
  "strategy.failed": ({ strategy, message }) =>
    found("strategy", `${strategy} failed`, `strategy ${strategy} failed${because(message)}`),
  "strategy.restarting": ({ strategy, inMs }) =>
    over("strategy", `${strategy} restarting`, `strategy ${strategy} starts again in ${inMs / 1_000} s`),
  "strategy.restarted": ({ strategy }) => over("strategy", `${strategy} restarted`, `strategy ${strategy} runs again`),
  "strategy.quarantined": ({ strategy, failures }) =>
    found("strategy", `${strategy} given up`, `strategy ${strategy} failed ${failures} times and is not started again`),
  "strategy.reducing": ({ strategy, reason }) =>
    found("mode", strategy, `strategy ${strategy} may only reduce${because(reason)}`),
  "strategy.halted": ({ strategy, reason }) =>
    found("mode", strategy, `strategy ${strategy} is halted${because(reason)}`),
  "strategy.resumed": ({ strategy, reason }) =>
    over("mode", strategy, `strategy ${strategy} may trade again${because(reason)}`),
  "operator.acted": ({ action, target, by, reason }) =>
    found("operator", "", `${by} asked for ${action}${target === "" ? "" : ` of ${target}`}${because(reason)}`),
  "strategy.changed": ({ strategy }) => found("operator", "", `strategy ${strategy} continues with other options`),
  "plugin.failed": ({ plugin, message }) =>
    found("strategy", `plugin ${plugin}`, `plugin ${plugin} failed${because(message)}`),
  "mode.changed": ({ mode, reason }) => {
    if (mode === "active") return over("mode", "", `trading is active again${because(reason)}`);
    // The stop has an event of its own.
    return reason === "stop" ? undefined : found("mode", "", `trading is ${mode}${because(reason)}`);
  },
  "quota.rejected": ({ layer }) =>
    found("quotaRejected", layer, `the service refused a call by the rate limit of layer ${layer}`),
  "journal.failed": ({ reason }) => found("journal", "", reason),
  "journal.restored": () => over("journal", "", "the journal is written again"),
  "engine.stalled": ({ lateMs }) => found("stalled", "", `the event loop was blocked for ${Math.round(lateMs)} ms`),
  anomaly: ({ what, detail }) => found("anomaly", what, `${what}: ${detail}`),
  "engine.stopped": ({ reason }) => found("stopped", "", `the engine has stopped: ${reason}`),
};

interface Remembered {
  readonly saidAt: number;
  readonly level: Level;
  readonly concern: Level;
  readonly everyMs: number;
  unsaid: number;
  last: string;
  readonly rule: string;
}

const subjectsMax = 1_000;

/** Holds back repetitions. `say` is called with the alerts to send now. */
export class Repetitions {
  readonly #remembered = new Map<string, Remembered>();
  readonly #say: (alert: Alert) => void;

  constructor(say: (alert: Alert) => void) {
    this.#say = say;
  }

  take(
    { rule, subject, text, isOver }: Finding,
    { level: least, everyMs }: Pick<Rule, "level" | "everyMs">,
    at: number,
  ): void {
    const level = isOver === true ? "info" : least;
    const concern = least;
    const key = `${rule} ${isOver === true} ${subject}`;
    const known = this.#remembered.get(key);
    if (known !== undefined && at < known.saidAt + everyMs) {
      known.unsaid++;
      known.last = text;
      return;
    }
    this.#remembered.delete(key);
    if (everyMs > 0) this.#remembered.set(key, { saidAt: at, level, concern, everyMs, unsaid: 0, last: text, rule });
    for (const oldest of this.#remembered.keys()) {
      if (this.#remembered.size <= subjectsMax) break;
      this.#remembered.delete(oldest);
    }
    this.#say({ at, rule, level, concern, text: lineOf(text) });
  }

  /** Sends held-back alerts that are due; forgets quiet subjects. */
  tick(now: number): void {
    for (const [key, one] of this.#remembered) {
      if (now < one.saidAt + one.everyMs) continue;
      this.#remembered.delete(key);
      if (one.unsaid > 0) this.#repeat(key, one, now);
    }
  }

  /** Sends everything that was held back, at the stop. */
  end(now: number): void {
    for (const [key, one] of this.#remembered) if (one.unsaid > 0) this.#repeat(key, one, now);
    this.#remembered.clear();
  }

  #repeat(key: string, one: Remembered, at: number): void {
    const { rule, level, concern, everyMs, unsaid, last } = one;
    this.#remembered.set(key, { ...one, saidAt: at, unsaid: 0 });
    this.#say({
      at,
      rule,
      level,
      concern,
      text: lineOf(`${last} (${unsaid} more within ${Math.round(everyMs / 1_000)} s)`),
    });
  }
}
