/**
 * Services that answer wrongly: in the envelope, in records, in lists, in batches, at their doors.
 */
import type { Defect } from "./harness/conformance.ts";
import {
  adding,
  answers,
  isOk,
  type Mutant,
  mutant,
  only,
  paths,
  posing,
  type Raw,
  recordsAt,
  recordsOf,
  requests,
  strayOrder,
  successesOf,
  withBody,
  withData,
} from "./harness/service-defects.ts";

const order = (change: (record: Raw) => Raw): Defect => recordsAt(paths.order, change);

const envelope: readonly Mutant[] = [
  mutant(
    "code is the number 0",
    answers((response) => (isOk(response) ? withBody(response, { code: 0 }) : response)),
    "2.1-code",
  ),
  mutant(
    "msg says success",
    answers((response) => (isOk(response) ? withBody(response, { msg: "success" }) : response)),
    "2.1-msg",
  ),
  mutant(
    "data is an object",
    successesOf("GET", paths.balance, (response) => withBody(response, { data: recordsOf(response)[0] })),
    "2.1-data",
  ),
  mutant(
    "data holds texts",
    successesOf("GET", paths.positions, (response) => withData(response, ["none"])),
    "2.1-data",
  ),
  mutant(
    "failures have a number for a code",
    answers((response) => (response.status === 400 ? withBody(response, { code: 50002 }) : response)),
    "7-envelope",
  ),
  mutant(
    "failures have no msg",
    answers((response) => (response.status === 400 ? withBody(response, { msg: undefined }) : response)),
    "7-envelope",
  ),
  mutant(
    "failures have no envelope",
    answers((response) => (response.status === 400 ? { ...response, body: "no" } : response)),
    "7-envelope",
  ),
];

const records: readonly Mutant[] = [
  mutant(
    "the record lacks the fee",
    order((record) => Object.fromEntries(Object.entries(record).filter(([name]) => name !== "fee"))),
    "2.2-fields",
  ),
  mutant(
    "the record has a field too many",
    order((record) => ({ ...record, tag: "" })),
    "2.2-fields",
  ),
  mutant(
    "px is a number",
    order((record) => ({ ...record, px: Number(record["px"]) })),
    "2.2-text",
  ),
  mutant(
    "px has an exponent",
    order((record) => ({ ...record, px: "1e3" })),
    "2.2-decimals",
  ),
  mutant(
    "createdAt is a date",
    order((record) => ({ ...record, createdAt: "2024-01-01T00:00:00Z" })),
    "2.2-times",
  ),
  mutant(
    "clOrdId is not the one sent",
    order((record) => ({ ...record, clOrdId: `${String(record["clOrdId"])}Z` })),
    "2.2-echo",
  ),
  mutant(
    "sz is not the one sent",
    order((record) => ({ ...record, sz: "17" })),
    "2.2-echo",
  ),
  mutant(
    "a live order is partially filled",
    order((record) => (record["state"] === "live" ? { ...record, state: "partially_filled" } : record)),
    "3-live",
  ),
  mutant(
    "a live order is open",
    order((record) => (record["state"] === "live" ? { ...record, state: "open" } : record)),
    "3-live",
    "3-words",
  ),
  mutant(
    "a cancelled order is filled",
    order((record) => (record["state"] === "canceled" ? { ...record, state: "filled" } : record)),
    "3-canceled",
  ),
  mutant(
    "canceled is spelled with two l",
    recordsAt(paths.history, (record) => ({ ...record, state: "cancelled" })),
    "3-words",
    "4.3-states",
  ),
];

const queries: readonly Mutant[] = [
  mutant(
    "ordId finds nothing",
    successesOf(
      "GET",
      paths.order,
      (response) => withData(response, []),
      (query) => Object.keys(query).join() === "ordId",
    ),
    "4.1-ordId",
  ),
  mutant(
    "clOrdId finds nothing",
    successesOf(
      "GET",
      paths.order,
      (response) => withData(response, []),
      (query) => Object.keys(query).join() === "clOrdId",
    ),
    "4.1-clOrdId",
  ),
  mutant(
    "clOrdId wins",
    requests(paths.order, (request) =>
      "clOrdId" in request.query ? { ...request, query: { clOrdId: request.query["clOrdId"] ?? "" } } : request,
    ),
    "4.1-priority",
  ),
  mutant(
    "an unknown ordId falls back to clOrdId",
    requests(paths.order, (request) =>
      request.query["ordId"] === "1" && "clOrdId" in request.query
        ? { ...request, query: { clOrdId: request.query["clOrdId"] ?? "" } }
        : request,
    ),
    "4.1-priority",
  ),
  mutant(
    "instId is refused",
    successesOf(
      "GET",
      paths.order,
      (response) => withData(response, []),
      (query) => "instId" in query,
    ),
    "4.1-hint",
  ),
  mutant(
    "without ids the latest order is told",
    {
      wrap: (handle, venue) => (request, now) => {
        const response = handle(request, now);
        const asked =
          request.method === "GET" &&
          request.path === paths.order &&
          !("ordId" in request.query) &&
          !("clOrdId" in request.query);
        return asked
          ? { ...response, status: 200, body: { code: "0", msg: "", data: venue.truth("ann").orders.slice(0, 1) } }
          : response;
      },
    },
    "4.1-either",
  ),
];

const products = (change: (records: readonly Raw[]) => readonly Raw[]): Defect =>
  successesOf("GET", paths.instruments, (response) => withData(response, change(recordsOf(response))));

const shrinking = (): Defect => {
  let asked = 0;
  return products((records) => (++asked % 2 === 0 ? records.slice(0, -1) : records));
};

const absent = (method: string, at: string, ...fails: readonly string[]): Mutant =>
  mutant(
    `${method} ${at} is not there`,
    answers((response, request) =>
      request.method === method && request.path === at
        ? { ...response, status: 404, headers: {}, body: { code: "50005", msg: "no" } }
        : response,
    ),
    ...fails,
  );

const lists: readonly Mutant[] = [
  ...["BTC/USDT", "BTCUSDT", "BTC-USDT-SWAP-SWAP", "BTC-SWAP", "BTC-USDT-PERP", "-USDT"].map((instId) =>
    mutant(
      `a product is called ${instId}`,
      products((records) => [...records, { ...records[0], instId }]),
      "2.3-format",
    ),
  ),
  mutant(
    "a product is listed twice",
    products((records) => [...records, records[0] as Raw]),
    "2.3-unique",
  ),
  mutant("the list changes", shrinking(), "4.5-stable"),
  mutant(
    "the list is empty now and then",
    products((records) =>
      records.map(({ instId, ...record }, index) => (index === 2 ? { ...record, instId: "" } : { instId, ...record })),
    ),
    "2.3-format",
    "4.5-listed",
  ),
  mutant(
    "an open order's product is not listed",
    adding(paths.pending, strayOrder("live", "DOGE-USDT-SWAP"), only("limit")),
    "4.5-complete",
  ),
  absent("POST", paths.order, "4.6-placeOrder"),
  absent("POST", paths.close, "4.6-closePosition"),
  absent("POST", paths.leverage, "4.6-setLeverage"),
  absent("GET", paths.balance, "4.6-spotBalance"),
  absent("GET", paths.positions, "4.6-positions"),
  mutant(
    "the list stands without its prefix",
    {
      wrap: (handle) => (request, now) =>
        handle(request.path === "/common/instruments" ? { ...request, path: paths.instruments } : request, now),
    },
    "9-prefix",
  ),
  mutant(
    "pending stands without its prefix",
    {
      wrap: (handle) => (request, now) =>
        handle(request.path === "/trade/orders/pending" ? { ...request, path: paths.pending } : request, now),
    },
    "9-trade-prefix",
  ),
];

const doors: readonly Mutant[] = [
  mutant("orders are told without a key", posing("GET", paths.order, undefined, "ann-1"), "5-unsigned-read"),
  mutant("history is told without a key", posing("GET", paths.history, undefined, "ann-1"), "5-unsigned-read"),
  mutant("anybody may cancel", posing("POST", paths.cancel, undefined, "ann-1"), "5-unsigned-cancel"),
  mutant("anybody may place", posing("POST", paths.order, undefined, "ann-1"), "5-unsigned-place"),
  mutant("read may cancel", posing("POST", paths.cancel, "ann-read", "ann-1"), "5-read-cancel"),
  mutant(
    "read may cancel, and is told otherwise",
    {
      wrap: (handle) => (request, now) => {
        const response = handle(request, now);
        if (request.path === paths.cancel && request.key === "ann-read") handle({ ...request, key: "ann-1" }, now);
        return response;
      },
    },
    "5-read-cancel",
  ),
  mutant("read may place", posing("POST", paths.order, "ann-read", "ann-1"), "5-read-place"),
  mutant("read may not list", posing("GET", paths.pending, "ann-read", "ann-trade"), "5-read"),
  mutant("trade_futures may read", posing("GET", paths.order, "ann-trade", "ann-1"), "5-trade-read"),
  mutant("trade_futures may not cancel", posing("POST", paths.cancel, "ann-trade", "ann-read"), "5-trade-cancel"),
];

export const answerMutants: readonly Mutant[] = [...envelope, ...records, ...queries, ...lists, ...doors];
