/**
 * What the README shows must work as shown.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { runBacktest } from "../../src/backtest/runner.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const place = join(root, "out", "readme-test");

/** The code block that begins with `// <name>`. */
const block = (name: string): string => {
  const match = new RegExp(`\`\`\`ts\\n// ${name.replaceAll(".", "\\.")}\\n([\\s\\S]*?)\`\`\``).exec(readme);
  expect(match, `README shows ${name}`).not.toBeNull();
  return (match as RegExpExecArray)[1] as string;
};

afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

describe("The README", () => {
  it("shows a strategy of at most fifteen lines after its imports, and it trades", async () => {
    const strategy = block("strategies/fade.ts");
    expect(strategy.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("import")).length).toBeLessThanOrEqual(15);
    for (const folder of ["strategies", "config"]) mkdirSync(join(place, folder), { recursive: true });
    writeFileSync(join(place, "strategies/fade.ts"), strategy);
    writeFileSync(join(place, "config/fade.ts"), block("config/fade.ts"));
    const { default: config } = (await import(/* @vite-ignore */ join(place, "config/fade.ts"))) as { default: unknown };
    const report = await runBacktest(config);
    expect(report.perStrategy["fade"]?.state).toBe("running");
    expect(report.orders.filled).toBeGreaterThan(0);
    expect(report.quota.rejected429).toBe(0);
  });

  it("shows a test of a strategy of at most twenty lines, and it passes", async () => {
    const source = block("test/ladder.test.ts");
    expect(source.trim().split("\n").length).toBeLessThanOrEqual(20);
    mkdirSync(join(place, "test"), { recursive: true });
    // Run here rather than by another runner: what it hands to `it` is called below.
    const file = join(place, "test/ladder.ts");
    writeFileSync(
      file,
      source.replace(
        "import { expect, it } from",
        "export const tests: (() => Promise<void>)[] = [];\nconst it = (_: string, run: () => Promise<void>) => tests.push(run);\nimport { expect } from",
      ),
    );
    const { tests } = (await import(/* @vite-ignore */ file)) as { tests: (() => Promise<void>)[] };
    expect(tests).toHaveLength(1);
    for (const run of tests) await run();
  });

  it("names the two commands that do all the set-up", () => {
    expect(readme).toContain("npm ci && npm start");
    expect(readme).toContain("npm ci && npm test");
  });
});
