/**
 * Journal of placements: records every placement on disk before it is sent, and decisions about trading, for recovery
 * by the next run.
 *
 * Invariants: a placement is sent only after its record is durable, and not if trading was halted meanwhile; while the
 * journal cannot be written only exits are sent without a record, because a stop that is not sent costs more than one
 * that a crash at that time loses; missed records are written when writes work again; cancels and reads never wait for
 * the disk; a halt survives restarts until it is resumed; one engine at a time uses a journal.
 */
import { resolve } from "node:path";
import type { ServiceUser } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import type { InputOf } from "../contract/endpoints.ts";
import type { AmendBody, OrderRecord, PlaceBody } from "../contract/schemas.ts";
import type { Interceptor, WireRequest } from "../contract/transport.ts";
import { compare } from "../decimal.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import type { CheckedConfig, JournalConfig } from "../host/config.ts";
import { createDecisions, type Verdict } from "../journal/decisions.ts";
import type { Disk } from "../journal/disk.ts";
import type { EventOf } from "../journal/events.ts";
import { fileDisk } from "../journal/file-disk.ts";
import { createHoldings, type Held } from "../journal/holdings.ts";
import { createIntents } from "../journal/intents.ts";
import { type JournalRecord, knownRecord } from "../journal/journal-records.ts";
import { createProtectionRecords, type ProtectionRecord } from "../journal/protection-records.ts";
import { openWriteAheadLog } from "../journal/write-ahead-log.ts";
import { finalPhases } from "../orders/order-update.ts";
import { limitsMark, limitsOf, sameLimits, widened } from "../orders/risk/limit-changes.ts";
import { type RuleSet, rulesOf } from "../orders/risk/pre-trade-checks.ts";
import type { JournalEnd } from "../orders/unrecorded-orders.ts";
import { JournalEnds } from "./journal-end.ts";
import type { JournalParts, Noted, PlacementJournal, Recovered } from "./journal-port.ts";
import { RecoverableLog } from "./recoverable-log.ts";

interface PlacementJournalOptions {
  readonly config: JournalConfig;
  /** Identity of the journal's owner. */
  readonly owner: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly users: readonly ServiceUser[];
  readonly rules: RuleSet;
  readonly deskOf: JournalParts["deskOf"];
  readonly openDisk: (dir: string) => Promise<Disk>;
  readonly events: JournalParts["events"];
}

/** The journal that a config asks for. */
export const placementJournal = (
  { journal, instance, orders, service: { kind, baseUrl = kind } }: CheckedConfig,
  { service: { clock, users }, deskOf, openDisk = fileDisk, events }: JournalParts,
): PlacementJournal => {
  if (journal === undefined) throw new SluiceError("BUG", "A journal was opened that no config asks for.");
  const owner = { service: baseUrl, users: users.map(({ uid }) => uid).join(", "), instance };
  const rules = rulesOf(orders);
  return new PlacementLog({
    config: { ...journal, dir: resolve(journal.dir) },
    owner,
    clock,
    users,
    rules,
    deskOf,
    openDisk,
    events,
  });
};

const strategyModes = {
  "strategy.reducing": "reducing",
  "strategy.halted": "halted",
  "strategy.resumed": "active",
} as const;

/** The journal of placements over one write-ahead log. */
class PlacementLog implements PlacementJournal {
  readonly #options: PlacementJournalOptions;
  readonly #intents = createIntents();
  readonly #decisions = createDecisions();
  readonly #holdings = createHoldings();
  readonly #protections = createProtectionRecords();
  readonly #ends: JournalEnds;
  /** Users by the names of their keys. */
  readonly #uidOf: ReadonlyMap<string, string>;
  /** Users and strategies of the orders this run sent or found, by client id. */
  readonly #senders = new Map<string, { readonly uid: string; readonly strategy: string }>();
  /** True once holdings of previous runs are booked. Earlier, executions cannot be added to them. */
  #isRecalled = false;
  #log: RecoverableLog | undefined;
  #unlock: (() => Promise<void>) | undefined;

  constructor(options: PlacementJournalOptions) {
    this.#options = options;
    this.#ends = new JournalEnds(options.owner["instance"] ?? "");
    this.#uidOf = new Map(options.users.flatMap(({ uid, keys }) => keys.map(({ name }) => [name, uid] as const)));
  }

  async open(goesOn = false): Promise<Recovered> {
    const { config, owner, clock, openDisk, events } = this.#options;
    const disk = await openDisk(config.dir);
    this.#unlock = await disk.lock(Object.values(owner).join(" / "));
    const damaged = config.rebuild === true ? "set_aside" : "refuse";
    const log = await openWriteAheadLog({ disk, owner, snapshot: () => this.#snapshot(), damaged });
    this.#log = new RecoverableLog(log, clock, events);
    const ends = new Map<string, JournalEnd | undefined>();
    for (const past of log.past) {
      const record = knownRecord(past, disk.name);
      this.#ends.read(record);
      this.#takeIn(record);
    }
    for (const { uid } of this.#options.users) ends.set(uid, this.#ends.of(uid));
    this.#checkLimits();
    const judged = this.#decisions.held().map(({ strategy }) => strategy);
    if (config.resume === true && !goesOn) this.#resume();
    if (!goesOn) this.#resetRiskCounters();
    const open = this.#intents.open();
    for (const { clOrdId, uid, strategy = "" } of open) this.#senders.set(clOrdId, { uid, strategy });
    this.#write({ type: "life", number: this.#intents.life + 1, at: clock.wallNow() });
    await log.commit();
    const held = this.#decisions.held();
    const { life } = this.#intents;
    return {
      life,
      open,
      held,
      judged,
      holdings: this.#holdings.all(),
      protections: this.#protections.all(),
      repaired: log.repaired,
      endOf: (uid) => ends.get(uid),
    };
  }

  async close(): Promise<void> {
    try {
      await this.#log?.close();
    } finally {
      await this.#unlock?.();
    }
  }

  readonly interceptor: Interceptor = (next) => (request, sink) => {
    const { endpoint } = request;
    const placed = endpoint === "placeOrder" ? (request.body as PlaceBody) : this.#closeOf(request);
    if (placed === undefined && endpoint !== "amendOrder") {
      next(request, sink);
      return;
    }
    const send = (): void => {
      if (!sink.closed) next(request, sink);
    };
    const written = placed === undefined ? this.#writeChange(request) : this.#writeDown(placed, request);
    void written.then(send, (error: unknown) => {
      sink.failed(error);
    });
  };

  readonly note = (event: EventOf<Noted>): void => {
    if (event.type === "order.changed") this.#noteOrder(event);
    else if (event.type === "journal.opened") this.#isRecalled = true;
    else {
      const { strategy, type, reason } = event;
      const isFull = event.type === "strategy.halted" && event.full === true;
      this.#decide({ strategy, mode: strategyModes[type], reason, ...(isFull && { full: true }) });
    }
  };

  readonly decide = (mode: Verdict["mode"], reason: string, full = false): void => {
    this.#decide({ strategy: "", mode, reason, ...(full && { full }) });
  };

  readonly closed: PlacementJournal["closed"] = (uid, instId, parts, px) => {
    if ((px === undefined && parts.length === 0) || this.#log === undefined) return;
    for (const held of this.#holdings.closed(uid, instId, parts, px))
      this.#write({ type: "held", ...this.#withBooked(held) });
  };

  readonly protection = (uid: string, record: ProtectionRecord): void => {
    if (this.#log === undefined) return;
    this.#write({ type: "protection", uid, ...record });
    this.#log.flush();
  };

  readonly found: PlacementJournal["found"] = (uid, { ageMs, ...order }) => {
    const { clOrdId, strategy = "" } = order;
    const known = this.#senders.get(clOrdId);
    if (this.#log === undefined || (known !== undefined && (known.strategy !== "" || strategy === ""))) return;
    this.#senders.set(clOrdId, { uid, strategy });
    this.#write({ type: "sent", uid, ...order, sentAt: this.#options.clock.wallNow() - ageMs });
    this.#log.flush();
  };

  readonly reached: PlacementJournal["reached"] = (latest) => {
    if (this.#log === undefined) return;
    for (const [uid, generation] of latest) this.#ends.reach(uid, generation);
    this.#write({
      type: "life",
      number: this.#intents.life,
      at: this.#options.clock.wallNow(),
      upTo: this.#ends.upTo(),
    });
    this.#log.flush();
  };

  readonly refused = (isExit: boolean): string | undefined => this.#log?.refused(isExit);

  #snapshot(): readonly object[] {
    const upTo = this.#ends.upTo();
    return [
      ...this.#intents.snapshot().map((record) => (record.type === "life" ? { ...record, upTo } : record)),
      ...this.#decisions.snapshot(),
      ...this.#holdings.snapshot(),
      ...this.#protections.snapshot(),
    ];
  }

  #take(record: JournalRecord): void {
    this.#ends.take(record);
    this.#takeIn(record);
  }

  #takeIn(record: JournalRecord): void {
    if (record.type === "mode" || record.type === "limits") this.#decisions.take(record);
    else if (record.type === "held") this.#holdings.take(record);
    else if (record.type === "protection") this.#protections.take(record);
    else {
      this.#intents.take(record);
      if (record.type === "over" && record.held !== undefined) this.#holdings.take(record.held);
    }
  }

  #write(record: JournalRecord): void {
    this.#take(record);
    this.#log?.append(record);
  }

  /** The order that a close call makes, if it carries the client order id of one of ours. */
  #closeOf({ endpoint, body, key = "" }: WireRequest): PlaceBody | undefined {
    if (endpoint !== "closePosition") return undefined;
    const { clOrdId = "" } = body as InputOf<"closePosition">;
    const spec = this.#options.deskOf(this.#uidOf.get(key) ?? "").closeOf(clOrdId);
    return spec === undefined ? undefined : { ...spec, clOrdId };
  }

  async #writeDown(placed: PlaceBody, { key = "" }: WireRequest): Promise<void> {
    const log = this.#log;
    if (log === undefined)
      throw new SluiceError("JOURNAL_FAILED", "The journal is not open: no order leaves without it.");
    const { clock, deskOf } = this.#options;
    const { clOrdId = "", instId, side, ordType, px = "", sz } = placed;
    const uid = this.#uidOf.get(key) ?? "";
    const orderManager = deskOf(uid);
    const strategy = orderManager.ownerOf(clOrdId);
    const planned = orderManager.plannedOf(clOrdId);
    // Not every exit carries the service's flag.
    const reduceOnly = orderManager.isExit(clOrdId);
    this.#senders.set(clOrdId, { uid, strategy });
    const intent = { uid, strategy, clOrdId, instId, side, ordType, px, sz, reduceOnly, sentAt: clock.wallNow() };
    this.#write({ type: "sent", ...intent, ...(planned !== undefined && { planned }) });
    await log.commit(reduceOnly ? clOrdId : undefined).catch((error: unknown) => {
      this.#write({ type: "unsent", uid, clOrdId });
      throw error;
    });
    const reason = orderManager.leaves(clOrdId);
    if (reason === undefined) return;
    // The record need not be durable. If it is lost, the next run searches for the order and finds nothing.
    this.#write({ type: "unsent", uid, clOrdId });
    throw new SluiceError("JOURNAL_FAILED", `${clOrdId} was written down and not sent: ${reason}.`);
  }

  /** Records a change of an order. From here on the order may have the larger of both sizes. */
  async #writeChange({ body, key = "" }: WireRequest): Promise<void> {
    const log = this.#log;
    if (log === undefined)
      throw new SluiceError("JOURNAL_FAILED", "The journal is not open: no order is changed without it.");
    const { clOrdId, px, sz } = body as AmendBody;
    const uid = this.#uidOf.get(key) ?? "";
    const known = this.#intents.open().find((intent) => intent.clOrdId === clOrdId && intent.uid === uid);
    if (known !== undefined) {
      const larger = sz !== undefined && compare(sz, known.sz) > 0 ? sz : known.sz;
      this.#write({ type: "sent", ...known, px: px ?? known.px, sz: larger });
      await log.commit(known.reduceOnly ? clOrdId : undefined);
    }
    const reason = this.#options.deskOf(uid).leaves(clOrdId ?? "");
    if (reason !== undefined)
      throw new SluiceError("JOURNAL_FAILED", `The change of ${clOrdId} was not sent: ${reason}.`);
  }

  #decide(verdict: Verdict): void {
    const known = this.#decisions.held().find(({ strategy }) => strategy === verdict.strategy)?.mode ?? "active";
    if (this.#log === undefined || known === verdict.mode) return;
    this.#write({ type: "mode", ...verdict });
    this.#log.flush();
  }

  #noteOrder({ clOrdId, phase, record, strategy }: EventOf<"order.changed">): void {
    // Recovery reports an order once more if it ends before that.
    if (!finalPhases.includes(phase) || !this.#isRecalled) return;
    const sender = this.#senders.get(clOrdId);
    if (sender === undefined) return;
    const { uid } = sender;
    // The order stays open until it is booked, so that the next run looks for its strategy.
    if (strategy === "" && sender.strategy === "" && this.#heldAfter(uid, "", record).held !== undefined) return;
    this.#senders.delete(clOrdId);
    // Not flushed separately. If the record is lost, the next run asks again and gets the same answer.
    this.#write({ type: "over", uid, clOrdId, phase, ...this.#heldAfter(uid, strategy || sender.strategy, record) });
  }

  /** The holding with what its strategy has booked, including orders that are not over. */
  #withBooked(held: Held): Held {
    const booked = this.#options.deskOf(held.uid).positions.booked(held.strategy, held.instId);
    return booked === undefined ? held : { ...held, booked };
  }

  /** The whole holding after an order, if the order executed something. */
  #heldAfter(uid: string, strategy: string, record: OrderRecord | undefined): { readonly held?: Held } {
    const traded = record === undefined ? undefined : this.#options.deskOf(uid).tradedBy(record);
    if (record === undefined || traded === undefined) return {};
    return { held: this.#withBooked(this.#holdings.with({ uid, strategy, instId: record.instId, ...traded })) };
  }

  /**
   * Refuses wider limits than a previous run's until they are confirmed, because a slip in a config could cost money at
   * once.
   */
  #checkLimits(): void {
    const { config, rules } = this.#options;
    const before = this.#decisions.limits;
    const limits = limitsOf(rules);
    const wider = before === undefined ? [] : widened(before, limits);
    const mark = limitsMark(limits);
    if (wider.length > 0 && config.acceptLimits !== mark) {
      throw new SluiceError(
        "CONFIG_INVALID",
        `config.orders is wider than what ${config.dir} was traded under. If that is meant, start once with --accept-limits ${mark} (journal.acceptLimits in the config).`,
        wider,
      );
    }
    if (!sameLimits(before, limits)) this.#write({ type: "limits", limits });
  }

  #resume(): void {
    for (const { strategy } of this.#decisions.held()) {
      this.#write({ type: "mode", strategy, mode: "active", reason: "resumed at the start" });
    }
  }

  /**
   * Discards the holdings of previous runs, all or those of some instruments: positions and losses are counted from now
   * on.
   */
  #resetRiskCounters(): void {
    const { resetRiskCounters: which = false, dir } = this.#options.config;
    if (which === false) return;
    const all = this.#holdings.all();
    const known = [...new Set(all.map(({ instId }) => instId))];
    const unknown = which === true ? undefined : which.find((instId) => !known.includes(instId));
    if (unknown !== undefined) {
      throw new SluiceError(
        "CONFIG_INVALID",
        `Counters of ${unknown} cannot be reset: the journal in ${dir} knows ${known.length === 0 ? "no instrument" : `only ${known.join(", ")}`}.${didYouMean(unknown, known)}`,
      );
    }
    for (const { booked: _, ...held } of all) {
      if (which === true || which.includes(held.instId))
        this.#write({ type: "held", ...held, position: "0", cash: "0" });
    }
  }
}
