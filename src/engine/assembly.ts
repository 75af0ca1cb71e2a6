/**
 * Assembly of the engine's service side: transport, scheduler, ledger, journals, user accounts.
 *
 * Invariants: two engines share nothing; a request passes the start watch, then the journal of placements, then the
 * transport.
 * Not here: strategies and plugins, starting and stopping (engine.ts).
 */

import type { Observable } from "rxjs";
import type { OpenService } from "../client/service-port.ts";
import { createContract } from "../contract/contract.ts";
import type { EndpointName } from "../contract/endpoints.ts";
import type { CheckedConfig } from "../host/config.ts";
import type { ExtensionAccount } from "../host/engine-extension.ts";
import { eventTextsOf, eventTypesOf } from "../host/plugin-events.ts";
import type { Disk } from "../journal/disk.ts";
import { createNotices, type EventNotices } from "../journal/event-emitter.ts";
import { EventLog } from "../journal/event-log.ts";
import type { ProtectionRecord } from "../journal/protection-records.ts";
import { LastQuotes } from "../market/last-quotes.ts";
import type { OrderManager } from "../orders/order-manager.ts";
import type { Random } from "../random.ts";
import { type Charge, countsByProduct, headersRead, layersOf } from "../scheduler/quota/layers.ts";
import { createLedger, type Ledger } from "../scheduler/quota/ledger.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { Extensions } from "./extensions.ts";
import type { FoundIntent, JournalParts } from "./journal-port.ts";
import { LateJournal } from "./late-journal.ts";
import { createLifetime, type Lifetime } from "./lifetime.ts";
import { createStartWatch } from "./start-watch.ts";
import { haltForLoss, haltOfExtension, haltWith } from "./trading-state.ts";
import { createUserAccounts, openOrdersOf, type UserAccount, watchRefusals } from "./user-account.ts";

/** State of other processes that trade for this engine. */
interface Takeover {
  /** True if the previous process gave up the lead in order. */
  isHandedOver: boolean;
  /** Called when another process has taken over. */
  onDeposed: () => void;
}

/** Records that another process leads, and ends the engine. */
const deposedBy =
  (journal: Pick<EventLog, "append">, takeover: Takeover) =>
  (leader: string): void => {
    journal.append({ type: "standby.lost", leader });
    takeover.onDeposed();
  };

export interface AssemblyOptions {
  /** False spends as if there were no limits. Use it only for a service that enforces none. */
  readonly limits?: boolean;
  /** Opens the place where journals are kept; by default folders of the machine. */
  readonly openDisk?: (dir: string) => Promise<Disk>;
  /**
   * `close`: the engine only closes positions. Plugins then observe and steer nothing, and extensions may leave out
   * parts.
   */
  readonly purpose?: "trade" | "close";
}

const accountFace = ({ user: { uid }, orderManager }: UserAccount): ExtensionAccount => ({
  uid,
  openOrders: () => openOrdersOf({ orderManager }),
  isExit: (clOrdId) => orderManager.isExit(clOrdId),
  isUnflaggedExit: (clOrdId) => orderManager.isUnflaggedExit(clOrdId),
  reconsider: () => orderManager.reconsider(),
  watchedBy: (standing) => orderManager.watchedBy(standing),
});

/** Builds everything that calls the service and handles its answers; no strategies yet. */
export const assemble = (
  config: CheckedConfig,
  random: Random,
  stopped$: Observable<void>,
  { limits = true, openDisk, purpose = "trade" }: AssemblyOptions,
) => {
  const contract = createContract(config.profile);
  // User streams handle their own errors. This error was thrown by a listener of a bystander.
  const onError = (error: unknown): void =>
    onAnomaly("listener.threw", error instanceof Error ? error.message : String(error));
  const onAnomaly = (what: string, detail: string): void => journal.append({ type: "anomaly", what, detail });
  const leave = (ip: string): number | undefined => leaveFor(ledger, ip, service.clock.now());
  const { shares = {}, budgets = {}, layers = layersOf(contract), ...reserve } = config.quota;
  const env = { contract, random: random.fork("service"), onError, onAnomaly, leave, headers: headersRead(layers) };
  const opened = config.service.open({ ...env, mayNot: (request) => extensions.blocks(request) });
  const lifetime: Lifetime = createLifetime(opened.clock);
  const { clock } = lifetime;
  const service: OpenService = { ...opened, clock };
  const journal = new EventLog(clock.now, onError);
  const deskOf = (uid: string): OrderManager => accounts.of(uid, "a placement").orderManager;
  const takeover: Takeover = { isHandedOver: false, onDeposed: () => undefined };
  let faces: readonly ExtensionAccount[] | undefined;
  const extensions: Extensions = new Extensions(config.plugins, {
    config,
    contract,
    purpose,
    service,
    events: journal,
    accounts: () => (faces ??= accounts.all.map(accountFace)),
    quota: { divide: (division) => ledger.divide(division), wake: () => scheduler.wake() },
    ...haltOfExtension(() => ({ accounts, halt })),
    decide: (mode, reason) => durable?.decide(mode, reason),
    isHandedOver: () => takeover.isHandedOver,
    depose: deposedBy(journal, takeover),
  });
  const durable = journalOf(config, { service, deskOf, events: journal, openDisk: extensions.openDisk ?? openDisk });
  if (durable !== undefined) journal.on(durable.noted, durable.note);
  const notices: EventNotices = createNotices(journal, onError, eventTypesOf(config.plugins));
  const eventText = eventTextsOf(config.plugins);
  const elementWeight = contract.profile.weights.perCancelElement;
  const ledger = createLedger({
    layers: limits ? layers : [],
    reserve: { elementWeight, ...reserve },
    startedAt: clock.now(),
    onAnomaly,
    onMode: (change) => journal.append({ type: "quota.mode", ...change }),
  });
  const startWatch = createStartWatch({ clock, journal, baseUrl: config.service.baseUrl });
  const transport = startWatch.interceptor(
    extensions.interceptor(durable?.interceptor(service.transport) ?? service.transport),
  );
  const byProduct = (endpoint: EndpointName): boolean => countsByProduct(layers, endpoint);
  const scheduler = createScheduler({ clock, ledger, transport, journal, shares, budgets, byProduct });
  const quotes = new LastQuotes(service.market);
  const refusedByPort = watchRefusals(service, () => accounts.all);
  const refusal = (isExit: boolean): string | undefined =>
    durable?.refused(isExit) ?? extensions.refuses?.(isExit) ?? refusedByPort?.();
  const refused = ifAny([durable, extensions.refuses, refusedByPort], refusal);
  const onFound = (uid: string, found: FoundIntent): void => durable?.found(uid, found);
  const onLoss = (reason: string): void => haltForLoss(accounts, durable, reason);
  const onProtection = (uid: string, record: ProtectionRecord): void => durable?.protection(uid, record);
  const shared = {
    config,
    contract,
    service,
    refused,
    flagOnly: extensions.flagOnly,
    yieldMs: extensions.yieldMs,
    onFound,
    onLoss,
    onProtection,
    journal,
    ledger,
    scheduler,
    quotes,
    stopped$,
    readsOf: (uid: string) => extensions.readsOf(uid),
  };
  const accounts = createUserAccounts(shared, service);
  const strategies = config.strategies.map(({ name }) => name);
  const halt = haltWith(accounts, strategies);
  return {
    contract,
    lifetime,
    service,
    durable,
    extensions,
    takeover,
    journal,
    notices,
    eventText,
    ledger,
    quotes,
    scheduler,
    accounts,
    halt,
    startWatch,
    onError,
  };
};

const journalOf = (config: CheckedConfig, parts: JournalParts): LateJournal | undefined =>
  config.journal === undefined ? undefined : new LateJournal(config, parts);

/** The question asked for every placement; undefined if no part is present that answers it. */
const ifAny = <T>(parts: readonly unknown[], asked: T): T | undefined =>
  parts.some((part) => part !== undefined) ? asked : undefined;

/** Charges one request of an address alone. Its answer is never seen, so it counts wherever it may have landed. */
const leaveFor = (ledger: Ledger, ip: string, now: number): number | undefined => {
  const charge: Charge = { endpoint: "instruments", weight: 0, elements: 1, ip, uid: undefined, key: undefined };
  const verdict = ledger.ask(charge, "ordinary", now);
  if (!verdict.granted) return verdict.until;
  ledger.lose(ledger.spend(charge, now), now);
  return undefined;
};

export type Parts = ReturnType<typeof assemble>;
