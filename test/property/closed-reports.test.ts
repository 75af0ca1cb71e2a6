/**
 * A report equals the account, whoever closed a position: per strategy and in total, against sums over raw fills and over the engine's own
 * bookings.
 */
import fc from "fast-check";
import { concatMap, map, merge, take, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { withDetails } from "../../src/backtest/with-details.ts";
import { runBacktest } from "../../src/backtest.ts";
import { add, compare, mul, neg, sub, sum } from "../../src/decimal.ts";
import { definePlugin, type Event, type Plugin, type Strategy } from "../../src/index.ts";
import type { RunDetails } from "../../src/report/details.ts";
import { closed, configOf, quoteTape, recorder, stored, strategy, swap } from "../support/harness/backtest.ts";

const second = 1_000;
const quotesMs = 500;
const runMs = 100 * second;

/** A thin book: orders and closes are filled in part, at several prices. */
const market = (seed: number) =>
  quoteTape(
    Array.from({ length: runMs / quotesMs }, (_, index) => {
      const bid = 600_000 + ((index * (seed % 89)) % 301) - ((index * 13) % 57);
      const qty = 4 + ((index * 7 + seed) % 23);
      return [index * quotesMs, bid, qty, bid + 1, qty];
    }),
  );

interface Trader {
  readonly side: "buy" | "sell";
  readonly qty: number;
  readonly everyMs: number;
  readonly turns: boolean;
  readonly stops: boolean;
}

const trader = (name: string, { side, qty, everyMs, turns, stops }: Trader): Strategy =>
  strategy(name, {
    wanted: () =>
      timer(second, everyMs).pipe(
        take(Math.floor((60 * second) / everyMs)),
        map((round) => [
          {
            slot: "in",
            instId: swap,
            side: turns && round % 2 === 1 ? (side === "buy" ? ("sell" as const) : ("buy" as const)) : side,
            ordType: "market" as const,
            qty: `0.0${String(qty + (round % 3)).padStart(2, "0")}`,
            round,
            ...(stops && { protect: { stopLoss: { by: "12" }, takeProfit: { by: "15" } } }),
          },
        ]),
      ),
  });

type Close = { readonly atMs: number; readonly which: "all" | "instrument" | "a" | "b" };

const closer = (closes: readonly Close[]): Plugin =>
  definePlugin({
    name: "closer",
    options: closed,
    setup: ({ closePositions, resume, print }) =>
      merge(...closes.map((close) => timer(close.atMs).pipe(map(() => close))))
        .pipe(
          concatMap(({ which }) => {
            const filter = which === "all" ? {} : which === "instrument" ? { instId: swap } : { strategy: which };
            try {
              return closePositions("test", filter);
            } catch (error) {
              print(String(error));
              return [];
            }
          }),
        )
        .subscribe(() => {
          for (const name of ["a", "b", "c"]) resume("test", { strategy: name });
          resume("test");
        }),
  })({});

const traderOf = fc.record<Trader>({
  side: fc.constantFrom("buy", "sell"),
  qty: fc.integer({ min: 1, max: 40 }),
  everyMs: fc.integer({ min: 3, max: 15 }).map((count) => count * second),
  turns: fc.boolean(),
  stops: fc.boolean(),
});
const closeOf = fc.record<Close>({
  atMs: fc.integer({ min: 2 * second, max: 75 * second }),
  which: fc.constantFrom("all", "all", "instrument", "a", "b"),
});

const cashOf = ({ side, px, qty }: { readonly side: string; readonly px: string; readonly qty: string }): string =>
  side === "sell" ? mul(px, qty) : neg(mul(px, qty));
const signed = ({ side, qty }: { readonly side: string; readonly qty: string }): string =>
  side === "buy" ? qty : neg(qty);

const runWith = async (traders: readonly Trader[], closes: readonly Close[], seed: number) => {
  const { events, plugin } = recorder();
  const kept: RunDetails[] = [];
  const strategies = traders.map((one, index) => trader("abc"[index] as string, one));
  const config = configOf(stored(market(seed)), strategies, { plugins: [plugin, closer(closes)] });
  const report = await runBacktest(withDetails(config, (details) => kept.push(details)));
  return { report, events, raw: (kept[0] as RunDetails).fills };
};

const closingEvents: readonly string[] = ["position.closing", "position.closed", "position.left"];

const fillsOf = (events: readonly Event[], name: string) =>
  events.flatMap((event) => (event.type === "fill" && event.strategy === name ? [event] : []));

describe("A report of a run whose positions were closed", () => {
  it("equals the account and each strategy's own fills to the last digit", async () => {
    let shared = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(traderOf, { minLength: 1, maxLength: 3 }),
        fc.array(closeOf, { minLength: 1, maxLength: 3 }),
        fc.nat(1_000),
        async (traders, closes, seed) => {
          const { report, events, raw } = await runWith(traders, closes, seed);
          shared += events.filter((event) => event.type === "fill" && event.slot === "#close").length;
          const markPx = report.positions[0]?.markPx ?? "0";

          const held = sum(raw.map(signed));
          expect(report.fees).toBe(sum(raw.map(({ fee }) => fee)));
          expect(report.volume).toBe(sum(raw.map(({ px, qty }) => mul(px, qty))));
          expect(report.elsewhere).toBe("0");
          expect(sum(report.positions.map(({ qty }) => qty))).toBe(held);
          expect(report.pnl).toBe(sub(add(sum(raw.map(cashOf)), mul(held, markPx)), report.fees));

          const names = Object.keys(report.perStrategy);
          // The engine books a close of the account once the position is gone: until then its own fills lack what was closed.
          const last = events.findLast(({ type }) => closingEvents.includes(type));
          for (const name of last?.type === "position.closing" ? [] : names) {
            const own = report.perStrategy[name];
            const fills = fillsOf(events, name);
            const qty = sum(fills.map(signed));
            const fees = sum(fills.map(({ cost }) => cost));
            const pnl = sub(add(sum(fills.map(cashOf)), mul(qty, markPx)), fees);
            expect(report.positions.find((position) => position.strategy === name)?.qty ?? "0").toBe(qty);
            expect(own).toMatchObject({ fees, pnl });
            expect(add(own?.trades.net ?? "", own?.trades.open ?? "")).toBe(pnl);
            expect(own?.trades.held).toBe(compare(qty, "0") === 0 ? 0 : 1);
          }
          expect(sum(names.map((name) => report.perStrategy[name]?.pnl ?? ""))).toBe(report.pnl);
          expect(sum(names.map((name) => report.perStrategy[name]?.fees ?? ""))).toBe(report.fees);
        },
      ),
      { numRuns: 20 },
    );
    expect(shared).toBeGreaterThan(10);
  }, 120_000);
});
