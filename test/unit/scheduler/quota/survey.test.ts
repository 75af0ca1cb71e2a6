/** The quick way to leave: what surely fits is said to fit at once, and nothing else is. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../../../src/contract/contract.ts";
import { Allowances } from "../../../../src/scheduler/quota/allowance.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import { type Charge, type LayerSpec, layersOf } from "../../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../../src/scheduler/quota/ledger.ts";
import type { Ceiling, LimitWindow, WindowTicket } from "../../../../src/scheduler/quota/limit-window.ts";
import type { Rank } from "../../../../src/scheduler/quota/reserve.ts";
import { defaultReserve } from "../../../../src/scheduler/quota/reserve.ts";
import { RollingWindow } from "../../../../src/scheduler/quota/rolling-window.ts";
import type { ServerClock } from "../../../../src/scheduler/quota/server-clock.ts";
import { RoundTripTime } from "../../../../src/scheduler/quota/server-clock.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

const spec: LayerSpec = {
  name: "key",
  scope: "key",
  unit: "requests",
  capacity: 10,
  windowMs: 1_000,
  anchor: "wall_clock",
  banMs: 0,
};
const noon = 1_767_600_000_000;

const moving: ServerClock = {
  ...fixedClock(0, 0),
  lo: (at) => -300 - ((at * 7) % 900),
  hi: (at) => 100 + ((at * 3) % 2_700),
};

interface Happening {
  readonly passMs: number;
  readonly what: "begin" | "again" | "end" | "lose" | "undo" | "shut";
  readonly units: number;
  readonly used: number | undefined;
}

const happening: fc.Arbitrary<Happening> = fc.record({
  passMs: fc.constantFrom(0, 0, 1, 90, 700, 1_600),
  what: fc.constantFrom<Happening["what"]>("begin", "begin", "begin", "again", "end", "lose", "undo", "shut"),
  units: fc.integer({ min: 1, max: 4 }),
  used: fc.option(fc.integer({ min: 0, max: 12 }), { nil: undefined }),
});

/** Something happens to the gauge; whatever is under way is kept in `open`. */
const live = (
  gauge: LimitWindow,
  open: { ticket: WindowTicket; at: number }[],
  now: number,
  { what, units, used }: Happening,
) => {
  const last = open.at(-1);
  if (what === "begin") open.push({ ticket: gauge.begin(units, now), at: now });
  if (what === "again" && last?.at === now) {
    gauge.again(last.ticket, now);
    open.push(last);
  }
  const first = what === "end" || what === "lose" || what === "undo" ? open.shift() : undefined;
  if (first !== undefined && what === "end") gauge.end(first.ticket, first.at, now, used, true);
  if (first !== undefined && what === "lose") gauge.lose(first.ticket, now);
  if (first !== undefined && what === "undo") gauge.undo(first.ticket);
  if (what === "shut") gauge.shut(now);
};

describe("The room of a limit window", () => {
  it.each<[string, () => LimitWindow]>([
    ["the offset known", () => new FixedWindow(spec, "k", fixedClock(0, 0))],
    ["the offset in doubt", () => new FixedWindow(spec, "k", fixedClock(-300, 500))],
    [
      "the offset in motion, so that windows long past or still to come may be meant",
      () => new FixedWindow(spec, "k", moving),
    ],
    ["nothing known", () => new FixedWindow(spec, "k", fixedClock(0, 0, false))],
    ["windows that begin anywhere", () => new RollingWindow({ ...spec, anchor: "sliding" }, "k")],
  ])("is what is not blocked, to the unit: %s", (_, make) => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 60 }), fc.integer({ min: 3, max: 10 }), (happenings, most) => {
        const gauge = make();
        const ceiling: Ceiling = (endAt, startAt) => Math.min(most, (endAt - startAt) / 100);
        const open: { ticket: WindowTicket; at: number }[] = [];
        let now = 5_000;
        for (const one of happenings) {
          now += one.passMs;
          live(gauge, open, now, one);
          const room = gauge.room(now, ceiling);
          for (let units = 1; units <= 12; units++) {
            const fits = gauge.blockedUntil(units, now, ceiling) === undefined;
            // Where nothing is known of the service's clock no ceiling is looked at; where it is in doubt each call is.
            // A window that is spent evenly has room for ordinary calls as far as they are paced, and exits are asked about one by one.
            const isSurveyed = gauge.flows ? units <= room : room > 0 || units <= room;
            if (isSurveyed) expect(fits, `${units} of ${room} at ${now}`).toBe(units <= room);
          }
        }
      }),
      { seed: 1, numRuns: 100 },
    );
  });

  it("shrinks by what is begun, and by nothing else", () => {
    const gauge = new FixedWindow(spec, "k", fixedClock(-300, 500));
    const rooms: number[] = [];
    const ticket = gauge.begin(3, 5_000);
    rooms.push(gauge.begun + gauge.room(5_000, () => 9));
    gauge.again(ticket, 5_000);
    gauge.begin(1, 5_000);
    rooms.push(gauge.begun + gauge.room(5_000, () => 9));
    expect(rooms).toEqual([9, 9]);
  });
});

describe("The floor of an allowance", () => {
  const layers = layersOf(createContract());
  const extra: LayerSpec = {
    name: "own",
    scope: "uid",
    unit: "weight",
    capacity: 300,
    windowMs: 10_000,
    anchor: "sliding",
    banMs: 0,
  };
  const policy = fc.record({
    keySlots: fc.integer({ min: 0, max: 12 }),
    probeUnits: fc.constantFrom(0, 2),
    spending: fc.constantFrom("burst" as const, "paced" as const),
  });
  const state = fc.record({
    used: fc.integer({ min: 0, max: 1_300 }),
    intoMs: fc.constantFrom(0, 400, 900, 999, 30_000, 59_000, 59_700),
    width: fc.constantFrom(0, 44, 200),
    foreign: fc.constantFrom(0, 15, 60),
    openOrders: fc.constantFrom(0, 1, 200),
    flying: fc.boolean(),
    weight: fc.constantFrom(2, 5, 10, 15),
    rank: fc.constantFrom<Rank>("emergency", "exit", "ordinary"),
  });

  it("is never above it", () => {
    fc.assert(
      fc.property(policy, state, (given, { used, intoMs, width, foreign, openOrders, flying, weight, rank }) => {
        const clock = fixedClock(0, width);
        const at = noon + intoMs;
        const windows = [...layers, extra].map((layer) =>
          layer === extra ? new RollingWindow(layer, "u") : new FixedWindow(layer, "u", clock),
        );
        const allowances = new Allowances({
          policy: { ...defaultReserve, ...given },
          trips: new RoundTripTime(),
          startedAt: noon - 60_000,
          weightOf: () => windows[1],
        });
        allowances.noteOpen("u", openOrders);
        for (let call = 0; call < 4; call++) allowances.noteUse("u", noon - 20_000 + 4_000 * call, foreign);
        const charge: Charge = { endpoint: "getOrder", weight, elements: 1, ip: "u", uid: "u", key: "u" };
        for (const gauge of windows) {
          const units = gauge.spec.unit === "weight" ? used : Math.min(used, gauge.spec.capacity);
          gauge.end(gauge.begin(units, at), at, at, gauge.spec.header === undefined ? undefined : units, true);
          if (flying) gauge.begin(1, at);
          const startAt = Math.floor(at / gauge.spec.windowMs) * gauge.spec.windowMs;
          const asked = [startAt + gauge.spec.windowMs, startAt, at] as const;
          const floor = allowances.floorOf(gauge, charge, rank)(...asked);
          // The survey of a window that is spent evenly bounds what is paced by itself.
          const most = gauge.flows ? Math.min(floor, gauge.paced(at)) : floor;
          expect(most, gauge.spec.name).toBeLessThanOrEqual(allowances.of(gauge, charge, rank)(...asked));
        }
      }),
      { seed: 1, numRuns: 600 },
    );
  });
});

describe("Calls of one instant", () => {
  const charge: Charge = { endpoint: "getOrder", weight: 1, elements: 1, ip: "home", uid: "u", key: "k" };
  const warm = () => {
    const ledger = createLedger({
      layers: layersOf(createContract()),
      startedAt: noon,
      quietMs: 0,
      clock: { dateSlackMs: 0, driftPpm: 0 },
    });
    const ticket = ledger.spend({ ...charge, weight: 0 }, noon + 9_000);
    ledger.clock.observeDate(noon + 8_999, noon + 8_999, noon + 8_000);
    ledger.settle(ticket, { status: 200, headers: { date: new Date(noon + 9_000).toUTCString() } }, noon + 9_000);
    return ledger;
  };
  const grants = (
    what: Charge,
    rank: Rank,
    at: number,
    meanwhile: (ledger: ReturnType<typeof warm>) => void = () => undefined,
  ): number => {
    const ledger = warm();
    let count = 0;
    while (count < 2_000 && ledger.ask(what, rank, at).granted) {
      ledger.spend(what, at);
      meanwhile(ledger);
      count++;
    }
    return count;
  };

  it("leave the key's kept slots to exits, and the minute's reserve", () => {
    expect(grants(charge, "ordinary", noon + 10_100)).toBe(8);
    expect(grants(charge, "exit", noon + 10_100)).toBe(10);
    expect(grants({ ...charge, weight: 150 }, "ordinary", noon + 10_100)).toBe(6);
  });

  it.each<[string, number, (ledger: ReturnType<typeof warm>, at: number) => void]>([
    ["nothing", 20, () => undefined],
    // What it takes to cancel all that rests is more than the minute has.
    ["orders that rest", 1, (ledger) => ledger.noteOpen("u", 1_500)],
    [
      "exits one after the other",
      1,
      (ledger, at) => {
        for (let exit = 0; exit < 60; exit++) ledger.noteExit(at);
      },
    ],
    [
      "an answer that tells of others' use",
      1,
      (ledger, at) => {
        const headers = { date: new Date(at).toUTCString(), "x-ratelimit-uid-weight-used": "1190" };
        ledger.settle(ledger.spend({ ...charge, key: "other" }, at), { status: 200, headers }, at);
      },
    ],
    [
      "a refusal",
      1,
      (ledger, at) => {
        ledger.settle(ledger.spend({ ...charge, key: "other" }, at), { status: 429, headers: {} }, at);
      },
    ],
  ])("are looked at anew when something else has happened in between: %s", (_, count, surprise) => {
    const unlimited = { ...charge, key: undefined, weight: 50 };
    const at = noon + 10_100;
    expect(grants(unlimited, "ordinary", at, (ledger) => surprise(ledger, at))).toBe(count);
  });

  it("share a ticket, and each of them is settled", () => {
    const ledger = warm();
    const tickets = [1, 2, 3].map(() => ledger.spend(charge, noon + 10_100));
    expect(new Set(tickets).size).toBe(1);
    const used = (): number => ledger.state(noon + 10_200).find(({ layer }) => layer === "key")?.used ?? -1;
    const [first, second, third] = tickets as [(typeof tickets)[0], (typeof tickets)[0], (typeof tickets)[0]];
    expect(used()).toBe(3);
    ledger.release(first);
    expect(used()).toBe(2);
    ledger.settle(second, { status: 200, headers: {} }, noon + 10_150);
    ledger.lose(third, noon + 10_160);
    expect(used()).toBe(2);
    expect(ledger.spend(charge, noon + 10_100)).not.toBe(first);
  });
});
