/**
 * Membership of an engine in a group that shares one quota: joins, halts with the others, leaves.
 *
 * Invariants: joined before the first request to the service; with a journal, a halt of the group survives a restart of this process.
 * Not here: how the quota is divided (scheduler/shared/).
 */
import { createHash } from "node:crypto";
import { firstValueFrom } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import { messageOf, SluiceError } from "../errors.ts";
import type { CheckedConfig, SharedQuotaConfig } from "../host/config.ts";
import { groupHaltPrefix } from "../host/operator-view.ts";
import { packageVersion } from "../host/package-version.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ShareRead } from "../orders/state/read-sharing.ts";
import type { Ledger } from "../scheduler/quota/ledger.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import { SharedQuota } from "../scheduler/shared/shared-quota.ts";
import type { SharedQuotaOptions } from "../scheduler/shared/shared-quota-options.ts";
import { type GroupStores, redisStores } from "./group-stores.ts";
import { type AnswerStore, SharedReads } from "./shared-reads.ts";
import type { StandbyClient } from "./standby-client.ts";
import { decisionsOf, type haltWith, setMode } from "./trading-state.ts";
import type { UserAccounts } from "./user-account.ts";

/** A store that answers does so by then; one that does not is waited for while the engine starts. */
const firstAnswerMs = 1_500;

export interface GroupParts {
  readonly clock: Clock;
  readonly accounts: UserAccounts;
  readonly journal: EventLog;
  readonly ledger: Ledger;
  readonly scheduler: Scheduler;
  readonly halt: ReturnType<typeof haltWith>;
  readonly standby: Pick<StandbyClient, "isHandedOver" | "onDeposed">;
  /** Writes down what was decided, so that it outlives the process. */
  readonly decide: (mode: "active" | "halted", reason: string) => void;
}

export class QuotaGroup {
  readonly #shared: SharedQuota;
  readonly #answers: AnswerStore | undefined;
  readonly #reads: SharedReads | undefined;
  readonly #journal: EventLog;

  private constructor(shared: SharedQuota, answers: AnswerStore | undefined, { clock, journal }: GroupParts) {
    this.#shared = shared;
    this.#answers = answers;
    this.#reads = answers === undefined ? undefined : new SharedReads(clock, answers);
    this.#journal = journal;
  }

  /** CONFIG_INVALID without the store's address, or where the group has no room for the engine's share. A store that cannot be reached is waited for while the engine starts. */
  static async join(
    config: CheckedConfig,
    settings: SharedQuotaConfig,
    parts: GroupParts,
    stores: GroupStores = redisStores,
  ): Promise<QuotaGroup> {
    const { group, name = config.instance, share = 1, of, address = "local", reads = true } = settings;
    const { clock, accounts, journal, ledger, scheduler, halt, standby } = parts;
    let refusal: string | undefined;
    let isJoining = true;
    const shared = new SharedQuota({
      clock,
      store: await stores.claims(settings),
      member: name,
      share,
      of,
      address,
      // A journal is open in one process at a time, so the previous owner has ended; that of a standby is a copy.
      gone: config.journal !== undefined && (config.standby === undefined || standby.isHandedOver),
      onHalt: switchOf(parts),
      onFenced: () => {
        if (config.standby === undefined) return void halt(`another process has joined group ${group} as ${name}`);
        // It leads: the orders are its own, and none is cancelled here.
        journal.append({ type: "standby.lost", leader: "another process" });
        standby.onDeposed();
      },
      onFull: (detail) => {
        refusal = detail;
        if (isJoining) return;
        journal.append({ type: "anomaly", what: "quota.full", detail });
        void halt(`group ${group} has no room for ${name}`);
      },
      onAnomaly: (what, detail) => journal.append({ type: "anomaly", what, detail }),
    });
    ledger.divide(shared);
    shared.start([...accounts.all.map(({ user: { uid } }) => `uid:${uid}`), `ip:${address}`], () => scheduler.wake());
    await Promise.race([shared.answered, firstValueFrom(after(clock, firstAnswerMs))]);
    isJoining = false;
    if (refusal !== undefined) {
      shared.close();
      throw new SluiceError("CONFIG_INVALID", `config.quota.shared: ${refusal}`);
    }
    const answers = reads ? await stores.answers(settings, kindOf(config), name) : undefined;
    return new QuotaGroup(shared, answers, parts);
  }

  /** Halts every engine of the group, or resumes all with undefined. A halt that could not be published is reported as an anomaly. */
  haltAll(reason: string | undefined): void {
    this.#shared.halt.all(reason).catch((error: unknown) => {
      this.#journal.append({
        type: "anomaly",
        what: "group.unreachable",
        detail: `the halt could not be published to the group yet and will be retried: ${messageOf(error)}`,
      });
    });
  }

  /** Why all engines of the group are halted. */
  get halted(): string | undefined {
    return this.#shared.halt.reason;
  }

  /** Reads of a user's state that other engines of the group may answer; undefined where each asks for itself. */
  readsOf(uid: string): ShareRead | undefined {
    const reads = this.#reads;
    if (reads === undefined) return undefined;
    return (what, maxAgeMs, read) => reads.read(what === "instruments" ? what : `${uid}:${what}`, maxAgeMs, read);
  }

  leave(): void {
    this.#shared.close();
    this.#answers?.close();
  }
}

/** Engines of a group need the same version, for the records' format, and the same service. */
const kindOf = ({ service: { baseUrl = "" } }: CheckedConfig): string =>
  `${packageVersion()}:${createHash("sha256").update(baseUrl).digest("hex").slice(0, 8)}`;

/** Halts with the group, and goes on with it unless anything else has halted or resumed this engine meanwhile. */
const switchOf = ({ accounts, journal, halt, decide }: GroupParts): SharedQuotaOptions["onHalt"] => {
  let mark: number | undefined;
  return (reason) => {
    if (reason !== undefined) {
      const isHalted = accounts.all.every(({ orderManager }) => orderManager.mode === "halted");
      halt(`${groupHaltPrefix}${reason}`);
      decide("halted", `${groupHaltPrefix}${reason}`);
      mark = isHalted ? undefined : decisionsOf(accounts);
    } else if (mark === decisionsOf(accounts)) {
      mark = undefined;
      setMode(accounts, "active", "resumed everywhere");
      decide("active", "resumed everywhere");
    } else {
      const detail = "the group may trade again; this engine stays halted for a reason of its own";
      journal.append({ type: "anomaly", what: "group.resumed", detail });
    }
  };
};
