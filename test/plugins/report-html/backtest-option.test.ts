/** The option `--html` of `sluice backtest`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { sampleReport } from "../../support/harness/sample-report.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("backtest-html");
const config = join(folder, "config.mjs");
writeFileSync(config, "export default { service: { kind: 'backtest' } };");

const backtest = async (runBacktest: () => Promise<ReturnType<typeof sampleReport>>, ...argv: readonly string[]) => {
  const io = capturedIo();
  const code = await main(["backtest", ...argv], io, { runBacktest });
  return { code, err: io.errText };
};

describe("--html", () => {
  it("writes the report as a page, with the folders above it, and names it", async () => {
    const page = join(folder, "deep/er/sheet.html");
    const run = await backtest(() => Promise.resolve(sampleReport()), config, "--json", "--html", page);
    expect(run).toEqual({ code: 0, err: `Wrote ${page}.\n` });
    expect(readFileSync(page, "utf8")).toMatch(/^<!doctype html>/);
  });

  it("shows what a real run did", async () => {
    const page = join(folder, "demo.html");
    const io = capturedIo();
    expect(await main(["backtest", "config/backtest.ts", "--json", "--html", page], io)).toBe(0);
    expect(readFileSync(page, "utf8")).toContain((JSON.parse(io.outText) as { resultHash: string }).resultHash);
  });

  it.each([
    ["a folder", () => folder],
    ["a place below a file", () => join(config, "sheet.html")],
  ])("refuses a place that cannot be written before the run: %s", async (_, place) => {
    let runs = 0;
    const counted = (): Promise<ReturnType<typeof sampleReport>> => {
      runs += 1;
      return Promise.resolve(sampleReport());
    };
    const { code, err } = await backtest(counted, config, "--html", place());
    expect([code, runs]).toEqual([2, 0]);
    expect(err).toMatch(/^error: .* cannot be written: .*\. Name a file in a folder of yours\.\n$/);
  });

  it("writes nothing when the run fails", async () => {
    const page = join(folder, "never.html");
    const { code } = await backtest(() => Promise.reject(new Error("no")), config, "--html", page);
    expect([code, existsSync(page)]).toEqual([1, false]);
  });
});
