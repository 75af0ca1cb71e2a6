/** A route is opened once for a charge, found again, and opened anew when what it leads to was replaced. */
import { describe, expect, it } from "vitest";
import { Allowances } from "../../../../src/scheduler/quota/allowance.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import type { Charge, LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import type { LimitWindow, WindowTicket } from "../../../../src/scheduler/quota/limit-window.ts";
import { type LimiterParts, limiterParts } from "../../../../src/scheduler/quota/parts.ts";
import { ProbeState } from "../../../../src/scheduler/quota/probe-state.ts";
import { defaultReserve } from "../../../../src/scheduler/quota/reserve.ts";
import { RollingWindow } from "../../../../src/scheduler/quota/rolling-window.ts";
import { Routes, strike, type Ticket } from "../../../../src/scheduler/quota/routes.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";
import { layers } from "../../../support/harness/ledger.ts";

const chargeOf = (weight: number): Charge => ({
  endpoint: "getOrder",
  weight,
  elements: 1,
  ip: "home",
  uid: "u",
  key: "k",
});

const stage = (specs: readonly LayerSpec[] = layers, parts: LimiterParts = limiterParts) => {
  const clock = fixedClock(0, 0);
  const windows = new Map<string, LimitWindow>();
  const trips = { low: 10, high: 60 };
  const allowances = new Allowances({ policy: defaultReserve, trips, startedAt: 0, weightOf: () => undefined });
  const routes = new Routes({
    layers: specs,
    windows,
    clock,
    driftPpm: 0,
    allowances,
    windowOptions: { parts },
    quietUntil: 500,
  });
  return { routes, windows };
};

describe("Quota routes", () => {
  it("are opened once for each charge, however many there are", () => {
    const { routes } = stage();
    const charges = Array.from({ length: 20 }, (_, index) => chargeOf(index));
    const first = charges.map((charge) => routes.of(charge));
    expect(new Set(first).size).toBe(20);
    for (const index of [19, 0, 3, 3, 18, 0, 1, 2, 3, 4, 5, 6, 7, 19])
      expect(routes.of(charges[index] as Charge)).toBe(first[index]);
  });

  it("belong to the charge itself, not to one that is equal; their windows and probe state are shared", () => {
    const { routes } = stage();
    const [one, other] = [routes.of(chargeOf(1)), routes.of(chargeOf(1))];
    expect(one).not.toBe(other);
    expect(one.windows).toEqual(other.windows);
    expect(one.windows.every((gauge, index) => gauge === other.windows[index])).toBe(true);
    expect(one.standing).toBe(other.standing);
  });

  it("are opened anew when everybody probes again, with the same windows", () => {
    const { routes, windows } = stage();
    const charge = chargeOf(1);
    const before = routes.of(charge);
    routes.disturb(1_000, 2_000);
    const after = routes.of(charge);
    expect([after === before, after.standing === before.standing, after.windows[0] === before.windows[0]]).toEqual([
      false,
      false,
      true,
    ]);
    expect([after.standing.blockedUntil(1_999), windows.size]).toEqual([2_000, 3]);
  });

  it("let exits leave at once when everybody probes again, but not where a refusal was waited out", () => {
    const { routes } = stage();
    const charge = chargeOf(1);
    expect(routes.of(charge).standing.blockedUntil(0, true)).toBeUndefined();
    routes.disturb(1_000, 2_000);
    expect([
      routes.of(charge).standing.blockedUntil(999, true),
      routes.of(charge).standing.blockedUntil(1_000, true),
    ]).toEqual([1_000, undefined]);
    routes.of(charge).standing.restart(9_000);
    routes.disturb(3_000, 4_000);
    expect([
      routes.of(charge).standing.blockedUntil(3_999, true),
      routes.of(charge).standing.blockedUntil(4_000, true),
    ]).toEqual([4_000, undefined]);
  });

  it("let exits wait as well when everybody probes again and a window had no room for one", () => {
    const { routes } = stage();
    const charge = chargeOf(1);
    for (const gauge of routes.of(charge).windows) if (gauge.spec.unit === "weight") gauge.begin(1_186, 500);
    routes.disturb(1_000, 2_000);
    expect(routes.of(charge).standing.blockedUntil(1_999, true)).toBe(2_000);
  });

  it("lead to windows that begin anywhere where the service tells neither time nor use", () => {
    const { routes, windows } = stage();
    const charge = chargeOf(1);
    const before = routes.of(charge);
    routes.withoutDates();
    const after = routes.of(charge);
    expect(after.windows.map((gauge) => gauge instanceof RollingWindow)).toEqual(
      after.windows.map(({ spec }) => spec.header === undefined),
    );
    expect([after.standing === before.standing, windows.size]).toEqual([true, 3]);
  });
});

describe("The windows of a ledger", () => {
  it("are made of the given parts, and share what is known of lag and of the latest doubt", () => {
    const doubts: unknown[] = [];
    let lags = 0;
    const { routes } = stage(layers, {
      ...limiterParts,
      lag: () => {
        lags++;
        return limiterParts.lag();
      },
      floor: (spec, doubt) => {
        doubts.push(doubt);
        return limiterParts.floor(spec, doubt);
      },
    });
    routes.of(chargeOf(1));
    expect([lags, doubts.length, new Set(doubts).size]).toEqual([1, 3, 1]);
  });
});

/** Windows of which little more is known than their use. */
interface Shown {
  readonly windowMs?: number;
  readonly scope?: LayerSpec["scope"];
  readonly used: number | ((at: number) => number);
  readonly foreign?: number;
  readonly missing?: number;
  readonly learnsLate?: boolean;
}

describe("A refusal that nothing explains", () => {
  /** Names of the windows in which the last one of `times` refusals in a row is noted as unexplained. */
  const unexplainedIn = (shown: Readonly<Record<string, Shown>>, times = 1): readonly string[] => {
    let noted: string[] = [];
    const windows = Object.entries(shown).map(
      ([name, { scope = "uid", used, foreign = 0, missing = 0, learnsLate = false, windowMs = 60_000 }]) =>
        ({
          spec: { ...layers[1], name, scope, windowMs },
          scope: "u",
          capacity: 100,
          missing,
          used: typeof used === "number" ? () => used : used,
          foreign: () => foreign,
          isRisky: () => false,
          learnLate: () => learnsLate,
          learnRefusal: () => false,
          noteUnexplained: () => noted.push(name),
          shut: (at: number) => at,
        }) as unknown as LimitWindow,
    );
    const parts = windows.map(() => ({ units: 1, first: 0, knownThen: 0, unheardThen: 0, surelyThen: 0 }));
    const standing = new ProbeState(0);
    for (let time = 0; time < times; time++) {
      noted = [];
      const sentAt = 100 + 1_000 * time;
      const ticket = { parts, route: { windows }, sentAt, probe: false } as unknown as Ticket;
      strike(ticket, standing, { noteRefusal: () => undefined }, sentAt + 100);
    }
    return noted;
  };

  it.each<[string, Shown, boolean]>([
    ["use of others, from 70 % on", { used: 70, foreign: 1 }, true],
    ["use of others while less is used", { used: 69, foreign: 1 }, false],
    ["a part that is missing, from 70 % on", { used: 70, missing: 1 }, true],
    ["a part that is missing while less is used", { used: 69, missing: 1 }, false],
    ["much of our own use", { used: 96 }, false],
    ["a full window", { used: 97 }, true],
    ["a window that began late", { used: 60, learnsLate: true }, true],
  ])("is explained by %s: %#", (_, shown, explained) => {
    expect(unexplainedIn({ one: shown }, 2)).toEqual(explained ? [] : ["one"]);
  });

  it("is noted in a key's shortest window, if that was half full when the call left, or is", () => {
    const key = (used: Shown["used"]): Shown => ({ scope: "key", used, foreign: 1 });
    const minute: Shown = { used: 60 };
    expect(unexplainedIn({ second: key(49), minute })).toEqual([]);
    expect(unexplainedIn({ second: key(50), minute })).toEqual(["second"]);
    expect(unexplainedIn({ second: key(97) })).toEqual(["second"]);
    expect(unexplainedIn({ second: key((at) => (at === 100 ? 50 : 0)) })).toEqual(["second"]);
    expect(unexplainedIn({ second: key((at) => (at === 100 ? 0 : 50)) })).toEqual(["second"]);
  });

  it("is noted in a second that began late, and then in no longer window", () => {
    const second = (learnsLate: boolean): Shown => ({ scope: "key", used: 60, windowMs: 1_000, learnsLate });
    const minute: Shown = { used: 60 };
    expect(unexplainedIn({ second: second(true), minute }, 2)).toEqual(["second"]);
    expect(unexplainedIn({ second: second(false), minute }, 2)).toEqual(["second", "minute"]);
  });

  it("is noted in the other windows, if the call left alone after another refusal", () => {
    const second = (used: number): Shown => ({ scope: "key", used });
    const others = { minute: { used: 2 }, address: { used: 60 } };
    expect(unexplainedIn({ second: second(2), ...others }, 2)).toEqual(["minute", "address"]);
    expect(unexplainedIn({ second: second(97), ...others }, 2)).toEqual(["second", "minute", "address"]);
    // A call without a key.
    expect(unexplainedIn({ minute: { used: 2 }, address: { used: 60 } }, 2)).toEqual(["minute", "address"]);
  });
});

describe("A refusal", () => {
  /**
   * Calls of a key's second, and one more that is refused `times` times in a row and may have landed in the next: whether the user's limit
   * is suspected to have moved.
   */
  const suspectsUser = (calls: number, times = 2, isOnFloor = false): boolean => {
    const [key, user] = ["key", "uid"].map((name) => layers.find((spec) => spec.name === name) as LayerSpec) as [
      LayerSpec,
      LayerSpec,
    ];
    const second = new FixedWindow(key, "k", fixedClock(-20, 20));
    if (isOnFloor) second.fall(0, "a test");
    for (let call = 0; call < calls; call++) second.end(second.begin(1, 500), 500, 520, call + 1, true);
    let suspected = false;
    const minute = {
      spec: user,
      scope: "u",
      capacity: user.capacity,
      used: () => 100,
      isRisky: () => false,
      foreign: () => 0,
      missing: 0,
      noteUnexplained: () => undefined,
      learnLate: () => false,
      learnRefusal: () => {
        suspected = true;
        return true;
      },
      shut: () => 60_000,
    } as unknown as LimitWindow;
    const part = second.begin(1, 990);
    second.end(part, 990, 1_030, undefined, false);
    const ticket = {
      parts: [part, part],
      route: { windows: [second, minute] },
      sentAt: 990,
      probe: false,
    } as unknown as Ticket;
    const standing = new ProbeState(0);
    for (let time = 0; time < times; time++)
      strike({ ...ticket, sentAt: 990 + 100 * time }, standing, { noteRefusal: () => undefined }, 1_030 + 100 * time);
    return suspected;
  };

  it("at the end of a full second is the key's, though the next second may have begun", () => {
    expect(suspectsUser(9)).toBe(false);
  });

  it("shuts every window of a key's shortest length, and no longer one", () => {
    const ofKey = (name: string, windowMs: number): LayerSpec => ({
      ...(layers.find((spec) => spec.name === "key") as LayerSpec),
      name,
      windowMs,
    });
    const specs = [ofKey("long", 60_000), ofKey("orders", 1_000), ofKey("reads", 1_000)];
    const windows = specs.map((spec) => new FixedWindow(spec, "k", fixedClock(-20, 20)));
    const parts = windows.map((gauge) => gauge.begin(1, 500));
    for (const [index, gauge] of windows.entries()) gauge.end(parts[index] as WindowTicket, 500, 540, undefined, false);
    const ticket = { parts, route: { windows }, sentAt: 500, probe: false } as unknown as Ticket;
    strike(ticket, new ProbeState(0), { noteRefusal: () => undefined }, 540);
    const unlimited = (): number => 10;
    expect(windows.map((gauge) => gauge.blockedUntil(1, 600, unlimited) !== undefined)).toEqual([false, true, true]);
  });

  it("of calls that entered seconds alone after full ones takes the key to its floor", () => {
    const spec = layers.find(({ name }) => name === "key") as LayerSpec;
    const second = new FixedWindow(spec, "k", fixedClock(-20, 20));
    const modeAfter = (from: number): string => {
      for (let call = 1; call <= 10; call++) second.end(second.begin(1, from), from, from + 30, call, true);
      const part = second.begin(1, from + 800);
      second.end(part, from + 800, from + 830, undefined, false);
      const ticket = { parts: [part], route: { windows: [second] }, sentAt: from + 800, probe: false };
      strike(ticket as unknown as Ticket, new ProbeState(0), { noteRefusal: () => undefined }, from + 830);
      return second.mode;
    };
    expect([60_250, 63_250].map(modeAfter)).toEqual(["measured", "floor"]);
  });

  it("of a call that left alone into empty windows after a refusal takes the long windows to their floor", () => {
    const windows = layers.map((spec) => new FixedWindow(spec, "s", fixedClock(-20, 20)));
    const standing = new ProbeState(0);
    const modesAfter = (at: number): readonly string[] => {
      const parts = windows.map((gauge) => gauge.begin(1, at));
      for (const [index, gauge] of windows.entries())
        gauge.end(parts[index] as WindowTicket, at, at + 40, undefined, false);
      const ticket = { parts, route: { windows }, sentAt: at, probe: true } as unknown as Ticket;
      strike(ticket, standing, { noteRefusal: () => undefined }, at + 40);
      return windows.filter(({ mode }) => mode === "floor").map(({ spec }) => spec.name);
    };
    expect([60_500, 120_500].map(modesAfter)).toEqual([[], ["ip", "uid"]]);
  });

  it("at the end of a second that is not half full is the user's, once the call after it was refused as well", () => {
    expect([suspectsUser(3, 1), suspectsUser(3, 2)]).toEqual([false, true]);
  });

  it("of a key whose second is on its floor is not attributed to the user", () => {
    expect([suspectsUser(3, 2, true), suspectsUser(0, 2, true)]).toEqual([false, false]);
  });

  it("of the first call into a second keeps the key on its floor for a minute, and of a later one for five seconds", () => {
    const stayAfter = (...counted: readonly number[]): number => {
      const spec = layers.find(({ name }) => name === "key") as LayerSpec;
      const second = new FixedWindow(spec, "k", fixedClock(-20, 20));
      let now = 0;
      for (const [index, calls] of counted.entries()) {
        const from = 60_000 + 3_000 * index;
        for (let call = 1; call <= 10; call++)
          second.end(second.begin(1, from + 250), from + 250, from + 280, call, true);
        for (let call = 1; call <= calls; call++)
          second.end(second.begin(1, from + 1_250), from + 1_250, from + 1_280, call, true);
        const part = second.begin(1, from + 1_300);
        now = from + 1_330;
        second.end(part, from + 1_300, now, undefined, false);
        const ticket = { parts: [part], route: { windows: [second] }, sentAt: from + 1_300, probe: false };
        strike(ticket as unknown as Ticket, new ProbeState(0), { noteRefusal: () => undefined }, now);
      }
      return second.floor.neededMs(now);
    };
    expect([stayAfter(0), stayAfter(0, 0), stayAfter(0, 1), stayAfter(1, 0)]).toEqual([0, 60_000, 5_000, 60_000]);
  });
});

describe("Refusals in a row", () => {
  /** Instant since which the use of windows is followed: much more than a minute before the first refusal. */
  const followedFrom = 10_000;
  const all = (): number => Number.POSITIVE_INFINITY;

  interface Given {
    /** Instants at which calls leave that are refused. */
    readonly at: readonly number[];
    readonly isOnFloor?: boolean;
    readonly probe?: boolean;
    readonly toldAt?: number;
    /** Instant of a call that spends `units` of the user's minute, and its count. */
    readonly spentAt?: number;
    readonly units?: number;
    readonly used?: number;
    /** Calls on the key, half a second before the first that is refused. */
    readonly keyCalls?: number;
  }

  /** Modes of the address, the user and the key after the last refusal, and those of them that it has shut. */
  const outcome = ({
    at,
    isOnFloor = false,
    probe = false,
    toldAt = followedFrom,
    spentAt,
    units = 0,
    used,
    keyCalls = 0,
  }: Given) => {
    const windows = layers.map((spec) => new FixedWindow(spec, "s", fixedClock(-20, 20)));
    const [, user, key] = windows as [FixedWindow, FixedWindow, FixedWindow];
    if (isOnFloor) for (const gauge of windows) gauge.fall(followedFrom, "a test");
    if (spentAt !== undefined) user.end(user.begin(units, spentAt), spentAt, spentAt + 10, used, true);
    const before = (at[0] as number) - 500;
    for (let call = 0; call < keyCalls; call++) key.end(key.begin(1, before), before, before + 10, undefined, true);
    const standing = new ProbeState(0);
    standing.warmUp(toldAt);
    let now = 0;
    for (const sentAt of at) {
      const parts = windows.map((gauge) => gauge.begin(1, sentAt));
      now = sentAt + 40;
      for (const [index, gauge] of windows.entries())
        gauge.end(parts[index] as WindowTicket, sentAt, now, undefined, false);
      const ticket = { parts, route: { windows }, sentAt, probe } as unknown as Ticket;
      strike(ticket, standing, { noteRefusal: () => undefined }, now);
    }
    const names = (chosen: (gauge: FixedWindow) => boolean): readonly string[] =>
      windows.filter(chosen).map(({ spec }) => spec.name);
    return {
      floor: names(({ mode }) => mode === "floor"),
      shut: names((gauge) => gauge.blockedUntil(1, now, all) !== undefined),
    };
  };

  it("shut, on the floor, the key's second at once, and a minute if 70 % of it was spent within its length", () => {
    const shut = (units: number, at: number): readonly string[] =>
      outcome({ at: [at], isOnFloor: true, spentAt: 70_000, units }).shut;
    // The floor of the user's minute is 1,140 units. The refused call is one of them.
    expect([shut(796, 100_000), shut(797, 100_000)]).toEqual([["key"], ["uid", "key"]]);
    // The units landed by 70,010.
    expect([shut(797, 129_969), shut(797, 129_970)]).toEqual([["uid", "key"], ["key"]]);
  });

  it("shut, on the floor, the key's second alone at first if that was half full", () => {
    const shut = (keyCalls: number, at: readonly number[]): readonly string[] =>
      outcome({ at, isOnFloor: true, spentAt: 70_000, units: 1_000, keyCalls }).shut;
    // The first of them ends the key's stay on its floor and no longer counts.
    expect([shut(4, [100_700]), shut(5, [100_700])]).toEqual([["uid", "key"], ["key"]]);
    expect(shut(5, [100_700, 102_000])).toEqual(["ip", "uid", "key"]);
  });

  it("shut, on the floor, every window of which the use was not followed for its length", () => {
    const shut = (toldAt: number): readonly string[] => outcome({ at: [100_000], isOnFloor: true, toldAt }).shut;
    expect([shut(40_040), shut(40_041)]).toEqual([["key"], ["ip", "uid", "key"]]);
  });

  it("shut every window on the floor from the second one on", () => {
    expect(outcome({ at: [100_000, 102_000], isOnFloor: true }).shut).toEqual(["ip", "uid", "key"]);
  });

  it("take a minute to its floor and shut it at the second one, if half of it was used within its length", () => {
    const [at, spentAt] = [[130_000, 132_000], 110_000];
    const [both, neither] = [
      { floor: ["uid"], shut: ["uid", "key"] },
      { floor: [], shut: ["key"] },
    ];
    // In the minute before, and with both refused calls.
    expect([outcome({ at, spentAt, units: 597 }), outcome({ at, spentAt, units: 598 })]).toEqual([neither, both]);
    expect(outcome({ at: [170_000, 172_000], spentAt, units: 598 })).toEqual(neither);
    // By others.
    const [others, less] = [
      { spentAt: 125_000, units: 1, used: 598 },
      { spentAt: 125_000, units: 1, used: 597 },
    ];
    expect([outcome({ at, ...others }), outcome({ at, ...less })]).toEqual([both, neither]);
    expect(outcome({ at: [130_000], spentAt, units: 1_000 })).toEqual(neither);
  });

  it("take every minute to its floor and shut it at the third one", () => {
    expect(outcome({ at: [130_000, 132_000, 134_000] })).toEqual({ floor: ["ip", "uid"], shut: ["ip", "uid", "key"] });
  });

  it("take every minute to its floor and shut it at the second one, if its use has not been followed for a minute", () => {
    const at = [130_000, 132_000];
    const [every, neither] = [
      { floor: ["ip", "uid"], shut: ["ip", "uid", "key"] },
      { floor: [], shut: ["key"] },
    ];
    expect([outcome({ at, toldAt: 72_041 }), outcome({ at, toldAt: 72_040 })]).toEqual([every, neither]);
    expect(outcome({ at, toldAt: Number.POSITIVE_INFINITY })).toEqual(every);
  });

  it("shut every window at a first one that a probe meets, if its use has not been followed for a minute", () => {
    const probe = { at: [130_000], probe: true };
    expect([outcome({ ...probe, toldAt: 70_041 }).shut, outcome({ ...probe, toldAt: 70_040 }).shut]).toEqual([
      ["ip", "uid", "key"],
      ["key"],
    ]);
  });
});
