/**
 * Rule of the description in this suite: a name, its needs, and a question that ends in a verdict.
 *
 * Invariants: a verdict of failure contains the expected value, the answer and the request; behavior that the
 * description leaves open is reported and never a failure.
 */

import type { Reply } from "../probe/reply.ts";
import type { TestClient } from "./test-client.ts";
import type { Need } from "./test-keys.ts";

export type Verdict =
  | { readonly kind: "pass" }
  | { readonly kind: "open"; readonly found: string }
  | { readonly kind: "fail"; readonly expected: string; readonly got: string; readonly request: string }
  | { readonly kind: "skipped"; readonly why: string };

export interface Rule {
  readonly id: string;
  /** Section of the service description. */
  readonly section: string;
  readonly title: string;
  readonly needs: Need;
  /** Fills a minute's quota or waits for the next minute. */
  readonly slow: boolean;
  check(testClient: TestClient): Promise<Verdict>;
}

export const rule = (id: string, title: string, needs: Need, check: Rule["check"]): Rule => ({
  id,
  section: id.slice(0, id.indexOf("-")),
  title,
  needs,
  slow: false,
  check,
});

export const slowRule = (id: string, title: string, needs: Need, check: Rule["check"]): Rule => ({
  ...rule(id, title, needs, check),
  slow: true,
});

export const pass: Verdict = { kind: "pass" };
export const open = (found: string): Verdict => ({ kind: "open", found });
export const skipped = (why: string): Verdict => ({ kind: "skipped", why });
export const fail = (reply: Reply, expected: string, got: string): Verdict => ({
  kind: "fail",
  expected,
  got,
  request: reply.asked,
});

/** The first failure, else a pass. Nothing to judge is no pass. */
export const all = (verdicts: Iterable<Verdict>): Verdict => {
  let seen = false;
  for (const verdict of verdicts) {
    if (verdict.kind !== "pass") return verdict;
    seen = true;
  }
  return seen ? pass : skipped("there was nothing to judge");
};

/** Passes if `holds`; otherwise fails with the reply, the expected and the received value. */
export const expectThat = (holds: boolean, reply: Reply, expected: string, got: string = reply.shown): Verdict =>
  holds ? pass : fail(reply, expected, got);
