/**
 * Durable storage in a folder of this machine.
 *
 * Invariants: a new file is written under a temporary name, flushed, renamed, and the folder flushed, so that a crash
 * leaves all of it or nothing; only the owner may access files and folder (0600, 0700), since they show what is traded;
 * no file is reached by a symbolic link; a file that was deleted or replaced while it is written to is a failure of the
 * disk.
 */
import { constants, lstatSync, statSync, write } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { SluiceError } from "../errors.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { type FolderLock, isLockFile, lockFolder } from "./folder-lock.ts";
import { holdLock, lockHeld } from "./process-lock.ts";

const flushFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const whileOpen = async (
  path: string,
  flags: number,
  work: (handle: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> => {
  const handle = await open(path, flags, 0o600);
  try {
    await work(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** True where a write can include its flush (O_DSYNC): one trip to another thread instead of two. */
const writesThrough = process.platform === "linux";
// Undefined on Windows, where it adds nothing.
const { O_NOFOLLOW } = constants;
const making = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | O_NOFOLLOW;
const changing = constants.O_RDWR | O_NOFOLLOW;
const reading = constants.O_RDONLY | O_NOFOLLOW;
const appending =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | O_NOFOLLOW | (writesThrough ? constants.O_DSYNC : 0);

/** Uses callbacks, because promises of the file system cost twice the processor time of the write itself. */
const appended = (file: number, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    const writeFrom = (start: number): void => {
      write(file, bytes, start, bytes.length - start, null, (error, written) => {
        if (error !== null) reject(error);
        // A write may write only part of its bytes.
        else if (start + written < bytes.length) writeFrom(start + written);
        else resolve();
      });
    };
    writeFrom(0);
  });

const halfMade = ".new";

const folderHeld = (folder: string, name: string): SluiceError =>
  lockHeld(
    `Another process already runs as ${name} (service / users / instance) with the folder ${folder}, in another container or on another machine. Stop it first, or give this config its own \`instance\` and \`journal.dir\`.`,
  );

/** Refuses a folder that other users may write to, because they could remove or replace its content. */
const checkFolder = (folder: string): void => {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const { uid: owner, mode } = statSync(folder);
  // A volume that is mounted for a container may belong to root and be writable for the container's group.
  const isOwn = owner === uid || owner === 0;
  const isOpen = (mode & 0o002) !== 0 || (owner === uid && (mode & 0o020) !== 0);
  if (isOwn && !isOpen) return;
  const problem = isOwn
    ? `others may write to it (mode ${(mode & 0o777).toString(8)}). Run: chmod 700 '${folder}'`
    : "it belongs to another user of this machine. Name another folder";
  throw new SluiceError("JOURNAL_FAILED", `The folder ${folder} cannot be used for a journal: ${problem}.`);
};

const makeFolder = async (folder: string): Promise<void> => {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    const why =
      code === "EEXIST" || code === "ENOTDIR" ? "a file is in its place or on the way" : `the system reports ${code}`;
    throw new SluiceError(
      "JOURNAL_FAILED",
      `The folder ${folder} cannot be made: ${why}. Move that away, or name another folder.`,
    );
  }
};

type Inode = { readonly dev: number; readonly ino: number };

/** Throws if the file does not exist any more, because everything written to it is lost. */
const checkPresent = (path: string, { dev, ino }: Inode): void => {
  const now = lstatSync(path, { throwIfNoEntry: false });
  if (now?.dev !== dev || now.ino !== ino) throw new Error(`${path} was deleted or replaced while it was in use`);
};

/**
 * A folder of this machine as the disk of a journal.
 *
 * @param folder - its path; it is made where it does not exist
 * @param clock - the machine's; the lock of the folder counts by it
 * @returns the disk, locked for this process
 */
export const fileDisk = async (folder: string, clock: Clock = createSystemClock()): Promise<Disk> => {
  await makeFolder(folder);
  checkFolder(folder);
  const locks = new Set<FolderLock>();
  const pathOf = (name: string): string => join(folder, name);
  return {
    name: folder,
    list: async () => (await readdir(folder)).filter((name) => !name.endsWith(halfMade) && !isLockFile(name)).sort(),
    read: async (name) => readFile(pathOf(name), { flag: reading }),
    create: async (name, bytes) => {
      // Left by a crash, or a link made by another program.
      await rm(pathOf(name + halfMade), { force: true });
      await whileOpen(pathOf(name + halfMade), making, async (handle) => handle.writeFile(bytes));
      await rename(pathOf(name + halfMade), pathOf(name));
      await flushFolder(folder);
    },
    open: async (name): Promise<DiskFile> => {
      const handle = await open(pathOf(name), appending, 0o600);
      const inode = await handle.stat();
      return {
        append: async (bytes) => {
          await appended(handle.fd, bytes);
          // Checked on this thread, because another thread takes longer to wake than the disk to answer after a write.
          checkPresent(pathOf(name), inode);
          for (const lock of locks) await lock.check();
        },
        sync: () => (writesThrough ? undefined : handle.datasync()),
        close: async () => handle.close(),
      };
    },
    truncate: async (name, bytes) => {
      await whileOpen(pathOf(name), changing, async (handle) => handle.truncate(bytes));
    },
    rename: async (from, to) => {
      await rename(pathOf(from), pathOf(to));
      await flushFolder(folder);
    },
    lock: async (name) => {
      const unlock = await holdLock(name);
      try {
        const lock = await lockFolder(folder, name, clock, () => folderHeld(folder, name));
        locks.add(lock);
        return async () => {
          locks.delete(lock);
          await lock.release();
          await unlock();
        };
      } catch (error) {
        await unlock();
        throw error;
      }
    },
    remove: async (name) => {
      await rm(pathOf(name));
      await flushFolder(folder);
    },
  };
};
