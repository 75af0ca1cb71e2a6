/** Reads that a service answers in parts only: each part asked for, and one answer of all. */
import { of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Outcome } from "../../../src/client/outcome.ts";
import { inPartsOf } from "../../../src/client/split-read.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";

const byType = inPartsOf((endpoint, input) =>
  endpoint === "spotBalance" || "instType" in input
    ? [input]
    : ["SPOT", "SWAP"].map((instType) => ({ ...input, instType })),
);

const done = (at: number, ids: readonly string[], problems: readonly string[] = []) =>
  ({ kind: "done", at, records: ids.map((ordId) => ({ ordId })), problems }) as unknown as Outcome<never>;

const read = (endpoint: EndpointName, input: object, answers: Readonly<Record<string, Outcome<never>>>) => {
  const asked: unknown[] = [];
  let outcome: Outcome<unknown> | undefined;
  byType(endpoint, input as never, (part) => {
    asked.push(part);
    return of(answers[(part as { instType?: string }).instType ?? "all"] as Outcome<never>);
  }).subscribe((one) => {
    outcome = one;
  });
  return { asked, outcome };
};

describe("A read in parts", () => {
  it("asks for every part and is as old as the oldest, with the records and problems of all", () => {
    const { asked, outcome } = read("instruments", {}, { SPOT: done(5, ["a"], ["x"]), SWAP: done(3, ["b"]) });
    expect(asked).toEqual([{ instType: "SPOT" }, { instType: "SWAP" }]);
    expect(outcome).toEqual({ kind: "done", at: 3, records: [{ ordId: "a" }, { ordId: "b" }], problems: ["x"] });
  });

  it("asks once where the input is a part already", () => {
    expect(read("instruments", { instType: "SWAP" }, { SWAP: done(1, []) }).asked).toEqual([{ instType: "SWAP" }]);
    expect(read("spotBalance", {}, { all: done(1, []) }).asked).toEqual([{}]);
  });

  it("ends as a part that was not done", () => {
    const refused = { kind: "rejected", status: 401, code: "1", msg: "no" } as const;
    expect(read("orderHistory", {}, { SPOT: done(1, ["1"]), SWAP: refused }).outcome).toEqual(refused);
    expect(
      read("orderHistory", {}, { SPOT: { kind: "unknown", message: "m" }, SWAP: done(1, ["1"]) }).outcome,
    ).toMatchObject({
      kind: "unknown",
    });
  });

  it("gives the newest orders of all parts up to the limit, so that the oldest is a cursor that leaves none out", () => {
    const parts = { SPOT: done(1, ["99", "12", "7"]), SWAP: done(1, ["100", "98", "3"]) };
    const { outcome } = read("orderHistory", { limit: "3" }, parts);
    expect(outcome).toMatchObject({ records: [{ ordId: "100" }, { ordId: "99" }, { ordId: "98" }] });
  });
});
