/** What an engine leaves running when it has stopped: nothing. */
import { concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/clock/clock.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Transport } from "../../../src/contract/transport.ts";
import { createLifetime } from "../../../src/engine/lifetime.ts";
import { createEngine, type Event, type ServiceSpec } from "../../../src/index.ts";
import { far, strategy } from "../../support/harness/backtest.ts";
import { keys, venueOf } from "../../support/harness/engine.ts";

describe("An engine's lifetime", () => {
  it("passes timers through until its end, and none from then on", () => {
    const clock = createVirtualClock();
    const lifetime = createLifetime(clock);
    const heard: string[] = [];
    lifetime.clock.setTimer(10, () => heard.push("ten"));
    lifetime.clock.setTimer(20, () => heard.push("cancelled")).cancel();
    lifetime.clock.setTimer(30, () => heard.push("thirty"));
    clock.advanceTo(15);
    lifetime.end();
    lifetime.clock.setTimer(40, () => heard.push("forty"));
    expect(clock.pending).toBe(0);
    clock.advanceTo(100);
    expect(heard).toEqual(["ten"]);
  });
});

describe("A stopped engine", () => {
  it("looks no longer for an order it has not heard of, and leaves no timer", async () => {
    const clock = createVirtualClock(1_700_000_000_000);
    const venue = venueOf(clock);
    const sent: string[] = [];
    let timers = 0;
    const counted: Clock = {
      now: () => clock.now(),
      wallNow: () => clock.wallNow(),
      setTimer: (at, run) => {
        let open = true;
        const close = (): void => {
          if (open) timers--;
          open = false;
        };
        timers++;
        const timer = clock.setTimer(at, () => {
          close();
          run();
        });
        return {
          cancel: () => {
            close();
            timer.cancel();
          },
        };
      },
    };
    const transport: Transport = ({ endpoint, method, path, query, body, key }, sink) => {
      sent.push(endpoint);
      // Placements vanish on the way: nobody ever says what became of them. The timers of the way are not the engine's.
      const placed = endpoint === "placeOrder";
      clock.setTimer(clock.now() + (placed ? 1_000 : 20), () => {
        if (placed) sink.failed(new Error("no answer"));
        else sink.response(venue.handle({ method, path, query, body, key, ip: "local" }, clock.now()));
      });
    };
    const service: ServiceSpec = {
      kind: "stopping",
      open: () => ({
        clock: counted,
        transport,
        market: {
          trades: () => NEVER,
          quotes: () => NEVER,
          books: () => NEVER,
          candles: () => NEVER,
          lastPx: () => undefined,
        },
        users: [{ uid: "main", ip: "local", keys, pushes$: NEVER, pushing$: of(false) }],
        assumptions: [],
        start: () => undefined,
        stop: () => undefined,
      }),
    };
    const engine = createEngine({
      service,
      strategies: [strategy("one", { wanted: () => concat(of([far()]), NEVER) })],
    });
    const events: Event[] = [];
    engine.on("event", (event) => events.push(event));
    const pass = async (ms: number): Promise<void> => {
      const untilAt = clock.now() + ms;
      await letPromisesSettle();
      while (clock.step(untilAt)) await letPromisesSettle();
      clock.advanceTo(untilAt);
    };
    const begun = engine.start();
    await pass(10_000);
    await begun;
    expect(events.filter((event) => event.type === "order.changed" && event.phase === "unknown")).toHaveLength(1);
    const stopped = engine.stop();
    await pass(0);
    await stopped;
    const asked = sent.length;
    const told = events.length;
    expect(timers).toBe(0);
    await pass(300_000);
    expect(sent.length).toBe(asked);
    expect(events.length).toBe(told);
  });
});
