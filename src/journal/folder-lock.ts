/**
 * Folder lock: one owner at a time for a name in a folder, also where processes share the folder and nothing else, as
 * two containers do.
 *
 * The owner keeps a file with its identity and a heartbeat count. The file of an owner that is known to be dead is
 * taken over at once. The file of an owner in another container is taken over when its count has not changed for
 * `staleMs`.
 *
 * Invariants: one process creates the file; of several processes that find it stale one takes it over; an owner that
 * was replaced gets an error from its next `check`.
 * Not here: the lock of this machine (process-lock.ts), what is kept in the folder (file-disk.ts).
 */
import { createHash, randomBytes } from "node:crypto";
import { close, constants, lstatSync, open, readFileSync, readlinkSync, write } from "node:fs";
import { link, readFile, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Clock, Timer } from "../clock/clock.ts";
import { SluiceError } from "../errors.ts";

export interface FolderLock {
  /** Rejects when another process has taken the lock over, or the file is gone. */
  check(): Promise<void>;
  release(): Promise<void>;
}

/** Content of the lock file: identity of the owner. */
interface Holder {
  /** Differs for each lock that is taken. */
  readonly token: string;
  /** Scope of `pid`: the machine since its last boot, and the container. */
  readonly host: string;
  readonly pid: number;
  /** Start time of the process in clock ticks since boot; empty where it is unknown. */
  readonly started: string;
  readonly beats: number;
}

const beatMs = 2_000;
const lookMs = 1_000;
/** Time without a heartbeat after which an owner in another container counts as dead. */
const staleMs = 10_000;
/** Fixed length of the content, because heartbeats overwrite it in place. */
const textBytes = 512;
const suffix = ".lock";
const { O_NOFOLLOW } = constants;
const making = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | O_NOFOLLOW;
const reading = constants.O_RDONLY | O_NOFOLLOW;

/** Returns true for the name of a lock file. */
export const isLockFile = (name: string): boolean => name.endsWith(suffix) || name.includes(`${suffix}.`);

// Plain file descriptors: a FileHandle would be closed by garbage collection, and the lock must last as long as the
// process.
const [openFile, writeFile, closeFile] = [
  promisify(open),
  promisify<number, string, number, number>(write),
  promisify(close),
];

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

const startOf = (pid: number | "self"): string | undefined => {
  try {
    // The command name may contain anything, so fields are counted after it: the twentieth is the start time.
    return readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ")[19];
  } catch {
    return undefined;
  }
};

const hostNow = (): string => {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
};

/** Returns undefined for an owner in another container. */
const isAlive = ({ host, pid, started }: Holder): boolean | undefined => {
  if (host !== hostNow()) return undefined;
  return isRunning(pid) && (started === "" || startOf(pid) === started);
};

const textOf = (holder: Holder): string => `${JSON.stringify(holder).padEnd(textBytes - 1)}\n`;

/** Returns undefined if there is no file, and an unknown holder if the content is not valid JSON. */
const holderIn = async (path: string): Promise<Holder | undefined> => {
  try {
    const text = await readFile(path, { encoding: "utf8", flag: reading });
    return JSON.parse(text) as Holder;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    if (!(error instanceof SyntaxError)) throw error;
    return { token: "", host: "", pid: 0, started: "", beats: 0 };
  }
};

/**
 * Identity and age of the file at `path`; empty if there is none. A file that replaced it has another inode, and a file
 * that was written to has another time. This is one call of the system, while reading the content takes four.
 */
const stateOf = (path: string): string => {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? "" : `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs}`;
};

/** Takes the lock of `name` in `folder`; `refuse` makes the error for one that another process holds. */
export const lockFolder = async (
  folder: string,
  name: string,
  clock: Clock,
  refuse: () => SluiceError,
): Promise<FolderLock> => {
  const path = join(folder, createHash("sha256").update(name).digest("hex").slice(0, 16) + suffix);
  const holder: Holder = {
    token: randomBytes(8).toString("hex"),
    host: hostNow(),
    pid: process.pid,
    started: startOf("self") ?? "",
    beats: 0,
  };
  for (;;) {
    const file = await made(path, holder);
    if (file !== undefined) return new HeldFolder(path, holder, file, clock);
    const stale = await staleHolder(path, clock, refuse);
    if (stale !== undefined) await setAside(path, stale, holder.token);
  }
};

/** Undefined if the file exists. */
const made = async (path: string, holder: Holder): Promise<number | undefined> => {
  try {
    const file = await openFile(path, making, 0o600);
    await writeFile(file, textOf(holder), 0);
    return file;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return undefined;
    throw error;
  }
};

/** The holder if it is dead; undefined if the file has gone. Throws if the holder is alive. */
const staleHolder = async (path: string, clock: Clock, refuse: () => SluiceError): Promise<Holder | undefined> => {
  const first = await holderIn(path);
  if (first === undefined) return undefined;
  const alive = isAlive(first);
  if (alive === true) throw refuse();
  if (alive === false) return first;
  for (const until = clock.now() + staleMs; clock.now() < until; ) {
    await new Promise<void>((resolve) => clock.setTimer(clock.now() + lookMs, resolve));
    const now = await holderIn(path);
    if (now === undefined) return undefined;
    // The content was not readable yet, because it is being written for the first time.
    if (first.token !== "" && (now.token !== first.token || now.beats !== first.beats)) throw refuse();
    if (first.token === "" && now.token !== "") throw refuse();
  }
  return first;
};

/** Removes the file of a dead holder. A file that another process has created meanwhile is put back. */
const setAside = async (path: string, stale: Holder, token: string): Promise<void> => {
  const aside = `${path}.${token}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  const found = await holderIn(aside);
  if (found?.token !== stale.token || found.beats !== stale.beats) await link(aside, path).catch(() => undefined);
  await rm(aside, { force: true });
};

class HeldFolder implements FolderLock {
  readonly #path: string;
  readonly #clock: Clock;
  #holder: Holder;
  #file: number;
  #timer: Timer | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isReleased = false;
  /** State of the file when its content was last found to be this owner's; each heartbeat changes it. */
  #ownState = "";

  constructor(path: string, holder: Holder, file: number, clock: Clock) {
    this.#path = path;
    this.#holder = holder;
    this.#file = file;
    this.#clock = clock;
    this.#beatLater();
  }

  async check(): Promise<void> {
    // Read before the content, so that the next check notices a change in between.
    const state = stateOf(this.#path);
    if (state !== "" && state === this.#ownState) return;
    const holder = await holderIn(this.#path);
    if (holder === undefined) throw new Error(`the lock file ${this.#path} is gone`);
    if (holder.token === this.#holder.token) {
      this.#ownState = state;
      return;
    }
    const text = `${this.#path}: another process has taken over, as this one did not run for ${staleMs / 1_000} s or more.`;
    throw new SluiceError("JOURNAL_FAILED", text);
  }

  async release(): Promise<void> {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#timer?.cancel();
    await this.#beating;
    await closeFile(this.#file);
    const holder = await holderIn(this.#path).catch(() => undefined);
    if (holder?.token === this.#holder.token) await rm(this.#path, { force: true });
  }

  #beatLater(): void {
    this.#timer = this.#clock.setTimer(this.#clock.now() + beatMs, () => {
      // A failed heartbeat is not reported here: the next write to the folder checks the lock.
      this.#beating = this.#beat().catch(() => undefined);
      void this.#beating.then(() => {
        if (!this.#isReleased) this.#beatLater();
      });
    });
  }

  async #beat(): Promise<void> {
    this.#holder = { ...this.#holder, beats: this.#holder.beats + 1 };
    // After a takeover by another process this is the old file, which is no longer used.
    await writeFile(this.#file, textOf(this.#holder), 0);
    if ((await holderIn(this.#path)) !== undefined) return;
    const file = await made(this.#path, this.#holder);
    if (file === undefined) return;
    await closeFile(this.#file);
    this.#file = file;
  }
}
