/**
 * Groups of engines that divide one quota, beside the same engines unaware of each other: loads, shares, failures of their store, and
 * services that mislead them.
 *
 * Invariants: only ours runs in them; instants of failures are counted from the first engine's start.
 */
import { exotic } from "./exotic.ts";
import { type Scenario, weightBound } from "./scenarios.ts";

const minuteMs = 60_000;
const groupOf = (title: string, engines: number, change: Partial<Scenario> = {}): Scenario => ({
  ...weightBound,
  title: `${title}, saturated, with one quota`,
  engines,
  sharing: {},
  ...change,
});

/** The service of a scenario that misleads an engine, for a group of one and of three. */
const misled = (name: string, alone: string): Record<string, Scenario> => {
  const { faults, title } = exotic[alone] as Scenario;
  const what = title.replace("A and ", "");
  return {
    [`group-1-${name}`]: groupOf(`one engine and ${what}`, 1, { faults }),
    [`group-3-${name}`]: groupOf(`three engines and ${what}`, 3, { faults }),
  };
};

export const groups: Readonly<Record<string, Scenario>> = {
  "group-2": groupOf("two engines", 2),
  "group-4": groupOf("four engines", 4),
  "group-6": groupOf("six engines", 6),
  "group-light": groupOf("one engine beside three light ones", 1, {
    title: "one saturated engine beside three light ones with one quota",
    beside: { mix: weightBound.mix, load: { kind: "bursts", size: 3, everyMs: 20_000 }, many: 3 },
  }),
  "group-3to1": groupOf("two engines with shares of 3 to 1", 2, {
    sharing: { shareOf: (member) => (member === "engine-0" ? 3 : 1) },
  }),
  "group-address": groupOf("three users behind one address", 3, {
    userEach: true,
    binding: "ip",
    mix: [{ share: 1, kind: "instruments", weight: 1 }],
  }),
  "group-hang": groupOf("four engines whose store hangs for four minutes of twenty", 4, {
    sharing: { hangs: [[5.2 * minuteMs, 9.2 * minuteMs]] },
  }),
  "group-lost": groupOf("four engines whose store is away for 18 s and forgets everything", 4, {
    sharing: { away: [[5.2 * minuteMs, 5.5 * minuteMs]] },
  }),
  "group-asleep": groupOf("two engines on machines that sleep and whose calendars step", 2, {
    upsets: true,
    skewMsMax: 120_000,
  }),
  "group-astray": groupOf("three engines of which one misreads where minutes begin by 40 s", 3, {
    dateOffMsOf: { "engine-1": 40_000 },
  }),
  ...misled("later", "later-minutes"),
  ...misled("slides", "slides-user"),
  ...misled("another", "another-user"),
  ...misled("garbage", "garbage"),
};
