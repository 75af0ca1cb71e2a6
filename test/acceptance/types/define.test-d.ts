/** What an author's editor knows: options come from the schema, in the definition and in the config. */
import { map, NEVER, of, timer } from "rxjs";
import { buy, defineConfig, definePlugin, defineStrategy, sell, type WantedOrder } from "sluice";
import { backtest } from "sluice/backtest";
import { describe, expectTypeOf, it } from "vitest";

const maker = defineStrategy({
  name: "maker",
  options: {
    type: "object",
    required: ["instId"],
    additionalProperties: false,
    properties: {
      instId: { type: "string" },
      levels: { type: "integer", default: 3 },
      sides: { type: "array", items: { type: "string", enum: ["buy", "sell"] }, default: ["buy"] },
      note: { type: "string" },
    },
  },
  wanted: ({ options }) => {
    expectTypeOf(options.instId).toEqualTypeOf<string>();
    expectTypeOf(options.levels).toEqualTypeOf<number>();
    expectTypeOf(options.sides).toEqualTypeOf<("buy" | "sell")[]>();
    expectTypeOf(options.note).toEqualTypeOf<string | undefined>();
    // @ts-expect-error: the schema has no such option
    void options.level;
    return NEVER;
  },
});

describe("options in a config", () => {
  it("take what the schema takes", () => {
    maker({ instId: "BTC-USDT" });
    maker({ instId: "BTC-USDT", levels: 4, sides: ["sell"], note: "x" }, { as: "other" });
    // @ts-expect-error: instId is required
    void (() => maker({}));
    // @ts-expect-error: the schema has no such option
    void (() => maker({ instId: "BTC-USDT", level: 4 }));
    // @ts-expect-error: levels is a number
    void (() => maker({ instId: "BTC-USDT", levels: "4" }));
    // @ts-expect-error: not one of the sides
    void (() => maker({ instId: "BTC-USDT", sides: ["long"] }));
    // @ts-expect-error: names are given as { as }
    void (() => maker({ instId: "BTC-USDT" }, { name: "other" }));
  });

  it("of a plugin likewise", () => {
    const bell = definePlugin({
      name: "bell",
      options: {
        type: "object",
        additionalProperties: false,
        properties: { loud: { type: "boolean", default: false } },
      },
      setup: ({ options, on }) => {
        expectTypeOf(options.loud).toEqualTypeOf<boolean>();
        on("order.filled", (event) => {
          expectTypeOf(event.phase).toEqualTypeOf<"filled">();
        });
      },
    });
    bell({});
    // @ts-expect-error: loud is a boolean
    void (() => bell({ loud: "yes" }));
  });

  it("wanted orders are typed", () => {
    const order = { slot: "bid", instId: "BTC-USDT", side: "buy", qty: "1" } as const;
    const options = { type: "object", additionalProperties: false, properties: {} } as const;
    defineStrategy({ name: "even", options, wanted: () => of([{ ...order, px: "1" }]) });
    // @ts-expect-error: px is decimal text
    defineStrategy({ name: "odd", options, wanted: () => of([{ ...order, px: 1 }]) });
    // @ts-expect-error: an order has a slot
    defineStrategy({ name: "odd", options, wanted: () => of([{ instId: "BTC-USDT", side: "buy" as const }]) });
  });
});

describe("a config", () => {
  it("has known keys only, as a value and as a function", () => {
    const service = backtest({ fixture: "test/fixtures/demo" });
    const strategies = [maker({ instId: "BTC-USDT" })];
    void (() => defineConfig({ service, strategies, plugins: [], instance: "a" }));
    void (() => defineConfig(({ command }) => ({ service, strategies, instance: command })));
    // @ts-expect-error: it is `plugins`
    void (() => defineConfig({ service, strategies, plugin: [] }));
  });
});

describe("wanted orders", () => {
  it("are made without `as const`", () => {
    const bid = { instId: "BTC-USDT", px: "1", qty: "1" };
    const options = { type: "object", additionalProperties: false, properties: {} } as const;
    defineStrategy({
      name: "both",
      options,
      wanted: () =>
        timer(1).pipe(
          map((round) => {
            const turn = round > 0 ? sell : buy;
            return [
              buy({ slot: "bid", ...bid }),
              turn({ slot: "turn", instId: "BTC-USDT", ordType: "market", qty: "1" }),
            ];
          }),
        ),
      run: ({ orders }) => orders.place(buy(bid)),
    });
    expectTypeOf(buy({ slot: "bid", ...bid })).toEqualTypeOf<WantedOrder>();
    // @ts-expect-error: a wanted order has no such field
    void (() => buy({ slot: "bid", ...bid, keepWthin: "1" }));
    // @ts-expect-error: the side is in the name
    void (() => sell({ slot: "bid", ...bid, side: "buy" }));
    // @ts-expect-error: no type of order
    void (() => sell({ slot: "bid", ...bid, ordType: "stop" }));
  });

  it("come as a stream of any kind", () => {
    const options = { type: "object", additionalProperties: false, properties: {} } as const;
    const order = buy({ slot: "bid", instId: "BTC-USDT", px: "1", qty: "1" });
    async function* sets() {
      yield [order];
    }
    const bare = {
      subscribe: (observer: { next?: (value: readonly WantedOrder[]) => void }) => observer.next?.([order]),
    };
    defineStrategy({ name: "generator", options, wanted: () => sets() });
    defineStrategy({ name: "promise", options, wanted: async () => [order], run: async () => undefined });
    defineStrategy({ name: "bare", options, wanted: () => bare });
    // @ts-expect-error: a set is no stream of sets
    defineStrategy({ name: "set", options, wanted: () => [order] });
  });

  it("a set-up returns what ends it, or nothing", () => {
    const options = { type: "object", additionalProperties: false, properties: {} } as const;
    definePlugin({ name: "a", options, setup: ({ print }) => print("x") });
    definePlugin({ name: "b", options, setup: ({ events$ }) => events$.subscribe() });
    definePlugin({ name: "c", options, setup: async () => () => undefined });
    // @ts-expect-error: text ends nothing
    definePlugin({ name: "d", options, setup: () => "x" });
  });
});
