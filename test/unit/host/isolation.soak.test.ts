/** Strategies in threads of their own: what crosses, what does not, and what becomes of one that will not answer. */
import { setTimeout as pause } from "node:timers/promises";
import { concat, NEVER, Observable, of, Subject } from "rxjs";
import { afterAll, describe, expect, it } from "vitest";
import { paper, runBacktest } from "../../../src/backtest.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createIsolatedContext } from "../../../src/host/isolated-context.ts";
import { inThread } from "../../../src/host/isolation.ts";
import type { FromThread } from "../../../src/host/isolation-messages.ts";
import type { RestartPolicy } from "../../../src/host/restart-policy.ts";
import type { Strategy } from "../../../src/host/strategy.ts";
import { createStrategyHost } from "../../../src/host/strategy-host.ts";
import { createEngine, type Failure } from "../../../src/index.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { Event } from "../../../src/journal/events.ts";
import type { OrderUpdate } from "../../../src/orders/order-update.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { createRandom } from "../../../src/random.ts";
import { btc, calm, configOf, far, stored, strategy, swap } from "../../support/harness/backtest.ts";
import { hidden } from "./isolated/hidden.ts";
import moody from "./isolated/moody.ts";

/** Like the market's own objects: read field by field, and copied by nobody who does not ask. */
class Shown {
  readonly #px: number;
  constructor(px: number) {
    this.#px = px;
  }
  get bidPx(): string {
    return String(this.#px);
  }
  toJSON(): object {
    return { bidPx: this.bidPx, askPx: "60003", midFloat: (this.#px + 60_003) / 2 };
  }
}
const stops: (() => void)[] = [];
// At the very end, as they run side by side.
afterAll(() => {
  for (const stop of stops.splice(0)) stop();
});

const waitFor = async (fits: () => boolean, words = () => "nothing happened", ms = 120_000): Promise<void> => {
  const end = performance.now() + ms;
  while (!fits()) {
    if (performance.now() > end) throw new Error(`not within ${ms} ms: ${words()}`);
    await pause(10);
  }
};

/** A host with streams in hand; strategies marked for it run in threads. */
const hosted = (strategy: Strategy, supervision?: RestartPolicy) => {
  const clock = createSystemClock();
  const journal = new EventLog(() => clock.now());
  const events: Event[] = [];
  journal.attach((event) => events.push(event));
  const quotes$ = new Subject<unknown>();
  const wants: (readonly WantedOrder[])[] = [];
  const modes: string[] = [];
  let listeners = 0;
  const counted = (source: Observable<unknown>) =>
    new Observable((subscriber) => {
      listeners++;
      subscriber.add(() => listeners--);
      subscriber.add(source.subscribe(subscriber));
    });
  const placed: unknown[] = [];
  const context = {
    name: strategy.name,
    now: () => clock.now(),
    random: createRandom(1),
    listed: () => [{ ...btc, instType: "SWAP" }],
    estimate: () => ({ weight: 0, requests: 0, waitMs: 0 }),
    market: {
      trades: () => NEVER,
      quotes: () => counted(quotes$),
      books: () => NEVER,
      candles: () => NEVER,
      lastPx: () => "1",
    },
    orders: {
      place: (order: unknown) => {
        placed.push(order);
        return of({ phase: "live", clOrdId: "c1" } as OrderUpdate);
      },
      cancel: () => NEVER,
    },
    instruments$: NEVER,
    account: { pending$: NEVER, history$: NEVER, balances$: NEVER, positions$: NEVER, equity$: NEVER },
    own: { positions$: NEVER, equity$: NEVER, orders$: NEVER, updates$: NEVER },
    quota$: NEVER,
  };
  const host = createStrategyHost(clock, journal, supervision);
  stops.push(() => {
    host.stop();
  });
  host.start(inThread(strategy), context as never, {
    replace: (_, wanted) => wants.push(wanted),
    renew: () => false,
    withdraw: () => wants.push([]),
    setStrategyMode: (_, mode) => modes.push(mode),
  });
  const until = (what: string, fits: () => boolean): Promise<void> =>
    waitFor(fits, () => `${what}: ${JSON.stringify({ wants, events })}`);
  const failure = (): string | undefined =>
    events.flatMap((event) => (event.type === "strategy.failed" ? [event.message] : []))[0];
  const wanted = () => wants.map((set) => set.map(({ px, slot }) => `${slot} ${px}`).join());
  return { host, wants, wanted, events, modes, placed, until, failure, quotes$, listeners: () => listeners };
};
const isolated = (does: string, isolate: true | object = { answerMs: 60_000 }, afterMs = 0): Strategy =>
  moody({ does, afterMs }, { isolate });

describe.concurrent("A strategy in a thread of its own", () => {
  it("has what the others have, is told the market, wants accordingly, and its end is told", async () => {
    const { wanted, quotes$, until, listeners, host, placed } = hosted(isolated("lives"));
    await until("a subscription", () => listeners() === 1);
    for (const px of [60_000, 60_001, 60_002]) quotes$.next(new Shown(px));
    await until("an end", () => host.states.get("moody")?.state === "completed");
    expect(wanted()).toEqual([
      "true true moody true 0.1",
      expect.stringMatching(/^fetch was called inside a strategy/),
      "live c1 2",
      "60003 60001.5 60000",
      "60003 60002 60001",
      "",
      ...(wanted().length > 6 ? [""] : []),
    ]);
    expect(placed).toEqual([{ slot: "hand", instId: "BTC-USDT-SWAP", side: "buy", px: "7", qty: "0.01" }]);
    expect(listeners()).toBe(0);
  });

  it("that throws is told with its own file and line and what it was handling", async () => {
    const failures: Failure[] = [];
    const engine = createEngine(
      { service: paper({ instruments: [swap] }), strategies: [isolated("throws")] },
      { onFailure: (failure) => failures.push(failure) },
    );
    stops.push(() => void engine.stop());
    await engine.start();
    await waitFor(() => failures.length > 0);
    expect(failures[0]).toMatchObject({
      name: "moody",
      place: expect.stringMatching(/test\/unit\/host\/isolated\/moody\.ts:\d+:\d+$/),
      handling: "a timer",
    });
    await engine.stop();
  });

  it("that grows without end fails by name, and nobody else notices", async () => {
    const { failure, until, wants } = hosted(isolated("grows", { answerMs: 120_000, heapMb: 40 }));
    let turns = 0;
    const turning = setInterval(() => turns++, 20);
    await until("a failure", () => failure() !== undefined);
    clearInterval(turning);
    expect(failure()).toBe("its thread used up its heap of 40 MiB");
    expect(turns).toBeGreaterThan(3);
    expect(wants.at(-1)).toEqual([]);
  });

  it("that loops for ever fails by name in an engine that goes on trading for the others", async () => {
    const quiet = strategy("calm", { wanted: () => concat(of([far("calm")]), NEVER) });
    const engine = createEngine({
      service: paper({ instruments: [swap] }),
      strategies: [isolated("loops", { answerMs: 1_500 }), quiet],
    });
    stops.push(() => void engine.stop());
    const failed: string[] = [];
    engine.on("strategy.failed", (event) => failed.push(`${event.strategy}: ${event.message}`));
    const resting = new Set<string>();
    engine.updates$.subscribe(({ slot, phase }) => (phase === "live" ? resting.add(slot) : resting.delete(slot)));
    await engine.start();
    await waitFor(() => failed.length > 0 && !resting.has("bid"));
    expect(failed).toEqual(["moody: its thread did not answer for 1500 ms"]);
    expect([...resting]).toEqual(["calm"]);
    expect(engine.strategies().at(-1)).toMatchObject({ name: "calm", state: "running" });
    await engine.stop({ cancel: true });
  });

  it("gets changed options in a new thread, and is refused those that do not fit", async () => {
    const engine = createEngine({ service: paper({ instruments: [swap] }), strategies: [isolated("throws")] });
    stops.push(() => void engine.stop());
    const failed: string[] = [];
    engine.on("strategy.failed", (event) => failed.push(event.message));
    const live = new Set<string>();
    engine.updates$.subscribe(({ slot, phase }) => (phase === "live" ? live.add(slot) : live.delete(slot)));
    await engine.start();
    await waitFor(() => failed.length > 0 && live.size === 0);
    expect(() => engine.changeOptions("moody", { dos: "lives" })).toThrow("options of strategy");
    // It rests its order, and throws an hour later.
    engine.changeOptions("moody", { afterMs: 3_600_000 });
    await waitFor(() => live.has("bid"));
    expect([failed.length, engine.strategies()]).toMatchObject([
      1,
      [{ state: "running", options: { does: "throws", afterMs: 3_600_000 } }],
    ]);
    const { eventLoop, latency } = engine.health();
    expect([eventLoop?.lateMsMax ?? -1, latency.find(({ endpoint }) => endpoint === "placeOrder")?.count]).toEqual([
      expect.any(Number),
      expect.any(Number),
    ]);
    await engine.stop({ cancel: true });
  });

  it("that ends the process ends its thread, is started again after a while, and left alone when it fails too often", async () => {
    const { events, until, modes, failure } = hosted(isolated("exits"), { attempts: 2, withinMs: 600_000 });
    await until("a quarantine", () => modes.length > 0);
    const types = events.map(({ type }) => type);
    expect(types).toEqual([
      "strategy.failed",
      "strategy.restarting",
      "strategy.restarted",
      "strategy.failed",
      "strategy.quarantined",
    ]);
    expect(modes).toEqual(["halted"]);
    expect(failure()).toBe("its thread ended by itself with code 7");
  });

  it("that is not the default export of a file is refused by name", async () => {
    const { failure, until } = hosted(hidden({}, { isolate: true }));
    await until("a failure", () => failure() !== undefined);
    expect(failure()).toMatch(
      /^it cannot be isolated: hidden\.ts does not have it as its default export\. Give it a file of its own/,
    );
  });
});

describe("A backtest", () => {
  it("runs an isolated strategy beside the others, and says so", async () => {
    const report = await runBacktest(configOf(stored(calm(5)), [moody({ does: "looks" }, { isolate: true })]));
    expect(report.perStrategy["moody"]?.state).toBe("completed");
    expect(report.assumptions).toContainEqual(expect.objectContaining({ what: "Isolated strategies", value: "moody" }));
    const plain = await runBacktest(configOf(stored(calm(5)), [moody({ does: "looks" })]));
    expect(plain.assumptions.map(({ what }) => what)).not.toContain("Isolated strategies");
  });
});

describe("The context of an isolated strategy", () => {
  const context = (say: (message: FromThread) => void = () => undefined) =>
    createIsolatedContext({ name: "s", clock: createVirtualClock(0), seed: 1, listed: [], say });

  it("refuses by name what would need an answer at once", () => {
    const { parts } = context();
    expect(() => parts.estimate([])).toThrow(
      "estimate is not there for an isolated strategy, as it would have to wait for another thread. Watch quota$",
    );
    expect(() => parts.own.position("BTC-USDT")).toThrow("own.position is not there for an isolated strategy");
    expect(() => parts.market.lastPx("BTC-USDT")).toThrow("market.lastPx is not there for an isolated strategy");
  });

  it("takes plots and drops them", () => {
    const said: FromThread[] = [];
    context((message) => said.push(message)).parts.plot("rsi", 50);
    expect(said).toEqual([]);
  });

  it("subscribes where somebody listens, each for itself, and tells when nobody does any more", () => {
    const said: FromThread[] = [];
    const { parts, hear } = context((message) => said.push(message));
    const seen: unknown[] = [];
    const first = parts.market.candles("BTC-USDT", 60_000).subscribe((bar) => seen.push(["first", bar]));
    parts.account.pending$.subscribe({
      next: (value) => seen.push(["second", value]),
      complete: () => seen.push("end"),
    });
    hear({
      kind: "values",
      values: [
        [1, "p"],
        [0, "c"],
        [7, "nobody's"],
      ],
    });
    first.unsubscribe();
    hear({ kind: "values", values: [[0, "late"]] });
    hear({ kind: "ended", stream: 1 });
    expect(seen).toEqual([["second", "p"], ["first", "c"], "end"]);
    expect(said).toEqual([
      { kind: "subscribe", stream: 0, path: "market.candles", args: ["BTC-USDT", 60_000] },
      { kind: "subscribe", stream: 1, path: "account.pending$", args: [] },
      { kind: "unsubscribe", stream: 0 },
    ]);
  });

  it("says what cannot cross, and passes on what went wrong there", () => {
    const problems: unknown[] = [];
    const listen = (source: Observable<unknown>): void =>
      void source.subscribe({ error: (error: Error) => problems.push(error.message) });
    listen(
      context((message) => void structuredClone(message)).parts.orders.place({
        instId: "a",
        side: "buy",
        tag: (() => "") as never,
      }),
    );
    const { parts, hear } = context();
    listen(parts.orders.cancel({ slot: "a" }));
    hear({ kind: "ended", stream: 0, error: "no such condition" });
    expect(problems).toEqual([
      "orders.place: what was handed over cannot leave an isolated strategy's thread. Hand over plain data.",
      "no such condition",
    ]);
  });

  it("knows what is listed as it changes", () => {
    const { parts, hear } = context();
    hear({ kind: "listed", listed: [{ instId: "X-Y" }] as never });
    expect(parts.listed().map(({ instId }) => instId)).toEqual(["X-Y"]);
  });
});

describe("Isolation as an option", () => {
  it("is kept when options are varied, and without it a strategy stays as it is", () => {
    expect(isolated("lives").with?.({ does: "loops" }).isolation).toMatchObject({ answerMs: 60_000, heapMb: 128 });
    const plain = moody({ does: "lives" });
    expect(inThread(plain)).toBe(plain);
    expect(moody({ does: "lives" }, { isolate: false }).isolation).toBeUndefined();
  });

  it.each([
    [{ answerMs: 5 }, /answerMs/],
    [{ heap: 5 }, /"heap"/],
    [{ heapMb: "5" }, /heapMb/],
  ])("%o is refused", (isolate, message) => {
    expect(() => isolated("lives", isolate)).toThrow(message);
  });
});
