/**
 * Rare states by name, counted: a run that never reached one has not tested it.
 *
 * Invariants: marks are read from the engine's events and from the world around it; the engine does nothing for their
 * sake; every mark that can be made is in the list, so that marks that were never reached can be named.
 */
import type { Event, PluginEvents } from "sluice";
import type { EventOf } from "sluice/extension";
import { crashMoments, exitMoments, type FaultKind, faultKinds } from "./fault.ts";
import { networkKinds } from "./network.ts";
import type { Watched } from "./oracle.ts";

const resolutions = ["live", "partially_filled", "filled", "canceled", "absent"] as const;
/** Layers of rate limits. Waits at the start, before anything is known of the windows, are not reported. */
const layers = ["key", "uid", "ip"] as const;
const outcomes = ["done", "rejected", "limited", "unknown", "dropped"] as const;
const pushFaults = ["push-lost", "push-double", "push-late"] as const;

/** Marks by the reason's text: the subject of the reason. */
const reasons: readonly (readonly [phase: string, words: RegExp, mark: string])[] = [
  ["live", /^adopted/, "an order of a previous run was taken over"],
  ["canceling", /older order of the same slot/, "a surplus order was canceled"],
  ["canceling", /found while halted/, "an order was found while halted"],
  ["canceling", /replaced/, "an order was replaced"],
  ["canceling", /unwanted/, "an unwanted order was canceled"],
  ["unknown", /previous run/, "an order of a previous run was looked for"],
  ["unknown", /no answer within/, "a placement was not answered"],
  ["unknown", /status 5/, "a placement was answered by an error of the service"],
  ["unknown", /status 408/, "a placement was answered too late by a proxy"],
  ["unknown", /not an envelope|cannot be read|without a/, "a placement was answered and could not be read"],
  ["planned", /rate limit/, "a placement came back from a rate limit"],
  ["planned", /unwritten/, "a placement could not be written down"],
  ["canceled", /withdrawn before/, "a placement that came back was withdrawn"],
  ["rejected", /post-only/, "a post-only order would have taken"],
  ["rejected", /available/, "the account could not pay for an order"],
  ["rejected", /px is a positive multiple/, "an order was off the tick"],
  ["rejected", /sz is (too small|not a multiple)/, "an order was off the lot"],
  ["rejected", /not exist|tradable|listed/i, "an order was for a product that is gone"],
];

const refusals: readonly (readonly [words: RegExp, mark: string])[] = [
  [/journal cannot be written/, "an order was refused because of the journal"],
  [/port refuses/, "an order was refused by the port"],
  [/below/, "an order was refused for its size"],
];

// biome-ignore format: one a line
const single = [
  "a start failed and was tried again", "the journal failed", "the journal was written again", "a torn end of the journal was repaired", "a process began with unresolved orders",
  "an order ended while no process ran", "a halt outlived its process", "a placement was kept back by a halt", "cancel met fill", "cancel met partial fill",
  "a cancel did not take", "a cancel of ours was confirmed", "another client canceled our order", "an order filled at once", "a partial fill",
  "a refusal by a limit while an order was being canceled", "a refusal by a limit", "use by other clients was noticed", "an order of another client was seen", "a position was without the exit its strategy wanted",
  "an id was used again", "a clock step was noticed", "an answer was partly unreadable", "an order vanished from all listings", "an order stayed in doubt for long", "an order was rejected with a code on no list", "halted",
  "resumed", "an emergency cancel left", "several orders were canceled by one call", "an exit had to wait", "a look by id was needed", 
  "a read had to wait", "a look had to wait", "a placement had to wait", "an action was dropped", "reducing", "a change while pushes were cut", "a change while pushes were silent",
  "an answer lost after a placement was executed", "a dead process's placement was executed", "a placement was executed after its sender gave up",
  "a fill while its order was unknown", "a stop was due", "a protection closed",
  "a stopLoss was triggered", "a takeProfit was triggered", "a trailing was triggered",
] as const;

const endpoints = ["placeOrder", "cancelBatch", "getOrder", "pendingOrders", "orderHistory", "instruments"] as const;
const metBy = (kind: FaultKind): readonly string[] =>
  kind === "broken-record" || kind === "strange-order"
    ? ["pendingOrders", "orderHistory"]
    : kind === "partial-fill"
      ? ["placeOrder", "cancelBatch"]
      : kind === "double-request"
        ? endpoints.filter((endpoint) => endpoint !== "placeOrder")
        : endpoints;

/** Every mark that can be made. */
export const markNames: readonly string[] = [
  ...faultKinds.map((kind) => `fault ${kind}`),
  ...networkKinds.flatMap((kind) => metBy(kind).map((endpoint) => `${kind} met ${endpoint}`)),
  ...pushFaults.map((kind) => `${kind} met a push`),
  ...[...crashMoments, ...Object.values(exitMoments)]
    .filter((moment) => moment !== "at once")
    .map((moment) => `crash ${moment}`),
  ...endpoints.map((endpoint) => `no answer to ${endpoint}`),
  ...resolutions.map((phase) => `unknown resolved as ${phase}`),
  ...layers.map((layer) => `held by ${layer}`),
  ...outcomes.flatMap((outcome) => (outcome === "dropped" ? [] : [`placement ${outcome}`, `cancel ${outcome}`])),
  ...reasons.map(([, , mark]) => mark),
  ...refusals.map(([, mark]) => mark),
  ...single,
];

export class CoverageMarks {
  readonly #counts = new Map<string, number>();

  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  readonly mark = (name: string): void => {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  };

  event(event: Event, process: Watched): void {
    if (event.type === "order.changed") this.#change(event, process);
    else if (event.type === "quota.rejected" && [...process.phases.values()].includes("canceling")) {
      this.mark("a refusal by a limit while an order was being canceled");
    }
    if (event.type === "mode.changed" && event.mode === "halted" && process.bornHalted)
      this.mark("a halt outlived its process");
    for (const name of marksOf(event) ?? []) this.mark(name);
  }

  #change({ clOrdId, phase, reason, record }: EventOf<"order.changed">, { phases, mode }: Watched): void {
    const before = phases.get(clOrdId);
    if (before === "unknown" && phase !== "unknown") this.mark(`unknown resolved as ${phase}`);
    if (before === "planned" && phase === "sent") this.mark("an id was used again");
    if (phase === "planned" && /unwritten/.test(reason) && mode === "halted")
      this.mark("a placement was kept back by a halt");
    if (before === "unknown" && record !== undefined && record.accFillSz !== "" && record.accFillSz !== "0")
      this.mark("a fill while its order was unknown");
    if (before === "canceling") {
      if (phase === "filled") this.mark("cancel met fill");
      else if (phase === "canceling" && record?.state === "partially_filled") this.mark("cancel met partial fill");
      else if (phase === "canceled") this.mark("a cancel of ours was confirmed");
      else if (phase === "live") this.mark("a cancel did not take");
    } else if (phase === "canceled" && before === "live") this.mark("another client canceled our order");
    if (phase === "filled" && (before === "sent" || before === "acked")) this.mark("an order filled at once");
    if (phase === "partially_filled") this.mark("a partial fill");
    for (const [of, words, name] of reasons) if (of === phase && words.test(reason)) this.mark(name);
    if (reason === "ended meanwhile") this.mark("an order ended while no process ran");
  }
}

const openingNames = ({ unresolved, repaired }: EventOf<"journal.opened">): readonly string[] => [
  ...(unresolved > 0 ? ["a process began with unresolved orders"] : []),
  ...(repaired === undefined ? [] : ["a torn end of the journal was repaired"]),
];

type CoreEvent = Exclude<Event, { readonly type: keyof PluginEvents }>;

/** Returns the marks of a single event; undefined for the events of plugins. */
const marksOf = (event: Event): readonly string[] | undefined => namesOf(event as CoreEvent);

const namesOf = (event: CoreEvent): readonly string[] => {
  switch (event.type) {
    case "order.refused":
      return refusals.filter(([words]) => words.test(event.reason)).map(([, name]) => name);
    case "history.external":
    case "order.external":
      return ["an order of another client was seen"];
    case "action.held":
      return [`held by ${event.layer}`, waits[event.class] ?? "an exit had to wait"];
    case "action.sent":
      if (event.class === "emergency") return ["an emergency cancel left"];
      return event.endpoint === "getOrder" ? ["a look by id was needed"] : [];
    case "action.answered":
      if (event.endpoint === "placeOrder") return [`placement ${event.outcome}`];
      return event.endpoint === "cancelBatch" ? [`cancel ${event.outcome}`] : [];
    case "action.dropped":
      return ["an action was dropped"];
    case "quota.rejected":
      return ["a refusal by a limit"];
    case "quota.otherClients":
      return ["use by other clients was noticed"];
    case "quota.mode":
      return [];
    case "journal.opened":
      return openingNames(event);
    case "journal.restored":
      return ["the journal was written again"];
    case "mode.changed":
      return [{ halted: "halted", active: "resumed", reducing: "reducing" }[event.mode]];
    case "anomaly":
      return anomalies[event.what] === undefined ? [] : [anomalies[event.what] ?? ""];
    case "protection.triggered":
      return [`a ${event.kind} was triggered`];
    case "position.unprotected":
      return ["a position was without the exit its strategy wanted"];
    case "order.changed":
    case "protection.armed":
    case "protection.changed":
    case "protection.ended":
    case "order.inexact":
    case "order.slowed":
    case "fill":
    case "position.protected":
    case "position.closing":
    case "position.closed":
    case "position.left":
    case "position.agreed":
    case "journal.failed":
    case "engine.started":
    case "start.waiting":
    case "engine.stopped":
    case "strategy.failed":
    case "strategy.restarting":
    case "strategy.restarted":
    case "strategy.quarantined":
    case "strategy.reducing":
    case "strategy.halted":
    case "strategy.resumed":
    case "strategy.changed":
    case "operator.acted":
    case "plugin.failed":
    case "engine.stalled":
    case "standby.lost":
      return [];
  }
};

const waits: Readonly<Record<string, string>> = {
  place: "a placement had to wait",
  read: "a read had to wait",
  backfill: "a read had to wait",
  resolve: "a look had to wait",
};

const anomalies: Readonly<Record<string, string>> = {
  "clock.step": "a clock step was noticed",
  "answer.unreadable": "an answer was partly unreadable",
  "order.vanished": "an order vanished from all listings",
  "order.unresolved": "an order stayed in doubt for long",
  "answer.unlisted": "an order was rejected with a code on no list",
};
