/** Examinations to lay out and to end commands with. */
import type { Examination } from "../../../../plugins/conformance/doctor/doctor.ts";
import type { Finding, RowPath, Verdict } from "../../../../plugins/conformance/doctor/finding.ts";

export const finding = (verdict: Verdict, row = "weights.getOrder", given: Partial<Finding> = {}): Finding => ({
  gap: "G17",
  row,
  assumed: "5",
  found: verdict === "holds" ? "5" : verdict === "differs" ? "2" : "-",
  verdict,
  evidence: "the user's count grew",
  ...(verdict === "differs" && { override: { path: row as RowPath, value: 2 } }),
  ...given,
});

export const examination = (findings: readonly Finding[], given: Partial<Examination> = {}): Examination => ({
  findings,
  overrides: findings.flatMap(({ override }) => override ?? []),
  profile: findings.some(({ override }) => override !== undefined) ? { weights: { getOrder: 2 } } : {},
  weight: 51,
  requests: 14,
  left: [],
  stopped: false,
  ...given,
});
