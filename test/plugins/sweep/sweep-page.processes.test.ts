/** The page of a sweep in a browser. Needs Debian's chromium, or another; without one it is skipped. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sweepPage } from "../../../plugins/sweep/html-page.ts";
import type { Figures } from "../../../plugins/sweep/scores.ts";
import { type Result, reportOf } from "../../../plugins/sweep/sweep-report.ts";
import { chromiumPath } from "../../support/chromium.ts";
import { faultsOf } from "../../support/page-faults.ts";
import { differenceFrom, differenceMax } from "../../support/page-pictures.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { marketOf, planOf } from "./harness/sweep.ts";

if (chromiumPath === undefined)
  console.warn("SKIPPED: the page of a sweep is not tried in a browser, as no chromium is installed.");

const figuresOf = (pnl: string): Figures => ({
  ...{ pnl, sharpe: "0.5", sharpePer: "run", drawdown: "1.5", drawdownPercent: "0.5", fees: "3", volume: "10000" },
  ...{ trades: 7, winPercent: "42.85", fills: 12, placed: 20, canceled: 3, rejected: 0, refused: 0, requests: 40 },
  ...{ weight: 1_800, rejected429: 0, blockedMinutes: 0, heldMs: 5, currency: "USDT" },
});

const picture = (name: string): URL => new URL(`pictures/${name}.png`, import.meta.url);

/** Three options in 24 runs; the result rises with the first and falls with the second. */
const pageOf = async (): Promise<string> => {
  const plan = await planOf(["ladder.levels=1..4", "ladder.step=0.1,0.2", "ladder.notional=100,200,300"], {
    fixture: marketOf(1),
  });
  const results = plan.points.map((point, index): Result => {
    const options = Object.fromEntries(plan.space.map(({ name, values }, at) => [name, values[point[at] ?? 0]]));
    const pnl = String(10 * Number(options["ladder.levels"]) - 50 * Number(options["ladder.step"]) - (index % 3));
    return { index, part: "whole", point: index, options, status: "done", resultHash: "h", figures: figuresOf(pnl) };
  });
  const report = reportOf(
    { ...plan, fixture: "three options", configPath: "config.ts" },
    new Map(results.map((one) => [one.index, one])),
  );
  return sweepPage(report);
};

describe.skipIf(chromiumPath === undefined)("The page of a sweep in a browser", () => {
  let browser: Browser;
  let file: string;
  const trouble: string[] = [];

  const open = async (width: number, colorScheme: "light" | "dark" = "light"): Promise<Page> => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    page.on("console", (message) => trouble.push(message.text()));
    page.on("pageerror", (error) => trouble.push(error.message));
    page.on("request", (request) => {
      if (request.url() !== `file://${file}`) trouble.push(request.url());
    });
    await page.goto(`file://${file}`);
    return page;
  };

  beforeAll(async () => {
    file = join(temporaryFolder("sweep-page"), "sweep.html");
    writeFileSync(file, await pageOf());
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
  });

  it.each([
    [1_440, "light"],
    [1_440, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)(
    "looks at %i pixels in %s as it did, without a sideways scroll or a broken rule of accessibility",
    async (width, scheme) => {
      const page = await open(width, scheme);
      const sizes = (await page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
      )) as number[];
      expect(sizes[0]).toBeLessThanOrEqual(sizes[1] ?? 0);
      expect(await faultsOf(page)).toEqual([]);
      expect(await differenceFrom(page, picture(`sweep-${width}-${scheme}`))).toBeLessThan(differenceMax);
      expect(trouble).toEqual([]);
    },
  );

  it("fills a wide window with its pictures", async () => {
    const page = await open(1_440);
    const main = await page.locator("main").boundingBox();
    expect(main?.width).toBeGreaterThan(1_400);
    for (const row of [".parallel", ".plots"]) {
      const rights = (await page
        .locator(row === ".plots" ? ".plots > *" : row)
        .evaluateAll((boxes) => boxes.map((box) => box.getBoundingClientRect().right))) as number[];
      expect(Math.max(...rights), row).toBeGreaterThan(1_380);
    }
  });

  it("draws a line for each run through its options, leads from it to its row, and marks the best on each axis", async () => {
    const page = await open(1_440);
    expect(await page.locator(".parallel .run").count()).toBe(24);
    expect(await page.locator(".parallel .name").allTextContents()).toEqual([
      "ladder.levels",
      "ladder.step",
      "ladder.notional",
      "pnl",
    ]);
    expect(await page.locator(".parallel .top").count()).toBe(4);
    const best = page.locator(".parallel a").last();
    expect(await best.locator("title").textContent()).toMatch(/ladder\.levels=4, ladder\.step=0\.1/);
    const row = await best.getAttribute("href");
    expect(await page.locator(`${row} td`).allTextContents()).toEqual(expect.arrayContaining(["4", "0.1"]));
  });

  it("sorts its runs by a column, and in reverse at the next click", async () => {
    const page = await open(1_440);
    const pnls = (): Promise<string[]> => page.locator(".sortable tbody td:nth-child(2)").allTextContents();
    const heading = page.locator(".sortable button:text-is('pnl')");
    await heading.click();
    const down = await pnls();
    await heading.click();
    expect(await pnls()).toEqual([...down].reverse());
  });
});
