/**
 * Services whose lists and batches are wrong.
 */
import type { Defect } from "./harness/conformance.ts";
import {
  adding,
  answers,
  bare,
  builtWith,
  ignoring,
  isOk,
  type Mutant,
  mutant,
  only,
  paths,
  type Raw,
  recordsOf,
  requests,
  slow,
  strayOrder,
  successesOf,
  withData,
} from "./harness/service-defects.ts";

/** What the service really holds, as a list of its own may show it. */
const truly = (
  at: string,
  where: (query: Raw) => boolean,
  show: (orders: readonly Raw[]) => readonly Raw[],
): Defect => ({
  wrap: (handle, venue) => (request, now) => {
    const response = handle(request, now);
    const asked =
      request.method === "GET" &&
      request.path === at &&
      request.key?.startsWith("ann") === true &&
      where(request.query);
    return asked && [200, 400].includes(response.status)
      ? { ...response, status: 200, body: { code: "0", msg: "", data: show(venue.truth("ann").orders) } }
      : response;
  },
});

const isOpen = ({ state }: Raw): boolean => state === "live" || state === "partially_filled";
const losing = (at: string, where: (query: Raw) => boolean): Defect =>
  successesOf(
    "GET",
    at,
    (response) =>
      withData(response, recordsOf(response).length < 20 ? recordsOf(response).slice(1) : recordsOf(response)),
    where,
  );

const swapped: (request: { readonly query: Readonly<Record<string, string>> }) => Readonly<Record<string, string>> = ({
  query,
}) =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => [{ after: "before", before: "after" }[name] ?? name, value]),
  );

const listings: readonly Mutant[] = [
  mutant("an active order is not listed", losing(paths.pending, bare), "4.2-all"),
  mutant("a filled order is listed as pending", adding(paths.pending, strayOrder("filled")), "4.2-states"),
  mutant(
    "a cancelled order stays in the list as live",
    truly(
      paths.pending,
      ({ instId, limit, after, before }) =>
        instId === "BTC-USDT-SWAP" && limit === "100" && after === undefined && before === undefined,
      (orders) => [
        ...orders.filter(isOpen),
        ...orders.filter((record) => !isOpen(record)).map((record) => ({ ...record, state: "live" })),
      ],
    ),
    "4.2-gone",
  ),
  mutant("pending ignores instType", ignoring(paths.pending, "instType"), "4.2-instType"),
  mutant("pending ignores instId", ignoring(paths.pending, "instId"), "4.2-instId"),
  mutant(
    "pending gives one more than limit",
    requests(paths.pending, (request) =>
      request.query["limit"] === "2" ? { ...request, query: { ...request.query, limit: "3" } } : request,
    ),
    "4.2-limit",
  ),
  mutant(
    "pending shows 10 by default",
    requests(paths.pending, (request) => ({ ...request, query: { limit: "10", ...request.query } })),
    "4.2-default",
  ),
  mutant(
    "history shows 10 by default",
    requests(paths.history, (request) => ({ ...request, query: { limit: "10", ...request.query } })),
    "4.3-default",
  ),
  slow(
    "pending shows up to 200",
    truly(
      paths.pending,
      (query) => query["limit"] === "200",
      (orders) => orders.filter(isOpen).slice(0, 200),
    ),
    "4.2-maximum",
  ),
  slow(
    "history shows up to 200",
    truly(
      paths.history,
      (query) => query["limit"] === "200",
      (orders) => orders.filter((record) => !isOpen(record)).slice(0, 200),
    ),
    "4.3-maximum",
  ),
  slow(
    "pending shows 99 at most",
    requests(paths.pending, (request) =>
      request.query["limit"] === "100" ? { ...request, query: { ...request.query, limit: "99" } } : request,
    ),
    "4.2-maximum",
  ),
  mutant(
    "after and before include the order named",
    builtWith({ paging: { cursorIncluded: true } }),
    "4.2-after",
    "4.2-before",
    "4.3-after",
    "4.3-before",
  ),
  mutant("pending ignores after", ignoring(paths.pending, "after"), "4.2-after"),
  mutant("pending ignores before", ignoring(paths.pending, "before"), "4.2-before"),
  mutant("history ignores after", ignoring(paths.history, "after"), "4.3-after"),
  mutant("history ignores before", ignoring(paths.history, "before"), "4.3-before"),
  mutant(
    "after means newer in pending",
    requests(paths.pending, (request) => ({ ...request, query: swapped(request) })),
    "4.2-after",
    "4.2-before",
  ),
  mutant(
    "a live order is in the history",
    adding(paths.history, strayOrder("live"), only("state", "limit")),
    "4.3-states",
  ),
  mutant(
    "active orders are in the history as canceled",
    truly(paths.history, bare, (orders) => orders.slice(0, 20).map((record) => ({ ...record, state: "canceled" }))),
    "4.3-active",
  ),
  mutant("a completed order is not in the history", losing(paths.history, bare), "4.3-all"),
  mutant("history ignores state", ignoring(paths.history, "state"), "4.3-state"),
  mutant("history ignores instType", ignoring(paths.history, "instType"), "4.3-instType"),
  mutant(
    "history gives one less than limit",
    requests(paths.history, (request) =>
      request.query["limit"] === "2" ? { ...request, query: { limit: "1" } } : request,
    ),
    "4.3-limit",
  ),
];

const batch = (change: (records: readonly Raw[]) => readonly Raw[]): Defect =>
  successesOf("POST", paths.cancel, (response) => withData(response, change(recordsOf(response))));

const batches: readonly Mutant[] = [
  mutant(
    "results come in reverse",
    batch((results) => [...results].reverse()),
    "4.4-elements",
  ),
  mutant(
    "one result is missing",
    batch((results) => (results.length > 1 ? results.slice(1) : results)),
    "4.4-elements",
  ),
  mutant(
    "a batch is answered by its envelope alone",
    batch(() => []),
    "4.4-elements",
  ),
  mutant(
    "every result is a success",
    batch((results) => results.map((result) => ({ ...result, sCode: "0" }))),
    "4.4-results",
  ),
  mutant(
    "every result is a failure",
    batch((results) => results.map((result) => ({ ...result, sCode: "51400" }))),
    "4.4-results",
  ),
  mutant(
    "a batch is answered with 207",
    answers((response, { path }) =>
      path === paths.cancel && isOk(response) ? { ...response, status: 207 } : response,
    ),
    "4.4-status",
  ),
  mutant(
    "a batch with a hopeless element does nothing more",
    {
      wrap: (handle, venue) => (request, now) => {
        const elements = request.path === paths.cancel ? (request.body as readonly Raw[]) : [];
        const states = elements.map(
          ({ ordId }) => venue.truth("ann").orders.find((record) => record.ordId === ordId)?.state,
        );
        if (!states.includes("canceled") || elements.length < 2) return handle(request, now);
        const response = handle({ ...request, body: elements.filter((_, index) => states[index] === "canceled") }, now);
        const results = elements.map(({ ordId }, index) => ({
          ordId,
          clOrdId: "",
          sCode: states[index] === "canceled" ? "51400" : "0",
          sMsg: "",
        }));
        return { ...response, body: { code: "0", msg: "", data: results } };
      },
    },
    "4.4-cancels",
  ),
];

export const listingMutants: readonly Mutant[] = [...listings, ...batches];
