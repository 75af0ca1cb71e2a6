/**
 * Standby extension: the engine's place among processes of which one leads.
 *
 * Invariants: only an engine that trades over a network on the machine's own clock has one; until its code is loaded
 * and it leads, nothing but reads may leave; a backtest leaves it aside, and a session that is recorded is refused, as
 * nothing would keep two from trading.
 * Not here: who leads (standby.ts), what is copied (journal-copy.ts).
 */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { SluiceError } from "sluice";
import type { Disk, EngineExtension, ExtensionContext, StandbyHealth } from "sluice/extension";
import type { StandbyOptions } from "./options.ts";
import type { Standby } from "./standby.ts";
import { standbyWords } from "./standby-words.ts";

/** Longest wait for an answer of the store; a piece of a file may take longer, on a connection of its own. */
const answerMsMax = 1_000;
const pieceMs = 5_000;

/** `health()` with the role in one line. */
const withText = (health: StandbyHealth): StandbyHealth => {
  const text = standbyWords(health);
  return text === undefined ? health : { ...health, text };
};

const waiting: StandbyHealth = { state: "waiting", leader: undefined, standbys: [], copyBehind: false };
const notLeading = "this process does not lead yet";

type Context = ExtensionContext<StandbyOptions>;

export interface StandbyParts {
  /** Opens the folder of the journal. Default: a folder of the machine. */
  readonly openDisk?: ((dir: string) => Promise<Disk>) | undefined;
}

export const standbyExtension = (context: Context, parts: StandbyParts): EngineExtension | undefined => {
  if (context.service.watchful !== true) return undefined;
  if (context.service.realTime !== true) {
    throw new SluiceError(
      "CONFIG_INVALID",
      "config.plugins: a session that is recorded or replayed has no standby. Leave it out of this config.",
    );
  }
  let standby: Standby | undefined;
  const loaded = (): Standby => {
    if (standby !== undefined) return standby;
    throw new SluiceError("ENGINE_STATE", "The standby's code is not loaded. Await engine.load() first.");
  };
  return {
    load: async () => {
      standby ??= await openStandby(context, parts);
    },
    acquire: async () => {
      const continues = await loaded().lead();
      return { continues, inOrder: loaded().isHandedOver };
    },
    blocks: (request) => (standby === undefined ? notLeading : standby.blocks(request)),
    refuses: (isExit) => (standby === undefined ? notLeading : standby.refusal(isExit)),
    flagOnly: () => standby?.flagOnly(),
    yieldMs: () => standby?.yieldMs() ?? 0,
    openDisk: async () => loaded().disk,
    health: () => withText(standby?.health() ?? waiting),
    closed: async () => standby?.end(),
  };
};

const openStandby = async (
  { accounts, config, contract, depose, events, options, service }: Context,
  { openDisk }: StandbyParts,
): Promise<Standby> => {
  const [{ Standby }, { RedisLeaseStore }, { fileDisk }, { addressIn }] = await Promise.all([
    import("./standby.ts"),
    import("./redis-lease-store.ts"),
    import("sluice/extension"),
    import("sluice/plugins/redis"),
  ]);
  const { store, group, name = hostname(), leaseMs } = options;
  const { instance, service: spec } = config;
  const address = addressIn(store, "standby.store");
  const dir = resolve(config.journal?.dir ?? ".");
  const disk = await (openDisk ?? fileDisk)(dir);
  const users = service.users
    .map(({ uid }) => uid)
    .sort()
    .join(", ");
  return new Standby({
    clock: service.clock,
    journal: events,
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
    isExit: (clOrdId) => accounts().some((account) => account.isExit(clOrdId)),
    isUnflagged: (clOrdId) => accounts().some((account) => account.isUnflaggedExit(clOrdId)),
    onBack: () => {
      for (const account of accounts()) account.reconsider();
    },
    onDeposed: depose,
  });
};
