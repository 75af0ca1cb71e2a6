/**
 * Simulated process: an engine with its clock, its connection, its view of the market and its handle on the disk.
 *
 * Invariants: the engine is the real one and gets nothing but ports; its events after its death do not count; a process
 * that is to die at a certain moment dies there.
 */
import { tap } from "rxjs";
import {
  createEngine,
  type Engine,
  type Event,
  type Position,
  type ServiceSpec,
  type Strategy,
  type Wanted,
  type WantedOrder,
} from "sluice";
import { limitedStatus, type PlaceBody, type WireRequest } from "sluice/dialect";
import { createFeed, type Feed } from "sluice/extension";
import type { Environment } from "./environment.ts";
import { type CrashMoment, exitMoments } from "./fault.ts";
import type { DiskStep, DiskUser } from "./faulty-disk.ts";
import type { Sender } from "./network.ts";
import type { Watched } from "./oracle.ts";
import { ProcessClock } from "./process-clock.ts";
import type { Pushes } from "./pushes.ts";
import { SlotHistory } from "./slot-history.ts";

interface SimulatedProcessOptions {
  readonly number: number;
  readonly seed: string;
  readonly plugins: boolean;
  readonly log: (event: Event) => void;
  readonly onFailedStart: (error: unknown) => void;
  readonly onJournalFailure: () => void;
}

class ProcessDied extends Error {
  constructor() {
    super("the process has died");
  }
}

/** Far above what many orders make of a moment in which everything changes. */
const eventsMax = 20_000;

const momentOf: Readonly<Record<DiskStep, CrashMoment>> = {
  append: "as it writes",
  sync: "as it flushes",
  synced: "between flush and send",
};

export class SimulatedProcess {
  readonly number: number;
  readonly clock: ProcessClock;
  readonly engine: Engine;
  readonly watched: Watched;
  /** Resolves when the start has ended, well or badly. */
  readonly begun: Promise<void>;
  /** Last wanted orders of each strategy. */
  readonly wanted = new Map<string, readonly WantedOrder[]>();
  /** Strategy and slot of every order that was wanted. */
  readonly named = new Set<string>();
  readonly slots: SlotHistory;
  /** Position of each strategy in an instrument, by the engine. */
  readonly positions = new Map<string, (instId: string) => Position>();
  /** Strategies that may not trade as they like, by a rule of the config. */
  readonly held = new Set<string>();
  state: "starting" | "running" | "stopping" | "over" = "starting";
  requestsAfterStop = 0;
  readonly #environment: Environment;
  readonly #options: SimulatedProcessOptions;
  readonly #deaths = new Set<() => void>();
  #feed: Feed | undefined;
  #death: { readonly moment: CrashMoment; readonly die: () => void } | undefined;
  #journalFailed = false;
  #instant = Number.NaN;
  #events = 0;

  constructor(environment: Environment, options: SimulatedProcessOptions) {
    const { time, config, calendar, oracle, disk } = environment;
    this.#environment = environment;
    this.#options = options;
    this.number = options.number;
    this.slots = new SlotHistory(this.wanted, environment.ids);
    this.clock = new ProcessClock(time, () => calendar.offsetMs);
    this.watched = oracle.born(options.number, time.now());
    environment.quota.begin();
    const strategies = config.strategies.map((strategy) => this.#watching(strategy));
    const plugins = options.plugins ? config.plugins : [];
    this.engine = createEngine(
      {
        ...config,
        strategies,
        plugins,
        journal: { ...config.journal, dir: "journal" },
        service: this.#service(),
        seed: `${options.seed}/${options.number}`,
      },
      { openDisk: async () => disk.open(this.#diskUser()) },
    );
    this.engine.on("event", (event) => {
      if (this.clock.alive) this.#onEvent(event);
    });
    this.begun = this.#begin();
  }

  get feed(): Feed {
    return this.#feed as Feed;
  }

  get journalFailed(): boolean {
    return this.#journalFailed;
  }

  /** The process dies at the next such moment. */
  dieAt(moment: CrashMoment, die: () => void): void {
    this.#death = { moment, die };
  }

  /** Fails what waits for the disk. */
  abandon(): void {
    for (const fail of this.#deaths) fail();
    this.#deaths.clear();
  }

  #begin(): Promise<void> {
    return this.engine.start().then(
      () => {
        if (this.state === "starting") this.state = "running";
      },
      (error: unknown) => {
        if (!this.clock.alive || this.state !== "starting") return;
        this.state = "over";
        this.#options.onFailedStart(error);
      },
    );
  }

  /** Returns true if the process dies at this moment, and kills it. */
  #meets(moment: CrashMoment): boolean {
    if (this.#death?.moment !== moment) return false;
    const { die } = this.#death;
    this.#death = undefined;
    this.#environment.marks.mark(`crash ${moment}`);
    die();
    return true;
  }

  #diskUser(): DiskUser {
    return {
      clock: this.clock,
      step: (what) => {
        if (!this.clock.alive || this.#meets(momentOf[what])) throw new ProcessDied();
      },
      onDeath: (fail) => {
        this.#deaths.add(fail);
      },
      onFailure: () => {
        this.#journalFailed = true;
        this.#options.onJournalFailure();
      },
    };
  }

  #service(): ServiceSpec {
    const { tape, users, pushes, network } = this.#environment;
    const connection = network.join(this.#sender());
    return {
      kind: "simulation",
      open: ({ onError }) => {
        this.#feed = createFeed(tape.instruments, { onError });
        return {
          clock: this.clock,
          transport: connection.send,
          market: this.#feed,
          users: users.map((user) => ({ ...user, ...(pushes.get(user.uid) as Pushes).join(this.clock) })),
          ordersRefused: () => this.#environment.refusal,
          assumptions: [],
          start: () => undefined,
          stop: () => connection.close(),
        };
      },
    };
  }

  #sender(): Sender {
    const { oracle, protections, quota, marks, tell, uidOf } = this.#environment;
    return {
      clock: this.clock,
      sent: (request) => {
        const { endpoint, body } = request;
        if (this.state === "over") this.requestsAfterStop++;
        tell(`#${this.number} sends ${endpoint} ${briefly(request)}`);
        const isUnrecorded = this.#journalFailed && endpoint === "placeOrder" && this.#noteExit(body as PlaceBody);
        this.watched.forbidden =
          this.#environment.refusal ?? (this.#journalFailed && !isUnrecorded ? "the journal has failed" : undefined);
        quota.left(request);
        oracle.sent(this.watched, uidOf(request.key), request);
        if (endpoint === "placeOrder") protections.sent(body as PlaceBody);
        if (endpoint === "cancelBatch" && Array.isArray(body) && body.length > 1)
          marks.mark("several orders were canceled by one call");
        return endpoint !== "placeOrder" || this.#placed(body as PlaceBody);
      },
      heard: (request, response) => {
        if (this.#meets("as an answer comes")) return;
        tell(`#${this.number} hears ${response.status} to ${request.endpoint}`);
        quota.heard(response.status === limitedStatus);
        oracle.heard(this.watched, request, response);
      },
      unheard: ({ endpoint }) => {
        marks.mark(`no answer to ${endpoint}`);
        tell(`#${this.number} gives up waiting for an answer to ${endpoint}`);
      },
    };
  }

  /** Returns false if the process died before the placement left. */
  #placed({ clOrdId = "", reduceOnly = false }: PlaceBody): boolean {
    const isExit = reduceOnly || this.#environment.protections.isExit(clOrdId);
    if (isExit && this.#meets(exitMoments["exit-unsent"])) return false;
    if (!isExit || !this.#meets(exitMoments["exit-crash"])) this.#meets("as an order leaves");
    return true;
  }

  /** While the journal cannot be written an exit leaves without a record, and nothing else does. */
  #noteExit({ clOrdId = "" }: PlaceBody): boolean {
    const isExit = this.engine
      .openOrders()
      .some((order) => order.clOrdId === clOrdId && order.spec?.reduceOnly === true);
    if (isExit) this.#environment.unrecorded.add(clOrdId);
    return isExit;
  }

  #onEvent(event: Event): void {
    const { marks, oracle, protections, tell } = this.#environment;
    if (event.type === "journal.restored") {
      this.#journalFailed = false;
      this.#environment.unrecorded.clear();
    }
    this.#options.log(event);
    this.#checkProgress(event);
    if (event.type === "order.changed") {
      tell(
        `#${this.number} takes ${event.clOrdId} (${event.strategy} ${event.slot}) for ${event.phase}: ${event.reason}`,
      );
    } else if (event.type === "order.refused") {
      tell(`#${this.number} refuses ${event.strategy} ${event.slot}: ${event.reason}`);
    } else if (event.type !== "action.sent" && event.type !== "action.answered")
      tell(`#${this.number} ${event.type} ${detailOf(event)}`);
    marks.event(event, this.watched);
    oracle.event(this.watched, event);
    protections.event(this.watched, event);
    this.slots.note(event);
    // Orders that a strategy wanted when it failed or was stopped are not wanted any more.
    if ("strategy" in event && event.type.startsWith("strategy.") && event.type !== "strategy.failed")
      this.held.add(event.strategy);
  }

  #watching(strategy: Strategy): Strategy {
    const { name } = strategy;
    const note = (set: readonly Wanted[]): void => {
      const isOrder = (one: Wanted): one is WantedOrder => "slot" in one;
      const orders = set.filter(isOrder);
      this.wanted.set(name, orders);
      for (const { slot } of orders) this.named.add(`${name} ${slot}`);
      this.#environment.protections.wants(this, name, set);
    };
    const forget = (): void => void this.wanted.delete(name);
    return {
      ...strategy,
      start: (context) => {
        this.positions.set(name, context.own.position);
        const streams = strategy.start(context);
        if (streams.wanted === undefined) return streams;
        return { ...streams, wanted: streams.wanted.pipe(tap({ next: note, error: forget, complete: forget })) };
      },
    };
  }

  /** Ends the scenario if events repeat while no time passes, because such a loop would never end. */
  #checkProgress({ type }: Event): void {
    const now = this.#environment.time.now();
    if (now !== this.#instant) [this.#instant, this.#events] = [now, 0];
    if (++this.#events !== eventsMax) return;
    this.#environment.fail("I15", `${eventsMax} events at one instant, the last of them ${type}`);
    this.engine.stop().catch(() => undefined);
  }
}

const briefly = ({ body, query }: WireRequest): string => {
  if (Array.isArray(body))
    return body.map((element: { ordId?: string; clOrdId?: string }) => element.ordId ?? element.clOrdId).join(" ");
  const { clOrdId = "", side = "", px = "", sz = "" } = (body ?? query) as Readonly<Record<string, string>>;
  return `${clOrdId} ${side} ${sz} ${px === "" ? "" : `at ${px}`}`.trim();
};

const detailOf = ({ seq: _seq, at: _at, type: _type, ...rest }: Event): string => JSON.stringify(rest);
