/** The REST document says what the embedded service enforces: what it allows is not refused by form, what it forbids is. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asyncApi } from "../../../plugins/venue-server/documents/asyncapi.ts";
import { openApi } from "../../../plugins/venue-server/documents/openapi.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { requestProblems } from "../../../src/contract/validate.ts";
import { type Node, operations, resolved } from "../../support/harness/document-reader.ts";
import { setting, swap } from "../../support/harness/venue.ts";

const profiles: Readonly<Record<string, ProfileOverrides>> = {
  default: {},
  "large pages are cut": { paging: { limitAboveMax: "clamped" } },
  "batches of three of any ids": { cancelBatch: { elementsMax: 3, oneIdKind: false } },
};

const fits = (schema: unknown, value: unknown): boolean => requestProblems(schema as object, value).length === 0;

describe.each(Object.entries(profiles))("Under the profile %s", (_, profile) => {
  const contract = createContract(profile);
  const document = openApi(contract) as Node;
  const operationOf = (name: string): Node =>
    operations(document).find(([, , { operationId }]) => (operationId as unknown) === name)?.[2] as Node;
  const parameterOf = (operation: string, name: string): unknown => {
    const parameters = operationOf(operation)["parameters"] as unknown as readonly Node[];
    return resolved(
      document,
      parameters.find((one) => (one["name"] as unknown) === name),
    );
  };

  it.each(["pendingOrders", "orderHistory"] as const)("%s takes the pages it is said to take", (endpoint) => {
    const { read } = setting(profile);
    const path = contract.endpoints[endpoint].path.replace("/api/v1/", "");
    const value = fc.oneof(
      fc.integer({ min: 0, max: 10_001 }).map(String),
      fc.constantFrom(
        "0",
        "1",
        "99",
        "100",
        "101",
        "007",
        "0100",
        "1e1",
        " 1",
        "a",
        "-1",
        "1".repeat(30),
        "1".repeat(31),
      ),
      fc.string({ maxLength: 5 }),
    );
    fc.assert(
      fc.property(fc.constantFrom("limit", "after", "before"), value, (name, text) => {
        const { schema } = parameterOf(endpoint, name) as { schema: unknown };
        expect([name, text, read(path, { [name]: text }).status === 200]).toEqual([name, text, fits(schema, text)]);
      }),
      { numRuns: 300 },
    );
  });

  it("a batch of cancels is taken as it is said to be taken", () => {
    const request = resolved(document, operationOf("cancelBatch")["requestBody"]) as Node;
    const schema = request["content"]?.["application/json"]?.["schema"];
    const element = fc.record({
      instId: fc.constant(swap),
      ids: fc.constantFrom(
        {},
        { ordId: "1" },
        { clOrdId: "a" },
        { ordId: "1", clOrdId: "a" },
        { ordId: "" },
        { other: "1" },
      ),
    });
    const kindly = fc.array(
      element.map(({ instId, ids }) => ({ instId, ...ids })),
      { maxLength: 23 },
    );
    const alike = fc
      .tuple(fc.constantFrom({ ordId: "1" }, { clOrdId: "a" }), fc.integer({ min: 0, max: 23 }))
      .map(([ids, count]) => Array.from({ length: count }, () => ({ instId: swap, ...ids })));
    fc.assert(
      fc.property(fc.oneof(kindly, alike), (body) => {
        const { write } = setting(profile);
        const { status, body: answer } = write("trade/cancel-batch-orders", body);
        // What is wrong with one element is told of that element.
        const refused =
          status !== 200 || answer.data.some(({ sCode }) => sCode === contract.profile.answers.parameterCode);
        expect([body, !refused]).toEqual([body, fits(schema, body)]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("Every list of an API document", () => {
  const arrays = (value: unknown, place = ""): readonly string[] => {
    if (value === null || typeof value !== "object") return [];
    const { type, items } = value as { type?: unknown; items?: unknown };
    const types = Array.isArray(type) ? type : [type];
    const own = types.includes("array") && (items === null || typeof items !== "object") ? [place] : [];
    return [...own, ...Object.entries(value).flatMap(([key, one]) => arrays(one, `${place}/${key}`))];
  };

  it.each(["array", "object", "absent"] as const)(
    "says of what it is, where failures carry data as %s",
    (dataOnError) => {
      const contract = createContract({ answers: { dataOnError } });
      expect(arrays(openApi(contract))).toEqual([]);
      expect(arrays(asyncApi(contract))).toEqual([]);
    },
  );
});

describe("What the server answers beside its operations", () => {
  it("is told: a path that is not known, a body that is too large", () => {
    const document = openApi(createContract({ answers: { unknownPathStatus: 410 } })) as Node;
    expect(JSON.stringify(document["info"])).toContain("HTTP 410");
    for (const [method, , { responses }] of operations(document))
      expect("413" in (responses as Node)).toBe(method === "post");
  });
});
