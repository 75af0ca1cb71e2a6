/**
 * Bench of the first paint of both pages: time to the first contentful paint and to the drawn charts, and the size of
 * the scripts, of this checkout and of another one, in turn.
 * tsx test/bench/page/paint.ts [--before <folder of another checkout>] [--rounds 9]
 *
 * Invariants: both checkouts are measured in each round, so that load of the machine meets both; medians are compared;
 * the report of both is the same run.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { type Browser, chromium } from "playwright-core";
import { chromiumPath } from "../../support/chromium.ts";

const { values } = parseArgs({ options: { before: { type: "string" }, rounds: { type: "string", default: "9" } } });
const here = fileURLToPath(new URL("../../..", import.meta.url));
if (chromiumPath === undefined) {
  process.stderr.write("SKIPPED: no chromium is installed.\n");
  process.exit(0);
}

/** Milliseconds from the start of the navigation. */
interface Times {
  readonly paint: number;
  readonly ready: number;
}

const timesOf = async (browser: Browser, url: string): Promise<Times> => {
  const page = await browser.newPage({ viewport: { width: 1_440, height: 900 } });
  await page.goto(url);
  await page.waitForSelector("html[data-ready] canvas");
  const times = (await page.evaluate(`({
    paint: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
    ready: performance.now(),
  })`)) as Times;
  await page.close();
  return times;
};

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;

/** A checkout with its report of the demo run and the port of a made engine. */
const opened = async (folder: string, scratch: string, name: string) => {
  const report = join(scratch, `${name}.html`);
  const cli = join(folder, "src/cli/sluice.mjs");
  execFileSync(process.execPath, [cli, "backtest", "config/backtest.ts", "--html", report], {
    cwd: folder,
    stdio: "ignore",
  });
  const harness = pathToFileURL(join(folder, "test/plugins/control-room/harness/made-engine.ts")).href;
  const { madeEngine, madePort } = (await import(
    harness
  )) as typeof import("../../plugins/control-room/harness/made-engine.ts");
  const port = await madePort(new Map([["measured", madeEngine("measured")]]));
  const size = (plugin: string): number =>
    gzipSync(readFileSync(join(folder, `plugins/${plugin}/bundle/page.js`)), { level: 9 }).length;
  return { name, port, urls: { report: pathToFileURL(report).href, dashboard: port.url }, size };
};

const scratch = mkdtempSync(join(tmpdir(), "sluice-paint-"));
const folders = values.before === undefined ? [here] : [resolve(values.before), here];
const checkouts = [];
for (const [place, folder] of folders.entries())
  checkouts.push(await opened(folder, scratch, folders.length > 1 && place === 0 ? "before" : "now"));
const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
for (const page of ["report", "dashboard"] as const) {
  const taken = checkouts.map((): Times[] => []);
  for (let round = 0; round < Number(values.rounds); round++)
    for (const [place, { urls }] of checkouts.entries()) taken[place]?.push(await timesOf(browser, urls[page]));
  for (const [place, { name, size }] of checkouts.entries()) {
    const times = taken[place] ?? [];
    const kilobytes = size(page === "report" ? "report-html" : "control-room") / 1_000;
    process.stdout.write(
      `${page}, ${name}: first paint ${median(times.map(({ paint }) => paint)).toFixed(0)} ms, charts drawn ${median(times.map(({ ready }) => ready)).toFixed(0)} ms, script ${kilobytes.toFixed(1)} kB compressed\n`,
    );
  }
}
await browser.close();
for (const { port } of checkouts) await port.close();
rmSync(scratch, { recursive: true });
