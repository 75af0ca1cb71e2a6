/** What the service counted without our hearing it, where its number is above all of ours: after a restart, or beside others. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../../../src/contract/contract.ts";
import { createRandom } from "../../../../src/random.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import { type Charge, type LayerSpec, layersOf } from "../../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../../src/scheduler/quota/ledger.ts";
import type { LimitWindow } from "../../../../src/scheduler/quota/limit-window.ts";
import { WindowUsage } from "../../../../src/scheduler/quota/window-usage.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

const spec: LayerSpec = {
  name: "uid",
  scope: "uid",
  unit: "weight",
  capacity: 100,
  windowMs: 1_000,
  anchor: "wall_clock",
  banMs: 0,
};
const all = (): number => spec.capacity;

/** The service told 60, of which one is ours. */
const told = (lo = 0, hi = 0): LimitWindow => {
  const gauge = new FixedWindow(spec, "u", fixedClock(lo, hi));
  gauge.end(gauge.begin(1, 200), 200, 210, 60, true);
  return gauge;
};

describe("After a restart within a minute,", () => {
  it("a cancel whose answer was a page of something in between is spent: two placements do not share what is left for one", () => {
    const noon = 1_767_600_000_000;
    const cancel: Charge = { endpoint: "cancelBatch", weight: 15, elements: 1, ip: "home", uid: "u", key: "k" };
    const place: Charge = { ...cancel, endpoint: "placeOrder", weight: 10 };
    const ledger = createLedger({ layers: layersOf(createContract()), startedAt: noon, quietMs: 0 });
    // Two seconds before the minute's end but one minute is possible, however little is known of the service's clock.
    const headers = { date: new Date(noon + 57_040).toUTCString(), "x-ratelimit-uid-weight-used": "1174" };
    ledger.settle(ledger.spend(place, noon + 57_000), { status: 200, headers }, noon + 57_050);
    const lost = ledger.spend(cancel, noon + 57_500);
    ledger.settle(lost, { status: 502, headers: {} }, noon + 57_550);
    // The service stands at 1 189.
    expect(ledger.ask(place, "emergency", noon + 57_550).granted).toBe(false);
    expect(ledger.ask({ ...place, weight: 9 }, "emergency", noon + 57_550).granted).toBe(true);
  });
});

describe("Beside a higher count of the service,", () => {
  it("a lost call counts", () => {
    const gauge = told();
    gauge.lose(gauge.begin(15, 300), 350);
    expect(gauge.used(400)).toBe(75);
  });

  it("an answered call counts of which the answer tells nothing", () => {
    const gauge = told();
    gauge.end(gauge.begin(15, 300), 300, 350, undefined, true);
    expect(gauge.used(400)).toBe(75);
  });

  it("a call counts that may have landed in the window after", () => {
    const gauge = told(-20, 20);
    gauge.end(gauge.begin(15, 970), 970, 990, undefined, true);
    expect([gauge.used(970), gauge.used(1_000)]).toEqual([75, 15]);
  });

  it("one that is answered as usual counts once", () => {
    const gauge = told();
    gauge.end(gauge.begin(15, 300), 300, 350, 75, true);
    expect(gauge.used(400)).toBe(75);
  });

  it("what was lost counts no longer by itself once a call that left after it was answered", () => {
    const gauge = told();
    gauge.lose(gauge.begin(15, 300), 350);
    gauge.end(gauge.begin(5, 400), 400, 450, 80, true);
    expect(gauge.used(500)).toBe(80);
  });

  it("when it never landed, the service's number is believed", () => {
    const gauge = told();
    gauge.lose(gauge.begin(15, 300), 350);
    gauge.end(gauge.begin(5, 400), 400, 450, 65, true);
    expect(gauge.used(500)).toBe(65);
  });

  it("an answer to a call that left before the loss does not include it", () => {
    const gauge = told();
    const lost = gauge.begin(15, 300);
    const beside = gauge.begin(5, 300);
    gauge.lose(lost, 350);
    gauge.end(beside, 300, 360, 65, true);
    expect(gauge.used(400)).toBe(80);
  });

  it("nor does an answer to a call that shares the ticket of one from before", () => {
    const gauge = told();
    const lost = gauge.begin(15, 300);
    const beside = gauge.begin(5, 300);
    gauge.again(beside, 300);
    gauge.lose(lost, 350);
    gauge.end(beside, 300, 360, 65, true);
    gauge.end(beside, 300, 370, 70, true);
    expect(gauge.used(400)).toBe(85);
  });

  it("an overtaken answer brings nothing back that a later one included", () => {
    const gauge = told();
    const lost = gauge.begin(15, 300);
    const overtaken = gauge.begin(5, 300);
    gauge.lose(lost, 350);
    gauge.end(gauge.begin(5, 400), 400, 450, 85, true);
    gauge.end(overtaken, 300, 460, 65, true);
    expect(gauge.used(500)).toBe(85);
  });

  it.each([62, 90])(
    "a refused call that may be of two windows counts in both, and its %i says nothing of either",
    (used) => {
      const gauge = told(-20, 20);
      gauge.end(gauge.begin(15, 970), 970, 990, used, false);
      expect([gauge.used(970), gauge.used(1_000)]).toEqual([75, 15]);
    },
  );

  it("what was lost before a call left in the old window is not in an answer that speaks of the new one", () => {
    const gauge = told(-20, 20);
    gauge.lose(gauge.begin(15, 300), 350);
    const lost = gauge.begin(15, 990);
    const late = gauge.begin(5, 990);
    gauge.end(gauge.begin(1, 1_030), 1_030, 1_040, 57, true);
    gauge.lose(lost, 1_050);
    // Too little for the old window, where 60 had been told.
    gauge.end(late, 990, 1_060, 62, true);
    expect(gauge.used(1_100)).toBe(77);
  });

  it("a ticket from before a reset takes nothing away from what was counted after it", () => {
    const counter = new WindowUsage();
    counter.begin(5, 30);
    counter.end(5, 5, 5, 30);
    const { unheard } = counter.begin(5, 1);
    counter.reset();
    counter.begin(5, 4);
    counter.end(5, 5, 5, 4);
    counter.report(5, 60, unheard);
    expect(counter.used(5)).toBe(61);
  });
});

describe("Unanswered calls:", () => {
  it("with so much used before we came, and many answers lost, nothing that fits is refused and much fits", () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 0, max: 90 }), fc.integer({ min: 1, max: 60 }), (seed, before, width) => {
        const random = createRandom(seed);
        const offset = (random.next() * 2 - 1) * width;
        const gauge = new FixedWindow(spec, "u", fixedClock(-width, width));
        const counts = new Map([[0, before]]);
        let refused = 0;
        let granted = 0;
        let now = 200;
        const events: { readonly at: number; readonly run: () => void }[] = [];
        const until = (limit: number): void => {
          for (;;) {
            events.sort((a, b) => a.at - b.at);
            if ((events[0]?.at ?? Number.POSITIVE_INFINITY) > limit) break;
            const event = events.shift();
            now = event?.at ?? now;
            event?.run();
          }
          now = limit;
        };
        const send = (units: number, lossy: number): void => {
          const sentAt = now;
          const ticket = gauge.begin(units, sentAt);
          granted++;
          let used = 0;
          const lands = sentAt + 1 + 60 * random.next();
          const stray = random.next() < lossy / 3;
          const lost = stray || random.next() < lossy;
          const land = (): void => {
            const index = Math.floor((now + offset) / spec.windowMs);
            used = (counts.get(index) ?? 0) + units;
            if (used > spec.capacity) refused++;
            counts.set(index, used);
          };
          if (!stray) events.push({ at: lands, run: land });
          const hear = (): void => {
            if (lost) gauge.lose(ticket, now);
            else gauge.end(ticket, sentAt, now, used, true);
          };
          events.push({ at: lands + 60 * random.next(), run: hear });
        };
        send(1, 0);
        until(400);
        for (let i = 0; i < 200 && now < 4_500; i++) {
          const units = 1 + Math.floor(random.next() * 15);
          const blocked = gauge.blockedUntil(units, now, all);
          if (blocked === undefined) send(units, 0.3);
          if (blocked !== undefined) until(Math.min(blocked, Math.max(now, events[0]?.at ?? blocked)));
          else if (random.next() < 0.5) until(now + 60 * random.next());
        }
        expect(refused).toBe(0);
        expect(granted).toBeGreaterThan(15);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});

describe("A call of a key's second that stays silent", () => {
  const second: LayerSpec = { ...spec, name: "key", scope: "key", unit: "requests", capacity: 10 };
  /** Counts go by the second, and every call is answered 50 ms after it left, with the count the service would tell. */
  const createKey = (of: LayerSpec = second) => {
    const gauge = new FixedWindow(of, "k", fixedClock(0, 0));
    let now = 0;
    let used = 0;
    const answered = (extra = 0): void => {
      used += 1 + extra;
      gauge.end(gauge.begin(1, now), now, now + 50, used, true);
    };
    const wait = (ms: number): void => {
      if (Math.floor((now + ms) / 1_000) > Math.floor(now / 1_000)) used = 0;
      now += ms;
    };
    return {
      gauge,
      answered,
      wait,
      /** One that never lands, and the ten seconds until it is given up, in which others are answered. */
      loseOne: (): void => {
        const ticket = gauge.begin(1, now);
        for (let i = 0; i < 10; i++) {
          wait(1_000);
          answered();
        }
        gauge.lose(ticket, now);
        wait(1_000);
        answered();
      },
      begin: () => gauge.begin(1, now),
      lose: (ticket: ReturnType<LimitWindow["begin"]>): void => gauge.lose(ticket, now),
      hear: (ticket: ReturnType<LimitWindow["begin"]>, sentAt: number, count = ++used): number =>
        gauge.end(ticket, sentAt, now, count, true),
      now: () => now,
      held: (): number => gauge.used(now) - used,
    };
  };
  type Key = ReturnType<typeof createKey>;
  const loses = (key: Key, times: number): Key => {
    for (let i = 0; i < times; i++) key.loseOne();
    return key;
  };
  /** Whether one that is silent is held for after so many seconds in which others were answered. */
  const heldFor = (key: Key, seconds = 9): number[] => {
    key.begin();
    return Array.from({ length: seconds }, () => {
      key.wait(1_000);
      key.answered();
      return key.held();
    });
  };

  it("is held for until it is given up, while it is not known that such are lost", () => {
    expect(heldFor(loses(createKey(), 19))).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it("is held for in the two seconds after once twenty in a row were never heard of again", () => {
    expect(heldFor(loses(createKey(), 20))).toEqual([1, 1, 0, 0, 0, 0, 0, 0, 0]);
  });

  it("lets as many calls leave as the second holds", () => {
    const key = loses(createKey(), 20);
    for (let i = 0; i < 10; i++) key.begin();
    const mayLeave: boolean[] = [];
    for (let second = 1; second <= 4; second++) {
      key.wait(1_000);
      mayLeave.push(key.gauge.blockedUntil(1, key.now(), all) === undefined);
      key.answered();
    }
    // Nothing left in the seconds before: the one answered now is of the third second after.
    expect(mayLeave).toEqual([false, false, false, true]);
  });

  it("is not in the second in which it is given up", () => {
    const key = loses(createKey(), 20);
    const ticket = key.begin();
    for (let i = 0; i < 10; i++) {
      key.wait(1_000);
      key.answered();
    }
    key.lose(ticket);
    expect(key.held()).toBe(0);
  });

  it("is held for while nothing that left after it is answered", () => {
    const key = loses(createKey(), 20);
    key.begin();
    key.wait(5_000);
    key.begin();
    expect(key.held()).toBe(2);
  });

  it("is held for again after one was answered late, until twice as many were lost", () => {
    const key = loses(createKey(), 20);
    const sentAt = key.now();
    const late = key.begin();
    key.wait(1_000);
    key.answered();
    key.wait(3_000);
    key.answered();
    expect(key.held()).toBe(0);
    key.hear(late, sentAt);
    key.loseOne();
    const silent = key.begin();
    key.wait(5_000);
    key.answered();
    expect(key.held()).toBe(1);
    key.lose(silent);
    loses(key, 37);
    expect(heldFor(key, 10)).toContain(1);
    expect(heldFor(loses(key, 3))[8]).toBe(0);
  });

  it("is held for again after one that was given up was counted", () => {
    const key = loses(createKey(), 20);
    key.wait(1_000);
    key.answered(1);
    key.wait(1_000);
    key.answered();
    expect(heldFor(key)[8]).toBeGreaterThanOrEqual(1);
  });

  it("teaches nothing where its second's count tells that it landed", () => {
    const key = createKey();
    for (let i = 0; i < 40; i++) {
      const ticket = key.begin();
      key.answered(1);
      for (let j = 0; j < 10; j++) {
        key.wait(1_000);
        key.answered();
      }
      key.lose(ticket);
      key.wait(1_000);
      key.answered();
    }
    expect(heldFor(key)).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1]);
  });

  it("teaches nothing where its connection broke at once", () => {
    const key = createKey();
    for (let i = 0; i < 40; i++) {
      key.lose(key.begin());
      key.wait(1_000);
      key.answered();
    }
    expect(heldFor(key)[8]).toBe(1);
  });

  it("is held for where others use the same windows", () => {
    expect(heldFor(loses(createKey({ ...second, scope: "uid" }), 40))[8]).toBe(1);
  });

  it("is held for after windows lost their meaning", () => {
    const key = loses(createKey(), 20);
    key.begin();
    key.wait(3_000);
    key.answered();
    expect(key.held()).toBe(0);
    key.gauge.reset();
    expect(key.gauge.used(key.now())).toBe(1);
  });
});
