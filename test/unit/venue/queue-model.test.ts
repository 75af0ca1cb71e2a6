/**
 * How far up a queue cancels move an order, and when that fills it: by hand, and for any tape.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TradeQuote } from "../../../src/backtest/fill-trades.ts";
import type { Order, Sign } from "../../../src/venue/account.ts";
import { createBook, level, offersFor, print, quote, rest, take } from "../../../src/venue/matching-engine.ts";
import { leftOf } from "../../../src/venue/order.ts";
import { advanced, type FillVolume, matchingOf, type Queue } from "../../../src/venue/queue-model.ts";

const at = 0;

/** A book under a rule, and orders of one account each that count what they get. */
const bookOf = (queue: Queue, volume: FillVolume = "unlimited", crosses = true) => {
  const fills: (readonly [order: Order, px: number, lots: number])[] = [];
  const book = createBook(
    (order, px, lots) => {
      order.done += lots;
      order.state = leftOf(order) === 0 ? "filled" : "partially_filled";
      fills.push([order, px, lots]);
    },
    leftOf,
    matchingOf(queue, volume, crosses),
  );
  const orderOf = (sign: Sign, px: number, lots: number): Order =>
    ({
      sign,
      px,
      lots,
      done: 0,
      state: "live",
      ordType: "limit",
      account: {},
      ahead: 0,
      behind: 0,
    }) as unknown as Order;
  return {
    book,
    fills,
    resting: (sign: Sign, px: number, lots: number): Order => {
      const order = orderOf(sign, px, lots);
      rest(book, order);
      return order;
    },
    taking: (sign: Sign, px: number, lots: number): Order => {
      const order = orderOf(sign, px, lots);
      take(book, order, offersFor(book, order), at);
      return order;
    },
  };
};

describe("A queue position", () => {
  it.each<[string, number, number, number, number | undefined, number]>([
    ["cancels are behind while there is anybody behind", 30, 70, 50, undefined, 30],
    ["what is left cannot be less than what was ahead", 30, 70, 20, undefined, 20],
    ["spread evenly: half of the queue went, half of those ahead", 30, 70, 50, 1, 15],
    ["squared, of 10: 7²/(3²+7²) behind, 1.55 ahead, rounded against the order", 30, 70, 90, 2, 29],
    ["squared, from the middle: half each", 50, 50, 90, 2, 45],
    ["nobody behind: all were ahead", 50, 0, 20, 2, 20],
    ["nobody ahead: it stays in front", 0, 50, 20, 2, 0],
    ["what grew joined behind", 30, 70, 130, 2, 30],
    ["an unknown queue is known once it is shown", Number.POSITIVE_INFINITY, 0, 40, 2, 40],
    ["nothing shown is nothing ahead", 30, 70, 0, 2, 0],
  ])("%s", (_, ahead, behind, displayed, power, expected) => {
    expect(advanced(ahead, behind, displayed, power)).toBe(expected);
  });

  const powers = fc.constantFrom(1, 1.5, 2, 3, 7.5, 16);
  it("is never worse than the careful rule's, nor better for whoever has more ahead", () => {
    fc.assert(
      fc.property(
        fc.nat(300),
        fc.nat(300),
        fc.nat(300),
        fc.nat(400),
        powers,
        (ahead, more, behind, displayed, power) => {
          const total = ahead + more + behind;
          const [front, back] = [
            advanced(ahead, total - ahead, displayed, power),
            advanced(ahead + more, behind, displayed, power),
          ];
          expect(front).toBeLessThanOrEqual(back);
          expect(front).toBeGreaterThanOrEqual(0);
          expect(Number.isInteger(front)).toBe(true);
          expect(back).toBeLessThanOrEqual(advanced(ahead + more, behind, displayed, undefined));
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("A resting order among cancels and prints", () => {
  /** 100 lots ahead of ours, 60 of 100 cancelled after 100 more came, then prints of 10. */
  const story = (queue: Queue) => {
    const { book, resting } = bookOf(queue);
    level(book, 1, 1_000, 100, at);
    const order = resting(1, 1_000, 5);
    level(book, 1, 1_000, 200, at);
    level(book, 1, 1_000, 140, at);
    let prints = 0;
    while (order.done === 0 && prints < 100) {
      print(book, -1, 1_000, 10, at);
      prints++;
    }
    return prints;
  };
  it.each<[string, Queue, number]>([
    ["risk-averse: all hundred are still there", "risk-averse", 11],
    // 60 of 200 are cancelled, half of them ahead of it: 70 are left.
    ["evenly spread", { power: 1 }, 8],
    ["from the middle of the queue every power says the same", "probabilistic", 8],
    ["without a queue", "touch", 1],
    ["with a queue nobody knows: never", "through", 100],
  ])("fills with the print that reaches it, %s", (_, queue, prints) => {
    expect(story(queue)).toBe(prints);
  });

  it("does not take for a cancel what a print has taken", () => {
    const { book, resting } = bookOf({ power: 1 });
    quote(book, 1_000, 100, 1_010, 1, at);
    const order = resting(1, 1_000, 5);
    quote(book, 1_000, 200, 1_010, 1, at);
    print(book, -1, 1_000, 40, at);
    quote(book, 1_000, 160, 1_010, 1, at);
    expect([order.ahead, order.behind]).toEqual([60, 100]);
    quote(book, 1_000, 80, 1_010, 1, at);
    expect([order.ahead, order.behind]).toEqual([30, 50]);
    // 30 ahead, its own 5, and 20 of those behind.
    print(book, -1, 1_000, 55, at);
    expect([order.done, order.ahead, order.behind]).toEqual([5, 0, 30]);
  });

  it("joins behind what a quote told of its price, also when the best price has moved on since", () => {
    const { book, resting } = bookOf("risk-averse");
    for (const [sign, px] of [
      [1, 998],
      [1, 999],
      [-1, 1_010],
      [-1, 1_011],
    ] as const)
      level(book, sign, px, 3, at);
    quote(book, 999, 30, 1_010, 40, at);
    quote(book, 1_000, 1, 1_009, 1, at);
    expect([resting(1, 999, 1).ahead, resting(-1, 1_010, 1).ahead]).toEqual([30, 40]);
    level(book, 1, 999, 7, at);
    quote(book, 999, 8, 1_010, 9, at);
    quote(book, 1_000, 1, 1_009, 1, at);
    level(book, -1, 1_010, 5, at);
    expect([resting(1, 999, 1).ahead, resting(-1, 1_010, 1).ahead]).toEqual([8, 5]);
    expect([resting(1, 998, 1).ahead, resting(-1, 1_011, 1).ahead]).toEqual([3, 3]);
  });

  it("joins behind a quote that came before the first level", () => {
    const { book, resting } = bookOf("risk-averse");
    quote(book, 1_000, 30, 1_010, 40, at);
    level(book, 1, 999, 3, at);
    level(book, -1, 1_011, 3, at);
    quote(book, 1_001, 1, 1_009, 1, at);
    expect([resting(1, 1_000, 1).ahead, resting(-1, 1_010, 1).ahead]).toEqual([30, 40]);
  });

  it("joins behind what takers have left of a quote", () => {
    const { book, resting, taking } = bookOf("risk-averse", "traded");
    level(book, -1, 1_012, 3, at);
    quote(book, 1_000, 30, 1_010, 40, at);
    taking(1, 1_010, 15);
    // The same words of that side tell nothing new of it.
    quote(book, 1_001, 30, 1_010, 40, at);
    quote(book, 1_001, 30, 1_009, 1, at);
    expect(resting(-1, 1_010, 1).ahead).toBe(25);
  });

  it("is never filled at its price by quotes and prints, where the queue is unknown, not even alone at the best price", () => {
    const { book, resting } = bookOf("through");
    const order = resting(1, 1_000, 5);
    for (const bid of [1_000, 999, 1_000]) {
      quote(book, bid, 3, 1_010, 3, at);
      print(book, -1, 1_000, 50, at);
    }
    expect(order.done).toBe(0);
  });

  it("counts orders of ours at one price one behind the other", () => {
    const { book, resting, fills } = bookOf("probabilistic");
    level(book, 1, 1_000, 10, at);
    const first = resting(1, 1_000, 4);
    level(book, 1, 1_000, 16, at);
    const second = resting(1, 1_000, 4);
    print(book, -1, 1_000, 21, at);
    expect(fills.map(([order, , lots]) => [order === first ? "first" : "second", lots])).toEqual([
      ["first", 4],
      ["second", 1],
    ]);
    expect([first.ahead, second.ahead, second.behind]).toEqual([0, 0, 0]);
  });

  it("is met by a price beyond its own under every rule", () => {
    for (const queue of ["risk-averse", "probabilistic", "through", "touch"] as const) {
      const { book, resting } = bookOf(queue);
      level(book, 1, 1_000, 100, at);
      const [printed, shown] = [resting(1, 1_000, 5), resting(-1, 1_020, 5)];
      print(book, -1, 999, 1, at);
      quote(book, 1_020, 1, 1_030, 1, at);
      expect([queue, printed.done, shown.done]).toEqual([queue, 5, 5]);
    }
  });
});

describe("Where volume counts,", () => {
  it("a print through orders fills the best first, and no more than was printed", () => {
    const { book, resting } = bookOf("risk-averse", "traded");
    const orders = [resting(1, 1_000, 4), resting(1, 1_002, 3), resting(1, 1_001, 2)];
    print(book, -1, 999, 6, at);
    expect(orders.map(({ done }) => done)).toEqual([1, 3, 2]);
  });

  it("what a print leaves after better orders waits in the queue like any", () => {
    const { book, resting } = bookOf("risk-averse", "traded");
    level(book, 1, 1_000, 3, at);
    const orders = [resting(1, 1_001, 2), resting(1, 1_000, 5)];
    print(book, -1, 1_000, 7, at);
    // 2 for the better one, 3 for the queue, 2 for ours.
    expect(orders.map(({ done }) => done)).toEqual([2, 2]);
  });

  it("what a print leaves on one side is all that the other side can get", () => {
    const { book, resting } = bookOf("risk-averse", "traded");
    const orders = [resting(1, 1_000, 5), resting(-1, 999, 5)];
    print(book, -1, 1_000, 6, at);
    expect(orders.map(({ done }) => done)).toEqual([5, 1]);
  });

  it("a price displayed across fills what is displayed, once until that side changes", () => {
    const { book, resting } = bookOf("risk-averse", "traded");
    const order = resting(1, 1_000, 10);
    quote(book, 990, 5, 999, 4, at);
    quote(book, 991, 5, 999, 4, at);
    expect(order.done).toBe(4);
    quote(book, 991, 5, 999, 5, at);
    expect(order.done).toBe(9);
    level(book, -1, 998, 3, at);
    expect(order.done).toBe(10);
  });

  it("a taker gets a best price once until that side changes", () => {
    const { book, taking } = bookOf("risk-averse", "traded");
    quote(book, 990, 5, 1_000, 4, at);
    expect(taking(1, 1_000, 3).done).toBe(3);
    quote(book, 991, 5, 1_000, 4, at);
    expect(taking(1, 1_000, 3).done).toBe(1);
    quote(book, 991, 5, 1_000, 6, at);
    expect(taking(1, 1_000, 3).done).toBe(3);
  });
});

describe("On any tape,", () => {
  type Step = readonly [what: number, px: number, qty: number];
  const step: fc.Arbitrary<Step> = fc.tuple(fc.nat(5), fc.integer({ min: 95, max: 105 }), fc.nat(12));
  const apply = (book: ReturnType<typeof createBook>, [what, px, qty]: Step): number => {
    if (what === 0) level(book, 1, px, qty, at);
    else if (what === 1) level(book, -1, px + 6, qty, at);
    else if (what === 2) quote(book, px, qty, px + 1 + (qty % 3), qty + 1, at);
    else if (qty > 0) {
      print(book, what === 3 ? 1 : -1, px, qty, at);
      return qty;
    }
    return 0;
  };
  const asked = fc.array(fc.tuple(fc.nat(30), fc.integer({ min: 94, max: 104 }), fc.integer({ min: 1, max: 9 })), {
    minLength: 1,
    maxLength: 5,
  });
  /** What each order has got after each step; orders join before the step they name. */
  const played = (
    queue: Queue,
    volume: FillVolume,
    steps: readonly Step[],
    orders: readonly (readonly number[])[],
    ahead = 0,
  ) => {
    const { book, resting } = bookOf(queue, volume);
    const joined: (Order | undefined)[] = orders.map(() => undefined);
    return steps.map((one, index) => {
      orders.forEach(([from, px = 0, lots = 0], which) => {
        if (from !== index) return;
        const order = resting(1, px, lots);
        order.ahead += ahead;
        joined[which] = order;
      });
      apply(book, one);
      return joined.map((order) => order?.done ?? 0);
    });
  };
  const neverMore = (less: readonly (readonly number[])[], more: readonly (readonly number[])[]): void => {
    less.forEach((row, index) => {
      row.forEach((done, which) => {
        expect(done).toBeLessThanOrEqual(more[index]?.[which] ?? -1);
      });
    });
  };
  const tape = fc.array(step, { minLength: 5, maxLength: 40 });
  const runs = { numRuns: 200 };

  it.each<[string, Queue, Queue]>([
    ["risk-averse", "probabilistic", "risk-averse"],
    ["probabilistic", "touch", "probabilistic"],
    ["through", "risk-averse", "through"],
  ])("%s never fills earlier than %s", (_, sooner, later) => {
    fc.assert(
      fc.property(tape, asked, fc.constantFrom<FillVolume>("unlimited", "traded"), (steps, orders, volume) => {
        neverMore(played(later, volume, steps, orders), played(sooner, volume, steps, orders));
      }),
      runs,
    );
  });

  it("more ahead of an order never fills it earlier", () => {
    fc.assert(
      fc.property(tape, asked, fc.integer({ min: 1, max: 9 }), (steps, orders, more) => {
        neverMore(
          played("risk-averse", "unlimited", steps, orders, more),
          played("risk-averse", "unlimited", steps, orders),
        );
      }),
      runs,
    );
  });

  it("no more is filled than was printed, where volume counts and nothing is displayed across", () => {
    fc.assert(
      fc.property(
        tape,
        asked,
        fc.constantFrom<Queue>("risk-averse", "probabilistic", "touch"),
        (steps, orders, queue) => {
          const prints = steps.filter(([what]) => what > 2);
          const total = prints.reduce((sum, [, , qty]) => sum + qty, 0);
          const got = played(queue, "traded", prints, orders).at(-1) ?? [];
          expect(got.reduce((sum, done) => sum + done, 0)).toBeLessThanOrEqual(total);
        },
      ),
      runs,
    );
  });

  it("no more is filled than was printed, where the display is made of prints", () => {
    fc.assert(
      fc.property(tape, asked, fc.constantFrom<Queue>("risk-averse", "touch", "through"), (steps, orders, queue) => {
        const { book, resting } = bookOf(queue, "traded", false);
        const joined = orders.map(([, px, lots], index) => resting(index % 2 === 0 ? 1 : -1, px, lots));
        const made = new TradeQuote();
        let printed = 0;
        for (const [what, px, qty] of steps) {
          if (qty === 0) continue;
          const side = what % 2 === 0 ? 1 : -1;
          print(book, side, px, qty, at);
          made.take(side, px, qty);
          quote(book, made.bidPx, made.bidQty, made.askPx, made.askQty, at);
          printed += qty;
          expect(joined.reduce((sum, { done }) => sum + done, 0)).toBeLessThanOrEqual(printed);
        }
      }),
      runs,
    );
  });

  it("partial fills never exceed an order", () => {
    fc.assert(
      fc.property(
        tape,
        asked,
        fc.constantFrom<Queue>("risk-averse", "probabilistic", "touch", "through"),
        (steps, orders, queue) => {
          for (const row of played(queue, "traded", steps, orders)) {
            row.forEach((done, which) => {
              expect(done).toBeLessThanOrEqual(orders[which]?.[2] ?? 0);
            });
          }
        },
      ),
      runs,
    );
  });
});
