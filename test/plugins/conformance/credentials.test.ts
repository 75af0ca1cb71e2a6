import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseResponse } from "../../../src/client/parse-response.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { type EndpointName, endpointTable } from "../../../src/contract/endpoints.ts";
import type { WireRequest, WireResponse } from "../../../src/contract/transport.ts";
import { createWard, differing, found, unaskedRows } from "./harness/doctor.ts";

const envelope = (code: string, msg = "Refused.", status = 200): WireResponse => ({
  status,
  headers: {},
  body: { code, msg, data: [] },
});
const page = (status: number): WireResponse => ({ status, headers: {}, body: undefined });

const isWrong = ({ key }: WireRequest): boolean => key === undefined || key.includes("!");
const needsKey = ({ endpoint }: WireRequest): boolean => endpoint !== "instruments";

describe("A service at which a good key cannot be told from a bad one", () => {
  it.each<readonly [string, (answer: WireResponse, request: WireRequest) => WireResponse]>([
    ["answers every call with 200 and a code", () => envelope("152409", "Signature verification failed.")],
    [
      "answers every signed call with 200 and a code",
      (answer, request) => (needsKey(request) ? envelope("152409") : answer),
    ],
    ["answers every path with a 404 page", () => page(404)],
    ["answers every path with a 404 envelope", () => envelope("404", "Not here.", 404)],
    ["answers every path with {}", () => ({ status: 200, headers: {}, body: {} })],
    ["answers every path with an empty success", () => envelope("0", "")],
    ["shows a login page", () => page(200)],
    ["is behind a proxy that answers 403 pages", () => page(403)],
    [
      "is behind a proxy that answers 403 pages to signed calls",
      (answer, { key }) => (key === undefined ? answer : page(403)),
    ],
    [
      "lists instruments and answers the rest with 404",
      (answer, request) => (needsKey(request) ? envelope("404", "", 404) : answer),
    ],
    ["accepts a wrong key", (answer, { key }) => (key?.includes("!key") === true ? envelope("0", "") : answer)],
  ])("that %s: no row is offered and nothing more is asked", async (_, spoil) => {
    const ward = createWard({ spoil: (answer, request) => spoil(answer, request) });
    const examination = await ward.examine({ quick: false });
    expect(examination.inconclusive).toEqual(expect.any(String));
    expect([examination.overrides, examination.profile]).toEqual([[], {}]);
    expect(unaskedRows(examination)).toEqual(
      expect.arrayContaining(["answers.authStatus", "answers.authCode", "answers.notFoundCode"]),
    );
    expect(ward.requests.some(({ endpoint }) => endpoint === "getOrder")).toBe(false);
  });

  it("that accepts any signature: says so", async () => {
    const examination = await createWard({ checksSignatures: false }).examine();
    expect(examination).toMatchObject({
      overrides: [],
      inconclusive: "a request with a wrong secret is answered as one with the right secret is (status 200, code 0)",
    });
  });

  it("that accepts the good key only once: says so", async () => {
    let count = 0;
    const spoil = (answer: WireResponse, request: WireRequest): WireResponse =>
      isWrong(request) || count++ === 0 ? answer : envelope("152409");
    const examination = await createWard({ spoil }).examine();
    expect(examination).toMatchObject({
      overrides: [],
      inconclusive: expect.stringContaining("accepted once and then not"),
    });
  });

  it("leaves every row unasked that an examination asks about", async () => {
    const whole = await createWard().examine({ quick: false });
    const none = await createWard({ spoil: () => page(404) }).examine({ quick: false });
    const never = ["limits.refusedCounts", "answers.limitedCode"];
    const rows = whole.findings
      .filter(({ row }) => /^[a-z]+\.\w+$/i.test(row) && !/^order\.(sides|ordTypes)$/.test(row))
      .map(({ row }) => row);
    expect(new Set(unaskedRows(none))).toEqual(new Set(rows.filter((row) => !never.includes(row))));
  });
});

describe("A service that refuses keys with HTTP 200 and codes of its own", () => {
  const codes: Readonly<Record<string, string>> = {
    secret: "152409",
    key: "152406",
    passphrase: "152412",
    timestamp: "152408",
  };
  const styled = (answer: WireResponse, request: WireRequest): WireResponse => {
    const { key } = request;
    if (!needsKey(request)) return answer;
    if (key === undefined) return envelope("152401", "Access key is missing.");
    const fault = key.split("!")[1];
    return fault === undefined ? answer : envelope(codes[fault] ?? "", "Verification failed.");
  };

  it("is understood: the status holds for all of them, and no code does", async () => {
    const examination = await createWard({ spoil: styled }).examine();
    expect(examination.inconclusive).toBeUndefined();
    expect(found(examination, "answers.authStatus")).toMatchObject({ verdict: "differs", found: "200" });
    expect(found(examination, "answers.authCode")).toMatchObject({ verdict: "not seen" });
    expect(found(examination, "answers.notFoundCode")?.verdict).toBe("holds");
    expect(examination.profile).toEqual({ answers: { authStatus: 200 } });
  });

  it.each(["152401", "152406", "152408", "152409", "152412"])(
    "and answers an absent order with %s: no row of it",
    async (code) => {
      const spoil = (answer: WireResponse, request: WireRequest): WireResponse =>
        request.endpoint === "getOrder" && request.query["ordId"] === "1" ? envelope(code) : styled(answer, request);
      const examination = await createWard({ spoil }).examine();
      expect(differing(examination)).toEqual(["answers.authStatus"]);
      expect(unaskedRows(examination)).toEqual([
        "answers.notFound",
        "answers.notFoundCode",
        "answers.orderErrorStatus",
      ]);
    },
  );

  it("finds fault with a config in which a refused key already reads as an absent order", async () => {
    const examination = await createWard({ spoil: styled }).examine({
      profile: { answers: { notFoundCode: "152409" } },
    });
    expect(found(examination, "answers.notFoundCode in force")).toMatchObject({ verdict: "differs", found: "152409" });
    expect(examination.profile).toMatchObject({ answers: { notFoundCode: "51603" } });
  });
});

describe("An absent order is concluded only from an answer that says just that", () => {
  it.each<readonly [string, WireResponse]>([
    ["the code of a bad parameter", envelope("50002", "Parameter error.", 400)],
    ["a code that is a number", { status: 404, headers: {}, body: { code: 404, msg: "Not here.", data: [] } }],
    ["no text beside the code", { status: 404, headers: {}, body: { code: "404", error: "Not here." } }],
  ])("not from %s", async (_, answer) => {
    const spoil = (given: WireResponse, request: WireRequest): WireResponse =>
      !isWrong(request) && request.endpoint === "getOrder" && request.query["ordId"] === "1" ? answer : given;
    const examination = await createWard({ spoil }).examine();
    expect(found(examination, "answers.notFoundCode")?.verdict).toBe("not seen");
    expect(differing(examination)).toEqual([]);
  });
});

/** What a service may do to one kind of request; each is answered as some other request would be. */
const endpoints = Object.keys(endpointTable(createContract().profile)) as readonly EndpointName[];
const asked = endpoints.filter((name) =>
  ["instruments", "spotBalance", "pendingOrders", "orderHistory", "getOrder"].includes(name),
);
const refusals = {
  unsigned: envelope("152401"),
  secret: envelope("152409", "Verification failed.", 401),
  key: envelope("152406"),
  passphrase: envelope("152412", "", 403),
  timestamp: envelope("152408"),
  permission: envelope("152500", "", 403),
  parameter: envelope("50002", "Parameter error.", 400),
  path: envelope("50005", "No such path.", 404),
  elsewhere: envelope("152003", "Order is unknown."),
  absent: envelope("51603", "No such order."),
  other: envelope("0", ""),
} as const;
type Refusal = keyof typeof refusals;
const wrongKeys: readonly Refusal[] = ["unsigned", "secret", "key", "passphrase", "timestamp"];

const kindOf = (request: WireRequest): string => {
  const { endpoint, key, query } = request;
  const credentials = key === undefined ? "unsigned" : (key.split("!")[1] ?? "right");
  return endpoint === "getOrder"
    ? `${endpoint} ${Object.keys(query).join()} ${credentials}`
    : `${endpoint} ${credentials}`;
};
const credentials = ["right", "unsigned", "secret", "key", "passphrase", "timestamp"];
const kinds = asked.flatMap((name) =>
  (name === "getOrder" ? [`${name} `, `${name} ordId`] : [name]).flatMap((start) =>
    credentials.map((word) => `${start} ${word}`),
  ),
);

describe("A service in which requests are answered as others", () => {
  it("never gets a row printed with which an engine reads a refused key as an absent order", async () => {
    const words = fc.constantFrom(...(Object.keys(refusals) as Refusal[]));
    const mutation = fc.record({
      absent: fc.option(words),
      others: fc.dictionary(fc.constantFrom(...kinds), words, { maxKeys: 4 }),
    });
    const plain = createContract();
    let offered = 0;
    await fc.assert(
      fc.asyncProperty(mutation, async ({ absent, others }) => {
        const changes = absent === null ? others : { ...others, "getOrder ordId right": absent };
        const refusalOf = (kind: string, fault: string): WireResponse =>
          refusals[changes[`${kind} ${fault}`] ?? (fault as Refusal)];
        const spoil = (answer: WireResponse, request: WireRequest): WireResponse => {
          const kind = kindOf(request);
          const credentials = kind.split(" ").at(-1) ?? "";
          if (changes[kind] === undefined && (credentials === "right" || !needsKey(request))) return answer;
          return refusalOf(kind.slice(0, kind.lastIndexOf(" ")), credentials);
        };
        const examination = await createWard({ spoil }).examine();
        if (examination.overrides.some(({ path }) => path === "answers.notFoundCode")) offered++;
        const pasted = createContract(examination.profile);
        for (const fault of wrongKeys) {
          for (const kind of ["spotBalance", "getOrder ordId"]) {
            const refusal = refusalOf(kind, fault);
            const before = parseResponse("getOrder", refusal, plain, 0).kind;
            if (before === "rejected")
              expect([kind, fault, parseResponse("getOrder", refusal, pasted, 0).kind]).toEqual([kind, fault, before]);
          }
        }
      }),
      { numRuns: 300 },
    );
    expect(offered).toBeGreaterThan(10);
  });
});
