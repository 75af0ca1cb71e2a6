/** Several users and several keys behind one address, in one engine. */
import { concat, map, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { constant, paper } from "../../../src/backtest.ts";
import type { ServiceEnv } from "../../../src/client/service-port.ts";
import { after, type Clock } from "../../../src/clock/clock.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createEngine, definePlugin, type Event, type OrderRecord, type WantedOrder } from "../../../src/index.ts";
import { far, strategy, swap } from "../../support/harness/backtest.ts";

const timed = (clock: Clock, ms: number, wanted: readonly WantedOrder[]) => after(clock, ms).pipe(map(() => wanted));

const byText = (a: string | undefined, b: string | undefined): number => (`${a}` < `${b}` ? -1 : 1);

type Sent = Extract<Event, { type: "action.sent" }>;

const wanting = (wanted: readonly WantedOrder[]) => ({ wanted: () => concat(of(wanted), NEVER) });
const many = (count: number): WantedOrder[] => Array.from({ length: count }, (_, index) => far(`s${index}`, "30000"));

const engineOf = (users: Record<string, { keys?: number }>, wants: Record<string, readonly WantedOrder[]>) => {
  const clock = createVirtualClock(1_700_000_000_000);
  const engine = createEngine({
    service: paper({ clock, instruments: [swap], latency: constant(10), balances: { USDT: "1000000" }, users }),
    // Named like the user it trades for.
    strategies: Object.entries(wants).map(([user, wanted]) => ({ ...strategy(user, wanting(wanted)), user })),
  });
  const sent: Sent[] = [];
  engine.events$.subscribe((event) => {
    if (event.type === "action.sent") sent.push(event);
  });
  const run = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    await letPromisesSettle();
    while (clock.step(until)) await letPromisesSettle();
  };
  return { engine, sent, run, clock };
};

describe("Several users in one engine", () => {
  it("each sees its own orders and nobody else's", async () => {
    const { engine, run } = engineOf(
      { ann: {}, ben: {} },
      { ann: [far("a", "30000")], ben: [far("b", "31000"), far("c", "32000")] },
    );
    const seen: Record<string, readonly OrderRecord[]> = {};
    for (const uid of ["ann", "ben"]) engine.accountOf(uid).pending$.subscribe(({ value }) => (seen[uid] = value));
    void engine.start();
    await run(20_000);
    expect(seen["ann"]?.map(({ px }) => px)).toEqual(["30000"]);
    expect(seen["ben"]?.map(({ px }) => px).sort()).toEqual(["31000", "32000"]);
    await engine.stop();
  });

  it("each has a minute of weight of its own: one that spends all of it holds nobody else back", async () => {
    const { engine, sent, run } = engineOf({ ann: { keys: 2 }, ben: { keys: 2 } }, { ann: many(300), ben: many(300) });
    void engine.start();
    await run(60_000);
    const placed = (user: string): number =>
      sent.filter(({ owner, endpoint }) => owner === user && endpoint === "placeOrder").length;
    // 120 placements fill one user's minute; the address could carry ten times that.
    for (const user of ["ann", "ben"]) expect(placed(user)).toBeGreaterThan(90);
    expect(engine.quotaNow().layers.filter(({ layer }) => layer === "ip")).toHaveLength(1);
    expect(engine.quotaNow().layers.filter(({ layer }) => layer === "uid")).toHaveLength(2);
    await engine.stop();
  });

  it("all keys of a user carry its calls, a second each", async () => {
    const { engine, sent, run } = engineOf({ ann: { keys: 3 } }, { ann: many(100) });
    void engine.start();
    await run(10_000);
    const keys = new Set(sent.map(({ key }) => key));
    expect([...keys].sort(byText)).toEqual(["ann-1", "ann-2", "ann-3"]);
    const perSecond = new Map<string, number>();
    for (const { key, at } of sent)
      perSecond.set(`${key} ${Math.floor(at / 1_000)}`, (perSecond.get(`${key} ${Math.floor(at / 1_000)}`) ?? 0) + 1);
    expect(Math.max(...perSecond.values())).toBeLessThanOrEqual(10);
    await engine.stop();
  });

  it("a halt takes back the orders of all of them", async () => {
    const { engine, run } = engineOf({ ann: {}, ben: {} }, { ann: [far("a", "30000")], ben: [far("b", "31000")] });
    void engine.start();
    await run(20_000);
    const cancelled: string[] = [];
    engine.halt("enough").subscribe(({ slot }) => cancelled.push(slot));
    await run(5_000);
    expect(cancelled.sort()).toEqual(["a", "b"]);
    await engine.stop();
  });

  it("a plugin reaches every user's state by uid", async () => {
    const counts: Record<string, number> = {};
    const clock = createVirtualClock(1_700_000_000_000);
    const counter = definePlugin({
      name: "counter",
      options: { type: "object", additionalProperties: false, properties: {} },
      setup: ({ accountOf }) => {
        for (const uid of ["ann", "ben"])
          accountOf(uid).balances$.subscribe(({ value }) => (counts[uid] = Number(value[0]?.balance)));
      },
    });
    const engine = createEngine({
      service: paper({
        clock,
        instruments: [swap],
        users: { ann: { balances: { USDT: "7" } }, ben: { balances: { USDT: "9" } } },
      }),
      strategies: [strategy("ann", wanting([]))],
      plugins: [counter({})],
    });
    void engine.start();
    await letPromisesSettle();
    const until = clock.now() + 10_000;
    while (clock.step(until)) await letPromisesSettle();
    expect(counts).toEqual({ ann: 7, ben: 9 });
    await engine.stop();
  });

  it("a strategy for a user the service does not have is refused by name", () => {
    expect(() => engineOf({ ann: {}, ben: {} }, { benn: [] })).toThrow(
      /strategy "benn": the service has no user "benn"; it has ann, ben.*Did you mean "ben"/,
    );
  });
});

describe("A service that takes no orders", () => {
  it("is sent none: each is refused with the service's reason, cancels and reads go on", async () => {
    const clock = createVirtualClock(1_700_000_000_000);
    const inner = paper({ clock, instruments: [swap], latency: constant(10) });
    let reason: string | undefined;
    const engine = createEngine({
      service: { kind: "guarded", open: (env: ServiceEnv) => ({ ...inner.open(env), ordersRefused: () => reason }) },
      strategies: [
        strategy("one", {
          wanted: () => concat(of([far("a", "30000")]), timed(clock, 20_000, [far("b", "30000")]), NEVER),
        }),
      ],
    });
    const happened: string[] = [];
    engine.events$.subscribe((event) => {
      if (event.type === "order.refused") happened.push(`${event.slot} ${event.reason}`);
      if (event.type === "action.sent" && ["placeOrder", "cancelBatch"].includes(event.endpoint))
        happened.push(event.endpoint);
    });
    void engine.start();
    await letPromisesSettle();
    const runTo = async (at: number): Promise<void> => {
      while (clock.step(at)) await letPromisesSettle();
    };
    await runTo(clock.now() + 10_000);
    expect(happened).toEqual(["placeOrder"]);
    reason = "the unit of sz is not confirmed";
    await runTo(clock.now() + 30_000);
    expect(happened).toEqual(["placeOrder", "b the unit of sz is not confirmed", "cancelBatch"]);
    // Its strategy emits nothing more, and the order is still wanted.
    reason = undefined;
    await runTo(clock.now() + 5_000);
    expect(happened.slice(3)).toEqual(["placeOrder"]);
    await engine.stop();
  });
});
