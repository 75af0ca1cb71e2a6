/**
 * What the embedded service answers is what the document of the same profile says, whatever the suite asks of it.
 */
import { describe, expect, it } from "vitest";
import { openApi } from "../../../plugins/venue-server/documents/openapi.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { requestProblems } from "../../../src/contract/validate.ts";
import { type Node, operations, resolved } from "../../support/harness/document-reader.ts";
import type { Defect } from "../conformance/harness/conformance.ts";
import { examine, patient } from "../conformance/harness/conformance.ts";

const profiles: readonly (readonly [string, ProfileOverrides])[] = [
  ["the default", {}],
  ["short and plain names", { instruments: { fieldNames: "short" }, cancelBatch: { resultFields: "code" } }],
  [
    "other endings",
    { answers: { orderErrorStatus: 422, dataOnError: "absent", notFound: "empty" }, limits: { headersOnError: false } },
  ],
  [
    "an object on errors",
    { answers: { dataOnError: "object", successMsg: "success" }, order: { emptyDecimal: "0", timeUnit: "us" } },
  ],
];

/** Every answer of a documented operation that the document does not allow. */
const listening = (
  document: Node,
): { readonly defect: Defect; readonly problems: string[]; readonly heard: Set<string> } => {
  const responses = new Map(
    operations(document).map(([method, path, operation]) => [
      `${method.toUpperCase()} ${path}`,
      resolved(document, operation["responses"]) as Node,
    ]),
  );
  const problems: string[] = [];
  const heard = new Set<string>();
  const defect: Defect = {
    wrap: (handle) => (request, now) => {
      const response = handle(request, now);
      const name = `${request.method} ${request.path}`;
      const documented = responses.get(name);
      if (documented === undefined) return response;
      const schema = documented[String(response.status)]?.["content"]?.["application/json"]?.["schema"];
      heard.add(`${name} ${response.status}`);
      if (schema === undefined) problems.push(`${name}: ${response.status} is not documented`);
      else
        problems.push(
          ...requestProblems(schema, response.body).map((problem) => `${name} ${response.status}: ${problem}`),
        );
      return response;
    },
  };
  return { defect, problems, heard };
};

describe("Every answer is as documented:", () => {
  it.each(profiles)("%s", async (_, profile) => {
    const { defect, problems, heard } = listening(openApi(createContract(profile)) as Node);
    await examine(patient(profile, defect), { quick: true });
    expect([...new Set(problems)]).toEqual([]);
    expect(heard.size).toBeGreaterThan(15);
  });
});
