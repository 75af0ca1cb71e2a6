/**
 * What the README shows must work as shown.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it, vi } from "vitest";
import { runBacktest } from "../../src/backtest/runner.ts";
import type { Plugin } from "../../src/index.ts";
import { testPlugin } from "../../src/testing.ts";

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

  it("shows a plugin that posts every fill, and says what was not taken", async () => {
    const taken: unknown[] = [];
    let status = 200;
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        taken.push(JSON.parse(text));
        response.writeHead(status).end();
      });
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    mkdirSync(join(place, "plugins"), { recursive: true });
    writeFileSync(join(place, "plugins/post-fills.ts"), block("plugins/post-fills.ts"));
    const { default: postFills } = (await import(/* @vite-ignore */ join(place, "plugins/post-fills.ts"))) as {
      default: (options: { readonly url: string }) => Plugin;
    };
    const t = await testPlugin(postFills({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }));
    const order = { slot: "bid", instId: "BTC-USDT-SWAP", side: "buy" as const, px: "60000", qty: "0.03" };
    t.quote(order.instId, { bidPx: "60000", askPx: "60000.1" });
    t.want([order]);
    await t.advance();
    t.fill("bid", { qty: "0.01" });
    await t.advance();
    await vi.waitFor(() => expect(taken).toHaveLength(1), { timeout: 10_000 });
    status = 503;
    t.fill("bid");
    await t.advance();
    await vi.waitFor(() => expect(t.printed).toHaveLength(1), { timeout: 10_000 });
    // A maker pays 2 of 10,000: of 600 and of 1,200.
    const fill = { type: "fill", instId: "BTC-USDT-SWAP", side: "buy", px: "60000" };
    expect(taken).toEqual([
      expect.objectContaining({ ...fill, qty: "0.01", position: "0.01", cost: "0.12" }),
      expect.objectContaining({ ...fill, qty: "0.02", position: "0.03", cost: "0.24" }),
    ]);
    expect(t.printed).toEqual([expect.stringMatching(/^fill \d+ of by hand was not taken: status 503$/)]);
    await t.stop();
    await new Promise((resolve) => server.close(resolve));
  });

  it("names the two commands that do all the set-up", () => {
    expect(readme).toContain("npm ci && npm start");
    expect(readme).toContain("npm ci && npm test");
  });
});
