/** What a user may override, and how a slip of the pen is answered. */
import { describe, expect, it } from "vitest";
import { profileRows, resolveProfile } from "../../../src/contract/overrides.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { isActive, orderStates, rank, readState } from "../../../src/contract/schemas.ts";
import type { SluiceError } from "../../../src/errors.ts";

const issuesOf = (overrides: unknown): readonly string[] => {
  try {
    resolveProfile(overrides as ProfileOverrides);
    return [];
  } catch (error) {
    expect(error).toMatchObject({ name: "SluiceError", code: "PROFILE_INVALID" });
    return (error as SluiceError).issues;
  }
};

describe("The profile:", () => {
  it("every row says which gap it fills and why", () => {
    for (const { path, gap, why } of profileRows()) {
      expect(gap, path).toMatch(/^[GH]\d{1,2}$/);
      expect(why, path).toMatch(/\.$/);
    }
    expect(new Set(profileRows().map(({ path }) => path)).size).toBe(profileRows().length);
  });

  it("without overrides it is the default, and resolving does not change the default", () => {
    const before = JSON.stringify(profileRows());
    expect(resolveProfile().weights.getOrder).toBe(5);
    expect(resolveProfile({ weights: { getOrder: 2 } }).weights.getOrder).toBe(2);
    expect(JSON.stringify(profileRows())).toBe(before);
  });

  it.each([
    ["a group misspelt", { wieghts: {} }, ['profile.wieghts: unknown group. Did you mean "weights"?']],
    ["a row misspelt", { weights: { getOrdr: 1 } }, ['profile.weights.getOrdr: unknown row. Did you mean "getOrder"?']],
    ["a row like none", { weights: { zzzzzzzzz: 1 } }, ["profile.weights.zzzzzzzzz: unknown row."]],
    [
      "a number as text",
      { weights: { getOrder: "5" } },
      ['profile.weights.getOrder: expected number, got string ("5").'],
    ],
    ["a list as an object", { order: { sides: {} } }, ["profile.order.sides: expected array, got object ({})."]],
    [
      "null",
      { capabilities: { cancelSpot: null } },
      ["profile.capabilities.cancelSpot: expected boolean, got null (null)."],
    ],
    [
      "a negative number",
      { history: { retentionMs: -1 } },
      ["profile.history.retentionMs: expected a number of at least 0, got -1."],
    ],
    [
      "no number",
      { history: { retentionMs: Number.NaN } },
      ["profile.history.retentionMs: expected a number of at least 0, got NaN."],
    ],
    [
      "a change of a limit",
      {
        limits: {
          changes: [
            { layer: "user", at: "2026-11-29 08:00", capacity: 0, until: 1 },
            { layer: "uid", at: "2026-11-29T08:00:00Z", capacity: 800 },
            { layer: "uid", at: "2026-11-29T08:00Z", capacity: 900 },
            5,
          ],
        },
      },
      [
        "profile.limits.changes[0].until: unknown field.",
        'profile.limits.changes[0].layer: "user" is not one of ip, key, uid.',
        'profile.limits.changes[0].at: "2026-11-29 08:00" is no instant; write it like "2026-11-29T08:00:00Z".',
        "profile.limits.changes[0].capacity: expected a whole number of at least 1, got 0.",
        'profile.limits.changes[2]: layer "uid" has two changes at 2026-11-29T08:00Z; keep one.',
        "profile.limits.changes[3]: expected a change, got number.",
      ],
    ],
    ["a group that is no object", { weights: 5 }, ["profile.weights: expected an object of rows, got number."]],
  ])("%s is refused by place, value and remedy", (_, overrides, issues) => {
    expect(issuesOf(overrides)).toEqual(issues);
  });

  it("every problem is listed, not the first", () => {
    expect(issuesOf({ weights: { a: 1, getOrder: "x" }, nope: {} })).toHaveLength(3);
  });
});

describe("Order states:", () => {
  const profile = resolveProfile();

  it("two are active, and only those may be followed by another", () => {
    expect(orderStates.filter(isActive)).toEqual(["live", "partially_filled"]);
    for (const active of ["live", "partially_filled"] as const)
      for (const final of ["filled", "canceled"] as const) expect(rank[final]).toBeGreaterThan(rank[active]);
  });

  it.each([
    ["live", "live"],
    ["partially_canceled", "canceled"],
    ["mmp_canceled", "canceled"],
    ["LIVE", undefined],
    ["expired", undefined],
    ["constructor", undefined],
    ["", undefined],
  ])("the word %j reads as %s", (word, state) => {
    expect(readState(word, profile)).toBe(state);
  });
});

describe("Word lists of the profile:", () => {
  it("a part of the signature that does not exist is refused by place, not left out", () => {
    expect(() => resolveProfile({ auth: { prehash: ["timestamp", "Method", "path", "boddy"] } })).toThrow(
      /profile\.auth\.prehash\[1\]: "Method" is not one of .*Did you mean "method".*profile\.auth\.prehash\[3\]: "boddy".*Did you mean "body"/s,
    );
    expect(resolveProfile({ auth: { prehash: ["path", "query"] } }).auth.prehash).toEqual(["path", "query"]);
  });
});
