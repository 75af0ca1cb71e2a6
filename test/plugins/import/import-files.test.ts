/** Several files and instruments go into one fixture, which keeps what it holds, also when an import is stopped. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import importCommand from "../../../plugins/import/command.ts";
import { explainImport, type ImportMarketOptions, importMarket } from "../../../plugins/import/import-market.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { grid } from "../../../src/decimal.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";
import type { CandleSeries, Tape } from "../../../src/market/tape/tape.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { zipOf } from "../../support/zip.ts";

const home = temporaryFolder("import-files");
const start = Date.UTC(2024, 0, 1);
const minute = 60_000;

/** Bars of the minutes `from` to `to`, whose close is the number of the minute. */
const bars = (from: number, to: number, step = 1, header = true): string =>
  [
    ...(header ? ["timestamp,open,high,low,close,volume"] : []),
    ...Array.from(
      { length: to - from },
      (_, index) =>
        `${start + (from + index) * minute},100,99999,${Math.min(0.5, step)},${((from + index + 1) * step).toFixed(2)},1.5`,
    ),
  ].join("\n");
let counter = 0;
const folder = (files: Readonly<Record<string, string | Uint8Array>>): string => {
  const dir = join(home, `in-${counter++}`);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(dir, name, ".."), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return dir;
};
const outOf = (): string => join(home, `out-${counter++}`);
const importAll = async (dir: string, options: Partial<ImportMarketOptions> = {}) =>
  importMarket({ files: [dir], out: outOf(), ...options });

const closesOf = (tape: Tape, instId: string): readonly string[] => {
  const index = tape.instruments.findIndex((one) => one.instId === instId);
  const series = tape.series.find(({ instrument, kind }) => instrument === index && kind === "candle") as CandleSeries;
  const tick = grid(tape.instruments[index]?.tickSize ?? "1");
  return Array.from(series.close, (count) => tick.format(count));
};
const minutes = (from: number, to: number, step = 1): readonly string[] =>
  Array.from({ length: to - from }, (_, index) => String(Number(((from + index + 1) * step).toFixed(2))));

describe("Several files", () => {
  it("of one instrument become one series, in the order of their time", async () => {
    const dir = folder({
      "BTCUSDT-b.csv": bars(0, 10),
      "BTCUSDT-a.csv": bars(10, 25, 0.25),
      "deeper/BTCUSDT-c.zip": zipOf({ "x.csv": bars(25, 30), "y.csv": bars(31, 33) }),
      "BTCUSDT-a.csv.CHECKSUM": "1",
    });
    const { fixture, rows, notes, files } = await importAll(dir, { instrument: "BTC-USDT" });
    const { tape } = readFixture(fixture);
    expect(closesOf(tape, "BTC-USDT")).toEqual([
      ...minutes(0, 10),
      ...minutes(10, 25, 0.25),
      ...minutes(25, 30),
      ...minutes(31, 33),
    ]);
    expect([rows, tape.startAt, tape.endAt]).toEqual([32, start + minute, start + 33 * minute]);
    expect(files?.map(({ file }) => file.slice(dir.length + 1))).toEqual([
      "BTCUSDT-a.csv",
      "BTCUSDT-b.csv",
      "deeper/BTCUSDT-c.zip/x.csv",
      "deeper/BTCUSDT-c.zip/y.csv",
    ]);
    expect(notes).toEqual([]);
  });

  it("that hold the same bars give them once, and others are refused", async () => {
    const dir = folder({ "a.csv": bars(0, 10), "b.csv": bars(8, 12) });
    const { fixture, notes } = await importAll(dir, { instrument: "BTC-USDT" });
    expect(closesOf(readFixture(fixture).tape, "BTC-USDT")).toEqual(minutes(0, 12));
    expect(notes).toEqual([{ what: "bars that another file holds as well, dropped", count: 2 }]);
    const other = folder({ "a.csv": bars(0, 10), "b.csv": bars(8, 12, 2) });
    await expect(importAll(other, { instrument: "BTC-USDT" })).rejects.toThrow(
      /a.csv and b.csv both hold rows from 2024-01-01T00:09:00.000Z to .*, which are not the same bars/,
    );
  });

  it("of several instruments stand beside each other, by the names of the files", async () => {
    const dir = folder({
      "BTCUSDT-1m-2024-01.csv": bars(0, 5),
      "ETHUSDT-1m-2024-01.csv": bars(0, 5, 0.5),
      "other.csv": bars(0, 5, 0.1),
    });
    const { fixture } = await importAll(dir, { market: "swap", instruments: { "oth*": "SOL-USDT" } });
    const { tape, manifest } = readFixture(fixture);
    expect(manifest.instruments.map(({ instId, tickSize }) => [instId, tickSize])).toEqual([
      ["BTC-USDT-SWAP", "0.5"],
      ["ETH-USDT-SWAP", "0.5"],
      ["SOL-USDT", "0.1"],
    ]);
    expect(closesOf(tape, "ETH-USDT-SWAP")).toEqual(minutes(0, 5, 0.5));
  });

  it.each<[string, Partial<ImportMarketOptions>, string | RegExp]>([
    ["BTC-USDT-SWAP-trades-2024-01-01.csv", {}, "BTC-USDT-SWAP"],
    ["BTC-USDT-candles.csv", {}, "BTC-USDT"],
    ["BTC_USDT-5m.json", {}, "BTC-USDT"],
    ["BTC_USDT_USDT-5m-futures.json", {}, "BTC-USDT-SWAP"],
    ["futures/um/daily/BTCUSDT-1m.csv", {}, "BTC-USDT-SWAP"],
    ["data/spot/BTCUSDT-1m.csv", {}, "BTC-USDT"],
    ["Binance_ETHUSDT_1h.csv", { market: "spot" }, "ETH-USDT"],
    [
      "BTCUSDT-1m.csv",
      {},
      /is BTC-USDT spot or a perpetual swap\? Write --market spot .*--instrument 'BTCUSDT\*=BTC-USDT-SWAP'/,
    ],
    ["prices.csv", {}, /its name contains no instrument/],
    ["prices.csv", { instrument: "BTCUSDT" }, /not an instrument id/],
  ])("named %s with %j are of the instrument %s", async (name, options, expected) => {
    const attempt = importAll(folder({ [name]: bars(0, 3) }), options);
    if (typeof expected !== "string") return expect(attempt).rejects.toThrow(expected);
    expect((await attempt).instruments.map(({ instId }) => instId)).toEqual([expected]);
  });

  it("are named by patterns", async () => {
    const dir = folder({
      "a-1.csv": bars(0, 3),
      "a-2.csv": bars(3, 6),
      "b-1.csv": bars(6, 9),
      "sub/a-3.csv": bars(9, 12),
    });
    const count = async (...files: string[]) =>
      (await importMarket({ files: files.map((file) => join(dir, file)), instrument: "BTC-USDT", out: outOf() })).rows;
    expect(
      await Promise.all([count("a-*.csv"), count("?-1.csv"), count("**/a-*.csv"), count("a-1.csv", "a-*.csv")]),
    ).toEqual([6, 6, 9, 6]);
    await expect(count("c-*.csv")).rejects.toThrow(/c-\*.csv: no file matches. Quote patterns/);
    await expect(importAll(folder({ "x.md": "x" }))).rejects.toThrow(/the folder holds no files/);
  });
});

describe("Files of trades", () => {
  const trades = (rows: readonly (readonly [number, number])[]): string =>
    ["time,price,size,side", ...rows.map(([ms, px]) => `${start + ms},${px},1,buy`)].join("\n");
  const pricesOf = async (options: Readonly<Record<string, string>>): Promise<readonly number[]> => {
    const { tape } = readFixture((await importAll(folder(options), { instrument: "BTC-USDT" })).fixture);
    const [series] = tape.series;
    return series?.kind === "trade" ? [...series.px] : [];
  };

  it("may meet at an instant, and must not overlap", async () => {
    expect(
      await pricesOf({
        "b.csv": trades([
          [0, 1],
          [5, 2],
        ]),
        "a.csv": trades([
          [5, 3],
          [9, 4],
        ]),
      }),
    ).toEqual([1, 2, 3, 4]);
    await expect(
      pricesOf({
        "a.csv": trades([
          [0, 1],
          [5, 2],
        ]),
        "b.csv": trades([
          [4, 3],
          [9, 4],
        ]),
      }),
    ).rejects.toThrow(/a.csv and b.csv both hold rows from 2024-01-01T00:00:00.004Z/);
  });

  it("that come newest first keep the order of those of one instant", async () => {
    expect(
      await pricesOf({
        "a.csv": trades([
          [9, 5],
          [5, 4],
          [5, 3],
          [5, 2],
          [0, 1],
        ]),
      }),
    ).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("A fixture that is there", () => {
  const made = async (): Promise<string> =>
    (await importAll(folder({ "a.csv": bars(0, 10) }), { instrument: "BTC-USDT" })).fixture;
  const add = (out: string, content: string, options: Partial<ImportMarketOptions> = {}) =>
    importMarket({ files: [folder({ "more.csv": content })], instrument: "BTC-USDT", out, ...options });

  it("keeps its instruments when another one comes", async () => {
    const out = await made();
    await add(out, bars(0, 10, 0.03), { instrument: "ETH-USDT" });
    const { tape, manifest } = readFixture(out);
    expect(manifest.instruments.map(({ instId }) => instId)).toEqual(["BTC-USDT", "ETH-USDT"]);
    expect(closesOf(tape, "BTC-USDT")).toEqual(minutes(0, 10));
    expect(closesOf(tape, "ETH-USDT")).toEqual(minutes(0, 10, 0.03));
    expect(manifest.source).toBe(
      "Candles from a.csv; timestamps mark the open of a bar. Candles from more.csv; timestamps mark the open of a bar.",
    );
  });

  it("is continued by later rows, in a finer step where these need one", async () => {
    const out = await made();
    await add(out, bars(10, 20, 0.01));
    const { tape } = readFixture(out);
    expect(tape.instruments[0]?.tickSize).toBe("0.01");
    expect(closesOf(tape, "BTC-USDT")).toEqual([...minutes(0, 10), ...minutes(10, 20, 0.01)]);
  });

  it("takes trades beside its bars, in steps that fit both", async () => {
    const out = await made();
    await add(out, `time,price,size,side\n${start},100.3,0.4,buy\n`);
    const { tape } = readFixture(out);
    expect(tape.instruments).toEqual([{ instId: "BTC-USDT", tickSize: "0.1", lotSize: "0.00000001" }]);
    expect(tape.series.map(({ kind }) => kind)).toEqual(["trade", "candle"]);
    expect(closesOf(tape, "BTC-USDT")).toEqual(minutes(0, 10));
  });

  it("loses rows only to others of their time, and only with force", async () => {
    const out = await made();
    await expect(add(out, bars(5, 8, 2))).rejects.toThrow(expect.objectContaining({ code: "USAGE" }));
    expect(closesOf(readFixture(out).tape, "BTC-USDT")).toEqual(minutes(0, 10));
    const { notes } = await add(out, bars(5, 8, 2), { force: true });
    expect(closesOf(readFixture(out).tape, "BTC-USDT")).toEqual([
      ...minutes(0, 5),
      ...minutes(5, 8, 2),
      ...minutes(8, 10),
    ]);
    expect(notes).toEqual([{ what: "rows replaced", count: 3 }]);
  });

  it("is as it was where a file fails or the import is stopped", async () => {
    const out = await made();
    const before = readdirSync(out).map((file) => readFileSync(join(out, file), "base64"));
    const unchanged = () => {
      expect(readdirSync(out).map((file) => readFileSync(join(out, file), "base64"))).toEqual(before);
      expect(readdirSync(home).filter((name) => name.startsWith("."))).toEqual([]);
    };
    await expect(add(out, `${bars(10, 20)}\nbroken`)).rejects.toThrow(/:12: 1 cells; the header names 6/);
    unchanged();
    const stop = new AbortController();
    const seen: number[] = [];
    const onProgress = ({ bytes, ofBytes }: { bytes: number; ofBytes: number }) => {
      seen.push(bytes / ofBytes);
      if (bytes > 0) stop.abort();
    };
    await expect(add(out, bars(10, 20_000), { signal: stop.signal, onProgress })).rejects.toThrow(
      expect.objectContaining({ code: "STOPPED" }),
    );
    unchanged();
    expect(seen).toEqual([0, expect.closeTo(0.3, 0)]);
  });

  it("that is damaged is replaced only with force", async () => {
    const out = await made();
    writeFileSync(join(out, "BTC-USDT.candle-60000.bin"), "x");
    await expect(add(out, bars(0, 5))).rejects.toThrow(/The fixture is damaged/);
    await add(out, bars(0, 5), { force: true });
    expect(closesOf(readFixture(out).tape, "BTC-USDT")).toEqual(minutes(0, 5));
  });
});

describe("sluice import", () => {
  const run = async (words: readonly string[], isTty = false) => {
    const io = capturedIo({ isTty });
    const program = new Command("sluice").exitOverride();
    importCommand.add(program, io, { clock: createVirtualClock(0) });
    await program.parseAsync(["import", ...words], { from: "user" });
    return io;
  };

  it("says with --explain how files would be read, and writes nothing", async () => {
    const text = [
      "id,price,qty,quote_qty,time,is_buyer_maker",
      `1,42000.5,0.010,420,${start},true`,
      `2,42001,0.020,840,${start + 5},false`,
    ].join("\n");
    const file = join(
      folder({ "BTCUSDT-trades-2024-01-01.zip": zipOf({ "BTCUSDT-trades-2024-01-01.csv": text }) }),
      "BTCUSDT-trades-2024-01-01.zip",
    );
    const { outText } = await run([file, "--market", "swap", "--explain"]);
    expect(outText).toBe(
      [
        `${file}/BTCUSDT-trades-2024-01-01.csv (zip)`,
        "  layout: binance-trades (Binance Vision trades, spot and futures), CSV with names of columns",
        "  columns: time = time, price = price, qty = qty, buyerIsMaker = is_buyer_maker, id = id",
        "  time: milliseconds since the epoch, UTC",
        "  instrument: BTC-USDT-SWAP, tick size 0.5, lot size 0.01",
        "  rows: 2, from 2024-01-01T00:00:00.000Z to 2024-01-01T00:00:00.005Z",
        "  trade of BTC-USDT-SWAP, as it will be:",
        "    2024-01-01T00:00:00.000Z  side -1  px 42000.5  qty 0.01",
        "    2024-01-01T00:00:00.005Z  side 1  px 42001  qty 0.02",
        "Nothing was written.",
        "",
      ].join("\n"),
    );
    await expect(run([file, "--market", "swap"])).rejects.toThrow(/--out is missing/);
    expect(await explainImport({ file, market: "swap" })).toBe(outText);
  });

  it("takes instruments by pattern, and tells what it read and its progress on a terminal", async () => {
    const dir = folder({ "one.csv": bars(0, 5), "two.csv": bars(0, 5) });
    const out = outOf();
    const { outText, errText } = await run(
      [dir, "--instrument", "one*=BTC-USDT", "--instrument", "two*=ETH-USDT", "--out", out],
      true,
    );
    expect(outText).toContain(
      `  read ${join(dir, "two.csv")} as candles of ETH-USDT: 5 rows from 2024-01-01T00:01:00.000Z to 2024-01-01T00:05:00.000Z\n`,
    );
    expect(errText).toMatch(/0 % read {2}\S*one.csv/);
    await expect(run([dir, "--instrument", "=BTC-USDT", "--out", out])).rejects.toThrow(/Write ID or PATTERN=ID/);
  });

  it("reads a layout from a file", async () => {
    const layout = {
      name: "mine",
      about: "mine",
      rows: "trades",
      columns: { time: ["t"], price: ["kurs"], qty: ["q"], side: ["s"] },
    };
    const dir = folder({
      "mine.json": JSON.stringify(layout),
      "wrong.json": '{"name":"x","about":"","rows":"ticks"}',
      "data.csv": `t,kurs,q,s\n${start},1,1,buy\n`,
    });
    const words = [join(dir, "data.csv"), "--instrument", "BTC-USDT", "--explain", "--layout"];
    expect((await run([...words, join(dir, "mine.json")])).outText).toContain("layout: mine (mine), CSV");
    await expect(run([...words, join(dir, "wrong.json")])).rejects.toThrow(/layout is not valid:.*rows/s);
    await expect(
      explainImport({ file: join(dir, "data.csv"), layout: { ...layout, rows: "trades", contracts: "(" } }),
    ).rejects.toThrow(/layout.contracts: "\(" is no regular expression/);
    await expect(run([...words, join(dir, "none.json")])).rejects.toThrow(/--layout: .*none.json cannot be read/);
  });
});
