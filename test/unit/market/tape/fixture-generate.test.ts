/** The made market is the same everywhere, plausible, and the committed demo is what its manifest says. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addGenerateCommand } from "../../../../src/cli/generate.ts";
import { type FixtureManifest, hashOfRows, readFixture } from "../../../../src/market/tape/fixture.ts";
import { generateTape, instrumentFor } from "../../../../src/market/tape/generate.ts";
import type { QuoteSeries, Tape, TradeSeries } from "../../../../src/market/tape/tape.ts";
import { capturedIo } from "../../../support/captured-io.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const demo = fileURLToPath(new URL("../../../fixtures/demo", import.meta.url));
const home = temporaryFolder("generate");

type GenerateOptions = Parameters<typeof generateTape>[0];
const options: GenerateOptions = {
  seed: 7,
  minutes: 10,
  instruments: ["BTC-USDT-SWAP", "ETH-USDT"].map(instrumentFor),
};

const pairsOf = (tape: Tape): readonly (readonly [QuoteSeries, TradeSeries])[] =>
  tape.instruments.map((_, instrument) => {
    const of = (kind: string) => tape.series.find((series) => series.instrument === instrument && series.kind === kind);
    return [of("quote") as QuoteSeries, of("trade") as TradeSeries];
  });

const run = async (...words: string[]): Promise<string> => {
  const io = capturedIo();
  const program = new Command("sluice").exitOverride().configureOutput({ writeErr: () => undefined });
  addGenerateCommand(program, io);
  await program.parseAsync(["generate", ...words], { from: "user" });
  return io.outText;
};

describe("A generated market", () => {
  it("tells day by day how far it is, which changes nothing in it", () => {
    const told: number[][] = [];
    const onProgress = (...progress: readonly [number, number]): void => {
      told.push([...progress]);
    };
    const long = { ...options, minutes: 3_000, quotesPerMinute: 2 };
    const [plain, watched] = [generateTape(long), generateTape({ ...long, onProgress })];
    expect(told).toEqual([1_440, 2_880, 4_440, 5_880].map((done) => [done, 6_000]));
    expect(watched).toEqual(plain);
    // The hash of the same market made in one piece.
    expect(hashOfRows(plain)).toBe("5eff3d1438b221fda9800022d075aa035854ed2c3775ac4642415ed30317b0bb");
  });

  it("is the same for the same seed and another for another", () => {
    expect(generateTape(options)).toEqual(generateTape(options));
    expect(generateTape({ ...options, seed: 8 }).series).not.toEqual(generateTape(options).series);
  });

  it("does not change for one instrument when another is left out", () => {
    const [, eth] = options.instruments;
    const alone = generateTape({ ...options, instruments: eth ? [eth] : [] });
    expect(alone.series.map(({ at }) => at)).toEqual(
      generateTape(options)
        .series.slice(2)
        .map(({ at }) => at),
    );
  });

  it("has the same bytes on every machine", async () => {
    const { contentHash } = JSON.parse(
      await run(
        "--out",
        join(home, "known"),
        "--seed",
        "7",
        "--minutes",
        "10",
        "--instrument",
        "BTC-USDT-SWAP",
        "--json",
      ),
    );
    expect(contentHash).toBe("686e282e2021c7a1df391b36681752d9e54ce95f9a4cb9fa9a1a77e7b4c2a186");
  });

  it("keeps bids below asks, trades at the quote they met, and never more than it displayed", () => {
    const seeds = fc.tuple(fc.integer(), fc.constantFrom(1, 30, 120, 3000));
    fc.assert(
      fc.property(seeds, ([seed, quotesPerMinute]) => {
        for (const [quotes, trades] of pairsOf(generateTape({ ...options, seed, minutes: 2, quotesPerMinute }))) {
          const met = (at: number): number => quotes.at.findLastIndex((quoted) => quoted <= at);
          const left = new Map<string, number>();
          expect(
            quotes.at.every(
              (at, row) =>
                at >= 0 && (quotes.bidPx[row] ?? 0) > 0 && (quotes.bidPx[row] ?? 0) < (quotes.askPx[row] ?? 0),
            ),
          ).toBe(true);
          trades.at.forEach((at, row) => {
            const quote = met(at);
            const bought = trades.side[row] === 1;
            expect(trades.px[row]).toBe((bought ? quotes.askPx : quotes.bidPx)[quote]);
            const key = `${quote} ${bought}`;
            const rest =
              (left.get(key) ?? (bought ? quotes.askQty : quotes.bidQty)[quote] ?? 0) - (trades.qty[row] ?? 0);
            expect(rest).toBeGreaterThanOrEqual(0);
            expect(trades.qty[row]).toBeGreaterThan(0);
            left.set(key, rest);
          });
        }
      }),
      { numRuns: 15 },
    );
  });

  it("has about the quotes asked for, spreads and sizes that vary, and trades in clusters", () => {
    const tape = generateTape({ ...options, minutes: 120 });
    expect([tape.startAt, tape.endAt <= tape.startAt + 120 * 60_000]).toEqual([1_704_067_200_000, true]);
    for (const [quotes, trades] of pairsOf(tape)) {
      const spreads = new Set(Array.from(quotes.bidPx, (bid, row) => (quotes.askPx[row] ?? 0) - bid));
      const perMinute = new Float64Array(120);
      for (const at of trades.at)
        perMinute[Math.floor((at - tape.startAt) / 60_000)] =
          (perMinute[Math.floor((at - tape.startAt) / 60_000)] ?? 0) + 1;
      const mean = trades.at.length / 120;
      const variance = perMinute.reduce((total, count) => total + (count - mean) ** 2, 0) / 120;
      expect(quotes.at.length / 120).toBeGreaterThan(90);
      expect(quotes.at.length / 120).toBeLessThan(180);
      expect(spreads.size).toBeGreaterThan(2);
      expect(new Set(quotes.bidQty).size).toBeGreaterThan(100);
      // Independent arrivals would have a variance near the mean.
      expect(variance / mean).toBeGreaterThan(2);
    }
  });

  it.each<[string, Partial<GenerateOptions>, RegExp]>([
    ["no minutes", { minutes: 0 }, /minutes is 0; give a whole number from 1/],
    ["half a minute", { minutes: 0.5 }, /minutes is 0.5/],
    ["too many quotes", { quotesPerMinute: 1e9 }, /quotesPerMinute/],
    ["no instrument", { instruments: [] }, /at least one instrument/],
    ["a start before the epoch", { startAt: -1 }, /startAt/],
    [
      "a price of few ticks",
      { instruments: [{ instId: "A-B", startPx: "0.05", tickSize: "0.01", lotSize: "1" }] },
      /fewer than 100 ticks/,
    ],
    ["an instrument twice", { instruments: [instrumentFor("A-B"), instrumentFor("A-B")] }, /A-B is listed twice/],
  ])("refuses %s", (_, change, message) => {
    expect(() => generateTape({ ...options, ...change })).toThrow(message);
  });
});

describe("sluice generate", () => {
  it("writes a fixture and says what is in it", async () => {
    const out = join(home, "spoken");
    const text = await run(
      "--out",
      out,
      "--minutes",
      "2",
      "--start",
      "2025-03-01",
      "--instrument",
      "SOL-USDT",
      "DOGE-USDT",
    );
    const { manifest } = readFixture(out);
    expect(text).toContain(`${out}: `);
    expect(text).toContain(`contentHash ${manifest.contentHash}\n`);
    expect(manifest.startAt).toBe("2025-03-01T00:00:00.000Z");
    expect(manifest.instruments.map(({ instId }) => instId)).toEqual(["SOL-USDT", "DOGE-USDT"]);
  });

  it("prints one JSON object with --json", async () => {
    const out = join(home, "json");
    const text = await run("--out", out, "--minutes", "1", "--instrument", "BTC-USDT", "--json");
    expect(text.trim().split("\n").length).toBe(1);
    expect(JSON.parse(text)).toEqual({ fixture: out, ...readFixture(out).manifest });
  });

  it("replaces a fixture only with --force", async () => {
    const out = join(home, "twice");
    await run("--out", out, "--minutes", "1", "--instrument", "BTC-USDT");
    const again = ["--out", out, "--minutes", "1", "--instrument", "ETH-USDT"];
    await expect(run(...again)).rejects.toThrow(/twice holds a fixture already: \d+ rows of BTC-USDT .*--force/);
    expect(readFixture(out).manifest.instruments.map(({ instId }) => instId)).toEqual(["BTC-USDT"]);
    await run(...again, "--force");
    expect(readFixture(out).manifest.instruments.map(({ instId }) => instId)).toEqual(["ETH-USDT"]);
  });

  it.each([
    [["--instrument", "btc"], /INST|is not an instrument/],
    [["--instrument", "BTC-USDT", "--start", "yesterday"], /not an instant in UTC/],
    [["--instrument", "BTC-USDT", "--start", "2025-13-01"], /not an instant in UTC/],
    [["--instrument", "BTC-USDT", "--minutes", "1.5"], /whole number/],
    [["--instrument", "BTC-USDT", "--minutes", "0"], /minutes is 0/],
    [[], /required option '--instrument/],
  ])("refuses %j", async (words, message) => {
    await expect(run("--out", join(home, "refused"), ...words)).rejects.toThrow(message);
  });
});

describe("The demo fixture", () => {
  const { manifest, tape } = readFixture(demo);
  const command = /made by: sluice generate (.*)$/.exec(manifest.source)?.[1] ?? "";

  it("is what the command in its manifest makes", async () => {
    const words = command.split(" ");
    words[words.indexOf("--out") + 1] = join(home, "demo");
    const again = JSON.parse(await run(...words, "--json")) as FixtureManifest;
    expect(again.contentHash).toBe(manifest.contentHash);
  });

  it("holds two perpetuals for an hour in less than 600 KB", () => {
    expect(tape.instruments.map(({ instId }) => instId)).toEqual(["BTC-USDT-SWAP", "ETH-USDT-SWAP"]);
    expect(tape.endAt - tape.startAt).toBeGreaterThan(59 * 60_000);
    const bytes = manifest.series.reduce((total, { file }) => total + statSync(join(demo, file)).size, 0);
    expect(bytes).toBeLessThan(600_000);
  });
});
