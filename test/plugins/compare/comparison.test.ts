import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareRuns } from "../../../plugins/compare/comparison.ts";
import { comparisonText } from "../../../plugins/compare/comparison-text.ts";
import type { RunFacts } from "../../../plugins/compare/run-record.ts";
import { eventsOf, type OrderStory, runOf } from "./harness/run-events.ts";

/** Two orders that are filled, one that is taken back, one that rests. */
const plain: readonly OrderStory[] = [
  { at: 1_000, filledAt: 5_000 },
  { at: 10_000, filledAt: 15_000, px: "101" },
  { at: 20_000, cancelAt: 30_000, px: "102" },
  { at: 40_000, px: "103" },
  { at: 2_000, slot: "ask", side: "sell", px: "110", cancelAt: 50_000 },
];

const but = (index: number, change: Partial<OrderStory>): readonly OrderStory[] =>
  plain.map((story, place) => (place === index ? { ...story, ...change } : story));
const without = (index: number): readonly OrderStory[] => plain.filter((_, place) => place !== index);
const open = (index: number, more: Partial<OrderStory> = {}): readonly OrderStory[] =>
  plain.map((story, place) => {
    const { filledAt: _, ...rest } = story;
    return place === index ? { ...rest, ...more } : story;
  });

interface Case {
  readonly a?: readonly OrderStory[];
  readonly b: readonly OrderStory[];
  readonly facts?: readonly [RunFacts, RunFacts];
  readonly first: readonly [of: "decision" | "outcome" | "quota", kind: string, ms: number, slot: string];
  readonly cause: string;
  readonly says: RegExp;
}

const compared = ({ a = plain, b, facts }: Pick<Case, "a" | "b" | "facts">, withinMs = 1_000) =>
  compareRuns(
    runOf(eventsOf(a), facts === undefined ? {} : { facts: facts[0] }),
    runOf(eventsOf(b), facts === undefined ? {} : { facts: facts[1] }),
    { withinMs },
  );

const same: RunFacts = {
  seed: "1",
  market: "abc",
  limits: true,
  latency: "constant 20",
  service: "backtest",
  config: { strategies: { s: { x: 1 } } },
  assumptions: [],
};

describe("Two compared runs", () => {
  it.each<readonly [string, Case]>([
    [
      "the quota held a placement back",
      {
        b: but(1, { waits: 900 }),
        first: ["quota", "wait", 10_000, "bid"],
        cause: "quota",
        says: /waited 0 ms in A and 900 ms in B/,
      },
    ],
    [
      "a wanted order was replaced while the quota held it",
      {
        b: [...without(1), { at: 10_100, waits: 4_000, slot: "other" }],
        a: [...plain, { at: 10_100, slot: "other" }],
        first: ["decision", "placed-by-one", 10_000, "bid"],
        cause: "quota",
        says: /quota held actions back in B .*uid layer/,
      },
    ],
    [
      "a slower way missed the fill",
      {
        b: open(1, { cancelAt: 18_000 }).map((story) => ({ ...story, ackAfter: 90 })),
        first: ["outcome", "end", 15_000, "bid"],
        cause: "latency",
        says: /acknowledged after 20\.0 ms in A, 90\.0 ms in B/,
      },
    ],
    [
      "the service rejected it in one run",
      {
        b: open(0, { rejected: "51008 not enough" }),
        first: ["outcome", "end", 1_020, "bid"],
        cause: "refusal",
        says: /rejected the order in B only: 51008 not enough/,
      },
    ],
    [
      "the engine refused it in one run",
      {
        b: but(0, { refused: "below one lot" }),
        first: ["decision", "placed-by-one", 1_000, "bid"],
        cause: "refusal",
        says: /B refused the order before sending it: below one lot/,
      },
    ],
    [
      "another market",
      {
        b: but(1, { px: "101.5" }),
        facts: [same, { ...same, market: "def" }],
        first: ["decision", "content", 10_000, "bid"],
        cause: "market",
        says: /other market data: abc in A, def in B/,
      },
    ],
    [
      "another option",
      {
        b: but(1, { px: "101.5" }),
        facts: [same, { ...same, config: { strategies: { s: { x: 2 } } } }],
        first: ["decision", "content", 10_000, "bid"],
        cause: "config",
        says: /config strategies\.s\.x: 1 in A, 2 in B/,
      },
    ],
    [
      "another seed",
      {
        b: open(1, { ackAfter: 35, cancelAt: 18_000 }),
        facts: [same, { ...same, seed: "2" }],
        first: ["outcome", "end", 15_000, "bid"],
        cause: "seed",
        says: /seed: 1 in A, 2 in B\./,
      },
    ],
    [
      "another latency",
      {
        b: without(2),
        facts: [same, { ...same, latency: "constant 80" }],
        first: ["decision", "placed-by-one", 20_000, "bid"],
        cause: "latency",
        says: /latency: constant 20 in A, constant 80 in B/,
      },
    ],
    [
      "limits off in one run",
      {
        a: but(1, { waits: 900 }),
        b: plain,
        facts: [same, { ...same, limits: false }],
        first: ["quota", "wait", 10_000, "bid"],
        cause: "quota",
        says: /limits: kept in A, off in B/,
      },
    ],
    [
      "the model of fills, where all else is alike",
      {
        b: open(1, { cancelAt: 18_000 }),
        facts: [{ ...same, service: "live" }, same],
        first: ["outcome", "end", 15_000, "bid"],
        cause: "model",
        says: /service: live in A, backtest in B/,
      },
    ],
    [
      "nothing that tells why",
      {
        b: without(3),
        first: ["decision", "placed-by-one", 40_000, "bid"],
        cause: "unknown",
        says: /A journal does not record its market/,
      },
    ],
    [
      "a cancel of one run only",
      {
        b: but(4, { cancelAt: 60_000 }),
        first: ["decision", "canceled-later", 50_000, "ask"],
        cause: "unknown",
        says: /Nothing in the runs/,
      },
    ],
    [
      "other money for the same fill",
      {
        b: but(0, { fee: "-0.05" }),
        first: ["outcome", "fee", 5_000, "bid"],
        cause: "unknown",
        says: /Nothing in the runs/,
      },
    ],
    [
      "a better price",
      {
        b: but(0, { avgPx: "99" }),
        first: ["outcome", "fill", 5_000, "bid"],
        cause: "unknown",
        says: /other market data or another model of fills/,
      },
    ],
    [
      "a fill at another time",
      {
        b: but(0, { filledAt: 8_000 }),
        first: ["outcome", "fill-later", 5_000, "bid"],
        cause: "unknown",
        says: /Nothing/,
      },
    ],
  ])("differ by %s", (_, test) => {
    const result = compared(test);
    expect(result.equal).toBe(false);
    const [of, kind, ms, slot] = test.first;
    const first = { decision: result.firstDecision, outcome: result.firstOutcome, quota: result.firstQuota }[of];
    expect(first).toMatchObject({ of, kind, slot });
    expect(first?.ms).toBeCloseTo(ms, 6);
    expect(result.cause?.kind).toBe(test.cause);
    expect(result.cause?.words).toMatch(test.says);
    expect(result.cause?.evidence.length).toBeGreaterThan(0);
    expect(comparisonText(result)).toContain(`likely cause: ${test.cause}`);
  });

  it("are equal whatever their ids, their dates and offsets within the tolerance", () => {
    const later = plain.map((story) => ({ ...story, at: story.at + 300 }));
    expect(compared({ b: later }).equal).toBe(true);
    expect(compared({ b: later }, 200).equal).toBe(false);
    const b = runOf(eventsOf(plain, 100_000, 1_800_000_000_000));
    expect(compareRuns(runOf(eventsOf(plain)), b)).toMatchObject({
      equal: true,
      scale: "start",
      cause: undefined,
      pairs: 5,
    });
  });

  it("are compared on the calendar where they overlap, so that a late start is no shift", () => {
    const shifted = plain
      .filter(({ at }) => at > 1_500)
      .map((story) => ({
        ...story,
        at: story.at - 1_500,
        ...(story.filledAt && { filledAt: story.filledAt - 1_500 }),
        ...(story.cancelAt && { cancelAt: story.cancelAt - 1_500 }),
      }));
    const b = runOf(eventsOf(shifted, 98_500, 1_704_067_200_000 + 1_500));
    const result = compareRuns(runOf(eventsOf(plain)), b, { withinMs: 100 });
    expect(result).toMatchObject({
      scale: "calendar",
      differences: { decision: 1, outcome: 0, quota: 0 },
      firstDecision: { ms: 1_000, only: "A" },
    });
  });

  it("do not differ in what one of them was too short to show", () => {
    const b = runOf(eventsOf(plain.slice(0, 1), 9_000));
    const result = compareRuns(runOf(eventsOf(plain)), b);
    expect(result.differences).toEqual({ decision: 1, outcome: 0, quota: 0 });
    expect(result.firstDecision).toMatchObject({ slot: "ask", ms: 2_000 });
    const open = runOf(eventsOf([{ at: 1_000 }], 4_000));
    const filled = runOf(eventsOf([{ at: 1_000, filledAt: 5_000 }]));
    expect([compareRuns(filled, open).equal, compareRuns(open, filled).equal]).toEqual([true, true]);
  });

  it("name foreign words harmlessly", () => {
    const text = comparisonText(compared({ b: but(0, { refused: "odd \u001b[2J\nreason" }) }));
    expect(text).toContain("odd \\u001b[2J\\nreason");
  });

  it("are never told apart from themselves, and always from a run that lacks an order", () => {
    const story = fc.record({
      slot: fc.constantFrom("bid", "ask", "x"),
      at: fc.integer({ min: 0, max: 80_000 }),
      waits: fc.constantFrom(0, 0, 400),
      px: fc.constantFrom("100", "101"),
      filledAt: fc.option(fc.integer({ min: 81_000, max: 90_000 }), { nil: undefined }),
    });
    fc.assert(
      fc.property(fc.array(story, { minLength: 1, maxLength: 12 }), fc.nat(), (all, place) => {
        const stories = all.map(({ filledAt, ...rest }) => ({ ...rest, ...(filledAt !== undefined && { filledAt }) }));
        expect(compared({ a: stories, b: stories }).equal).toBe(true);
        const less = stories.filter((_, index) => index !== place % stories.length);
        expect(compared({ a: stories, b: less }).equal).toBe(false);
      }),
    );
  });
});
