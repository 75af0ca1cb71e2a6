/**
 * Kinds of services, gateways and exchanges that the limiter was not made for, one a scenario.
 *
 * Invariants: in `asStated` the service never refuses a client that spends the stated limits evenly, and nobody else
 * spends them; `otherwise` holds all others, of which only a sanity bound is asked. A row stays as it is when the limiter
 * misses its figures.
 * Not here: the required figures (targets.ts), the rows that miss them (README.md).
 */
import type { Scenario } from "./scenarios.ts";
import { onAllLayers } from "./service-faults.ts";
import { both, key, light, weight } from "./variants.ts";

const secondMs = 1_000;
const minuteMs = 60_000;

const clockSteps = "a service whose clock is set forth by 2 s and back, each after ten minutes";

/** Every count is as stated or more generous, if windows may begin anywhere and be one part in twenty longer. */
export const asStated: Readonly<Record<string, Scenario>> = {
  first: weight("a user's minute that begins with the first call after the last one ended", {
    faults: { counting: { uid: { kind: "first-call" } } },
  }),
  "first-key": key("a key's second that begins with the first call after the last one ended", {
    faults: { counting: { key: { kind: "first-call" } } },
  }),
  "first-light": light("a user's minute that begins with the first call after the last one ended", {
    faults: { counting: { uid: { kind: "first-call" } } },
  }),
  weighed: weight("a user's count that holds the minute before by the share that still overlaps", {
    faults: { counting: { uid: { kind: "weighed" } } },
  }),
  "weighed-key": key("a key's count that holds the second before by the share that still overlaps", {
    faults: { counting: { key: { kind: "weighed" } } },
  }),
  leaky: weight("a user that is a bucket of 1200, 20 a second", {
    faults: { counting: { uid: { kind: "bucket", holds: 1_200 } } },
  }),
  "large-bucket-key": key("a key that is a bucket of 20, ten a second", {
    faults: { counting: { key: { kind: "bucket", holds: 20 } } },
  }),
  "slides-all": weight("three layers that slide, though they are stated to be fixed", {
    faults: { counting: onAllLayers({ kind: "sliding" }) },
  }),
  "slides-refused-key": key("a key whose second slides and holds refused calls, too", {
    faults: { counting: { key: { kind: "sliding" } }, countsRefused: true },
  }),
  "long-seconds-key": key("seconds of a key longer by three hundredths", {
    faults: { counting: { key: { kind: "stretched", times: 1.03 } } },
  }),
  ...both("short", "windows shorter by half a hundredth", {
    faults: { counting: onAllLayers({ kind: "stretched", times: 0.995 }) },
  }),
  "late-in-turn": weight("every other minute emptied 3 s late", {
    faults: { counting: { uid: { kind: "late-in-turn", ms: 3 * secondMs } } },
  }),
  ...both("forgetful", "counts that are lost once in two minutes", {
    faults: {
      counting: {
        key: { kind: "forgetful", everyMs: 2 * minuteMs },
        uid: { kind: "forgetful", everyMs: 2 * minuteMs },
      },
    },
  }),
  ...both("mute", "no counts for 3 minutes of every ten", {
    faults: { counts: { kind: "mute", everyMs: 10 * minuteMs, forMs: 3 * minuteMs } },
  }),
  ...both("stuck", "counts that stay what they are for up to 8 s, once a minute", {
    faults: { counts: { kind: "stuck", everyMs: minuteMs, mostMs: 8 * secondMs } },
  }),
  ...both("replicas", "counts from one of two replicas that lag by up to a second", {
    faults: { counts: { kind: "replicas" } },
  }),
  ...both("rounded", "counts rounded to tens", { faults: { counts: { kind: "rounded", to: 10 } } }),
  "dateless-slow": weight("no Date, and windows longer by half a hundredth", {
    faults: {
      date: { kind: "missing", share: 1 },
      counting: onAllLayers({ kind: "stretched", times: 1.005 }),
    },
  }),
  "half-minute": weight("minutes that begin at second 30", { faults: { minuteFromMs: 30 * secondMs } }),
  "clock-steps": weight(clockSteps, { faults: { clockStepMs: 2 * secondMs } }),
};

/** Limits below what is stated, other users of them, and refusals for other reasons. */
export const otherwise: Readonly<Record<string, Scenario>> = {
  // A second in which the clock is set back lasts three.
  "clock-steps-key": key(clockSteps, { faults: { clockStepMs: 2 * secondMs } }),
  "small-bucket-key": key("a key that is a bucket of five, ten a second", {
    faults: { counting: { key: { kind: "bucket", holds: 5 } } },
  }),
  ...both("tight", "limits enforced a twentieth below what answers state", { faults: { enforcedShare: 0.95 } }),
  "weighs-positions": weight("position queries that weigh 20, though 5 is stated", {
    faults: { weighs: { stated: 5, as: [20] } },
  }),
  "orders-unstated": weight("at most 50 placements in ten seconds, which is not stated", {
    faults: { unstated: { weight: 10, most: 50, windowMs: 10 * secondMs } },
  }),
  "retry-zero": weight("one call in a thousand refused, with Retry-After: 0", {
    faults: { strayShare: 0.001, retryAfter: { kind: "seconds", seconds: 0 } },
  }),
  "retry-far": weight("one call in 5,000 refused, with Retry-After: 3600", {
    faults: { strayShare: 0.0002, retryAfter: { kind: "seconds", seconds: 3_600 } },
  }),
  "retry-date-key": key("one call in a thousand refused, with a Retry-After that is a date two seconds later", {
    faults: { strayShare: 0.001, retryAfter: { kind: "date", seconds: 2 } },
  }),
  ...both("strays-counted", "one call in a thousand refused after it was counted", {
    faults: { strayShare: 0.001, strayCounted: true },
  }),
  outages: weight("503 for 5 s of every five minutes", {
    faults: { outages: { everyMs: 5 * minuteMs, forMs: 5 * secondMs, retryAfter: { kind: "nothing" } } },
  }),
  maintenance: weight("503 with a right Retry-After for 2 minutes of every 25", {
    faults: {
      outages: { everyMs: 25 * minuteMs, forMs: 2 * minuteMs, retryAfter: { kind: "seconds", seconds: 120 } },
    },
  }),
  "neighbour-bursts": key("three users, and another program at the address that sends 600 at once every four minutes", {
    binding: "ip",
    users: 3,
    urgentPerMinute: 6,
    neighbourBurst: { requests: 600, everyMs: 4 * minuteMs },
  }),
};

export const unlisted: Readonly<Record<string, Scenario>> = { ...asStated, ...otherwise };
