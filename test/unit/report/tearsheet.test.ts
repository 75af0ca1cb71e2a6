/** The page for a browser: self-contained, safe, legible. */
import { map } from "rxjs";
import { beforeAll, describe, expect, it } from "vitest";
import { withDetails } from "../../../src/backtest/with-details.ts";
import { runBacktest } from "../../../src/backtest.ts";
import type { RunDetails } from "../../../src/report/details.ts";
import { html, jsonAttribute } from "../../../src/report/html/markup.ts";
import { style } from "../../../src/report/html/style.ts";
import { tearsheet } from "../../../src/report/html/tearsheet.ts";
import { timeTicks, valueTicks } from "../../../src/report/ticks.ts";
import { configOf, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { generateTapeFor } from "../../support/harness/generated-market.ts";
import { strategy as row, sampleReport } from "../../support/harness/sample-report.ts";

const noDetails: RunDetails = {
  fills: [],
  orders: [],
  equity: sampleReport().equity,
  positions: [],
  prices: [],
  minutes: [],
  plots: [],
  plotsLeftOut: 0,
  trades: { position: [], fifo: [] },
  strategies: [],
};

/** Names of open elements at each step; throws where one closes that is not open. */
const walk = (page: string): readonly string[] => {
  const names: string[] = [];
  const open: string[] = [];
  const text = page.replace(/<(style|script)>[\s\S]*?<\/\1>/g, "");
  for (const [, close, name = "", rest = ""] of text.matchAll(/<(\/?)([a-z][a-z0-9]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/g)) {
    names.push(name);
    if (close === "/") expect(open.pop()).toBe(name);
    else if (!rest.endsWith("/") && name !== "meta") open.push(name);
  }
  expect(open).toEqual([]);
  return names;
};

const maker = strategy('a<b>&"c', {
  desired: ({ market }) =>
    market.quotes(swap).pipe(
      map(({ bidPx, askPx }) => [
        { slot: "bid", instId: swap, side: "buy" as const, ordType: "post_only" as const, px: bidPx, qty: "0.02", keepWithin: "3" },
        { slot: "ask", instId: swap, side: "sell" as const, ordType: "post_only" as const, px: askPx, qty: "0.02", keepWithin: "3" },
        { slot: "far", instId: swap, side: "buy" as const, px: "30000", qty: "0.01" },
        { slot: "tiny", instId: swap, side: "buy" as const, px: bidPx, qty: "0.0001" },
      ]),
    ),
});

describe("The tearsheet of a run", () => {
  let page: string;
  beforeAll(async () => {
    const dir = stored(generateTapeFor([swap], 10), "sheet");
    const told: RunDetails[] = [];
    const report = await runBacktest(withDetails(configOf(dir, [maker]), (details) => told.push(details)));
    page = tearsheet(report, told[0] as RunDetails);
  });

  it("is well formed, with one title, one heading of the first order, and a name for every picture and table", () => {
    const names = walk(page);
    const count = (name: string): number => names.filter((one) => one === name).length / 2;
    expect([count("h1"), count("main")]).toEqual([1, 1]);
    expect(page).toMatch(/<html lang="en">/);
    expect(page.match(/<svg /g)?.length).toBeGreaterThanOrEqual(6);
    expect(page.match(/<svg [^>]*role="img" aria-label="[^"]+"/g)).toHaveLength(page.match(/<svg /g)?.length ?? 0);
    expect(count("caption")).toBe(count("table"));
    expect(page.match(/<th scope="(row|col)"/g)).toHaveLength(page.match(/<th /g)?.length ?? 0);
  });

  it("fetches nothing", () => {
    expect(page).not.toMatch(/https?:|src=|href=|url\(|@import|<link|<iframe|fetch\(|import\(/);
  });

  it("escapes foreign words", () => {
    expect(page).toContain("a&lt;b&gt;&amp;&quot;c");
    expect(page).not.toContain("a<b>");
  });

  it("draws fills, resting orders and the position, and counts what rests outside the picture", () => {
    for (const name of ["buys", "sells", "rest-buy", "rest-sell", "px", "fall", "bar"])
      expect(page).toMatch(new RegExp(`class="${name}( small)?"`));
    expect(page).toContain("1 order rested outside the picture");
    expect(page).toContain("Position in BTC");
  });

  it("holds no coordinate that is not a number, and none with more than one digit after the point", () => {
    for (const [, d = ""] of page.matchAll(/ d="([^"]*)"/g)) expect(d).toMatch(/^([MLHVhZ]|-?\d+(\.\d)?| )+$/);
    expect(page).not.toMatch(/NaN|Infinity|undefined|\[object/);
  });

  it("gives each picture read-outs of one text per point", () => {
    const reads = [...page.matchAll(/data-read='([^']*)'/g)].map(
      ([, text = ""]) => JSON.parse(text) as { x: number[]; s: [string, string][] },
    );
    expect(reads.length).toBeGreaterThanOrEqual(6);
    for (const { x, s } of reads) {
      expect(x).toEqual([...x].sort((a, b) => a - b));
      for (const [, texts] of s) expect(texts.split("|")).toHaveLength(x.length);
    }
  });

  it("tells why orders were turned down", () => {
    expect(page).toContain("the size is below one lot of 0.001 BTC");
  });
});

describe("The tearsheet of the demo", () => {
  it("stays below 400 KB", async () => {
    const { default: config } = (await import("../../../config/backtest.ts")) as { default: unknown };
    const told: RunDetails[] = [];
    const report = await runBacktest(withDetails(config, (details) => told.push(details)));
    expect(Buffer.byteLength(tearsheet(report, told[0] as RunDetails))).toBeLessThan(400_000);
  });
});

describe("The tearsheet of a run in which nothing happened", () => {
  it("says so instead of drawing empty pictures", () => {
    const orders = { placed: 0, canceled: 0, filled: 0, rejected: 0, refused: 3 };
    const page = tearsheet({ ...sampleReport(), orders, fills: 0, positions: [], turnedDown: [], perStrategy: { idle: row() } }, noDetails);
    walk(page);
    expect(page).toContain("No order was accepted: all 3 orders refused before sending");
    for (const sentence of ["No order was sent.", "No strategy held anything at the end.", "No order was refused or rejected."]) {
      expect(page).toContain(sentence);
    }
    expect(page).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("draws equity that never moved and a recording of no time", () => {
    const at = Date.parse(sampleReport().fixture.startAt);
    const still = [0, 1, 2].map((index) => ({ at: at + index, equity: "10000" }));
    const fixture = { ...sampleReport().fixture, endAt: sampleReport().fixture.startAt };
    const page = tearsheet({ ...sampleReport(), fixture, equity: still }, { ...noDetails, equity: still });
    walk(page);
    expect(page).toContain("Equity never fell below an earlier high.");
    expect(page).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe("Tearsheet markup", () => {
  it("escapes what is put in, once, and leaves markup alone", () => {
    const inner = html`<b>${"<i>"}</b>`;
    expect(html`<p title="${'"'}">${inner}${[inner, inner]}${undefined}${3}</p>`.markup).toBe(
      '<p title="&quot;"><b>&lt;i&gt;</b><b>&lt;i&gt;</b><b>&lt;i&gt;</b>3</p>',
    );
  });

  it("spells out what would move or hide text", () => {
    expect(html`${"a\u202eb\u0000\n"}`.markup).toBe("a\\u202eb\\u0000\\n");
  });

  it("keeps JSON in an attribute whole", () => {
    const value = { a: `it's <b> & "c"` };
    const text = jsonAttribute(value).markup.slice(1, -1);
    expect(text).not.toMatch(/['<>]/);
    const unescaped = text.replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
    expect(JSON.parse(unescaped)).toEqual(value);
  });
});

describe("Tearsheet ticks", () => {
  const hour = 3_600_000;
  it.each([
    ["an hour", 0, hour, ["00:00", "00:10", "00:20", "00:30", "00:40", "00:50", "01:00"]],
    ["a moment less than an hour", 0, hour - 53, ["00:00", "00:10", "00:20", "00:30", "00:40", "00:50", "01:00"]],
    ["half a minute", 0, 30_000, ["00:00:00", "00:00:05", "00:00:10", "00:00:15", "00:00:20", "00:00:25", "00:00:30"]],
    ["two days", 0, 48 * hour, ["01-01 00:00", "01-01 12:00", "01-02 00:00", "01-02 12:00", "01-03 00:00"]],
    ["a week", 0, 168 * hour, ["01-01", "01-02", "01-03", "01-04", "01-05", "01-06", "01-07", "01-08"]],
    ["no time", 5, 5, []],
  ])("of time: %s", (_, startAt, endAt, expected) => {
    expect(timeTicks(startAt, endAt).map(({ text }) => text)).toEqual(expected);
  });

  it("of time never crowd, however long the span", () => {
    for (let spanMs = 10_000; spanMs < 40 * 365 * 24 * hour; spanMs *= 1.37) {
      const ticks = timeTicks(12_345, 12_345 + spanMs);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThanOrEqual(9);
    }
  });

  it.each([
    [9_988, 10_001, ["9,990", "9,995", "10,000"]],
    [-0.12, 0, ["-0.10", "-0.05", "0.00"]],
    [0, 1_296, ["0", "500", "1,000"]],
    [58_000, 61_000, ["58,000", "59,000", "60,000", "61,000"]],
    [0.00001, 0.00003, ["0.000010", "0.000015", "0.000020", "0.000025", "0.000030"]],
    [7, 7, ["7.00"]],
  ])("of values from %d to %d are round", (low, high, expected) => {
    expect(valueTicks(low, high, 4).map(({ text }) => text)).toEqual(expected);
  });
});

describe("Tearsheet colours", () => {
  const channel = (value: number): number => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = (hex: string): number => {
    const full = hex.length === 4 ? hex.slice(1).replace(/./g, "$&$&") : hex.slice(1);
    const [r = 0, g = 0, b = 0] = [0, 2, 4].map((at) => channel(Number.parseInt(full.slice(at, at + 2), 16) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a: string, b: string): number => {
    const [high = 0, low = 0] = [light(a), light(b)].sort((x, y) => y - x);
    return (high + 0.05) / (low + 0.05);
  };
  const themes = [...style.matchAll(/:root\{([^}]*)\}/g)].map(
    ([, text = ""]) => new Map([...text.matchAll(/--([\w-]+):(#[0-9a-f]{3,6})\b/g)].map(([, name = "", hex = ""]) => [name, hex])),
  );

  it.each([
    ["light", 0],
    ["dark", 1],
  ])("are legible on their ground: %s", (_, index) => {
    const theme = themes[index] as Map<string, string>;
    const of = (name: string): string => theme.get(name) as string;
    for (const name of ["fg", "soft", "accent", "gain", "loss", "warn"]) {
      for (const ground of ["bg", "card"]) expect([name, ground, contrast(of(name), of(ground)) >= 4.5]).toEqual([name, ground, true]);
    }
    expect(contrast(of("warn"), of("warnbg"))).toBeGreaterThanOrEqual(4.5);
    // What is drawn needs three.
    for (const name of ["buy", "sell", "w-uid", "w-key", "w-ip", "w-other", "w-turn"]) {
      expect([name, contrast(of(name), of("bg")) >= 3]).toEqual([name, true]);
    }
  });
});
