import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { widthOf } from "../../../src/report/ansi.ts";
import type { RunReport } from "../../../src/report/report.ts";
import { reportText } from "../../../src/report/report-text.ts";
import { sampleReport, strategy } from "../../support/harness/sample-report.ts";

const plainLook = { columns: 80, colour: false };
const show = (change: Partial<RunReport> = {}, look = plainLook): string =>
  reportText({ ...sampleReport(), ...change }, look);
const rowOf = (text: string, start: string): string =>
  text.split("\n").find((line) => line.trimStart().startsWith(start)) ?? "";
const withoutColour = (text: string): string => text.replace(new RegExp(`${"\u001b"}\\[\\d+m`, "g"), "");

describe("The report as a page", () => {
  it("says what was replayed and how fast", () => {
    const text = show();
    expect(text).toContain("Backtest of demo  seed 7");
    expect(text).toContain("2026-01-05 00:00 to 01:00 UTC (1 h), 93,954 rows, fixture a91b22c3…");
    expect(text).toContain("1,204,311 events in 1.82 s, 1,978 × real time");
  });

  it.each([
    ["result", "+128.40  +1.28 %"],
    ["before fees", "+170.62"],
    ["fees paid", "42.22  2.10 bp"],
    ["volume", "201,040.55"],
    ["drawdown", "82.17  0.81 %"],
  ])("shows the money: %s", (label, expected) => expect(rowOf(show(), label)).toContain(expected));

  it("calls fees below zero what they are", () => {
    expect(rowOf(show({ fees: "-1.5", pnl: "1.5" }), "rebates earned")).toContain(" 1.50  0.07 bp");
  });

  it.each([
    ["placed", "2,204  702 fills"],
    ["filled", "611  28 %"],
    ["canceled", "1,588  72 %"],
    ["rejected", "3  by the service"],
    ["refused", "12  before sending"],
  ])("counts the orders: %s", (label, expected) => {
    const line = show()
      .split("\n")
      .find((row) => row.includes(` ${label}`) && row.includes(expected));
    expect(line).toBeDefined();
  });

  it("sets the peak of each layer against its capacity", () => {
    expect(rowOf(show(), "uid")).toMatch(/weight a minute +█+[▏▎▍▌▋▊▉]? +1,185 of 1,200 +99 %$/);
    expect(rowOf(show(), "key")).toMatch(/requests a second +█+ +10 of +10 +100 %$/);
    expect(rowOf(show(), "ip")).toMatch(/requests a minute +█+[▏▎▍▌▋▊▉]?·+ +312 of 1,200 +26 %$/);
  });

  it("tells what the limits cost in waiting", () => {
    expect(rowOf(show(), "scheduling delay")).toMatch(/p50 +0 ms +p99 +1\.23 s +max 14 s$/);
    expect(rowOf(show(), "delayed in all")).toContain("1 h 5 min: 1 h 5 min for weight, 20 s for the key's second");
    expect(rowOf(show(), "submit to canceled")).toMatch(/p50 +24 ms +p99 +81 ms +611 cancels/);
  });

  it("names refusals and blocked minutes, or their absence", () => {
    expect(show()).toContain("no 429, no minute blocked, reserve used 3 times");
    const { quota } = sampleReport();
    expect(show({ quota: { ...quota, rejected429: 7, blockedMinutes: 1, reserveUsed: 0 } })).toContain(
      "7 × 429, 1 minute blocked, reserve used never",
    );
  });

  it("warns where the service enforced no limits", () => {
    expect(show()).not.toContain("not enforced");
    expect(show({ quota: { ...sampleReport().quota, limits: false } })).toContain("! Limits were not enforced");
  });

  it("gives every strategy a row, and a failed one its reason", () => {
    const text = show({
      perStrategy: { ladder: strategy({ pnl: "150.2" }), broken: strategy({ state: "failed", error: "no\nbid" }) },
    });
    const rows = text.split(" Strategies ")[1] ?? "";
    expect(rowOf(rows, "ladder")).toContain("+150.20");
    expect(rowOf(rows, "broken (failed)")).toContain("0.00");
    expect(text).toContain("\n   no\\nbid\n");
  });

  it("drops whole columns of the strategies where the terminal is narrow", () => {
    const narrow = rowOf(show({}, { columns: 80, colour: false }).split("Strategies").at(1) ?? "", "placed")
      .trim()
      .split(/\s+/);
    const broad = rowOf(show({}, { columns: 160, colour: false }).split("Strategies").at(1) ?? "", "placed")
      .trim()
      .split(/\s+/);
    expect(broad).toEqual([
      "placed",
      "filled",
      "canceled",
      "rejected",
      "refused",
      "fills",
      "result",
      "fees",
      "weight",
      "delay",
    ]);
    expect(broad).toEqual(expect.arrayContaining(narrow));
    expect(narrow).toContain("result");
  });

  it("ends with the assumptions and the whole hash", () => {
    const text = show();
    expect(text).toMatch(/^ Latency +lognormal, median 25 ms +prices move on$/m);
    expect(text.trimEnd().endsWith(`result hash ${sampleReport().resultHash}`)).toBe(true);
  });

  it("says the same with and without colour", () => {
    for (const columns of [80, 100, 160]) {
      expect(withoutColour(show({}, { columns, colour: true }))).toBe(show({}, { columns, colour: false }));
    }
    expect(show({}, { columns: 80, colour: true })).not.toBe(show());
  });

  it("lets no foreign word reach the terminal's controls", () => {
    const evil = "\u001b[2J\u0007";
    const text = show({
      fixture: { ...sampleReport().fixture, name: evil },
      currency: evil,
      seed: evil,
      perStrategy: { [evil]: strategy({ state: "failed", error: evil }) },
      assumptions: [{ what: evil, value: evil, consequence: evil }],
    });
    expect(text).not.toContain("\u001b");
    expect(text).not.toContain("\u0007");
  });

  it("fits its columns whatever it has to say, without trailing blanks", () => {
    const money = fc.integer({ min: -1e9, max: 1e9 }).map((cents) => (cents / 100).toFixed(2));
    const words = fc.string({ maxLength: 120 });
    const rows = fc.dictionary(words, fc.record({ pnl: money, placed: fc.nat(), heldMs: fc.nat(), error: words }), {
      maxKeys: 4,
    });
    fc.assert(
      fc.property(
        fc.integer({ min: 80, max: 200 }),
        money,
        words,
        rows,
        fc.array(words, { maxLength: 4 }),
        (columns, pnl, name, made, texts) => {
          const assumptions = texts.map((text) => ({ what: text, value: name, consequence: text }));
          const perStrategy = Object.fromEntries(
            Object.entries(made).map(([key, given]) => [key, strategy({ ...given, state: "failed" })]),
          );
          const fixture = { ...sampleReport().fixture, name };
          const text = show(
            { pnl, fees: pnl, perStrategy, fixture, currency: name, seed: name, assumptions },
            { columns, colour: false },
          );
          for (const line of text.split("\n")) {
            expect(widthOf(line)).toBeLessThanOrEqual(columns);
            expect(line).toBe(line.trimEnd());
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("cuts no figure and no unit, however long a run waited", () => {
    const { quota } = sampleReport();
    const heldMs = { ...quota.heldMs, max: 495_000, total: 185_000_000 };
    const waitedMs = { uid: 185_000_000, key: 495_000, ip: 495_000, other: 495_000, turn: 495_000 };
    const words = show(
      { quota: { ...quota, heldMs, waitedMs }, virtualMs: 31 * 86_400_000 },
      { columns: 60, colour: false },
    );
    const section = words.slice(words.indexOf(" Quota "), words.indexOf(" Strategies "));
    expect(section).not.toContain("…");
    expect(section).toContain("max 8 min 15 s\n");
    expect(section.replace(/\s+/g, " ")).toContain(
      "delayed in all 2 d 3 h: 2 d 3 h for weight, 8 min 15 s for the key's second",
    );
  });

  it("says which weight is of no strategy", () => {
    expect(show()).toContain("Batch cancels and the engine's own reads weighed 20,220: no strategy's.");
  });

  it("prints a dash where nothing was measured, and no total of nothing beside a maximum", () => {
    const { quota } = sampleReport();
    const none = { count: 0, p50: 0, p99: 0 };
    const text = show({
      latency: { p50: 0, p99: 0, cancel: none, place: none },
      quota: { ...quota, heldMs: { ...none, max: 0, total: 0 } },
    });
    for (const label of ["scheduling delay", "submit to placed", "submit to canceled"]) {
      expect(rowOf(text, label)).toMatch(/p50 +- +p99 +- +none$/);
    }
  });

  it("never cuts the remedy of a reason, and names strategies, slot and what is left out", () => {
    const reason = `the size … is too small. ${"Enlarge it, ".repeat(12)}or set orders.allowUncancellable`;
    const down = {
      count: 1_234,
      by: "engine" as const,
      reason,
      strategies: ["ladder", "other"],
      example: { strategy: "ladder", slot: "bid 3", reason: "the size 7 is too small" },
    };
    const text = show({ turnedDown: [down], turnedDownMore: { reasons: 3, orders: 40 } });
    const words = text.replace(/\s+/g, " ");
    expect(words).toContain(
      `1,234 × before sending: ${reason} ladder, other; first ladder, slot bid 3: the size 7 is too small`,
    );
    expect(words).toContain("and 3 more reasons, 40 orders in all");
  });

  it("tells the part of the result that is not of strategies only where there is one", () => {
    expect(show()).not.toContain("elsewhere");
    expect(rowOf(show({ elsewhere: "-3.5" }), "elsewhere")).toContain("-3.50  of others");
  });

  it("tells instruments, exposure and correlation of a portfolio, and nothing of them of one instrument", () => {
    const { perInstrument } = sampleReport();
    const [one] = Object.values(perInstrument) as [RunReport["perInstrument"][string]];
    const strategies = {
      names: ["ladder", "market-maker"],
      values: [
        ["1", "-0.25"],
        ["-0.25", null],
      ],
    };
    const page = show({
      perInstrument: { ...perInstrument, "ETH-USDT-SWAP": { ...one, pnl: "-3.5" } },
      correlation: { strategies },
    });
    const lines = page.split("\n").map((line) => line.trim().replace(/\s+/g, " "));
    expect(lines).toContain("ETH-USDT-SWAP 702 -3.50 +150.12 +20.50 42.22 201,041");
    expect(lines).toContain("held: gross 2,210.50 on average, at most 4,021.00; net +210.25, at the end");
    expect(lines).toContain("1 ladder 1.00 -0.25");
    expect(lines).toContain("2 market-maker -0.25 -");
    for (const line of page.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(show()).not.toContain("Instruments");
  });

  it("tells falls and months of a run that is told by days, and how buying and holding did", () => {
    const returns = sampleReport().returns as NonNullable<RunReport["returns"]>;
    const day = 86_400_000;
    const at = (date: number) => Date.UTC(2024, 0, date) + day;
    const drawdowns = [
      { startAt: at(3), bottomAt: at(9), endAt: at(20), depth: "1234.5", percent: "12.3456", below: 16 },
      { startAt: at(25), bottomAt: at(27), depth: "10", percent: "0.1", below: 7 },
    ];
    const months = [
      { month: "2023-12", percent: "1.25" },
      { month: "2024-01", percent: "-10.5" },
    ];
    const benchmark = {
      instId: "BTC-USDT",
      percent: "12.5",
      volatilityPercent: "40",
      sharpe: "1.25",
      drawdownPercent: "30",
    };
    const lines = show({ benchmark, returns: { ...returns, per: "year", drawdowns, months } })
      .split("\n")
      .map((line) => line.trim().replace(/\s+/g, " "));
    expect(lines).toContain("Buy and hold of BTC-USDT: +12.50 %, Sharpe 1.25, drawdown 30.00 %; this run:");
    expect(lines).toContain("fell from bottom back depth days");
    expect(lines).toContain("1 2024-01-03 2024-01-09 2024-01-20 12.35 % 16");
    expect(lines).toContain("2 2024-01-25 2024-01-27 not yet 0.10 % 7");
    expect(lines).toContain("2023 1.3");
    expect(lines).toContain("2024 -10.5");
    expect(show({ returns: { ...returns, drawdowns } })).not.toContain("fell from");
  });

  it("tells returns with their base and what ratios rest on", () => {
    const { returns } = sampleReport();
    const words = (change: Partial<typeof returns>): string =>
      show({ returns: { ...(returns as NonNullable<typeof returns>), ...change } }).replace(/\s+/g, " ");
    const year = words({
      per: "year",
      cagrPercent: "12.3456",
      volatilityPercent: "8",
      sharpe: "1.5",
      samples: 400,
      everyMs: 1_512_000,
    });
    expect(year).toContain(
      "Annualised: CAGR +12.35 %, volatility 8.00 %, Sharpe 1.50, Sortino 0.71, Calmar -. Omega -.",
    );
    expect(year).toContain("In percent of the equity at the start, 10,000.00 USDT;");
    expect(year).toContain("from 400 days from close to close in UTC, annualised over 365 days, risk-free rate 0.");
    expect(year).toContain("Days: +0.01 % on average, best +0.40 %, worst -0.38 %; 53 % rose of those that moved.");
    expect(year).toContain("One day in twenty is expected below -0.29 %, those at -0.36 % on average (normal)");
    expect(words({ per: "year" })).toContain("CAGR beyond 1,000,000 %");
    expect(words({})).toContain(
      "Annualised figures need at least 7 days. Of this run: volatility 2.50 %, Sharpe 0.51, Sortino 0.71.",
    );
    expect(words({})).toContain("each, not annualised, risk-free rate 0.");
  });

  it("tells trades of each strategy and of all, and a dash where there were none", () => {
    const text = show();
    expect(text).toMatch(/all +ladder +market-maker\n/);
    expect(rowOf(text, "won")).toMatch(/^ won +29 \(71 %\) +- +-$/);
    expect(rowOf(text, "break-even")).toMatch(/1 \(2 %\) +- +-$/);
    expect(rowOf(text, "profit factor")).toMatch(/6\.04 +- +-$/);
    expect(rowOf(text, "average loss")).toMatch(/-1\.96 +- +-$/);
    const { trades } = sampleReport();
    const { profitFactor: _, ...won } = { ...trades, lost: 0, loss: "0" };
    expect(rowOf(show({ trades: won }), "profit factor")).toMatch(/no loss +- +-$/);
  });

  it("sets strategies whose trades do not fit beside the others below them, and drops none", () => {
    const names = Array.from({ length: 9 }, (_, index) => `strategy ${index}`);
    const text = show(
      { perStrategy: Object.fromEntries(names.map((name) => [name, strategy()])) },
      { columns: 60, colour: false },
    );
    const section = text.split(" Trades ")[1]?.split(" Quota ")[0] ?? "";
    for (const name of [...names, "all"]) expect(section).toContain(name);
    expect(section.match(/time in market/g)?.length).toBeGreaterThan(1);
  });

  it("sets blocks below each other where figures are too wide for two", () => {
    const lines = show({ pnl: "-123456789012.34", volume: "999999999999999.99" }).split("\n");
    expect(lines.some((line) => /^ Orders ─/.test(line))).toBe(true);
  });

  it("leaves out positions where nothing is held", () => {
    expect(show({ positions: [] })).not.toContain("Held at the end");
  });

  it("draws no line where there is none to draw", () => {
    expect(show({ equity: [] })).toContain("Fewer than two points were recorded.");
  });

  it("keeps its look at 80 columns", () => {
    expect(show()).toMatchInlineSnapshot(`
      "
       Backtest of demo  seed 7
       2026-01-05 00:00 to 01:00 UTC (1 h), 93,954 rows, fixture a91b22c3…
       1,204,311 events in 1.82 s, 1,978 × real time

       Equity in USDT ───────────────────────────────────────────────────────────────
       10,104.22 ┤              ⣤  ⢸⢧  ⣄
                 │       ⣀  ⢸⢦⡀ ⡏⠳⡄⢸⠘⣆ ⡟⣆ ⢸⡄                              ⣀
                 │   ⢰⣆  ⡏⢧ ⢸ ⢳⡀⡇ ⠙⣾ ⠘⣆⡇⠸⡄⢸⠙⡆ ⡿⡄ ⢠⡄                ⣀  ⢸⢦  ⡟ 10,065.69
                 │⡿⡄ ⢸⠘⢦⡀⡇⠈⠳⣼  ⠙⠇  ⠉  ⠸⠇ ⠙⣾ ⠹⡄⡇⠹⡄⢸⢳⡀ ⣿⡀ ⢀   ⣀  ⢰⣆  ⡏⢧ ⢸⠈⢧ ⡇
                 │⡇⠉⢧⢸  ⢳⡇  ⠉             ⠉  ⠳⡇ ⢳⣸ ⢹⡀⡇⢳ ⢸⢳  ⡟⢦ ⢸⠈⢳⡀⡇⠈⢳⣸ ⠈⠹⡇
                 │⡇ ⠈⠛                           ⠹  ⢳⡇⠈⢳⢸⠈⢧⡀⡇⠈⢳⣸  ⢳⡇  ⠉
        9,987.44 ┤⠁·································⠈⠁·⠈⠿··⠹⡇··⠙···········
                 └┬────────┬─────────┬────────┬─────────┬────────┬─────────
                  00:00    00:10     00:20    00:30     00:40    00:50

       Money ───────────────────────────────────  Orders ────────────────────────────
       result           +128.40  +1.28 %          placed       2,204  702 fills
       before fees      +170.62                   filled         611  28 %
         realised       +150.12  closed           canceled     1,588  72 %
         unrealised      +20.50  still held       rejected         3  by the service
       fees paid          42.22  2.10 bp          refused         12  before sending
       volume        201,040.55  20.10 × equity   open at end      9  1,804.50
       drawdown           82.17  0.81 %           maker fills    690  at 2.03 bp
                                                  taker fills     12  at 5.00 bp

       Returns ──────────────────────────────────────────────────────────────────────
       Annualised figures need at least 7 days. Of this run: volatility 2.50 %,
       Sharpe 0.51, Sortino 0.71.
         In percent of the equity at the start, 10,000.00 USDT; ratios from 199
         returns over 18.1 s each, not annualised, risk-free rate 0.

       Trades ───────────────────────────────────────────────────────────────────────
                              all  ladder  market-maker
       trades                  41       0             0
       won              29 (71 %)       -             -
       lost             11 (27 %)       -             -
       break-even         1 (2 %)       -             -
       average win          +4.50       -             -
       average loss         -1.96       -             -
       profit factor         6.04       -             -
       expectancy           +2.66       -             -
       best                +18.25       -             -
       worst                -7.50       -             -
       net, closed        +108.90    0.00          0.00
       still held               1       0             0
       net, still held     +19.50    0.00          0.00
       average time     1 min 2 s       -             -
       time in market      75.0 %   0.0 %         0.0 %
       A trade runs from flat to flat, after fees and funding; expectancy is its
       average net profit. What is still held is in no other figure.

       Quota ────────────────────────────────────────────────────────────────────────
       uid weight a minute    █████████████████████████████▋   1,185 of 1,200    99 %
       key requests a second  ██████████████████████████████      10 of    10   100 %
       ip  requests a minute  ███████▊······················     312 of 1,200    26 %
           over time          ▄▆▇█▅▇█▅▆█▄▆▇█▅▇█▅▇█▅▇█▅ peak minute of each 3 min

       4,310 requests, weight 58,220, no 429, no minute blocked, reserve used 3 times

       scheduling delay    p50      0 ms   p99    1.23 s   max 14 s
       submit to placed    p50     25 ms   p99    1.31 s   2,204 orders
       submit to canceled  p50     24 ms   p99     81 ms   611 cancels
       delayed in all      1 h 5 min: 1 h 5 min for weight, 20 s for the key's second

       Strategies ───────────────────────────────────────────────────────────────────
                     placed  filled  canceled   result   fees  weight      delay
       ladder         1,402     401     1,001  +150.20  30.11  38,000       0 ms
       market-maker     800     210       587   -21.80  12.10       0  1 h 5 min
       Batch cancels and the engine's own reads weighed 20,220: no strategy's.

       Held at the end ──────────────────────────────────────────────────────────────
       strategy  instrument     quantity    average       mark  unrealised
       ladder    BTC-USDT-SWAP     +0.05  60,010.50  60,420.50      +20.50

       Refused and rejected orders ──────────────────────────────────────────────────
       31 × by the service: 51026 a post-only order would have taken
            ladder, slot bid 1
        4 × before sending: the size is below one lot of 0.001 BTC
            ladder, slot bid 1

       Recording ────────────────────────────────────────────────────────────────────
       BTC-USDT-SWAP quote  90,000 rows  no gap over 5 min, both sides quoted 99.9 %
                                         of the time
       BTC-USDT-SWAP trade   3,954 rows  1 gap over 5 min, longest 7 min from
                                         2026-01-05 00:20

       Assumptions ──────────────────────────────────────────────────────────────────
       what        assumed                           consequence
       Unit of sz  quote currency (H3)
       Latency     lognormal, median 25 ms           prices move on

       result hash 3f9a2c41d0b7e8865c1f9a2c41d0b7e8865c1f9a2c41d0b7e8865c1f9a2c41d0

      "
    `);
  });
});

it("A run that ends more orders than it placed has no share of them", () => {
  const { orders } = sampleReport();
  const text = show({ orders: { ...orders, placed: 21, canceled: 22 } });
  expect(text).toMatch(/canceled +22 +earlier ones too/);
  expect(text).not.toContain("105 %");
});
