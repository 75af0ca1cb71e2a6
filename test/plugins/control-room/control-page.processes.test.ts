/** The page of the control room in a browser, before a made engine. Needs Debian's chromium, or another; without one it is skipped. */
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { chromiumPath } from "../../support/chromium.ts";
import { faultsOf } from "../../support/page-faults.ts";
import { differenceFrom, differenceMax } from "../../support/page-pictures.ts";
import { type MadeEngine, type MadePort, madeEngine, madePort } from "./harness/made-engine.ts";

if (chromiumPath === undefined)
  console.warn("SKIPPED: the page of the control room is not tried in a browser, as no chromium is installed.");

const picture = (name: string): URL => new URL(`pictures/${name}.png`, import.meta.url);
const views = ["Overview", "Market", "Orders", "Quota", "Events", "Health"];

describe.skipIf(chromiumPath === undefined)("The page of the control room", () => {
  let browser: Browser;
  let port: MadePort;
  let engine: MadeEngine;
  let trouble: string[];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath as string, args: ["--no-sandbox"] });
  });
  afterAll(async () => {
    await browser?.close();
  });
  beforeEach(async () => {
    trouble = [];
    engine = madeEngine("maker");
    port = await madePort(new Map([["maker", engine]]));
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await port.close();
  });

  const open = async (
    given: { width?: number; height?: number; colorScheme?: "light" | "dark"; at?: MadePort } = {},
  ): Promise<Page> => {
    const { width = 1_440, height = 900, colorScheme = "light", at = port } = given;
    const page = await browser.newPage({ viewport: { width, height }, colorScheme });
    page.on("console", (message) => trouble.push(message.text()));
    page.on("pageerror", (error) => trouble.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith("http://127.0.0.1:")) trouble.push(request.url());
    });
    await page.goto(at.url);
    await page.waitForSelector("html[data-ready]");
    return page;
  };
  const show = (page: Page, view: string): Promise<void> => page.click(`.views button:text-is("${view}")`);
  const seen = (page: Page, selector: string): Promise<string> => page.locator(selector).first().innerText();

  it.each([
    [1_440, "light"],
    [1_440, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)(
    "reads at %i pixels in %s: every view without a word on the console, a request elsewhere, or a sideways scroll",
    async (width, colorScheme) => {
      const page = await open({ width, height: width === 390 ? 844 : 900, colorScheme });
      for (const view of views) {
        await show(page, view);
        await page.waitForTimeout(150);
        const sizes = (await page.evaluate(
          "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
        )) as number[];
        expect(sizes[0], view).toBeLessThanOrEqual(sizes[1] ?? 0);
        expect(await page.isVisible(".halt"), view).toBe(true);
        const wide = await page.evaluate(
          "[...document.querySelectorAll('.vscroll')].filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.firstElementChild.ariaLabel)",
        );
        expect(wide, `tables of ${view} that are wider than their place`).toEqual([]);
        expect(await faultsOf(page), view).toEqual([]);
        await page.waitForTimeout(500);
        const reference = picture(`${view.toLowerCase()}-${width}-${colorScheme}`);
        expect(await differenceFrom(page, reference), view).toBeLessThan(differenceMax);
      }
      expect(trouble).toEqual([]);
    },
  );

  it.each([
    [1_440, "light"],
    [390, "dark"],
  ] as const)("shows at %i pixels in %s how a recorded run is played", async (width, colorScheme) => {
    const at = Date.UTC(2026, 0, 5, 9);
    const playback = { from: at - 3_600_000, to: at + 10_800_000, at, speed: 60, paused: false };
    const played = madeEngine("recorded", {
      ...{ kind: "session", environment: "", state: "stopped", playback, unrecorded: ["book", "health"] },
    });
    const recording = await madePort(new Map([["recorded", played]]));
    const page = await open({ width, height: width === 390 ? 844 : 900, colorScheme, at: recording });
    expect(await page.innerText(".missing")).toBe("Not in this recording: the book, the engine's health.");
    expect(await page.locator(".halt").count()).toBe(0);
    expect(await faultsOf(page)).toEqual([]);
    await page.waitForTimeout(500);
    expect(await differenceFrom(page, picture(`playback-${width}-${colorScheme}`))).toBeLessThan(differenceMax);
    await page.keyboard.press(" ");
    await page.selectOption("select[aria-label=speed]", "300");
    await page.keyboard.press("f");
    await page.click("[aria-label='to the start']");
    const slider = page.locator("[aria-label='place in the run']");
    await slider.fill("5000");
    const asked = [{ paused: true }, { speed: 300 }, { toNextFill: true }, { seekTo: playback.from }];
    await expect
      .poll(() => recording.acts.map(({ action }) => action))
      .toEqual([...asked, { seekTo: at + 3_600_000 }].map((how) => ({ type: "play", ...how })));
    expect(trouble).toEqual([]);
    await page.close();
    await recording.close();
  });

  it.each([1_280, 1_400])(
    "shows at %i pixels all figures of a position to the last digit, and the button beside it",
    async (width) => {
      const [key] = engine.document.keys("positions");
      const row = engine.document.row("positions", key ?? "");
      if (row === undefined) throw new Error("nothing is held");
      engine.document.put("positions", key ?? "", {
        ...row,
        qty: "0.02",
        unrealised: "-12345.67",
        fees: "1234.56",
        profit: "-123456.78",
      });
      const page = await open({ width });
      const box = page.locator(".vscroll:has([aria-label^='Positions of strategies'])");
      await expect.poll(() => box.innerText()).toContain("123,456.78");
      const sizes = `(() => {
      const box = document.querySelector(".vscroll:has([aria-label^='Positions of strategies'])");
      const cut = [...box.querySelectorAll("td.n")].filter((cell) => cell.scrollWidth > cell.clientWidth);
      return { cut: cut.map((cell) => cell.innerText), beside: box.scrollWidth - box.clientWidth };
    })()`;
      expect(await page.evaluate(sizes)).toEqual({ cut: [], beside: 0 });
    },
  );

  it.each([1_440, 1_000, 390])("keeps figures of any length inside their tiles at %i pixels", async (width) => {
    const row = engine.document.row("money", "USDT");
    if (row === undefined) throw new Error("nothing was traded");
    const sum = "-1234567890.12345678";
    engine.document.put("money", "USDT", { ...row, profit: sum, realised: sum, unrealised: sum, fees: sum });
    const page = await open({ width });
    await expect.poll(() => seen(page, ".tile dd span")).toContain("1,234,567,890");
    const wide =
      "[...document.querySelectorAll('.tile, .tile *')].filter((box) => box.scrollWidth > box.clientWidth && box.clientWidth > 0).map((box) => box.innerText)";
    expect(await page.evaluate(wide)).toEqual([]);
    const beyond = `[...document.querySelectorAll('.tile dd span')].filter((text) =>
      text.getBoundingClientRect().right > text.closest('.tile').getBoundingClientRect().right).map((text) => text.innerText)`;
    expect(await page.evaluate(beyond)).toEqual([]);
  });

  it("shows on the overview the price of what is held, with own fills, and of another instrument when asked", async () => {
    const page = await open();
    const head = page.locator(".twocharts .pane.price .head");
    await expect.poll(() => head.innerText()).toMatch(/BTC-USDT-SWAP[\s\S]*fills in/);
    const choice = page.locator("[aria-label='instrument of the price']");
    const held = engine.document.rows("positions").map(({ instId }) => instId);
    expect(held).toContain(await choice.inputValue());
    const names = await choice.locator("option").allInnerTexts();
    const other = names.find((name) => name !== "BTC-USDT-SWAP") ?? "";
    await choice.selectOption(other);
    await expect.poll(() => head.innerText()).toContain(other);
    port.send("maker");
    await page.waitForTimeout(300);
    expect(await choice.inputValue()).toBe(other);
  });

  it("closes positions from a phone, after the same question", async () => {
    const page = await open({ width: 390, height: 844 });
    const close = page.locator("header button:text-is('Close positions …')");
    const box = await close.boundingBox();
    expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? 999) <= 390).toBe(true);
    await close.click();
    expect(await page.innerText("dialog")).toContain("All strategies are halted");
    await page.click("dialog button:text-is('Halt and close positions')");
    await expect.poll(() => port.acts.at(-1)?.action).toMatchObject({ type: "close" });
  });

  it("keeps the contrast of text at 4.5 in every view, in light and in dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await open({ colorScheme });
      for (const view of views) {
        await show(page, view);
        expect(await page.evaluate(faintTexts), `${view} in ${colorScheme}`).toEqual([]);
      }
    }
  });

  it("says what is earned, held, allowed and waited for, in the figures of the engine", async () => {
    const page = await open();
    const money = engine.document.row("money", "USDT");
    expect(Number((await seen(page, ".tile dd span")).replaceAll(",", "").replace("−", "-"))).toBeCloseTo(
      Number(money?.profit),
      1,
    );
    expect(await page.getAttribute(".tile dd span", "title")).toBe(
      `${money?.profit} = ${money?.realised} + ${money?.unrealised} - ${money?.fees}`,
    );
    const open_ = engine.document.rows("orders").filter(({ isFinal }) => !isFinal).length;
    expect(await page.innerText(".tiles")).toMatch(new RegExp(`Open orders\\s+${open_}\\s`));
    expect(await page.innerText(".tiles")).toMatch(/Positions held\s+3\s/);
    expect(await page.innerText(".tiles")).toMatch(/Waiting for quota\s+3 actions/);
    expect(await page.innerText(".gauges")).toContain("105 reserved for exits");
    expect(await seen(page, ".chip.real")).toBe("mainnet: real money");
  });

  it("gives each of several users a row of money, and adds up none of it", async () => {
    const page = await open();
    expect(await page.isVisible("[aria-label='Balances of the account']")).toBe(true);
    expect(await page.isVisible("[aria-label='Accounts of the users']")).toBe(false);
    const parts = { currency: "USDT", realised: "0", unrealised: "-2.02", fees: "0.2404" };
    engine.document.put("userMoney", "ben|USDT", { user: "ben", ...parts, profit: "-2.2604" });
    engine.document.put("balances", "ben|USDT", { user: "ben", currency: "USDT", balance: "4999.7596", stale: false });
    port.send("maker");
    const accounts = page.locator("table[aria-label='Accounts of the users'] tbody tr[data-index]");
    await expect.poll(() => accounts.count()).toBe(3);
    expect((await accounts.allInnerTexts()).map((text) => text.split(/\s+/))).toEqual([
      ["1001", "BTC", "0.41", "(old)", "–", "–", "–", "–"],
      ["1001", "USDT", "25,210.8823", "–", "–", "–", "–"],
      ["ben", "USDT", "4,999.7596", "0.00", "−2.02", "0.24", "−2.26"],
    ]);
    expect(await page.isVisible("[aria-label='Balances of the account']")).toBe(false);
  });

  it("shows in each row of a long list the order that stands there, after many have come at once", async () => {
    const page = await open();
    await show(page, "Orders");
    const rows = page.locator("table[aria-label^='Orders'] tbody tr[data-index]");
    for (let round = 0; round < 3; round++) {
      engine.change(700, 10_000);
      port.send("maker");
      await page.waitForTimeout(130);
    }
    const newest = engine.document
      .rows("orders")
      .filter(({ isFinal }) => !isFinal)
      .sort((a, b) => b.changedAt - a.changedAt);
    const ids = async (): Promise<readonly (string | undefined)[]> =>
      (await rows.allInnerTexts()).map((text) => text.split(/\s+/).at(-1));
    const count = await rows.count();
    expect(count).toBeGreaterThan(20);
    await expect.poll(ids).toEqual(newest.slice(0, count).map(({ clOrdId }) => clOrdId));
  });

  it("asks before it halts, says what will happen, and sends it with the reason only when it is confirmed", async () => {
    const page = await open();
    await page.click(".halt");
    const question = await page.innerText("dialog");
    expect(question).toMatch(/Of \d+ open orders all entries will be canceled/);
    expect(question).toContain(
      "Positions stay as they are, with their exits, stops and targets: long 0.05 BTC-USDT-SWAP",
    );
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
    expect(port.acts).toEqual([]);
    await page.keyboard.press("h");
    await page.fill("dialog input", "too much news");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => port.acts)
      .toEqual([{ source: "maker", action: { type: "halt", reason: "too much news" } }]);
    await expect.poll(() => page.innerText(".note")).toBe("Done.");
  });

  it("turns a halt of the engine into a banner, a live word and the button that resumes", async () => {
    const page = await open();
    const row = engine.document.row("engine", "");
    if (row === undefined) throw new Error("no engine");
    engine.document.put("engine", "", { ...row, mode: "halted", reason: "daily loss of 200 USDT" });
    port.send("maker");
    await expect.poll(() => page.innerText(".banner")).toBe("maker is halted: daily loss of 200 USDT");
    expect(await page.textContent("[role=alert][aria-live]")).toContain("halted: daily loss");
    expect(await seen(page, ".halt")).toBe("Resume");
    await page.click(".halt");
    await page.click("dialog .primary");
    await expect
      .poll(() => port.acts)
      .toEqual([{ source: "maker", action: { type: "resume", reason: "resumed from the dashboard" } }]);
  });

  it("cancels by the filters of the list, one order from its story, and closes positions, each confirmed", async () => {
    const page = await open();
    await show(page, "Orders");
    await page.selectOption("select[aria-label=strategy]", "ladder");
    await page.selectOption("select[aria-label=side]", "buy");
    const count = engine.document
      .rows("orders")
      .filter(({ isFinal, strategy, side }) => !isFinal && strategy === "ladder" && side === "buy").length;
    await expect.poll(() => page.innerText(".bar [role=status]:visible")).toMatch(new RegExp(`^${count} orders of `));
    await page.click("text=Cancel these");
    await page.click(`dialog button:text-is("Cancel ${count} orders")`);
    await expect
      .poll(() => port.acts.at(-1)?.action)
      .toEqual({ type: "cancel", where: { strategy: "ladder", side: "buy" } });
    await page.locator("[aria-label^='Orders'] tbody tr[data-index]").nth(2).click();
    await expect.poll(() => page.innerText(".story .steps")).toMatch(/planned[\s\S]*live[\s\S]*\+40 ms/);
    const id = await page.locator(".story .facts dd").last().innerText();
    await page.click("text=Cancel this order");
    await page.click("dialog .danger");
    await expect.poll(() => port.acts.at(-1)?.action).toEqual({ type: "cancel", where: { clOrdId: id } });
    await page.waitForSelector("dialog", { state: "detached" });
    await page.keyboard.press("Escape");
    expect(await page.isVisible(".story")).toBe(false);
    await page.click("text=Close positions");
    expect(await page.innerText("dialog")).toContain("sells 0.05 BTC-USDT-SWAP");
    await page.click("dialog .danger");
    await expect.poll(() => port.acts.at(-1)?.action).toEqual({ type: "close", reason: "closed from the dashboard" });
    await page.waitForSelector("dialog", { state: "detached" });
    await page.click("text=Close positions");
    await page.selectOption("dialog select", "long 0.05 BTC-USDT-SWAP");
    expect(await page.innerText("dialog")).toMatch(
      /Every strategy that trades BTC-USDT-SWAP is halted[\s\S]*sells 0\.05 BTC-USDT-SWAP\./,
    );
    await page.click("dialog .danger");
    await expect.poll(() => port.acts.at(-1)?.action).toMatchObject({ type: "close", instId: "BTC-USDT-SWAP" });
  });

  it("closes what one strategy holds, from the row of its position and from its dialog, and says which order that is", async () => {
    const page = await open();
    const rows = engine.document.rows("positions");
    const [short] = rows.filter(({ qty }) => qty.startsWith("-"));
    if (short === undefined) throw new Error("no short position");
    const row = page.locator("[aria-label^='Positions'] tbody tr[data-index]", { hasText: short.instId });
    await row.locator("button:text-is('Close …')").click();
    expect(await page.innerText("dialog h2")).toBe(`Close ${short.instId} of ${short.strategy}`);
    expect(await page.innerText("dialog")).toContain(`closed at the market: buys 1.25 ${short.instId}.`);
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
    expect(port.acts).toEqual([]);
    await row.locator("button:text-is('Close …')").click();
    await page.fill("dialog input", "weekend");
    await page.click("dialog .danger");
    const { strategy, instId } = short;
    await expect.poll(() => port.acts.at(-1)?.action).toEqual({ type: "close", strategy, instId, reason: "weekend" });
    await page.waitForSelector("dialog", { state: "detached" });
    await page.click(`[aria-label^='Strategies'] tbody tr:has-text("${strategy}")`);
    await page.click("text=Close its positions");
    expect(await page.innerText("dialog")).toContain(`buys 1.25 ${instId}`);
    await page.click("dialog .danger");
    await expect.poll(() => port.acts.at(-1)?.action).toMatchObject({ type: "close", strategy });
    expect(trouble).toEqual([]);
  });

  it("shows several engines at once, each as it is, and halts all of them with one question", async () => {
    const other = madeEngine("paper", { kind: "paper", environment: "" });
    const both = await madePort(
      new Map([
        ["maker", engine],
        ["paper", other],
      ]),
    );
    const page = await open({ at: both });
    await expect.poll(() => page.locator(".card").count()).toBe(2);
    await expect.poll(() => page.innerText(".cards li:nth-child(2)")).toContain("paper: no real orders");
    expect(await page.innerText(".cards li:nth-child(1)")).toContain("mainnet: real money");
    await page.click(".halt");
    expect(await page.innerText("dialog h2")).toBe("Halt all 2 engines");
    await page.click("dialog .danger");
    await expect
      .poll(() => both.acts.map(({ source, action }) => [source, action["type"]]))
      .toEqual([
        ["maker", "halt"],
        ["paper", "halt"],
      ]);
    await page.click(".tabs button:text-is('paper')");
    await expect.poll(() => page.innerText(".top h1")).toBe("paper");
    await page.close();
    await both.close();
  });

  it("follows more engines than a browser opens connections, and still reaches each of them", async () => {
    const names = Array.from({ length: 9 }, (_, index) => `engine ${index}`);
    const many = await madePort(new Map(names.map((name) => [name, madeEngine(name)])));
    const page = await open({ at: many });
    await expect.poll(() => page.locator(".cards .chip.good").count(), { timeout: 10_000 }).toBe(9);
    await expect.poll(() => page.innerText(".link")).toBe("connected");
    await page.click(".tabs button:text-is('engine 8')");
    await page.click(".halt");
    await page.click("dialog .danger");
    await expect.poll(() => many.acts.map(({ source }) => source)).toEqual(["engine 8"]);
    await page.close();
    await many.close();
  });

  it("makes a form of a strategy's schema and sends what was changed, as its type", async () => {
    const page = await open();
    await page.click("[aria-label^='Strategies'] tbody tr:nth-child(1)");
    await page.click("text=Change options");
    await page.fill("dialog label:has-text('levels') input", "x");
    await page.click("dialog .primary");
    expect(await page.innerText("dialog [role=alert]")).toContain('levels: "x" is no number');
    await page.fill("dialog label:has-text('levels') input", "7");
    await page.selectOption("dialog label:has-text('kind') select", '"fast"');
    await page.check("dialog label:has-text('hedge') input");
    await page.click("dialog .primary");
    await expect
      .poll(() => port.acts)
      .toEqual([
        {
          source: "maker",
          action: { type: "options", strategy: "ladder", changes: { levels: 7, kind: "fast", hedge: true } },
        },
      ]);
  });

  it("has no actions for a token that may only read", async () => {
    const reading = await madePort(new Map([["maker", engine]]), "read");
    const page = await open({ at: reading });
    for (const view of views) {
      await show(page, view);
      expect(await page.locator(".acts:visible").count(), view).toBe(0);
    }
    await page.keyboard.press("h");
    await page.keyboard.press("c");
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
    await show(page, "Overview");
    await page.click("[aria-label^='Strategies'] tbody tr:nth-child(1)");
    expect(await page.locator("dialog .bar button").count()).toBe(0);
    await page.close();
    await reading.close();
  });

  it("says within two seconds that nothing comes any more, greys what is old, and recovers without a reload", async () => {
    const page = await open();
    await page.evaluate("window.isSame = true");
    port.freeze();
    await page.waitForSelector("main.old", { timeout: 3_200 });
    expect(await page.innerText(".banner")).toContain("Nothing was received");
    expect(await page.isDisabled(".halt")).toBe(true);
    expect(await page.innerText(".chips")).toContain("last seen: trading");
    await port.shut();
    await port.open();
    await page.waitForSelector("main.room:not(.old)", { timeout: 8_000 });
    expect(await page.isVisible(".banner")).toBe(false);
    expect(await page.evaluate("window.isSame")).toBe(true);
    await port.shut();
    await page.waitForSelector("main.old", { timeout: 2_000 });
    expect(await page.innerText(".link")).toContain("not connected");
    await port.open();
    await page.waitForSelector("main.room:not(.old)", { timeout: 8_000 });
  });

  it("is told apart from a wrong token by words", async () => {
    const page = await browser.newPage();
    await page.goto(port.url.replace("secret", "wrong"));
    await expect.poll(() => page.innerText(".link")).toContain("Not allowed: The token is wrong.");
    expect(page.url()).not.toContain("wrong");
  });

  it("is worked by keys alone: views, filters, rows, the list of keys", async () => {
    const page = await open();
    await page.keyboard.press("3");
    await page.keyboard.press("/");
    await page.keyboard.type("rung 3");
    await expect.poll(() => page.innerText(".bar [role=status]:visible")).toContain(" of ");
    await page.keyboard.press("Escape");
    await page.focus("[aria-label^='Orders'][tabindex]");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("[aria-selected=true]:visible").count()).toBe(1);
    await expect.poll(() => page.isVisible(".story")).toBe(true);
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    expect(await page.innerText("dialog")).toContain("halt, or resume");
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator("dialog").count()).toBe(0);
  });

  it("opens a view again as it was left: filters, sorting, and the span of its chart", async () => {
    const page = await open();
    await show(page, "Market");
    await page.click("main button:text-is('10 min')");
    const span = await page.innerText("main .clock");
    await show(page, "Orders");
    await page.selectOption("select[aria-label=side]", "buy");
    await page.fill("main input[type=search]", "rung 3");
    await page.click("[aria-label^='Orders'] th button:text-is('price')");
    await page.waitForSelector("[aria-label^='Orders'] th[aria-sort=descending]");
    const rows = page.locator("[aria-label^='Orders'] tbody tr[data-index]");
    const before = await rows.allInnerTexts();
    await show(page, "Market");
    expect(await page.innerText("main .clock")).toBe(span);
    await show(page, "Orders");
    await expect.poll(() => rows.allInnerTexts()).toEqual(before);
    expect(await page.inputValue("select[aria-label=side]")).toBe("buy");
    expect(await page.inputValue("main input[type=search]")).toBe("rung 3");
    expect(await page.getAttribute("th[aria-sort=descending]", "scope")).toBe("col");
  });

  it("draws no chart while nothing comes", async () => {
    const page = await open();
    await page.waitForTimeout(1_000);
    await page.evaluate(`{
      const { prototype } = CanvasRenderingContext2D;
      const { clearRect } = prototype;
      window.drawn = 0;
      prototype.clearRect = function (...area) {
        window.drawn++;
        return clearRect.apply(this, area);
      };
    }`);
    await page.waitForTimeout(1_000);
    expect(await page.evaluate("window.drawn")).toBe(0);
  });

  it("lets go of a curve of profit when another takes its place", async () => {
    const page = await open();
    const heads = page.locator(".twocharts .head");
    await expect.poll(() => heads.count()).toBe(2);
    const session = await page.context().newCDPSession(page);
    /** Canvases that something still refers to, in the page or not. */
    const canvases = async (): Promise<unknown> => {
      const { result } = await session.send("Runtime.evaluate", { expression: "HTMLCanvasElement.prototype" });
      const { objects } = await session.send("Runtime.queryObjects", { prototypeObjectId: result.objectId ?? "" });
      const { result: count } = await session.send("Runtime.callFunctionOn", {
        functionDeclaration: "function () { return this.length; }",
        objectId: objects.objectId ?? "",
        returnByValue: true,
      });
      await session.send("Runtime.releaseObject", { objectId: objects.objectId ?? "" });
      return count.value;
    };
    const before = await canvases();
    const curve = engine.document.rows("equity").at(-1);
    if (curve === undefined) throw new Error("nothing was traded");
    const replaced = 10;
    for (let turn = 0; turn < replaced; turn++) {
      const name = `other ${turn}`;
      const row = { ...curve, at: engine.now(), strategies: { ...curve.strategies, [name]: { USDT: "900" } } };
      engine.document.put("equity", `${row.at} ${name}`, row);
      port.send("maker");
      await expect.poll(() => heads.last().innerText(), { timeout: 5_000 }).toContain(name);
    }
    // The last few are let go of with later drawings.
    await expect.poll(canvases, { timeout: 10_000 }).toBeLessThan(Number(before) + replaced / 2);
  });

  it("draws only the rows in sight, whatever there are, in the order that is asked for", async () => {
    engine.change(6_000, 1_000);
    const page = await open();
    await show(page, "Orders");
    await page.selectOption("select[aria-label='list']", "all");
    const rows = page.locator("[aria-label^='Orders'] tbody tr[data-index]");
    expect(await rows.count()).toBeLessThan(60);
    await page.click("[aria-label^='Orders'] th button:text-is('price')");
    await page.waitForSelector("[aria-label^='Orders'] th[aria-sort=descending]");
    await page.focus("[aria-label^='Orders'][tabindex]");
    await page.keyboard.press("End");
    const prices = engine.document.rows("orders").map(({ px }) => Number(px));
    const cells = page.locator("[aria-label^='Orders'] tr[aria-selected=true] td");
    const price = async (): Promise<number> => Number((await cells.allInnerTexts())[3]?.replaceAll(",", ""));
    await expect.poll(price, { timeout: 5_000 }).toBe(Math.min(...prices));
    expect(await rows.count()).toBeLessThan(60);
  });
});

/** Texts whose contrast on their ground is below 4.5, as they are drawn. */
const faintTexts = `(() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const over = ([r, g, b, a = 1], ground) => [r, g, b].map((v, i) => v * a + ground[i] * (1 - a));
  const groundOf = (node) => {
    const chain = [];
    for (let at = node; at; at = at.parentElement) chain.unshift(rgb(getComputedStyle(at).backgroundColor));
    return chain.reduce((ground, colour) => over(colour.length === 3 ? [...colour, 1] : colour, ground), [255, 255, 255]);
  };
  const found = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim() !== "");
    if (!own || !node.checkVisibility() || node.closest(":disabled, .u-wrap")) continue;
    const ground = groundOf(node);
    const [a, b] = [light(over(rgb(getComputedStyle(node).color), ground)), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) found.push(node.textContent.trim().slice(0, 30) + " " + ratio.toFixed(2));
  }
  return [...new Set(found)];
})()`;
