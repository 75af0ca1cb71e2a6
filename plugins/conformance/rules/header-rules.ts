/**
 * Section 8.4: the three headers of every success.
 *
 * Invariants: a value is judged by the suite's own requests between two answers; where others may share an address or a
 * user, a reading that does not fit is taken again before it counts.
 */
import { layers, wire } from "sluice/dialect";
import type { LimitHeader, Reply } from "../probe/reply.ts";
import { all, expectThat, open, type Rule, rule, slowRule, type Verdict } from "./rule.ts";
import type { TestClient } from "./test-client.ts";
import { successes } from "./trade-scenario.ts";
import { headerMissing, withinMinute } from "./used-weight.ts";
import { userLimitProbe } from "./user-limit-probe.ts";

/** Different places in a second, so that not every pair of calls crosses its edge. */
const phasesMs = [1_150, 1_450, 1_750, 2_050] as const;

const onEverySuccess = async (testClient: TestClient, header: LimitHeader, max: number): Promise<Verdict> =>
  all(
    (await successes(testClient))
      .filter(({ signed }) => signed)
      .map((reply) => {
        const value = reply.counters[header];
        const fits = value !== undefined && value <= max;
        return expectThat(
          fits,
          reply,
          `${wire.limitHeaders[header].toUpperCase()} up to ${max}`,
          reply.headers[wire.limitHeaders[header]] ?? "no such header",
        );
      }),
  );

/** More than one pair costs. */
const roomFor = 20;

/** Judges two answers in a row until they fit, at several phases of the second. */
const pairs = async (
  testClient: TestClient,
  second: () => Promise<Reply>,
  judge: (first: Reply, second: Reply) => Verdict,
): Promise<Verdict> => {
  let verdict: Verdict | undefined;
  for (const phaseMs of phasesMs) {
    await testClient.room(roomFor);
    await withinMinute(testClient);
    // After this pause none of our calls counts in the key's second.
    await testClient.wait(phaseMs);
    const first = await testClient.ask("spotBalance");
    verdict = judge(first, await second());
    if (verdict.kind !== "fail") return verdict;
  }
  return verdict ?? headerMissing;
};

const fallsByOne =
  (header: LimitHeader) =>
  (first: Reply, second: Reply): Verdict => {
    const [a, b] = [first.counters[header], second.counters[header]];
    if (a === undefined || b === undefined) return headerMissing;
    return expectThat(b === a - 1, second, `${wire.limitHeaders[header]} ${a - 1}, one less than before`, String(b));
  };

const freshValue =
  (header: LimitHeader, value: number) =>
  async (testClient: TestClient): Promise<Verdict> => {
    const { first } = await userLimitProbe(testClient);
    if (first.counters[header] === undefined) return headerMissing;
    return expectThat(
      first.counters[header] === value,
      first,
      `${wire.limitHeaders[header]} ${value} on the first call of a minute`,
      first.headers[wire.limitHeaders[header]] ?? "",
    );
  };

export const headerRules: readonly Rule[] = [
  rule("8.4-ip", "every success has what remains for the address", "key", (testClient) =>
    onEverySuccess(testClient, "ipRemaining", layers.ip.capacity - 1),
  ),
  rule("8.4-key", "every success has what remains for the key", "key", (testClient) =>
    onEverySuccess(testClient, "keyRemaining", layers.key.capacity - 1),
  ),
  rule("8.4-uid", "every success has what the user has used", "key", (testClient) =>
    onEverySuccess(testClient, "uidUsed", layers.uid.capacity),
  ),
  rule("8.4-ip-falls", "what remains for the address falls by one with each request", "key", (testClient) =>
    pairs(testClient, () => testClient.ask("spotBalance"), fallsByOne("ipRemaining")),
  ),
  rule("8.4-ip-unsigned", "requests without a key count for the address too", "key", (testClient) => {
    const { permission } = testClient.contract.endpoints.instruments;
    return pairs(
      testClient,
      async () => {
        if (permission === "none") await testClient.ask("instruments", {}, { as: "no key" });
        else await testClient.ask("pendingOrders", {}, { as: "no key" });
        return testClient.ask("spotBalance");
      },
      (first, second) => {
        const [a, b] = [first.counters.ipRemaining, second.counters.ipRemaining];
        if (a === undefined || b === undefined) return headerMissing;
        return expectThat(
          b === a - 2,
          second,
          `${wire.limitHeaders.ipRemaining} ${a - 2}: one request without a key, one with`,
          String(b),
        );
      },
    );
  }),
  rule("8.4-key-falls", "what remains for the key falls by one with each request of a second", "key", (testClient) =>
    pairs(testClient, () => testClient.ask("spotBalance"), fallsByOne("keyRemaining")),
  ),
  rule("8.4-key-fresh", "after a quiet second nine remain for the key", "key", (testClient) =>
    pairs(
      testClient,
      () => testClient.ask("positions"),
      (first) => {
        const left = first.counters.keyRemaining;
        if (left === undefined) return headerMissing;
        const full = layers.key.capacity - 1;
        return expectThat(left === full, first, `${wire.limitHeaders.keyRemaining} ${full}`, String(left));
      },
    ),
  ),
  slowRule(
    "8.4-ip-fresh",
    "a new minute begins with the whole of the address's requests",
    "key",
    freshValue("ipRemaining", layers.ip.capacity - 1),
  ),
  slowRule("8.4-uid-fresh", "a new minute begins with nothing used", "key", freshValue("uidUsed", 5)),
  rule("8.4-unsigned", "open: the headers of a success without a key", "nothing", async (testClient) => {
    const reply = await testClient.ask("instruments", {}, { as: "no key" });
    const found = Object.values(wire.limitHeaders).filter((name) => reply.headers[name] !== undefined);
    return open(`${reply.ok ? "" : "no success, "}${found.length === 0 ? "none" : found.join(", ")}`);
  }),
  rule("8.4-failure", "open: the headers of a failure", "key", async (testClient) => {
    const reply = await testClient.ask("getOrder", {});
    const found = Object.values(wire.limitHeaders).filter((name) => reply.headers[name] !== undefined);
    return open(`${found.length === 0 ? "none" : found.join(", ")} (H5)`);
  }),
];
