import { runInThisContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { profileLines } from "../../../plugins/conformance/doctor/override-lines.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { createWard, differing, unaskedRows } from "./harness/doctor.ts";

/** What an examination that only reads may use of a minute. */
const readWeightMax = 150;

describe("A read-only examination", () => {
  it("finds that everything holds at a service of the default profile, within its weight", async () => {
    const ward = createWard();
    const examination = await ward.examine({ quick: false });
    expect(differing(examination)).toEqual([]);
    expect(unaskedRows(examination)).toEqual([]);
    expect(examination.overrides).toEqual([]);
    expect(examination.findings.filter(({ verdict }) => verdict === "not seen").map(({ row }) => row)).toEqual([
      "limits.refusedCounts",
      "answers.limitedCode",
    ]);
    expect(ward.weight()).toBeLessThanOrEqual(readWeightMax);
    expect(examination.weight).toBeLessThanOrEqual(readWeightMax);
    expect(ward.requests.every(({ method }) => method === "GET")).toBe(true);
    expect(ward.opened()).toBe(0);
    expect(ward.clock.pending).toBe(0);
  });
});

/** One row of the profile broken at the service, which the examination must find and nothing else. */
const cases: readonly (readonly [row: string, service: ProfileOverrides])[] = [
  ["instruments.needsKey", { instruments: { needsKey: true } }],
  ["instruments.chargesUserWithoutKey", { instruments: { chargesUserWithoutKey: true } }],
  ["instruments.fieldNames", { instruments: { fieldNames: "short" } }],
  ["auth.timestamp", { auth: { timestamp: "ms" } }],
  ["auth.timestamp", { auth: { timestamp: "s" } }],
  ["auth.digest", { auth: { digest: "hex" } }],
  ["auth.digest", { auth: { digest: "hex_base64" } }],
  ["auth.prehash", { auth: { prehash: ["timestamp", "method", "path", "query", "body"] } }],
  ["answers.authCode", { answers: { authCode: "50111" } }],
  ["answers.badRequestStatus", { answers: { badRequestStatus: 422 } }],
  ["answers.badRequestCode", { answers: { badRequestCode: "51000" } }],
  ["answers.notFound", { answers: { notFound: "empty" } }],
  ["answers.notFoundCode", { answers: { notFoundCode: "152003" } }],
  ["answers.orderErrorStatus", { answers: { orderErrorStatus: 404 } }],
  ["answers.successMsg", { answers: { successMsg: "success" } }],
  ["answers.dataOnError", { answers: { dataOnError: "object" } }],
  ["answers.dataOnError", { answers: { dataOnError: "absent" } }],
  ["weights.getOrder", { weights: { getOrder: 2 } }],
  ["weights.getOrder", { weights: { getOrder: 8 } }],
  ["weights.pendingOrders", { weights: { pendingOrders: 2 } }],
  ["weights.orderHistory", { weights: { orderHistory: 7 } }],
  ["paging.newestFirst", { paging: { newestFirst: false } }],
  ["paging.cursorIncluded", { paging: { cursorIncluded: true } }],
  ["paging.afterAndBefore", { paging: { afterAndBefore: "after_wins" } }],
  ["paging.afterAndBefore", { paging: { afterAndBefore: "refused" } }],
  ["paging.limitAboveMax", { paging: { limitAboveMax: "clamped" } }],
  ["order.timeUnit", { order: { timeUnit: "s" } }],
  ["order.timeUnit", { order: { timeUnit: "us" } }],
  ["order.feeSign", { order: { feeSign: "positive_is_cost" } }],
  ["order.emptyDecimal", { order: { emptyDecimal: "0" } }],
  ["limits.failedCounts", { limits: { failedCounts: false } }],
  ["limits.headersOnError", { limits: { headersOnError: false } }],
  ["limits.dateHeader", { limits: { dateHeader: false } }],
  ["limits.anchor", { limits: { anchor: "first_request" } }],
  ["limits.anchor", { limits: { anchor: "sliding" } }],
];

describe("A service that differs in one row", () => {
  it.each(cases)("%s: %j is found alone, and with its line pasted everything holds", async (row, service) => {
    const quick = row !== "limits.anchor";
    const examination = await createWard({ service }).examine({ quick });
    expect([differing(examination), unaskedRows(examination)]).toEqual([[row], []]);
    expect(examination.profile).toEqual(service);
    expect(examination.weight).toBeLessThanOrEqual(readWeightMax);
    // The lines are JavaScript, read back as whoever pastes them would have it read.
    const pasted = runInThisContext(`({${profileLines(examination.profile)}})`) as { profile: ProfileOverrides };
    const again = await createWard({ service }).examine({ quick, profile: pasted.profile });
    expect([differing(again), unaskedRows(again)]).toEqual([[], []]);
    expect(again.weight).toBeLessThanOrEqual(readWeightMax);
  });
});
