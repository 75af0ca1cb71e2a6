/**
 * Money is conserved: what users have is what they brought, plus what their fills say, and among themselves only fees leave, and
 * what liquidations bring and cost.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProfileOverrides } from "../../src/contract/profile.ts";
import { add, compare, div, mul, neg, sub, sum, toStep } from "../../src/decimal.ts";
import { setting, spot, swap } from "../support/harness/venue.ts";

type Step =
  | { readonly kind: "place"; readonly key: string; readonly order: Readonly<Record<string, unknown>> }
  | { readonly kind: "cancel"; readonly key: string; readonly index: number; readonly instId: string }
  | { readonly kind: "close"; readonly key: string }
  | { readonly kind: "leverage"; readonly key: string; readonly lever: string }
  | {
      readonly kind: "trade";
      readonly instId: string;
      readonly side: "buy" | "sell";
      readonly px: number;
      readonly qty: number;
    }
  | {
      readonly kind: "level";
      readonly instId: string;
      readonly side: "buy" | "sell";
      readonly px: number;
      readonly qty: number;
    }
  | {
      readonly kind: "quote";
      readonly instId: string;
      readonly px: number;
      readonly gap: number;
      readonly qty: number;
    };

const key = fc.constantFrom("ann-1", "bob-1");
const instId = fc.constantFrom(swap, spot);
const side = fc.constantFrom("buy" as const, "sell" as const);
/** A narrow band of prices, so that nearly everything meets something. */
const px = fc.integer({ min: 1, max: 12 });
const qty = fc.integer({ min: 0, max: 9 });

const order = fc.record({
  instId,
  side,
  ordType: fc.constantFrom("limit", "limit", "limit", "market", "post_only", "ioc", "fok"),
  px: px.map((tick) => mul(String(tick), "0.1")),
  sz: fc.integer({ min: 1, max: 4000 }).map((count) => mul(String(count), "0.0003")),
  reduceOnly: fc.boolean(),
});
const orderOf = (from: typeof order) =>
  from.map((fields) =>
    fields.instId === spot || Number(fields.sz) > 0.3 ? { ...fields, reduceOnly: undefined } : fields,
  );

const users: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant("place" as const), key, order: orderOf(order) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("cancel" as const), key, index: fc.nat(30), instId }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("close" as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("leverage" as const), key, lever: fc.constantFrom("1", "3", "7", "50") }),
  },
);
const market: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("trade" as const), instId, side, px, qty: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ kind: fc.constant("level" as const), instId, side, px, qty }),
  fc.record({ kind: fc.constant("quote" as const), instId, px, gap: fc.integer({ min: 1, max: 3 }), qty }),
);

const profile: ProfileOverrides = {
  order: { szUnit: { SPOT: "quote_notional", SWAP: "quote_notional" } },
  capabilities: { cancelSpot: true },
};

const play = (
  steps: readonly Step[],
  options: Parameters<typeof setting>[1],
  check: (it: ReturnType<typeof setting>) => void,
) => {
  const it = setting(profile, options);
  for (const step of steps) {
    const at = it.moment() + 1;
    if (step.kind === "place") it.place({ ...step.order }, { key: step.key });
    else if (step.kind === "close") it.write("trade/close-position", { instId: swap }, { key: step.key });
    else if (step.kind === "leverage")
      it.write("account/set-leverage", { instId: swap, lever: step.lever }, { key: step.key });
    else if (step.kind === "trade") it.venue.trade(step.instId, step.side, step.px, step.qty, at);
    else if (step.kind === "level") it.venue.level(step.instId, step.side, step.px, step.qty, at);
    else if (step.kind === "quote") it.venue.quote(step.instId, step.px, step.qty, step.px + step.gap, step.qty, at);
    else {
      const orders = it.venue.truth(step.key.startsWith("ann") ? "ann" : "bob").orders;
      const ordId = orders[step.index % Math.max(1, orders.length)]?.ordId ?? "1";
      it.write("trade/cancel-batch-orders", [{ instId: step.instId, ordId }], { key: step.key });
    }
    check(it);
  }
  return it;
};

const balanceOf = (it: ReturnType<typeof setting>, uid: string, currency: string): string =>
  it.balance(currency, uid)?.balance ?? "0";

/** Prices are a few dimes, so small accounts run out of money often. */
const poor = (USDT: string, BTC: string) => ({
  users: ["ann", "bob"].map((uid) => ({
    uid,
    keys: [{ name: `${uid}-1`, permissions: ["read", "trade_futures", "trade_spot"] }],
    balances: { USDT, BTC },
  })),
});

const rebates = { SPOT: { makerBps: "-1.5", takerBps: "7.25" }, SWAP: { makerBps: "-0.33", takerBps: "5.01" } };

describe("Money at the venue:", () => {
  it("spot balances are the start plus what the fills say, never available below zero, and open orders hold exactly what is frozen", () => {
    const spotOnly = fc
      .oneof({ weight: 3, arbitrary: users }, { weight: 2, arbitrary: market })
      .filter((step) => step.kind !== "place" || step.order["instId"] === spot);
    fc.assert(
      fc.property(fc.array(spotOnly, { minLength: 20, maxLength: 60 }), fc.boolean(), (steps, withRebate) => {
        const options = { ...poor("1.5", "2"), ...(withRebate ? { fees: rebates } : {}) };
        const it = play(steps, options, ({ venue }) => {
          for (const uid of ["ann", "bob"]) {
            for (const { available, frozen } of venue.truth(uid).balances) {
              expect(compare(available, "0")).toBeGreaterThanOrEqual(0);
              expect(compare(frozen, "0")).toBeGreaterThanOrEqual(0);
            }
          }
        });
        for (const uid of ["ann", "bob"]) {
          const fills = it.fills.filter((fill) => fill.uid === uid);
          const signed = fills.map(({ side: of, qty: base, px: price, cost }) => {
            const bought = of === "buy" ? base : neg(base);
            return { base: bought, quote: sub(neg(mul(bought, price)), cost) };
          });
          expect(balanceOf(it, uid, "BTC")).toBe(add("2", sum(signed.map(({ base }) => base))));
          expect(balanceOf(it, uid, "USDT")).toBe(add("1.5", sum(signed.map(({ quote }) => quote))));
          const taker = withRebate ? "1.000725" : "1.0005";
          const open = it.venue
            .truth(uid)
            .orders.filter(({ state }) => state === "live" || state === "partially_filled")
            .map(({ ordId, side: of, px: price, sz }) => {
              const done = sum(fills.filter((fill) => fill.ordId === ordId).map((fill) => fill.qty));
              const left = sub(toStep(div(sz, price, 12), "0.001", "down"), done);
              return of === "buy"
                ? { currency: "USDT", frozen: mul(mul(left, price), taker) }
                : { currency: "BTC", frozen: left };
            });
          for (const currency of ["USDT", "BTC"]) {
            const expected = sum(open.filter((held) => held.currency === currency).map(({ frozen }) => frozen));
            expect(it.balance(currency, uid)?.frozen).toBe(expected);
          }
        }
      }),
      { numRuns: 80 },
    );
  });

  it("among users alone only fees leave: balances, open profit, fees and the fund of liquidations keep their sum, spot and swap together", () => {
    fc.assert(
      fc.property(fc.array(users, { minLength: 20, maxLength: 60 }), fc.boolean(), (steps, withRebate) => {
        const options = { ...poor("40", "30"), ...(withRebate ? { fees: rebates } : {}) };
        play(steps, options, (state) => {
          const quote = ["ann", "bob"].map((uid) => balanceOf(state, uid, "USDT"));
          const open = ["ann", "bob"].flatMap((uid) => state.venue.truth(uid).positions.map(({ upl }) => upl ?? "0"));
          const fees = state.fills.map(({ cost }) => cost);
          expect(sum([...quote, ...open, ...fees, state.venue.fund()["USDT"] ?? "0"])).toBe("80");
          expect(sum(["ann", "bob"].map((uid) => balanceOf(state, uid, "BTC")))).toBe("60");
          expect(sum(["ann", "bob"].flatMap((uid) => state.venue.truth(uid).positions.map(({ pos }) => pos)))).toBe(
            "0",
          );
        });
      }),
      { numRuns: 80 },
    );
  });

  it("orders obey their own arithmetic whatever happens: states, fills and fees add up", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 3, arbitrary: users }, { weight: 2, arbitrary: market }), {
          minLength: 20,
          maxLength: 60,
        }),
        (steps) => {
          const last = new Map<string, string>();
          const it = play(steps, poor("40", "30"), () => undefined);
          for (const { record } of it.changes) {
            expect(["filled", "canceled"]).not.toContain(last.get(record.ordId));
            last.set(record.ordId, record.state);
          }
          for (const uid of ["ann", "bob"]) {
            for (const record of it.venue.truth(uid).orders) {
              const fills = it.fills.filter(({ ordId }) => ordId === record.ordId);
              expect(record.accFillSz).toBe(sum(fills.map((fill) => mul(fill.px, fill.qty))));
              expect(record.fee).toBe(neg(sum(fills.map(({ cost }) => cost))));
              expect(last.get(record.ordId)).toBe(record.state);
              if (record.px === "") continue;
              const better = fills.filter((fill) =>
                record.side === "buy" ? compare(fill.px, record.px) > 0 : compare(fill.px, record.px) < 0,
              );
              expect(better).toEqual([]);
              if (record.ordType === "post_only")
                expect(fills.filter(({ liquidity }) => liquidity === "taker")).toEqual([]);
            }
          }
        },
      ),
      { numRuns: 80 },
    );
  });
});
