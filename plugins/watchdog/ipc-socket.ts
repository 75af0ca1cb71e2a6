/**
 * Local socket as the connection between engine and watchdog.
 *
 * Invariants: one watchdog at a time listens at an address; a stale socket file is removed only by the holder of the
 * lock; a peer that sends an invalid message, or does not read, is disconnected.
 */
import { chmodSync, rmSync } from "node:fs";
import net from "node:net";
import { isSluiceError, SluiceError } from "sluice";
import { holdLock } from "sluice/extension";
import type { Connection, Dial, Listen, Receiver } from "./ipc.ts";
import { type IpcAddress, ipcName, ipcPath } from "./ipc-address.ts";
import { lineSplitter, type Report, readReport, readWord, type Word } from "./messages.ts";

/** So much may be buffered for a peer that does not read. */
const unreadBytesMax = 262_144;

const connectionOver = <Out>(socket: net.Socket): Connection<Out> => ({
  send: (message) => {
    if (socket.destroyed) return;
    if (socket.writableLength > unreadBytesMax) socket.destroy();
    else socket.write(`${JSON.stringify(message)}\n`);
  },
  close: () => {
    socket.end();
  },
});

const receive = <In>(
  socket: net.Socket,
  read: (line: string) => In | undefined,
  receiver: () => Receiver<In>,
): void => {
  let over = false;
  let why = "the connection ended";
  const disconnect = (reason: string): void => {
    why = reason;
    socket.destroy();
  };
  socket.setEncoding("utf8");
  const split = lineSplitter(
    (line) => {
      const message = read(line);
      if (over || socket.destroyed) return;
      if (message === undefined)
        disconnect("the other side sent something that is no message; it may be another version");
      else receiver().received(message);
    },
    () => {
      disconnect("the other side sent a message that is too long");
    },
  );
  socket.on("data", (chunk) => {
    split(String(chunk));
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    why =
      error.code === "ENOENT" || error.code === "ECONNREFUSED"
        ? "no watchdog listens"
        : (error.code ?? "the connection failed");
  });
  socket.on("close", () => {
    over = true;
    receiver().closed(why);
  });
};

/** The engine's side. */
export const socketDial = (meeting: IpcAddress): Dial => {
  const path = ipcPath(meeting);
  return (receiver) => {
    const socket = net.connect(path);
    // The connection does not keep the process alive.
    socket.unref();
    receive(socket, readWord, () => receiver);
    return connectionOver<Report>(socket);
  };
};

/** The watchdog's side. */
export const socketListen =
  (meeting: IpcAddress): Listen =>
  async (accept) => {
    const unlock = await lockFor(meeting);
    const path = ipcPath(meeting);
    // The previous listener has ended, as the lock is ours.
    if (process.platform !== "win32") rmSync(path, { force: true });
    const open = new Set<net.Socket>();
    const server = net.createServer((socket) => {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
      const receiver = accept(connectionOver<Word>(socket));
      receive(socket, readReport, () => receiver);
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
      // The last messages are still delivered.
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
    throw new SluiceError(
      "ENGINE_STATE",
      `Another watchdog of ${ipcName(meeting)} runs on this machine; one is enough.`,
    );
  }
};
