import { NEVER, of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import killSwitch from "../../../plugins/kill-switch/index.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { PositionEnding } from "../../../src/host/context.ts";
import { PluginHost } from "../../../src/host/plugin-host.ts";
import type { OrderRecord } from "../../../src/index.ts";
import { createNotices } from "../../../src/journal/event-emitter.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { CancelResult } from "../../../src/orders/manual-orders.ts";
import { testPlugin } from "../../../src/testing.ts";
import { far, swap } from "../../support/harness/backtest.ts";

type PluginParts = Parameters<PluginHost["start"]>[1];

type Given = Parameters<typeof killSwitch>[0];

/** The plugin on a virtual clock, with an account that says what the test lets it say. */
const alone = (options: Given) => {
  const clock = createVirtualClock(0);
  const journal = new EventLog(() => clock.now());
  const said: string[] = [];
  const halts: string[] = [];
  const streams = { pending$: new Subject(), balances$: new Subject(), positions$: new Subject() };
  const halt$ = new Subject<CancelResult>();
  const closings: string[] = [];
  const closing$ = new Subject<PositionEnding>();
  const account = { ...streams, history$: NEVER, equity$: NEVER };
  const parts = {
    instruments$: NEVER,
    quota$: NEVER,
    account,
    users: ["main"],
    accountOf: () => account,
    events$: journal.events$,
    updates$: of({ clOrdId: "sours00000000000000x" }),
    on: createNotices(journal, () => undefined).on,
    market: { lastPx: () => "100" },
    halt: (reason: string) => {
      halts.push(reason);
      return halt$;
    },
    closePositions: (reason: string) => {
      closings.push(reason);
      return closing$;
    },
    resume: () => undefined,
    now: () => clock.now(),
    print: (line: string) => said.push(line),
  } as unknown as PluginParts;
  void new PluginHost(clock, journal).start(killSwitch(options), parts);
  const wait = (ms: number): void => clock.advanceTo(clock.now() + ms);
  const event = (type: "action.sent" | "action.answered"): void => {
    const rest = { endpoint: "pendingOrders", outcome: "done" } as never;
    journal.append({ type, ...(rest as object) } as never);
  };
  return {
    said,
    halts,
    halt$,
    closings,
    closing$,
    wait,
    trip: () => journal.append({ type: "strategy.failed", strategy: "s", message: "no luck" }),
    ask: () => event("action.sent"),
    answer: () => event("action.answered"),
    list: (...ids: readonly string[]): void => {
      const value = ids.map((clOrdId) => ({ clOrdId }) as OrderRecord);
      streams.pending$.next({ value, at: clock.now(), stale: false });
    },
    worth: (usdt: string, ...[upl, over]: readonly [upl?: string | undefined, over?: object]): void => {
      wait(1_000);
      const balance = { currency: "USDT", balance: usdt, available: usdt, frozen: "0" };
      streams.balances$.next({ value: [balance], at: clock.now(), stale: false, ...over });
      streams.positions$.next({
        value: [{ instId: swap, pos: "1", avgPx: "1", ...(upl === undefined ? {} : { upl }) }],
        at: clock.now(),
        stale: false,
        ...over,
      });
    },
  };
};

describe("The kill switch closes positions", () => {
  it("where it is told to, and says what became of each", () => {
    const { trip, closings, closing$, said } = alone({ onFailure: true, closePositions: true });
    trip();
    expect(closings).toEqual(["a strategy failed"]);
    said.length = 0;
    const held = { uid: "main", instId: swap, pos: "0.5", left: "0", reason: "" };
    closing$.next({ ...held, kind: "closed" });
    closing$.next({ ...held, kind: "left", left: "0.2", reason: "the book did not take all of it" });
    closing$.next({ ...held, kind: "unknown", reason: "no answer" });
    expect(said).toEqual([
      "kill switch: the position of 0.5 in BTC-USDT-SWAP is closed",
      "kill switch: 0.2 of 0.5 in BTC-USDT-SWAP is still open (the book did not take all of it)",
      "kill switch: whether anything is held is not known: no answer",
    ]);
  });

  it("and not otherwise", () => {
    const { trip, closings } = alone({ onFailure: true });
    trip();
    expect(closings).toEqual([]);
  });
});

describe("The kill switch says that nothing is left", () => {
  const tripped = () => {
    const it = alone({ onFailure: true });
    it.trip();
    it.halt$.complete();
    it.wait(100);
    it.said.length = 0;
    return it;
  };

  it("when a list that was asked for after the last cancel shows no order of ours, whatever others have", () => {
    const { said, ask, answer, list, wait } = tripped();
    ask();
    answer();
    wait(1);
    list("stranger");
    expect(said).toEqual(["kill switch: no entry of ours is left"]);
    wait(100_000);
    expect(said).toHaveLength(1);
  });

  it.each<[string, (it: ReturnType<typeof tripped>) => void, string]>([
    [
      "nothing was read",
      () => undefined,
      "the open orders could not be read within 60 s: whether any of ours is left is not known",
    ],
    [
      "the list was asked for before",
      ({ answer, list }) => {
        answer();
        list();
      },
      "the open orders could not be read within 60 s: whether any of ours is left is not known",
    ],
    [
      "one of ours is still listed",
      ({ ask, answer, list }) => {
        ask();
        answer();
        list("sours11111111111111y", "stranger");
      },
      "1 of our orders is still listed after 60 s",
    ],
  ])("and otherwise what is known: %s", (_, act, line) => {
    const plugin = tripped();
    act(plugin);
    plugin.wait(59_000);
    expect(plugin.said).toEqual([]);
    plugin.wait(2_000);
    expect(plugin.said).toEqual([`kill switch: ${line}`]);
  });

  it("also when the first lists still showed one", () => {
    const { said, ask, answer, list } = tripped();
    ask();
    answer();
    list("sours11111111111111y");
    expect(said).toEqual([]);
    list();
    expect(said).toEqual(["kill switch: no entry of ours is left"]);
  });

  it("in an engine that trades", async () => {
    const t = await testPlugin(killSwitch({ onFailure: true }));
    t.want([far("a"), far("b")]);
    await t.advance();
    expect(t.open).toHaveLength(2);
    t.failStrategy("no luck");
    await t.advance(60_000);
    expect(t.printed).toEqual([
      "kill switch: a strategy failed; canceling all entries",
      "kill switch: no entry of ours is left",
    ]);
    expect([t.mode, t.orders.map(({ phase }) => phase)]).toEqual(["halted", ["canceled", "canceled"]]);
    await t.stop();
  });
});

describe("The kill switch watches what the account is worth", () => {
  it("and trips when more than lossMax is lost, seen twice", () => {
    const { worth, halts } = alone({ lossMax: "50" });
    worth("1000", "0");
    worth("1000", "-50");
    worth("990", "-60");
    expect(halts).toEqual([]);
    worth("1000", "10");
    worth("990", "-60");
    expect(halts).toEqual([]);
    worth("990", "-61.5");
    expect(halts).toEqual(["71.5 USDT lost since the start, more than 50"]);
  });

  it("and trips when it fell from its best by more than drawdownMax", () => {
    const { worth, halts } = alone({ drawdownMax: "50" });
    worth("1000", "0");
    worth("1000", "100");
    worth("1000", "49");
    worth("1000", "48");
    expect(halts).toEqual(["52 USDT below the best, more than 50"]);
  });

  it("and does not judge by what is stale or half read", () => {
    const { worth, halts } = alone({ lossMax: "50" });
    worth("1000", "0");
    worth("1", "0", { stale: true });
    worth("1", "0", { stale: true });
    expect(halts).toEqual([]);
  });

  it("and says so when it cannot be told", () => {
    const { worth, halts, said } = alone({ lossMax: "50" });
    worth("1000", "0");
    worth("1000", undefined);
    worth("1000", undefined);
    expect(halts).toEqual([]);
    expect(said).toEqual(["kill switch: the account's worth in USDT is not known, so losses are not seen"]);
  });

  it("in an engine that loses", async () => {
    const t = await testPlugin(killSwitch({ lossMax: "100" }));
    t.quote(swap, { bidPx: "60000", askPx: "60000.1" });
    t.want([{ slot: "x", instId: swap, side: "buy", px: "60000.1", qty: "0.1" }]);
    await t.advance(60_000);
    // A coin at 60000.1 costs 3 of fees and a half spread of 0.005; 97.005 more is lost at a middle of 59030.05.
    t.quote(swap, { bidPx: "59050", askPx: "59050.1" });
    await t.advance(60_000);
    expect(t.mode).toBe("active");
    t.quote(swap, { bidPx: "59000", askPx: "59000.1" });
    await t.advance(60_000);
    expect(t.mode).toBe("halted");
    expect(t.printed).toEqual([
      expect.stringMatching(
        /^kill switch: 10\d(\.\d+)? USDT lost since the start, more than 100; canceling all entries$/,
      ),
      "kill switch: no entry of ours is left",
    ]);
    await t.stop();
  });

  it("and closes what is held where it is told to, in an engine that loses", async () => {
    const t = await testPlugin(killSwitch({ lossMax: "100", closePositions: true }));
    t.quote(swap, { bidPx: "60000", askPx: "60000.1" });
    t.want([{ slot: "x", instId: swap, side: "buy", px: "60000.1", qty: "0.1" }]);
    await t.advance(60_000);
    expect(t.position(swap)).toBe("0.1");
    t.quote(swap, { bidPx: "58000", askPx: "58000.1" });
    await t.advance(120_000);
    expect(t.position(swap)).toBe("0");
    expect(t.printed).toContain(`kill switch: the position of 0.1 in ${swap} is closed`);
    await t.stop();
  });
});
