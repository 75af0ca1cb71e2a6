/**
 * Rules about a dialect at its exchange, in addition to the rules of the description that hold for every service.
 *
 * Invariants: a rule judges how the engine parses an answer (client/parse-response.ts), never the exchange's own text;
 * orders rest far from the market and are canceled; a layer that bans the address is never filled.
 * Not here: lost and doubled answers (verify/acceptance/), sockets.
 */
import { type EndpointName, type LayerSpec, wire } from "sluice/dialect";
import { fieldOf, type Raw, type Reply } from "../probe/reply.ts";
import { all, expectThat, fail, open, pass, type Rule, rule, skipped, type Verdict } from "./rule.ts";
import { need, type TestClient } from "./test-client.ts";
import { sample, tradeScenario } from "./trade-scenario.ts";

const elsewhere: readonly (readonly [RegExp, string])[] = [
  [/^2\.1-msg$/, "its text for a success is its own"],
  [/^(4\.6|9)-/, "it has paths of its own"],
  [/^4\.[23]-default$/, "engines always name the number of results"],
  [/^(7\.2|8\.1|8\.4)-|^5-shared$/, "it has layers of its own, see D-limits"],
  [/^8\.2-/, "it has sockets of its own, which the run of lost orders uses"],
];

/**
 * Returns the reason for which a rule of the description does not apply to a service in a dialect; undefined if it
 * applies.
 */
export const notOfDialects = (id: string): string | undefined => elsewhere.find(([pattern]) => pattern.test(id))?.[1];

const outcomeOf = (testClient: TestClient, { endpoint, response }: Reply): wire.Outcome<Raw> =>
  wire.parseResponse<Raw>(endpoint, response, testClient.contract, 0);

/** Passes if every record of the answers can be parsed. */
const readable = async (testClient: TestClient): Promise<Verdict> => {
  const { order, pending, history } = await tradeScenario(testClient);
  const replies = [...(await sample(testClient)), order.byOrdId, pending.own, history.canceled].filter(({ ok }) => ok);
  return all(
    replies.map((reply) => {
      const outcome = outcomeOf(testClient, reply);
      const problem = outcome.kind === "done" ? outcome.problems[0] : outcome.kind;
      return expectThat(problem === undefined, reply, "records that can be read", String(problem));
    }),
  );
};

const askedWrongly: readonly EndpointName[] = ["spotBalance", "getOrder", "pendingOrders"];

/** Wrong credentials must have a status of their own that is no statement about an order. */
const refusesFaults = async (testClient: TestClient): Promise<Verdict> => {
  const { a, instId } = await tradeScenario(testClient);
  const verdicts: Verdict[] = [];
  for (const fault of wire.keyFaults) {
    for (const endpoint of askedWrongly)
      verdicts.push(await refusesFault(testClient, endpoint, fault, { ordId: a.ordId, instId }));
  }
  return all(verdicts);
};

const refusesFault = async (
  testClient: TestClient,
  endpoint: EndpointName,
  fault: wire.KeyFault,
  order: Raw,
): Promise<Verdict> => {
  const reply = await testClient.ask(endpoint, endpoint === "getOrder" ? order : {}, { fault });
  const { status } = reply;
  return expectThat(status === 401 || status === 403, reply, `status 401 or 403 for a wrong ${fault}`);
};

/** Orders that cannot be: each is a mistake that a strategy could make. */
const hopeless = (body: Raw): Readonly<Record<string, Raw>> => ({
  "an unknown product": { ...body, instId: "NOSUCH-NOTHING-SWAP" },
  "a size of zero": { ...body, sz: "0" },
  "a price off the tick": { ...body, px: `${fieldOf(body, "px").split(".")[0]}.000000001` },
});

/**
 * Judged and not executed: neither a success nor an unknown outcome, which would keep a slot until absence is proved.
 */
const refusesOrders = async (testClient: TestClient): Promise<Verdict> => {
  const verdicts: Verdict[] = [];
  for (const [what, body] of Object.entries(hopeless(await testClient.orders.body()))) {
    const reply = await testClient.ask("placeOrder", body);
    const ordId = fieldOf(reply.records[0], "ordId");
    if (reply.ok && ordId !== "" && fieldOf(reply.records[0], "sCode") === "0")
      await testClient.orders.adopt(fieldOf(body, "clOrdId"), ordId);
    verdicts.push(judgedRefusal(testClient, reply, what));
  }
  return all(verdicts);
};

const judgedRefusal = (testClient: TestClient, reply: Reply, what: string): Verdict => {
  const outcome = outcomeOf(testClient, reply);
  const unlisted = wire.unlistedIn("placeOrder", outcome, testClient.contract.profile);
  if (unlisted !== undefined)
    return fail(
      reply,
      `${what} is refused with a code of answers.rejectionCodes`,
      `code ${unlisted.code}, which is on no list`,
    );
  const refused =
    outcome.kind === "rejected" || (outcome.kind === "done" && fieldOf(outcome.records[0], "sCode") !== "0");
  return expectThat(refused, reply, `a refusal of ${what}`, `${outcome.kind}: ${reply.shown}`);
};

const provesRefusal = (testClient: TestClient, reply: Reply): boolean => {
  const outcome = outcomeOf(testClient, reply);
  if (outcome.kind !== "done") return outcome.kind === "rejected";
  const code = fieldOf(outcome.records[0], "sCode");
  return code !== "0" && wire.elementVerdict(testClient.contract.profile, code) === "rejected";
};

/**
 * A repeated placement of an executed order also receives "id is taken", so it must not be parsed as "not executed".
 */
const keepsTakenId = async (testClient: TestClient): Promise<Verdict> => {
  const { orders } = testClient;
  const [own] = await orders.open(1);
  if (own === undefined) return skipped("no order was placed");
  try {
    const again = await testClient.ask("placeOrder", own.body);
    const pending = await testClient.ask("pendingOrders", { instId: own.body["instId"], limit: "100" });
    const same = pending.records.filter((record) => fieldOf(record, "clOrdId") === own.clOrdId);
    for (const record of same)
      if (fieldOf(record, "ordId") !== own.ordId) await orders.adopt(own.clOrdId, fieldOf(record, "ordId"));
    const proves = provesRefusal(testClient, again);
    return all([
      expectThat(same.length === 1, pending, `one order of the client id ${own.clOrdId}`, `${same.length} orders`),
      expectThat(!proves, again, "no code that means: judged and not executed"),
    ]);
  } finally {
    await orders.cancelAll([own]);
  }
};

/** Proof of absence by the exchange's own code; where it has none, the lists prove it. */
const absent = async (testClient: TestClient): Promise<Verdict> => {
  const reply = await testClient.ask(
    "getOrder",
    { instId: await testClient.orders.instId(), clOrdId: "NOSUCH1" },
    { mayBeUnread: true },
  );
  if (reply.status === 0) return open(`an answer that proves nothing, so that the lists have to (${reply.shown})`);
  const outcome = outcomeOf(testClient, reply);
  if (outcome.kind === "done") return expectThat(outcome.records.length === 0, reply, "no order");
  return open(`${outcome.kind}: ${reply.shown}`);
};

const quietFactor = 1.1;

/** Returns the endpoint of a read that alone can fill the layer. Layers that ban are left out. */
const fillable = ({ banMs, unit, endpoints, capacity, windowMs }: LayerSpec): EndpointName | undefined => {
  const reads: readonly EndpointName[] = ["pendingOrders", "positions", "spotBalance", "getOrder", "orderHistory"];
  if (banMs > 0 || unit !== "requests" || capacity > 100 || windowMs > 20_000) return undefined;
  return reads.find((name) => endpoints?.includes(name) ?? true);
};

/** Passes if as many calls as the layer permits succeed together, so that the dialect's numbers are not too high. */
const fills = async (testClient: TestClient, layer: LayerSpec): Promise<Verdict> => {
  const endpoint = fillable(layer);
  if (endpoint === undefined) return pass;
  const { capacity, windowMs } = layer;
  const instId = await testClient.orders.instId();
  const input =
    { pendingOrders: { instId, limit: "1" }, orderHistory: { instType: "SWAP", limit: "1" } }[endpoint as string] ?? {};
  const order = endpoint === "getOrder" ? { instId, ordId: "1" } : input;
  // Pause after which none of our calls counts in any window.
  const quietMs = Math.max(
    ...(testClient.dialect?.layers ?? []).filter(({ banMs }) => banMs === 0).map((one) => one.windowMs),
  );
  await testClient.wait(quietMs * quietFactor);
  const sentAt = testClient.clock.now();
  const calls = Array.from({ length: capacity }, () => testClient.ask(endpoint, order, { within: [] }));
  const replies = await Promise.all(calls);
  const isLate = testClient.clock.now() - sentAt > windowMs;
  if (isLate && !replies.some(({ limited }) => limited))
    return skipped(`${capacity} calls took longer than the layer's window`);
  return all(
    replies.map((reply) =>
      expectThat(!reply.limited, reply, `${capacity} calls in ${windowMs / 1_000} s pass the layer "${layer.name}"`),
    ),
  );
};

const fillsAll = async (testClient: TestClient): Promise<Verdict> => {
  const verdicts: Verdict[] = [];
  for (const layer of testClient.dialect?.layers ?? []) verdicts.push(await fills(testClient, layer));
  return all(verdicts);
};

/** Only asked of a service in a dialect. */
export const dialectRules: readonly Rule[] = [
  rule("D-records", "every record can be read", "trade key", readable),
  rule("D-signature", "wrong credentials are refused with a status of their own", "trade key", refusesFaults),
  rule("D-refusal", "an order that cannot be is judged, by a code that is listed", "trade key", refusesOrders),
  rule("D-duplicate", "an id that is taken does not read as not executed", "trade key", keepsTakenId),
  rule("D-absent", "an order that does not exist is reported as such, or not at all", "trade key", absent),
  rule("D-limits", "as many reads as a layer holds pass", "key", (testClient) => {
    need(testClient.roles.main);
    return fillsAll(testClient);
  }),
];
