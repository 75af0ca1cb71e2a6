/**
 * Dead-man's switch: watches the heartbeat of one engine and cancels its orders when it stops.
 *
 * Invariants: it places no orders and opens no stream; it queries the service once at the start, so that unusable keys
 * are found in time; at each trip it reads the quota again; listings alone decide whether orders are left; after a trip
 * the next run of an engine with a journal starts halted, within the limits of persisted-halt.ts.
 * Not here: the messages printed (cli/watchdog.ts).
 */
import { resolve } from "node:path";
import { firstValueFrom, map, merge, type Subscription, takeUntil } from "rxjs";
import { SluiceError } from "sluice";
import { createContract } from "sluice/dialect";
import {
  after,
  type CancelNews,
  type CheckedConfig,
  checkConfig,
  createClientOrderIds,
  createRandom,
  type OpenService,
  openClient,
} from "sluice/extension";
import { watchdogIn } from "./configured.ts";
import { HeartbeatMonitor, type WatchNews } from "./heartbeat-monitor.ts";
import type { Listen } from "./ipc.ts";
import { ipcAddressOf, tripRecordPath } from "./ipc-address.ts";
import { socketListen } from "./ipc-socket.ts";
import { watchdogDefaults } from "./options.ts";
import {
  createPersistedHalt,
  type HaltState,
  type PersistedHalt,
  type PersistedHaltOptions,
} from "./persisted-halt.ts";
import { fileTripRecord, type TripRecord } from "./trip-record.ts";
import { cancelOpen, listOpen, type WatchedUser } from "./watched-orders.ts";

export type WatchdogNews =
  | WatchNews
  | (CancelNews & { readonly user: string })
  /** The service answered: the keys can read, and so many of our orders are open. */
  | { readonly kind: "proved"; readonly user: string; readonly open: number }
  | { readonly kind: "unproved"; readonly user: string; readonly why: string }
  /** No engine ever connected: what is open of its instance is looked for, and canceled where something is. */
  | { readonly kind: "unmet"; readonly reason: string }
  /**
   * All users are flat. `gone`: orders that were seen and are gone; `stuck`: orders that the service cannot cancel;
   * `halt`: whether the engine's next run starts halted, where it has a journal.
   */
  | { readonly kind: "over"; readonly gone: number; readonly stuck: number; readonly halt?: HaltState };

export interface WatchdogProcessOptions {
  /** Instead of the config's. */
  readonly silenceMs?: number;
  /** Orders of the engine's instance, or every order of the users. Default `instance`. */
  readonly scope?: "instance" | "user";
  readonly report: (news: WatchdogNews) => void;
  /** Address of the socket, for tests. */
  readonly listen?: Listen;
  /** Store of the last trip; a file next to the socket by default. */
  readonly tripRecord?: TripRecord;
  /** Folder of the engine's journal, for tests. */
  readonly openDisk?: PersistedHaltOptions["openDisk"];
}

/** `left`: only orders that the service cannot cancel are open. */
type WatchdogState = "waiting" | "armed" | "canceling" | "flat" | "left";

export interface Watchdog {
  /**
   * Listens, and checks the keys with the service. Rejects when they do not suffice, or when another watchdog listens.
   */
  start(): Promise<void>;
  readonly state: WatchdogState;
  readonly silenceMs: number;
  /**
   * No engine is expected any more that never connected. Open orders of the instance are canceled as after a trip,
   * those of other instances never; where none is open, nothing is noted for the next run. Does nothing after an engine
   * has connected.
   */
  giveUp(reason: string): void;
  /** Nothing is left afterwards, neither socket nor timer. */
  stop(): Promise<void>;
}

/** Longest wait of a start for the service; the service may answer later. */
const proofMsMax = 20_000;

/** With the owner and the folder of the journal as the engine derives them. */
const persistedHaltOf = (
  config: CheckedConfig,
  { clock, users }: OpenService,
  { openDisk }: WatchdogProcessOptions,
): PersistedHalt | undefined => {
  if (config.journal === undefined) return undefined;
  const { service, users: uids, instance } = ipcAddressOf(config, {}, users);
  const owner = { service, users: uids.join(", "), instance };
  return createPersistedHalt({ clock, dir: resolve(config.journal.dir), owner, openDisk });
};

/** The service and its config as far as canceling needs them, opened without a stream. */
const openFor = (input: unknown) => {
  const config = checkConfig(input);
  const contract = createContract(config.profile);
  const ignore = (): undefined => undefined;
  const env = { contract, random: createRandom(config.seed), onError: ignore, onAnomaly: ignore, leave: ignore };
  const service = config.service.open(env);
  if (service.watchful === true) return { config, contract, service };
  throw new SluiceError(
    "CONFIG_INVALID",
    `config.service is ${config.service.kind}(…): its orders end with its process. A watchdog is for a service over the network, such as live(…).`,
  );
};

type Opened = ReturnType<typeof openFor>;

interface Door extends WatchedUser {
  readonly uid: string;
}

/** One queue and one ledger for all users, new each time: an old state of the quota is of no use. */
const doorsOf = ({ config, contract, service }: Opened, isOurs: Door["isOurs"]): readonly Door[] => {
  const { shares: _shares, budgets: _budgets, layers, ...reserve } = config.quota;
  const client = openClient(service, { contract, reserve, ...(layers && { layers }) });
  return client.map((user) => ({ ...user, clock: service.clock, contract, isOurs }));
};

/** Checks that the keys suffice, as far as that is possible without canceling anything. */
const prove = async (
  { uid, clock, gateway, ...door }: Door,
  report: WatchdogProcessOptions["report"],
): Promise<void> => {
  if (gateway.keysFor("cancelBatch").length === 0) throw useless(uid, "no key has the permission to cancel");
  const listing$ = listOpen({ gateway, isOurs: door.isOurs }).pipe(takeUntil(after(clock, proofMsMax)));
  const listed = await firstValueFrom(listing$, {
    defaultValue: { kind: "unread", why: `no answer within ${proofMsMax / 1_000} s` } as const,
  });
  if (listed.kind === "rejected") throw useless(uid, listed.why);
  if (listed.kind === "orders") report({ kind: "proved", user: uid, open: listed.orders.length });
  else report({ kind: "unproved", user: uid, why: listed.why });
};

const proveAll = async (
  opened: Opened,
  isOurs: Door["isOurs"],
  report: WatchdogProcessOptions["report"],
): Promise<void> => {
  // Loaded now, and not when it has to act.
  await opened.service.load?.();
  await Promise.all(doorsOf(opened, isOurs).map((door) => prove(door, report)));
};

const useless = (uid: string, why: string): SluiceError =>
  new SluiceError(
    "CONFIG_INVALID",
    `The watchdog could not cancel anything for user ${uid}: ${why}. Give its process keys with the permissions read and trade_futures.`,
  );

interface CancelingParts {
  readonly opened: Opened;
  readonly tripRecord: TripRecord;
  readonly halt: PersistedHalt | undefined;
  readonly report: WatchdogProcessOptions["report"];
}

/** Work after a trip: one canceling at a time, with its record for the next run. */
class Canceling {
  readonly #parts: CancelingParts;
  #work: Subscription | undefined;
  #over: "flat" | "left" | undefined;

  constructor(parts: CancelingParts) {
    this.#parts = parts;
  }

  get state(): "canceling" | "flat" | "left" | undefined {
    return this.#work === undefined ? this.#over : "canceling";
  }

  /** `noted`: at once, or with the first order that is seen. */
  begin(reason: string, isOurs: Door["isOurs"], noted: "at once" | "when found"): void {
    const { opened, tripRecord, halt, report } = this.#parts;
    this.#work?.unsubscribe();
    this.#over = undefined;
    let isNoted = false;
    const note = (): void => {
      if (isNoted) return;
      isNoted = true;
      tripRecord.note(`${reason}; the state of the orders is not known`);
      halt?.begin(`the watchdog tripped: ${reason}`);
    };
    if (noted === "at once") note();
    let gone = 0;
    let stuck = 0;
    const works = doorsOf(opened, isOurs).map((door) =>
      cancelOpen(door).pipe(map((news) => ({ ...news, user: door.uid }))),
    );
    this.#work = merge(...works).subscribe({
      next: (news) => {
        if (news.kind === "stuck" || (news.kind === "listed" && news.open > 0)) note();
        report(news);
        if (news.kind !== "flat") return;
        gone += news.gone;
        stuck += news.stuck;
      },
      complete: () => {
        this.#work = undefined;
        this.#over = stuck === 0 ? "flat" : "left";
        if (isNoted) tripRecord.note(`${reason}; ${gone} ${gone === 1 ? "order was" : "orders were"} canceled`);
        report({ kind: "over", gone, stuck, ...(halt?.state && { halt: halt.state }) });
      },
    });
  }

  /** A running engine looks after its orders. */
  desist(): void {
    if (this.#work !== undefined) this.#parts.report({ kind: "taken-over" });
    this.stop();
    this.#over = undefined;
    this.#parts.halt?.desist();
  }

  stop(): void {
    this.#work?.unsubscribe();
    this.#work = undefined;
  }
}

export const createWatchdog = (input: unknown, options: WatchdogProcessOptions): Watchdog => {
  const { report } = options;
  const opened = openFor(input);
  const { config, service } = opened;
  const own = watchdogIn(config) ?? watchdogDefaults;
  const { scope, silenceMs } = { ...own, ...options };
  const ids = createClientOrderIds(config.instance);
  const isOfInstance: Door["isOurs"] = ({ clOrdId }): boolean => ids.read(clOrdId) !== undefined;
  const isOurs: Door["isOurs"] = scope === "user" ? () => true : isOfInstance;
  const address = ipcAddressOf(config, own, service.users);
  const tripRecord = options.tripRecord ?? fileTripRecord(tripRecordPath(address));
  const halt = persistedHaltOf(config, service, options);
  const canceling = new Canceling({ opened, tripRecord, halt, report });
  let wasMet = false;
  let listening: Promise<() => Promise<void>> | undefined;
  const monitor = new HeartbeatMonitor({
    clock: service.clock,
    silenceMs,
    report,
    act: (reason) => {
      canceling.begin(reason, isOurs, "at once");
    },
    isCanceling: () => canceling.state === "canceling",
    desist: () => {
      wasMet = true;
      canceling.desist();
    },
    before: tripRecord.take,
  });

  return {
    silenceMs,
    get state() {
      if (canceling.state === "canceling") return "canceling";
      return monitor.armed ? "armed" : (canceling.state ?? "waiting");
    },
    start: async () => {
      listening = (options.listen ?? socketListen(address))((connection) => monitor.accept(connection));
      await listening;
      await proveAll(opened, isOurs, report);
    },
    giveUp: (reason) => {
      if (wasMet) return;
      report({ kind: "unmet", reason });
      canceling.begin(reason, isOfInstance, "when found");
    },
    stop: async () => {
      monitor.stop();
      canceling.stop();
      // A start that is under way may be about to listen; one that could not listen has thrown already.
      const stopListening = await listening?.catch(() => undefined);
      await stopListening?.();
      await halt?.end();
      await service.stop();
    },
  };
};
