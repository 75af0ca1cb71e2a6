/**
 * Sections 2.1, 2.2 and 7.1: the envelope and the order record.
 *
 * Invariants: each rule minds one thing, so that one defect fails one rule.
 */

import { compare, isDecimal } from "sluice";
import { createContract } from "sluice/dialect";
import { fieldOf, isRaw, type Raw, type Reply } from "../probe/reply.ts";
import { all, expectThat, fail, open, pass, type Rule, rule, skipped, type Verdict } from "./rule.ts";
import type { TestClient } from "./test-client.ts";
import { successes, tradeScenario } from "./trade-scenario.ts";

const successesAre = async (testClient: TestClient, judge: (reply: Reply) => Verdict): Promise<Verdict> =>
  all((await successes(testClient)).map(judge));

/** The record of the order just placed, from the endpoint of which the description shows the record. */
const ownRecord = async (testClient: TestClient): Promise<{ readonly record: Raw; readonly reply: Reply }> => {
  const { order, a } = await tradeScenario(testClient);
  const found = [order.byOrdId, order.hinted]
    .map((reply) => ({ reply, record: reply.records[0] }))
    .find(({ record }) => isRaw(record));
  return { record: found?.record ?? {}, reply: found?.reply ?? a.placed };
};

const recordIs = async (testClient: TestClient, judge: (record: Raw, reply: Reply) => Verdict): Promise<Verdict> => {
  const { record, reply } = await ownRecord(testClient);
  return Object.keys(record).length === 0 ? skipped("no order record was found; see 4.1") : judge(record, reply);
};

const fields: readonly string[] = createContract().endpoints.pendingOrders.record.required;

const looksLike = async (
  testClient: TestClient,
  names: readonly string[],
  rule: string,
  fits: (text: string) => boolean,
): Promise<Verdict> =>
  recordIs(testClient, (record, reply) =>
    all(
      names.map((name) => {
        const value = record[name];
        // A missing value, or one that is no text, is judged by another rule.
        if (typeof value !== "string") return pass;
        return expectThat(fits(value), reply, `${name} is ${rule}`, `${name} ${JSON.stringify(value)}`);
      }),
    ),
  );

const failureOf = async (testClient: TestClient): Promise<readonly Reply[]> => {
  const { order } = await tradeScenario(testClient);
  return [order.neither, order.unknown].filter(({ ok, status }) => !ok && status > 0);
};

const judgeFailure = (reply: Reply): Verdict => {
  const { code, msg } = reply.envelope;
  if (!isRaw(reply.body)) return fail(reply, "an envelope with code and msg", reply.shown);
  if (typeof code !== "string" || code === "0")
    return fail(reply, 'code is a text other than "0"', `code ${JSON.stringify(code)}`);
  return expectThat(typeof msg === "string", reply, "msg is a text", `msg ${JSON.stringify(msg)}`);
};

const unitOf = (digits: number): string =>
  ({ 10: "seconds", 13: "milliseconds", 16: "microseconds" })[digits] ?? `${digits} digits`;

export const envelopeRules: readonly Rule[] = [
  rule("2.1-code", 'code is the text "0" on success', "key", (testClient) =>
    successesAre(testClient, (reply) =>
      expectThat(
        reply.envelope["code"] === "0",
        reply,
        'code "0" as a text',
        `code ${JSON.stringify(reply.envelope["code"])}`,
      ),
    ),
  ),
  rule("2.1-msg", "msg is empty text on success", "key", (testClient) =>
    successesAre(testClient, (reply) =>
      expectThat(reply.envelope["msg"] === "", reply, 'msg ""', `msg ${JSON.stringify(reply.envelope["msg"])}`),
    ),
  ),
  rule("2.1-data", "data is an array of records on success", "key", (testClient) =>
    successesAre(testClient, (reply) => {
      const { data } = reply.envelope;
      return expectThat(Array.isArray(data) && data.every(isRaw), reply, "data is an array of objects", reply.shown);
    }),
  ),
  rule("2.2-fields", "the order record has exactly the thirteen fields", "trade key", (testClient) =>
    recordIs(testClient, (record, reply) => {
      const names = Object.keys(record);
      const lacking = fields.filter((name) => !names.includes(name));
      const extra = names.filter((name) => !fields.includes(name));
      const got = [
        ...lacking.map((name) => `${name} is missing`),
        ...extra.map((name) => `${name} is not a field`),
      ].join(", ");
      return expectThat(got === "", reply, fields.join(", "), got);
    }),
  ),
  rule("2.2-text", "all fields of the order record are strings", "trade key", (testClient) =>
    recordIs(testClient, (record, reply) => {
      const wrong = Object.entries(record).find(([, value]) => typeof value !== "string");
      return expectThat(
        wrong === undefined,
        reply,
        "every field is a string",
        `${wrong?.[0]} ${JSON.stringify(wrong?.[1])}`,
      );
    }),
  ),
  rule("2.2-decimals", "px, sz, avgPx, accFillSz and fee are decimal text", "trade key", (testClient) =>
    // Whether a price that does not exist is "" or "0" is open (H9).
    looksLike(
      testClient,
      ["px", "sz", "avgPx", "accFillSz", "fee"],
      "decimal text",
      (text) => text === "" || isDecimal(text),
    ),
  ),
  rule("2.2-times", "createdAt and updatedAt are digits only", "trade key", (testClient) =>
    looksLike(testClient, ["createdAt", "updatedAt"], "digits only", (text) => /^\d+$/.test(text)),
  ),
  rule("2.2-echo", "the record is the order that was placed", "trade key", async (testClient) => {
    const { a } = await tradeScenario(testClient);
    const told = ["instId", "clOrdId", "side", "ordType"] as const;
    return recordIs(testClient, (record, reply) =>
      all([
        ...told.map((name) =>
          expectThat(
            fieldOf(record, name) === fieldOf(a.body, name),
            reply,
            `${name} ${fieldOf(a.body, name)}`,
            `${name} ${fieldOf(record, name)}`,
          ),
        ),
        ...(["px", "sz"] as const).map((name) => {
          const [sent, got] = [fieldOf(a.body, name), fieldOf(record, name)];
          return expectThat(!isDecimal(got) || compare(sent, got) === 0, reply, `${name} ${sent}`, `${name} ${got}`);
        }),
      ]),
    );
  }),
  rule("2.2-unit", "open: the unit of createdAt", "trade key", (testClient) =>
    recordIs(testClient, (record) => open(`createdAt in ${unitOf(fieldOf(record, "createdAt").length)} (G3)`)),
  ),
  rule("7-envelope", "failures are reported by code and msg", "trade key", async (testClient) =>
    all((await failureOf(testClient)).map(judgeFailure)),
  ),
  rule("7-other", "open: statuses and codes of failures", "key", async (testClient) => {
    const neither = await testClient.ask("getOrder", {}, { mayBeUnread: true });
    const malformed = await testClient.ask("pendingOrders", { limit: "many" }, { mayBeUnread: true });
    return open(`without an id ${neither.shown}; limit=many ${malformed.shown} (G5, G16)`);
  }),
];
