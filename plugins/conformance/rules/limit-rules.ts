/**
 * Sections 7.2 and 8.1: the capacity of each layer, the answers beyond it, and the end of a block.
 *
 * Invariants: the capacity is the number of calls that passed; the status of the others is a rule of its own.
 */
import { layers, limitedStatus } from "sluice/dialect";
import type { Reply } from "../probe/reply.ts";
import { ipLimitProbe } from "./ip-limit-probe.ts";
import { type Burst, keyLimitProbe } from "./key-limit-probe.ts";
import { all, expectThat, fail, open, pass, type Rule, rule, skipped, slowRule, type Verdict } from "./rule.ts";
import type { TestClient } from "./test-client.ts";
import { floodCalls, userLimitProbe } from "./user-limit-probe.ts";

/** An answer that had to wait for a window would come later than this. */
const immediateMs = 2_000;

const lastOf = (bursts: readonly Burst[]): Burst => bursts.at(-1) as Burst;

/** The replies beyond what fits. */
const refusedOf = async (testClient: TestClient): Promise<readonly Reply[]> =>
  lastOf(await keyLimitProbe(testClient)).replies.filter(({ ok }) => !ok);

const elapsedMs = ({ sentAt, receivedAt }: Reply): number => receivedAt - sentAt;

const noBreach = skipped("nothing was refused; see the rules of capacity");

const answered = (reply: Reply, expected: string): Verdict => expectThat(reply.ok, reply, expected);
/** Passes if the reply is a refusal; its status is judged by the rules of 7.2. */
const refused = (reply: Reply, expected: string): Verdict => expectThat(!reply.ok, reply, expected);

const keyCapacity = async (testClient: TestClient): Promise<Verdict> => {
  const bursts = await keyLimitProbe(testClient);
  const { capacity } = layers.key;
  if (bursts.some(({ passed }) => passed === capacity)) return pass;
  const { replies, passed } = lastOf(bursts);
  return fail(replies[0] as Reply, `${capacity} of ${replies.length} calls of one second pass`, `${passed} passed`);
};

export const limitRules: readonly Rule[] = [
  rule("7.2-status", "beyond a limit the answer is HTTP 429", "key", async (testClient) => {
    const beyond = await refusedOf(testClient);
    if (beyond.length === 0) return noBreach;
    return all(beyond.map((reply) => expectThat(reply.status === limitedStatus, reply, `HTTP ${limitedStatus}`)));
  }),
  rule("7.2-immediate", "and it comes at once", "key", async (testClient) => {
    const beyond = await refusedOf(testClient);
    if (beyond.length === 0) return noBreach;
    return all(
      beyond.map((reply) =>
        expectThat(
          elapsedMs(reply) < immediateMs,
          reply,
          `an answer within ${immediateMs} ms`,
          `${Math.round(elapsedMs(reply))} ms`,
        ),
      ),
    );
  }),
  rule("7.2-body", "open: the body of a 429", "key", async (testClient) => {
    const [first] = await refusedOf(testClient);
    return first === undefined ? noBreach : open(`${first.shown} (G15)`);
  }),
  rule("8.1-key", "at most 10 requests of one key fit a second", "key", keyCapacity),
  rule("8.1-key-later", "the next second the key may ask again", "key", async (testClient) =>
    answered(lastOf(await keyLimitProbe(testClient)).later, "an answer after a second of silence"),
  ),
  rule("8.1-key-alone", "another key is not held by this key's limit", "two keys", async (testClient) => {
    const { otherKey } = lastOf(await keyLimitProbe(testClient));
    return otherKey === undefined ? noBreach : answered(otherKey, "an answer to the other key");
  }),
  slowRule("8.1-uid", "at most a weight of 1200 fits a minute", "key", async (testClient) => {
    const { passed, breach } = await userLimitProbe(testClient);
    return expectThat(
      passed === floodCalls,
      breach,
      `${floodCalls} calls of weight 5 in one minute`,
      `${passed} passed`,
    );
  }),
  slowRule(
    "8.1-uid-blocked",
    "beyond it the user is blocked until the next minute begins",
    "key",
    async (testClient) => {
      const { blocked, breach } = await userLimitProbe(testClient);
      return breach.ok ? noBreach : all(blocked.map((reply) => refused(reply, "a refusal until the minute ends")));
    },
  ),
  slowRule("8.1-uid-keys", "on all keys of the user", "two keys", async (testClient) => {
    const { otherKey, breach } = await userLimitProbe(testClient);
    return breach.ok || otherKey === undefined ? noBreach : refused(otherKey, "a refusal of the other key too");
  }),
  slowRule("8.1-uid-others", "another user is not affected", "two users", async (testClient) => {
    const { otherUser } = await userLimitProbe(testClient);
    return otherUser === undefined ? noBreach : answered(otherUser, "an answer to another user");
  }),
  slowRule("8.1-uid-free", "when the next minute begins the user is free", "key", async (testClient) => {
    const { freed } = await userLimitProbe(testClient);
    return answered(freed, "an answer in the next minute");
  }),
  slowRule("8.1-ip", "at most 1200 requests of one address fit a minute", "nothing", async (testClient) => {
    const { passed, last } = await ipLimitProbe(testClient);
    return expectThat(
      passed === layers.ip.capacity,
      last,
      `${layers.ip.capacity} requests in one minute`,
      `${passed} passed`,
    );
  }),
  slowRule("8.1-ip-signed", "beyond it signed requests of the address are refused too", "key", async (testClient) => {
    const { signed, breached } = await ipLimitProbe(testClient);
    return breached && signed !== undefined ? refused(signed, "a refusal with a key too") : noBreach;
  }),
  slowRule("8.1-ip-free", "when the next minute begins the address is free", "nothing", async (testClient) => {
    const { freed, first } = await ipLimitProbe(testClient);
    return expectThat(
      freed.status === first.status,
      freed,
      `the answer of the first request of a minute: HTTP ${first.status}`,
    );
  }),
];
