/**
 * More calls of one key in one second than it may make, after a second of silence.
 *
 * Invariants: the calls leave together; a burst that seems to have crossed a second's edge (more passed than fit) is
 * tried again at another phase, and only what every try shows is a verdict against the service.
 * Not here: the user's layer (user-limit-probe.ts), the address's (ip-limit-probe.ts).
 */
import { layers } from "sluice/dialect";
import type { Reply } from "../probe/reply.ts";
import type { TestClient } from "./test-client.ts";

export interface Burst {
  readonly replies: readonly Reply[];
  readonly passed: number;
  /** Another key of the same user, right behind. */
  readonly otherKey: Reply | undefined;
  /** Reply to the same key a second later. */
  readonly later: Reply;
}

const { capacity } = layers.key;
const extra = 2;
const quietMs = 2_100;
/** Parts of a second at which bursts begin. */
const phasesMs = [150, 400, 650] as const;

export const keyLimitProbe = (testClient: TestClient): Promise<readonly Burst[]> =>
  testClient.once("burst", () => play(testClient));

const play = async (testClient: TestClient): Promise<readonly Burst[]> => {
  testClient.open("pendingOrders", capacity + extra, 1);
  const bursts: Burst[] = [];
  for (const phaseMs of phasesMs) {
    bursts.push(await burst(testClient, phaseMs));
    if (bursts.at(-1)?.passed === capacity) break;
  }
  return bursts;
};

const burst = async (testClient: TestClient, phaseMs: number): Promise<Burst> => {
  const { roles, contract } = testClient;
  await testClient.room(
    (capacity + extra + 2) * contract.endpoints.pendingOrders.weight + contract.endpoints.instruments.weight,
  );
  await testClient.wait(quietMs);
  await testClient.wait((1_000 + phaseMs - (testClient.serviceNow() % 1_000)) % 1_000);
  const calls = Array.from({ length: capacity + extra }, () =>
    testClient.ask("pendingOrders", { limit: "1" }, { within: ["ip"] }),
  );
  const replies = await Promise.all(calls);
  const otherKey = roles.second && (await testClient.ask("instruments", {}, { as: roles.second, within: ["ip"] }));
  await testClient.wait(quietMs);
  const later = await testClient.ask("pendingOrders", { limit: "1" }, { within: ["ip"] });
  return { replies, passed: replies.filter(({ ok }) => ok).length, otherKey, later };
};
