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

const spec: LayerSpec = { name: "uid", scope: "uid", unit: "weight", capacity: 100, windowMs: 1_000, anchor: "wall_clock", banMs: 0 };
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
    gauge.again(beside);
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

  it.each([62, 90])("a refused call that may be of two windows counts in both, and its %i says nothing of either", (used) => {
    const gauge = told(-20, 20);
    gauge.end(gauge.begin(15, 970), 970, 990, used, false);
    expect([gauge.used(970), gauge.used(1_000)]).toEqual([75, 15]);
  });

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
