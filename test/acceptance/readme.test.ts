/**
 * What the README shows must work as shown.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
    expect(
      strategy.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("import")).length,
    ).toBeLessThanOrEqual(15);
    for (const folder of ["strategies", "config"]) mkdirSync(join(place, folder), { recursive: true });
    writeFileSync(join(place, "strategies/fade.ts"), strategy);
    writeFileSync(join(place, "config/fade.ts"), block("config/fade.ts"));
    const { default: config } = (await import(/* @vite-ignore */ join(place, "config/fade.ts"))) as {
      default: unknown;
    };
    const report = await runBacktest(config);
    expect(report.perStrategy["fade"]?.state).toBe("running");
    expect(report.orders.filled).toBeGreaterThan(0);
    expect(report.quota.rejected429).toBe(0);
  });

  it("is short: what is longer stands in the documentation, which it links", () => {
    expect(readme.split("\n").length).toBeLessThan(120);
    const links = [...readme.matchAll(/\]\(([^)#]+)/g)].map(([, path]) => path as string);
    expect(links.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    expect(links.length).toBeGreaterThan(20);
  });

  it("names the two commands that do all the set-up", () => {
    expect(readme).toContain("npm ci && npm start");
    expect(readme).toContain("npm ci && npm test");
  });
});
