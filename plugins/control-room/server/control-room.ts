/**
 * Control room of a process: its control port, and every engine that is shown there.
 *
 * Invariants: engines of one process with equal options share one port; the port is opened with the first and closed
 * with the last; the stop of an engine is sent to its viewers before it continues; a port that fails leaves the engines
 * trading, and is reported to each.
 * Not here: the fold of an engine (engine-view.ts), options (control-options.ts).
 */

import type { PluginContext } from "sluice";
import { messageOf, packageVersion } from "sluice/extension";
import type { EngineRow } from "../control-rows.ts";
import type { ControlSource } from "../control-source.ts";
import { EngineSource } from "../engine-source.ts";
import { type PortTokens, removePortFile, startedWith, writePortFile } from "../port-file.ts";
import { type ControlOptions, portOf } from "./control-options.ts";
import { ControlThread } from "./control-thread.ts";

const beatMs = 500;

interface Room {
  readonly thread: ControlThread;
  /** Address for browsers. */
  readonly url: string;
  /** Address for programs of this machine. */
  readonly local: string;
  readonly tokens: PortTokens;
  /** The port is not announced to other programs of this machine. */
  readonly unlisted: boolean;
  readonly engines: string[];
  file: string;
}

/** State of one source at a port. */
interface Placing {
  /** Called when the port closes unexpectedly. */
  readonly failed: (why: string) => void;
  readonly hasOwnTokens: boolean;
}

interface Entry {
  readonly opening: Promise<Room>;
  readonly users: Set<Placing>;
}

/** By options: engines of one process meet here. */
const rooms = new Map<string, Entry>();

const open = async (
  { facts, tokens }: ReturnType<typeof portOf>,
  unlisted: boolean,
  failed: (why: string) => void,
): Promise<Room> => {
  const thread = await ControlThread.start(facts, failed);
  thread.unref();
  const scheme = facts.tls === undefined ? "http" : "https";
  const host = facts.isOpen
    ? (facts.names[0] ?? facts.host)
    : facts.host.includes(":")
      ? `[${facts.host}]`
      : facts.host;
  const local = `${scheme}://${host}:${thread.port}`;
  const url = facts.behindProxy ? `https://${facts.names[0]}` : local;
  const own = facts.behindProxy ? `http://127.0.0.1:${thread.port}` : local;
  return { thread, url, local: own, tokens, unlisted, engines: [], file: "" };
};

/** A place at a port for one source. */
export interface ControlPlace {
  /**
   * Address of the page, with a token in the part that browsers do not send; without where the tokens are the user's
   * own.
   */
  readonly link: string;
  readonly url: string;
  readonly tokens: PortTokens;
  beat(): void;
  /** Resolves when the viewers were informed and, for the last source, the port is closed. */
  leave(): Promise<void>;
}

/**
 * Shows a source at the port of these options; throws CONFIG_INVALID if they contradict each other, and rejects if it
 * cannot listen. `failed` is called when the port closes unexpectedly later. A port that is `unlisted` is not found by
 * other programs of this machine.
 */
export const takePlace = (
  source: ControlSource,
  options: ControlOptions,
  failed: (why: string) => void,
  unlisted = false,
): Promise<ControlPlace> => {
  const { name: _, account: __, ...shared } = options;
  const key = JSON.stringify([shared, unlisted]);
  const entry = rooms.get(key) ?? newEntry(key, options, unlisted);
  return place(source, key, entry, { failed, hasOwnTokens: options.tokenFile !== undefined });
};

const newEntry = (key: string, options: ControlOptions, unlisted: boolean): Entry => {
  const users = new Set<Placing>();
  const opening = open(portOf(options, packageVersion()), unlisted, (why) => {
    forget(key, entry);
    void opening.then(({ file }) => removePortFile(file));
    for (const { failed } of users) failed(why);
  });
  const entry: Entry = { opening, users };
  rooms.set(key, entry);
  return entry;
};

/** Another room may have taken the place of one that failed. */
const forget = (key: string, entry: Entry): void => {
  if (rooms.get(key) === entry) rooms.delete(key);
};

const place = async (source: ControlSource, key: string, entry: Entry, placing: Placing): Promise<ControlPlace> => {
  entry.users.add(placing);
  const release = async (): Promise<void> => {
    entry.users.delete(placing);
    if (entry.users.size > 0) return;
    forget(key, entry);
    const room = await entry.opening.catch(() => undefined);
    if (room !== undefined) removePortFile(room.file);
    await room?.thread.close();
  };
  try {
    const room = await entry.opening;
    const remove = room.thread.add(source);
    room.engines.push(source.id);
    const takeAway = (): void => {
      remove();
      room.engines.splice(room.engines.indexOf(source.id), 1);
    };
    try {
      recordRoom(room);
    } catch (error) {
      takeAway();
      throw error;
    }
    const { url, tokens, thread } = room;
    return {
      url,
      tokens,
      link: placing.hasOwnTokens ? `${url}/` : `${url}/#token=${tokens.act ?? tokens.read}`,
      beat: () => thread.beat(source.id),
      leave: async () => {
        takeAway();
        try {
          if (entry.users.size > 1) recordRoom(room);
        } finally {
          await release();
        }
      },
    };
  } catch (error) {
    await release();
    throw error;
  }
};

const recordRoom = (room: Room): void => {
  if (room.thread.isOver || room.unlisted) return;
  room.file = writePortFile({
    url: room.local,
    pid: process.pid,
    engines: [...room.engines],
    startedWith: startedWith(),
    ...room.tokens,
  });
};

/**
 * Shows an engine at a control port, from a plugin; the returned function ends it. The link is printed when the port
 * listens.
 */
export const openControlRoom = (context: PluginContext<ControlOptions>): (() => Promise<void>) => {
  const { options, print, every } = context;
  const { instance, environment, baseUrl } = context.about;
  const facts: EngineRow = {
    name: options.name ?? instance,
    kind: environment === "" ? "paper" : "live",
    environment,
    version: packageVersion(),
    startedAt: context.now(),
    mode: "active",
    reason: "",
    state: "running",
    pid: process.pid,
    instance,
    ...(baseUrl !== undefined && { service: baseUrl }),
  };
  const { accountOf, users } = context;
  const accounts = options.account ? users.map((user) => ({ user, ...accountOf(user) })) : [];
  const source = new EngineSource(facts.name, facts, { ...context, accounts });
  const opening = takePlace(source, options, (why) =>
    print(`dashboard: the control port has failed (${why}); the engine continues`),
  );
  opening.then(
    ({ link }) => print(`dashboard: ${link}`),
    (error: unknown) => print(`dashboard: ${messageOf(error)} The engine continues without it.`),
  );
  every(beatMs, () => void opening.then((place) => place.beat()).catch(() => undefined));
  return async () => {
    source.end();
    const place = await opening.catch(() => undefined);
    await place?.leave();
  };
};
