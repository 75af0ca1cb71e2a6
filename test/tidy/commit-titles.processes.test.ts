/** Rule for commits: each title since the rule exists is `area: imperative in plain words`. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { problemOfTitle } from "../../.githooks/commit-title.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const git = (...argv: readonly string[]): string =>
  execFileSync("git", argv, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();

/** Titles since the commit that added the hook; undefined outside a clone with history. */
const titlesSinceHook = (): readonly string[] | undefined => {
  try {
    const added = git("log", "--diff-filter=A", "--format=%H", "--", ".githooks/commit-msg").split("\n").at(-1);
    return added === undefined || added === ""
      ? undefined
      : git("log", "--format=%s", `${added}..HEAD`).split("\n").filter(Boolean);
  } catch {
    return undefined;
  }
};

describe("Commit titles", () => {
  it("name an area and begin with an imperative", ({ skip }) => {
    const titles = titlesSinceHook();
    if (titles === undefined) return skip("no history of this file here");
    const wrong = titles.flatMap((title) => {
      const problem = problemOfTitle(title);
      return problem === undefined ? [] : [`${title}: ${problem}`];
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ["venue: keep orders of equal prices in order", undefined],
    ["orders, quota: read each count once", undefined],
    ["orders: feed the ladder", undefined],
    ["Merge branch 'x'", undefined],
    ["keep orders in order", /^write "area/],
    ["venue: adds a row", /^begin with an imperative/],
    ["venue: added a row", /^begin with an imperative/],
    ["venue: add a row.", /full stop/],
    [`venue: ${"a".repeat(80)}`, /has 87 characters/],
  ])("%s", (title, problem) => {
    if (problem === undefined) expect(problemOfTitle(title)).toBeUndefined();
    else expect(problemOfTitle(title)).toMatch(problem);
  });
});
