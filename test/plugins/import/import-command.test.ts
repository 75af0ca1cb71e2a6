/** `sluice import` writes a fixture and says what is in it, or throws what main.ts will tell. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { describe, expect, it } from "vitest";
import importCommand from "../../../plugins/import/command.ts";
import { importMarket } from "../../../plugins/import/import-market.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("import-command");
const csv = join(home, "bars.csv");
writeFileSync(
  csv,
  "timestamp,open,high,low,close,volume\n2022-01-01 00:00:00,1,2,1,2,3\n2022-01-01 00:01:00,2,2,1,1,4.5\n",
);

const run = async (...words: string[]): Promise<string> => {
  const io = capturedIo();
  const program = new Command("sluice").exitOverride().configureOutput({ writeErr: () => undefined });
  importCommand.add(program, io, {});
  await program.parseAsync(["import", ...words], { from: "user" });
  expect(io.errText).toBe("");
  return io.outText;
};

describe("sluice import", () => {
  it("writes the fixture and lists what it holds", async () => {
    const out = join(home, "plain");
    const text = await run(csv, "--instrument", "BTC-USDT", "--out", out, "--lot-size", "1");
    expect(text).toContain(`${out}: 2 rows in `);
    expect(text).toContain("BTC-USDT  candle 60000 ms: 2\n");
    expect(text).toContain("note: volumes brought down to the lot size 1: 1\n");
    expect(readFixture(out).tape.startAt).toBe(Date.UTC(2022, 0, 1, 0, 1));
  });

  it("tells rows as no market has them, and imports them all the same", async () => {
    const quotes = join(home, "quotes.csv");
    const rows = ["1641024000000,100,1,101,1", "1641024001000,102,1,101,1", "1641024002000,103,1,101,1"];
    writeFileSync(quotes, ["timestamp,bid,bidSize,ask,askSize", ...rows, ""].join("\n"));
    const text = await run(quotes, "--instrument", "BTC-USDT", "--out", join(home, "crossed"));
    expect(text).toContain(
      "  problem: quote of BTC-USDT: best prices that cross: 2 (first 2022-01-01T08:00:01.000Z)\n",
    );
    const { problems } = await importMarket({ file: quotes, instrument: "BTC-USDT", out: join(home, "crossed-too") });
    expect(problems).toMatchObject([{ what: "best prices that cross", count: 2 }]);
    expect(readFixture(join(home, "crossed")).tape.length).toBe(3);
  });

  it("prints exactly one JSON object with --json", async () => {
    const out = join(home, "json");
    const text = await run(csv, "--instrument", "BTC-USDT", "--out", out, "--timestamp", "close", "--json");
    expect(text.endsWith("}\n")).toBe(true);
    const { files, ...written } = JSON.parse(text);
    expect(written).toEqual({ fixture: out, ...readFixture(out).manifest });
    expect(files).toMatchObject([{ file: csv, instrument: "BTC-USDT", layout: "candles", rows: 2, notes: [] }]);
    expect(readFixture(out).tape.startAt).toBe(Date.UTC(2022, 0, 1));
  });

  it("merges terms from as many files as are named, and lists them", async () => {
    const [funding, marks] = [join(home, "funding.csv"), join(home, "marks.ndjson")];
    writeFileSync(funding, "timestamp,funding\n2022-01-01 00:01:30,0.0001\n2022-01-01 08:00:00,0.0001\n");
    writeFileSync(marks, '{"timestamp":"2022-01-01 00:01:00","mark":"1.5"}\n');
    const out = join(home, "terms");
    const text = await run(csv, "--instrument", "BTC-USDT-SWAP", "--out", out, "--terms", funding, marks);
    expect(text).toContain("BTC-USDT-SWAP  funding: 1\n");
    expect(text).toContain("BTC-USDT-SWAP  mark: 1\n");
    expect(text).toContain("note: funding rates outside the recording, dropped: 1\n");
    expect(readFixture(out).tape.series.map(({ kind }) => kind)).toEqual(["mark", "funding", "candle"]);
  });

  it("gives the same contentHash as the function, from any folder", async () => {
    const { contentHash } = await importMarket({ file: csv, instrument: "BTC-USDT", out: join(home, "function") });
    const text = await run(csv, "--instrument", "BTC-USDT", "--out", join(home, "command"), "--json");
    expect(JSON.parse(text).contentHash).toBe(contentHash);
    expect(readFixture(join(home, "command")).manifest.source).not.toContain(home);
  });

  it("replaces rows of a fixture only with --force, and leaves it as it was otherwise", async () => {
    const out = join(home, "twice");
    await run(csv, "--instrument", "BTC-USDT", "--out", out);
    const before = readFixture(out).manifest;
    await expect(run(csv, "--instrument", "BTC-USDT", "--out", out)).rejects.toThrow(
      /twice holds a fixture already: 2 rows of BTC-USDT \(Candles from bars.csv; .*\). It has rows of 60000 ms candle of BTC-USDT from 2022-01-01T00:01:00.000Z to .* replace the rows of that time with --force/,
    );
    await expect(run("none.csv", "--instrument", "ETH-USDT", "--out", out, "--force")).rejects.toThrow(
      /there is no such file/,
    );
    expect(readFixture(out).manifest).toEqual(before);
    await run(csv, "--instrument", "BTC-USDT", "--out", out, "--force");
    expect(readFixture(out).manifest.contentHash).toBe(before.contentHash);
  });

  it.each([
    [[csv, "--instrument", "BTCUSDT"], /not an instrument id/],
    [[csv, "--instrument", "BTC-USDT", "--timestamp", "middle"], /Allowed choices are open, close/],
    [[csv, "--instrument", "BTC-USDT", "--tick-size", "0"], /tick size: "0" is not positive/],
    [[csv, "--instrument", "BTC-USDT", "--lot-size", "x"], /lot size: "x" is not a decimal/],
    [[csv, "--instrument", "BTC-USDT", "--disorder-ms", "-5"], /whole milliseconds/],
    [["none.csv", "--instrument", "BTC-USDT"], /none.csv: there is no such file/],
    [[csv, "--instrument", "BTC-USDT", "--terms", "no.csv"], /no.csv: there is no such file/],
    [
      [csv],
      /bars.csv: its name contains no instrument. Name it: --instrument BTC-USDT-SWAP, or --instrument 'bars.csv=BTC-USDT-SWAP'/,
    ],
    [["--instrument", "BTC-USDT"], /missing required argument 'files'/],
  ])("refuses %j and writes nothing", async (words, message) => {
    const out = join(home, "refused");
    await expect(run(...words, "--out", out)).rejects.toThrow(message);
    expect(existsSync(out)).toBe(false);
  });
});
