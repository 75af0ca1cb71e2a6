/**
 * A service of another making for the soak: plain node:http, its own meter and its own orders, and nothing of this project.
 *
 * Written from the service's description alone, so that engine and meter cannot err together. It loses one answer in a hundred after it has
 * acted, loses one request in two hundred before, and holds one in twenty back for up to 0.4 s. There is no socket: engines poll.
 *
 * Invariants: minutes and seconds begin by its own clock, which is 137 ms off and stamps `Date`; a user who exceeds the weight is blocked
 * until the next minute; the first line tells where it is and its keys, then there is a line for each minute.
 *
 *   node test/soak/shared/plain-service.mjs [keys=5] [one|each: users] [requests of the address a minute=1200] [seed=1]
 */
import { createHmac } from "node:crypto";
import { createServer } from "node:http";

const [count = "5", users = "one", addressMax = "1200", seed = "1"] = process.argv.slice(2);
const [instId, weightMax, keyMax, toleranceMs] = ["BTC-USDT-SWAP", 1_200, 10, 5_000];
const weights = {
  "GET /api/v1/common/instruments": 2,
  "GET /api/v1/asset/spot": 5,
  "GET /api/v1/account/positions": 5,
  "GET /api/v1/trade/order": 5,
  "GET /api/v1/trade/orders/pending": 5,
  "GET /api/v1/trade/orders/history": 5,
  "POST /api/v1/trade/order": 10,
  "POST /api/v1/trade/cancel-batch-orders": 15,
  "POST /api/v1/account/set-leverage": 5,
};
const names = Array.from({ length: Number(count) }, (_, index) => `key-${index}`);
const keys = names.map((name) => ({
  apiKey: name,
  secretKey: `${name} secret`,
  passphrase: `${name} phrase`,
  uid: users === "each" ? `user-of-${name}` : "desk",
}));
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const clock = () => Date.now() + 137;

let state = Number(seed) >>> 0;
/** Numbers from 0 to 1, the same for the same seed. */
const chance = () => {
  state = (state * 1_664_525 + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
};

/** Of one minute, for the line about it. */
const blank = () => ({ weight: 0, requests: 0, refused: { ip: 0, key: 0, uid: 0 }, orders: {}, twice: 0 });
let [minute, told] = [Math.floor(clock() / 60_000), blank()];
const usedBy = new Map();
const secondOf = new Map();
const turn = () => {
  const now = Math.floor(clock() / 60_000);
  if (now === minute) return;
  say({ minute, ...told });
  [minute, told] = [now, blank()];
  usedBy.clear();
};

/** The layer that refuses, if one does. */
const refuserOf = (key, weight) => {
  if (++told.requests > Number(addressMax)) return "ip";
  if (key === undefined) return undefined;
  const second = Math.floor(clock() / 1_000);
  const mine = secondOf.get(key.apiKey);
  const inSecond = mine?.second === second ? mine.calls : 0;
  if (inSecond >= keyMax) return "key";
  const used = usedBy.get(key.uid) ?? 0;
  if (used + weight > weightMax) {
    usedBy.set(key.uid, Number.POSITIVE_INFINITY);
    return "uid";
  }
  secondOf.set(key.apiKey, { second, calls: inSecond + 1 });
  usedBy.set(key.uid, used + weight);
  told.weight += weight;
  return undefined;
};

const orders = new Map();
const ids = new Set();
let last = 1_000_000_000;
const own = (uid) => [...orders.values()].filter((order) => order.uid === uid).map(({ record }) => record);
const error = (code, msg) => ({ code, msg, data: [] });
const done = (data) => ({ code: "0", msg: "", data });
const page = (list, query) => {
  const { after, before, limit = "20", state: wanted } = query;
  const fits = ({ ordId, state: is }) =>
    (after === undefined || ordId < after) &&
    (before === undefined || ordId > before) &&
    (wanted === undefined || is === wanted);
  return done(list.filter(fits).reverse().slice(0, Number(limit)));
};
const isOpen = ({ state: is }) => is === "live";
const find = (uid, { ordId, clOrdId }) =>
  own(uid).findLast((record) => (ordId === undefined ? record.clOrdId === clOrdId : record.ordId === ordId));

/** Nothing trades: what may rest does, the others are canceled at once. */
const place = ({ uid, apiKey }, { instId: product, side, ordType, px = "", sz, clOrdId = "" }) => {
  told.orders[apiKey] = (told.orders[apiKey] ?? 0) + 1;
  if (ids.has(clOrdId)) {
    told.twice++;
    return error("51016", "The clOrdId was used before.");
  }
  ids.add(clOrdId);
  const at = String(clock());
  const isResting = ordType === "limit" || ordType === "post_only";
  const ordId = String(++last);
  const record = { instId: product, ordId, clOrdId, px, sz, ordType, side, state: isResting ? "live" : "canceled" };
  orders.set(ordId, { uid, record: { ...record, avgPx: "", accFillSz: "0", fee: "0", createdAt: at, updatedAt: at } });
  // Completed orders are told of for some minutes.
  for (const [old, { record: then }] of orders) {
    if (orders.size <= 5_000) break;
    if (!isOpen(then)) orders.delete(old);
  }
  return done([{ ordId, clOrdId, sCode: "0", sMsg: "" }]);
};
const cancel = ({ uid }, elements) =>
  done(
    elements.map((element) => {
      const record = find(uid, element);
      const { ordId = element.ordId ?? "", clOrdId = element.clOrdId ?? "" } = record ?? {};
      if (record === undefined || !isOpen(record)) return { ordId, clOrdId, sCode: "51400", sMsg: "It is not open." };
      [record.state, record.updatedAt] = ["canceled", String(clock())];
      return { ordId, clOrdId, sCode: "0", sMsg: "" };
    }),
  );
const instrument = {
  instId,
  instType: "SWAP",
  baseCurrency: "BTC",
  quoteCurrency: "USDT",
  settleCurrency: "USDT",
  tickSize: "0.1",
  lotSize: "0.001",
  minSize: "0.001",
  contractValue: "1",
  maxLeverage: "50",
  state: "live",
};
const acts = {
  "GET /api/v1/common/instruments": () => done([instrument]),
  "GET /api/v1/asset/spot": () =>
    done([{ currency: "USDT", balance: "100000000", available: "100000000", frozen: "0" }]),
  "GET /api/v1/account/positions": () => done([]),
  "GET /api/v1/trade/order": ({ uid }, query) => {
    const record = find(uid, query);
    return record === undefined ? error("51603", "The order does not exist.") : done([record]);
  },
  "GET /api/v1/trade/orders/pending": ({ uid }, query) => page(own(uid).filter(isOpen), query),
  "GET /api/v1/trade/orders/history": ({ uid }, query) =>
    page(
      own(uid).filter((record) => !isOpen(record)),
      query,
    ),
  "POST /api/v1/trade/order": place,
  "POST /api/v1/trade/cancel-batch-orders": cancel,
  "POST /api/v1/account/set-leverage": (_, { instId: product, lever }) => done([{ instId: product, lever }]),
};

const keyOf = ({ method, headers }, path, body) => {
  const key = keys.find(({ apiKey }) => apiKey === headers["x-api-key"]);
  const at = headers["x-api-timestamp"] ?? "";
  if (
    key === undefined ||
    Math.abs(Date.parse(at) - clock()) > toleranceMs ||
    headers["x-api-passphrase"] !== key.passphrase
  )
    return undefined;
  const sign = createHmac("sha256", key.secretKey).update(`${at}${method}${path}${body}`).digest("base64");
  return sign === headers["x-api-sign"] ? key : undefined;
};

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part) => {
    body += part;
  });
  request.on("end", () => {
    if (chance() < 1 / 200) return request.socket.destroy();
    const holdMs = chance() < 1 / 20 ? 400 * chance() : 0;
    const isLost = chance() < 1 / 100;
    setTimeout(() => answer(request, response, body, isLost), holdMs / 2);
    return undefined;
  });
});
const answer = (request, response, body, isLost) => {
  turn();
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://service");
  const call = `${request.method} ${pathname}`;
  const key = keyOf(request, pathname, body);
  const refuser = refuserOf(key, weights[call] ?? 1);
  if (refuser !== undefined) told.refused[refuser]++;
  const tell = (status, what) => {
    const headers = {
      "content-type": "application/json",
      date: new Date(clock()).toUTCString(),
      "x-ratelimit-ip-remaining": String(Math.max(0, Number(addressMax) - told.requests)),
    };
    const mine = secondOf.get(key?.apiKey);
    if (key !== undefined) {
      headers["x-ratelimit-key-remaining"] = String(keyMax - (mine?.calls ?? 0));
      headers["x-ratelimit-uid-weight-used"] = String(Math.min(weightMax, usedBy.get(key.uid) ?? 0));
    }
    if (isLost) request.socket.destroy();
    else response.writeHead(status, headers).end(JSON.stringify(what));
  };
  if (refuser !== undefined) return tell(429, error("50011", "Too Many Requests"));
  if (acts[call] === undefined) return tell(404, error("50404", "There is no such call."));
  if (key === undefined && !call.endsWith("/instruments")) return tell(401, error("50004", "The signature is wrong."));
  return tell(200, acts[call](key, request.method === "GET" ? Object.fromEntries(searchParams) : JSON.parse(body)));
};
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => say({ url: `http://127.0.0.1:${server.address().port}`, keys }));
// A minute in which nobody calls is told as well.
setInterval(turn, 200);
