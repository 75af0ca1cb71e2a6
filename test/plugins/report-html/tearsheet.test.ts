/** The page for a browser: self-contained, safe, legible. */
import { createHash } from "node:crypto";
import { Script } from "node:vm";
import { map, tap } from "rxjs";
import { beforeAll, describe, expect, it } from "vitest";
import { unpack } from "../../../plugins/report-html/client/unpack.ts";
import { tearsheet } from "../../../plugins/report-html/tearsheet.ts";
import { html } from "../../../plugins/ui-kit/markup.ts";
import type { PageData } from "../../../plugins/ui-kit/page-data.ts";
import { style } from "../../../plugins/ui-kit/style.ts";
import { withDetails } from "../../../src/backtest/with-details.ts";
import { runBacktest } from "../../../src/backtest.ts";
import { noDetails, type RunDetails } from "../../../src/report/details.ts";
import { configOf, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { generateTapeFor } from "../../support/harness/generated-market.ts";
import { strategy as row, sampleReport } from "../../support/harness/sample-report.ts";

const nothingKept = noDetails(sampleReport().equity);

/** Names of open elements at each step; throws where one closes that is not open. */
const walk = (page: string): readonly string[] => {
  const names: string[] = [];
  const open: string[] = [];
  for (const [, close, name = "", rest = ""] of wordsOf(page).matchAll(
    /<(\/?)([a-z][a-z0-9]*)((?:[^>"']|"[^"]*"|'[^']*')*)>/g,
  )) {
    names.push(name);
    if (close === "/") expect(open.pop()).toBe(name);
    else if (!rest.endsWith("/") && name !== "meta") open.push(name);
  }
  expect(open).toEqual([]);
  return names;
};

const maker = strategy('a<b>&"c', {
  wanted: ({ market, plot }) =>
    market.quotes(swap).pipe(
      tap(({ bidPx }) => plot("bid", bidPx, { pane: "price" })),
      map(({ bidPx, askPx }) => [
        {
          slot: "bid",
          instId: swap,
          side: "buy" as const,
          ordType: "post_only" as const,
          px: bidPx,
          qty: "0.02",
          keepWithin: "3",
        },
        {
          slot: "ask",
          instId: swap,
          side: "sell" as const,
          ordType: "post_only" as const,
          px: askPx,
          qty: "0.02",
          keepWithin: "3",
        },
        { slot: "far", instId: swap, side: "buy" as const, px: "30000", qty: "0.01" },
        { slot: "tiny", instId: swap, side: "buy" as const, px: bidPx, qty: "0.0001" },
      ]),
    ),
});

/** Without style, script and data, and without their hashes, in which any letters may stand together. */
const wordsOf = (page: string): string =>
  page.replace(/<(style|script)[^>]*>[\s\S]*?<\/\1>/g, "").replace(/sha256-[A-Za-z0-9+/=]+/g, "");

/** As the page's script reads it. */
const dataOf = (page: string): Promise<PageData> => unpack(/id="data">([^<]*)</.exec(page)?.[1] ?? "");

describe("The tearsheet of a run", () => {
  const dir = stored(generateTapeFor([swap], 10), "sheet");
  const run = () =>
    runBacktest(
      withDetails(configOf(dir, [maker]), (details) => {
        told = details;
      }),
    );
  let page: string;
  let told: RunDetails;
  beforeAll(async () => {
    page = tearsheet(await run(), told);
  });

  it("is the same for an equal run", async () => {
    expect(tearsheet(await run(), told)).toBe(page);
  });

  it("is well formed, with one title, one heading of the first order, and a caption for every table", () => {
    const names = walk(page);
    const count = (name: string): number => names.filter((one) => one === name).length / 2;
    expect([count("h1"), count("main")]).toEqual([1, 1]);
    expect(page).toMatch(/<html lang="en">/);
    expect(count("caption")).toBe(count("table"));
    expect(page.match(/<th scope="(row|col)"/g)).toHaveLength(page.match(/<th /g)?.length ?? 0);
  });

  it("fetches nothing, and forbids itself to", () => {
    // Names of namespaces are no addresses; the component library makes elements by them.
    const own = page
      .replace(/\/\*! https:\S+uPlot \(v[\d.]+\) \*\//, "")
      .replace(/(["'`])http:\/\/www\.w3\.org\/(2000\/svg|1999\/xhtml|1998\/Math\/MathML)\1/g, "");
    expect(own).not.toMatch(/https?:|src=|href=|url\(|@import|<link|<iframe|fetch\(|import\(/);
    const [, look = "", script = ""] = /<style>([\s\S]*?)<\/style>[\s\S]*<script>([\s\S]*?)<\/script>/.exec(page) ?? [];
    const hash = (text: string): string => createHash("sha256").update(text).digest("base64");
    const policy = `default-src 'none'; style-src 'sha256-${hash(look)}'; script-src 'sha256-${hash(script)}'; base-uri 'none'; form-action 'none'`;
    expect(page).toContain(`content="${policy.replaceAll("'", "&#39;")}"`);
    expect(page).not.toMatch(/ style="| on[a-z]+="/);
  });

  it("has a script that a browser can read", () => {
    const [, script = ""] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? [];
    expect(() => new Script(script)).not.toThrow();
    expect(script).not.toMatch(/^(import|export) /m);
    const licences = [...script.matchAll(/^\/\*! (\S+)\n(?:The )?MIT License[\s\S]*?Permission is hereby granted/gm)];
    expect(licences.map(([, name]) => name)).toEqual([
      "@preact/signals",
      "@preact/signals-core",
      "@tanstack/virtual-core",
      "preact",
      "uplot",
    ]);
  });

  it("escapes foreign words", () => {
    expect(page).toContain("a&lt;b&gt;&amp;&quot;c");
    expect(page).not.toContain("a<b>");
  });

  it("carries every fill and order, what each went through, and every trade", async () => {
    const data = await dataOf(page);
    expect([...data.fills.px].map(String)).toEqual(told.fills.map(({ px }) => String(Number(px))));
    expect([...data.fills.order].map((order) => data.orders.id[order])).toEqual(
      told.fills.map(({ clOrdId }) => clOrdId),
    );
    expect(data.orders.id).toEqual(told.orders.map(({ clOrdId }) => clOrdId));
    expect([...data.orders.phase].map((phase) => data.phases[phase])).toEqual(
      told.orders.flatMap(({ phases }) => phases.map(({ phase }) => phase)),
    );
    expect([...data.trades.net].map(String)).toEqual(told.trades.position.map(({ net }) => String(Number(net))));
    expect(data.trades.net.length).toBeGreaterThan(0);
    const [instrument] = data.instruments;
    expect([instrument?.instId, instrument?.at.length]).toEqual([swap, told.prices[0]?.at.length]);
    expect(data.plots).toMatchObject([{ name: "bid", pane: "price", strategy: 'a<b>&"c' }]);
  });

  it("tells why orders were turned down", () => {
    expect(page).toContain("the size is below one lot of 0.001 BTC");
  });
});

describe("The tearsheet of several instruments", () => {
  it("tells the result of each and how strategies went together", () => {
    const own = { fills: 3, volume: "100", pnl: "-1.5", realised: "-1", unrealised: "-0.5", fees: "0" };
    const correlation = {
      strategies: {
        names: ["a", "b"],
        values: [
          ["1", "-0.25"],
          ["-0.25", null],
        ],
      },
      instruments: { names: [], values: [] },
    };
    const page = tearsheet(
      { ...sampleReport(), perInstrument: { "BTC-USDT": own, "ETH-USDT": own }, correlation } as never,
      nothingKept,
    );
    walk(page);
    expect(page).toContain(
      '<th scope="row">ETH-USDT</th><td class="n">3</td><td class="n"><span class="loss">−1.50</span></td>',
    );
    expect(page).toContain('<th scope="row">a</th><td class="n">1.00</td><td class="n">−0.25</td>');
    expect(page).toContain('<td class="n">−0.25</td><td class="n">–</td>');
  });

  it("has no table of instruments where one was traded", () => {
    expect(tearsheet(sampleReport(), nothingKept)).not.toContain("<h3>Instruments</h3>");
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
    const page = tearsheet(
      { ...sampleReport(), orders, fills: 0, positions: [], turnedDown: [], perStrategy: { idle: row() } },
      nothingKept,
    );
    walk(page);
    expect(page).toContain("No order was accepted: all 3 orders refused before sending");
    for (const sentence of ["No strategy held anything at the end.", "No order was refused or rejected."]) {
      expect(page).toContain(sentence);
    }
    expect(wordsOf(page)).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("draws equity that never moved and a recording of no time", () => {
    const at = Date.parse(sampleReport().fixture.startAt);
    const still = [0, 1, 2].map((index) => ({ at: at + index, equity: "10000" }));
    const fixture = { ...sampleReport().fixture, endAt: sampleReport().fixture.startAt };
    const page = tearsheet({ ...sampleReport(), fixture, equity: still }, { ...nothingKept, equity: still });
    walk(page);
    expect(page).toContain("Result by minute");
    expect(wordsOf(page)).not.toMatch(/NaN|Infinity|undefined/);
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
  // The first two stand for a bright and a dark system.
  const themes = [...style.matchAll(/:root(?:[^{]*)\{([^}]*)\}/g)].map(
    ([, text = ""]) =>
      new Map([...text.matchAll(/--([\w-]+):(#[0-9a-f]{3,6})\b/g)].map(([, name = "", hex = ""]) => [name, hex])),
  );

  it.each([
    ["light", 0],
    ["dark", 1],
  ])("are legible on their ground: %s", (_, index) => {
    const theme = themes[index] as Map<string, string>;
    const of = (name: string): string => theme.get(name) as string;
    for (const name of ["fg", "soft", "accent", "gain", "loss", "warn"]) {
      for (const ground of ["bg", "card"])
        expect([name, ground, contrast(of(name), of(ground)) >= 4.5]).toEqual([name, ground, true]);
    }
    expect(contrast(of("warn"), of("warnbg"))).toBeGreaterThanOrEqual(4.5);
    for (const ground of ["up4", "down4"])
      expect([ground, contrast(of("fg"), of(ground)) >= 4.5]).toEqual([ground, true]);
    // What is drawn needs three.
    for (const name of ["buy", "sell", "price", "rose", "fell", "c1", "c2", "c3", "c4", "c5", "c6"]) {
      expect([name, contrast(of(name), of("bg")) >= 3]).toEqual([name, true]);
    }
  });
});
