/** What may be written in a fault plan, and the calendar it moves. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { httpFaults, parseFaultPlan, socketFaults } from "../../../plugins/venue-server/server/fault-plan.ts";
import { createFaults, type FaultPlan } from "../../../plugins/venue-server/server/faults.ts";
import { createServiceClock } from "../../../src/clock/service-clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createRandom } from "../../../src/random.ts";
import { type Call, keys, serverSetting, startAt } from "./harness/server.ts";

describe("A fault plan", () => {
  it.each([
    [
      "an unknown kind, with the nearest",
      { http: [{ kind: "drop_respons" }] },
      'plan.http.0.kind: "drop_respons" is not one of',
    ],
    ["the nearest of it", { http: [{ kind: "drop_respons" }] }, 'Did you mean "drop_response"?'],
    ["a kind of the other door", { socket: [{ kind: "html" }] }, 'plan.socket.0.kind: "html" is not one of delay, gap'],
    ["no kind", { http: [{ share: 1 }] }, 'plan.http.0: "kind" is missing.'],
    ["an unknown part", { htpp: [] }, 'plan: unknown key "htpp". Did you mean "http"?'],
    ["an unknown field", { http: [{ kind: "delay", probability: 1 }] }, 'plan.http.0: unknown key "probability".'],
    ["an unknown endpoint", { http: [{ kind: "delay", endpoint: "placeOrdr" }] }, 'Did you mean "placeOrder"?'],
    ["a share over one", { http: [{ kind: "delay", share: 1.5 }] }, "plan.http.0.share: must be <= 1 (got 1.5)."],
    ["a count of none", { socket: [{ kind: "gap", count: 0 }] }, "plan.socket.0.count: must be >= 1 (got 0)."],
    [
      "a time that runs backwards",
      { http: [{ kind: "delay", ms: [5, 1] }] },
      "plan.http.0.ms: [5,1] runs backwards; write [from, to].",
    ],
    ["three bounds", { http: [{ kind: "delay", ms: [1, 2, 3] }] }, "plan.http.0.ms: must NOT have more than 2 items"],
    [
      "a time that never is",
      { http: [{ kind: "html", fromMs: 5, toMs: 5 }] },
      "plan.http.0.toMs: 5 is not after fromMs, so the rule never applies.",
    ],
    [
      "a field the kind does not read",
      { http: [{ kind: "silence", ms: 5 }] },
      "plan.http.0.ms: silence does not read it; leave it out.",
    ],
    [
      "such a field of a socket",
      { socket: [{ kind: "gap", ms: 5 }] },
      "plan.socket.0.ms: gap does not read it; leave it out.",
    ],
    [
      "a redirect that leaves the machine",
      { http: [{ kind: "redirect", to: "http://example.com/" }] },
      "plan.http.0.to: must match pattern",
    ],
    [
      "a redirect to a look-alike",
      { http: [{ kind: "redirect", to: "http://localhost.example.com/" }] },
      "plan.http.0.to: must match pattern",
    ],
    ["a list", [], "plan: must be object (got [])."],
  ])("refuses %s", (_, plan, message) => {
    expect(() => parseFaultPlan(plan, "plan")).toThrow(message);
  });

  it("tells of every mistake at once", () => {
    expect(() => parseFaultPlan({ http: [{ kind: "x" }], listings: {} })).toThrow(
      /http\.0\.kind[\s\S]*listings: "lagMs" is missing/,
    );
  });

  it("takes every kind with everything it reads", () => {
    const values = {
      ms: [1, 2],
      leg: "in",
      status: 500,
      to: "http://localhost:1/",
      bytes: 5,
      body: { code: 1 },
    } as const;
    const rules = (kinds: Readonly<Record<string, { reads: readonly (keyof typeof values)[] }>>) =>
      Object.entries(kinds).map(([kind, { reads }]) => ({
        kind,
        ...Object.fromEntries(reads.map((field) => [field, values[field]])),
      }));
    const plan = { http: rules(httpFaults), socket: rules(socketFaults) };
    expect(parseFaultPlan(plan)).toEqual(plan);
  });
});

describe("Drawing faults:", () => {
  const drawn = (plan: FaultPlan, seed = 1) => createFaults(plan, createVirtualClock(startAt), createRandom(seed));

  it("gives the first rule that applies, with every value filled in", () => {
    const { http, socket } = drawn({
      http: [{ kind: "html", endpoint: "getOrder" }, { kind: "delay" }],
      socket: [{ kind: "delay", channel: "trades", ms: 40 }, { kind: "gap" }],
    });
    expect(http("getOrder")).toMatchObject({ kind: "html", leg: "out", status: undefined });
    expect(http("placeOrder")).toMatchObject({ kind: "delay", ms: 500, leg: "out" });
    expect(http(undefined)).toMatchObject({ kind: "delay" });
    expect([socket("trades"), socket("books")]).toEqual([
      { kind: "delay", ms: 40 },
      { kind: "gap", ms: 0 },
    ]);
  });

  it("an empty plan has no faults", () => {
    const { http, socket, clock } = drawn({});
    expect([http("getOrder"), socket("trades"), clock.now(), clock.wallNow()]).toEqual([
      undefined,
      undefined,
      startAt,
      startAt,
    ]);
  });

  it("times lie between their bounds", () => {
    const { http } = drawn({ http: [{ kind: "delay", ms: [100, 200] }] });
    const times = Array.from({ length: 200 }, () => http("getOrder")?.ms ?? 0);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...times)).toBeLessThanOrEqual(200);
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(80);
  });

  it("a rule more does not move what the others draw", () => {
    const told = (plan: FaultPlan): readonly boolean[] => {
      const { http } = drawn({ seed: "s", ...plan });
      return Array.from({ length: 50 }, () => http("getOrder")?.kind === "html");
    };
    const one = { kind: "html", endpoint: "getOrder", share: 0.5 } as const;
    expect(told({ http: [one, { kind: "delay", share: 0.5 }] })).toEqual(told({ http: [one] }));
  });
});

describe("The faulty service's clock", () => {
  it("is off by the offset, and steps when told", () => {
    const clock = createVirtualClock(startAt);
    const service = createServiceClock(clock, { offsetMs: -7_000, steps: [{ atMs: 1_000, byMs: 90_000 }] });
    expect([service.now(), service.wallNow()]).toEqual([startAt - 7_000, startAt - 7_000]);
    clock.advanceTo(startAt + 999);
    expect(service.wallNow()).toBe(startAt - 6_001);
    clock.advanceTo(startAt + 1_000);
    expect([service.now(), service.wallNow()]).toEqual([startAt + 84_000, startAt + 84_000]);
  });

  it("goes on ahead by whole minutes when the calendar steps back", () => {
    const clock = createVirtualClock(startAt);
    const service = createServiceClock(clock, { steps: [{ atMs: 1_000, byMs: -30_000 }] });
    expect(service.now()).toBe(startAt);
    clock.advanceTo(startAt + 1_000);
    expect([service.wallNow(), service.now()]).toEqual([startAt - 29_000, startAt + 31_000]);
  });

  it("stands still over a fall so small that the clock was only regulated", () => {
    const clock = createVirtualClock(startAt);
    const service = createServiceClock(clock);
    clock.advanceTo(startAt + 500);
    expect(service.now()).toBe(startAt + 500);
    clock.stepWall(-400);
    expect([service.now(), service.wallNow()]).toEqual([startAt + 500, startAt + 100]);
    clock.advanceTo(startAt + 1_000);
    expect(service.now()).toBe(startAt + 600);
  });

  it("never falls, and keeps the calendar's full seconds and minutes, whatever steps come", () => {
    const step = fc.record({
      atMs: fc.integer({ min: 0, max: 60_000 }),
      byMs: fc.integer({ min: -7_200_000, max: 7_200_000 }),
    });
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 6 }),
        fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 20 }),
        (steps, waits) => {
          const clock = createVirtualClock(startAt);
          const service = createServiceClock(clock, { steps });
          let last = service.now();
          for (const wait of waits) {
            clock.advanceTo(clock.now() + wait);
            const wall = service.wallNow();
            const now = service.now();
            expect(now).toBeGreaterThanOrEqual(last);
            // Standing still is the only time the two may be out of phase.
            if (now > last) expect((now - wall) % 60_000).toBe(0);
            last = now;
          }
        },
      ),
    );
  });

  it("timers run at their instant on it, or after", () => {
    const clock = createVirtualClock(startAt);
    const service = createServiceClock(clock, { offsetMs: 5_000, steps: [{ atMs: 500, byMs: -10_000 }] });
    const ran: number[] = [];
    service.setTimer(service.now() + 200, () => ran.push(clock.now()));
    service.setTimer(service.now() + 800, () => ran.push(clock.now()));
    const cancelled = service.setTimer(service.now() + 300, () => ran.push(-1));
    cancelled.cancel();
    clock.advanceTo(startAt + 2_000);
    expect(ran).toEqual([startAt + 200, startAt + 800]);
  });

  it("is what Date says and signatures are judged by, over the wire", async () => {
    const { get, place, venue, clock } = await serverSetting({
      faults: { clock: { offsetMs: 60_000, steps: [{ atMs: 10_000, byMs: -20_000 }] } },
    });
    const asked = async (call: Call): Promise<unknown> => {
      const { status, headers } = await get("trade/orders/pending", { key: keys.ann, ...call });
      return [status, headers.date];
    };
    expect(await asked({ at: startAt })).toEqual([401, "Tue, 14 Nov 2023 22:14:20 GMT"]);
    expect(await asked({ at: startAt + 60_000 })).toEqual([200, "Tue, 14 Nov 2023 22:14:20 GMT"]);
    await place({}, { at: startAt + 60_000 });
    clock.advanceTo(startAt + 10_000);
    expect(await asked({ at: startAt + 70_000 })).toEqual([401, "Tue, 14 Nov 2023 22:14:10 GMT"]);
    expect(await asked({ at: startAt + 50_000 })).toEqual([200, "Tue, 14 Nov 2023 22:14:10 GMT"]);
    await place({}, { at: startAt + 50_000 });
    // Records never get older: the second is later, though the calendar went back.
    const [second, first] = venue.truth("ann").orders;
    expect([Number(first?.createdAt) - startAt, Number(second?.createdAt) - startAt]).toEqual([60_000, 110_000]);
  });

  it("the windows of the limits begin at the calendar's minutes, after a step back too", async () => {
    const { get, clock } = await serverSetting({
      limits: true,
      faults: { clock: { steps: [{ atMs: 1_000, byMs: -5_000 }] } },
    });
    const used = async (): Promise<unknown> =>
      (await get("asset/spot", { key: keys.ann, at: clock.now() - 5_000 })).headers["x-ratelimit-uid-weight-used"];
    clock.advanceTo(startAt + 1_000);
    expect([await used(), await used()]).toEqual(["5", "10"]);
    // Calendar 22:13:59.999, then the full minute.
    clock.advanceTo(startAt + 44_999);
    expect(await used()).toBe("15");
    clock.advanceTo(startAt + 45_000);
    expect(await used()).toBe("5");
  });
});
