/** The page of a backtest in a browser, as one explores it. Needs Debian's chromium, or another; without one it is skipped. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { map, tap, timer } from "rxjs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tearsheet } from "../../../plugins/report-html/tearsheet.ts";
import { withDetails } from "../../../src/backtest/with-details.ts";
import { runBacktest } from "../../../src/backtest.ts";
import type { RunDetails } from "../../../src/report/details.ts";
import type { RunReport } from "../../../src/report/report.ts";
import { chromiumPath } from "../../support/chromium.ts";
import { configOf, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { generateTapeFor } from "../../support/harness/generated-market.ts";
import { faultsOf } from "../../support/page-faults.ts";
import { differenceFrom, differenceMax } from "../../support/page-pictures.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

if (chromiumPath === undefined)
  console.warn("SKIPPED: the page of a backtest is not tried in a browser, as no chromium is installed.");

const picture = (name: string): URL => new URL(`pictures/${name}.png`, import.meta.url);

const swinger = strategy("swinger", {
  wanted: ({ plot }) =>
    timer(1_000, 15_000).pipe(
      tap((round) => plot("round", round)),
      map((round) => [
        {
          slot: "swing",
          instId: swap,
          side: round % 2 === 0 ? ("buy" as const) : ("sell" as const),
          ordType: "market" as const,
          qty: "0.05",
          round,
        },
      ]),
    ),
});
const maker = strategy("maker", {
  wanted: ({ market, plot }) =>
    market.quotes(swap).pipe(
      tap(({ bidPx }) => plot("best bid", bidPx, { pane: "price", instId: swap })),
      map(({ bidPx }) => [
        { slot: "bid", instId: swap, side: "buy" as const, px: bidPx, qty: "0.001", keepWithin: "3" },
      ]),
    ),
});

describe.skipIf(chromiumPath === undefined)("The page of a backtest in a browser", () => {
  let browser: Browser;
  let file: string;
  let details: RunDetails;
  let report: RunReport;
  /** Whatever went wrong on any page, and what any asked for besides itself. */
  const trouble: string[] = [];

  const open = async (
    given: { width?: number; height?: number; colorScheme?: "light" | "dark" } = {},
  ): Promise<Page> => {
    const { width = 1_440, height = 1_200, colorScheme = "light" } = given;
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    page.on("console", (message) => trouble.push(message.text()));
    page.on("pageerror", (error) => trouble.push(error.message));
    page.on("request", (request) => {
      if (request.url() !== `file://${file}`) trouble.push(request.url());
    });
    await page.goto(`file://${file}`);
    await page.waitForSelector("html[data-ready]");
    return page;
  };
  /** The span that the clock above the charts tells; stands still when the frame was drawn. */
  const spanOf = async (page: Page): Promise<string> => {
    await page.mouse.move(2, 2);
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    return (await page.textContent(".clock")) ?? "";
  };
  const middleOf = async (page: Page, selector: string): Promise<{ x: number; y: number }> => {
    const { x = 0, y = 0, width = 0, height = 0 } = (await page.locator(selector).first().boundingBox()) ?? {};
    return { x: x + width / 2, y: y + height / 2 };
  };

  beforeAll(async () => {
    const dir = stored(generateTapeFor([swap], 20), "page");
    report = await runBacktest(
      withDetails(configOf(dir, [swinger, maker]), (told) => {
        details = told;
      }),
    );
    file = join(temporaryFolder("page"), "run.html");
    // The page states the recording's name, here a path, whose length would change where lines break.
    const named = { ...report, fixture: { ...report.fixture, name: "recordings/generated/page" } };
    writeFileSync(file, tearsheet(named, details));
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
  });

  it("shows prices, position, plots, equity, drawdown and quota over one time, with all fills counted", async () => {
    const page = await open();
    const titles = await page.locator(".pane strong").allTextContents();
    for (const title of [
      swap,
      "Position in BTC",
      "round",
      "Equity in USDT",
      "Profit by strategy in USDT",
      "Drawdown",
      "Quota used",
    ]) {
      expect(titles).toContain(title);
    }
    expect(await page.textContent(".pane.price .head")).toContain(`${details.fills.length} fills in `);
    const edges = await page
      .locator(".u-over")
      .evaluateAll((areas) => areas.map((area) => area.getBoundingClientRect().toJSON()));
    expect(new Set(edges.map(({ left, right }) => `${left} ${right}`)).size).toBe(1);
  });

  it("zooms by wheel, keys and buttons, pans by drag and keys, and shows all again", async () => {
    const page = await open();
    const whole = await spanOf(page);
    const seen = [whole];
    const changes = async (act: () => Promise<unknown>): Promise<void> => {
      await act();
      const now = await spanOf(page);
      expect(now).not.toBe(seen.at(-1));
      seen.push(now);
    };
    const { x, y } = await middleOf(page, ".pane.price .u-over");
    await page.mouse.move(x, y);
    await changes(() => page.mouse.wheel(0, -400));
    await page.focus("#charts");
    await changes(() => page.keyboard.press("+"));
    await changes(() => page.keyboard.press("ArrowLeft"));
    await changes(() => page.keyboard.press("Shift+ArrowRight"));
    await changes(() => page.click("text=+"));
    await changes(async () => {
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x - 200, y, { steps: 4 });
      await page.mouse.up();
    });
    await changes(() => page.keyboard.press("-"));
    await page.keyboard.press("0");
    expect(await spanOf(page)).toBe(whole);
    // Nothing is left to zoom out: the wheel scrolls the page.
    await page.mouse.move(x, y);
    await page.mouse.wheel(0, 300);
    await expect.poll(() => page.evaluate("scrollY")).toBeGreaterThan(0);
    expect(await spanOf(page)).toBe(whole);
  });

  it("tells the story of a fill under the pointer and by keys, and lets go with Escape", async () => {
    const page = await open();
    await page.focus("#charts");
    await page.keyboard.press("n");
    await page.waitForSelector(".tip:visible");
    const [first] = details.fills;
    const story = (await page.textContent(".tip")) ?? "";
    for (const word of [
      "bought 0.05 BTC",
      "taker",
      "swinger, slot swing: market",
      "wanted",
      "sent",
      "filled",
      first?.clOrdId ?? "",
    ]) {
      expect(story).toContain(word);
    }
    expect(await page.textContent("[aria-live]")).toContain("Fill 1 of");
    await page.keyboard.press("Escape");
    expect(await page.isVisible(".tip")).toBe(false);
    // Close enough that each stands alone; then the mark that the keys found is found by the pointer, too.
    await page.keyboard.press("n");
    for (let count = 0; count < 3; count++) await page.keyboard.press("Enter");
    await spanOf(page);
    await page.keyboard.press("n");
    await page.waitForSelector(".tip:visible");
    const told = await page.textContent(".tip");
    const { x = 0, width = 0 } = (await page.locator(".tip").boundingBox()) ?? {};
    const area = (await page.locator(".pane.price .u-over").boundingBox()) ?? { y: 0, height: 0 };
    await page.keyboard.press("Escape");
    const isTold = async (): Promise<boolean> =>
      (await page.isVisible(".tip")) && (await page.textContent(".tip")) === told;
    // The mark is on one side of the tip; how high, is looked for.
    const mark = { x: 0, y: 0 };
    for (const side of [x - 16, x + width + 16]) {
      for (let y = area.y; y < area.y + area.height && !(await isTold()); y += 8) {
        Object.assign(mark, { x: side, y });
        await page.mouse.move(side, y);
      }
    }
    expect(await isTold()).toBe(true);
    // A press that moves the charts and comes back to the mark is no click on it.
    const isPinned = async (): Promise<boolean> => {
      await spanOf(page);
      return page.isVisible(".tip");
    };
    await page.mouse.down();
    await page.mouse.move(mark.x + 40, mark.y, { steps: 4 });
    await page.mouse.move(mark.x, mark.y, { steps: 4 });
    await page.mouse.up();
    expect(await isPinned()).toBe(false);
    await page.mouse.click(mark.x, mark.y);
    expect(await isPinned()).toBe(true);
  });

  it("draws each chart with its data once at the start", async () => {
    const page = await browser.newPage();
    await page.addInitScript(`{
      const { prototype } = CanvasRenderingContext2D;
      const { clearRect } = prototype;
      window.drawn = new Map();
      prototype.clearRect = function (...area) {
        window.drawn.set(this, (window.drawn.get(this) ?? 0) + 1);
        return clearRect.apply(this, area);
      };
    }`);
    await page.goto(`file://${file}`);
    await page.waitForSelector("html[data-ready]");
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    await page.waitForTimeout(500);
    // Empty when it is made, then with its data.
    expect(await page.evaluate("Math.max(...window.drawn.values())")).toBe(2);
    await page.close();
  });

  it("sorts and filters the trades, and jumps to the one that is chosen", async () => {
    const page = await open();
    const cells = async (column: number): Promise<string[]> =>
      page.locator(`.rows tbody td:nth-child(${column})`).allTextContents();
    const whole = await spanOf(page);
    const nets = details.trades.position.map(({ net }) => Number(net));
    const lost = details.trades.position.filter(
      ({ net, closedAt }) => closedAt !== undefined && net.startsWith("-"),
    ).length;
    await page.click(".rows thead button:text-is('net')");
    expect(await page.getAttribute(".rows th[aria-sort=descending]", "scope")).toBe("col");
    const figures = async (): Promise<number[]> =>
      (await cells(10)).map((text) => Number(text.replace("−", "-").replaceAll(",", "")));
    await expect.poll(async () => (await figures())[0]).toBeCloseTo(Math.max(...nets), 1);
    const shown = await figures();
    expect(shown).toEqual([...shown].sort((a, b) => b - a));
    await page.selectOption("select[aria-label='result of trades']", "lost");
    await expect.poll(() => page.textContent("#trades [role=status]")).toContain(`${lost} trade`);
    await page.focus(".rows");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => spanOf(page)).not.toBe(whole);
    await expect.poll(() => page.textContent("[aria-live]")).toContain("Trade of swinger from 2024-01-01");
    await expect.poll(() => page.locator(".rows [aria-selected=true]").count()).toBe(1);
    await page.fill("input[type=search]", "no such word");
    expect(await page.textContent("#trades .empty")).toBe("No trade matches the filters.");
  });

  describe("with 50,000 trades", () => {
    const count = 50_000;
    let many: string;
    const openMany = async (width: number): Promise<Page> => {
      const page = await browser.newPage({ viewport: { width, height: 900 } });
      page.on("pageerror", (error) => trouble.push(error.message));
      await page.goto(`file://${many}`);
      await page.waitForSelector(".rows tbody tr");
      await page.locator(".rows").scrollIntoViewIfNeeded();
      return page;
    };

    beforeAll(() => {
      const { position } = details.trades;
      const trades = Array.from({ length: count }, (_, index) => position[index % position.length] ?? position[0]);
      many = join(temporaryFolder("page-many"), "run.html");
      writeFileSync(
        many,
        tearsheet(report, { ...details, trades: { ...details.trades, position: trades as typeof position } }),
      );
    });

    it.each([1_440, 390])(
      "draws the visible rows at %i pixels, and tells a screen reader of all of them",
      async (width) => {
        const page = await openMany(width);
        const rows = page.locator(".rows tbody tr");
        const current = page.locator(".rows [aria-selected=true]");
        expect(await page.getAttribute(".rows", "aria-rowcount")).toBe(String(count + 1));
        await page.focus(".rows");
        for (const [key, rowIndex] of [
          ["End", count + 1],
          ["ArrowUp", count],
          ["Home", 2],
          ["ArrowDown", 3],
          ["PageDown", 22],
          ["PageUp", 3],
        ] as const) {
          await page.keyboard.press(key);
          await expect.poll(() => current.getAttribute("aria-rowindex"), { message: key }).toBe(String(rowIndex));
          const id = await current.getAttribute("id");
          await expect.poll(() => page.getAttribute(".rows", "aria-activedescendant")).toBe(id);
          const [box, head, row] = [".vscroll", ".rows thead", ".rows [aria-selected=true]"].map((part) =>
            page.locator(part).boundingBox(),
          );
          const [top, bottom] = [(await box)?.y ?? 0, ((await box)?.y ?? 0) + ((await box)?.height ?? 0)];
          expect((await head)?.y, "the heads stay in sight").toBeCloseTo(top + 1, 0);
          expect((await row)?.y).toBeGreaterThanOrEqual(top + 30);
          expect(((await row)?.y ?? 0) + 30).toBeLessThanOrEqual(bottom + 1);
          expect(await rows.count()).toBeLessThan(40);
        }
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
        expect(await faultsOf(page)).toEqual([]);
        await page.close();
      },
    );

    it("shows the rows where scrolling stops, and those of a new order from the start", async () => {
      const page = await openMany(1_440);
      await page.evaluate("document.querySelector('.vscroll').scrollTop = 600_000");
      const first = (): Promise<number> =>
        page.evaluate(`(() => {
          const top = document.querySelector(".vscroll").getBoundingClientRect().top + 31;
          const found = [...document.querySelectorAll(".rows tbody tr")].find((row) => row.getBoundingClientRect().bottom > top + 1);
          return Number(found?.ariaRowIndex);
        })()`) as Promise<number>;
      await expect.poll(first).toBe(20_002);
      await page.fill("#trades input[type=search]", "short");
      await expect.poll(first).toBeLessThan(count);
      expect(await page.textContent("#trades [role=status]")).toMatch(/^[\d,]+ trades of 50,000$/);
      await page.close();
    });

    it("prints the first thousand, and says so", async () => {
      const page = await openMany(1_440);
      await page.emulateMedia({ media: "print" });
      await expect.poll(() => page.locator(".rows tbody tr").count()).toBe(1_000);
      expect(await page.textContent(".vscroll")).toContain("The first 1,000 of 50,000 rows are printed.");
      const sizes =
        "(() => { const box = document.querySelector('.vscroll'); return [box.scrollHeight - box.clientHeight, box.clientHeight > 10_000]; })()";
      expect(await page.evaluate(sizes)).toEqual([0, true]);
      await page.emulateMedia({ media: "screen" });
      await expect.poll(() => page.locator(".rows tbody tr").count()).toBeLessThan(40);
      await page.close();
    });
  });

  it("follows the system's colours and the button's", async () => {
    const ground = (page: Page): Promise<string> =>
      page.evaluate("getComputedStyle(document.body).backgroundColor") as Promise<string>;
    const [light, dark] = [await open(), await open({ colorScheme: "dark" })];
    expect(await ground(light)).toBe("rgb(255, 255, 255)");
    const night = await ground(dark);
    expect(night).not.toBe(await ground(light));
    await light.click("#tools button");
    expect(await ground(light)).toBe(night);
    await dark.click("#tools button");
    expect(await ground(dark)).toBe("rgb(255, 255, 255)");
  });

  it.each([
    [1_440, "light"],
    [1_440, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)("looks at %i pixels in %s as it did, and breaks no rule of accessibility", async (width, colorScheme) => {
    const page = await open({ width, height: 900, colorScheme });
    expect(await faultsOf(page)).toEqual([]);
    expect(await differenceFrom(page, picture(`report-${width}-${colorScheme}`))).toBeLessThan(differenceMax);
  });

  it("fits a phone without scrolling sideways", async () => {
    const page = await open({ width: 390, height: 844 });
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  });

  it("is bright, without its controls and as wide as the paper when it is printed", async () => {
    const page = await open({ colorScheme: "dark" });
    await page.emulateMedia({ media: "print" });
    const width = async (): Promise<number> => (await page.locator(".canvas canvas").first().boundingBox())?.width ?? 0;
    await expect.poll(width).toBeLessThan(720);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
    expect(await page.isVisible(".bar")).toBe(false);
    await page.emulateMedia({ media: "screen" });
    await expect.poll(width).toBeGreaterThan(1_000);
    expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).not.toBe("rgb(255, 255, 255)");
  });

  it("has its figures and tables without a script", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`file://${file}`);
    expect(await page.textContent(".tiles")).toContain("Result in USDT");
    expect(await page.locator("table").count()).toBeGreaterThan(6);
    expect(await page.textContent("#explore")).toContain("need JavaScript");
    await context.close();
  });

  it("logs nothing and asks the network for nothing", () => {
    expect(trouble).toEqual([]);
  });
});
