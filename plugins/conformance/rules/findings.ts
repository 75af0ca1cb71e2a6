/**
 * Report of the suite: one document for programs, and a table of it for people.
 *
 * Invariants: pure; rules are in the order of the description; a failure shows the expected value, the answer and the
 * request.
 */
import type { Verdict } from "./rule.ts";
import type { SuiteResult } from "./suite.ts";

/** A rule of the service's description and the verdict on it. */
export type CheckedRule = Verdict & {
  readonly id: string;
  /** Section of the service description. */
  readonly section: string;
  readonly title: string;
};

/** Report of a service's conformance with its description. */
export interface CheckReport {
  readonly url: string;
  /** Nothing failed and no order was left behind. */
  readonly passed: boolean;
  readonly counts: Readonly<Record<Verdict["kind"], number>>;
  /** Orders of the check that could not be canceled, by order id. */
  readonly leftBehind: readonly string[];
  /** Rules in the order of the description. */
  readonly rules: readonly CheckedRule[];
}

export const reportOf = (url: string, { findings, leftBehind }: SuiteResult): CheckReport => {
  const counts = { pass: 0, fail: 0, open: 0, skipped: 0 };
  for (const { verdict } of findings) counts[verdict.kind]++;
  return {
    url,
    passed: counts.fail === 0 && leftBehind.length === 0,
    counts,
    leftBehind,
    rules: findings.map(({ rule: { id, section, title }, verdict }) => ({ id, section, title, ...verdict })),
  };
};

type Stroke = (text: string) => string;

/** `plain` makes text of the service harmless to a terminal. */
type Colours = Readonly<Record<"plain" | "red" | "green" | "dim", Stroke>>;

const marks: Readonly<Record<Verdict["kind"], string>> = { pass: "pass", fail: "FAIL", open: "open", skipped: "skip" };

const linesOf = (
  rule: CheckedRule,
  next: CheckedRule | undefined,
  width: number,
  colours: Colours,
): readonly string[] => {
  const paint = { pass: colours.green, fail: colours.red, open: colours.dim, skipped: colours.dim }[rule.kind];
  const line = `${paint(marks[rule.kind])}  ${rule.id.padEnd(width)}  ${rule.title.replace(/^open: /, "")}`;
  const indent = " ".repeat(width + 8);
  switch (rule.kind) {
    case "pass":
      return [line];
    case "open":
      return [line, `${indent}found: ${colours.plain(rule.found)}`];
    case "skipped":
      // A reason that consecutive rules share is printed once, under the last of them.
      return next?.kind === "skipped" && next.why === rule.why ? [line] : [line, `${indent}${colours.plain(rule.why)}`];
    case "fail":
      return [
        line,
        `${indent}expected: ${colours.plain(rule.expected)}`,
        `${indent}got:      ${colours.plain(rule.got)}`,
        `${indent}request:  ${colours.plain(rule.request)}`,
      ];
  }
};

const several = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

export const summaryOf = ({ rules, counts: { pass, fail, open, skipped } }: CheckReport): string =>
  `${several(rules.length, "rule")}: ${pass} passed, ${fail} failed, ${skipped} skipped; ${several(open, "thing")} the description leaves open.`;

export const findingsText = (report: CheckReport, colours: Colours): string => {
  const { rules, leftBehind } = report;
  const width = Math.max(0, ...rules.map(({ id }) => id.length));
  const left = leftBehind.length === 0 ? [] : [`Orders that could not be cancelled: ${leftBehind.join(", ")}`];
  return `${[...rules.flatMap((rule, index) => linesOf(rule, rules[index + 1], width, colours)), "", ...left, summaryOf(report)].join("\n")}\n`;
};
