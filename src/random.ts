/**
 * Seeded randomness: the only source of chance in the tree.
 *
 * Invariants: the same seed gives the same numbers on every machine; forks are independent of how much the parent was
 * used.
 */
import { assert } from "./errors.ts";

/** A source of chance that can be repeated: the same seed gives the same numbers. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform whole number in [from, to], both included. */
  whole(from: number, to: number): number;
  /** Standard normal. */
  normal(): number;
  /** Exponential with the given mean. */
  exponential(mean: number): number;
  /** An independent source, derived from this one's seed and `label`. */
  fork(label: string): Random;
}

const hash = (text: string, seed: number): number => {
  let h = 2166136261 ^ seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h = Math.imul(h ^ (h >>> 15), 2246822507);
  h = Math.imul(h ^ (h >>> 13), 3266489909);
  return (h ^ (h >>> 16)) >>> 0;
};

/**
 * Random numbers that are the same for the same seed: sfc32, a small counter-based generator.
 *
 * @param seed - a number or words
 * @returns the generator; `fork` gives independent ones by name
 */
export const createRandom = (seed: number | string): Random => {
  const name = String(seed);
  let a = hash(name, 1);
  let b = hash(name, 2);
  let c = hash(name, 3);
  let counter = 1;
  const next = (): number => {
    const t = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return (t >>> 0) / 4294967296;
  };
  for (let i = 0; i < 12; i++) next();
  return {
    next,
    whole: (from, to) => {
      assert(Number.isInteger(from) && Number.isInteger(to) && from <= to, `a range, not ${from}..${to}`);
      return from + Math.floor(next() * (to - from + 1));
    },
    // Twelve uniforms: exact across engines, unlike the logarithm and cosine of the usual method.
    normal: () => {
      let total = -6;
      for (let i = 0; i < 12; i++) total += next();
      return total;
    },
    exponential: (mean) => -mean * Math.log(1 - next()),
    fork: (label) => createRandom(`${name}/${label}`),
  };
};
