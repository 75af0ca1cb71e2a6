/**
 * Services, ways and loads far off the description, one a scenario: each is one that a client may meet and that a limiter may misread.
 *
 * Not here: services of real kinds that were found later (unlisted.ts).
 */
import type { Scenario, Share } from "./scenarios.ts";
import { type LimitChange, onAllLayers } from "./service-faults.ts";
import { both, key, light, weight } from "./variants.ts";

const minuteMs = 60_000;
const movesMost = 24;

/** A limit that takes the next of `values` every `everyMs`, from the start on as stated. */
const moves = (layer: LimitChange["layer"], everyMs: number, values: readonly number[]): readonly LimitChange[] =>
  Array.from({ length: movesMost }, (_, index) => ({
    atMs: (index + 1) * everyMs,
    layer,
    max: values[index % values.length] as number,
  }));

const read: Share = { share: 1, kind: "query", weight: 1 };
const place: Share = { share: 1, kind: "place", weight: 10 };

export const exotic: Readonly<Record<string, Scenario>> = {
  "uneven-key": key("5 ms there and 400 ms back", { legMs: { kind: "uneven", there: 5, back: 400 } }),
  "uneven-there-key": key("400 ms there and 5 ms back", { legMs: { kind: "uneven", there: 400, back: 5 } }),
  "drift-light": light("a clock fast by 500 ppm, and an urgent call a minute", { driftPpm: 500, urgentPerMinute: 1 }),
  "drift-slow-light": light("a clock slow by 500 ppm, and an urgent call a minute", {
    driftPpm: -500,
    urgentPerMinute: 1,
  }),
  ...both("counts-before", "counts from before the call they come with", {
    faults: { counts: { kind: "before-call" } },
  }),
  "stranger-bursts": weight("another client that spends 600 at once every six minutes", {
    strangerBurst: { weight: 600, everyMs: 6 * minuteMs },
  }),
  "storms-large": weight("100 cancels at once every five minutes", { urgentPerMinute: 0.2, urgentAtOnce: 100 }),
  ...both("strays", "one call in a thousand refused by a machine in front", { faults: { strayShare: 0.001 } }),
  "keys-apart": weight("48 waiting reads on one key and 2 on another", {
    mix: [
      { ...read, share: 0.96, key: "first" },
      { ...read, share: 0.04, key: "second" },
    ],
  }),
  "reads-beside": weight("150 waiting reads on one key, and 3 placements on another every 6 s", {
    mix: [{ ...read, key: "reads" }],
    load: { kind: "saturated", outstanding: 150 },
    bursts: { mix: [{ ...place, key: "trades" }], size: 3, everyMs: 6_000 },
  }),
  "storm-open": weight("1,000 orders at rest and 50 batch cancels at once every ten minutes", {
    openOrders: 1_000,
    storm: { size: 50, atMs: 2.4 * minuteMs, everyMs: 10 * minuteMs },
  }),
  "limits-move": weight("the user's limit moved every nine minutes", {
    faults: { changes: moves("uid", 9 * minuteMs, [800, 1200, 500, 900, 1200]) },
  }),
  "limits-move-key": key("the key's limit moved every seven minutes", {
    faults: { changes: moves("key", 7 * minuteMs, [6, 10, 3, 8, 10]) },
  }),
  "limits-declared": weight("the user's limit moved every nine minutes, as announced", {
    faults: { changes: moves("uid", 9 * minuteMs, [800, 1200, 500, 900, 1200]), announced: true },
  }),
  "limits-declared-key": key("the key's limit moved every seven minutes, as announced", {
    faults: { changes: moves("key", 7 * minuteMs, [6, 10, 3, 8, 10]), announced: true },
  }),
  "limits-above": weight("limits above what is stated: 2000 a minute, 20 a second", {
    faults: {
      changes: [
        { atMs: 0, layer: "uid", max: 2_000 },
        { atMs: 0, layer: "key", max: 20 },
      ],
    },
  }),
  "slides-key": key("a key whose second slides, though it is stated to be fixed", {
    faults: { counting: { key: { kind: "sliding" } } },
  }),
  "slides-user": weight("a user's minute that slides, though it is stated to be fixed", {
    faults: { counting: { uid: { kind: "sliding" } } },
  }),
  ...both("cached", "counts that are read once in 1 to 3 s", { faults: { counts: { kind: "cached" } } }),
  ...both("rare-counts", "counts on one answer in ten", { faults: { counts: { kind: "missing", share: 0.9 } } }),
  "rare-counts-stranger": weight("counts on one answer in ten, and a stranger, 24 calls of 10 a minute", {
    strangerPerMinute: 24,
    faults: { counts: { kind: "missing", share: 0.9 } },
  }),
  "another-key": key("another key's count on one answer in five", {
    faults: { counts: { kind: "another", share: 0.2, layer: "key" } },
  }),
  "another-user": weight("another user's count on one answer in ten", {
    faults: { counts: { kind: "another", share: 0.1, layer: "uid" } },
  }),
  ...both("garbage", "any counts on one answer in a hundred", { faults: { counts: { kind: "garbage", share: 0.01 } } }),
  ...both("late-answers", "one answer in a hundred 20 s late", { legMs: { kind: "late-answers" } }),
  ...both("nodes", "three nodes that count by themselves, each to the whole limit", { faults: { nodes: 3 } }),
  "late-minutes": weight("minutes that are emptied up to 800 ms late", {
    faults: { counting: { uid: { kind: "late", mostMs: 800 } } },
  }),
  "later-minutes": weight("minutes that are emptied up to 6 s late", {
    faults: { counting: { uid: { kind: "late", mostMs: 6_000 } } },
  }),
  "leaky-key": key("a key that is a bucket of ten, ten a second", {
    faults: { counting: { key: { kind: "bucket", holds: 10 } } },
  }),
  ...both("swell", "ways that grow by 800 ms and shrink again in 20 minutes", { legMs: { kind: "swell" } }),
  "ticks-key": key("a gateway that hands requests on every 250 ms", { legMs: { kind: "ticks", everyMs: 250 } }),
  ...both("slow-windows", "windows longer by half a hundredth", {
    faults: { counting: onAllLayers({ kind: "stretched", times: 1.005 }) },
  }),
  "weighs-any": weight("placements that weigh 5 to 30, though 10 is stated", {
    faults: { weighs: { stated: 10, as: [5, 10, 20, 30] } },
  }),
  "weighs-more": weight("placements that weigh 30, though 10 is stated", {
    faults: { weighs: { stated: 10, as: [30] } },
  }),
  "five-engines": weight("five engines on one user, unaware of each other", { engines: 5 }),
  "light-beside": weight("four engines on the same user, and one that places ten orders every 20 s", {
    engines: 4,
    beside: { mix: [place], load: { kind: "bursts", size: 10, everyMs: 20_000 } },
  }),
};
