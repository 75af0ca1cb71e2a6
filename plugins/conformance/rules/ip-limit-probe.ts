/**
 * More requests of one address in one minute than it may make, none of them signed.
 *
 * Invariants: only the public list is requested; only refusals by the limit count, not the success of the list; the
 * scenario ends after the next minute has begun.
 */
import { layers } from "sluice/dialect";
import { minuteMs } from "../probe/probe-client.ts";
import type { Reply } from "../probe/reply.ts";
import { edgeMs, type TestClient } from "./test-client.ts";
import { Unable } from "./unable.ts";

interface IpLimitProbe {
  readonly passed: number;
  /** True if the address was refused in the end. */
  readonly breached: boolean;
  readonly first: Reply;
  readonly last: Reply;
  /** A signed request of the same address while it is refused. */
  readonly signed: Reply | undefined;
  readonly freed: Reply;
}

const { capacity } = layers.ip;
const extra = 3;
const atOnce = 25;
const latestMs = 45_000;

export const ipLimitProbe = (testClient: TestClient): Promise<IpLimitProbe> =>
  testClient.once("wave", () => play(testClient));

const play = async (testClient: TestClient): Promise<IpLimitProbe> => {
  const { profile } = testClient.contract;
  if (profile.instruments.chargesUserWithoutKey)
    throw new Unable("requests without a key are charged to a user here (G13)");
  testClient.open("instruments", capacity + extra, latestMs, { as: "no key" });
  await testClient.freshMinute();
  const { clock } = testClient;
  const beganAt = clock.now();
  const minuteEndsAt = beganAt + minuteMs - (testClient.serviceNow() % minuteMs);
  const ask = (): Promise<Reply> => testClient.ask("instruments", {}, { as: "no key", within: [] });
  const replies: Reply[] = [await ask()];
  const [first] = replies;
  // Only a change of the answer matters, not how the list answers a request without a key.
  const passes = ({ status, ok }: Reply): boolean => status === first?.status && ok === first.ok;
  while (replies.length < capacity && replies.every(passes)) {
    if (clock.now() > beganAt + latestMs)
      throw new Unable(`the service answered only ${replies.length} requests in ${latestMs / 1_000} s`);
    const count = Math.min(atOnce, capacity - replies.length);
    replies.push(...(await Promise.all(Array.from({ length: count }, ask))));
  }
  for (let more = 0; more < extra && replies.every(passes); more++) replies.push(await ask());
  const last = replies.at(-1) as Reply;
  const signed = testClient.roles.main && (await testClient.ask("instruments", {}, { within: [] }));
  const freeAt = profile.limits.anchor === "wall_clock" ? minuteEndsAt : clock.now() + minuteMs;
  await testClient.wait(freeAt + edgeMs - clock.now());
  return {
    breached: !passes(last),
    first: replies[0] as Reply,
    passed: replies.filter(passes).length,
    last,
    signed,
    freed: await ask(),
  };
};
