/**
 * The faults of a seed: each seed switches on some kinds only and draws a rate for each, so that no mixture is left out
 * for ever.
 *
 * Invariants: the same seed and length give the same list; every kind draws from a chance of its own; instants and
 * sizes are whole numbers.
 */

import type { Random } from "sluice";
import { createRandom } from "sluice/extension";
import { type Fault, faultKinds, rowOf } from "./fault.ts";

/** Part of the kinds a seed has. */
const shareOfKinds = 0.3;
/** More faults than this show no more than fewer. */
const faultsMax = 400;

export const sampleFaults = (seed: number | string, minutes: number): readonly Fault[] => {
  const chance = createRandom(`${seed}/faults`);
  const endAt = minutes * 60_000;
  const faults: Fault[] = [];
  for (const kind of faultKinds) {
    const { perMinute, once, size, forMs, stream = kind } = rowOf(kind);
    const own = chance.fork(stream);
    if (own.next() >= shareOfKinds) continue;
    const draw = (at: number): Fault => ({
      kind,
      at,
      size: drawIn(own, size),
      forMs: drawIn(own, forMs),
      pick: own.whole(0, 9_999),
    });
    if (once === true) {
      faults.push(draw(0));
      continue;
    }
    const [from, to] = perMinute;
    const rate = from * (to / from) ** own.next();
    for (let at = own.exponential(60_000 / rate); at < endAt; at += own.exponential(60_000 / rate))
      faults.push(draw(Math.floor(at)));
  }
  return faults.sort((a, b) => a.at - b.at).slice(0, faultsMax);
};

const drawIn = (random: Random, range: readonly [number, number] | undefined): number =>
  range === undefined ? 0 : Math.round(range[0] * (range[1] / range[0]) ** random.next());
