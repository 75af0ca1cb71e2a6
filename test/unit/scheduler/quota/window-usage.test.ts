/** The counter's few numbers against a list of every request, added up anew each time. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { WindowUsage } from "../../../../src/scheduler/quota/window-usage.ts";

describe("What is missing of a limit", () => {
  it("is at least what cannot be ours, and at most what has not landed for certain", () => {
    const usage = new WindowUsage();
    const answered = (told: number): void => {
      usage.begin(1, 1);
      usage.end(1, 1, 1, 1, true);
      usage.learnMissing(1, told);
    };
    // One of ours, and six are used of ten: five of them are not there.
    answered(6);
    expect([usage.missing, usage.used(1), usage.used(2)]).toEqual([5, 6, 5]);
    usage.begin(1, 3);
    usage.learnMissing(1, 8);
    expect(usage.missing).toBe(5);
    // What is under way may be in the count.
    usage.learnMissing(1, 4);
    expect(usage.missing).toBe(3);
  });

  it("is nobody's use", () => {
    const usage = new WindowUsage();
    usage.begin(1, 1);
    usage.end(1, 1, 1, 1, true);
    usage.learnMissing(1, 6);
    expect(usage.report(1, 6)).toBe(0);
    expect(usage.report(1, 8)).toBe(2);
  });

  it("is not less because the answer of the first call comes last", () => {
    const usage = new WindowUsage();
    usage.learnMissing(1, 5);
    usage.begin(2, 5);
    for (const told of [7, 8, 9, 10, 6]) {
      usage.end(2, 2, 2, 1, true);
      usage.learnMissing(2, told);
      usage.report(2, told);
    }
    expect([usage.missing, usage.used(3)]).toEqual([5, 5]);
  });

  it("was used by something else when it comes back, which is expected again for some time", () => {
    const usage = new WindowUsage();
    usage.begin(1, 1);
    usage.learnMissing(1, 2);
    expect(usage.unsteady).toBe(false);
    usage.learnMissing(2, 0);
    expect(usage.unsteady).toBe(true);
    usage.begin(301, 1);
    expect(usage.unsteady).toBe(true);
    usage.begin(302, 1);
    expect(usage.unsteady).toBe(false);
  });

  it("comes back as soon as an answer tells of it", () => {
    const usage = new WindowUsage();
    usage.learnMissing(1, 5);
    usage.learnMissing(2, 0);
    expect(usage.missing).toBe(0);
  });
});

interface Request {
  readonly began: number;
  readonly weight: number;
  landed: { readonly first: number; readonly last: number } | undefined;
  told: boolean;
  /** Those of which nothing was told of its first window when it left. */
  readonly before: readonly Request[];
  readonly unheardThen: number;
}

const mayBeIn = ({ landed }: Request, index: number): boolean =>
  landed !== undefined && landed.first <= index && index <= landed.last;

interface Report {
  readonly used: number;
  readonly includes: readonly Request[];
}

/**
 * What `used` must say: answered ones where they may have landed, unanswered ones from their first window on; beside the
 * service's number those that neither told it nor are in it.
 */
const addUp = (requests: readonly Request[], reports: readonly Report[], index: number): number => {
  let known = 0;
  let open = 0;
  let besides = 0;
  for (const request of requests) {
    const { began, weight, landed, told } = request;
    if (landed === undefined) open += began <= index ? weight : 0;
    if (!mayBeIn(request, index)) continue;
    known += weight;
    if (!told && !reports.some(({ includes }) => includes.includes(request))) besides += weight;
  }
  return Math.max(known, Math.max(0, ...reports.map(({ used }) => used)) + besides) + open;
};

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("begin" as const),
      back: fc.nat(6),
      weight: fc.integer({ min: 1, max: 15 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("end" as const),
      pick: fc.nat(100),
      late: fc.nat(3),
      wide: fc.nat(5),
      told: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("tick" as const), by: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("report" as const), used: fc.nat(200), pick: fc.nat(100) }) },
);

describe("Window usage:", () => {
  it("says for every window still to come what a list of all requests says", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const counter = new WindowUsage();
        const requests: Request[] = [];
        const reports = new Map<number, Report[]>();
        // The earliest window a call can reach now; it only rises.
        let front = 100;
        for (const one of steps) {
          const open = requests.filter(({ landed }) => landed === undefined);
          if (one.kind === "begin") {
            // The bounds of the clock may have been wide when a call left.
            const began = requests.length === 0 ? front - one.back : front;
            const before = requests.filter((other) => !other.told && mayBeIn(other, began));
            const { unheard } = counter.begin(began, one.weight);
            requests.push({ began, weight: one.weight, landed: undefined, told: false, before, unheardThen: unheard });
          } else if (one.kind === "end" && open.length > 0) {
            const request = open[one.pick % open.length] as Request;
            const first = Math.max(request.began, front - one.late);
            const last = Math.max(first, front + one.wide - 2);
            request.landed = { first, last };
            // What may be of two windows tells neither.
            request.told = one.told && first === last;
            counter.end(request.began, first, last, request.weight, request.told);
          } else if (one.kind === "tick") {
            front += one.by;
          } else if (one.kind === "report") {
            const speaker = requests[one.pick % Math.max(1, requests.length)];
            const [includes, unheard] = speaker?.began === front ? [speaker.before, speaker.unheardThen] : [[], 0];
            reports.set(front, [...(reports.get(front) ?? []), { used: one.used, includes }]);
            counter.report(front, one.used, unheard);
          }
          for (let index = front; index < front + 5; index++)
            expect(counter.used(index)).toBe(addUp(requests, reports.get(index) ?? [], index));
          expect(counter.open).toBe(
            requests.filter(({ landed }) => landed === undefined).reduce((sum, { weight }) => sum + weight, 0),
          );
        }
      }),
      { seed: 1, numRuns: 400 },
    );
  });

  describe("of an address that others use, what is not ours and was not there when the window", () => {
    const leap = 300;
    /** One request of ours is told `used`, in a window `young` or not. */
    const told = (counter: WindowUsage, used: number, young: boolean, index = 1): number => {
      counter.begin(index, 1);
      counter.end(index, index, index, 1, true);
      counter.learnShortfall(index, used, young, leap);
      return counter.report(index, used);
    };

    it("was young is missing, and what goes later is others' use", () => {
      const counter = new WindowUsage();
      expect([told(counter, 801, true), counter.missing]).toEqual([0, 800]);
      expect([told(counter, 807, true), counter.missing, counter.foreign(1)]).toEqual([5, 800, 5]);
      // The next window begins with what was missing of the last one.
      expect(counter.used(2)).toBe(800);
      expect([told(counter, 803, false, 2), counter.missing]).toEqual([2, 800]);
    });

    it("was older is others' use", () => {
      const counter = new WindowUsage();
      expect([told(counter, 801, false), counter.missing]).toEqual([800, 0]);
    });

    it("is missing when it goes at once, and no longer when it is back", () => {
      const counter = new WindowUsage();
      told(counter, 1, true);
      expect([told(counter, 302, false), counter.missing]).toEqual([300, 0]);
      expect([told(counter, 604, false), counter.missing]).toEqual([0, 301]);
      expect([told(counter, 1, false, 2), counter.missing]).toEqual([0, 0]);
    });
  });

  it("carries what is unanswered for many windows, and charges it until it is answered", () => {
    const counter = new WindowUsage();
    counter.begin(1, 15);
    for (let index = 2; index < 30; index++) {
      counter.begin(index, 1);
      counter.end(index, index, index, 1);
      expect(counter.used(index)).toBe(16);
    }
    counter.end(1, 1, 1, 15);
    expect([counter.used(29), counter.used(30), counter.open]).toEqual([1, 0, 0]);
  });

  it("a call that may land before every window kept is charged all the same", () => {
    const counter = new WindowUsage();
    // An answer that may be of any of nine windows, then calls whose earliest window is the first of them.
    counter.begin(3, 1);
    counter.end(3, 3, 11, 1);
    for (let i = 0; i < 5; i++) counter.begin(4, 2);
    expect([counter.used(4), counter.used(8), counter.used(11)]).toEqual([11, 11, 11]);
    for (let i = 0; i < 5; i++) counter.end(4, 9, 9, 2);
    expect([counter.used(8), counter.used(9), counter.open]).toEqual([1, 11, 0]);
  });

  it("a call that may land before even the most windows it keeps is carried, not lost", () => {
    const counter = new WindowUsage();
    counter.begin(3, 1);
    counter.end(3, 3, 210, 1);
    for (let i = 0; i < 5; i++) counter.begin(4, 2);
    expect([counter.used(150), counter.used(210), counter.used(211)]).toEqual([11, 11, 10]);
    for (let i = 0; i < 5; i++) counter.end(4, 205, 205, 2);
    expect([counter.used(150), counter.used(205), counter.open]).toEqual([1, 11, 0]);
  });

  it("charges an ambiguous answer in each window it may have landed in", () => {
    const counter = new WindowUsage();
    counter.begin(5, 10);
    counter.end(5, 5, 6, 10);
    expect([counter.used(5), counter.used(6), counter.used(7)]).toEqual([10, 10, 0]);
  });

  it("the service's number only raises", () => {
    const counter = new WindowUsage();
    counter.begin(5, 10);
    counter.end(5, 5, 5, 10, true);
    counter.report(5, 4);
    expect(counter.used(5)).toBe(10);
    counter.report(5, 90);
    counter.report(5, 40);
    expect(counter.used(5)).toBe(90);
  });

  it("use beyond all of ours, in flight included, is others', and is told once", () => {
    const counter = new WindowUsage();
    counter.begin(5, 10);
    counter.end(5, 5, 5, 10);
    counter.begin(5, 20);
    expect([counter.report(5, 30), counter.report(5, 50), counter.report(5, 50), counter.report(5, 60)]).toEqual([
      0, 20, 0, 10,
    ]);
    expect(counter.foreign(5)).toBe(30);
  });

  it("only what the service reported is known beyond doubt", () => {
    const counter = new WindowUsage();
    counter.begin(5, 10);
    counter.end(5, 5, 5, 10);
    expect(counter.begin(5, 10).reported).toBe(0);
    counter.report(5, 7);
    expect(counter.begin(5, 10).reported).toBe(7);
  });

  it("a call counts nowhere before the window it was begun in, and nowhere at all once it is undone", () => {
    const counter = new WindowUsage();
    counter.begin(5, 10);
    counter.begin(7, 3);
    const used = (): readonly number[] => [4, 5, 6, 7, 8].map((index) => counter.used(index));
    expect(used()).toEqual([0, 10, 10, 13, 13]);
    counter.undo(7, 3);
    expect(used()).toEqual([0, 10, 10, 10, 10]);
    counter.undo(5, 10);
    expect([used(), counter.open]).toEqual([[0, 0, 0, 0, 0], 0]);
  });

  it("names the newest window anything is known of", () => {
    const counter = new WindowUsage();
    expect(counter.windows.last).toBe(Number.NEGATIVE_INFINITY);
    counter.begin(5, 1);
    counter.end(5, 6, 7, 1);
    expect(counter.windows.last).toBe(7);
    counter.begin(6, 1);
    expect(counter.windows.last).toBe(7);
  });

  it("an answer of a window before the one it was begun in is charged there as well", () => {
    const counter = new WindowUsage();
    counter.begin(5, 10);
    counter.end(5, 4, 5, 10);
    expect([3, 4, 5, 6].map((index) => counter.used(index))).toEqual([0, 10, 10, 0]);
  });

  it("keeps four windows when all goes well", () => {
    const counter = new WindowUsage();
    for (let index = 1; index <= 9; index++) {
      counter.begin(index, 1);
      counter.end(index, index, index, 1, true);
      counter.report(index, 100 + index);
    }
    expect([4, 5, 6, 7, 8, 9, 10].map((index) => counter.used(index))).toEqual([0, 0, 106, 107, 108, 109, 0]);
  });

  it("keeps the window before the one that calls leave in, however many are to come", () => {
    const counter = new WindowUsage();
    counter.begin(3, 1);
    counter.end(3, 3, 11, 1);
    counter.begin(4, 1);
    expect(counter.used(3)).toBe(1);
    counter.begin(5, 1);
    expect([counter.used(3), counter.used(4), counter.used(11)]).toEqual([0, 2, 3]);
  });

  it("keeps 128 windows at most, the newest", () => {
    const counter = new WindowUsage();
    counter.begin(3, 1);
    counter.report(3, 50);
    expect(counter.used(3)).toBe(51);
    counter.end(3, 3, 210, 1);
    expect([3, 82, 83, 210].map((index) => counter.used(index))).toEqual([0, 0, 1, 1]);
  });

  it("others' use of one window is not that of another, and what was once seen of it stays", () => {
    const counter = new WindowUsage();
    expect([counter.report(5, 30), counter.report(6, 4), counter.report(5, 20), counter.report(5, 31)]).toEqual([
      30, 4, 0, 1,
    ]);
    expect([4, 5, 6, 7].map((index) => counter.foreign(index))).toEqual([0, 31, 4, 0]);
  });

  it("a reset keeps what is in flight and counts it in every window to come", () => {
    const counter = new WindowUsage();
    counter.begin(5, 10);
    counter.begin(5, 3);
    counter.end(5, 5, 5, 3);
    counter.reset();
    expect([counter.used(2), counter.used(99), counter.open]).toEqual([10, 10, 10]);
    counter.end(5, 7, 7, 10);
    expect([counter.used(7), counter.used(8), counter.open]).toEqual([10, 0, 0]);
  });
});

describe("Where only ours count, an unanswered request", () => {
  /** Three leave in window 1, of which two are answered; the service counts so many. */
  const oneUnanswered = (counted: number): WindowUsage => {
    const usage = new WindowUsage(true);
    for (let sent = 0; sent < 3; sent++) usage.begin(1, 1);
    for (const told of [1, counted]) {
      usage.end(1, 1, 1, 1, true);
      usage.report(1, told);
    }
    return usage;
  };

  it("that the window's own count includes counts in no later one", () => {
    const usage = oneUnanswered(3);
    expect([usage.used(2), usage.unlanded, usage.landedBy(1)]).toEqual([0, 0, 1]);
  });

  it("that it does not include counts in every later one", () => {
    const usage = oneUnanswered(2);
    expect([usage.used(2), usage.unlanded, usage.landedBy(1)]).toEqual([1, 1, Number.POSITIVE_INFINITY]);
  });

  it("proves nothing where others count as well", () => {
    const usage = new WindowUsage();
    usage.begin(1, 2);
    usage.end(1, 1, 1, 1, true);
    usage.report(1, 2);
    expect([usage.used(2), usage.unlanded]).toEqual([1, 1]);
  });

  it("that is given up is charged where it landed, however late that is", () => {
    const usage = oneUnanswered(3);
    usage.lose(1, 11, 1);
    expect([usage.used(1), usage.used(2), usage.used(11)]).toEqual([3, 0, 0]);
  });

  it("that is given up is charged to every window, where nothing tells of it", () => {
    const usage = oneUnanswered(2);
    usage.lose(1, 11, 1);
    expect([usage.used(1), usage.used(2), usage.used(11)]).toEqual([3, 1, 1]);
  });

  it("leaves the proof of another's landing alone when it is given up", () => {
    const usage = new WindowUsage(true);
    usage.begin(1, 1);
    usage.begin(2, 2);
    usage.end(2, 2, 2, 1, true);
    usage.report(2, 2);
    expect(usage.used(3)).toBe(1);
    usage.lose(1, 11, 1);
    expect([usage.used(3), usage.used(11)]).toEqual([1, 1]);
    usage.lose(2, 12, 1);
    expect(usage.used(12)).toBe(0);
  });

  it("is not in a count that was told before it left", () => {
    const usage = new WindowUsage(true);
    usage.begin(1, 1);
    usage.end(1, 1, 1, 1, true);
    usage.report(1, 3);
    usage.begin(1, 1);
    expect([usage.used(2), usage.landedBy(1)]).toEqual([1, Number.POSITIVE_INFINITY]);
  });

  it("counts, and counts once when it was answered, whatever is told and in whatever order", () => {
    const call = fc.record({ told: fc.boolean(), rank: fc.nat() });
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 8 }), fc.nat(8), (calls, answered) => {
        const usage = new WindowUsage(true);
        for (const _ of calls) usage.begin(1, 1);
        const inOrder = calls
          .map(({ told, rank }, index) => ({ told, rank, count: index + 1 }))
          .sort((a, b) => a.rank - b.rank);
        for (const { told, count } of inOrder.slice(0, answered)) {
          usage.end(1, 1, 1, 1, told);
          if (!told) continue;
          usage.learnMissing(1, count);
          usage.report(1, count);
        }
        return usage.used(1) >= calls.length && (answered < calls.length || usage.used(1) === calls.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it("and one that nothing was told with may be beside a count that is not all ours", () => {
    const usage = new WindowUsage(true);
    usage.begin(1, 2);
    usage.end(1, 1, 1, 1, true);
    usage.end(1, 1, 1, 1, false);
    usage.learnMissing(1, 3);
    usage.report(1, 3);
    expect([usage.missing, usage.used(1)]).toEqual([1, 4]);
  });

  it("does not hide that the limit is lower", () => {
    const usage = oneUnanswered(3);
    for (let sent = 0; sent < 2; sent++) usage.begin(2, 1);
    usage.end(2, 2, 2, 1, true);
    // One of ten is not there: two of ours and that.
    usage.learnMissing(2, 3);
    expect(usage.missing).toBe(1);
  });

  it("is never counted in too few windows, whatever lands late and is answered at last", () => {
    const step = fc.record({ late: fc.nat(3), answered: fc.boolean(), lost: fc.boolean() });
    fc.assert(
      fc.property(fc.array(fc.array(step, { maxLength: 4 }), { minLength: 2, maxLength: 8 }), (windows) => {
        const usage = new WindowUsage(true);
        // What is never answered lands at once or not at all.
        const calls = windows.flatMap((steps, began) =>
          steps.map(({ late, answered, lost }) => ({
            began,
            lands: answered ? began + late : lost ? Number.POSITIVE_INFINITY : began,
            answered,
          })),
        );
        for (let now = 0; now < windows.length; now++) {
          for (const { began } of calls) if (began === now) usage.begin(now, 1);
          const landing = calls.filter(({ lands }) => lands === now);
          for (const [before, { began, answered }] of landing.entries()) {
            if (!answered) continue;
            usage.end(began, now, now, 1, true);
            usage.report(now, before + 1);
          }
          const mayLand = calls.filter(({ began, lands }) => began <= now && lands > now).length;
          if (usage.used(now) < landing.length + mayLand) return false;
          if (usage.used(now + 1) < mayLand) return false;
        }
        return true;
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("Use of several windows", () => {
  it("is that of the fullest of them", () => {
    const what = fc.record({
      kind: fc.constantFrom("begin", "end", "lose", "undo", "report", "missing"),
      passed: fc.integer({ min: 0, max: 2 }),
      late: fc.integer({ min: 0, max: 6 }),
      told: fc.boolean(),
      used: fc.integer({ min: 0, max: 12 }),
    });
    fc.assert(
      fc.property(fc.boolean(), fc.array(what, { maxLength: 80 }), (isOurs, story) => {
        const usage = new WindowUsage(isOurs);
        const open: number[] = [];
        let now = 10;
        for (const { kind, passed, late, told, used } of story) {
          now += passed;
          if (kind === "begin") {
            usage.begin(now, 1);
            open.push(now);
          } else if (kind === "report") usage.report(now, used);
          else if (kind === "missing") usage.learnMissing(now, used);
          else {
            const began = open.shift();
            if (began === undefined) continue;
            if (kind === "end") usage.end(began, Math.max(began, now - late), now, 1, told);
            else if (kind === "lose") usage.lose(began, now, 1);
            else usage.undo(began, 1);
          }
          for (let first = now - 7; first <= now + 3; first++) {
            let most = usage.used(first);
            for (let last = first + 1; last <= first + 4; last++) {
              most = Math.max(most, usage.used(last));
              expect(usage.used(first, last), `${first} to ${last}`).toBe(most);
            }
          }
        }
      }),
      { seed: 1, numRuns: 300 },
    );
  });
});
