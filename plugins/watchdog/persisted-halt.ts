/**
 * Persisted halt: after a trip the watchdog writes a halt into the engine's journal, so that its next run starts
 * halted.
 *
 * Invariants: a journal has one owner, so this writes only while it holds the engine's own lock, for the time of one
 * record, and retries while the engine holds it; it creates no journal and ends no segment, as the snapshot needs every
 * kind of record; canceling does not wait for it, and its failure stops nothing.
 * Limits: a blocked engine keeps its lock. If it ends and the next one starts between two tries, or after the watchdog
 * has ended, the next one is not halted; the trip is reported to it. An engine that starts at the moment of writing is
 * refused the lock; its next start is halted.
 * Not here: what a halt means to the next run (engine/recovery.ts), resuming (`--resume`).
 */
import { existsSync } from "node:fs";
import { defer, from, repeat, type Subscription, takeWhile } from "rxjs";
import { isSluiceError } from "sluice";
import {
  after,
  type Clock,
  createDecisions,
  type DecisionRecord,
  type Disk,
  fileDisk,
  openWriteAheadLog,
} from "sluice/extension";

export interface PersistedHaltOptions {
  readonly clock: Clock;
  /** Folder of the journal. */
  readonly dir: string;
  /** The journal's owner, as the engine writes it. */
  readonly owner: Readonly<Record<string, string>>;
  /** Undefined where there is no such folder. */
  readonly openDisk?: ((dir: string) => Promise<Disk | undefined>) | undefined;
}

export type HaltState =
  /** The engine still holds its journal. */
  | { readonly kind: "held" }
  /** The next run starts halted. `repaired`: what the last one had left half written. */
  | { readonly kind: "written"; readonly repaired?: string }
  /** It will not. */
  | { readonly kind: "failed"; readonly why: string };

export interface PersistedHalt {
  /** Undefined while nothing is to be written, or the first try is under way. */
  readonly state: HaltState | undefined;
  /** Writes it, as soon as the journal is free. */
  begin(reason: string): void;
  /** Stops trying: a running engine has its journal. */
  desist(): void;
  /** A last try where it still waits; nothing is being written afterwards. */
  end(): Promise<void>;
}

const againMs = 1_000;
const held: HaltState = { kind: "held" };

const existing = async (dir: string): Promise<Disk | undefined> => (existsSync(dir) ? fileDisk(dir) : undefined);

export const createPersistedHalt = ({
  clock,
  dir,
  owner,
  openDisk = existing,
}: PersistedHaltOptions): PersistedHalt => {
  let state: HaltState | undefined;
  let due: string | undefined;
  let tries: Subscription | undefined;
  /** One at a time. */
  let trying: Promise<HaltState> = Promise.resolve(held);

  const attempt = async (reason: string): Promise<HaltState> => {
    trying = trying.then(() => writeHalt(reason, openDisk, dir, owner));
    const result = await trying;
    // The result of an abandoned try does not count.
    if (due === reason) state = result;
    return result;
  };
  const desist = (): void => {
    tries?.unsubscribe();
    tries = undefined;
    due = undefined;
    state = undefined;
  };

  return {
    get state() {
      return state;
    },
    begin: (reason) => {
      desist();
      due = reason;
      tries = defer(() => from(attempt(reason)))
        .pipe(
          repeat({ delay: () => after(clock, againMs) }),
          takeWhile(({ kind }) => kind === "held"),
        )
        .subscribe();
    },
    desist,
    end: async () => {
      tries?.unsubscribe();
      await trying;
      if (due !== undefined && state?.kind === "held") await attempt(due);
    },
  };
};

/** Never rejects: a failure is part of the result. */
const writeHalt = async (
  reason: string,
  openDisk: NonNullable<PersistedHaltOptions["openDisk"]>,
  dir: string,
  owner: PersistedHaltOptions["owner"],
): Promise<HaltState> => {
  try {
    const disk = await openDisk(dir);
    if (disk === undefined) return { kind: "failed", why: `there is no journal at ${dir}` };
    const unlock = await disk.lock(Object.values(owner).join(" / "));
    try {
      return await append(reason, disk, owner);
    } finally {
      await unlock();
    }
  } catch (error) {
    // Another process holds the lock: to be tried again.
    if (isSluiceError(error) && error.code === "ENGINE_STATE") return held;
    return { kind: "failed", why: error instanceof Error ? error.message : String(error) };
  }
};

const append = async (reason: string, disk: Disk, owner: PersistedHaltOptions["owner"]): Promise<HaltState> => {
  if (!(await disk.list()).some((name) => name.endsWith(".journal")))
    return { kind: "failed", why: `there is no journal at ${disk.name}` };
  const snapshot = (): never => {
    throw new Error("a watchdog ends no segment");
  };
  const store = await openWriteAheadLog({ disk, owner, snapshot, segmentBytes: Number.POSITIVE_INFINITY });
  try {
    if (!isHalted(store.past))
      store.append({ type: "mode", strategy: "", mode: "halted", reason } satisfies DecisionRecord);
    await store.commit();
    return { kind: "written", ...(store.repaired === undefined ? {} : { repaired: store.repaired }) };
  } finally {
    await store.close();
  }
};

/** A halt of everything holds already; its reason stays. */
const isHalted = (past: readonly object[]): boolean => {
  const decisions = createDecisions();
  for (const record of past as readonly DecisionRecord[]) if (record.type === "mode") decisions.take(record);
  return decisions.held().some(({ strategy, mode }) => strategy === "" && mode === "halted");
};
