/**
 * IPC address of an engine and its watchdog: a name on this machine that both derive from the config.
 *
 * Invariants: the folder belongs to the user and is closed to others, on both sides, as any process that can connect
 * can keep a watchdog from tripping; the name depends on service, users and instance only, and is the same at each
 * start.
 * Not here: the connection (ipc-socket.ts).
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { SluiceError } from "sluice";
import { defaultFolder, type EngineFacts, ownFolder, type ServiceUser } from "sluice/extension";

import type { WatchdogOptions } from "./options.ts";

export interface IpcAddress {
  readonly service: string;
  readonly users: readonly string[];
  readonly instance: string;
  /** Folder of the socket; one of the user's own below the machine's temporary one when left out. */
  readonly dir?: string | undefined;
}

/** From the config and the watchdog's options, which both processes read. */
export const ipcAddressOf = (
  { service, instance }: Pick<EngineFacts, "service" | "instance">,
  { dir }: Pick<WatchdogOptions, "dir">,
  users: readonly ServiceUser[],
): IpcAddress => ({
  service: service.baseUrl ?? service.kind,
  users: users.map(({ uid }) => uid),
  instance,
  dir,
});

/** Longer names of sockets are cut off or refused, depending on the system. */
const pathMax = 103;

/** Its name in messages and locks of both sides. */
export const ipcName = ({ service, users, instance }: IpcAddress): string =>
  [service, users.join(", "), instance].join(" / ");

const hashOf = (meeting: IpcAddress): string =>
  createHash("sha256").update(ipcName(meeting)).digest("hex").slice(0, 24);

const remedy = 'Name another folder with watchdog({ dir: "…" }), the same for engine and watchdog.';

const folderOf = ({ dir = defaultFolder() }: IpcAddress): string => ownFolder(dir, remedy);

/** The path to connect to. */
export const ipcPath = (meeting: IpcAddress): string => {
  if (process.platform === "win32") return `\\\\.\\pipe\\sluice-watchdog-${hashOf(meeting)}`;
  const dir = folderOf(meeting);
  const path = join(dir, `${hashOf(meeting)}.sock`);
  if (path.length <= pathMax) return path;
  throw new SluiceError(
    "CONFIG_INVALID",
    `${dir}: the path of the watchdog's socket would have ${path.length} characters, and systems cut it at ${pathMax}. ${remedy}`,
  );
};

/** The file in which a watchdog records its last trip. */
export const tripRecordPath = (meeting: IpcAddress): string => join(folderOf(meeting), `${hashOf(meeting)}.last`);
