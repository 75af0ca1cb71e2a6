/**
 * Process lock: one owner at a time for a name on this machine, because two engines of one user would place every order
 * twice.
 *
 * Invariants: the operating system releases the lock when the process ends, however it ends, so there is never a stale
 * lock.
 * Not here: a folder that processes of several containers share (folder-lock.ts), locks between machines
 * (plugins/standby).
 */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SluiceError } from "../errors.ts";

/**
 * Address of the lock. On Linux, which has names without files, the name disappears with the process. Elsewhere a
 * socket file may remain, and is checked.
 */
const addressOf = (name: string): string => {
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 32);
  if (process.platform === "linux") return `\u0000sluice-${hash}`;
  return process.platform === "win32" ? `\\\\.\\pipe\\sluice-${hash}` : join(tmpdir(), `sluice-${hash}.sock`);
};

const listen = async (path: string): Promise<net.Server> =>
  new Promise((resolve, reject) => {
    // A connection only checks whether the name is taken.
    const server = net.createServer((socket) => socket.destroy());
    server.once("error", reject);
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });

const isHeld = async (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => {
      resolve(false);
    });
  });

const refusals = new WeakSet<object>();

/** Error of a lock that another process has. */
export const lockHeld = (text: string): SluiceError => {
  const refusal = new SluiceError("ENGINE_STATE", text);
  refusals.add(refusal);
  return refusal;
};

/** True if an error means that another process has the lock. */
export const isLockHeld = (error: unknown): boolean =>
  typeof error === "object" && error !== null && refusals.has(error);

/**
 * Takes a lock between processes of this machine.
 *
 * @param name - of the lock, shown where it is taken
 * @returns a function that releases it
 * @throws ENGINE_STATE where another process holds it
 */
export const holdLock = async (name: string): Promise<() => Promise<void>> => {
  const path = addressOf(name);
  let server: net.Server;
  try {
    server = await listen(path);
  } catch {
    if (path.startsWith("\u0000") || (await isHeld(path))) {
      throw lockHeld(
        `Another process on this machine already runs as ${name} (service / users / instance). Stop it first, or give this config its own \`instance\` and \`journal.dir\`.`,
      );
    }
    rmSync(path, { force: true });
    server = await listen(path);
  }
  return async () =>
    new Promise((resolve) => {
      server.close(() => {
        resolve();
      });
    });
};
