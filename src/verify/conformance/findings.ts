/**
 * What the suite found, as a table for people and one document for programs.
 *
 * Invariants: pure; rules stand in the order of the description; a failure shows what was expected, what came and to which request.
 */
import type { Verdict } from "./rule.ts";
import type { Finding, SuiteResult } from "./suite.ts";

type Counts = Readonly<Record<Verdict["kind"], number>>;

const countsOf = ({ findings }: SuiteResult): Counts => {
  const counts = { pass: 0, fail: 0, open: 0, skipped: 0 };
  for (const { verdict } of findings) counts[verdict.kind]++;
  return counts;
};

interface FindingsDocument {
  readonly url: string;
  readonly passed: boolean;
  readonly counts: Counts;
  readonly leftBehind: readonly string[];
  readonly rules: readonly (Verdict & { readonly id: string; readonly section: string; readonly title: string })[];
}

/** Whether nothing failed and nothing was left behind. */
export const isClean = (result: SuiteResult): boolean => countsOf(result).fail === 0 && result.leftBehind.length === 0;

export const findingsDocument = (url: string, result: SuiteResult): FindingsDocument => ({
  url,
  passed: isClean(result),
  counts: countsOf(result),
  leftBehind: result.leftBehind,
  rules: result.findings.map(({ rule: { id, section, title }, verdict }) => ({ id, section, title, ...verdict })),
});

type Stroke = (text: string) => string;

/** `plain` makes text of the service harmless to a terminal. */
type Colours = Readonly<Record<"plain" | "red" | "green" | "dim", Stroke>>;

const marks: Readonly<Record<Verdict["kind"], string>> = { pass: "pass", fail: "FAIL", open: "open", skipped: "skip" };

const linesOf = ({ rule: { id, title }, verdict }: Finding, width: number, colours: Colours): readonly string[] => {
  const paint = { pass: colours.green, fail: colours.red, open: colours.dim, skipped: colours.dim }[verdict.kind];
  const line = `${paint(marks[verdict.kind])}  ${id.padEnd(width)}  ${title.replace(/^open: /, "")}`;
  const indent = " ".repeat(width + 8);
  switch (verdict.kind) {
    case "pass":
      return [line];
    case "open":
      return [line, `${indent}found: ${colours.plain(verdict.found)}`];
    case "skipped":
      return [line, `${indent}${colours.plain(verdict.why)}`];
    case "fail":
      return [
        line,
        `${indent}expected: ${colours.plain(verdict.expected)}`,
        `${indent}got:      ${colours.plain(verdict.got)}`,
        `${indent}request:  ${colours.plain(verdict.request)}`,
      ];
  }
};

const several = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export const summaryOf = (result: SuiteResult): string => {
  const { pass, fail, open, skipped } = countsOf(result);
  return `${several(result.findings.length, "rule")}: ${pass} passed, ${fail} failed, ${skipped} skipped; ${several(open, "thing")} the description leaves open.`;
};

export const findingsText = (result: SuiteResult, colours: Colours): string => {
  const width = Math.max(0, ...result.findings.map(({ rule }) => rule.id.length));
  const left = result.leftBehind.length === 0 ? [] : [`Orders that could not be cancelled: ${result.leftBehind.join(", ")}`];
  return `${[...result.findings.flatMap((finding) => linesOf(finding, width, colours)), "", ...left, summaryOf(result)].join("\n")}\n`;
};
