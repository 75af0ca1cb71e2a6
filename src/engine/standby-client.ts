/**
 * Standby extension: the engine's place among processes of which one leads.
 *
 * Invariants: only an engine that trades over a network on the machine's own clock has one; until its code is loaded and it leads, nothing
 * but reads may leave; a backtest leaves it aside, and a session that is recorded is refused, as nothing would keep two from trading.
 * Not here: who leads, what is copied (engine/standby/).
 */
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { SluiceError } from "../errors.ts";
import { type StandbyConfig, standbyDefaults } from "../host/config.ts";
import type { EngineExtension, ExtensionContext } from "../host/engine-extension.ts";
import type { StandbyHealth } from "../host/operator-view.ts";
import type { Disk } from "../journal/disk.ts";
import type { Standby } from "./standby/standby.ts";

/** How long an answer of the store may take; a piece of a file may take longer, on a connection of its own. */
const answerMsMax = 1_000;
const pieceMs = 5_000;

const waiting: StandbyHealth = { state: "waiting", leader: undefined, standbys: [], copyBehind: false };
const notLeading = "this process does not lead yet";

type Context = ExtensionContext<StandbyConfig>;

/** `openDisk`: how folders are opened; those of the machine when left out. */
export const standbyExtension = (
  context: Context,
  openDisk?: (dir: string) => Promise<Disk>,
): EngineExtension | undefined => {
  if (context.service.watchful !== true) return undefined;
  if (context.service.realTime !== true) {
    throw new SluiceError(
      "CONFIG_INVALID",
      "config.standby: a session that is recorded or replayed has no standby. Leave it out of this config.",
    );
  }
  let standby: Standby | undefined;
  const loaded = (): Standby => {
    if (standby !== undefined) return standby;
    throw new SluiceError("ENGINE_STATE", "The standby's code is not loaded. Await engine.load() first.");
  };
  return {
    load: async () => {
      standby ??= await openStandby(context, openDisk);
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
    health: () => standby?.health() ?? waiting,
    closed: async () => standby?.end(),
  };
};

const openStandby = async (
  { accounts, config, contract, depose, events, options, service }: Context,
  openDisk?: (dir: string) => Promise<Disk>,
): Promise<Standby> => {
  const [{ Standby }, { RedisLeaseStore }, { fileDisk }, { addressIn }] = await Promise.all([
    import("./standby/standby.ts"),
    import("./standby/redis-lease-store.ts"),
    import("../journal/file-disk.ts"),
    import("../scheduler/shared/store-address.ts"),
  ]);
  const { store, group, name = hostname(), leaseMs = standbyDefaults.leaseMs } = options;
  const { instance, service: spec } = config;
  const address = addressIn(store, "config.standby.store");
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
