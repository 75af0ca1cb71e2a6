import { defer, EMPTY, NEVER, type Observable, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { type EngineRow, EngineSource, type SteeredRun } from "../../../plugins/control-room/index.ts";
import { withoutSecrets } from "../../../src/host/hidden-values.ts";
import type { OrderUpdate } from "../../../src/orders/order-update.ts";

const facts: EngineRow = {
  name: "main",
  kind: "paper",
  environment: "",
  version: "0.0.0",
  startedAt: 0,
  mode: "active",
  reason: "",
  state: "running",
};

/** A source of a run that does nothing but what is given. */
const sourceOf = (run: Partial<SteeredRun>) =>
  new EngineSource("main", facts, {
    events$: NEVER,
    now: () => 0,
    every: () => undefined,
    operatorActed: () => undefined,
    strategies: () => [],
    ...run,
  } as SteeredRun);
const never = () => NEVER as Observable<never>;

describe("Actions of an engine", () => {
  it("end at eight at a time, but for a halt", async () => {
    const source = sourceOf({ cancel: never, halt: () => EMPTY, openOrders: () => [] });
    for (let count = 0; count < 8; count++) void source.act({ type: "cancel", where: {} }, "me");
    expect(await source.act({ type: "resume" }, "me")).toMatchObject({ ok: false, code: "ENGINE_BUSY" });
    expect(await source.act({ type: "halt" }, "me")).toMatchObject({ ok: true });
  });

  it("change no option to the words that stand for a secret", async () => {
    const changed: object[] = [];
    const source = sourceOf({ changeOptions: (_, changes) => changed.push(changes), strategies: () => [] });
    const shown = withoutSecrets({ feed: { apiKey: "cnry-secret", levels: 2 } }) as object;
    expect(await source.act({ type: "options", strategy: "a", changes: { ...shown } }, "me")).toMatchObject({
      code: "OPTION_HIDDEN",
    });
    expect(changed).toEqual([]);
    await source.act({ type: "options", strategy: "a", changes: { levels: 3 } }, "me");
    expect(changed).toEqual([{ levels: 3 }]);
  });

  const order = (clOrdId: string, strategy: string, instId: string, side = "buy") =>
    ({ clOrdId, strategy, slot: clOrdId, isFinal: false, spec: { instId, side } }) as unknown as OrderUpdate;

  it("that halt leave exits out of account; a full stop names what it leaves without stops and targets", async () => {
    const exit = order("x", "one", "BTC-USDT-SWAP", "sell");
    Object.assign(exit.spec ?? {}, { reduceOnly: true });
    const asked: unknown[] = [];
    const view = (name: string, qty: string) => ({ name, positions: new Map([["BTC-USDT-SWAP", { qty }]]) });
    let views: unknown[] = [];
    const source = sourceOf({
      halt: (_, options) => {
        asked.push(options);
        return EMPTY;
      },
      openOrders: () => [exit],
      strategies: () => views as ReturnType<SteeredRun["strategies"]>,
    });
    views = [view("one", "0.02"), view("two", "0")];
    expect(await source.act({ type: "halt" }, "me")).toMatchObject({
      ok: true,
      text: "Trading is halted, and 0 orders are gone.",
    });
    expect(await source.act({ type: "halt", full: true }, "me")).toMatchObject({
      ok: false,
      text: expect.stringMatching(
        /^Trading is stopped, exits included \(without stops and targets now: 0\.02 BTC-USDT-SWAP of one\), and 0 orders are gone\. 1 order is still open/,
      ),
    });
    expect(asked).toEqual([{ full: false }, { full: true }]);
  });

  it("that halt say what is in force where a full stop was before", async () => {
    const view = (name: string, full: boolean) => ({
      name,
      positions: new Map([["BTC-USDT-SWAP", { qty: "0.02" }]]),
      ...(full && { full }),
    });
    let views: unknown[] = [];
    const source = sourceOf({
      halt: () => EMPTY,
      openOrders: () => [],
      strategies: () => views as ReturnType<SteeredRun["strategies"]>,
    });
    views = [view("one", true), view("two", true)];
    expect(await source.act({ type: "halt" }, "me")).toMatchObject({
      text: "Trading stays stopped, exits included (without stops and targets now: 0.02 BTC-USDT-SWAP of one, 0.02 BTC-USDT-SWAP of two), and 0 orders are gone.",
    });
    views = [view("one", true), view("two", false)];
    expect(await source.act({ type: "halt", strategy: "one" }, "me")).toMatchObject({
      text: "one stays stopped, exits included (without stops and targets now: 0.02 BTC-USDT-SWAP of one), and 0 orders are gone.",
    });
    expect(await source.act({ type: "halt", strategy: "two" }, "me")).toMatchObject({
      text: "two is halted, and 0 orders are gone.",
    });
    expect(await source.act({ type: "halt" }, "me")).toMatchObject({
      text: "Trading is halted (one stays stopped, exits included; without stops and targets now: 0.02 BTC-USDT-SWAP of one), and 0 orders are gone.",
    });
  });

  it("that cancel say how many orders still rest, because they cannot be canceled", async () => {
    let open = [order("a", "one", "BTC-USDT"), order("b", "one", "BTC-USDT-SWAP"), order("c", "two", "BTC-USDT")];
    const gone = { slot: "b", clOrdId: "b", ordId: "2", phase: "canceled", record: undefined } as const;
    const cancelable = () =>
      defer(() => {
        open = open.filter(({ clOrdId }) => clOrdId !== "b");
        return of(gone);
      });
    const source = sourceOf({ openOrders: () => open, halt: cancelable, cancel: cancelable });
    const [left] = open;
    expect(await source.act({ type: "halt", strategy: "one" }, "me")).toMatchObject({
      ok: false,
      code: "ORDERS_LEFT",
      text: expect.stringMatching(/^one is halted, and 1 order is gone\. 1 order is still open: /),
    });
    expect(await source.act({ type: "halt" }, "me")).toMatchObject({
      text: expect.stringContaining("2 orders are still open"),
    });
    open = [left as OrderUpdate, order("b", "one", "BTC-USDT", "sell")];
    expect(await source.act({ type: "cancel", where: { side: "sell" } }, "me")).toEqual({
      ok: true,
      text: "Canceling: 1 order is gone.",
      count: 1,
    });
    expect(await source.act({ type: "cancel", where: { instId: "BTC-USDT" } }, "me")).toMatchObject({
      ok: false,
      code: "ORDERS_LEFT",
      text: expect.stringContaining("1 order is still open"),
    });
  });

  it("that cancel say that no order matches; an id that no open order has is refused", async () => {
    const source = sourceOf({ openOrders: () => [order("a", "one", "BTC-USDT")], cancel: () => EMPTY });
    expect(await source.act({ type: "cancel", where: { side: "sell" } }, "me")).toEqual({
      ok: true,
      text: "No order matches.",
      count: 0,
    });
    expect(await source.act({ type: "cancel", where: { clOrdId: "b" } }, "me")).toEqual({
      ok: false,
      code: "ORDER_UNKNOWN",
      text: "No open order matches clOrdId b.",
    });
  });
});
