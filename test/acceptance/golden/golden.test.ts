/**
 * Every shipped strategy on every market: what came out when somebody last looked at it.
 *
 * A failure names the figure that moved. If it was meant to move, run `node test/acceptance/golden/accept.mjs`, read the difference it makes
 * in test/acceptance/golden/*.json as a reviewer would, and commit it with the change that caused it.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { defineConfig, type Strategy } from "../../../src/index.ts";
import { backtest, lognormal, type ReadMarket, runBacktest } from "../../../src/backtest.ts";
import averageCross from "../../../strategies/average-cross.ts";
import bands from "../../../strategies/bands.ts";
import joinBest from "../../../strategies/join-best.ts";
import ladder from "../../../strategies/ladder.ts";
import { type Figures, figuresOf, moved } from "./figures.ts";
import { type GoldenMarket, markets } from "./markets.ts";

const accepts = process.env["SLUICE_GOLDEN"] === "accept";
const here = fileURLToPath(new URL(".", import.meta.url));

/** As the demo has them; on bars alone only those that look at bars have something to do. */
const strategies: Readonly<Record<string, { readonly on: readonly string[]; readonly make: (market: GoldenMarket) => Strategy }>> = {
  "average-cross": {
    on: ["demo", "perpetual", "spot", "bars"],
    make: ({ barMs }) => averageCross({ barMs, fast: 8, slow: 21, qty: "0.02" }),
  },
  bands: { on: ["demo", "perpetual", "spot", "bars"], make: ({ barMs }) => bands({ barMs, bars: 20 }) },
  "join-best": {
    on: ["demo", "perpetual", "spot"],
    make: ({ keepWithin }) => joinBest({ notional: "200", keepWithin, most: 2 }),
  },
  ladder: { on: ["demo", "perpetual", "spot"], make: ({ step }) => ladder({ levels: 4, notional: "200", step }) },
};
/** Stands in the folder of strategies and is none. */
const others = ["streamed"];

interface Golden {
  readonly contentHash: string;
  readonly figures: Figures;
}

const fileOf = (strategy: string): string => `${here}${strategy}.json`;
const keptOf = (strategy: string): Readonly<Record<string, Golden>> =>
  existsSync(fileOf(strategy)) ? (JSON.parse(readFileSync(fileOf(strategy), "utf8")) as Record<string, Golden>) : {};

const run = async (strategy: Strategy, market: ReadMarket): Promise<Figures> => {
  const balances = { USDT: "10000", USD: "10000", BTC: "0.2" };
  const service = backtest({ latency: lognormal({ medianMs: 25 }), fees: { makerBps: "2", takerBps: "5" }, balances });
  const config = defineConfig({ service, strategies: [strategy], orders: { allowUncancellable: true } });
  return figuresOf(await runBacktest(config, { market, seed: "golden", print: () => undefined }));
};

describe("Golden results", async () => {
  const found = new Map<string, Record<string, Golden>>(Object.keys(strategies).map((name) => [name, { ...keptOf(name) }]));
  const remedy = "\nIf this is meant, run `node test/acceptance/golden/accept.mjs` and commit what it changes in test/acceptance/golden.";

  for (const market of markets) {
    const read = await market.read();
    const about = Object.entries(strategies).filter(([, { on }]) => on.includes(market.name));
    if (read === undefined) console.log(`skipped: no recording for the market "${market.name}"; name its folder in SLUICE_RECORDINGS`);
    it.runIf(read).each(about)(`of %s on ${market.name} are as they were`, async (name, { make }) => {
      const given = read as ReadMarket;
      const kept = keptOf(name)[market.name];
      if (!accepts && kept !== undefined && kept.contentHash !== given.facts.contentHash) {
        console.log(`skipped: the recording for the market "${market.name}" is not the one that was looked at`);
        return;
      }
      const figures = await run(make(market), given);
      const lines = moved(kept?.figures, figures);
      if (accepts) {
        for (const line of lines) console.log(`${name} on ${market.name}: ${line}`);
        found.set(name, { ...found.get(name), [market.name]: { contentHash: given.facts.contentHash, figures } });
      } else if (lines.length > 0) expect.fail(`${name} on ${market.name}:\n  ${lines.join("\n  ")}${remedy}`);
    });
  }

  it("are there for every strategy", () => {
    const names = readdirSync(new URL("../../../strategies", import.meta.url)).map((file) => file.replace(/\.ts$/, ""));
    expect(Object.keys(strategies).sort()).toEqual(names.filter((name) => !others.includes(name)).sort());
  });

  afterAll(() => {
    if (accepts) for (const [name, golden] of found) writeFileSync(fileOf(name), `${JSON.stringify(golden, undefined, 2)}\n`);
  });
});

describe("A golden result that differs", () => {
  const was: Figures = { placed: 3, pnl: "-1.2", resultHash: "aa" };
  it.each<[string, Figures | undefined, Figures, readonly string[]]>([
    ["says nothing when it is", was, was, []],
    [
      "names each figure",
      was,
      { placed: 4, pnl: "-1.3", resultHash: "bb" },
      ["placed: was 3, is 4", "pnl: was -1.2, is -1.3", "resultHash: was aa, is bb"],
    ],
    [
      "says so when the figures stand",
      was,
      { ...was, resultHash: "bb" },
      ["resultHash: was aa, is bb; the figures stand, something else in the report moved"],
    ],
    [
      "names figures that came or went",
      was,
      { placed: 3, resultHash: "aa", fees: "1" },
      ["pnl: was -1.2, is not there any more", "fees: was not there, is 1"],
    ],
    ["says so when there was none", undefined, was, ["there is no golden result yet"]],
  ])("%s", (_, before, after, lines) => {
    expect(moved(before, after)).toEqual(lines);
  });
});
