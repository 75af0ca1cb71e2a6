/**
 * Survey of the store of a shared quota, for the doctor: the server, its permissions, and the statements of engines.
 *
 * Invariants: changes only one key of its own, which it removes; a command that is not allowed is named, and the rest
 * is read.
 * Not here: faults in it (group-findings.ts).
 */
import { type Clock, messageOf } from "sluice/extension";
import { dialRedis, type StoreClient } from "sluice/plugins/redis";
import type { Enrolled } from "./claim.ts";
import { enrolledIn } from "./redis-claim-store.ts";

interface SurveyedMember {
  /** Id with its epoch: another process of the same name has another. */
  readonly id: string;
  readonly floor: number;
  readonly lastWindow: number;
  readonly heardMs: number;
  /** Beginning of window 0 for it, on the store's clock, at the earliest and at the latest. */
  readonly begins: readonly [number, number] | undefined;
}

export interface SurveyedWindow {
  readonly scope: string;
  readonly window: number;
  readonly rows: readonly { readonly member: string; readonly settled: number; readonly used: number }[];
}

export interface StoreSurvey {
  readonly version: string;
  readonly runId: string;
  /** Undefined where it may not be read. */
  readonly memoryPolicy: string | undefined;
  /** Commands that the user of the address may not use. */
  readonly denied: readonly string[];
  readonly roundTripsMs: readonly number[];
  readonly halted: string | undefined;
  readonly members: readonly Enrolled[];
  readonly scopes: readonly { readonly scope: string; readonly members: readonly SurveyedMember[] }[];
  readonly windows: readonly SurveyedWindow[];
}

const roundTrips = 20;
const answerMs = 2_000;

/** Rejects when the server cannot be reached. */
export const surveyStore = async (address: string, group: string, clock: Clock): Promise<StoreSurvey> => {
  const redis = await dialRedis(address, "sluice doctor --shared: the store is reached", {
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    commandTimeout: answerMs,
    connectTimeout: answerMs,
    retryStrategy: () => null,
  });
  // Reported by the call that fails; without a listener the client would print it.
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    return await survey(redis, `{${group}}`, clock);
  } finally {
    redis.disconnect();
  }
};

const survey = async (redis: StoreClient, tag: string, clock: Clock): Promise<StoreSurvey> => {
  const denied = await deniedBy(redis, `${tag}:doctor`);
  const roundTripsMs: number[] = [];
  for (let turn = 0; turn < roundTrips; turn++) {
    const at = clock.now();
    await redis.ping();
    roundTripsMs.push(clock.now() - at);
  }
  const about = async (section: string): Promise<string> => (denied.includes("INFO") ? "" : redis.info(section));
  const [server, memory] = [await about("server"), await about("memory")];
  const seconds = await redis.time();
  const now = Number(seconds[0]) * 1_000 + Math.floor(Number(seconds[1]) / 1_000);
  const keys = await keysOf(redis, tag);
  const scoped = keys.filter((key) => key.startsWith(`${tag}:m:`));
  const windows = keys.filter((key) => key.startsWith(`${tag}:w:`));
  const halted = (await redis.get(`${tag}:halt`)) ?? "";
  return {
    version: /^(?:valkey|redis)_version:(\S+)/m.exec(server)?.[1] ?? "unknown",
    runId: /^run_id:(\w+)/m.exec(server)?.[1] ?? "unknown",
    memoryPolicy: /^maxmemory_policy:(\S+)/m.exec(memory)?.[1],
    denied,
    roundTripsMs: roundTripsMs.toSorted((a, b) => a - b),
    halted: halted === "" ? undefined : halted,
    members: enrolledIn(await redis.hgetall(`${tag}:roster`), now),
    scopes: await Promise.all(
      scoped.map(async (key) => ({
        scope: key.slice(`${tag}:m:`.length),
        members: membersIn(await redis.hgetall(key), now),
      })),
    ),
    windows: await Promise.all(
      windows.map(async (key) => windowOf(key.slice(`${tag}:w:`.length), await redis.hgetall(key))),
    ),
  };
};

/** Tries what the scripts and commands need, at a key of its own. */
const deniedBy = async (redis: StoreClient, key: string): Promise<readonly string[]> => {
  const tries: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["EVAL", () => redis.eval("return redis.call('TIME')", 1, key)],
    ["EVALSHA", () => redis.evalsha("0".repeat(40), 1, key)],
    ["INFO", () => redis.info("server")],
    ["SCAN", () => redis.scan("0", "MATCH", `${key}*`, "COUNT", 1)],
    ["HSET", () => redis.hset(key, "a", "1")],
    ["HGET", () => redis.hget(key, "a")],
    ["HGETALL", () => redis.hgetall(key)],
    ["HDEL", () => redis.hdel(key, "a")],
    ["PEXPIRE", () => redis.pexpire(key, 1_000)],
    ["SET", () => redis.set(key, "", "PX", 1_000)],
    ["GET", () => redis.get(key)],
  ];
  const denied: string[] = [];
  for (const [name, call] of tries) {
    try {
      await call();
    } catch (error) {
      if (/NOPERM|can't run this command/i.test(messageOf(error))) denied.push(name);
      else if (!/NOSCRIPT/.test(messageOf(error))) throw error;
    }
  }
  return denied;
};

const keysOf = async (redis: StoreClient, tag: string): Promise<readonly string[]> => {
  const keys = new Set<string>();
  let cursor = "0";
  do {
    const [next, found] = await redis.scan(cursor, "MATCH", `${tag}:*`, "COUNT", 200);
    cursor = next;
    for (const key of found) keys.add(key);
  } while (cursor !== "0");
  return [...keys];
};

const membersIn = (rows: Readonly<Record<string, string>>, now: number): readonly SurveyedMember[] =>
  Object.entries(rows).flatMap(([id, row]) => {
    if (id.startsWith("~")) return [];
    const [, lastWindow, , , , floor, heardAt] = row.split("|").map(Number);
    const [from, to] = rows[`~${id}`]?.split("|").map(Number) ?? [];
    const begins = from === undefined || to === undefined ? undefined : ([from, to] as const);
    return [{ id, lastWindow: lastWindow ?? 0, floor: floor ?? 0, heardMs: now - (heardAt ?? 0), begins }];
  });

const windowOf = (name: string, { "!f": _foreign, ...rows }: Record<string, string>): SurveyedWindow => {
  const at = name.lastIndexOf(":");
  return {
    scope: name.slice(0, at),
    window: Number(name.slice(at + 1)),
    rows: Object.entries(rows).map(([id, row]) => {
      const [, settled, used] = row.split("|").map(Number);
      return { member: id.replace(/#\d+$/, ""), settled: settled ?? 0, used: used ?? 0 };
    }),
  };
};
