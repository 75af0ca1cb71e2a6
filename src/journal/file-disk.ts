/**
 * Durable storage in a folder of this machine.
 *
 * Invariants: a new file is written under a temporary name, flushed, renamed, and the folder flushed, so that a crash leaves all of
 * it or nothing; only the owner may access files and folder (0600, 0700), since they show what is traded.
 */
import { constants, write } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { SluiceError } from "../errors.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { holdLock } from "./process-lock.ts";

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
  flags: string,
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
const appending = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (writesThrough ? constants.O_DSYNC : 0);

/** By callback: a promise of the file system's for each part costs twice the processor time of the write's own way there and back. */
const appended = (file: number, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve, reject) => {
    const writeFrom = (start: number): void => {
      write(file, bytes, start, bytes.length - start, null, (error, written) => {
        if (error !== null) reject(error);
        // A write may take only part of what it is given.
        else if (start + written < bytes.length) writeFrom(start + written);
        else resolve();
      });
    };
    writeFrom(0);
  });

const halfMade = ".new";

const makeFolder = async (folder: string): Promise<void> => {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    const why =
      code === "EEXIST" || code === "ENOTDIR" ? "a file stands in its place or on the way" : `the system says ${code}`;
    throw new SluiceError(
      "JOURNAL_FAILED",
      `The folder ${folder} cannot be made: ${why}. Move that away, or name another folder.`,
    );
  }
};

export const fileDisk = async (folder: string): Promise<Disk> => {
  await makeFolder(folder);
  const pathOf = (name: string): string => join(folder, name);
  return {
    name: folder,
    list: async () => (await readdir(folder)).filter((name) => !name.endsWith(halfMade)).sort(),
    read: async (name) => readFile(pathOf(name)),
    create: async (name, bytes) => {
      await whileOpen(pathOf(name + halfMade), "w", async (handle) => handle.writeFile(bytes));
      await rename(pathOf(name + halfMade), pathOf(name));
      await flushFolder(folder);
    },
    open: async (name): Promise<DiskFile> => {
      const handle = await open(pathOf(name), appending, 0o600);
      return {
        append: (bytes) => appended(handle.fd, bytes),
        sync: () => (writesThrough ? undefined : handle.datasync()),
        close: async () => handle.close(),
      };
    },
    truncate: async (name, bytes) => {
      await whileOpen(pathOf(name), "r+", async (handle) => handle.truncate(bytes));
    },
    rename: async (from, to) => {
      await rename(pathOf(from), pathOf(to));
      await flushFolder(folder);
    },
    lock: holdLock,
    remove: async (name) => {
      await rm(pathOf(name));
      await flushFolder(folder);
    },
  };
};
