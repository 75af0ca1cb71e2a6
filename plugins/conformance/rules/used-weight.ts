/**
 * Weight of a call, read from the header with the user's used weight.
 *
 * Invariants: both readings are of one minute; a reading that crossed a minute's edge, or that another client's call
 * may have disturbed, is taken again, three times at most.
 */
import type { EndpointName } from "sluice/dialect";
import { minuteMs } from "../probe/probe-client.ts";
import type { Reply } from "../probe/reply.ts";
import { expectThat, open, type Rule, rule, skipped, type Verdict } from "./rule.ts";
import { edgeMs, type TestClient } from "./test-client.ts";
import type { CheckKey } from "./test-keys.ts";

const attempts = 3;
/** More than one measurement costs. */
const roomFor = 40;

export const headerMissing = skipped("the header is missing; see 8.4");

/** Keeps clear of the minute's end, so that the next few calls fall into one minute. */
export const withinMinute = async (testClient: TestClient): Promise<void> => {
  const left = minuteMs - (testClient.serviceNow() % minuteMs);
  if (left < 2 * edgeMs) await testClient.wait(left + edgeMs);
};

type Ask = () => Promise<Reply>;

/** The rise of the used weight from just before `ask` to its own answer. */
const riseOf = async (
  testClient: TestClient,
  ask: Ask,
): Promise<{ readonly reply: Reply; readonly rise: number | undefined }> => {
  await testClient.room(roomFor);
  await withinMinute(testClient);
  const before = (await testClient.ask("spotBalance")).counters.uidUsed;
  const reply = await ask();
  const after = reply.counters.uidUsed;
  return { reply, rise: before === undefined || after === undefined ? undefined : after - before };
};

const until = async (measure: () => Promise<Verdict>): Promise<Verdict> => {
  let verdict = await measure();
  for (let attempt = 1; attempt < attempts && verdict.kind === "fail"; attempt++) verdict = await measure();
  return verdict;
};

/**
 * Passes if the used weight in the answer to `key` is the one reported to the main key before, plus the call's weight.
 */
export const usedAfter = (
  testClient: TestClient,
  endpoint: EndpointName,
  key: CheckKey | undefined,
  weight: number,
  expected: string,
): Promise<Verdict> =>
  until(async () => {
    const { reply, rise } = await riseOf(testClient, () =>
      testClient.ask(endpoint, {}, key === undefined ? {} : { as: key }),
    );
    if (rise === undefined) return headerMissing;
    return expectThat(rise === weight, reply, `${expected}: weight ${weight}`, `used weight rose by ${rise}`);
  });

/** Makes a call that may fail between two readings. Returns the weight added beyond the second reading's own. */
const addedBy = async (
  testClient: TestClient,
  ask: Ask,
): Promise<{ readonly reply: Reply; readonly added: number | undefined }> => {
  await testClient.room(roomFor);
  await withinMinute(testClient);
  const before = (await testClient.ask("spotBalance")).counters.uidUsed;
  const reply = await ask();
  const after = (await testClient.ask("spotBalance")).counters.uidUsed;
  const again = (await testClient.ask("spotBalance")).counters.uidUsed;
  const known = before !== undefined && after !== undefined && again !== undefined;
  return { reply, added: known ? after - before - (again - after) : undefined };
};

const harmless = {
  closePosition: { instId: "NOSUCH-NOTHING-SWAP" },
  setLeverage: { instId: "NOSUCH-NOTHING-SWAP", lever: "1" },
} as const;

const weightOfFailing = (testClient: TestClient, endpoint: keyof typeof harmless, weight: number): Promise<Verdict> =>
  until(async () => {
    const { reply, added } = await addedBy(testClient, () => testClient.ask(endpoint, harmless[endpoint]));
    if (added === undefined) return headerMissing;
    if (added === 0 && !reply.ok) return open("found 0: failed calls are not charged here (H5)");
    return expectThat(added === weight, reply, `weight ${weight}`, `used weight rose by ${added}`);
  });

const weightOfTrade = (
  testClient: TestClient,
  endpoint: "placeOrder" | "cancelBatch",
  weight: number,
): Promise<Verdict> =>
  until(async () => {
    const { orders } = testClient;
    if (endpoint === "placeOrder") {
      const { reply, rise } = await riseOf(testClient, async () => {
        const [order] = await orders.open(1);
        if (order === undefined) throw new Error("one order was placed");
        return order.placed;
      });
      await orders.cleanUp();
      return judged(reply, rise, weight);
    }
    const standing = await orders.open(1);
    const { reply, rise } = await riseOf(testClient, () => orders.cancel(standing));
    await orders.cleanUp();
    return judged(reply, rise, weight + testClient.contract.profile.weights.perCancelElement);
  });

const judged = (reply: Reply, rise: number | undefined, weight: number): Verdict =>
  rise === undefined
    ? headerMissing
    : expectThat(rise === weight, reply, `weight ${weight}`, `used weight rose by ${rise}`);

const unlisted = (endpoint: "getOrder" | "pendingOrders" | "orderHistory"): Rule =>
  rule(`8.1-weight-${endpoint}`, `open: the weight of ${endpoint}`, "key", async (testClient) => {
    const found =
      endpoint === "getOrder"
        ? (await addedBy(testClient, () => testClient.ask(endpoint, { ordId: "1" }))).added
        : (await riseOf(testClient, () => testClient.ask(endpoint))).rise;
    if (found === undefined) return headerMissing;
    return open(`found ${found}, assumed ${testClient.contract.endpoints[endpoint].weight} (G17)`);
  });

/** Rules about the weights of the description's table. The weights are written out because they are tested. */
export const weightRules: readonly Rule[] = [
  rule("8.1-weight-instruments", "instruments weighs 2", "key", (testClient) =>
    usedAfter(testClient, "instruments", undefined, 2, "instruments"),
  ),
  rule("8.1-weight-spotBalance", "spot balance weighs 5", "key", (testClient) =>
    usedAfter(testClient, "spotBalance", undefined, 5, "spot balance"),
  ),
  rule("8.1-weight-positions", "positions weighs 5", "key", (testClient) =>
    usedAfter(testClient, "positions", undefined, 5, "positions"),
  ),
  rule("8.1-weight-placeOrder", "placing an order weighs 10", "trade key", (testClient) =>
    weightOfTrade(testClient, "placeOrder", 10),
  ),
  rule("8.1-weight-closePosition", "closing a position weighs 10", "trade key", (testClient) =>
    weightOfFailing(testClient, "closePosition", 10),
  ),
  rule("8.1-weight-cancelBatch", "cancelling a batch weighs 15", "trade key", (testClient) =>
    weightOfTrade(testClient, "cancelBatch", 15),
  ),
  rule("8.1-weight-setLeverage", "setting leverage weighs 5", "trade key", (testClient) =>
    weightOfFailing(testClient, "setLeverage", 5),
  ),
  unlisted("getOrder"),
  unlisted("pendingOrders"),
  unlisted("orderHistory"),
];
