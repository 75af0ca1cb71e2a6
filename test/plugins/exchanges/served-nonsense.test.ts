/** Whatever is sent in another exchange's words is answered in them: nothing breaks inside. */
import { describe, expect, it } from "vitest";
import { servedDialects } from "../../../plugins/exchanges/served/served-dialects.ts";
import { servedSetting } from "./harness/served.ts";

const odd = [
  null,
  1,
  "text",
  [],
  {},
  [null],
  [[]],
  [{}],
  { instId: {} },
  [{ instId: "BTC-USDT-SWAP", ordId: [] }],
  { instId: "../..", sz: 1e300 },
];
const whole = {
  ...{
    instId: "BTC-USDT",
    marginMode: "cross",
    side: "buy",
    orderType: "limit",
    price: "-1",
    size: "1e9",
    clientOrderId: "?",
  },
  ...{
    tdMode: "cash",
    ordType: "limit",
    px: "-1",
    sz: "1e9",
    clOrdId: "?",
    lever: "x",
    leverage: "x",
    mgnMode: "sideways",
  },
};
const queries = [
  "",
  "a",
  "instId",
  "instId=",
  "instId=%00",
  "instType=SWAP&limit=0",
  "instId=A-B&ordId=x&orderId=x&after=x",
  "limit=1e2&instType=ANY",
];

describe.each(Object.keys(servedDialects) as (keyof typeof servedDialects)[])("Nonsense in the words of %s", (name) => {
  it("is answered with a code, by every endpoint", async () => {
    const broken: unknown[] = [];
    const { get, post, contract, venue } = await servedSetting(name, { onError: (error) => broken.push(error) });
    const speech = servedDialects[name].speak({ contract, listing: venue.listing });
    for (const route of speech.routes.keys()) {
      const [method = "", path = ""] = route.split(" ");
      const answers =
        method === "GET" ? queries.map((query) => get(path, query)) : [...odd, whole].map((body) => post(path, body));
      for (const { status, body } of await Promise.all(answers)) {
        expect([200, 400, 401]).toContain(status);
        expect(body).toMatchObject({ code: expect.any(String) as string, msg: expect.any(String) as string });
      }
    }
    expect(broken).toEqual([]);
    expect(venue.truth("ann").orders).toEqual([]);
  });

  it("is answered by every socket, which stays open", async () => {
    const { socket, contract, venue } = await servedSetting(name);
    const speech = servedDialects[name].speak({ contract, listing: venue.listing });
    for (const path of speech.socketPaths) {
      const client = await socket(path);
      const args = [
        null,
        1,
        [],
        {},
        { channel: "constructor" },
        { channel: "books", instId: { a: 1 } },
        { channel: "orders", instType: "ANY" },
      ];
      for (const text of ["", "null", "[]", '{"op":"login","args":[{}]}', JSON.stringify({ op: "unsubscribe", args })])
        client.say(text);
      client.say({ op: "subscribe", args });
      const heard = await client.rest();
      expect(heard).toHaveLength(4 + 2 * args.length);
      expect(heard.filter(({ event }) => event !== "error")).toEqual([]);
    }
  });
});
