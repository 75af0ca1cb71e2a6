/** All layers together: start, grants, refusals, disturbance, and lists of layers other than the service's. */

import { describe, expect, it } from "vitest";
import { createContract } from "../../../../src/contract/contract.ts";
import { type Charge, type LayerSpec, layersOf } from "../../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger, type Rank } from "../../../../src/scheduler/quota/ledger.ts";
import type { Ticket } from "../../../../src/scheduler/quota/routes.ts";

type LedgerOptions = Parameters<typeof createLedger>[0];

const layers = layersOf(createContract());
/** Noon of some day: the edge of a minute and of a second, on the service's clock and on ours. */
const noon = 1_767_600_000_000;

const charge = (given: Partial<Charge> = {}): Charge => ({
  endpoint: "getOrder",
  weight: 5,
  elements: 1,
  ip: "home",
  uid: "u",
  key: "k",
  ...given,
});

interface Told {
  readonly status?: number;
  readonly uid?: number;
  readonly key?: number;
  readonly date?: boolean;
}

/** An answer stamped `at` on the service's clock, which is ours. */
const answer = (at: number, { status = 200, uid, key, date = true }: Told = {}) => ({
  status,
  headers: {
    ...(date ? { date: new Date(at).toUTCString() } : {}),
    ...(uid === undefined ? {} : { "x-ratelimit-uid-weight-used": String(uid) }),
    ...(key === undefined ? {} : { "x-ratelimit-key-remaining": String(10 - key) }),
  },
});

const make = (given: Partial<LedgerOptions> = {}): Ledger =>
  createLedger({ layers, startedAt: noon, quietMs: 0, clock: { dateSlackMs: 0, driftPpm: 0 }, ...given });

/** A ledger that knows the service's time to the millisecond and has asked once. */
const warm = (given: Partial<LedgerOptions> = {}, who: Partial<Charge> = {}): Ledger => {
  const ledger = make(given);
  const ticket = ledger.spend(charge({ weight: 0, ...who }), noon + 10_000);
  ledger.clock.observeDate(noon + 9_999, noon + 9_999, noon + 9_000);
  ledger.settle(ticket, answer(noon + 10_000, { uid: 0 }), noon + 10_000);
  return ledger;
};

const grants = (ledger: Ledger, what: Charge, at: number, rank: Rank = "emergency"): Ticket[] => {
  const tickets: Ticket[] = [];
  while (tickets.length < 5_000 && ledger.ask(what, rank, at).granted) tickets.push(ledger.spend(what, at));
  return tickets;
};

describe("A proxy's page", () => {
  it.each([502, 503, 408, 400, 403, 404])(
    "as the first answer tells nothing: the next call probes, and what the service counted is learned (%i)",
    (status) => {
      const ledger = make();
      ledger.settle(ledger.spend(charge(), noon + 10_000), { status, headers: {} }, noon + 10_050);
      expect(ledger.probing(charge())).toBe(true);
      ledger.settle(ledger.spend(charge(), noon + 12_000), answer(noon + 12_040, { uid: 1_062 }), noon + 12_050);
      const minute = ledger.state(noon + 12_060).find(({ layer }) => layer === "uid");
      expect(minute?.used).toBeGreaterThanOrEqual(1_062);
      expect(minute?.windowEndsAt).toBeGreaterThan(noon + 58_000);
    },
  );

  it("does not open a minute that a refusal has shut", () => {
    const ledger = warm();
    const [first, second] = [ledger.spend(charge(), noon + 20_000), ledger.spend(charge(), noon + 20_000)];
    ledger.settle(first, answer(noon + 20_040, { status: 429, uid: 1_200 }), noon + 20_050);
    ledger.settle(second, { status: 502, headers: {} }, noon + 20_060);
    expect(ledger.ask(charge(), "emergency", noon + 21_500).granted).toBe(false);
  });
});

describe("A ticket", () => {
  it("is shared by calls that leave alike, and its parts are used again when the last of them has ended", () => {
    const ledger = warm();
    const what = charge();
    const [first, second] = [ledger.spend(what, noon + 20_000), ledger.spend(what, noon + 20_000)];
    expect(second).toBe(first);
    ledger.settle(first, answer(noon + 20_040, { uid: 10 }), noon + 20_050);
    const third = ledger.spend(what, noon + 20_060);
    expect(third.parts).not.toBe(second.parts);
    ledger.lose(second, noon + 20_070);
    const fourth = ledger.spend(what, noon + 20_080);
    expect([fourth.parts === second.parts, fourth === second, fourth.sentAt]).toEqual([true, false, noon + 20_080]);
    ledger.release(third);
    expect(ledger.spend(what, noon + 20_090).parts).toBe(third.parts);
  });
});

describe("The start of the ledger", () => {
  it("is quiet, then one call probes, then all is open", () => {
    const ledger = make({ quietMs: 1_050 });
    expect(ledger.ask(charge(), "ordinary", noon + 1_049)).toMatchObject({
      granted: false,
      layer: "start",
      until: noon + 1_050,
      why: "start",
    });
    expect(ledger.probing(charge())).toBe(true);
    expect(ledger.ask(charge(), "ordinary", noon + 1_050)).toEqual({ granted: true, elements: 1 });
    const probe = ledger.spend(charge(), noon + 1_050);
    expect(ledger.ask(charge(), "exit", noon + 1_060)).toMatchObject({ granted: false, why: "start" });
    ledger.settle(probe, answer(noon + 1_060, { uid: 5 }), noon + 1_070);
    expect([ledger.probing(charge()), ledger.ask(charge(), "exit", noon + 1_071).granted]).toEqual([false, true]);
  });

  it("lets exits go at once, one after the other, and ordinary actions when it is over", () => {
    const second = noon + 20_000;
    const ledger = createLedger({ layers, startedAt: second, quietMs: 1_050 });
    const ask = (rank: Rank, ms: number) => ledger.ask(charge(), rank, second + ms);
    const first = ledger.spend(charge(), second + 10);
    expect([ask("exit", 11), ask("ordinary", 11)]).toMatchObject([
      { granted: false },
      { granted: false, until: second + 1_050 },
    ]);
    ledger.settle(first, answer(second + 30, { uid: 5 }), second + 50);
    expect([ask("exit", 51).granted, ask("ordinary", 51).granted, ledger.probing(charge())]).toEqual([
      true,
      false,
      true,
    ]);
    expect([ask("ordinary", 1_049).granted, ask("ordinary", 1_050).granted, ledger.probing(charge())]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it("a probe whose answer may be of two minutes teaches nothing: another is sent", () => {
    const ledger = make();
    const probe = ledger.spend(charge(), noon + 59_500);
    ledger.settle(probe, answer(noon + 59_500, { uid: 900 }), noon + 59_600);
    expect([ledger.probing(charge()), ledger.ask(charge(), "ordinary", noon + 59_700).granted]).toEqual([true, true]);
  });

  it("a probe that was lost is repeated after a second, and at once for an exit", () => {
    const ledger = make();
    ledger.lose(ledger.spend(charge(), noon), noon + 500);
    expect(ledger.ask(charge(), "ordinary", noon + 501)).toMatchObject({
      granted: false,
      layer: "start",
      until: noon + 1_500,
    });
    expect(ledger.ask(charge(), "emergency", noon + 501).granted).toBe(true);
    expect(ledger.ask(charge(), "ordinary", noon + 1_500).granted).toBe(true);
  });

  it("does not pause for requests of the address, whose answers it never sees", () => {
    const ledger = make();
    const address: Charge = { ...charge(), uid: undefined, key: undefined };
    ledger.lose(ledger.spend(address, noon), noon);
    expect(ledger.ask(charge(), "ordinary", noon + 1).granted).toBe(true);
  });

  it("counts requests of the address that left before the service told its time", () => {
    const ledger = make();
    const address: Charge = { ...charge(), uid: undefined, key: undefined, weight: 0 };
    const used = (at: number) => ledger.state(at).find(({ layer }) => layer === "ip")?.used;
    for (let sent = 0; sent < 5; sent++) ledger.lose(ledger.spend(address, noon + 10_000), noon + 10_000);
    ledger.settle(ledger.spend(charge(), noon + 10_010), answer(noon + 10_030, { uid: 5, key: 1 }), noon + 10_050);
    expect([used(noon + 10_060), used(noon + 61_060)]).toEqual([6, 0]);
  });

  it.each(["wall_clock", "sliding"] as const)(
    "lets the first call go a second after a socket took the only request of a %s second",
    (anchor) => {
      const connect: LayerSpec = {
        name: "connect",
        scope: "ip",
        unit: "requests",
        capacity: 1,
        windowMs: 1_000,
        anchor,
        banMs: 0,
      };
      const ledger = make({ layers: [...layers, connect] });
      ledger.lose(ledger.spend({ ...charge(), uid: undefined, key: undefined, weight: 0 }, noon), noon);
      const granted = (at: number): boolean => ledger.ask(charge(), "ordinary", at).granted;
      expect([granted(noon + 900), granted(noon + 1_001)]).toEqual([false, true]);
    },
  );

  it("holds no request of the address for longer than a minute while no time is told", () => {
    const ledger = make();
    const address: Charge = { ...charge(), uid: undefined, key: undefined, weight: 0 };
    for (let now = noon; now < noon + 7_200_000; now += 1_000) {
      expect(ledger.ask(address, "ordinary", now).granted).toBe(true);
      ledger.lose(ledger.spend(address, now), now);
    }
  });

  it.each([
    ["before anything was answered", () => make()],
    [
      "after a step of the clock",
      () => {
        const ledger = make();
        ledger.settle(ledger.spend(charge(), noon), answer(noon, { uid: 100 }), noon + 1);
        ledger.disturb(noon + 2);
        return ledger;
      },
    ],
  ])("probes that are all lost take seven calls of the first minute, %s", (_, begun) => {
    const ledger = begun();
    let sent = 0;
    for (let now = noon + 2; now < noon + 60_000; now += 25) {
      if (!ledger.ask(charge(), "ordinary", now).granted) continue;
      sent++;
      ledger.lose(ledger.spend(charge(), now), now + 20);
    }
    // Pauses of 1, 2, 4, 8, 16 and 16 seconds.
    expect(sent).toBe(7);
  });

  it("what an earlier life spent is not spent again", () => {
    const ledger = make();
    ledger.settle(
      ledger.spend(charge({ weight: 2 }), noon + 20_500),
      answer(noon + 20_500, { uid: 1_190 }),
      noon + 20_500,
    );
    // Two units are never planned for: the next life has to probe blind.
    expect(ledger.ask(charge({ weight: 8 }), "emergency", noon + 20_501).granted).toBe(true);
    expect(ledger.ask(charge({ weight: 9 }), "emergency", noon + 20_501)).toMatchObject({
      granted: false,
      layer: "uid",
    });
  });
});

describe("The ledger grants", () => {
  it.each([
    ["ten calls of a key a second", charge({ weight: 1 }), 10, "key"],
    ["1198 weight of a user a minute, as two are left for a blind probe", charge({ weight: 599 }), 2, "uid"],
    ["1200 calls of an address a minute", charge({ uid: undefined, key: undefined }), 1_200, "ip"],
  ] as const)("%s, and not one more", (_, what, count, layer) => {
    const ledger = warm({}, { uid: what.uid, key: what.key });
    // The call that warmed the ledger counts for its address and key.
    const tickets = grants(ledger, what, noon + 11_500);
    const before = layer === "ip" ? 1 : 0;
    expect(tickets).toHaveLength(count - before);
    expect(ledger.ask(what, "emergency", noon + 11_500)).toMatchObject({ granted: false, layer, why: "used" });
  });

  it("a call refused by one layer is charged to none", () => {
    const ledger = warm();
    grants(ledger, charge({ weight: 1 }), noon + 11_500);
    const used = ledger.state(noon + 11_500).map(({ layer, used: units }) => [layer, units]);
    ledger.ask(charge({ weight: 1 }), "exit", noon + 11_500);
    expect(ledger.state(noon + 11_500).map(({ layer, used: units }) => [layer, units])).toEqual(used);
  });

  it("keys of one user share its weight and have a second each; other users have their own", () => {
    const ledger = warm();
    expect(grants(ledger, charge({ weight: 1 }), noon + 11_500)).toHaveLength(10);
    expect(grants(ledger, charge({ weight: 110, key: "other" }), noon + 11_500)).toHaveLength(10);
    expect(ledger.ask(charge({ weight: 91, key: "third" }), "emergency", noon + 11_500)).toMatchObject({
      layer: "uid",
    });
    expect(ledger.ask(charge({ uid: "stranger", key: "theirs" }), "exit", noon + 11_500)).toEqual({
      granted: true,
      elements: 1,
    });
  });

  it("ordinary actions leave what exits need, and exits take it", () => {
    const ledger = warm();
    ledger.noteOpen("u", 200);
    const tickets = grants(ledger, charge({ weight: 150 }), noon + 11_500, "ordinary");
    const ordinary = tickets.length * 150;
    expect(ordinary).toBeLessThanOrEqual(1_200 - 15 * 10);
    expect(ledger.ask(charge({ weight: 150 }), "ordinary", noon + 11_500)).toMatchObject({
      granted: false,
      why: "reserved",
    });
    expect(ledger.ask(charge({ weight: 15, key: "other" }), "exit", noon + 11_500)).toEqual({
      granted: true,
      elements: 1,
    });
  });

  it("the reserve is lent out before the minute ends, so that nothing is wasted", () => {
    const ledger = warm();
    const at = noon + 59_700;
    const tickets = ["a", "b", "c"].flatMap((key) => grants(ledger, charge({ weight: 99, key }), at, "ordinary"));
    expect(tickets.length * 99).toBeGreaterThan(1_180);
  });
});

describe("A 429 at the ledger", () => {
  const refuse = (ledger: Ledger, at: number, told: Told = {}): number | undefined =>
    ledger.settle(ledger.spend(charge({ weight: 1 }), at), answer(at, { status: 429, ...told }), at + 5);

  it("shuts the key's second, then lets one call probe", () => {
    const ledger = warm();
    expect(refuse(ledger, noon + 11_500)).toBe(noon + 12_000);
    expect(ledger.ask(charge(), "exit", noon + 11_900)).toMatchObject({ granted: false });
    expect(ledger.ask(charge(), "exit", noon + 12_000)).toEqual({ granted: true, elements: 1 });
    ledger.spend(charge(), noon + 12_000);
    expect(ledger.ask(charge(), "exit", noon + 12_001)).toMatchObject({ granted: false, why: "start" });
  });

  it("struck again in an empty minute, the minute is tried again after a quarter of it", () => {
    const ledger = warm();
    refuse(ledger, noon + 11_500);
    expect(refuse(ledger, noon + 12_000)).toBe(noon + 12_005 + 15_000);
  });

  it("near the user's limit, the minute is shut at once", () => {
    const ledger = warm();
    expect(refuse(ledger, noon + 11_500, { uid: 1_195 })).toBe(noon + 60_000);
  });

  it("several refusals of one burst are one strike", () => {
    const ledger = warm();
    const burst = Array.from({ length: 5 }, () => ledger.spend(charge({ weight: 1 }), noon + 11_500));
    const untils = burst.map((ticket) => ledger.settle(ticket, answer(noon + 11_500, { status: 429 }), noon + 11_510));
    expect(new Set(untils)).toEqual(new Set([noon + 12_000]));
  });

  it("is forgiven by the next success", () => {
    const ledger = warm();
    refuse(ledger, noon + 11_500);
    ledger.settle(ledger.spend(charge(), noon + 12_000), answer(noon + 12_000, { uid: 6 }), noon + 12_001);
    expect(ledger.probing(charge())).toBe(false);
    expect(refuse(ledger, noon + 13_500)).toBe(noon + 14_000);
  });
});

describe("A disturbed clock at the ledger", () => {
  it("closes everything until a new probe is answered, and keeps what is in flight", () => {
    const ledger = warm({ quietMs: 1_050 });
    for (let i = 0; i < 4; i++) ledger.spend(charge({ weight: 100 }), noon + 12_500);
    ledger.disturb(noon + 12_600);
    expect(ledger.clock.known).toBe(false);
    expect(ledger.ask(charge(), "ordinary", noon + 13_649)).toMatchObject({
      granted: false,
      layer: "start",
      until: noon + 13_650,
    });
    const probe = ledger.spend(charge({ weight: 2 }), noon + 13_650);
    ledger.settle(probe, answer(noon + 13_650, { uid: 402 }), noon + 13_650);
    expect(ledger.state(noon + 13_660).find(({ layer }) => layer === "uid")?.used).toBe(802);
  });

  it("an answer to a call of before neither warms the account nor sets the clock", () => {
    const ledger = warm({ quietMs: 1_050 });
    const [early, late] = [ledger.spend(charge(), noon + 12_500), ledger.spend(charge(), noon + 12_500)];
    ledger.disturb(noon + 12_600);
    ledger.settle(early, answer(noon + 12_500, { uid: 5 }), noon + 12_700);
    expect([ledger.clock.known, ledger.probing(charge())]).toEqual([false, true]);
    ledger.spend(charge(), noon + 13_650);
    // A late loss must not make room for a second probe.
    ledger.lose(late, noon + 13_700);
    expect(ledger.ask(charge(), "exit", noon + 13_701)).toMatchObject({ granted: false, why: "start" });
  });
});

describe("Other clients at the ledger:", () => {
  it("room is left for what they are likely to spend", () => {
    const ledger = warm();
    const free = (): number => ledger.state(noon + 15_500).find(({ layer }) => layer === "uid")?.reserved ?? 0;
    const before = free();
    ledger.settle(ledger.spend(charge(), noon + 12_500), answer(noon + 12_500, { uid: 45 }), noon + 12_500);
    ledger.settle(ledger.spend(charge(), noon + 14_500), answer(noon + 14_500, { uid: 90 }), noon + 14_500);
    expect(free()).toBeGreaterThan(before + 40);
  });

  it("however much they were seen to spend, ordinary actions are not shut out for ever", () => {
    const ledger = warm();
    ledger.settle(ledger.spend(charge(), noon + 12_500), answer(noon + 12_500, { uid: 1_190 }), noon + 12_500);
    expect(ledger.ask(charge(), "ordinary", noon + 30_500).granted).toBe(false);
    expect(ledger.ask(charge(), "ordinary", noon + 60_500).granted).toBe(true);
  });
});

describe("Layers of other services at the ledger:", () => {
  const plain: LayerSpec = {
    name: "cancels",
    scope: "key",
    unit: "requests",
    capacity: 3,
    windowMs: 2_000,
    anchor: "wall_clock",
    banMs: 0,
  };
  const open = { exitWeight: 0, keySlots: 0, probeUnits: 0 };

  it("a layer that counts some endpoints leaves the others alone", () => {
    const ledger = warm({ layers: [{ ...plain, endpoints: ["cancelBatch"] }], reserve: open });
    expect(grants(ledger, charge({ endpoint: "cancelBatch" }), noon + 13_000)).toHaveLength(3);
    expect(ledger.ask(charge({ endpoint: "getOrder" }), "exit", noon + 13_000)).toEqual({ granted: true, elements: 1 });
  });

  it("a layer that counts elements charges a batch by its size", () => {
    const ledger = warm({ layers: [{ ...plain, unit: "elements", capacity: 50 }], reserve: open });
    expect(grants(ledger, charge({ elements: 20 }), noon + 13_000)).toHaveLength(2);
  });

  it("a ban outlasts the window", () => {
    const ledger = warm({ layers: [{ ...plain, banMs: 10_000 }], reserve: open });
    const until = ledger.settle(
      ledger.spend(charge(), noon + 12_500),
      answer(noon + 12_500, { status: 429 }),
      noon + 12_500,
    );
    expect(until).toBe(noon + 24_000);
  });

  it.each(["sliding", "first_request"] as const)("windows of kind %s need no clock of the service", (anchor) => {
    const ledger = warm({ layers: [{ ...plain, anchor }], reserve: open });
    const [first] = grants(ledger, charge(), noon + 12_900);
    expect(first).toBeDefined();
    if (first !== undefined) ledger.settle(first, answer(noon + 12_910), noon + 12_920);
    expect(ledger.ask(charge(), "exit", noon + 14_000).granted).toBe(false);
    expect(ledger.ask(charge(), "exit", noon + 14_920).granted).toBe(true);
  });

  it("a service without Date is counted in windows that may begin anywhere", () => {
    const ledger = make();
    ledger.settle(ledger.spend(charge({ weight: 2 }), noon), answer(noon, { date: false }), noon + 10);
    expect(ledger.probing(charge())).toBe(false);
    const tickets = grants(ledger, charge({ weight: 1 }), noon + 1_500);
    expect(tickets).toHaveLength(10);
    for (const ticket of tickets) ledger.settle(ticket, answer(noon, { date: false }), noon + 1_600);
    expect(ledger.ask(charge(), "exit", noon + 2_599).granted).toBe(false);
    expect(ledger.ask(charge(), "exit", noon + 2_600).granted).toBe(true);
  });
});
