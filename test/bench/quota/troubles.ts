/**
 * Troubles off the beaten track, one a scenario: services that count or stamp otherwise, limits that move, long and lossy ways,
 * clocks that drift, several users and engines at one address.
 *
 * Invariants: each is A or B of the comparison with one thing changed; a name that ends in `-key` is B.
 */
import type { Scenario } from "./scenarios.ts";
import { both, key, weight } from "./variants.ts";

const minuteMs = 60_000;
const addressBound: Partial<Scenario> = { binding: "ip", users: 3, urgentPerMinute: 6 };
const stretch = (from: number, to: number): Partial<Scenario> => ({ legMs: { kind: "uniform", from, to } });

export const troubles: Readonly<Record<string, Scenario>> = {
  anchor: weight("minutes that begin at second 37", { faults: { minuteFromMs: 37_000 } }),
  ...both("anchor-odd", "minutes that begin at 37.42 s and seconds at .42", {
    faults: { minuteFromMs: 37_420, secondFromMs: 420 },
  }),
  ...both("date-up", "Date rounded up", { faults: { date: { kind: "rounded-up" } } }),
  ...both("date-late", "Date late by a second", { faults: { date: { kind: "off", ms: -1_000 } } }),
  ...both("date-edges", "Date stamped by two edges, 400 ms early and late", {
    faults: { date: { kind: "edges", ms: 400 } },
  }),
  ...both("date-steps", "Date steps by 3 s every ten minutes", { faults: { date: { kind: "steps", ms: 3_000 } } }),
  ...both("date-first", "a first answer without Date", { faults: { date: { kind: "missing-first" } } }),
  ...both("date-some", "one answer in twenty without Date", { faults: { date: { kind: "missing", share: 0.05 } } }),
  ...both("dateless", "no Date at all", { faults: { date: { kind: "missing", share: 1 } } }),
  ...both("behind", "counts that are those of the answer before", { faults: { counts: { kind: "behind" } } }),
  ...both("bare", "a third of the answers without counts", { faults: { counts: { kind: "missing", share: 0.33 } } }),
  ...both("sliding", "windows without a beginning, as declared", { faults: { sliding: true } }),
  users: key("three users in one engine", addressBound),
  "address-cut": key("three users, and the address cut to 400 after five minutes", {
    ...addressBound,
    faults: { changes: [{ atMs: 5 * minuteMs, layer: "ip", max: 400 }] },
  }),
  "address-engines": key("three engines, each with a user of its own", {
    binding: "ip",
    engines: 3,
    userEach: true,
    urgentPerMinute: 2,
  }),
  "address-neighbour": key("three users, and 300 requests a minute by another program at the address", {
    ...addressBound,
    neighbourPerMinute: 300,
  }),
  "key-cut": key("the key cut to 5 after five minutes", {
    faults: { changes: [{ atMs: 5.3 * minuteMs, layer: "key", max: 5 }] },
  }),
  "key-small": key("the key at 5 from the first answer on", {
    faults: { changes: [{ atMs: 0, layer: "key", max: 5 }] },
  }),
  "key-back": key("the key cut to 5 and raised again after five minutes", {
    faults: {
      changes: [
        { atMs: 5.3 * minuteMs, layer: "key", max: 5 },
        { atMs: 10.3 * minuteMs, layer: "key", max: 10 },
      ],
    },
  }),
  "user-cut": weight("the user cut to 600 after five minutes", {
    faults: { changes: [{ atMs: 5.3 * minuteMs, layer: "uid", max: 600 }] },
  }),
  "user-back": weight("the user cut to 600, and raised again after ten minutes", {
    faults: {
      changes: [
        { atMs: 5.3 * minuteMs, layer: "uid", max: 600 },
        { atMs: 15.3 * minuteMs, layer: "uid", max: 1200 },
      ],
    },
  }),
  "path-200": key("a way there and back of 200 ms", stretch(95, 105)),
  "path-400": key("a way there and back of 400 ms", stretch(195, 205)),
  "path-long": weight("ways of 0.6 s, give or take half", stretch(150, 450)),
  ...both("lost", "2 % of the answers lost", { faults: { lostShare: 0.02 } }),
  ...both("pareto", "latency after Pareto, at least 10 ms, shape 1.2", {
    legMs: { kind: "pareto", least: 10, shape: 1.2 },
  }),
  ...both("copies", "one request in a hundred arrives twice", { faults: { copiedShare: 0.01 } }),
  ...both("drift", "a clock fast by 500 ppm", { driftPpm: 500 }),
  ...both("drift-slow", "a clock slow by 500 ppm", { driftPpm: -500 }),
  ...both("slew", "a clock slewed by 500 ppm, forth and back", { slewPpm: 500 }),
  beside: weight("an engine on the same user that places ten orders every 20 s", {
    beside: { mix: [{ share: 1, kind: "place", weight: 10 }], load: { kind: "bursts", size: 10, everyMs: 20_000 } },
  }),
  storms: weight("twenty cancels at once every two minutes", { urgentPerMinute: 0.5, urgentAtOnce: 20 }),
};
