import fc from "fast-check";
import { tap } from "rxjs";
import { describe, expect, it } from "vitest";
import { createSameAnswer } from "../../src/backtest/same-answer.ts";
import { createContract } from "../../src/contract/contract.ts";
import { readAnswer } from "../../src/gateway/read-answer.ts";
import { createTape } from "../../src/index.ts";
import type { Series } from "../../src/market/tape.ts";
import { btc, candles, run, startAt, strategy } from "./arena.ts";

const copy = (value: unknown): unknown => structuredClone(value);

describe("an answer that says the same", () => {
  it("is the one before it, and one that says something else is never", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 3 }), { minLength: 1 }), fc.infiniteStream(fc.boolean()), (values, again) => {
        const same = createSameAnswer();
        let before: unknown;
        for (const value of values) {
          for (let times = again.next().value === true ? 2 : 1; times > 0; times--) {
            const body = copy(value);
            const answer = same(body);
            expect(answer).toStrictEqual(value);
            if (JSON.stringify(before) === JSON.stringify(value)) expect(answer).toBe(before);
            before = answer;
          }
        }
      }),
    );
  });

  it.each([
    [{ a: 1 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { a: 1 }],
    [{ a: undefined }, {}],
    [[1, 2], [1]],
    [[], {}],
    [null, {}],
    [{ data: [{ tickSize: "0.1" }] }, { data: [{ tickSize: "0.10" }] }],
  ])("is not %j where that says %j", (one, other) => {
    const same = createSameAnswer();
    same(one);
    expect(same(other)).toBe(other);
  });
});

describe("a list of products", () => {
  const contract = createContract();
  const record = { instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.001" };
  const read = (data: readonly unknown[], of = contract) => {
    const outcome = readAnswer("instruments", { status: 200, headers: {}, body: { code: "0", msg: "", data } }, of, 0);
    return outcome.kind === "done" ? outcome.records : undefined;
  };

  it("is read once for as long as the same one is handed over", () => {
    const data = [record];
    const first = read(data);
    expect(first).toEqual([record]);
    expect(read(data)).toBe(first);
    const other = [{ ...record, tickSize: "0.5" }];
    expect(read(other)).toEqual(other);
    expect(read(data)).toEqual([record]);
  });

  it("is read by each engine for itself", () => {
    const data = [record];
    expect(read(data, createContract())).not.toBe(read(data));
  });

  it("is asked for as often as ever, and becomes another one when a product changes", async () => {
    const hour = 3_600_000;
    const bars = candles(
      Array.from({ length: 8 }, () => [600_000, 600_000, 600_000, 600_000]),
      hour,
    );
    const change: Series = {
      kind: "change",
      instrument: 0,
      at: Float64Array.of(startAt + 4.5 * hour),
      tick: Float64Array.of(5),
      lot: Float64Array.of(1),
      listed: Uint8Array.of(1),
    };
    const lists = async (...more: readonly Series[]) => {
      const seen: (readonly [map: unknown, tick: string | undefined])[] = [];
      const eyes = strategy("eyes", {
        run: ({ instruments$ }) => instruments$.pipe(tap(({ value }) => seen.push([value, value.get(btc.instId)?.tickSize]))),
      });
      const { quota } = await run(createTape([btc], [bars, ...more]), [eyes]);
      return { seen, requests: quota.requests };
    };
    const calm = await lists();
    expect(calm.seen.length).toBeGreaterThan(6);
    expect(new Set(calm.seen.map(([map]) => map)).size).toBe(1);
    const changed = await lists(change);
    expect(changed.requests).toBe(calm.requests);
    expect(new Set(changed.seen.map(([map]) => map)).size).toBe(2);
    expect(new Set(changed.seen.map(([, tick]) => tick))).toEqual(new Set(["0.1", "0.5"]));
  });
});
