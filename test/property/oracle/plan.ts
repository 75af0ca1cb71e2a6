/**
 * Which lives are tried, and what must not happen in any of them.
 *
 * Invariants: a plan holds everything a life depends on, so a printed plan is a reproduction.
 */
import fc from "fast-check";
import { networkKinds } from "./network.ts";
import { type Alter, type Plan, play } from "./world.ts";

export const planOf = (given: Partial<Plan> = {}): fc.Arbitrary<Plan> =>
  fc.record({
    seed: fc.nat(1_000_000),
    minutes: fc.constant(2),
    skewMs: fc.integer({ min: -120_000, max: 120_000 }),
    driftPpm: fc.integer({ min: -150, max: 150 }),
    dateOffMs: fc.integer({ min: -130, max: 130 }),
    network: fc.constantFrom(...networkKinds),
    users: fc.constantFrom(1, 1, 1, 3),
    keysPerUser: fc.constantFrom(1, 1, 2, 3),
    mix: fc.constantFrom("trading" as const, "trading" as const, "light" as const),
    outstanding: fc.integer({ min: 0, max: 15 }),
    lostShare: fc.constantFrom(0, 0, 0.05),
    spentBefore: fc.constantFrom(0, 0, 600, 1_150),
    strangerPerMinute: fc.constantFrom(0, 0, 0, 24),
    phaseMs: fc.integer({ min: 0, max: 59_999 }),
    sleeps: fc.constant<Plan["sleeps"]>([]),
    ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, fc.constant(value)])),
  }) as fc.Arbitrary<Plan>;

/** A blocked minute is knocked at once by a call in doubt and once by the probe; more is a storm. */
const knocksMax = 3;

export const faultsOf = (plan: Plan, alter: Alter): readonly string[] => {
  const { refusals, waiting } = play(plan, alter);
  const faults = refusals
    .filter(({ ours }) => ours)
    .map(({ by, at }) => `our own calls overran ${by} at ${Math.round(at % 60_000)} ms of a minute`);
  const knocks = refusals.filter(({ warned }) => warned).length;
  if (knocks > knocksMax * plan.users) faults.push(`${knocks} calls went into a minute known to be blocked`);
  if (waiting > 0) faults.push(`${waiting} actions never left`);
  return faults;
};

/** The part of lone exits that waited longer than `ms`, over `runs` lives. */
export const slowExits = (plans: readonly Plan[], alter: Alter, ms: number): number => {
  const waits = plans.flatMap((plan) => play(plan, alter).exitWaitsMs);
  return waits.filter((wait) => wait > ms).length / waits.length;
};
