/** Many resting orders: what one act reads of the others, and listings after an order was changed. */
import { describe, expect, it } from "vitest";
import { createAccount, type Order } from "../../../src/venue/account.ts";
import { createProduct } from "../../../src/venue/instrument.ts";
import { consume, createOrderBookSide, join, leave, showLevel } from "../../../src/venue/order-book-side.ts";
import { matchingOf } from "../../../src/venue/queue-model.ts";
import { openingLotsOf } from "../../../src/venue/settlement.ts";
import { setting, swap } from "../../support/harness/venue.ts";

const many = 10_000;
/** Upper bound of what an act may read: two binary searches of the book before it and two after it. */
const readsMax = 100;

/** A side with many orders, a tick apart, and the number of prices that were read of them. */
const crowded = () => {
  const reads = { count: 0 };
  const orderAt = (px: number): Order =>
    Object.defineProperty({ sign: 1, lots: 3, done: 0, ahead: 0, behind: 0 } as unknown as Order, "px", {
      get: () => {
        reads.count++;
        return px;
      },
    });
  const half = createOrderBookSide(1, matchingOf("risk-averse", "unlimited"));
  for (let px = many; px > 0; px--) join(half, orderAt(px));
  return { half, orderAt, reads };
};

describe("One side of a book with 10,000 resting orders", () => {
  const { half, orderAt, reads } = crowded();
  const middle = orderAt(many / 2);

  it.each([
    ["join", () => join(half, middle)],
    ["row of a level", () => showLevel(half, many / 2, 7)],
    ["taker", () => consume(half, many / 2, 1)],
    ["leave", () => leave(half, middle)],
  ])("reads few prices for a %s", (_, act) => {
    reads.count = 0;
    act();
    expect(reads.count).toBeGreaterThan(0);
    expect(reads.count).toBeLessThan(readsMax);
  });

  it("keeps the arrival at one price, and sees the row of a level there", () => {
    const [first, second] = [orderAt(300), orderAt(300)];
    join(half, first);
    join(half, second);
    showLevel(half, 300, 5);
    const at = half.orders.indexOf(first);
    expect(half.orders[at + 1]).toBe(second);
    expect(half.orders[at - 1]?.px).toBe(300);
    expect(first.behind).toBe(5);
  });
});

it("An order that nothing covers reads no other order", () => {
  const account = createAccount("ann", {}, { leverageDefault: 1n, modeDefault: "cross" });
  const product = createProduct({ instId: swap, tickSize: "0.1", lotSize: "0.001" });
  const reads = { count: 0 };
  for (let seq = 0; seq < many; seq++) {
    const other = { seq, sign: 1, lots: 3, done: 0, openingLots: 3 } as unknown as Order;
    const counted = {
      get: () => {
        reads.count++;
        return product;
      },
    };
    account.open.push(Object.defineProperty(other, "product", counted));
  }
  expect(openingLotsOf(account, product, 1, 5)).toBe(5);
  expect(reads.count).toBe(0);
});

describe("Orders of which one was changed", () => {
  const open = () => {
    const it = setting({ capabilities: { amend: true } });
    const ids = ["50000", "50001", "50002", "50003"].map((px) => it.placed({ px, sz: "600" }));
    const pages = () => {
      const found: string[] = [];
      for (let after: string | undefined; found.length < 9; after = found.at(-1)) {
        const { data } = it.read("trade/orders/pending", {
          limit: "1",
          ...(after === undefined ? {} : { after }),
        }).body;
        if (data.length === 0) break;
        found.push(String(data[0]?.["ordId"]));
      }
      return found;
    };
    return { ...it, ids, pages };
  };

  it("are listed page by page, each once, by id", () => {
    const { ids, pages, write } = open();
    expect(pages()).toEqual([...ids].reverse());
    for (const index of [0, 2, 1]) {
      const answer = write("trade/amend-order", { instId: swap, ordId: ids[index] as string, px: `4900${index}` });
      expect(answer.body.code).toBe("0");
      expect(pages()).toEqual([...ids].reverse());
    }
  });

  it("stay as they were where the change was refused for funds", () => {
    const { ids, pages, write, read } = open();
    const before = read("trade/orders/pending", {}).body.data;
    const answer = write("trade/amend-order", { instId: swap, ordId: ids[0] as string, sz: "10000000" });
    expect(answer.body.code).not.toBe("0");
    expect(pages()).toEqual([...ids].reverse());
    expect(read("trade/orders/pending", {}).body.data).toEqual(before);
  });

  it("are canceled one by one, the changed one at its new price", () => {
    const { ids, pages, write, quote, read } = open();
    const answer = write("trade/amend-order", { instId: swap, ordId: ids[1] as string, px: "49000" });
    expect(answer.body.code).toBe("0");
    write("trade/cancel-batch-orders", [{ instId: swap, ordId: ids[1] as string }]);
    expect(pages()).toEqual([ids[3], ids[2], ids[0]]);
    quote(swap, 48_000, 100, 48_001, 100);
    expect(read("trade/order", { ordId: ids[1] as string }).body.data).toMatchObject([
      { state: "canceled", px: "49000", accFillSz: "0" },
    ]);
    expect(pages()).toEqual([]);
  });
});
