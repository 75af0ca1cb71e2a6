/** Which files a queue can make a worker import: configs of its folder, and none that it did not expect. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { configOf } from "../../../plugins/sweep/workers/sheet-config.ts";
import type { WorkSheet } from "../../../plugins/sweep/workers/work-sheet.ts";
import { packageVersion } from "../../../src/host/plugin-requirements.ts";
import { hashOfSources } from "../../../src/host/source-hash.ts";

// The worker's folder is the one it was started in.
const folder = join("out", `sheet-config-${process.pid}`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const marks = globalThis as { imported?: string[] };
afterEach(() => {
  delete marks.imported;
});

const file = (path: string, text = ""): string => {
  const whole = join(folder, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, `(globalThis.imported ??= []).push(${JSON.stringify(path)});\n${text}\nexport default {};\n`);
  return whole;
};
const sheetOf = (path: string): WorkSheet => ({
  kind: "sweep",
  version: packageVersion(),
  config: { path, sources: hashOfSources(path), hash: "0".repeat(64) },
  settings: {},
});
const refusal = (path: string, accepted?: readonly string[]): Promise<unknown> =>
  configOf(sheetOf(path), "backtest", accepted).then(
    () => "imported",
    (error: unknown) => (error as Error).message,
  );

describe("A worker's config", () => {
  it.each<[string, string, string]>([
    ["a file of a package", "node_modules/victim/cleanup.mjs", "is in an installed package or a hidden folder"],
    ["a file of a nested package", "tools/node_modules/victim/cleanup.mjs", "is in an installed package"],
    ["a file of a hidden folder", ".git/hooks/run.mjs", "is in an installed package or a hidden folder"],
    ["a script of the project", "scripts/cleanup.mjs", "does not call defineConfig"],
  ])("is never %s, though its bytes are those of the sheet", async (_, path, message) => {
    expect(await refusal(file(path))).toContain(message);
    expect(marks.imported).toBeUndefined();
  });

  it("is any file that calls defineConfig, or only what the worker was started with", async () => {
    const [first, other] = ["first.mjs", "other.mjs"].map((name) => file(name, "const defineConfig = (x) => x;")) as [
      string,
      string,
    ];
    expect(await refusal(other, [first])).toContain("is not one of the configs that this worker was started with");
    expect(marks.imported).toBeUndefined();
    await refusal(other, [first, other]);
    expect(marks.imported).toEqual(["other.mjs"]);
    await refusal(first);
    expect(marks.imported).toEqual(["other.mjs", "first.mjs"]);
  });
});
