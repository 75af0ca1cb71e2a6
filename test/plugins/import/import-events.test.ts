/** Events of hftbacktest, written by NumPy: trades and books are those that were reckoned beside the file. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { explainImport, importMarket } from "../../../plugins/import/import-market.ts";
import { grid } from "../../../src/decimal.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";
import type { LevelSeries, QuoteSeries, Tape, TradeSeries } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("events");
const folder = fileURLToPath(new URL("../../fixtures/formats/", import.meta.url));

type Level = readonly [string, string];
interface Reckoned {
  readonly trades: readonly (readonly [number, number, string, string])[];
  readonly books: readonly (readonly [number, readonly Level[], readonly Level[]])[];
}
const reckoned = JSON.parse(readFileSync(join(folder, "expected-events.json"), "utf8")) as Readonly<
  Record<string, Reckoned>
>;

const plain = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

/** How values of the tape are written. */
const textsOf = ({ instruments }: Tape) => {
  const [tick, lot] = [grid(instruments[0]?.tickSize ?? "1"), grid(instruments[0]?.lotSize ?? "1")];
  return { px: (count = 0) => plain(tick.format(count)), qty: (count = 0) => plain(lot.format(count)) };
};

/** The book after all rows of the millisecond of `at`. */
const bookAt = (
  tape: Tape,
  { at: times, side, px, qty, snapshot }: LevelSeries,
  at: number,
): readonly (readonly Level[])[] => {
  const texts = textsOf(tape);
  const book = { 1: new Map<number, number>(), [-1]: new Map<number, number>() };
  for (let row = 0; row < times.length && (times[row] as number) < at + 0.5; row++) {
    if (snapshot[row] === 1) for (const levels of Object.values(book)) levels.clear();
    const levels = book[side[row] as 1 | -1];
    if (qty[row] === 0) levels.delete(px[row] as number);
    else levels.set(px[row] as number, qty[row] as number);
  }
  return ([1, -1] as const).map((one) =>
    [...book[one]]
      .sort(([a], [b]) => one * (b - a))
      .map(([price, size]) => [texts.px(price), texts.qty(size)] as const),
  );
};

describe("Events of hftbacktest", () => {
  it.each([
    ["events.npz", "receive"],
    ["events-packed.npz", "receive"],
    ["events-packed.npz", "exchange"],
  ] as const)("of %s give the books and trades of the %s axis", async (name, axis) => {
    const { fixture, notes, files } = await importMarket({
      file: join(folder, name),
      instrument: "BTC-USDT-SWAP",
      axis,
      out: join(home, `${name}-${axis}`),
    });
    const { tape } = readFixture(fixture);
    const [levels, quotes, trades] = tape.series as [LevelSeries, QuoteSeries, TradeSeries];
    const texts = textsOf(tape);
    const expected = reckoned[axis] as Reckoned;
    expect(expected.books.map(([at]) => [at, ...bookAt(tape, levels, at)])).toEqual(expected.books);
    expect(
      Array.from(trades.at, (at, row) => [at, trades.side[row], texts.px(trades.px[row]), texts.qty(trades.qty[row])]),
    ).toEqual(expected.trades);
    expect([
      texts.px(quotes.bidPx[1]),
      texts.qty(quotes.bidQty[1]),
      texts.px(quotes.askPx[1]),
      texts.qty(quotes.askQty[1]),
    ]).toEqual(["100", "1.5", "100.5", "0.125"]);
    expect(files?.[0]?.layout).toBe("hftbacktest");
    expect(notes.map(({ what, count }) => `${what}: ${count}`).sort()).toEqual([
      "changes of a book before its first snapshot, dropped: 1",
      "events of single orders, which are not imported: 1",
      `events of the other axis only, dropped (import them with --axis ${axis === "receive" ? "exchange" : "receive"}): 1`,
      "trades without a side, dropped: 1",
    ]);
  });

  it("are explained by their name", async () => {
    expect(await explainImport({ file: join(folder, "events.npz"), instrument: "BTC-USDT-SWAP" })).toContain(
      "layout: events of hftbacktest",
    );
  });
});
