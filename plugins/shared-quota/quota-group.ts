/**
 * Membership of an engine in a group that shares one quota: joins, halts with the others, leaves.
 *
 * Invariants: joined before the first request to the service; with a journal, a halt of the group survives a restart of
 * this process.
 * Not here: how the quota is divided (shared-quota.ts).
 */
import { createHash } from "node:crypto";
import { firstValueFrom } from "rxjs";
import { SluiceError } from "sluice";
import {
  after,
  type EngineFacts,
  type ExtensionContext,
  groupHaltPrefix,
  messageOf,
  packageVersion,
  type ShareRead,
} from "sluice/extension";
import type { GroupStores } from "./group-stores.ts";
import type { SharedQuotaSettings } from "./options.ts";
import { SharedQuota } from "./shared-quota.ts";
import type { SharedQuotaOptions } from "./shared-quota-options.ts";
import { type AnswerStore, SharedReads } from "./shared-reads.ts";

/** A store that answers does so by then; one that does not is waited for while the engine starts. */
const firstAnswerMs = 1_500;

type Context = ExtensionContext<SharedQuotaSettings>;

export class QuotaGroup {
  readonly #shared: SharedQuota;
  readonly #answers: AnswerStore | undefined;
  readonly #reads: SharedReads | undefined;
  readonly #events: Context["events"];

  private constructor(shared: SharedQuota, answers: AnswerStore | undefined, { events, service }: Context) {
    this.#shared = shared;
    this.#answers = answers;
    this.#reads = answers === undefined ? undefined : new SharedReads(service.clock, answers);
    this.#events = events;
  }

  /**
   * CONFIG_INVALID without the store's address, or where the group has no room for the engine's share. A store that
   * cannot be reached is waited for while the engine starts.
   */
  static async join(context: Context, stores: GroupStores): Promise<QuotaGroup> {
    const { accounts, config, events, halt, options, quota, service } = context;
    const { group, name = config.instance, share, of, address, reads } = options;
    const { clock } = service;
    // Another process of this engine may wait for it to end.
    const hasStandby = config.plugins.some(({ definition }) => definition === "standby");
    let refusal: string | undefined;
    let isJoining = true;
    const shared = new SharedQuota({
      clock,
      store: await stores.claims(options),
      member: name,
      share,
      of,
      address,
      // A journal is open in one process at a time, so the previous owner has ended; that of a standby is a copy.
      gone: config.journal !== undefined && (!hasStandby || context.isHandedOver()),
      onHalt: switchOf(context),
      onFenced: () => {
        if (!hasStandby) return halt(`another process has joined group ${group} as ${name}`);
        // It leads: the orders are its own, and none is cancelled here.
        context.depose("another process");
      },
      onFull: (detail) => {
        refusal = detail;
        if (isJoining) return;
        events.append({ type: "anomaly", what: "quota.full", detail });
        halt(`group ${group} has no room for ${name}`);
      },
      onAnomaly: (what, detail) => events.append({ type: "anomaly", what, detail }),
    });
    quota.divide(shared);
    shared.start([...accounts().map(({ uid }) => `uid:${uid}`), `ip:${address}`], quota.wake);
    await Promise.race([shared.answered, firstValueFrom(after(clock, firstAnswerMs))]);
    isJoining = false;
    if (refusal !== undefined) {
      shared.close();
      throw new SluiceError("CONFIG_INVALID", `sharedQuota: ${refusal}`);
    }
    const answers = reads ? await stores.answers(options, kindOf(config), name) : undefined;
    return new QuotaGroup(shared, answers, context);
  }

  /**
   * Halts every engine of the group, or resumes all with undefined. A halt that could not be published is reported as
   * an anomaly.
   */
  haltAll(reason: string | undefined): void {
    this.#shared.halt.all(reason).catch((error: unknown) => {
      this.#events.append({
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
const kindOf = ({ service: { baseUrl = "" } }: EngineFacts): string =>
  `${packageVersion()}:${createHash("sha256").update(baseUrl).digest("hex").slice(0, 8)}`;

/**
 * Halts with the group, and continues with it unless anything else has halted or resumed this engine in the meantime.
 */
const switchOf = ({ decide, events, halt, resume }: Context): SharedQuotaOptions["onHalt"] => {
  return (reason) => {
    if (reason !== undefined) {
      halt(`${groupHaltPrefix}${reason}`);
      decide("halted", `${groupHaltPrefix}${reason}`);
    } else if (resume("resumed everywhere")) decide("active", "resumed everywhere");
    else {
      const detail = "the group may trade again; this engine stays halted for a reason of its own";
      events.append({ type: "anomaly", what: "group.resumed", detail });
    }
  };
};
