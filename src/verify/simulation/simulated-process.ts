/**
 * One process: an engine with its clock, its connection, its view of the market and its handle on the disk.
 *
 * Invariants: the engine is the real one and gets nothing but ports; what it says after its death is not heard; a process that
 * is told to die at a certain moment dies there.
 */
import { tap } from "rxjs";
import type { ServiceSpec } from "../../client/service-port.ts";
import { limitedStatus } from "../../contract/limits.ts";
import type { WireRequest } from "../../contract/transport.ts";
import { createEngine, type Engine } from "../../engine/engine.ts";
import type { Strategy } from "../../host/strategy.ts";
import type { Event } from "../../journal/events.ts";
import { createFeed, type Feed } from "../../market/feed.ts";
import type { WantedOrder } from "../../orders/wanted-order.ts";
import type { Environment } from "./environment.ts";
import type { CrashMoment } from "./fault.ts";
import type { DiskStep } from "./faulty-disk.ts";
import type { Watched } from "./oracle.ts";
import { createProcessClock, type ProcessClock } from "./process-clock.ts";
import { createSlotHistory, type SlotHistory } from "./slot-history.ts";

export interface SimulatedProcess {
  readonly number: number;
  readonly clock: ProcessClock;
  readonly engine: Engine;
  readonly feed: Feed;
  readonly watched: Watched;
  /** Resolves when the start has ended, well or badly. */
  readonly begun: Promise<void>;
  /** What each strategy wanted last. */
  readonly wanted: ReadonlyMap<string, readonly WantedOrder[]>;
  readonly slots: SlotHistory;
  /** Strategies that may not trade as they like, by a rule of the config. */
  readonly held: ReadonlySet<string>;
  state: "starting" | "running" | "stopping" | "over";
  /** The process dies at the next such moment. */
  dieAt(moment: CrashMoment, die: () => void): void;
  /** Fails what waits for the disk. */
  readonly abandon: () => void;
  readonly requestsAfterStop: () => number;
  readonly journalFailed: () => boolean;
}

interface SimulatedProcessOptions {
  readonly number: number;
  readonly seed: string;
  readonly plugins: boolean;
  readonly log: (event: Event) => void;
  readonly onFailedStart: (error: unknown) => void;
  readonly onJournalFailure: () => void;
}

class Dead extends Error {
  constructor() {
    super("the process has died");
  }
}

/** Far above what a crowd of orders makes of a moment in which everything changes. */
const saidMax = 20_000;

const momentOf: Readonly<Record<DiskStep, CrashMoment>> = {
  append: "as it writes",
  sync: "as it flushes",
  synced: "between flush and send",
};

export const startSimulatedProcess = (
  environment: Environment,
  { number, seed, plugins, log, onFailedStart, onJournalFailure }: SimulatedProcessOptions,
): SimulatedProcess => {
  const { time, config, tape, calendar, oracle, users, pushes, network, marks } = environment;
  const clock = createProcessClock(time, () => calendar.offsetMs);
  const watched = oracle.born(number, time.now());
  const wanted = new Map<string, readonly WantedOrder[]>();
  const slots = createSlotHistory(wanted);
  const held = new Set<string>();
  const deaths = new Set<() => void>();
  let doom: { readonly moment: CrashMoment; readonly die: () => void } | undefined;
  let requestsAfterStop = 0;
  let feed: Feed | undefined;

  const meet = (moment: CrashMoment): boolean => {
    if (doom?.moment !== moment) return false;
    const { die } = doom;
    doom = undefined;
    marks.mark(`crash ${moment}`);
    die();
    return true;
  };
  const step = (what: DiskStep): void => {
    if (!clock.alive || meet(momentOf[what])) throw new Dead();
  };
  const sender = {
    clock,
    sent: (request: WireRequest) => {
      if (life.state === "over") requestsAfterStop++;
      environment.tell(`#${number} sends ${request.endpoint} ${briefly(request)}`);
      watched.forbidden = environment.refusal ?? forbiddenByJournal;
      environment.quota.left(request);
      oracle.sent(watched, environment.uidOf(request.key), request);
      if (request.endpoint === "cancelBatch" && Array.isArray(request.body) && request.body.length > 1)
        marks.mark("several orders were cancelled by one call");
      if (request.endpoint === "placeOrder") meet("as an order leaves");
    },
    heard: (request: WireRequest, response: Parameters<typeof oracle.heard>[2]) => {
      if (meet("as an answer comes")) return;
      environment.tell(`#${number} hears ${response.status} to ${request.endpoint}`);
      environment.quota.heard(response.status === limitedStatus);
      oracle.heard(watched, request, response);
    },
    unheard: ({ endpoint }: WireRequest) => {
      marks.mark(`no answer to ${endpoint}`);
      environment.tell(`#${number} gives up waiting for an answer to ${endpoint}`);
    },
  };
  let forbiddenByJournal: string | undefined;
  const line = network.join(sender);
  const service: ServiceSpec = {
    kind: "simulation",
    open: ({ onError }) => {
      feed = createFeed(tape.instruments, { onError });
      return {
        clock,
        transport: line.send,
        market: feed,
        users: users.map((user) => ({
          ...user,
          ...(pushes.get(user.uid) as Exclude<ReturnType<typeof pushes.get>, undefined>).join(clock),
        })),
        ordersRefused: () => environment.refusal,
        assumptions: [],
        start: () => undefined,
        stop: () => {
          line.close();
        },
      };
    },
  };
  const user = {
    clock,
    step,
    onDeath: (fail: () => void) => {
      deaths.add(fail);
    },
    onFailure: () => {
      forbiddenByJournal = "the journal has failed";
      onJournalFailure();
    },
  };
  const strategies = config.strategies.map((strategy) => watching(strategy, wanted));
  const parts = { strategies, plugins: plugins ? config.plugins : [], journal: { ...config.journal, dir: "journal" } };
  const engine = createEngine(
    { ...config, ...parts, service, seed: `${seed}/${number}` },
    { openDisk: async () => environment.disk.open(user) },
  );
  let instant = Number.NaN;
  let said = 0;
  /** What is done over and over while no time passes would never end by itself: the story ends instead. */
  const checkProgress = ({ type }: Event): void => {
    if (time.now() !== instant) [instant, said] = [time.now(), 0];
    if (++said !== saidMax) return;
    environment.fail("I15", `${saidMax} events at one instant, the last of them ${type}`);
    engine.stop().catch(() => undefined);
  };
  engine.on("event", (event) => {
    if (!clock.alive) return;
    log(event);
    checkProgress(event);
    if (event.type === "order.changed") {
      environment.tell(`#${number} takes ${event.clOrdId} (${event.strategy} ${event.slot}) for ${event.phase}: ${event.reason}`);
    } else if (event.type === "order.refused") {
      environment.tell(`#${number} refuses ${event.strategy} ${event.slot}: ${event.reason}`);
    } else if (event.type !== "action.sent" && event.type !== "action.answered")
      environment.tell(`#${number} ${event.type} ${detailOf(event)}`);
    marks.event(event, watched);
    oracle.event(watched, event);
    slots.note(event);
    // What it wanted when it failed or was stopped is not what it wants.
    if ("strategy" in event && event.type.startsWith("strategy.") && event.type !== "strategy.failed") held.add(event.strategy);
  });
  const begun = engine.start().then(
    () => {
      if (life.state === "starting") life.state = "running";
    },
    (error: unknown) => {
      if (!clock.alive || life.state !== "starting") return;
      life.state = "over";
      onFailedStart(error);
    },
  );
  const life: SimulatedProcess = {
    number,
    clock,
    engine,
    feed: feed as unknown as Feed,
    watched,
    begun,
    wanted,
    slots,
    held,
    state: "starting",
    dieAt: (moment, die) => {
      doom = { moment, die };
    },
    abandon: () => {
      for (const fail of deaths) fail();
      deaths.clear();
    },
    requestsAfterStop: () => requestsAfterStop,
    journalFailed: () => forbiddenByJournal !== undefined,
  };
  return life;
};

const watching = (strategy: Strategy, wanted: Map<string, readonly WantedOrder[]>): Strategy => ({
  ...strategy,
  start: (context) => {
    const streams = strategy.start(context);
    if (streams.desired === undefined) return streams;
    return {
      ...streams,
      desired: streams.desired.pipe(
        tap({
          next: (set) => wanted.set(strategy.name, set),
          error: () => wanted.delete(strategy.name),
          complete: () => wanted.delete(strategy.name),
        }),
      ),
    };
  },
});

const briefly = ({ body, query }: WireRequest): string => {
  if (Array.isArray(body)) return body.map((element: { ordId?: string; clOrdId?: string }) => element.ordId ?? element.clOrdId).join(" ");
  const { clOrdId = "", side = "", px = "", sz = "" } = (body ?? query) as Readonly<Record<string, string>>;
  return `${clOrdId} ${side} ${sz} ${px === "" ? "" : `at ${px}`}`.trim();
};

const detailOf = ({ seq: _seq, at: _at, type: _type, ...rest }: Event): string => JSON.stringify(rest);
