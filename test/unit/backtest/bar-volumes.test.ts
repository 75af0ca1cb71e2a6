/** What the volume of bars allows: one switch for orders that take and orders that rest. */

import { concat, map, NEVER, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { volumeDoubt } from "../../../src/backtest/bar-volumes.ts";
import { candleFills, createTape, type FillModel, type RunReport } from "../../../src/backtest.ts";
import { assumptionText } from "../../../src/contract/assumption.ts";
import { seriesOf } from "../../../src/market/tape/tape.ts";
import { run, startAt, strategy } from "../../support/harness/backtest.ts";

const minute = 60_000;
type Bar = readonly [open: number, high: number, low: number, close: number, volume: number];

const tapeOf = (bars: readonly Bar[], instId: string) =>
  createTape(
    [{ instId, tickSize: "0.1", lotSize: "0.001" }],
    [
      seriesOf(
        "candle",
        0,
        Float64Array.from(bars.map((_, row) => startAt + (row + 1) * minute)),
        [0, 1, 2, 3, 4].map((column) =>
          Float64Array.from(bars.map((bar) => (bar[column] as number) * (column === 4 ? 1_000 : 10))),
        ),
        minute,
      ),
    ],
  );

/** Bars of a flat market at 1000 with these volumes in base currency. */
const flat = (volumes: readonly number[], range = 0): readonly Bar[] =>
  volumes.map((volume) => [1_000, 1_000 + range, 1_000 - range, 1_000, volume]);

const bought = async (bars: readonly Bar[], fills?: FillModel, instId = "BTC-USDT-SWAP") => {
  const buyer = strategy("buyer", {
    wanted: ({ market }) =>
      concat(
        market.candles(instId, minute).pipe(
          take(1),
          map(() => [{ slot: "in", instId, side: "buy" as const, ordType: "market" as const, qty: "2" }]),
        ),
        NEVER,
      ),
  });
  const report = await run(tapeOf(bars, instId), [buyer], fills === undefined ? {} : { fills });
  return { report, qty: report.positions[0]?.qty ?? "0" };
};

const cutLines = ({ warnings }: RunReport): readonly string[] => warnings.filter((line) => line.includes("that took"));
const volumeLines = ({ assumptions }: RunReport): readonly string[] =>
  assumptions.map(assumptionText).filter((line) => line.includes("volume") || line.includes("a third of the bar"));

describe("A market order on bars", () => {
  it("is filled completely by default, whatever the volume, and the report says so", async () => {
    const { report, qty } = await bought(flat([4, 4, 4]));
    expect(qty).toBe("2");
    expect(report.volumeCuts).toBeUndefined();
    expect(cutLines(report)).toEqual([]);
    expect(volumeLines(report).join("\n")).not.toContain("quarter");
    expect(volumeLines(report).join("\n")).toContain("orders that take are filled completely");
  });

  it("gets a quarter of the bar where volume counts, and the report warns how many were cut and by how much", async () => {
    const { report, qty } = await bought(flat([4, 4, 4]), candleFills({ volume: "traded" }));
    expect(qty).toBe("1");
    expect(report.volumeCuts).toEqual([{ instId: "BTC-USDT-SWAP", orders: 1, of: 1, percent: "49.9" }]);
    expect(cutLines(report)).toEqual([expect.stringContaining("1 of 1 order that took from bars of BTC-USDT-SWAP")]);
    expect(volumeLines(report).join("\n")).toContain("a quarter of the bar's volume");
  });

  it.each<[string, readonly Bar[], string]>([
    ["no bar has a volume", flat([0, 0, 0]), "BTC-USDT-SWAP"],
    ["brokers count price changes", flat([1, 2, 1], 1), "EUR-USDT-SWAP"],
    ["volumes are in the quote currency", flat([2_300_000, 2_300_000, 2_300_000]), "BTC-USDT-SWAP"],
    ["a bar that moved has lost its volume", [...flat([4, 0], 1), ...flat([4])], "BTC-USDT-SWAP"],
  ])("is not cut where %s", async (_, bars, instId) => {
    const { report, qty } = await bought(bars, candleFills({ volume: "traded" }), instId);
    expect(qty).toBe("2");
    expect(report.volumeCuts).toBeUndefined();
  });
});

describe("Volumes of bars", () => {
  it.each<[string, string, readonly number[], boolean]>([
    ["of a coin", "BTC-USDT", [1.234, 0, 5.1], false],
    ["of a currency that trades at an exchange", "EUR-USDT", [1_400.5, 900.1], false],
    ["of a currency, counted in price changes", "EUR-USD", [1_400, 1_322], true],
    ["of gold, counted in price changes", "XAU-USD", [1_400, 1_322], true],
    ["of a share in whole numbers", "GOOG-USD", [1_400, 1_300], false],
    ["in dollars", "BTC-USD-SWAP", [2_300_000, 2_400_000], true],
    ["of a cheap coin", "SHIB-USDT", [2_300_000, 2_400_000], false],
  ])("%s", (_, instId, volumes, doubted) => {
    const px = instId.startsWith("SHIB") ? 0.1 : 1_000;
    const tape = tapeOf(
      volumes.map((volume) => [px, px, px, px, volume]),
      instId,
    );
    const [instrument, series] = [tape.instruments[0], tape.series[0]];
    if (instrument === undefined || series?.kind !== "candle") throw new Error("no bars");
    expect(volumeDoubt(instrument, series) !== undefined).toBe(doubted);
  });
});
