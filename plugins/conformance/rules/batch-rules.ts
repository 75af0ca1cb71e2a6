/**
 * Section 4.4: canceling in batches.
 *
 * Invariants: the effect of a batch is read from the orders, not from its answer; the answer is judged separately.
 */

import { elementDone, fieldOf, type Reply } from "../probe/reply.ts";
import { all, expectThat, open, pass, type Rule, type Verdict } from "./rule.ts";
import type { Own } from "./test-orders.ts";
import { type TradeScenario, tradeRule } from "./trade-scenario.ts";

const complete = (reply: Reply): Verdict => {
  const state = fieldOf(reply.records[0], "state");
  return expectThat(state !== "live" && state !== "partially_filled", reply, "a completed order", `state ${state}`);
};

/** The batch of a hopeless order and three good ones, as asked. */
const asked = ({ d, a, b, c }: TradeScenario): readonly Own[] => [d, a, b, c];

const corresponds = (scenario: TradeScenario): Verdict => {
  const { mixed } = scenario.cancel;
  const orders = asked(scenario);
  return all([
    expectThat(
      mixed.records.length === orders.length,
      mixed,
      `${orders.length} results`,
      `${mixed.records.length} results`,
    ),
    ...orders.map(({ ordId }, index) => {
      const told = fieldOf(mixed.records[index], "ordId");
      return expectThat(
        told === "" || told === ordId,
        mixed,
        `result ${index} tells of ${ordId}`,
        `result ${index} tells of ${told}`,
      );
    }),
  ]);
};

/** A call without results of its elements is judged by the rule about correspondence. */
const results = (scenario: TradeScenario): Verdict => {
  const { mixed, one } = scenario.cancel;
  if (mixed.records.length !== asked(scenario).length) return pass;
  const told = asked(scenario).map(({ ordId }, index) => ({
    ordId,
    record: mixed.records.find((record) => fieldOf(record, "ordId") === ordId) ?? mixed.records[index],
  }));
  return all([
    expectThat(
      one.records.length === 0 || elementDone(one.records[0]),
      one,
      "the only element is reported as cancelled",
    ),
    ...told.map(({ ordId, record }, index) =>
      index === 0
        ? expectThat(!elementDone(record), mixed, `a failure for ${ordId}, which was complete`, JSON.stringify(record))
        : expectThat(elementDone(record), mixed, `a success for ${ordId}`, JSON.stringify(record)),
    ),
  ]);
};

export const batchRules: readonly Rule[] = [
  tradeRule("4.4-status", "a batch is answered with HTTP 200", ({ cancel: { one, mixed } }) =>
    all([one, mixed].map((reply) => expectThat(reply.status === 200, reply, "HTTP 200"))),
  ),
  tradeRule("4.4-cancels", "a batch cancels every open order it names", ({ after }) => all(after.order.map(complete))),
  tradeRule("4.4-elements", "data corresponds to the request element by element", corresponds),
  tradeRule("4.4-results", "each element reports how its attempt ended", results),
  tradeRule("4.4-mixed", "open: the envelope of a batch with good and bad elements", ({ cancel: { mixed } }) => {
    const fields = Object.keys(mixed.records[0] ?? {}).join(", ");
    return open(`code ${JSON.stringify(mixed.envelope["code"])}, elements of ${fields} (G9)`);
  }),
];
