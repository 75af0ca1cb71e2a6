/** What the ledger learns from answers, and what a refusal shuts. */
import { describe, expect, it } from "vitest";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import type { Ledger } from "../../../../src/scheduler/quota/ledger.ts";
import type { Ticket } from "../../../../src/scheduler/quota/routes.ts";
import { answer, charge, layers, make, noon, warm } from "../../../support/harness/ledger.ts";

const row = (ledger: Ledger, at: number, name = "uid") => {
  const found = ledger.state(at).find(({ layer }) => layer === name);
  if (found === undefined) throw new Error(`Nobody met the layer ${name}.`);
  return found;
};

describe("The ledger learns from an answer", () => {
  it("of a call that was refused and hence not counted, nothing of where a window began", () => {
    const bounds = (status: number): readonly number[] => {
      const ledger = make();
      ledger.clock.observeDate(noon, noon, noon);
      ledger.clock.observeDate(noon + 10_600, noon + 10_600, noon + 10_000);
      for (const [at, told] of [
        [noon + 10_900, { key: 3, date: false }],
        [noon + 10_950, { key: 3, date: false, status }],
      ] as const)
        ledger.settle(ledger.spend({ ...charge, weight: 1 }, at), answer(at, told), at);
      return [ledger.clock.lo(noon + 10_950), ledger.clock.hi(noon + 10_950)];
    };
    expect([200, 399, 400, 429, 500].map(bounds)).toEqual([
      [50, 100],
      [50, 100],
      [0, 400],
      [0, 400],
      [0, 400],
    ]);
  });
});

describe("A key that has fewer calls than stated", () => {
  it.each([8, 9, 10])(
    "of which %i are gone after our only one, still lets one ordinary call go each second, until there are more",
    (gone) => {
      const ledger = warm();
      const sentIn = Array.from({ length: 8 }, (_, second) => {
        const at = noon + 11_500 + second * 1_000;
        const told = second < 4 ? gone : 1;
        let sent = 0;
        while (sent < 3 && ledger.ask(charge, "ordinary", at + 20 * sent).granted) {
          const ticket = ledger.spend(charge, at + 20 * sent);
          sent++;
          ledger.settle(ticket, answer(at + 20 * sent, { key: Math.min(10, told + sent - 1) }), at + 20 * sent);
        }
        return sent;
      });
      expect(sentIn.slice(1, 4)).toEqual([1, 1, 1]);
      expect(sentIn.slice(6)).toEqual([3, 3]);
    },
  );
});

describe("A 429 answer", () => {
  const refuse = (ledger: Ledger, at: number, uid?: number): number | undefined =>
    ledger.settle(ledger.spend(charge, at), answer(at, { status: 429, ...(uid === undefined ? {} : { uid }) }), at);

  it("of the first probe shuts everything it went through", () => {
    expect(refuse(make({ quietMs: 0 }), noon + 11_500)).toBe(noon + 60_500);
  });

  describe("of a user whose limit was cut to 600", () => {
    /** A minute seen to begin, then 590 used of it, one call at a time. */
    const cut = (): { ledger: Ledger; at: number } => {
      const ledger = warm();
      let at = noon + 59_000;
      ledger.settle(ledger.spend({ ...charge, weight: 900 }, at), answer(at, { uid: 900 }), at);
      for (let used = 10; used <= 590; used += 10) {
        at = noon + 60_500 + used * 50;
        ledger.settle(ledger.spend({ ...charge, weight: 10 }, at), answer(at, { uid: used, key: 1 }), at);
      }
      return { ledger, at: at + 1_000 };
    };

    it("shuts the second, and the minute when the next call is refused too, and is kept to from then on", () => {
      const { ledger, at } = cut();
      const until = refuse(ledger, at) as number;
      expect(until).toBeLessThan(at + 1_100);
      expect(row(ledger, until)).toMatchObject({ capacity: 1_200 });
      expect(refuse(ledger, until)).toBe(noon + 120_000);
      expect(row(ledger, noon + 120_000)).toMatchObject({ capacity: 590 });
      // Half of it before the minute's last quarter.
      ledger.settle(ledger.spend(charge, noon + 120_000), answer(noon + 120_000, { uid: 5, key: 1 }), noon + 120_000);
      expect(ledger.ask({ ...charge, key: undefined, weight: 280 }, "ordinary", noon + 121_000)).toMatchObject({
        granted: true,
      });
      expect(ledger.ask({ ...charge, key: undefined, weight: 300 }, "ordinary", noon + 121_000)).toMatchObject({
        granted: false,
        layer: "uid",
      });
      expect(ledger.ask({ ...charge, key: undefined, weight: 500 }, "emergency", noon + 121_000)).toMatchObject({
        granted: true,
      });
    });

    it("or lower than what exits may need, still lets a light ordinary call go each minute, which tells whether it still is", () => {
      const ledger = warm();
      let at = noon + 59_000;
      ledger.settle(ledger.spend({ ...charge, weight: 900 }, at), answer(at, { uid: 900 }), at);
      for (let used = 10; used <= 120; used += 10) {
        at = noon + 60_500 + used * 50;
        ledger.settle(ledger.spend({ ...charge, weight: 10 }, at), answer(at, { uid: used, key: 1 }), at);
      }
      refuse(ledger, refuse(ledger, at + 1_000) as number);
      expect(row(ledger, noon + 120_000)).toMatchObject({ capacity: 120 });
      ledger.noteOpen(charge.uid as string, 60);
      for (let exit = 0; exit < 6; exit++) ledger.noteExit(noon + 119_000 + exit);
      const sent = [2, 3, 4].map((minute) => {
        let calls = 0;
        for (let second = 0; second < 40; second++) {
          const now = noon + minute * 60_000 + 100 + second * 1_000;
          if (!ledger.ask(charge, "ordinary", now).granted) continue;
          calls++;
          ledger.settle(ledger.spend(charge, now), answer(now, { uid: 5 * calls, key: 1 }), now + 20);
        }
        return calls;
      });
      expect(sent).toEqual([1, 1, 1]);
    });

    it("is laid to the key's second where that may be full", () => {
      const { ledger, at } = cut();
      for (let call = 0; call < 5; call++) ledger.spend(charge, at);
      expect(refuse(ledger, at)).toBeLessThan(at + 1_010);
      expect(row(ledger, at)).toMatchObject({ capacity: 1_200 });
    });
  });

  it("is waited out, although calls that left before it are answered", () => {
    const ledger = warm();
    const [accepted, refused] = [ledger.spend(charge, noon + 11_500), ledger.spend(charge, noon + 11_500)];
    expect(ledger.settle(refused, answer(noon + 11_500, { status: 429 }), noon + 11_520)).toBe(noon + 12_000);
    ledger.settle(accepted, answer(noon + 11_500, { uid: 5 }), noon + 11_530);
    const probe = (at: number): boolean => ledger.ask(charge, "ordinary", at).granted;
    expect([probe(noon + 11_540), probe(noon + 12_000)]).toEqual([false, true]);
    const alone = ledger.spend(charge, noon + 12_000);
    expect([alone.probe, probe(noon + 12_010)]).toEqual([true, false]);
    ledger.settle(alone, answer(noon + 12_000, { uid: 10 }), noon + 12_020);
    expect(probe(noon + 12_030)).toBe(true);
  });

  it("heard late of a call from before, while refusals go on, is no reason to wait longer", () => {
    const late = (between: (ledger: Ledger) => void): number | undefined => {
      const ledger = warm();
      const early = ledger.spend(charge, noon + 58_000);
      refuse(ledger, noon + 58_100);
      between(ledger);
      return ledger.settle(early, answer(noon + 60_100, { status: 429 }), noon + 60_100);
    };
    expect(late(() => undefined)).toBe(noon + 61_000);
    // The probe of the next second was refused as well.
    expect(late((ledger) => refuse(ledger, noon + 59_000))).toBe(noon + 59_000 + 15_000);
    expect(
      late((ledger) => ledger.settle(ledger.spend(charge, noon + 59_000), answer(noon + 59_000), noon + 59_000)),
    ).toBe(noon + 61_000);
  });

  it.each([
    [1_163, noon + 12_000],
    [1_164, noon + 60_000],
  ])("with %i of the minute used shuts until %i", (used, until) => {
    expect(refuse(warm(), noon + 11_500, used)).toBe(until);
  });

  it.each([
    [429, "40", noon + 51_500, noon + 41_500],
    // The layers stay shut for longer by themselves.
    [429, "1", noon + 12_500, noon + 12_500],
    [403, "40", noon + 51_500, noon + 41_500],
    [503, "20", noon + 31_500, noon + 31_500],
    [503, "40", noon + 51_500, noon + 41_500],
    [503, "86400", noon + 611_500, noon + 41_500],
    [200, "40", undefined, undefined],
  ])("%i that asks for %s s is heeded until %s, by exits until %s", (status, seconds, until, exitsFrom) => {
    const ledger = warm();
    const told = answer(noon + 11_500, { status });
    const headers = { ...told.headers, "retry-after": seconds };
    expect(ledger.settle(ledger.spend(charge, noon + 11_500), { ...told, headers }, noon + 11_500)).toBe(until);
    const verdict = ledger.ask(charge, "emergency", noon + 11_600);
    expect(verdict).toMatchObject(exitsFrom === undefined ? { granted: true } : { granted: false, until: exitsFrom });
    if (until === undefined || exitsFrom === undefined) return;
    expect(ledger.ask(charge, "emergency", exitsFrom).granted).toBe(true);
    expect(ledger.ask(charge, "ordinary", exitsFrom).granted).toBe(exitsFrom === until);
    expect(ledger.ask(charge, "ordinary", until).granted).toBe(true);
  });

  it("exits leave one at a time in a long pause, and begin a new one where it is asked for again", () => {
    const ledger = warm();
    const pause = (at: number) => {
      const told = answer(at, { status: 503 });
      return { ...told, headers: { ...told.headers, "retry-after": "3600" } };
    };
    const exit = (at: number) => ledger.reserve([charge], "exit", at, 1);
    ledger.settle(ledger.spend(charge, noon), pause(noon), noon);
    expect(exit(noon + 29_999)).toMatchObject({ granted: false, until: noon + 30_000 });
    const first = exit(noon + 30_000);
    expect([first, exit(noon + 30_001)]).toMatchObject([{ sentAt: noon + 30_000 }, { granted: false }]);
    ledger.settle(first as Ticket, pause(noon + 30_050), noon + 30_050);
    expect(exit(noon + 60_049)).toMatchObject({ granted: false, until: noon + 60_050 });
    const second = exit(noon + 60_050);
    ledger.settle(second as Ticket, answer(noon + 60_100), noon + 60_100);
    expect(exit(noon + 60_101)).toMatchObject({ sentAt: noon + 60_101 });
    expect(ledger.ask(charge, "ordinary", noon + 60_102).granted).toBe(false);
  });

  const extra: LayerSpec = {
    name: "extra",
    scope: "ip",
    unit: "requests",
    capacity: 1_000,
    windowMs: 500,
    anchor: "wall_clock",
    banMs: 0,
  };
  it.each<[string, Partial<LayerSpec>, number]>([
    ["nothing is shorter of the key, whatever is of the address", {}, noon + 12_000],
    ["what is as short but not of the key stays open", { windowMs: 1_000, banMs: 10_000 }, noon + 12_000],
    ["a longer one of the key stays open", { scope: "key", windowMs: 5_000 }, noon + 12_000],
    ["a shorter one of the key is shut instead", { scope: "key", windowMs: 500, banMs: 200 }, noon + 12_000],
  ])("shuts the key's shortest layer: %s", (_, given, until) => {
    expect(refuse(warm({ layers: [...layers, { ...extra, ...given }] }), noon + 11_200)).toBe(until);
  });

  it("makes room for one more call of others, once for a burst", () => {
    const ledger = warm();
    for (const [at, uid] of [
      [noon + 12_000, 45],
      [noon + 59_000, 50],
    ] as const)
      ledger.settle(ledger.spend(charge, at), answer(at, { uid }), at);
    const burst = [1, 2, 3].map(() => ledger.spend(charge, noon + 59_300));
    // So near the end that one of their calls, of forty, is all that is left for them.
    const reserved = (): number => row(ledger, noon + 59_450).reserved;
    const before = reserved();
    const after = burst.slice(1).map((ticket) => {
      ledger.settle(ticket, answer(noon + 59_300, { status: 429 }), noon + 59_400);
      return reserved() - before;
    });
    expect(after).toEqual([40, 40]);
  });
});
