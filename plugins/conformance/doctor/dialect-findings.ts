/**
 * Findings about a service that is used in another exchange's dialect.
 *
 * Invariants: a row that the dialect's own code defines is not offered for a config; a code on a list of the profile
 * holds, also if the row names another code of the same meaning.
 * Not here: asking (the probes).
 */
import { type Profile, wire } from "sluice/dialect";
import type { Finding } from "./finding.ts";

/** Rows about a form that the dialect translates, or about headers that the described service alone has. */
const translated: readonly string[] = [
  "cancelBatch.resultFields",
  "instruments.fieldNames",
  "answers.dataOnError",
  "answers.successMsg",
  "limits.headersOnError",
];

/** Rows whose code proves that a call was judged and not executed; every listed code proves it as well. */
const provingCodes: readonly string[] = ["answers.badRequestCode", "answers.notCancelableCode"];

export const inDialect = (finding: Finding, profile: Profile, dialect = ""): Finding => {
  const { override: _, ...rest } = finding;
  if (translated.includes(finding.row))
    return {
      ...rest,
      verdict: "not seen",
      found: "-",
      evidence: `${dialect} translates it: no row changes what is read`,
    };
  const isListed = provingCodes.includes(finding.row) && wire.elementVerdict(profile, finding.found) === "rejected";
  if (finding.verdict === "differs" && isListed)
    return {
      ...rest,
      verdict: "holds",
      evidence: `${finding.evidence}; it is one of answers.rejectionCodes, which mean the same`,
    };
  return finding;
};
