/**
 * Uses up one user's weight in a new minute, and records the users that are blocked and the end of the block.
 *
 * Invariants: only light reads are sent; no order is open meanwhile; the key layer is kept within, so that only the
 * user's layer can refuse; the scenario ends when the user is free again or the next minute has begun.
 */
import { layers } from "sluice/dialect";
import { minuteMs } from "../probe/probe-client.ts";
import type { Reply } from "../probe/reply.ts";
import { edgeMs, type TestClient } from "./test-client.ts";
import { Unable } from "./unable.ts";

interface UserLimitProbe {
  /** First answer of the minute. */
  readonly first: Reply;
  /** Calls of weight 5 that were answered. */
  readonly passed: number;
  /** The first call that was refused, or the last of all. */
  readonly breach: Reply;
  /** While blocked: lighter calls of the same key until shortly before the minute's end. */
  readonly blocked: readonly Reply[];
  readonly otherKey: Reply | undefined;
  readonly otherUser: Reply | undefined;
  /** After the minute's end. */
  readonly freed: Reply;
}

/** Weight of the call used, by the description's table. */
const weight = 5;
export const floodCalls = layers.uid.capacity / weight;
/** Answers beyond the capacity that are waited for before giving up. */
const extra = 3;
const atOnce = 8;
/** Longest duration of the flood, in milliseconds; a longer one would outlast the minute. */
const latestMs = 45_000;
const pollMs = 7_000;

export const userLimitProbe = (testClient: TestClient): Promise<UserLimitProbe> =>
  testClient.once("flood", () => play(testClient));

const play = async (testClient: TestClient): Promise<UserLimitProbe> => {
  const { roles, clock } = testClient;
  testClient.open("spotBalance", floodCalls + extra, latestMs);
  await testClient.freshMinute();
  const beganAt = clock.now();
  const minuteEndsAt = beganAt + minuteMs - (testClient.serviceNow() % minuteMs);
  const replies = await fill(testClient, beganAt);
  const breach = replies.find(({ ok }) => !ok) ?? (replies.at(-1) as Reply);
  const breachAt = clock.now();
  // Where windows are not the minutes of the clock, the block ends a minute after the first call or after the breach
  // (H5).
  const byClock = testClient.contract.profile.limits.anchor === "wall_clock";
  const blockedUntil = byClock ? minuteEndsAt : beganAt + minuteMs;
  const freeAt = byClock ? minuteEndsAt : breachAt + minuteMs;
  const within = ["key", "ip"] as const;
  const otherKey = roles.second && (await testClient.ask("instruments", {}, { as: roles.second, within }));
  const otherUser = roles.otherUser && (await testClient.ask("spotBalance", {}, { as: roles.otherUser, within }));
  const blocked: Reply[] = [];
  for (let at = breachAt; at <= blockedUntil - 2 * edgeMs; at += pollMs) {
    await testClient.wait(at - clock.now());
    blocked.push(await testClient.ask("instruments", {}, { within }));
  }
  await testClient.wait(blockedUntil - 2 * edgeMs - clock.now());
  blocked.push(await testClient.ask("instruments", {}, { within }));
  await testClient.wait(freeAt + edgeMs - clock.now());
  const freed = await testClient.ask("spotBalance", {}, { within });
  return {
    first: replies[0] as Reply,
    passed: replies.filter(({ ok }) => ok).length,
    breach,
    blocked,
    otherKey,
    otherUser,
    freed,
  };
};

/** Sends several calls at once with one key until one is refused; the form of the refusal is judged by another rule. */
const fill = async (testClient: TestClient, beganAt: number): Promise<readonly Reply[]> => {
  const read = (): Promise<Reply> => testClient.ask("spotBalance", {}, { within: ["key", "ip"] });
  const replies: Reply[] = [await read()];
  if (replies[0]?.ok === false) throw new Unable(`the first call of a minute was refused: ${replies[0].shown}`);
  while (replies.length < floodCalls && replies.every(({ ok }) => ok)) {
    if (testClient.clock.now() > beganAt + latestMs)
      throw new Unable(`the service answered only ${replies.length} calls in ${latestMs / 1_000} s`);
    replies.push(...(await Promise.all(Array.from({ length: Math.min(atOnce, floodCalls - replies.length) }, read))));
  }
  // One at a time from here, so that what comes after the breach is known to come after it.
  for (let more = 0; more < extra && replies.every(({ ok }) => ok); more++) replies.push(await read());
  return replies;
};
