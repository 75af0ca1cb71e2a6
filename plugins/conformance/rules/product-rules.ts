/**
 * Sections 2.3, 4.5, 4.6 and 9: product ids, the list of products, the other endpoints, the paths.
 */
import { readInstId, wire } from "sluice/dialect";
import { fieldOf, type Reply } from "../probe/reply.ts";
import { all, expectThat, open, type Rule, rule, skipped, type Verdict } from "./rule.ts";
import { need, type TestClient } from "./test-client.ts";
import { sample } from "./trade-scenario.ts";

const products = (testClient: TestClient): Promise<Reply> =>
  testClient.once("products", () => testClient.askInstruments());

const idsOf = ({ records }: Reply): readonly string[] => records.map((record) => fieldOf(record, "instId"));

const listIs = async (
  testClient: TestClient,
  judge: (ids: readonly string[], reply: Reply) => Verdict,
): Promise<Verdict> => {
  const reply = await products(testClient);
  return reply.ok ? judge(idsOf(reply), reply) : skipped(`the list was not given: ${reply.shown}`);
};

/** Lenient in letters, which the description does not limit (H8), strict in form. */
const form = /^[^\s-]+-[^\s-]+(-SWAP)?$/;

const sorted = (ids: readonly string[]): string => [...ids].sort().join(" ");

/** A path that no service has, to learn the answer to such a path. */
const nowhere = `${wire.versionPrefix}common/no-such-thing`;

/** Returns true if an endpoint exists: its answer differs from that to a path that does not. */
const served = async (testClient: TestClient, name: keyof typeof harmless): Promise<Verdict> => {
  const read = name === "spotBalance" || name === "positions" ? name : undefined;
  const reply =
    read === undefined
      ? await testClient.ask(name, harmless[name])
      : need((await sample(testClient)).find(({ endpoint }) => endpoint === read));
  const lightest = read === undefined ? "setLeverage" : "positions";
  const absent = await testClient.once(`nowhere ${lightest}`, () =>
    testClient.ask(lightest, harmless[lightest], { path: nowhere }),
  );
  const same =
    reply.status === absent.status && String(reply.envelope["code"]) === String(absent.envelope["code"]) && !reply.ok;
  return expectThat(
    !same && reply.status !== 404 && reply.status !== 405,
    reply,
    "an answer of the endpoint",
    reply.shown,
  );
};

/** An instrument that is not listed keeps the calls that act harmless. */
const noProduct = "NOSUCH-NOTHING-SWAP";

const harmless = {
  spotBalance: {},
  positions: {},
  placeOrder: { instId: noProduct, side: "buy", ordType: "post_only", px: "1", sz: "1" },
  closePosition: { instId: noProduct },
  setLeverage: { instId: noProduct, lever: "1" },
} as const;

const notServedAt = async (testClient: TestClient, path: string): Promise<Verdict> => {
  const reply = await testClient.askInstruments({ path });
  return expectThat(!reply.ok || reply.records.length === 0, reply, `no product list outside ${wire.versionPrefix}`);
};

export const productRules: readonly Rule[] = [
  rule("2.3-format", "every product id is BASE-QUOTE or BASE-QUOTE-SWAP", "nothing", (testClient) =>
    listIs(testClient, (ids, reply) => {
      const wrong = ids.find((id) => !form.test(id) || id.endsWith("-SWAP-SWAP") || /^[^-]+-SWAP$/.test(id));
      return expectThat(wrong === undefined, reply, "BASE-QUOTE or BASE-QUOTE-SWAP", JSON.stringify(wrong));
    }),
  ),
  rule("2.3-letters", "open: the characters of product ids", "nothing", (testClient) =>
    listIs(testClient, (ids) => {
      const odd = ids.filter((id) => readInstId(id) === undefined);
      return open(
        odd.length === 0
          ? "upper-case letters and digits in all of them (H8)"
          : `others than A-Z and 0-9 in ${odd[0]} (H8)`,
      );
    }),
  ),
  rule("2.3-unique", "every product has an id of its own", "nothing", (testClient) =>
    listIs(testClient, (ids, reply) => {
      const twice = ids.find((id, index) => ids.indexOf(id) !== index);
      return expectThat(twice === undefined, reply, "every instId once", `${twice} twice`);
    }),
  ),
  rule("4.5-listed", "the list names products with their ids", "nothing", async (testClient) => {
    const reply = await products(testClient);
    const ids = idsOf(reply);
    return expectThat(
      reply.ok && ids.length > 0 && !ids.includes(""),
      reply,
      "at least one product, each with an instId",
    );
  }),
  rule("4.5-stable", "asked again, the list is the same", "nothing", async (testClient) => {
    const first = await products(testClient);
    if (!first.ok) return skipped(`the list was not given: ${first.shown}`);
    const again = [await testClient.askInstruments(), await testClient.askInstruments()];
    return all(
      again.map((reply) =>
        expectThat(sorted(idsOf(reply)) === sorted(idsOf(first)), reply, `the same ${first.records.length} products`),
      ),
    );
  }),
  rule("4.5-complete", "every product with an open order or a position is listed", "key", async (testClient) => {
    const held = [await testClient.ask("pendingOrders", { limit: "100" }), await testClient.ask("positions")];
    return listIs(testClient, (ids, reply) => {
      const missing = held.flatMap(idsOf).find((id) => id !== "" && !ids.includes(id));
      return expectThat(missing === undefined, reply, `${missing} is listed`, `${ids.length} products without it`);
    });
  }),
  rule("4.5-key", "open: whether the list needs a key", "nothing", async (testClient) => {
    const reply = await testClient.ask("instruments", {}, { as: "no key" });
    return open(reply.ok ? "no key is needed (G13)" : `without a key: ${reply.shown} (G13)`);
  }),
  rule("4.6-spotBalance", "GET /api/v1/asset/spot is served", "key", (testClient) => served(testClient, "spotBalance")),
  rule("4.6-positions", "GET /api/v1/account/positions is served", "key", (testClient) =>
    served(testClient, "positions"),
  ),
  rule("4.6-placeOrder", "POST /api/v1/trade/order is served", "trade key", (testClient) =>
    served(testClient, "placeOrder"),
  ),
  rule("4.6-closePosition", "POST /api/v1/trade/close-position is served", "trade key", (testClient) =>
    served(testClient, "closePosition"),
  ),
  rule("4.6-setLeverage", "POST /api/v1/account/set-leverage is served", "trade key", (testClient) =>
    served(testClient, "setLeverage"),
  ),
  rule("9-prefix", "no endpoint is outside /api/v1/", "nothing", async (testClient) =>
    all([
      await notServedAt(testClient, "/common/instruments"),
      await notServedAt(testClient, "/api/common/instruments"),
    ]),
  ),
  rule("9-trade-prefix", "nor do the trade endpoints", "key", async (testClient) => {
    const reply = await testClient.ask(
      "pendingOrders",
      {},
      { as: need(testClient.roles.main), path: "/trade/orders/pending" },
    );
    return expectThat(!reply.ok, reply, `no listing outside ${wire.versionPrefix}`);
  }),
  rule("9-next", "open: other versions", "nothing", async (testClient) => {
    const reply = await testClient.askInstruments({ path: "/api/v2/common/instruments" });
    return open(`/api/v2/common/instruments: ${reply.shown} (G18)`);
  }),
];
