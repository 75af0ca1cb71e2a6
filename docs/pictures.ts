/**
 * Takes the pictures of report and dashboard that the README and the home page show: `npx tsx docs/pictures.ts`.
 *
 * The report is that of the demo backtest, the dashboard that of the paper config after two minutes. Needs Chromium. Look at
 * both before they are committed.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { chromiumPath } from "../test/support/chromium.ts";

const tradedMs = 120_000;
const root = fileURLToPath(new URL("..", import.meta.url));
const cli = join(root, "src/cli/sluice.mjs");
const folder = mkdtempSync(join(tmpdir(), "sluice-pictures-"));
const report = join(folder, "run.html");

/** Link to the dashboard of a paper run that has just started. */
const paper = spawn(process.execPath, [cli, "run", "config/paper.ts", "--ui"], { cwd: root });
const link = new Promise<string>((done) => {
  let text = "";
  const take = (chunk: Buffer): void => {
    text += chunk;
    const found = /http:\/\/127\.0\.0\.1:\S+#token=\S+/.exec(text)?.[0];
    if (found !== undefined) done(found);
  };
  paper.stdout.on("data", take);
  paper.stderr.on("data", take);
});
execFileSync(process.execPath, [cli, "backtest", "config/backtest.ts", "--html", report], {
  cwd: root,
  stdio: "ignore",
});

const browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
const page = await browser.newPage({ viewport: { width: 1_440, height: 900 }, colorScheme: "light" });
for (const [name, url, waitMs] of [
  ["report", pathToFileURL(report).href, 1_000],
  ["dashboard", await link, tradedMs],
] as const) {
  await page.goto(url);
  await page.waitForSelector("html[data-ready] canvas");
  await page.waitForTimeout(waitMs);
  await page.screenshot({ path: join(root, `docs/public/${name}.png`), animations: "disabled" });
}
await browser.close();
paper.kill("SIGTERM");
rmSync(folder, { recursive: true });
