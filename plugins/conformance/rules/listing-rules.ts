/**
 * Sections 4.2, 4.3 and 8.3: listings of open and of completed orders.
 *
 * Invariants: only orders of this run are expected anywhere; other orders of the user are minded only in what holds for
 * all.
 */
import { instTypeOf, paging } from "sluice/dialect";
import { fieldOf, ordIdsOf, type Reply } from "../probe/reply.ts";
import { pagingScenario } from "./paging-scenario.ts";
import { all, expectThat, open, pass, type Rule, rule, skipped, slowRule, type Verdict } from "./rule.ts";
import type { TestClient } from "./test-client.ts";
import { type TradeScenario, tradeRule, tradeScenario } from "./trade-scenario.ts";

const states = { pending: ["live", "partially_filled"], history: ["filled", "canceled"] } as const;

const lists = (reply: Reply, wanted: readonly string[], why: string): Verdict => {
  const ids = ordIdsOf(reply);
  const missing = wanted.find((id) => !ids.includes(id));
  return expectThat(
    reply.ok && missing === undefined,
    reply,
    `${why}: ${wanted.join(", ")}`,
    reply.ok ? `${missing} is not listed` : reply.shown,
  );
};

const omits = (reply: Reply, unwanted: readonly string[], why: string): Verdict => {
  const shown = ordIdsOf(reply).find((id) => unwanted.includes(id));
  return expectThat(shown === undefined, reply, why, `${shown} is listed`);
};

/** Passes if every record with the field has a fitting value. */
const allHave = (reply: Reply, name: string, fits: (value: string) => boolean, expected: string): Verdict => {
  const wrong = reply.records.map((record) => fieldOf(record, name)).find((value) => value !== "" && !fits(value));
  return expectThat(reply.ok && wrong === undefined, reply, expected, reply.ok ? `${name} ${wrong}` : reply.shown);
};

const three = ({ a, b, c }: TradeScenario): readonly string[] => [a, b, c].map(({ ordId }) => ordId);

/** Returns true if completed orders without fills can be expected in the history. */
const remembers = ({ contract }: TestClient): boolean => !contract.profile.history.unfilledCanceledVanish;
const forgetful = skipped("orders that never traded vanish from this service's history (H11)");

type Look = (scenario: TradeScenario) => Verdict;
const pendingRule = (id: string, title: string, look: Look): Rule =>
  rule(`4.2-${id}`, title, "trade key", async (testClient) => look(await tradeScenario(testClient)));
const historyRule = (id: string, title: string, look: Look): Rule =>
  rule(`4.3-${id}`, title, "trade key", async (testClient) =>
    remembers(testClient) ? look(await tradeScenario(testClient)) : forgetful,
  );

const isSwap = (instId: string): boolean => instTypeOf(instId) === "SWAP";

/** A page of at most `limitMax`, however much was asked for. */
const bounded = (page: Reply, beyond: Reply): Verdict =>
  all([
    expectThat(
      page.ok && page.records.length === paging.limitMax,
      page,
      `${paging.limitMax} of more records`,
      `${page.records.length} records`,
    ),
    expectThat(
      beyond.records.length <= paging.limitMax,
      beyond,
      `at most ${paging.limitMax} records`,
      `${beyond.records.length} records`,
    ),
  ]);

const byDefault = (page: Reply): Verdict =>
  expectThat(
    page.records.length === paging.limitDefault,
    page,
    `${paging.limitDefault} of more records`,
    `${page.records.length} records`,
  );

const ordering = (reply: Reply, ids: readonly string[]): string => {
  const places = ids.map((id) => ordIdsOf(reply).indexOf(id));
  const [first = 0, , last = 0] = places;
  return first > last ? "newest first" : "oldest first";
};

/** Rules about the parameters that narrow either listing. */
const narrowing = (
  make: typeof pendingRule,
  of: (scenario: TradeScenario) => Readonly<Record<"swap" | "spot" | "two" | "after" | "before", Reply>>,
): readonly Rule[] => [
  make("instType", "instType narrows to a kind of product", (scenario) =>
    all([
      lists(of(scenario).swap, three(scenario), "swap orders"),
      allHave(of(scenario).swap, "instId", isSwap, "swap orders only"),
      // If spot is not offered, the rule does not apply to it.
      of(scenario).spot.status === 0
        ? pass
        : allHave(of(scenario).spot, "instId", (id) => !isSwap(id), "spot orders only"),
    ]),
  ),
  make("limit", "limit is the number of results", (scenario) => {
    const { two } = of(scenario);
    return expectThat(two.ok && two.records.length === 2, two, "2 of more records", `${two.records.length} records`);
  }),
  make("after", "after lists older orders", (scenario) => {
    const { a, b, c } = scenario;
    const { after } = of(scenario);
    return all([
      lists(after, [a.ordId], "older orders"),
      omits(after, [b.ordId, c.ordId], `nothing but older than ${b.ordId}`),
    ]);
  }),
  make("before", "before lists newer orders", (scenario) => {
    const { a, b, c } = scenario;
    const { before } = of(scenario);
    return all([
      lists(before, [c.ordId], "newer orders"),
      omits(before, [a.ordId, b.ordId], `nothing but newer than ${b.ordId}`),
    ]);
  }),
];

export const listingRules: readonly Rule[] = [
  pendingRule("all", "all active orders are listed", (scenario) =>
    lists(scenario.pending.all, three(scenario), "all active orders"),
  ),
  pendingRule("states", "only live and partially_filled orders are listed", ({ pending, after }) =>
    all(
      [...Object.values(pending), after.pending]
        .filter(({ ok }) => ok)
        .map((reply) =>
          allHave(
            reply,
            "state",
            (state) => (states.pending as readonly string[]).includes(state),
            states.pending.join(" or "),
          ),
        ),
    ),
  ),
  pendingRule("gone", "completed orders are not listed", (scenario) =>
    all([
      omits(scenario.pending.own, [scenario.d.ordId], "no completed order"),
      omits(scenario.after.pending, three(scenario), "no completed order"),
    ]),
  ),
  pendingRule("instId", "instId narrows to one product", (scenario) =>
    all([
      lists(scenario.pending.own, three(scenario), `orders of ${scenario.instId}`),
      allHave(scenario.pending.own, "instId", (id) => id === scenario.instId, `orders of ${scenario.instId} only`),
      scenario.otherInstId === undefined
        ? pass
        : allHave(
            scenario.pending.other,
            "instId",
            (id) => id === scenario.otherInstId,
            `orders of ${scenario.otherInstId} only`,
          ),
    ]),
  ),
  ...narrowing(pendingRule, ({ pending }) => pending),
  tradeRule("4.2-order", "open: the order of the list, and both cursors at once", (scenario) => {
    const { both } = scenario.pending;
    return open(
      `${ordering(scenario.pending.own, three(scenario))} (G6); after and before: ${both.ok ? `${both.records.length} records` : both.shown} (H6)`,
    );
  }),
  rule("4.2-default", "20 results without limit", "trade key", async (testClient) =>
    byDefault((await pagingScenario(testClient)).pending.page),
  ),
  slowRule("4.2-maximum", "never more than 100 results", "trade key", async (testClient) => {
    const { pending } = await pagingScenario(testClient);
    return bounded(pending.hundred, pending.beyond);
  }),
  slowRule("4.2-beyond", "open: a limit above the maximum", "trade key", async (testClient) => {
    const { beyond } = (await pagingScenario(testClient)).pending;
    return open(beyond.ok ? `${beyond.records.length} records (H6)` : `${beyond.shown} (H6)`);
  }),
  historyRule("all", "cancelled orders are listed", (scenario) =>
    lists(scenario.history.all, three(scenario), "recently completed orders"),
  ),
  tradeRule("4.3-states", "only filled and canceled orders are listed", ({ history }) => {
    const replies = Object.values(history).filter(({ ok }) => ok);
    return all(
      replies.map((reply) =>
        allHave(
          reply,
          "state",
          (state) => (states.history as readonly string[]).includes(state),
          states.history.join(" or "),
        ),
      ),
    );
  }),
  tradeRule("4.3-active", "orders that are still active are not listed", (scenario) =>
    omits(scenario.history.early, three(scenario), "no active order"),
  ),
  historyRule("state", "state narrows to one final state", (scenario) =>
    all([
      lists(scenario.history.canceled, three(scenario), "canceled orders"),
      omits(scenario.history.filled, three(scenario), "filled orders only"),
      allHave(scenario.history.canceled, "state", (state) => state !== "filled", "canceled orders only"),
      allHave(scenario.history.filled, "state", (state) => state !== "canceled", "filled orders only"),
    ]),
  ),
  ...narrowing(historyRule, ({ history }) => history),
  rule("4.3-default", "20 results without limit", "trade key", async (testClient) =>
    remembers(testClient) ? byDefault((await pagingScenario(testClient)).history.page) : forgetful,
  ),
  slowRule("4.3-maximum", "never more than 100 results", "trade key", async (testClient) => {
    if (!remembers(testClient)) return forgetful;
    const { history } = await pagingScenario(testClient);
    return bounded(history.hundred, history.beyond);
  }),
];
