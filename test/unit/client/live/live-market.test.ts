import { take } from "rxjs";
import { describe, expect, it } from "vitest";
import { book, createStage, instId, ticker, trade } from "../../../support/harness/live-market.ts";

describe("Live trades", () => {
  it("come exact, in the shortest spelling, at the instant of delivery", () => {
    const stage = createStage();
    const seen: unknown[] = [];
    stage.market.trades(instId).subscribe((value) => seen.push(value));
    stage.pass(5);
    stage.say("trades", [trade("100.500", "0.10"), trade("99", "12345678901234567890.5", "sell")]);
    expect(seen).toEqual([
      { instId, at: 6_000_005, side: "buy", px: "100.5", qty: "0.1", pxFloat: 100.5, qtyFloat: 0.1 },
      {
        instId,
        at: 6_000_005,
        side: "sell",
        px: "99",
        qty: "12345678901234567890.5",
        pxFloat: 99,
        qtyFloat: Number("12345678901234567890.5"),
      },
    ]);
    expect(Object.isFrozen(seen[0])).toBe(true);
    expect(stage.market.lastPx(instId)).toBe("99");
  });

  it.each<[string, Parameters<typeof createStage>[0], string | undefined]>([
    ["base", {}, "30"],
    ["quote notional", { szUnit: "quote_notional" }, "0.333333333333"],
    ["contracts", { szUnit: "contracts", contractValue: "0.01" }, "0.3"],
    ["contracts of unknown value", { szUnit: "contracts" }, undefined],
  ])("a size in %s becomes base currency, or nothing", (_, options, qty) => {
    const stage = createStage(options);
    const seen: (string | undefined)[] = [];
    stage.market.trades(instId).subscribe((value) => seen.push(value.qty));
    stage.say("trades", [trade("90", "30")]);
    expect(seen).toEqual(qty === undefined ? [] : [qty]);
    expect(stage.anomalies).toHaveLength(qty === undefined ? 1 : 0);
    expect(stage.market.lastPx(instId)).toBe("90");
  });

  it.each<[string, unknown]>([
    ["nothing", null],
    ["a number", 7],
    ["without a price", { ...trade("1", "1"), px: undefined }],
    ["with a float", { ...trade("1", "1"), px: 1.5 }],
    ["with an exponent", { ...trade("1", "1"), sz: "1e5" }],
    ["of another product", { ...trade("1", "1"), instId: "B-USDT" }],
    ["of an unknown side", trade("1", "1", "both")],
  ])("a record that is %s is counted and left out, the others are told", (_, bad) => {
    const stage = createStage();
    const seen: string[] = [];
    stage.market.trades(instId).subscribe(({ px }) => seen.push(px));
    stage.say("trades", [trade("1", "1"), bad, trade("2", "1")]);
    expect(seen).toEqual(["1", "2"]);
    expect(stage.anomalies).toHaveLength(1);
    expect(stage.anomalies[0]).toContain("record.unreadable: trades A-USDT");
  });

  it("fields nobody asked for are no fault", () => {
    const stage = createStage();
    const seen: unknown[] = [];
    stage.market.trades(instId).subscribe((value) => seen.push(value));
    stage.say("trades", [{ ...trade("1", "1"), count: "7" }]);
    expect(seen).toHaveLength(1);
  });
});

describe("Live market subscriptions:", () => {
  it("there is one per channel however many listen, from the first listener until a while after the last", () => {
    const stage = createStage();
    const trades = stage.market.trades(instId);
    expect(stage.subscribed.size).toBe(0);
    const [one, two] = [trades.subscribe(), stage.market.trades(instId).subscribe()];
    expect([...stage.subscribed.keys()]).toEqual(["trades"]);
    one.unsubscribe();
    stage.pass(60_000);
    expect(stage.subscribed.size).toBe(1);
    two.unsubscribe();
    stage.pass(4_999);
    const three = trades.subscribe();
    stage.pass(60_000);
    expect(stage.counts.get("trades")).toBe(1);
    three.unsubscribe();
    stage.pass(5_000);
    expect(stage.subscribed.size).toBe(0);
    expect(stage.clock.pending).toBe(0);
    trades.subscribe();
    expect(stage.counts.get("trades")).toBe(2);
  });

  it("operators that end early let go", () => {
    const stage = createStage();
    stage.market.trades(instId).pipe(take(1)).subscribe();
    stage.say("trades", [trade("1", "1")]);
    stage.pass(5_000);
    expect(stage.subscribed.size).toBe(0);
  });

  it("a listener that throws is reported, and the others run on", () => {
    const stage = createStage();
    const seen: string[] = [];
    stage.market.trades(instId).subscribe(() => {
      throw new Error("mine");
    });
    stage.market.trades(instId).subscribe(({ px }) => seen.push(px));
    stage.say("trades", [trade("1", "1")]);
    expect(seen).toEqual(["1"]);
    expect(stage.errors).toEqual([new Error("mine")]);
  });

  it("every stream ends at the stop, also one asked for later, and nothing is left", () => {
    const stage = createStage();
    const ends: string[] = [];
    const listen = (when: string): void => {
      stage.market.trades(instId).subscribe({ complete: () => ends.push(`${when} trades`) });
      stage.market.quotes(instId).subscribe({ complete: () => ends.push(`${when} quotes`) });
      stage.market.books(instId).subscribe({ complete: () => ends.push(`${when} books`) });
      stage.market.candles(instId, 60_000).subscribe({ complete: () => ends.push(`${when} candles`) });
      stage.market.candles(instId, 5_000).subscribe({ complete: () => ends.push(`${when} short candles`) });
    };
    listen("early");
    stage.say("trades", [trade("1", "1")]);
    stage.market.stop();
    listen("late");
    stage.market.candles("B-USDT", 7_000).subscribe({ complete: () => ends.push("new candles") });
    expect(ends).toHaveLength(11);
    expect(stage.subscribed.size).toBe(0);
    expect(stage.clock.pending).toBe(0);
  });

  it("a product the service does not list is said, emits nothing and does no harm", () => {
    const stage = createStage({ listed: false, live: false });
    const seen: unknown[] = [];
    stage.market.trades(instId).subscribe((value) => seen.push(value));
    stage.market.quotes(instId).subscribe((value) => seen.push(value));
    stage.turn("trades", "refused");
    stage.turn("tickers", "refused");
    expect(stage.anomalies).toEqual(["market.unlisted: the service does not list A-USDT"]);
    expect(seen).toEqual([]);
  });

  it("a text that is no product id is refused by name", () => {
    expect(() => createStage().market.trades("btcusdt")).toThrow(/market data: "btcusdt" is not an instrument id/);
  });
});

describe("Live quotes", () => {
  const quotes = (stage: ReturnType<typeof createStage>): string[] => {
    const seen: string[] = [];
    stage.market.quotes(instId).subscribe(({ bidPx, askPx, mid }) => seen.push(`${bidPx} ${askPx} ${mid}`));
    return seen;
  };

  it("come from tickers, whole", () => {
    const stage = createStage();
    const seen: unknown[] = [];
    stage.market.quotes(instId).subscribe((value) => seen.push(value));
    stage.say("tickers", [ticker("100.10", "100.3", "100.2", "1.50", "2")]);
    expect(seen).toEqual([
      {
        instId,
        at: 6_000_000,
        bidPx: "100.1",
        bidQty: "1.5",
        askPx: "100.3",
        askQty: "2",
        mid: "100.2",
        bidFloat: 100.1,
        askFloat: 100.3,
        midFloat: 100.2,
      },
    ]);
    expect(stage.market.lastPx(instId)).toBe("100.2");
  });

  it("start with the latest one, unless it is over", () => {
    const stage = createStage();
    const first = quotes(stage);
    stage.say("tickers", [ticker("1", "2")]);
    expect(quotes(stage)).toEqual(["1 2 1.5"]);
    stage.say("tickers", [ticker("", "2", "", "")]);
    expect(quotes(stage)).toEqual([]);
    stage.say("tickers", [ticker("1", "3")]);
    stage.turn("tickers", "waiting");
    expect(quotes(stage)).toEqual([]);
    expect(first).toEqual(["1 2 1.5", "1 3 2"]);
  });

  it("come from the best levels of the books while tickers are refused", () => {
    const stage = createStage({ live: false });
    const seen = quotes(stage);
    stage.turn("tickers", "refused");
    stage.turn("books", "live");
    stage.say("books", [book([["9", "1"]], [["11", "1"]])], "snapshot");
    stage.say("books", [book([["10", "1"]], [])], "update");
    stage.say("books", [book([], [["11", "0"]])], "update");
    stage.turn("tickers", "live");
    stage.pass(5_000);
    stage.say("tickers", [ticker("1", "2")]);
    expect(seen).toEqual(["9 11 10", "10 11 10.5", "1 2 1.5"]);
    expect([...stage.subscribed.keys()]).toEqual(["tickers"]);
    expect(stage.anomalies).toEqual([]);
  });

  it("do not come from books while there are tickers", () => {
    const stage = createStage();
    const seen = quotes(stage);
    stage.market.books(instId).subscribe();
    stage.say("tickers", [ticker("1", "2")]);
    stage.say("books", [book([["9", "1"]], [["11", "1"]])], "snapshot");
    expect(seen).toEqual(["1 2 1.5"]);
  });

  it("are also taken from books when the service has no tickers at all", () => {
    const stage = createStage({ channels: ["books"] });
    const seen = quotes(stage);
    stage.say("books", [book([["9", "1"]], [["11", "1"]])], "snapshot");
    expect(seen).toEqual(["9 11 10"]);
    expect([...stage.subscribed.keys()]).toEqual(["books"]);
  });

  it("when books are refused too there are none, which is said once", () => {
    const stage = createStage({ live: false });
    const seen = quotes(stage);
    for (let turn = 0; turn < 3; turn++) {
      stage.turn("tickers", "refused");
      stage.turn("books", "refused");
      stage.turn("books", "waiting");
      stage.turn("tickers", "waiting");
    }
    expect(seen).toEqual([]);
    expect(stage.anomalies).toEqual([
      "market.silent: A-USDT: neither tickers nor books are available; there are no quotes",
    ]);
  });
});

describe("Live books:", () => {
  const books = (stage: ReturnType<typeof createStage>): string[] => {
    const seen: string[] = [];
    const side = (levels: readonly { px: string; qty: string }[]): string =>
      levels.map(({ px, qty }) => `${px}x${qty}`).join(" ");
    stage.market.books(instId).subscribe(({ bids, asks }) => seen.push(`${side(bids)} | ${side(asks)}`));
    return seen;
  };

  it("one for each message: a whole one, then changes, best first, zero removes", () => {
    const stage = createStage();
    const seen = books(stage);
    stage.say(
      "books",
      [
        book(
          [
            ["9", "1"],
            ["10.0", "2"],
          ],
          [
            ["12", "3"],
            ["11", "4"],
          ],
        ),
      ],
      "snapshot",
    );
    stage.say(
      "books",
      [
        book(
          [
            ["10", "0"],
            ["9.5", "5"],
          ],
          [["11", "1"]],
        ),
      ],
      "update",
    );
    expect(seen).toEqual(["10x2 9x1 | 11x4 12x3", "9.5x5 9x1 | 11x1 12x3"]);
    expect(books(stage)).toEqual(["9.5x5 9x1 | 11x1 12x3"]);
  });

  it("what was emitted never changes", () => {
    const stage = createStage();
    const seen: unknown[] = [];
    stage.market.books(instId).subscribe((view) => seen.push(view));
    stage.say("books", [book([["9", "1"]], [])], "snapshot");
    const before = JSON.stringify(seen[0]);
    stage.say("books", [book([["9", "2"]], [])], "update");
    expect(JSON.stringify(seen[0])).toBe(before);
    expect(() => ((seen[0] as { bids: unknown[] }).bids.length = 0)).toThrow();
  });

  it("without an action the first message is the whole book", () => {
    const stage = createStage();
    const seen = books(stage);
    stage.say("books", [book([["9", "1"]], [["11", "1"]])]);
    stage.say("books", [book([["8", "1"]], [])]);
    expect(seen).toEqual(["9x1 | 11x1", "9x1 8x1 | 11x1"]);
  });

  it.each<[string, readonly unknown[], string, string]>([
    ["a change before a whole book", [book([["1", "1"]], [])], "update", "a change came before a whole book"],
    [
      "a book that crosses itself",
      [book([["11", "1"]], [["11.0", "1"]])],
      "snapshot",
      "the book crosses itself: 11 and 11",
    ],
    ["an unreadable record", [{ ...book([], []), bids: [["1"]] }], "snapshot", "a message of the book is unreadable"],
    [
      "an endless book",
      [
        book(
          Array.from({ length: 5_001 }, (_, i) => [String(i + 1), "1"] as const),
          [],
        ),
      ],
      "snapshot",
      "the book has more than 5000 levels a side",
    ],
  ])("%s is not shown, and the channel is asked anew", (_, data, action, reason) => {
    const stage = createStage();
    const seen = books(stage);
    stage.say("books", data, action);
    expect(seen).toEqual([]);
    expect(stage.subscribed.get("books")?.repairs).toEqual([reason]);
    expect(books(stage)).toEqual([]);
    stage.turn("books", "live");
    stage.say("books", [book([["1", "1"]], [["2", "1"]])], "snapshot");
    expect(seen).toEqual(["1x1 | 2x1"]);
  });

  it("a book of a lost channel is over", () => {
    const stage = createStage();
    books(stage);
    stage.say("books", [book([["1", "1"]], [["2", "1"]])], "snapshot");
    stage.turn("books", "waiting");
    expect(books(stage)).toEqual([]);
  });

  it("prices that differ beyond the precision of floats are different prices", () => {
    const stage = createStage();
    const seen = books(stage);
    stage.say(
      "books",
      [
        book(
          [
            ["0.10000000000000000001", "1"],
            ["0.10000000000000000002", "2"],
          ],
          [],
        ),
      ],
      "snapshot",
    );
    stage.say("books", [book([["0.10000000000000000002", "0"]], [])], "update");
    expect(seen).toEqual(["0.10000000000000000002x2 0.10000000000000000001x1 | ", "0.10000000000000000001x1 | "]);
  });
});
