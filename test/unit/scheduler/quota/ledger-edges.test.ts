/** The ledger where one thing decides: who probes, what is looked at anew, which slots are kept. */
import { describe, expect, it } from "vitest";
import type { DivisionFacts } from "../../../../src/scheduler/quota/division.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import { Floor } from "../../../../src/scheduler/quota/floor.ts";
import type { Charge, LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger } from "../../../../src/scheduler/quota/ledger.ts";
import { limiterParts } from "../../../../src/scheduler/quota/parts.ts";
import type { Ticket } from "../../../../src/scheduler/quota/routes.ts";
import { RoundTripTime } from "../../../../src/scheduler/quota/server-clock.ts";
import {
  answer,
  charge,
  grants,
  keyless,
  layers,
  make,
  noon,
  type Told,
  warm,
} from "../../../support/harness/ledger.ts";

const bareMinute: LayerSpec = {
  name: "minute",
  scope: "ip",
  unit: "requests",
  capacity: 100,
  windowMs: 60_000,
  anchor: "wall_clock",
  banMs: 0,
};

/** Keeps the waits that it is called with. */
class NotedFloor extends Floor {
  readonly waits: (readonly [number, number])[] = [];

  override noteWaiting(at: number, until: number): void {
    this.waits.push([at, until]);
  }
}

describe("The floor of a window", () => {
  it("is called with the waits for its window, and follows the round trips of the ledger", () => {
    const floors = new Map<string, NotedFloor>();
    const ways: unknown[] = [];
    const trips = new RoundTripTime();
    const ledger = warm({
      parts: {
        ...limiterParts,
        trips: () => trips,
        floor: (spec, doubt, way) => {
          ways.push(way);
          const floor = new NotedFloor(spec, doubt, way);
          floors.set(spec.name, floor);
          return floor;
        },
      },
    });
    const at = noon + 10_500;
    // The ledger has asked once in this second.
    expect(grants(ledger, charge, "emergency", at)).toBe(9);
    const waits = [...floors.values()].map((floor) => floor.waits);
    expect(waits.map(({ length }) => length)).toEqual([0, 0, 1]);
    const refusal = ledger.ask(charge, "ordinary", at + 100) as { readonly until: number };
    expect(floors.get("key")?.waits.at(-1)).toEqual([at + 100, refusal.until]);
    expect(ways.map((way) => way === trips)).toEqual([true, true, true]);
  });
});

describe("An answer", () => {
  it("of a machine in front of the service, without a pause, does not end what is known", () => {
    const ledger = warm();
    const ticket = ledger.spend(charge, noon + 11_000);
    const page = answer(noon + 11_000, { status: 502, date: false });
    expect(ledger.settle(ticket, page, noon + 11_000)).toBeUndefined();
    expect(ledger.probing(charge)).toBe(false);
  });

  it("to a call that was not counted may report more use than the layer holds", () => {
    const usedAfter = (status: number): number | undefined => {
      const ledger = warm();
      const ticket = ledger.spend(charge, noon + 11_000);
      ledger.settle(ticket, answer(noon + 11_000, { status, uid: 1_300 }), noon + 11_000);
      return ledger.state(noon + 11_000).find(({ layer }) => layer === "uid")?.used;
    };
    expect([usedAfter(200), usedAfter(400)]).toEqual([5, 1_300]);
  });

  it("without a date, if it is the first, makes windows without counts begin anywhere", () => {
    const usedAt = (date: boolean, at: number): number | undefined => {
      const ledger = make({ layers: [bareMinute] });
      for (const sentAt of [noon + 10_000, noon + 30_000])
        ledger.settle(ledger.spend(charge, sentAt), answer(sentAt, { date }), sentAt + 100);
      return ledger.state(noon + at)[0]?.used;
    };
    expect([usedAt(true, 58_000), usedAt(true, 61_000)]).toEqual([2, 0]);
    expect([usedAt(false, 61_000), usedAt(false, 75_000), usedAt(false, 91_000)]).toEqual([2, 1, 0]);
  });
});

describe("A call that several keys may carry", () => {
  const full = (ledger: Ledger, key: string, at: number): void => {
    while (ledger.ask({ ...charge, key }, "exit", at).granted) ledger.spend({ ...charge, key }, at);
  };
  const slides = layers.map((layer) => (layer.scope === "key" ? { ...layer, anchor: "sliding" as const } : layer));
  const charges = ["k", "other"].map((key) => ({ ...charge, key }));
  const reserved = (ledger: Ledger, given: readonly Charge[], at: number) => ledger.reserve(given, "exit", at, 1);

  it("leaves on the first that has room", () => {
    const ledger = warm();
    full(ledger, "k", noon + 11_000);
    expect(reserved(ledger, charges, noon + 11_000)).toMatchObject({ granted: true, charge: { key: "other" } });
  });

  it("waits for the key that has room first, behind calls on the same keys only", () => {
    const ledger = warm({ layers: slides });
    const calls = charges.map((one, index) => {
      const at = noon + 20_000 + 200 * index;
      while (ledger.ask(one, "exit", at).granted) {
        const ticket = ledger.spend(one, at);
        ledger.settle(ticket, answer(at + 10, { uid: 0 }), at + 10);
      }
      return one;
    });
    const at = noon + 20_300;
    const untils = calls.map((one) => {
      const verdict = ledger.ask(one, "exit", at);
      return verdict.granted ? 0 : verdict.until;
    });
    expect((untils[0] as number) < (untils[1] as number)).toBe(true);
    for (const order of [charges, charges.toReversed()])
      expect(reserved(ledger, order, at)).toMatchObject({ granted: false, until: untils[0], ofKey: true });
  });

  it("holds up all calls of the user when one of the keys is held up by more than itself", () => {
    const own: LayerSpec = { ...bareMinute, name: "own", scope: "uid", capacity: 12 };
    const ledger = warm({ layers: [...layers, own] });
    full(ledger, "k", noon + 11_000);
    while (ledger.ask(keyless, "exit", noon + 11_000).granted) ledger.spend(keyless, noon + 11_000);
    const [k, other] = charges.map((one) => ledger.ask(one, "exit", noon + 11_000));
    expect([k, other]).toMatchObject([
      { layer: "key", until: noon + 12_000, ofKey: true },
      { layer: "own", ofKey: false },
    ]);
    for (const order of [charges, charges.toReversed()])
      expect(reserved(ledger, order, noon + 11_000)).toMatchObject({ until: noon + 12_000, ofKey: false });
  });
});

describe("A ledger whose quota is divided", () => {
  const divided = () => {
    const ledger = make();
    const seen: string[] = [];
    let facts: DivisionFacts | undefined;
    ledger.divide({
      attach: (given) => {
        facts = given;
      },
      adopt: (gauge) => {
        seen.push(`adopt ${gauge.spec.name}`);
        if (gauge instanceof FixedWindow) gauge.divided = true;
      },
      ceiling: (_gauge, _rank, alone) => alone,
      lacks: ({ spec }, units, rank, at) => seen.push(`lacks ${spec.name} ${units} ${rank} ${at - noon}`),
      spent: (at) => seen.push(`spent ${at - noon}`),
      disturb: () => seen.push("disturb"),
    });
    return { ledger, seen, facts: facts as DivisionFacts | undefined };
  };

  it("reports new windows, calls that left, calls that had no room, and a step of the clock", () => {
    const { ledger, seen } = divided();
    ledger.settle(ledger.spend(charge, noon + 10_000), answer(noon + 10_000, { uid: 5 }), noon + 10_000);
    expect(ledger.ask({ ...keyless, weight: 1_300 }, "exit", noon + 11_000).granted).toBe(false);
    ledger.disturb(noon + 12_000);
    expect(seen).toEqual([
      ...["adopt ip", "adopt uid", "adopt key", "spent 10000"],
      ...["lacks uid 1300 exit 11000", "disturb"],
    ]);
  });

  it("ends probing with the count of a user, which is no evidence of other clients", () => {
    const { ledger } = divided();
    ledger.settle(ledger.spend(charge, noon + 10_000), answer(noon + 10_000, { uid: 600 }), noon + 10_000);
    expect([ledger.probing(charge), ledger.othersUse(noon + 10_000)]).toEqual([false, []]);
  });

  it("continues to probe after the count of a user that may be of either of two minutes", () => {
    const { ledger } = divided();
    ledger.settle(ledger.spend(charge, noon + 59_500), answer(noon + 59_500, { uid: 900 }), noon + 59_600);
    expect(ledger.probing(charge)).toBe(true);
  });

  it("keeps nothing back for use that its own engines explain", () => {
    const grantsAfter = (isDivided: boolean): number => {
      const { ledger } = isDivided ? divided() : { ledger: make() };
      for (const [at, uid] of [
        [10_000, 5],
        [11_000, 10],
        [12_000, 315],
      ] as const) {
        ledger.settle(ledger.spend(charge, noon + at), answer(noon + at, { uid }), noon + at);
      }
      return grants(ledger, keyless, "ordinary", noon + 13_000);
    };
    expect(grantsAfter(true)).toBeGreaterThan(grantsAfter(false));
  });

  it("tells what the division asks for, and probes again when it has to learn anew", () => {
    const { ledger, facts } = divided();
    ledger.settle(ledger.spend(charge, noon + 10_000), answer(noon + 10_000, { uid: 5 }), noon + 10_000);
    ledger.noteOpen("u", 7);
    expect([facts?.openOrders("u"), facts?.openOrders("other"), facts?.openOrders()]).toEqual([7, 0, 7]);
    expect(ledger.probing(charge)).toBe(false);
    facts?.relearn(noon + 11_000);
    expect(ledger.probing(charge)).toBe(true);
  });
});

describe("Use by others", () => {
  it("is what the service counts beyond the calls of this ledger, by window", () => {
    const ledger = warm();
    expect(ledger.othersUse(noon + 10_000)).toEqual([]);
    ledger.settle(ledger.spend(charge, noon + 11_000), answer(noon + 11_000, { uid: 305 }), noon + 11_000);
    expect(ledger.othersUse(noon + 11_000)).toEqual([
      { layer: "uid", scope: "u", capacity: 1_200, foreign: 300, windowEndsAt: noon + 60_000 },
    ]);
  });
});

describe("The ledger's start", () => {
  it.each([
    [undefined, 1_050],
    [300, 300],
    [0, 0],
  ])("with %s ms of quiet lets the first call leave after %i, and an exit at once", (quietMs, ms) => {
    const ledger = createLedger({ layers, startedAt: noon, ...(quietMs === undefined ? {} : { quietMs }) });
    if (ms > 0)
      expect(ledger.ask(charge, "ordinary", noon + ms - 1)).toMatchObject({
        granted: false,
        until: noon + ms,
        lighterThan: 0,
      });
    expect(ledger.ask(charge, "ordinary", noon + ms).granted).toBe(true);
    expect(ledger.ask(charge, "exit", noon).granted).toBe(true);
  });

  it("is everybody's own: addresses without a user probe each for itself", () => {
    const ledger = make();
    const [home, away] = [
      { ...charge, uid: undefined, key: undefined },
      { ...charge, uid: undefined, key: undefined, ip: "away" },
    ] as const;
    ledger.settle(ledger.spend(home, noon + 10_000), answer(noon + 10_000), noon + 10_000);
    expect([ledger.probing(home), ledger.probing(away), ledger.probing(charge)]).toEqual([false, true, true]);
  });

  it.each<[string, number, Told, boolean]>([
    ["an error page without a word of the quota", 500, { date: true }, true],
    ["one of a service that counted the call", 503, { uid: 5 }, false],
    ["a refusal of what was asked", 499, {}, false],
  ])("after %s: status %i", (_, status, told, probing) => {
    const ledger = make();
    ledger.settle(ledger.spend(charge, noon + 10_000), answer(noon + 10_040, { ...told, status }), noon + 10_050);
    expect(ledger.probing(charge)).toBe(probing);
  });

  it.each<[string, Told, boolean]>([
    ["the user's count, which may be of either", { uid: 900 }, true],
    ["no count, since none will ever come", {}, false],
    ["the count of the key alone", { key: 1 }, false],
  ])("whose probe is answered across a minute's edge with %s", (_, told, probing) => {
    const ledger = make();
    ledger.settle(ledger.spend(charge, noon + 59_500), answer(noon + 59_500, told), noon + 59_600);
    expect(ledger.probing(charge)).toBe(probing);
  });

  it("has the same edges beside a longer layer of which the service tells nothing", () => {
    const hour: LayerSpec = {
      name: "hour",
      scope: "ip",
      unit: "requests",
      capacity: 9_000,
      windowMs: 3_600_000,
      anchor: "wall_clock",
      banMs: 0,
    };
    const ledger = make({ layers: [...layers, hour] });
    ledger.settle(ledger.spend(charge, noon + 59_500), answer(noon + 59_500, { uid: 900 }), noon + 59_600);
    expect(ledger.probing(charge)).toBe(true);
  });
});

describe("The ledger's epoch", () => {
  it("rises when probing ends, when a refusal begins it again and when the clock is disturbed", () => {
    const ledger = make();
    const turns = [ledger.turns];
    const told = (at: number, status: number): void => {
      ledger.settle(ledger.spend(charge, at), answer(at, { status, uid: 5 }), at);
      turns.push(ledger.turns);
    };
    told(noon + 10_000, 200);
    told(noon + 11_000, 429);
    told(noon + 12_000, 200);
    ledger.disturb(noon + 13_000);
    turns.push(ledger.turns);
    expect(turns).toEqual([0, 1, 2, 3, 4]);
  });
});

describe("While the ledger probes,", () => {
  it("a call from before a refusal that ends later makes no room for a second probe", () => {
    const ends: ((ledger: Ledger, ticket: Ticket, at: number) => void)[] = [
      (ledger, ticket, at) => ledger.lose(ticket, at),
      (ledger, ticket) => ledger.release(ticket),
    ];
    for (const end of ends) {
      const ledger = warm();
      const early = ledger.spend(charge, noon + 11_400);
      ledger.settle(ledger.spend(charge, noon + 11_500), answer(noon + 11_500, { status: 429 }), noon + 11_510);
      ledger.spend(charge, noon + 12_000);
      end(ledger, early, noon + 12_100);
      expect(ledger.ask(charge, "exit", noon + 12_200)).toMatchObject({ granted: false, why: "start" });
    }
  });

  it("a probe that never left makes room for the next", () => {
    const ledger = make();
    ledger.release(ledger.spend(charge, noon + 10_000));
    expect(ledger.ask(charge, "exit", noon + 10_001).granted).toBe(true);
  });
});

describe("Ranks at the ledger:", () => {
  it("an emergency may use what an exit has to leave", () => {
    const ledger = warm({}, 1_150);
    ledger.noteOpen("u", 100);
    // What rests takes five batches of 15: an exit leaves 75 of 1,198.
    expect(ledger.ask(keyless, "exit", noon + 10_100)).toEqual({
      granted: false,
      layer: "uid",
      until: noon + 60_000,
      why: "used",
      lighterThan: 5,
      ofKey: false,
    });
    expect(ledger.ask(keyless, "emergency", noon + 10_100).granted).toBe(true);
  });
});

describe("A surveyed charge:", () => {
  it("at one instant does not at the next, though nothing happened in between", () => {
    const heavy: Charge = { ...keyless, weight: 150 };
    const ledger = warm();
    // Just before the minute ends nothing is held back any more, and asking alone changes nothing.
    expect(ledger.ask(heavy, "ordinary", noon + 59_900).granted).toBe(true);
    expect(grants(ledger, heavy, "ordinary", noon + 60_100)).toBe(grants(warm(), heavy, "ordinary", noon + 60_100));
  });

  it("calls of two instants have tickets of their own", () => {
    const ledger = warm();
    const [first, second] = [ledger.spend(charge, noon + 11_000), ledger.spend(charge, noon + 11_001)];
    expect([first.sentAt, second.sentAt]).toEqual([noon + 11_000, noon + 11_001]);
    expect([first, second]).toMatchObject([
      { charge, elements: 1, probe: false, granted: true, expiresAt: Number.POSITIVE_INFINITY },
      {},
    ]);
  });

  const at = noon + 10_100;
  const other: Charge = { ...charge, ip: "away", key: "other", weight: 1 };
  /** Five things that may happen, of which `open` leaves nothing to ordinary actions. */
  const happenings: Readonly<Record<string, (ledger: Ledger) => () => void>> = {
    open: (ledger) => () => ledger.noteOpen("u", 1_500),
    exit: (ledger) => () => ledger.noteExit(at),
    release: (ledger) => {
      const ticket = ledger.spend(other, at);
      return () => ledger.release(ticket);
    },
    lose: (ledger) => {
      const ticket = ledger.spend(other, at);
      return () => ledger.lose(ticket, at);
    },
    settle: (ledger) => {
      const ticket = ledger.spend(other, at);
      return () => ledger.settle(ticket, answer(at), at);
    },
  };
  const pairs = Object.keys(happenings).flatMap((one) =>
    one === "open" ? [] : [[one, "open"] as const, ["open", one] as const],
  );

  it.each(pairs)("is looked at anew when two things happened meanwhile: %s, then %s", (one, two) => {
    const ledger = warm();
    const happen = [one, two].map((name) => (happenings[name] as (ledger: Ledger) => () => void)(ledger));
    const heavy: Charge = { ...keyless, weight: 100 };
    expect(ledger.ask(heavy, "ordinary", at).granted).toBe(true);
    for (const run of happen) run();
    expect(ledger.ask(heavy, "ordinary", at).granted).toBe(false);
  });
});

describe("The kept slots of a key", () => {
  /** Just before a second's end, when exits could not use them any more, with half a minute to go. */
  const end = noon + 30_000;
  const free = (ledger: Ledger, beforeMs = 30): number =>
    grants(ledger, { ...charge, weight: 0 }, "ordinary", end - beforeMs);
  const spendAndRelease = (ledger: Ledger, what: Charge, elements?: number): void => {
    for (let call = 0; call < 300; call++) ledger.release(ledger.spend(what, noon + 10_500, elements));
  };

  it("stay kept while the user's minute runs out first, by the weight of the calls that leave", () => {
    expect(free(warm())).toBe(8);
    const light = warm();
    spendAndRelease(light, { ...keyless, weight: 0 });
    expect(free(light)).toBe(10);
    // Calls of no user say nothing about what his weigh.
    const unsigned = warm();
    spendAndRelease(unsigned, { ...charge, uid: undefined, key: undefined, weight: 0 });
    expect(free(unsigned)).toBe(8);
  });

  it("by the weight of their elements as well", () => {
    const batches: Charge = { ...keyless, weight: 0, elementWeight: 1 };
    const used = (): Ledger => {
      const ledger = warm({}, 1_000);
      spendAndRelease(ledger, batches, 20);
      return ledger;
    };
    // Two hundred units are ten calls of twenty: enough for a second of eight slots, not for thirty.
    expect([grants(used(), { ...charge, weight: 0 }, "ordinary", noon + 58_980), free(used())]).toEqual([10, 8]);
  });

  it("are free once an answer could not come in time any more, as quick as answers are", () => {
    const quick = (beforeMs: number): number => {
      const ledger = warm();
      spendAndRelease(ledger, { ...keyless, weight: 0 });
      for (let call = 0; call < 20; call++) {
        const sentAt = noon + 11_000 + 100 * call;
        ledger.settle(ledger.spend({ ...keyless, weight: 0 }, sentAt), answer(sentAt), sentAt + 10);
      }
      return free(ledger, beforeMs);
    };
    // From sixty, twenty-one answers have taken a fifth each; where the second ends is known to a millisecond.
    expect([quick(56.9), quick(56.7)]).toEqual([8, 10]);
  });
});
