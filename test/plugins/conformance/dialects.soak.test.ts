/** The conformance run of a service that speaks as another exchange: which rules apply, and which mistake each rule of dialects finds. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type CheckOptions, check } from "../../../plugins/conformance/rules/check.ts";
import { rulesFor } from "../../../plugins/conformance/rules/suite.ts";
import { okxDialect } from "../../../plugins/exchanges/okx-dialect.ts";
import { main } from "../../../src/cli/main.ts";
import type { Dialect } from "../../../src/client/transport/dialect.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { dialectService } from "../exchanges/harness/dialect-service.ts";

const run = async (name: string, { dialect, ...options }: CheckOptions = {}, times = 10) => {
  const { url, keysFile, clock, dialect: own } = await dialectService(name, onTestFinished, { times });
  return check(url, { quick: true, keys: keysFile, dialect: dialect ?? own, ...options }, { clock });
};

const ofKind = ({ rules }: Awaited<ReturnType<typeof check>>, kind: string) =>
  rules.filter((rule) => rule.kind === kind).map(({ id }) => id);

describe("The conformance run of a service in a dialect", () => {
  it.each(["okx", "blofin"])("asks %s by every rule that applies, and names those that do not", async (name) => {
    const report = await run(name);
    expect(report.rules.filter(({ kind }) => kind === "fail")).toEqual([]);
    expect(report.leftBehind).toEqual([]);
    expect(report.rules.length).toBe(rulesFor({}).length);
    const elsewhere = report.rules
      .filter((rule) => rule.kind === "skipped" && rule.why.startsWith("does not apply to "))
      .map(({ id }) => id);
    expect([...new Set(elsewhere.map((id) => id.slice(0, id.indexOf("-"))))]).toEqual([
      ...["2.1", "4.6", "9", "4.2", "4.3", "5", "7.2", "8.1", "8.2", "8.4"],
    ]);
    // A machine that is busy may be too slow to fill a layer.
    expect(ofKind(report, "pass").filter((id) => /^D-(?!limits|absent)/.test(id))).toEqual([
      ...["D-records", "D-signature", "D-refusal", "D-duplicate"],
    ]);
    expect(ofKind(report, name === "okx" ? "pass" : "open")).toContain("D-absent");
    expect(ofKind(report, "pass")).toEqual(
      expect.arrayContaining(["2.1-code", "2.2-echo", "4.1-clOrdId", "4.2-after", "4.4-results"]),
    );
  });

  const okx = okxDialect({ demo: true });
  const { profile, call, answer, layers } = okx as Required<Dialect>;
  const wrong: readonly (readonly [what: string, rule: string, dialect: Dialect])[] = [
    [
      "reads the answer to a refused key as a refusal of the order",
      "D-signature",
      { ...okx, answer: (request, response) => ({ ...answer(request, response), status: 200 }) },
    ],
    [
      "knows no codes of refusals",
      "D-refusal",
      { ...okx, profile: { ...profile, answers: { ...profile.answers, sizeCode: "1", rejectionCodes: [] } } },
    ],
    [
      "takes a taken id for a refusal",
      "D-duplicate",
      { ...okx, profile: { ...profile, answers: { ...profile.answers, duplicateCode: "1", rejectionCodes: ["51*"] } } },
    ],
    [
      "drops a field of orders",
      "D-records",
      {
        ...okx,
        answer: (request, response) => {
          const read = answer(request, response);
          const { data, ...rest } = read.body as { data: readonly Readonly<Record<string, unknown>>[] };
          const cut = data.map((record) => {
            const { accFillSz: _, ...others } = record;
            return others;
          });
          return request.endpoint === "getOrder" ? { ...read, body: { ...rest, data: cut } } : read;
        },
      },
    ],
    [
      "sends sizes ten times as large",
      "2.2-echo",
      {
        ...okx,
        call: (request) => {
          const written = call(request);
          const { sz } = (written.body ?? {}) as { sz?: string };
          return sz === undefined ? written : { ...written, body: { ...(written.body as object), sz: `${sz}0` } };
        },
      },
    ],
    [
      "believes in layers that hold twice as much",
      "D-limits",
      {
        ...okx,
        layers: layers
          .filter(({ name }) => name === "positions")
          .map((layer) => ({ ...layer, capacity: 2 * layer.capacity })),
      },
    ],
  ];
  it.each(wrong)("finds a dialect that %s by %s", async (_, rule, dialect) => {
    const report = await run("okx", { dialect, only: [rule] }, rule === "D-limits" ? 3 : 10);
    expect(ofKind(report, "fail")).toEqual([rule]);
  });
});

describe("sluice check --dialect", () => {
  const command = async (argv: readonly string[]) => {
    const io = capturedIo({});
    const code = await main(["check", ...argv], io);
    return { code, out: io.outText, err: io.errText };
  };

  it("speaks as an exchange of the package, or as the default export of a file", async () => {
    const { url, keysFile } = await dialectService("okx", onTestFinished);
    const file = join(temporaryFolder("dialect"), "acme.mjs");
    writeFileSync(file, `export { acme as default } from "data:text/javascript,export const acme = { name: 'acme' }";`);
    const own = await command([url, "--dialect", "okx-demo", "--keys", keysFile, "--only", "4.5-listed", "9-prefix"]);
    expect([own.code, own.err]).toEqual([0, ""]);
    expect(own.out).toContain("does not apply to okx-v5: it has paths of its own");
    // The file's dialect changes nothing, so it is not understood here.
    const { err } = await command([url, "--dialect", file, "--keys", keysFile, "--only", "4.5-listed"]);
    expect(err).toContain("The service refuses the key key-1");
  });

  it.each([
    [
      "an exchange that there is not",
      ["--dialect", "okay"],
      '--dialect: "okay" is no exchange of the package. Did you mean "okx"?',
    ],
    ["a file that there is not", ["--dialect", "./nowhere.mjs"], "nowhere.mjs: no such file."],
    [
      "a file without a dialect",
      ["--dialect", "test/support/harness/nameless-dialect.mjs"],
      "has no name. Write export default { name:",
    ],
    ["--accept without a dialect", ["--accept"], "--accept tries a dialect. Name it:"],
  ])("refuses %s", async (_, argv, message) => {
    const { code, err } = await command(["http://127.0.0.1:1", ...argv]);
    expect(err).toContain(message);
    expect(code).toBe(2);
  });
});
