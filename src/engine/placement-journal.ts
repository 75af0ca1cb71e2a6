/**
 * An engine's memory on disk: every placement is written down before it leaves, and the next run knows what may exist and
 * what was decided about trading.
 *
 * Invariants: no placement leaves before its record is durable, nor after trading was halted while it waited for that; one that
 * could not be written is not sent, and no further one is tried; cancels and reads never wait for the disk; a halt outlives the
 * process until it is resumed; one engine at a time uses a journal.
 */
import { resolve } from "node:path";
import type { OpenService, ServiceUser } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import type { OrderRecord, PlaceBody } from "../contract/schemas.ts";
import type { Interceptor, WireRequest } from "../contract/transport.ts";
import { SluiceError } from "../errors.ts";
import type { CheckedConfig, JournalConfig } from "../host/config.ts";
import { createDecisions, type DecisionRecord, type Verdict } from "../journal/decisions.ts";
import type { Disk } from "../journal/disk.ts";
import type { EventOf } from "../journal/event-log.ts";
import { createHoldings, type Held, type HeldRecord } from "../journal/holdings.ts";
import { createIntents, type Intent, type IntentRecord } from "../journal/intents.ts";
import { openWriteAheadLog, type WriteAheadLog } from "../journal/write-ahead-log.ts";
import type { OrderManager } from "../orders/order-manager.ts";
import { limitsMark, limitsOf, sameLimits, widened } from "../orders/risk/limit-changes.ts";
import { defaultRules, type RuleSet } from "../orders/risk/pre-trade-checks.ts";
import { finalPhases } from "../orders/tracked-order.ts";

const noted = ["strategy.reducing", "strategy.halted", "strategy.resumed", "watchdog.tripped", "order.changed"] as const;
type Noted = (typeof noted)[number];

interface PlacementJournal {
  /** Takes the lock and reads what previous runs left. */
  open(): Promise<Recovered>;
  readonly interceptor: Interceptor;
  /** Notes what is over and what holds for a strategy: a sink of the event log for events of these types. */
  readonly note: (event: EventOf<Noted>) => void;
  readonly noted: readonly Noted[];
  /** Everything was halted or resumed: recorded for the next run. */
  readonly decide: (mode: Verdict["mode"], reason: string) => void;
  /** A user's position was closed at about this price, by no order of ours. */
  readonly closed: (uid: string, instId: string, px: string | undefined) => void;
  /** Why no order may be sent any more. */
  readonly refused: () => string | undefined;
  close(): Promise<void>;
}

export interface Recovered {
  readonly life: number;
  /** Sent by a previous run and not known to be over. */
  readonly open: readonly Intent[];
  /** Halts and the like that were not lifted. */
  readonly held: readonly Verdict[];
  /** Of whom (empty: all) it had been decided, whether or not it was taken back now. */
  readonly judged: readonly string[];
  /** What strategies hold by orders that are over. */
  readonly holdings: readonly Held[];
  readonly repaired: string | undefined;
}

interface PlacementJournalOptions {
  readonly config: JournalConfig;
  /** Whose journal it is. */
  readonly owner: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly users: readonly ServiceUser[];
  readonly rules: RuleSet;
  readonly deskOf: (uid: string) => Pick<OrderManager, "barred" | "ownerOf" | "tradedBy">;
  readonly openDisk: (dir: string) => Promise<Disk>;
}

const createPlacementJournal = ({ config, owner, clock, users, rules, deskOf, openDisk }: PlacementJournalOptions): PlacementJournal => {
  const intents = createIntents();
  const decisions = createDecisions();
  const holdings = createHoldings();
  const uidOf = new Map(users.flatMap(({ uid, keys }) => keys.map(({ name }) => [name, uid] as const)));
  /** Users and strategies of the orders this run sent or found, by client id. */
  const senders = new Map<string, { readonly uid: string; readonly strategy: string }>();
  let store: WriteAheadLog | undefined;
  let unlock: (() => Promise<void>) | undefined;
  let failed: string | undefined;

  const snapshot = (): readonly object[] => [...intents.snapshot(), ...decisions.snapshot(), ...holdings.snapshot()];
  const take = (record: JournalRecord): void => {
    if (record.type === "mode" || record.type === "limits") decisions.take(record);
    else if (record.type === "held") holdings.take(record);
    else {
      intents.take(record);
      if (record.type === "over" && record.held !== undefined) holdings.take(record.held);
    }
  };
  const write = (record: JournalRecord): void => {
    take(record);
    store?.append(record);
  };
  const fail = (error: unknown): never => {
    failed = error instanceof Error ? error.message : String(error);
    throw error;
  };
  const writeDown = async ({ body, key = "" }: WireRequest): Promise<void> => {
    if (store === undefined) throw new SluiceError("JOURNAL_FAILED", "The journal is not open: no order leaves without it.");
    const { clOrdId = "", instId, side, ordType, px = "", sz, reduceOnly = false } = body as PlaceBody;
    const uid = uidOf.get(key) ?? "";
    const orderManager = deskOf(uid);
    const strategy = orderManager.ownerOf(clOrdId);
    senders.set(clOrdId, { uid, strategy });
    write({ type: "sent", uid, strategy, clOrdId, instId, side, ordType, px, sz, reduceOnly, sentAt: clock.wallNow() });
    await store.commit().catch(fail);
    const reason = orderManager.barred(clOrdId);
    if (reason === undefined) return;
    // It need not be resolved. If this record is lost, the next run looks and finds nothing.
    write({ type: "unsent", uid, clOrdId });
    throw new SluiceError("JOURNAL_FAILED", `${clOrdId} was written down and not sent: ${reason}.`);
  };
  const decide = (verdict: Verdict): void => {
    const known = decisions.held().find(({ strategy }) => strategy === verdict.strategy)?.mode ?? "active";
    if (store === undefined || failed !== undefined || known === verdict.mode) return;
    write({ type: "mode", ...verdict });
    store.commit().catch((error: unknown) => {
      failed = error instanceof Error ? error.message : String(error);
    });
  };
  /** Wider limits than a previous run's have to be meant: a slip in a config would cost money at once. */
  const checkLimits = (): void => {
    const limits = limitsOf(rules);
    const wider = decisions.limits === undefined ? [] : widened(decisions.limits, limits);
    const mark = limitsMark(limits);
    if (wider.length > 0 && config.acceptLimits !== mark) {
      throw new SluiceError(
        "CONFIG_INVALID",
        `config.orders is wider than what ${config.dir} was traded under. If that is meant, start once with --accept-limits ${mark} (journal.acceptLimits in the config).`,
        wider,
      );
    }
    if (!sameLimits(decisions.limits, limits)) write({ type: "limits", limits });
  };
  const resume = (): void => {
    for (const { strategy } of decisions.held()) write({ type: "mode", strategy, mode: "active", reason: "resumed at the start" });
  };
  /** Holdings of previous runs no longer count: positions and losses are counted from here on. */
  const resetRiskCounters = (): void => {
    for (const held of holdings.all()) write({ type: "held", ...held, position: "0", cash: "0" });
  };
  /** The whole holding that an order leaves, where something of it was executed. */
  const heldAfter = (uid: string, strategy: string, record: OrderRecord | undefined): { readonly held?: Held } => {
    const traded = record === undefined ? undefined : deskOf(uid).tradedBy(record);
    return record === undefined || traded === undefined ? {} : { held: holdings.with({ uid, strategy, instId: record.instId, ...traded }) };
  };
  const strategyModes = { "strategy.reducing": "reducing", "strategy.halted": "halted", "strategy.resumed": "active" } as const;

  return {
    open: async () => {
      const { dir, rebuild = false } = config;
      const disk = await openDisk(dir);
      unlock = await disk.lock(Object.values(owner).join(" / "));
      store = await openWriteAheadLog({ disk, owner, snapshot, damaged: rebuild ? "set_aside" : "refuse" });
      for (const record of store.past) take(knownRecord(record, disk.name));
      checkLimits();
      const judged = decisions.held().map(({ strategy }) => strategy);
      if (config.resume === true) resume();
      if (config.resetRiskCounters === true) resetRiskCounters();
      const open = intents.open();
      for (const { clOrdId, uid, strategy = "" } of open) senders.set(clOrdId, { uid, strategy });
      write({ type: "life", number: intents.life + 1, at: clock.wallNow() });
      await store.commit();
      return { life: intents.life, open, held: decisions.held(), judged, holdings: holdings.all(), repaired: store.repaired };
    },
    interceptor: (next) => (request, sink) => {
      if (request.endpoint !== "placeOrder") {
        next(request, sink);
        return;
      }
      const send = (): void => {
        if (!sink.closed) next(request, sink);
      };
      void writeDown(request).then(send, (error: unknown) => {
        sink.failed(error);
      });
    },
    decide: (mode, reason) => {
      decide({ strategy: "", mode, reason });
    },
    noted,
    note: (event) => {
      if (event.type === "strategy.reducing" || event.type === "strategy.halted" || event.type === "strategy.resumed") {
        decide({ strategy: event.strategy, mode: strategyModes[event.type], reason: event.reason });
        return;
      }
      if (event.type === "watchdog.tripped") {
        decide({ strategy: "", mode: "halted", reason: `the watchdog tripped: ${event.reason}` });
        return;
      }
      if (!finalPhases.includes(event.phase)) return;
      const { clOrdId, phase, record } = event;
      const sender = senders.get(clOrdId);
      if (sender === undefined) return;
      senders.delete(clOrdId);
      const { uid, strategy } = sender;
      // Not flushed by itself: should it be lost, the next run asks once more, with the same answer.
      if (failed === undefined) write({ type: "over", uid, clOrdId, phase, ...heldAfter(uid, event.strategy || strategy, record) });
    },
    closed: (uid, instId, px) => {
      if (px === undefined || store === undefined || failed !== undefined) return;
      for (const held of holdings.closed(uid, instId, px)) write({ type: "held", ...held });
    },
    refused: () => failed,
    close: async () => {
      try {
        await store?.close();
      } finally {
        await unlock?.();
      }
    },
  };
};

/** As a config asks for it; undefined where it does not. */
export const durableOf = (
  { journal, instance, orders, service: { kind, baseUrl = kind } }: CheckedConfig,
  { clock, users }: OpenService,
  deskOf: PlacementJournalOptions["deskOf"],
  openDisk: (dir: string) => Promise<Disk>,
): PlacementJournal | undefined => {
  if (journal === undefined) return undefined;
  const owner = { service: baseUrl, users: users.map(({ uid }) => uid).join(", "), instance };
  const rules = { ...defaultRules, ...orders };
  return createPlacementJournal({ config: { ...journal, dir: resolve(journal.dir) }, owner, clock, users, rules, deskOf, openDisk });
};

type JournalRecord = IntentRecord | DecisionRecord | HeldRecord;

const recordTypes = ["life", "sent", "unsent", "over", "mode", "limits", "held"] satisfies readonly JournalRecord["type"][];

/** What a later version wrote may forbid to trade: whoever cannot read it must not go on. */
const knownRecord = (record: object, place: string): JournalRecord => {
  const { type } = record as JournalRecord;
  if (recordTypes.includes(type)) return record as JournalRecord;
  throw new SluiceError(
    "JOURNAL_INVALID",
    `${place}: it holds a record of type "${String(type)}", which this version does not know. Use the version that wrote it.`,
  );
};
