import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { Event, EventBody } from "../../../src/journal/events.ts";
import type { Position } from "../../../src/orders/positions.ts";
import { RunRecorder } from "../../../src/report/run-recorder.ts";

const swap = "BTC-USDT-SWAP";

const position = (given: Partial<Position>): Position => ({
  instId: swap,
  qty: "0",
  avgPx: "0",
  markPx: "0",
  currency: "USDT",
  unrealised: "0",
  realised: "0",
  fees: "0",
  profit: "0",
  ...given,
});

const setup = () => {
  let now = 1_767_575_000_000;
  let seq = 0;
  const recorder = new RunRecorder({
    run: { kind: "live", place: "there", equity: "fills" },
    strategies: ["a"],
    seed: "",
    profile: createContract().profile,
    uidOf: () => "main",
    now: () => now,
  });
  const say = (body: EventBody): void => recorder.onEvent({ ...body, seq: seq++, at: now } as Event);
  const views = (given: Partial<Position>) => [
    { name: "a", state: "running", positions: new Map([[swap, position(given)]]) } as const,
  ];
  const fill = (side: "buy" | "sell", qty: string, px: string, cost: string, slot = "s"): void =>
    say({
      type: "fill",
      strategy: "a",
      slot,
      instId: swap,
      clOrdId: `c${seq}`,
      ordId: `o${seq}`,
      side,
      px,
      qty,
      fee: cost,
      cost,
      currency: "USDT",
      liquidity: "taker",
      position: "0",
      recovered: false,
    });
  return { recorder, say, views, fill, wait: (ms: number) => (now += ms) };
};

describe("The record of a live run", () => {
  it("carries what was held over at its average price, and leaves earlier profit and fees out", () => {
    const { recorder, views, fill, wait } = setup();
    // Recovered fills of before the start are in the position already.
    fill("buy", "0.1", "100", "0.4");
    recorder.begin(views({ qty: "0.1", avgPx: "100", markPx: "100", realised: "5", fees: "1", profit: "4" }));
    fill("sell", "0.1", "110", "0.2");
    wait(60_000);
    const report = recorder.report(views({ realised: "6", fees: "1.2", profit: "4.8" }), []);
    expect(report).toMatchObject({ fills: 1, realised: "1", fees: "0.2", pnl: "0.8", volume: "11", elsewhere: "0" });
    expect(report.trades).toMatchObject({ count: 1, won: 1, net: "0.8", held: 0 });
    expect(report.assumptions.map(({ value }) => value)).toContain("carried over at their average entry price");
  });

  it("ends the time without a wanted exit with the fill that closes the position", () => {
    const { recorder, say, views, fill, wait } = setup();
    recorder.begin(views({}));
    say({
      type: "position.unprotected",
      strategy: "a",
      slot: "out",
      instId: swap,
      side: "sell",
      qty: "0.1",
      reason: "51023",
    });
    wait(31_000);
    fill("sell", "0.1", "100", "0.1");
    wait(420_000_000);
    expect(recorder.report(views({}), []).perStrategy["a"]?.unprotected).toEqual({ count: 1, ms: 31_000 });
  });

  it("has every fill, position and price for a page, exactly", () => {
    const { recorder, views, fill, wait } = setup();
    recorder.begin(views({}));
    fill("buy", "0.3", "100.25", "0.1");
    wait(1_000);
    recorder.look(views({ qty: "0.3", avgPx: "100.25", markPx: "101" }));
    wait(500);
    fill("sell", "0.1", "99.5", "0.1");
    wait(1_000);
    const { fills, positions, prices } = recorder.details(views({ qty: "0.2", avgPx: "100.25", markPx: "99" }));
    expect(fills?.map(({ side, px, qty, strategy, fee }) => [side, px, qty, strategy, fee])).toEqual([
      ["buy", "100.25", "0.3", "a", "0.1"],
      ["sell", "99.5", "0.1", "a", "0.1"],
    ]);
    expect(positions?.map(({ points }) => points.map(({ qty }) => qty))).toEqual([["0.3", "0.2"]]);
    expect(prices).toMatchObject([{ instId: swap, unit: "0.01", close: [10_025, 10_100, 9_950] }]);
  });

  it("counts fees that became known after the fill, in money and in the trade", () => {
    const { recorder, views, fill, wait } = setup();
    recorder.begin(views({}));
    fill("buy", "0.1", "100", "0");
    fill("sell", "0.1", "110", "0.25");
    wait(1_000);
    recorder.look(views({ realised: "1", fees: "0.25", profit: "0.75" }));
    wait(1_000);
    const report = recorder.report(views({ realised: "1", fees: "0.6", profit: "0.4" }), []);
    expect(report).toMatchObject({ fees: "0.6", pnl: "0.4", elsewhere: "0", trades: { net: "0.4" } });
    expect(report.perStrategy["a"]).toMatchObject({ fees: "0.6", pnl: "0.4" });
  });

  it("values what the engine no longer holds by the last price it had, never by none", () => {
    const { recorder, views, fill, wait } = setup();
    recorder.begin(views({}));
    fill("buy", "0.5", "100", "0.03");
    wait(1_000);
    recorder.look(views({ qty: "0.5", avgPx: "100", markPx: "99", unrealised: "-0.5", fees: "0.03" }));
    wait(1_000);
    // The account closed it, and what that executed at is not booked yet.
    expect(recorder.report(views({ fees: "0.03" }), [])).toMatchObject({ pnl: "-0.53", unrealised: "-0.5" });
  });

  it("shares out what a close of the account did to what a strategy holds, where money is the service's own", () => {
    const { recorder, say, views, fill, wait } = setup();
    let equity = "1000";
    recorder.begin(views({}), { currency: "USDT", rateOf: () => "1", equity: () => equity, markPx: () => "99.5" });
    say({
      type: "order.changed",
      strategy: "a",
      slot: "s",
      instId: swap,
      clOrdId: "in",
      phase: "sent",
      record: undefined,
      reason: "",
    });
    const deal = { uid: "main", instId: swap, qty: "0.5", liquidity: "taker", at: 0 } as const;
    recorder.onFill({ ...deal, clOrdId: "in", ordId: "1", side: "buy", px: "100", fee: "0.025", cost: "0.025" });
    say({ type: "position.closing", uid: "main", instId: swap, pos: "0.5", clOrdId: "close1" });
    recorder.onFill({
      ...deal,
      clOrdId: "close1",
      ordId: "2",
      side: "sell",
      px: "99",
      fee: "0.02475",
      cost: "0.02475",
    });
    fill("sell", "0.5", "99", "0.02475", "#close");
    equity = "999.45025";
    wait(60_000);
    const report = recorder.report(views({}), []);
    const money = {
      pnl: "-0.54975",
      fees: "0.04975",
      realised: "-0.5",
      unrealised: "0",
      elsewhere: "0",
      volume: "99.5",
    };
    expect(report).toMatchObject({ ...money, positions: [] });
    expect(report.perStrategy["a"]).toMatchObject({ pnl: "-0.54975", fees: "0.04975" });
  });

  it("stays bounded over days, with the first and the last equity and the deepest fall of every second", () => {
    const { recorder, views, fill, wait } = setup();
    recorder.begin(views({}));
    fill("buy", "1", "100", "0");
    for (let second = 0; second < 30_000; second++) {
      wait(1_000);
      // Falls by 50 for one second that no sample keeps.
      recorder.look(views({ qty: "1", avgPx: "100", markPx: second === 12_345 ? "50" : "101" }));
    }
    wait(1_000);
    const last = views({ qty: "1", avgPx: "100", markPx: "103.5" });
    const report = recorder.report(last, []);
    expect(report).toMatchObject({ pnl: "3.5", unrealised: "3.5", drawdown: { max: "51" } });
    const { equity = [] } = recorder.details(last);
    expect(equity.length).toBeLessThanOrEqual(2_000);
    expect(equity.length).toBeGreaterThan(1_000);
    expect([equity[0]?.equity, equity.at(-1)?.equity]).toEqual(["0", "3.5"]);
    expect(report.assumptions.map(({ value }) => value)).toContain("a point every 16 s");
  });
});
