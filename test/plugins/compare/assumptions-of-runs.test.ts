/** Assumptions of runs that are compared: of reports and sessions, also of those that earlier versions stored. */
import { describe, expect, it } from "vitest";
import { factsOfReport } from "../../../plugins/compare/read-run.ts";
import { parseHeader, sessionFormat } from "../../../plugins/session/session-records.ts";
import type { Assumption } from "../../../src/contract/assumption.ts";
import { sampleReport } from "../../support/harness/sample-report.ts";

const latency = "entry constant 5; response constant 7; feed constant 0";
const factsWith = (assumptions: readonly (Assumption | string)[]) =>
  factsOfReport({ ...sampleReport(), assumptions: assumptions as readonly Assumption[] });

describe("The assumptions of a report", () => {
  it("give the whole name of a latency, and leave out what other facts state", () => {
    const facts = factsWith([
      { what: "Latency", value: latency, consequence: "prices move on" },
      { what: "Limits", value: "none", consequence: "" },
      { what: "Funding", value: "not charged", consequence: "holding costs nothing" },
    ]);
    expect(facts.latency).toBe(latency);
    expect(facts.assumptions).toEqual(["Funding: not charged; holding costs nothing"]);
  });

  it("may be sentences, as earlier versions stored them", () => {
    const facts = factsWith([`latency: ${latency}`, "limits: ip 1200", "order records are polled"]);
    expect(facts.latency).toBe(latency);
    expect(facts.assumptions).toEqual(["order records are polled"]);
  });
});

describe("The assumptions in a session's header", () => {
  const header = (assumptions: readonly unknown[]) =>
    parseHeader(
      JSON.stringify({
        format: sessionFormat,
        config: "",
        seed: "1",
        instance: "a",
        limits: true,
        service: "paper",
        users: [{ uid: "main", ip: "local", keys: [] }],
        strategies: [],
        assumptions,
      }),
      "here",
    ).assumptions;

  it("are records, and sentences of earlier versions are read", () => {
    const record = { what: "Order records", value: "polled", consequence: "a fill is known after the next poll" };
    expect(header([record, `latency: ${latency}`])).toEqual([
      record,
      { what: "latency", value: latency, consequence: "" },
    ]);
  });

  it("are refused where they are neither", () => {
    expect(() => header([{ what: "Order records" }])).toThrow(/assumptions/);
  });
});
