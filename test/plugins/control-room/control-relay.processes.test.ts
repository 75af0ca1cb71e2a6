/** Two engines in processes of their own in one page of a third: real programs, real ports, and one of them killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ControlDocument, type ControlUpdate } from "../../../plugins/control-room/index.ts";
import { chromiumPath } from "../../support/chromium.ts";
import { file, folder, root } from "../../support/harness/cli-process.ts";

/** Of this test alone: engines of other tests are not found. */
const home = join(folder, "tmp");
mkdirSync(home, { recursive: true });

const configOf = (instance: string): string =>
  file(
    `${instance}.ts`,
    `import { defineConfig } from "sluice";
import { paper } from "sluice/backtest";
import ladder from "sluice/strategies/ladder";
const resting = ladder({ instId: "BTC-USDT-SWAP", levels: 1, step: "0.3" });
export default defineConfig({ instance: ${JSON.stringify(instance)}, service: paper({ instruments: ["BTC-USDT-SWAP"], balances: { USDT: "10000" } }), strategies: [resting] });
`,
  );

interface Started {
  readonly child: ChildProcess;
  said: string;
}

const started: Started[] = [];
const start = (...argv: readonly string[]): Started => {
  const child = spawn(process.execPath, [join(root, "src/cli/sluice.mjs"), ...argv], {
    cwd: folder,
    env: { ...process.env, TMPDIR: home, NO_COLOR: "1" },
  });
  const one: Started = { child, said: "" };
  const hear = (chunk: Buffer): void => {
    one.said += chunk.toString();
  };
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  started.push(one);
  return one;
};
const linkOf = async (one: Started, pattern: RegExp): Promise<string> => {
  await vi.waitFor(() => expect(one.said).toMatch(pattern), { timeout: 60_000, interval: 100 });
  return pattern.exec(one.said)?.[1] ?? "";
};
const engineLink = (one: Started): Promise<string> => linkOf(one, /dashboard: (http\S+#token=\S+)/);
const pageLink = (one: Started): Promise<string> => linkOf(one, /"link":"([^"]+)"/);

const portAt = (link: string) => {
  const [address = "", token = ""] = link.split("/#token=");
  const ask = async (path: string, body?: object) => {
    const answer = await fetch(`${address}/api/v1/${path}`, {
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const documentOf = async (id: string): Promise<ControlDocument> => {
    const document = new ControlDocument(id);
    document.apply(JSON.parse((await ask(`sources/${encodeURIComponent(id)}`)).text) as ControlUpdate);
    return document;
  };
  return {
    token,
    ask,
    act: (id: string, action: object) => ask(`sources/${encodeURIComponent(id)}/actions`, action),
    documentOf,
    row: async (id: string) => (await documentOf(id)).row("engine", ""),
    ids: async () =>
      (JSON.parse((await ask("sources")).text) as { sources: { id: string; isGone: boolean }[] }).sources.map(
        ({ id }) => id,
      ),
  };
};

/** Beside it there may be caches of whatever runs. */
const ownFolderName = (): string => readdirSync(home).find((name) => name.startsWith("sluice-")) ?? "";

describe("Engines of several processes in one page", () => {
  let alpha: Started;
  let beta: Started;
  let links: readonly [string, string];
  let page: ReturnType<typeof portAt>;
  let link: string;
  let browser: Browser | undefined;

  beforeAll(async () => {
    alpha = start("run", configOf("alpha"), "--ui");
    beta = start("run", configOf("beta"), "--ui");
    links = [await engineLink(alpha), await engineLink(beta)];
    link = await pageLink(start("ui", ...links, "--json"));
    page = portAt(link);
    if (chromiumPath !== undefined)
      browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
    for (const { child } of started) child.kill("SIGKILL");
  });
  const restingAt = async (port: ReturnType<typeof portAt>, id: string): Promise<number> =>
    (await port.documentOf(id)).rows("orders").filter(({ isFinal }) => !isFinal).length;

  it("shows both as they are, under a token of its own, and keeps theirs to itself", async () => {
    expect([...(await page.ids())].sort()).toEqual(["alpha", "beta"]);
    for (const id of ["alpha", "beta"]) await expect.poll(() => restingAt(page, id)).toBe(2);
    expect(await page.row("alpha")).toMatchObject({ name: "alpha", state: "running", via: links[0].split("/#")[0] });
    const heard = (await Promise.all(["sources", "sources/alpha", "sources/beta"].map((path) => page.ask(path))))
      .map(({ text }) => text)
      .join("");
    for (const { token } of links.map(portAt)) {
      expect(token).not.toBe(page.token);
      expect(heard).not.toContain(token);
    }
    const [own] = (await page.documentOf("alpha")).rows("orders");
    expect((await page.ask(`sources/alpha/orders/${own?.clOrdId}`)).text).toContain('"sent"');
    // Found by other programs of this machine are the engines, and not what shows them.
    const files = readdirSync(join(home, ownFolderName())).filter((name) => name.startsWith("control-"));
    expect(files).toHaveLength(2);
  });

  it("asks the right engine, and says what that has answered", async () => {
    expect(await page.act("alpha", { type: "halt", reason: "relayed" })).toMatchObject({
      status: 200,
      text: expect.stringContaining("2 orders are gone"),
    });
    await expect.poll(async () => (await portAt(links[0]).row("alpha"))?.mode).toBe("halted");
    expect((await portAt(links[1]).row("beta"))?.mode).toBe("active");
    expect(await page.act("beta", { type: "halt", strategy: "lader" })).toMatchObject({
      status: 409,
      text: expect.stringContaining("Did you mean"),
    });
    expect(await page.act("alpha", { type: "resume" })).toMatchObject({ status: 200 });
    await expect.poll(() => restingAt(page, "alpha")).toBe(2);
  });

  it.skipIf(chromiumPath === undefined)("halts all of them by one question in the browser", async () => {
    const tab = await (browser as Browser).newPage();
    await tab.goto(link);
    await expect.poll(() => tab.locator(".card .chip.good").count()).toBe(2);
    await tab.click(".halt");
    expect(await tab.innerText("dialog h2")).toBe("Halt all 2 engines");
    await tab.click("dialog .danger");
    await expect.poll(async () => (await portAt(links[0]).row("alpha"))?.mode).toBe("halted");
    await expect.poll(async () => (await portAt(links[1]).row("beta"))?.mode).toBe("halted");
    for (const id of ["alpha", "beta"]) expect(await page.act(id, { type: "resume" })).toMatchObject({ status: 200 });
    await tab.close();
  });

  it("does not act for a token that reads, and shows what that may see", async () => {
    const folderOf = join(home, ownFolderName());
    const records = readdirSync(folderOf)
      .filter((name) => name.startsWith("control-"))
      .map(
        (name) =>
          JSON.parse(readFileSync(join(folderOf, name), "utf8")) as { url: string; read: string; engines: string[] },
      );
    const { url = "", read = "" } = records.find(({ engines }) => engines.includes("beta")) ?? {};
    writeFileSync(join(folder, "links"), `# beta, to be read\n${url}/#token=${read}\n`, { mode: 0o600 });
    const reading = start("ui", "--links", "links", "--json");
    const port = portAt(await pageLink(reading));
    await expect.poll(() => port.row("beta")).toMatchObject({ state: "running", access: "read" });
    expect(await port.act("beta", { type: "halt" })).toMatchObject({
      status: 409,
      text: expect.stringContaining("TOKEN_READS"),
    });
    expect((await portAt(links[1]).row("beta"))?.mode).toBe("active");
    reading.child.kill("SIGTERM");
  });

  it("says within two seconds that one is gone, and goes on with the other; the next run of it takes its place", async () => {
    const found = start("ui", "--json");
    const own = portAt(await pageLink(found));
    expect([...(await own.ids())].sort()).toEqual(["alpha", "beta"]);
    await expect.poll(async () => (await page.row("alpha"))?.state).toBe("running");
    const killedAt = performance.now();
    alpha.child.kill("SIGKILL");
    await vi.waitFor(async () => expect((await page.row("alpha"))?.state).toBe("gone"), {
      timeout: 5_000,
      interval: 50,
    });
    expect(performance.now() - killedAt).toBeLessThan(2_000);
    expect(await page.act("alpha", { type: "halt" })).toMatchObject({
      status: 409,
      text: expect.stringContaining("ENGINE_GONE"),
    });
    const { seq } = await page.documentOf("beta");
    await expect.poll(async () => (await page.documentOf("beta")).seq).toBeGreaterThan(seq);
    expect(await page.act("beta", { type: "halt" })).toMatchObject({ status: 200 });
    await engineLink(start("run", "alpha.ts", "--ui"));
    await expect.poll(async () => (await own.row("alpha"))?.state).toBe("running");
    expect([...(await own.ids())].sort()).toEqual(["alpha", "beta"]);
    // The page with links keeps to its links.
    expect((await page.row("alpha"))?.state).toBe("gone");
    found.child.kill("SIGTERM");
  });
});
