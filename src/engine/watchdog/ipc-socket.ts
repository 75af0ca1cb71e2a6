/**
 * The line between engine and watchdog as a local socket.
 *
 * Invariants: one watchdog at a time listens at a name; what an earlier one left behind is cleared away only by the holder of the
 * lock; a peer that says what is no message is hung up on; a peer that does not read is hung up on before it costs memory.
 */
import { chmodSync, rmSync } from "node:fs";
import net from "node:net";
import { isSluiceError, SluiceError } from "../../errors.ts";
import { holdLock } from "../../journal/process-lock.ts";
import type { Dial, Ears, Listen, Talk } from "./ipc.ts";
import { type IpcAddress, ipcName, ipcPath } from "./ipc-address.ts";
import { lineSplitter, type Report, readReport, readWord, type Word } from "./messages.ts";

/** So much may wait for a peer that does not read: a frozen one is told a few words a second at most. */
const unreadBytesMax = 262_144;

const talkOver = <Out>(socket: net.Socket): Talk<Out> => ({
  say: (message) => {
    if (socket.destroyed) return;
    if (socket.writableLength > unreadBytesMax) socket.destroy();
    else socket.write(`${JSON.stringify(message)}\n`);
  },
  hangUp: () => {
    socket.end();
  },
});

const hear = <In>(socket: net.Socket, read: (line: string) => In | undefined, ears: () => Ears<In>): void => {
  let over = false;
  let why = "the connection ended";
  const break_ = (reason: string): void => {
    why = reason;
    socket.destroy();
  };
  socket.setEncoding("utf8");
  const split = lineSplitter(
    (line) => {
      const message = read(line);
      if (over || socket.destroyed) return;
      if (message === undefined) break_("the other side said something that is no message; it may be another version");
      else ears().heard(message);
    },
    () => {
      break_("the other side said more than a message holds");
    },
  );
  socket.on("data", (chunk) => {
    split(String(chunk));
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    why = error.code === "ENOENT" || error.code === "ECONNREFUSED" ? "nobody listens" : (error.code ?? "the connection failed");
  });
  socket.on("close", () => {
    over = true;
    ears().ended(why);
  });
};

/** The engine's side. */
export const socketDial = (meeting: IpcAddress): Dial => {
  const path = ipcPath(meeting);
  return (ears) => {
    const socket = net.connect(path);
    // A watchdog is no reason to stay.
    socket.unref();
    hear(socket, readWord, () => ears);
    return talkOver<Report>(socket);
  };
};

/** The watchdog's side. */
export const socketListen =
  (meeting: IpcAddress): Listen =>
  async (pickUp) => {
    const unlock = await lockFor(meeting);
    const path = ipcPath(meeting);
    // Whoever listened here is gone, as the lock is ours.
    if (process.platform !== "win32") rmSync(path, { force: true });
    const open = new Set<net.Socket>();
    const server = net.createServer((socket) => {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
      const ears = pickUp(talkOver<Word>(socket));
      hear(socket, readReport, () => ears);
    });
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(path, resolve);
      });
      if (process.platform !== "win32") chmodSync(path, 0o600);
    } catch (error) {
      await unlock();
      const code = (error as NodeJS.ErrnoException).code ?? "unknown";
      throw new SluiceError("PORT_UNAVAILABLE", `The watchdog cannot listen at ${path} (${code}).`);
    }
    return async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      // What was said last is still delivered.
      for (const socket of open) socket.destroySoon();
      await closed;
      await unlock();
    };
  };

const lockFor = async (meeting: IpcAddress): Promise<() => Promise<void>> => {
  try {
    return await holdLock(`watchdog of ${ipcName(meeting)}`);
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    throw new SluiceError("ENGINE_STATE", `Another watchdog of ${ipcName(meeting)} runs on this machine; one is enough.`);
  }
};
