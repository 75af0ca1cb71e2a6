/** Health: the sign of life of an engine in a file, and what `sluice health` tells of it. */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import health from "../../../plugins/health/index.ts";
import { main } from "../../../src/cli/main.ts";
import { testPlugin } from "../../../src/testing.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("health");

describe("The health plugin", () => {
  const ask = async (...argv: readonly string[]) => {
    const io = capturedIo();
    return { code: await main(["health", ...argv], io, {}), text: io.outText + io.errText };
  };
  const path = join(folder, "signs/health.json");

  /** Its answer some time later: a write takes the machine's time, the next one the engine's. */
  const later = async (t: { advance(ms: number): Promise<void> }) => {
    await t.advance(5_000);
    return ask(path);
  };

  it("says that the engine does well, and nothing after an orderly stop", async () => {
    const t = await testPlugin(health({ path }));
    await expect.poll(() => existsSync(path)).toBe(true);
    expect(await ask(path)).toEqual({ code: 0, text: "The engine does well.\n" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    t.engine.halt("enough").subscribe();
    await t.advance(5_000);
    await expect
      .poll(() => later(t).then(({ text }) => text))
      .toBe("strategy by hand is halted: enough\nThe engine does well.\n");
    await t.stop();
    expect(readdirSync(join(folder, "signs"))).toEqual([]);
    expect((await ask(path)).text).toContain("is not there: no engine runs");
  });

  it("leaves no file behind when it stops during a write", async () => {
    for (let round = 0; round < 10; round += 1) {
      const t = await testPlugin(health({ path }));
      await t.advance(5_000);
      await t.stop();
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(readdirSync(join(folder, "signs"))).toEqual([]);
    }
  });

  it("names a strategy that failed", async () => {
    const t = await testPlugin(health({ path }));
    t.failStrategy("no luck");
    await t.advance(5_000);
    await expect
      .poll(() => later(t).then(({ text }) => text))
      .toMatch(/The engine does not do well:\n.*strategy by hand failed: .*no luck/);
    expect((await ask(path)).code).toBe(1);
    await t.stop();
  });

  it("names state that has been stale for long", async () => {
    const t = await testPlugin(health({ path, staleMs: 5_000 }));
    t.engine.account.pending$.subscribe();
    await t.advance(1_000);
    t.loseRequests(100, "pendingOrders");
    await t.advance(300_000);
    await expect.poll(() => later(t).then(({ text }) => text)).toMatch(/pending of \S+ are \d+ s old/);
    await t.stop();
  });

  it("that cannot write says so once", async () => {
    const t = await testPlugin(health({ path: join(folder, "as-folder") }));
    mkdirSync(join(folder, "as-folder/x"), { recursive: true });
    await expect.poll(async () => t.advance(5_000).then(() => t.printed.length)).toBeGreaterThan(0);
    await t.advance(20_000);
    expect(t.printed).toEqual([expect.stringMatching(/^health: .* cannot be written \(E\w+\)$/)]);
    rmSync(join(folder, "as-folder"), { recursive: true });
    await t.stop();
  });

  it("is not believed when its file is old, or none of its own", async () => {
    const other = join(folder, "other.json");
    writeFileSync(other, JSON.stringify({ ok: true, problems: [], notes: [] }));
    expect((await ask(other)).code).toBe(0);
    const old = statSync(other).mtimeMs / 1_000 - 30;
    utimesSync(other, old, old);
    expect(await ask(other)).toMatchObject({
      code: 1,
      text: expect.stringMatching(/has not reported for 3\d s/) as string,
    });
    expect((await ask(other, "--max-age-ms", "60000")).code).toBe(0);
    writeFileSync(other, "x");
    expect(await ask(other)).toMatchObject({ code: 1, text: expect.stringContaining("cannot be read") as string });
  });
});
