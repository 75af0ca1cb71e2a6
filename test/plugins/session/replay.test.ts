import fc from "fast-check";
import {
  concat,
  debounceTime,
  defer,
  delay,
  EMPTY,
  interval,
  map,
  mergeMap,
  NEVER,
  of,
  scan,
  switchMap,
  take,
  timer,
} from "rxjs";
import { describe, expect, it } from "vitest";
import consolePanel from "../../../plugins/console-panel/index.ts";
import killSwitch from "../../../plugins/kill-switch/index.ts";
import { definePlugin, defineStrategy } from "../../../src/index.ts";
import averageCross from "../../../strategies/average-cross.ts";
import joinBest from "../../../strategies/join-best.ts";
import ladder from "../../../strategies/ladder.ts";
import { linesOf, record, replayed, strategy } from "./harness/session.ts";

const swap = "BTC-USDT-SWAP";
const far = (slot: string, px: string) => ({ slot, instId: swap, side: "buy" as const, px, qty: "0.01" });
const same = { divergence: undefined, changed: [], notes: [] };

describe("A replay does what was recorded", () => {
  it.each([
    ["ladder", ladder({ levels: 3, step: "0.0002" })],
    ["join-best", joinBest({ keepWithin: "1" })],
    ["average-cross", averageCross({ barMs: 1_000, fast: 2, slow: 3 })],
  ])("with the strategy %s", async (_, shipped) => {
    const recording = await record([shipped], { ms: 40_000, cancel: true });
    const report = await replayed(recording);
    expect(report).toMatchObject(same);
    expect(report.commands).toBeGreaterThan(4);
  });

  it("with a service whose products cannot change, which is not asked for them again", async () => {
    const asked = async (listFixed: boolean) => {
      const recording = await record([strategy("still", { run: () => EMPTY })], {
        ms: 5_000,
        says: { listFixed },
        profile: { instruments: { refreshMs: 1_000 } },
      });
      expect(await replayed(recording)).toMatchObject(same);
      return linesOf(recording.dir).filter((line) => line.includes('"out":"request"') && line.includes("instruments"))
        .length;
    };
    expect(await asked(false)).toBeGreaterThan(5);
    expect(await asked(true)).toBe(1);
  });

  it("with a strategy on timers, pauses and delays", async () => {
    const timed = strategy("timed", {
      wanted: ({ market }) =>
        market.quotes(swap).pipe(
          debounceTime(300),
          delay(20),
          map(({ bidPx }) => [{ ...far("a", bidPx), keepWithin: "1" }]),
        ),
      run: ({ orders }) => interval(3_333).pipe(switchMap(() => orders.cancel({ slot: "a" }))),
    });
    const report = await replayed(await record([timed], { ms: 30_000 }));
    expect(report).toMatchObject(same);
    expect(report.commands).toBeGreaterThan(10);
  });

  it("with a strategy that waits for promises between one order and the next", async () => {
    const waiting = strategy("waiting", {
      run: ({ market, orders, now }) =>
        market.quotes(swap).pipe(
          take(4),
          mergeMap((quote) =>
            defer(async () => {
              await Promise.resolve();
              const at = now();
              for (let round = 0; round < 20; round++) await Promise.resolve();
              // The same instant: promises take no time.
              return at === now() ? quote.bidPx : "1";
            }),
          ),
          mergeMap((px) => orders.place({ instId: swap, side: "buy", px, qty: "0.02" })),
        ),
    });
    const recording = await record([waiting]);
    expect(
      linesOf(recording.dir).filter((line) => line.includes('"endpoint":"placeOrder"') && line.includes('"px"')),
    ).not.toEqual([]);
    expect(await replayed(recording)).toMatchObject(same);
  });

  it("whatever the seed, with a strategy that throws dice and another beside it", async () => {
    const dice = strategy("dice", {
      wanted: ({ market, random }) =>
        timer(0, 700).pipe(
          map((round) =>
            [
              far("die", String(50_000 + random.whole(0, 1_000))),
              ...(random.next() < 0.5 ? [far(`${round}`, "49000")] : []),
            ].slice(0, market.lastPx(swap) === undefined ? 1 : 2),
          ),
        ),
    });
    const pxs = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, maxLength: 8 }), fc.boolean(), async (seed, push) => {
        const recording = await record([dice, joinBest({ keepWithin: "3" })], { seed, ms: 6_000, paper: { push } });
        const report = await replayed(recording, { seed: "another seed than that of the session" });
        expect(report).toMatchObject(same);
        pxs.add(JSON.stringify(linesOf(recording.dir).filter((line) => line.includes('"px":"50'))));
      }),
      { numRuns: 8 },
    );
    expect(pxs.size).toBeGreaterThan(4);
  });

  it("with plugins that act on their own time, and with what was asked from outside", async () => {
    const failing = strategy("failing", {
      run: () =>
        timer(4_000).pipe(
          map(() => {
            throw new Error("no luck");
          }),
        ),
    });
    const resting = strategy("resting", { wanted: () => concat(of([far("a", "50000"), far("b", "49000")]), NEVER) });
    const recording = await record([resting, failing], {
      plugins: [killSwitch({ onFailure: true }), consolePanel({ everyMs: 500 })],
      ms: 12_000,
      during: (engine) => {
        engine.account.balances$.pipe(take(1)).subscribe();
        engine.quota$.subscribe();
        engine.account.pending$.subscribe();
        timer(0).subscribe(() => undefined);
        engine.resume("for a change");
      },
    });
    const report = await replayed(recording);
    expect(report).toMatchObject(same);
    const text = linesOf(recording.dir).join("\n");
    for (const part of [
      '"call":"listen","what":"balances$"',
      '"call":"unlisten"',
      '"call":"resume"',
      '"spotBalance"',
      '"halted"',
    ])
      expect(text).toContain(part);
  });

  it("with a halt from outside and orders cancelled at the stop", async () => {
    const resting = strategy("resting", { wanted: () => concat(of([far("a", "50000")]), NEVER) });
    const halted = await record([resting], {
      during: (engine) => {
        engine.halt("enough").subscribe();
      },
    });
    expect(linesOf(halted.dir).join("\n")).toContain('"cancelBatch"');
    expect(await replayed(halted)).toMatchObject(same);
    const cancelled = await record([resting], { cancel: true });
    expect(linesOf(cancelled.dir).join("\n")).toContain('"cancelBatch"');
    expect(await replayed(cancelled)).toMatchObject(same);
  });

  it("with one strategy halted from outside and the other left alone, and with everything held closed", async () => {
    const resting = strategy("resting", { wanted: () => concat(of([far("a", "50000")]), NEVER) });
    const other = strategy("other", { wanted: () => concat(of([far("b", "49000")]), NEVER) });
    const one = await record([resting, other], {
      ms: 8_000,
      during: (engine) => {
        engine.halt("this one", { strategy: "other" }).subscribe();
      },
    });
    const halts = (recording: typeof one): readonly string[] =>
      linesOf(recording.dir).filter((line) => line.includes('"strategy.halted"'));
    expect(halts(one)).toEqual([expect.stringContaining('"strategy":"other"')]);
    expect(linesOf(one.dir).filter((line) => line.includes('"mode.changed"') && line.includes('"halted"'))).toEqual([]);
    expect(await replayed(one)).toMatchObject(same);
    const buying = strategy("buying", { wanted: () => concat(of([{ ...far("in", "70000"), qty: "0.01" }]), NEVER) });
    const closed = await record([buying], {
      ms: 12_000,
      during: (engine, clock) => {
        clock.setTimer(clock.now() + 4_000, () => engine.closePositions("enough"));
      },
    });
    expect(await replayed(closed)).toMatchObject(same);
    const text = linesOf(closed.dir).join("\n");
    for (const part of ['"call":"closePositions"', '"endpoint":"closePosition"', '"position.closed"'])
      expect(text).toContain(part);
  });

  it("with what one strategy holds closed from outside, and nothing of the other's", async () => {
    const buying = (name: string) =>
      strategy(name, { wanted: () => concat(of([{ ...far("in", "70000"), qty: "0.01" }]), NEVER) });
    const closed = await record([buying("one"), buying("two")], {
      ms: 12_000,
      during: (engine, clock) => {
        clock.setTimer(clock.now() + 4_000, () => engine.closePositions("enough", { strategy: "two" }));
      },
    });
    const endings = linesOf(closed.dir).filter((line) => line.includes('"position.closed"'));
    expect(endings).toEqual([expect.stringMatching(/"pos":"0\.01".*"strategy":"two"|"strategy":"two".*"pos":"0\.01"/)]);
    expect(await replayed(closed)).toMatchObject(same);
  });

  it("with requests that carry a trace, of which the session holds nothing", async () => {
    let spans = 0;
    const tracing = definePlugin({
      name: "tracing",
      options: { type: "object", additionalProperties: false, properties: {} },
      setup: ({ traceRequests }) => {
        const leaves = () => ({ traceparent: `00-${"ab".repeat(16)}-${String(++spans).padStart(16, "0")}-01` });
        traceRequests({ submitted: () => undefined, leaves, ends: () => undefined });
      },
    });
    const resting = strategy("resting", { wanted: () => concat(of([far("a", "50000")]), NEVER) });
    const traced = await record([resting], { plugins: [tracing({})] });
    expect(spans).toBeGreaterThan(0);
    expect(linesOf(traced.dir).join("\n")).not.toMatch(/traceparent|abababab/);
    expect(await replayed(traced)).toMatchObject(same);
  });

  it("when requests are refused, fail, or come late, and the service's clock is off", async () => {
    const busy = ladder({ levels: 20, step: "0.00005" });
    const recording = await record([busy], {
      ms: 20_000,
      paper: {
        skewMs: 400,
        timeoutMs: 14,
        latency: {
          name: "odd",
          make: (random) => ({
            name: "odd",
            entryMs: () => random.whole(1, 8),
            responseMs: () => random.whole(1, 8),
            feedMs: () => random.whole(0, 9),
          }),
        },
      },
    });
    const text = linesOf(recording.dir).join("\n");
    expect(text).toContain('"in":"failure"');
    expect(text).toContain('"action.held"');
    expect(await replayed(recording)).toMatchObject(same);
  });

  it("with questions about prices that the service does not know", async () => {
    const curious = strategy("curious", {
      run: ({ market }) =>
        interval(1_000).pipe(
          map((round) => {
            if (round === 3) market.quotes("DOGE-USDT-SWAP");
            return market.lastPx(swap);
          }),
        ),
    });
    const recording = await record([curious]);
    const text = linesOf(recording.dir).join("\n");
    expect(text).toContain('"re":"thrown","code":"INSTRUMENT_UNKNOWN"');
    expect(text).toContain('"strategy.failed"');
    expect(await replayed(recording)).toMatchObject(same);
  });

  it("with books and bars", async () => {
    const seen: string[] = [];
    const reader = strategy("reader", {
      wanted: ({ market }) => {
        market.candles(swap, 2_000).subscribe(({ close }) => seen.push(close));
        market.trades(swap).subscribe(({ qty }) => seen.push(qty));
        return market.books(swap).pipe(
          scan((count) => count + 1, 0),
          map(() => []),
        );
      },
    });
    const recording = await record([reader], { ms: 30_000 });
    const recordedThen = seen.splice(0);
    expect(recordedThen.length).toBeGreaterThan(5);
    expect(await replayed(recording)).toMatchObject(same);
    expect(seen).toEqual(recordedThen);
  });
});

describe("A divergence", () => {
  const step = (px: string) =>
    defineStrategy({
      name: "stepper",
      options: {
        type: "object",
        additionalProperties: false,
        required: ["px"],
        properties: { px: { type: "string" } },
      },
      wanted: ({ options }) => timer(1_000).pipe(switchMap(() => concat(of([far("one", options.px)]), NEVER))),
    })({ px });

  it("names the option that was changed and the field of the request that came of it", async () => {
    const recording = await record([step("50000")]);
    const report = await replayed(recording, { strategies: [step("50001")] });
    expect(report.changed).toEqual([{ path: "strategies.stepper.px", recorded: "50000", replayed: "50001" }]);
    const { divergence } = report;
    expect(divergence?.kind).toBe("differs");
    expect(divergence?.fields).toEqual([
      { path: "body.sz", recorded: "500", replayed: "500.01" },
      { path: "body.px", recorded: "50000", replayed: "50001" },
    ]);
    expect(linesOf(recording.dir)[(divergence?.line ?? 0) - 1]).toContain('"px":"50000"');
    expect(divergence?.before.length).toBeGreaterThan(3);
    expect(divergence?.before.at(-1)?.index).toBe((divergence?.index ?? 0) - 1);
  });

  it("is found where a strategy does more, or less, or at another time", async () => {
    const quiet = strategy("s", { run: () => EMPTY });
    const busy = strategy("s", { wanted: () => concat(of([far("a", "50000")]), NEVER) });
    const early = strategy("s", { run: () => timer(2_000) });
    const late = strategy("s", { run: () => timer(2_500) });
    const more = await replayed(await record([quiet]), { strategies: [busy] });
    expect(more.divergence).toMatchObject({ kind: "unexpected", replayed: expect.stringContaining("order.changed") });
    const less = await replayed(await record([busy]), { strategies: [quiet] });
    expect(less.divergence).toMatchObject({ kind: "missing", recorded: expect.stringContaining("order.changed") });
    const when = await replayed(await record([early]), { strategies: [late] });
    expect(when.divergence?.fields).toEqual([
      { path: "due", recorded: expect.any(Number), replayed: expect.any(Number) },
    ]);
    const [due] = when.divergence?.fields ?? [];
    expect(Number(due?.replayed) - Number(due?.recorded)).toBe(500);
  });

  it("ends the replay: the engine is stopped and nothing is compared any more", async () => {
    const recording = await record([step("50000")]);
    const report = await replayed(recording, { strategies: [step("50001")] });
    expect(report.events).toBeLessThan((await replayed(recording)).events);
  });

  it("is told for what a strategy did after waiting for something else than the engine", async () => {
    let arrive = (_px: string): void => undefined;
    const machine = strategy("machine", {
      run: ({ orders }) =>
        defer(() => new Promise<string>((resolve) => (arrive = resolve))).pipe(
          mergeMap((px) => orders.place({ instId: swap, side: "buy", px, qty: "0.01" })),
        ),
    });
    const recording = await record([machine], {
      during: () => {
        arrive("50000");
      },
    });
    const { divergence } = await replayed(recording);
    expect(divergence?.kind).toBe("stray");
    expect(linesOf(recording.dir)[divergence?.line ?? 0]).toContain('"order.changed"');
  });
});
