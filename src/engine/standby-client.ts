/**
 * The engine's place among processes of which one leads, if its config has a standby.
 *
 * Invariants: only an engine that trades over a network on the machine's own clock has one; until its code is loaded and it leads, nothing
 * but reads may leave; a backtest leaves it aside, and a session that is recorded is refused, as nothing would keep two from trading.
 * Not here: who leads, what is copied (engine/standby/).
 */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { OpenService } from "../client/service-port.ts";
import type { Contract } from "../contract/contract.ts";
import type { WireRequest } from "../contract/transport.ts";
import { SluiceError } from "../errors.ts";
import { type CheckedConfig, type StandbyConfig, standbyDefaults } from "../host/config.ts";
import type { StandbyHealth } from "../host/operator-view.ts";
import type { Disk } from "../journal/disk.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Standby } from "./standby/standby.ts";
import type { UserAccount } from "./user-account.ts";

interface StandbyParts {
  readonly config: CheckedConfig;
  readonly service: OpenService;
  readonly contract: Contract;
  readonly journal: EventLog;
  readonly accounts: () => readonly UserAccount[];
  /** How folders are opened; those of the machine when left out. */
  readonly openDisk: ((dir: string) => Promise<Disk>) | undefined;
}

export interface StandbyClient {
  /** Loads what it is made of and reaches the store. Awaited before `lead`. */
  readonly load?: () => Promise<void>;
  /** Resolves when this process leads: with true where it has seen another one lead before. */
  lead(): Promise<boolean> | undefined;
  /** Why a request must not leave, or no order may. */
  blocks(request: WireRequest): string | undefined;
  refusal(isExit: boolean): string | undefined;
  /** Why exits may leave only with the service's reduce-only flag. */
  flagOnly(): string | undefined;
  /** Milliseconds for which an exit lets another process that may lead go first. */
  yieldMs(): number;
  /** The folder of the journal, for a leader. */
  readonly openDisk: ((dir: string) => Promise<Disk>) | undefined;
  health(): StandbyHealth;
  /** The leader before has given up the lead in order. */
  readonly isHandedOver: boolean;
  /** Called when another process leads: the engine is to end. */
  onDeposed: () => void;
  /** Gives the lead back, when nothing is under way any more. */
  end(): Promise<void>;
}

/** How long an answer of the store may take; a piece of a file may take longer, on a connection of its own. */
const answerMsMax = 1_000;
const pieceMs = 5_000;

const none: StandbyHealth = { state: "none", leader: undefined, standbys: [], copyBehind: false };

export const standbyClientOf = (parts: StandbyParts): StandbyClient => {
  const { config, service, openDisk } = parts;
  if (config.standby !== undefined && service.watchful === true) return new LateStandby(parts, config.standby);
  return {
    lead: () => undefined,
    blocks: () => undefined,
    refusal: () => undefined,
    flagOnly: () => undefined,
    yieldMs: () => 0,
    openDisk,
    health: () => none,
    isHandedOver: false,
    onDeposed: () => undefined,
    end: async () => undefined,
  };
};

class LateStandby implements StandbyClient {
  onDeposed: () => void = () => undefined;
  readonly #parts: StandbyParts;
  readonly #settings: StandbyConfig;
  #standby: Standby | undefined;

  constructor(parts: StandbyParts, settings: StandbyConfig) {
    this.#parts = parts;
    this.#settings = settings;
    if (parts.service.realTime === true) return;
    throw new SluiceError(
      "CONFIG_INVALID",
      "config.standby: a session that is recorded or replayed has no standby. Leave it out of this config.",
    );
  }

  readonly load = async (): Promise<void> => {
    if (this.#standby !== undefined) return;
    const { config, service, contract, journal, accounts } = this.#parts;
    const [{ Standby }, { RedisLeaseStore }, { fileDisk }, { addressIn }] = await Promise.all([
      import("./standby/standby.ts"),
      import("./standby/redis-lease-store.ts"),
      import("../journal/file-disk.ts"),
      import("../scheduler/shared/store-address.ts"),
    ]);
    const { store, group, name = hostname(), leaseMs = standbyDefaults.leaseMs } = this.#settings;
    const { instance, service: spec } = config;
    const address = addressIn(store, "config.standby.store");
    const dir = resolve(config.journal?.dir ?? ".");
    const disk = await (this.#parts.openDisk ?? fileDisk)(dir);
    const users = service.users
      .map(({ uid }) => uid)
      .sort()
      .join(", ");
    this.#standby ??= new Standby({
      clock: service.clock,
      journal,
      store: await RedisLeaseStore.open(address, group, instance, Math.min(answerMsMax, leaseMs / 20)),
      bulk: await RedisLeaseStore.open(address, group, instance, pieceMs),
      candidate: {
        name: `${instance}@${name}`,
        session: randomBytes(8).toString("hex"),
        owner: `${spec.baseUrl ?? spec.kind} / ${users} / ${instance}`,
      },
      leaseMs,
      toleranceMs: contract.profile.auth.toleranceMs,
      disk,
      isExit: (clOrdId) => accounts().some(({ orderManager }) => orderManager.isExit(clOrdId)),
      isUnflagged: (clOrdId) => accounts().some(({ orderManager }) => orderManager.isUnflaggedExit(clOrdId)),
      onBack: () => {
        for (const { orderManager } of accounts()) orderManager.reconsider();
      },
      onDeposed: () => this.onDeposed(),
    });
  };

  get isHandedOver(): boolean {
    return this.#standby?.isHandedOver === true;
  }

  lead(): Promise<boolean> {
    return this.#loaded().lead();
  }

  blocks(request: WireRequest): string | undefined {
    return this.#standby === undefined ? "this process does not lead yet" : this.#standby.blocks(request);
  }

  refusal(isExit: boolean): string | undefined {
    return this.#standby === undefined ? "this process does not lead yet" : this.#standby.refusal(isExit);
  }

  flagOnly(): string | undefined {
    return this.#standby?.flagOnly();
  }

  yieldMs(): number {
    return this.#standby?.yieldMs() ?? 0;
  }

  readonly openDisk = async (): Promise<Disk> => this.#loaded().disk;

  health(): StandbyHealth {
    return this.#standby?.health() ?? { ...none, state: "waiting" };
  }

  async end(): Promise<void> {
    await this.#standby?.end();
  }

  #loaded(): Standby {
    if (this.#standby !== undefined) return this.#standby;
    throw new SluiceError("ENGINE_STATE", "The standby's code is not loaded. Await engine.load() first.");
  }
}
