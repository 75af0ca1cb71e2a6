/**
 * Ways there and back that a friend would not choose.
 *
 * Invariants: legs are drawn from the seed alone; the edge seeker aims every arrival at an edge of a second or a minute.
 */
import type { Random } from "../../../src/random.ts";

export type NetworkKind = "near" | "usual" | "tails" | "wild" | "edges" | "windows";

export interface Legs {
  readonly thereMs: number;
  readonly backMs: number;
}

export const networkKinds: readonly NetworkKind[] = ["near", "usual", "tails", "wild", "edges", "windows"];

const usual = (random: Random): number => 5 + Math.min(55, random.exponential(12));

/** Milliseconds until the service's clock shows an edge, give or take one; the nearest of several edges, at random. */
const toEdge = (random: Random, serviceAt: number): number => {
  const step = random.next() < 0.5 ? 60_000 : 1_000;
  const left = step - (serviceAt % step);
  const aimed = left + (random.next() - 0.5) * 2;
  return aimed > 0 && aimed < 1_500 ? aimed : usual(random);
};

export const legsOf = (kind: NetworkKind, random: Random, serviceAt: number): Legs => {
  const chance = random.next();
  switch (kind) {
    case "near":
      return { thereMs: 2 * random.next() ** 4, backMs: 2 * random.next() ** 4 };
    case "usual":
      return { thereMs: usual(random), backMs: usual(random) };
    case "tails":
      return {
        thereMs: chance < 0.05 ? 200 + 1_800 * random.next() : usual(random),
        backMs: chance > 0.95 ? 3_000 * random.next() : usual(random),
      };
    case "wild":
      return { thereMs: 1_500 * random.next(), backMs: 1_500 * random.next() };
    case "edges":
      return {
        thereMs: chance < 0.7 ? toEdge(random, serviceAt) : 60 * random.next(),
        backMs: chance < 0.3 ? 0 : 120 * random.next(),
      };
    case "windows":
      if (chance < 0.01) return { thereMs: 58_000 + 3_000 * random.next(), backMs: 50 * random.next() };
      if (chance < 0.02) return { thereMs: usual(random), backMs: 58_000 + 3_000 * random.next() };
      return {
        thereMs: chance < 0.15 ? 900 + 200 * random.next() : usual(random),
        backMs: chance > 0.85 ? 900 + 200 * random.next() : usual(random),
      };
    default:
      return kind;
  }
};
