/** Two engines on one key of one user: it is said that they are not alone, and no order is lost or placed twice. */
import { concat, interval, map, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { inProcess } from "../../../src/client/transport/in-process.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createEngine, defineStrategy, type Event } from "../../../src/index.ts";
import { far, keys, pass, resting, until, type World, worldOf } from "../../support/harness/engine.ts";

const noOptions = { type: "object", additionalProperties: false, properties: {} } as const;

/** An engine without a journal, at the world's service, over the world's one key; it changes its orders every so often, or never. */
const engineIn = (world: World, instance: string, everyMs: number, always?: ReturnType<typeof far>[]) => {
  const transport = inProcess({
    clock: world.clock,
    latency: { name: "constant", entryMs: () => 20, responseMs: () => 20, feedMs: () => 0 },
    timeoutMs: 3_000,
    handle: ({ method, path, query, body, key }, at) =>
      world.venue.handle({ method, path, query, body, key, ip: "local" }, at),
  });
  const ordersOf = (step: number) => always ?? [far("a", String(30_000 + step)), far("b", String(29_000 + step))];
  const wanted = () =>
    everyMs > 0
      ? concat(of(ordersOf(0)), interval(everyMs).pipe(map((step) => ordersOf(step + 1))))
      : concat(of(ordersOf(0)), NEVER);
  const events: Event[] = [];
  const engine = createEngine({
    service: {
      kind: "two",
      open: () => ({
        clock: world.clock,
        transport,
        market: {
          trades: () => NEVER,
          quotes: () => NEVER,
          books: () => NEVER,
          candles: () => NEVER,
          lastPx: () => undefined,
        },
        users: [{ uid: "main", ip: "local", keys, pushes$: NEVER, pushing$: of(false) }],
        watchful: true,
        assumptions: [],
        start: () => undefined,
        stop: () => undefined,
      }),
    },
    strategies: [defineStrategy({ name: "one", options: noOptions, wanted })({})],
    instance,
  });
  engine.events$.subscribe((event) => events.push(event));
  const warnings = (): readonly string[] =>
    events.flatMap((event) => (event.type === "anomaly" && event.what.startsWith("shared.") ? [event.what] : []));
  return { engine, events, warnings };
};

const both = async (names: readonly [string, string], everyMs: readonly [number, number]) => {
  const world = worldOf();
  const engines = names.map((name, index) => engineIn(world, name, everyMs[index] ?? 0));
  for (const { engine } of engines) await until(world, engine.start());
  await pass(world, 240_000);
  return { world, engines };
};
const end = async (world: World, { engine }: ReturnType<typeof engineIn>): Promise<void> => {
  await until(world, engine.stop({ cancel: true }));
  await letPromisesSettle();
};

describe("Two engines with one key", () => {
  it("and instance names of their own: each keeps its orders, and each says once that the key is shared", async () => {
    const { world, engines } = await both(["one", "two"], [7_000, 5_500]);
    expect(resting(world)).toHaveLength(4);
    // Each notices it once three of its seconds held a request of the other's.
    await pass(world, 360_000);
    expect(engines.map(({ warnings }) => warnings())).toEqual([["shared.key"], ["shared.key"]]);
    for (const engine of engines) await end(world, engine);
    expect(resting(world)).toEqual([]);
  });

  it("and one instance name: no slot holds two orders, and none is left", async () => {
    const { world, engines } = await both(["one", "one"], [0, 0]);
    expect(resting(world)).toEqual(["29000", "30000"]);
    for (const engine of engines) await end(world, engine);
    expect(resting(world)).toEqual([]);
  });

  it("and one instance name, both changing their orders: it is said once, and none is left", async () => {
    const { world, engines } = await both(["one", "one"], [7_000, 5_500]);
    // Either may find its orders canceled instead, and never an order that it does not know.
    const warned = engines.map(({ warnings }) => warnings());
    for (const kinds of warned) expect(kinds).toEqual([...new Set(kinds)]);
    expect(new Set(warned.flat())).toEqual(new Set(["shared.instance", "shared.key"]));
    for (const engine of engines) await end(world, engine);
    expect(resting(world)).toEqual([]);
  });

  it("one engine alone says nothing of the kind", async () => {
    const world = worldOf();
    const only = engineIn(world, "one", 7_000);
    await until(world, only.engine.start());
    await pass(world, 240_000);
    expect(only.warnings()).toEqual([]);
    await end(world, only);
    const next = engineIn(world, "one", 7_000);
    await until(world, next.engine.start());
    await pass(world, 120_000);
    expect(next.warnings()).toEqual([]);
    await end(world, next);
  });

  it("nor one that starts again and goes on with many orders that it left", async () => {
    const world = worldOf();
    const many = Array.from({ length: 5 }, (_, index) => far(`s${index}`, String(30_000 - 100 * index)));
    const first = engineIn(world, "one", 0, many);
    await until(world, first.engine.start());
    await pass(world, 5_000);
    await until(world, first.engine.stop());
    expect(resting(world)).toHaveLength(5);
    const next = engineIn(world, "one", 0, many);
    await until(world, next.engine.start());
    await pass(world, 120_000);
    expect(resting(world)).toHaveLength(5);
    expect(next.warnings()).toEqual([]);
    await end(world, next);
  });
});
