/** The page of a real engine, in a process of its own before a service over the loopback: halt, resume, and a killed engine. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { ServerKey } from "../../../plugins/venue-server/server/keyring.ts";
import { main } from "../../../src/cli/main.ts";
import { type CapturedIo, capturedIo } from "../../support/captured-io.ts";
import { chromiumPath } from "../../support/chromium.ts";
import { file, folder, root } from "../../support/harness/cli-process.ts";
import { signedHeaders } from "../venue-server/harness/server.ts";

if (chromiumPath === undefined)
  console.warn("SKIPPED: the page of a real engine is not tried in a browser, as no chromium is installed.");

interface Ready {
  readonly url: string;
  readonly keys: readonly [ServerKey, ServerKey, ServerKey];
}

describe.skipIf(chromiumPath === undefined)("The page of a real engine", () => {
  let browser: Browser;
  let venue: { readonly io: CapturedIo; readonly ended: Promise<number>; readonly ready: Ready };
  let engine: ChildProcess;
  let said = "";
  let link: string;
  const trouble: string[] = [];

  /** Ids of the orders that the service lists as open, asked for as any client would; each time costs the user weight. */
  const openAtVenue = async (): Promise<readonly string[]> => {
    const path = "/api/v1/trade/orders/pending";
    const [key] = venue.ready.keys;
    const answer = await fetch(venue.ready.url + path, {
      headers: signedHeaders(key, {}, Date.now(), "GET", path, "", ""),
    });
    const { data } = (await answer.json()) as { readonly data: readonly { readonly ordId: string }[] };
    return data.map(({ ordId }) => ordId);
  };
  const open = async (): Promise<Page> => {
    const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
    page.on("pageerror", (error) => trouble.push(error.message));
    await page.goto(link);
    await page.waitForSelector("html[data-ready]");
    return page;
  };

  beforeAll(async () => {
    const io = capturedIo();
    const ended = main(["venue", "--json", "--instruments", "BTC-USDT-SWAP", "--seed", "page"], io);
    await vi.waitFor(() => expect(io.outText).not.toBe(""), { timeout: 60_000 });
    const ready = JSON.parse(io.outText) as Ready;
    venue = { io, ended, ready };
    const { apiKey, secretKey, passphrase } = ready.keys[0];
    const config = file(
      "watched.ts",
      `import { defineConfig, fromEnv, live } from "sluice";
import dashboard from "sluice/plugins/dashboard";
import ladder from "sluice/strategies/ladder";
export default defineConfig({
  service: live({ environment: "testnet", baseUrl: ${JSON.stringify(ready.url)}, keys: [fromEnv("SLUICE")] }),
  strategies: [ladder({ instId: "BTC-USDT-SWAP", levels: 3, step: "0.02" })],
  plugins: [dashboard({})],
});
`,
    );
    const secrets = { SLUICE_API_KEY: apiKey, SLUICE_SECRET_KEY: secretKey, SLUICE_PASSPHRASE: passphrase };
    engine = spawn(process.execPath, [join(root, "src/cli/sluice.mjs"), "run", config], {
      cwd: folder,
      env: { ...process.env, ...secrets, NO_COLOR: "1" },
    });
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
    };
    engine.stdout?.on("data", hear);
    engine.stderr?.on("data", hear);
    await vi.waitFor(() => expect(said).toMatch(/dashboard: http\S+#token=\S+/), { timeout: 120_000, interval: 100 });
    link = /dashboard: (http\S+)/.exec(said)?.[1] ?? "";
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    engine?.kill("SIGKILL");
    venue?.io.stop();
    await venue?.ended;
  });

  it("halts so that no order is left at the service, says so, and resumes", async () => {
    const page = await open();
    await expect.poll(openAtVenue, { interval: 1_000 }).toHaveLength(6);
    await expect.poll(() => page.innerText(".tiles")).toMatch(/Open orders\s+6\s/);
    expect(await page.innerText(".chips")).toContain("testnet");
    await page.click(".halt");
    expect(await page.innerText("dialog")).toContain("Of 6 open orders all entries will be canceled");
    await page.fill("dialog input", "tried by a test");
    await page.click("dialog .danger");
    await expect.poll(openAtVenue, { interval: 1_000 }).toHaveLength(0);
    await expect.poll(() => page.innerText(".banner")).toContain("halted: tried by a test");
    await expect.poll(() => page.innerText(".tiles")).toMatch(/Open orders\s+0\s/);
    await page.click(".views button:text-is('Events')");
    await expect.poll(() => page.innerText("main")).toContain("tried by a test");
    await page.click(".halt");
    await page.click("dialog .primary");
    await expect.poll(openAtVenue, { interval: 1_000 }).toHaveLength(6);
    await expect.poll(() => page.isVisible(".banner")).toBe(false);
    expect(trouble).toEqual([]);
    await page.close();
  });

  it("tells an order's story as the engine lived it", async () => {
    const page = await open();
    await page.click(".views button:text-is('Orders')");
    await page.locator("[aria-label^='Orders'] tbody tr[data-index]").first().click();
    await expect.poll(() => page.innerText(".story .steps")).toMatch(/sent[\s\S]*live/);
    await page.close();
  });

  it("says within two seconds that the engine is gone when its process is killed", async () => {
    const page = await open();
    await page.waitForSelector("main.room:not(.old)");
    const killedAt = performance.now();
    engine.kill("SIGKILL");
    await page.waitForSelector("main.old", { timeout: 5_000 });
    expect(performance.now() - killedAt).toBeLessThan(2_000);
    expect(await page.innerText(".banner")).toMatch(/engine's process/);
    expect(await page.isDisabled(".halt")).toBe(true);
  });
});
