import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CcxtBar } from "../../../plugins/ccxt/ccxt-exchange.ts";
import { main } from "../../../src/cli/main.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { type CapturedIo, capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { CcxtLike } from "./harness/ccxt-like.ts";

const start = Date.parse("2024-01-01T00:00:00Z");
const bars = (count: number): readonly CcxtBar[] =>
  Array.from({ length: count }, (_, index) => [start + index * 60_000, 100, 101, 99, 100 + (index % 2) / 10, 1]);

const run = async (args: readonly string[], change: (exchange: CcxtLike, io: CapturedIo) => void = () => undefined) => {
  const clock = createVirtualClock(start + 86_400_000);
  const exchange = new CcxtLike(clock.now, 0);
  exchange.bars = bars(30);
  const io = capturedIo();
  change(exchange, io);
  const asked: string[] = [];
  const choose = (id: string) => {
    asked.push(id);
    return exchange;
  };
  const code = await main(["fetch", ...args], io, { clock, exchange: choose });
  return { code, out: io.outText, err: io.errText, asked };
};

const span = ["--from", "2024-01-01", "--to", "2024-01-01T00:40:00Z"];

describe("sluice fetch", () => {
  it("writes a fixture, says what it holds, and tells the gaps", async () => {
    const out = join(temporaryFolder("fetch-command"), "m");
    const { code, out: text, err, asked } = await run(["testex", "BTC/USDT:USDT", ...span, "--out", out]);
    expect([code, asked]).toEqual([0, ["testex"]]);
    expect(text).toContain("BTC-USDT-SWAP  candle 60000 ms: 30");
    expect(err).toBe("no data: BTC-USDT-SWAP from 2024-01-01T00:30:00.000Z to 2024-01-01T00:40:00.000Z (10 bars)\n");
  });

  it("prints one JSON document with the gaps", async () => {
    const out = join(temporaryFolder("fetch-command"), "m");
    const { out: text } = await run(["testex", "BTC-USDT-SWAP", "BTC-USDT", ...span, "--out", out, "--json"]);
    const told = JSON.parse(text) as {
      rows: number;
      gaps: readonly object[];
      instruments: readonly { instId: string }[];
    };
    expect([told.rows, told.gaps.length, told.instruments.map(({ instId }) => instId)]).toEqual([
      60,
      2,
      ["BTC-USDT-SWAP", "BTC-USDT"],
    ]);
  });

  it("stops on Ctrl-C with what it has, and goes on with the same command", async () => {
    const out = join(temporaryFolder("fetch-command"), "m");
    const args = ["testex", "BTC-USDT", ...span, "--out", out];
    const stopped = await run(args, (exchange, io) => {
      exchange.quirks = { cap: 5 };
      exchange.fetch2 = async () => {
        if (exchange.asked.push({ method: "bars", since: 0, at: 0 }) === 3) io.stop();
        return undefined;
      };
    });
    expect([stopped.code, stopped.out, existsSync(out)]).toEqual([130, "", false]);
    expect(stopped.err).toContain(
      `The fetch was stopped. What was fetched is kept in ${out}.part; the same command continues from there.`,
    );
    const { code, out: text } = await run(args);
    expect([code, existsSync(`${out}.part`)]).toEqual([0, false]);
    expect(text).toContain("BTC-USDT  candle 60000 ms: 30");
  });

  it("prints the terms of products", async () => {
    const { out, code } = await run(["testex", "BTC-USDT-SWAP", "BTC-USDT", "--kind", "instruments"]);
    expect([code, out]).toEqual([
      0,
      "BTC-USDT-SWAP  BTC/USDT:USDT  tick 0.1  lot 0.001  contract 1  fees 2/5 bp\nBTC-USDT  BTC/USDT  tick 0.1  lot 0.001  fees 10/10 bp\n",
    ]);
  });

  it.each<[string, readonly string[], number, RegExp]>([
    ["no beginning", ["testex", "BTC-USDT", "--out", "x"], 2, /--from is missing/],
    ["no folder", ["testex", "BTC-USDT", ...span], 2, /--out is missing/],
    [
      "another product",
      ["testex", "XBT-USDT", ...span, "--out", "x"],
      2,
      /testex lists no XBT-USDT \(XBT\/USDT\)\. Did you mean "BTC\/USDT"/,
    ],
    [
      "a time without data",
      ["testex", "BTC-USDT", "--from", "2023-01-01", "--to", "2023-01-02", "--out", join(temporaryFolder("no"), "x")],
      1,
      /shows nothing of BTC\/USDT/,
    ],
  ])("ends with a message where there is %s", async (_, args, expected, message) => {
    const { code, err } = await run(args);
    expect([code, existsSync("x")]).toEqual([expected, false]);
    expect(err).toMatch(message);
  });
});
