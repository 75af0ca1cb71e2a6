/**
 * Limit quirk: one way in which a simulated service's rate limits, stamps or counts differ from their description.
 *
 * Invariants: a scenario has at most one, for its whole length; the engine's decisions still depend only on the data it
 * receives, so that a quirk never changes orders by itself.
 * Not here: single lost, late and doubled requests (network.ts), steps of the calendar (fault-handlers.ts), other
 * clients.
 */

import type { Random } from "sluice";
import type { WireResponse } from "sluice/dialect";
import { type Clock, type LayerName, limitHeaders, type VirtualClock } from "sluice/extension";

type Headers = WireResponse["headers"];

interface LimitChange {
  readonly layer: LayerName;
  readonly capacity: number;
  /** Minutes after the market began; without an end it stays. */
  readonly fromMinute: number;
  readonly toMinute?: number;
}

interface Quirk {
  readonly words: string;
  /** The instant stamped on the answer number `count`, of an answer that leaves at `at`; undefined: none. */
  readonly stamp?: (at: number, count: number, random: Random) => number | undefined;
  readonly counts?: "behind" | "missing";
  readonly change?: LimitChange;
  /** Drift of the service's clock against the machine's, in parts per million. */
  readonly driftPpm?: number;
}

const secondMs = 1_000;
const stepEveryMs = 600_000;

// biome-ignore format: one row a line
const quirks: readonly Quirk[] = [
  { words: "minutes begin at second 37", stamp: (at) => at - 37_000 },
  { words: "minutes begin at second 37.42, and seconds at .42", stamp: (at) => at - 37_420 },
  { words: "Date is rounded up", stamp: (at) => at + secondMs - 1 },
  { words: "Date is late by a second", stamp: (at) => at - secondMs },
  { words: "Date is written by two edges, 400 ms early and late", stamp: (at, _, random) => at + (random.next() < 0.5 ? 400 : -400) },
  { words: "Date jumps by 3 s every ten minutes, forth and back", stamp: (at) => at + (Math.floor(at / stepEveryMs) % 2 === 1 ? 3_000 : 0) },
  { words: "the first answer has no Date", stamp: (at, count) => (count === 1 ? undefined : at) },
  { words: "one answer in twenty has no Date", stamp: (at, _, random) => (random.next() < 0.05 ? undefined : at) },
  { words: "no answer has a Date", stamp: () => undefined },
  { words: "counts are those of the answer before", counts: "behind" },
  { words: "a third of the answers has no counts", counts: "missing" },
  { words: "a key has 5 requests a second from the third minute on", change: { layer: "key", capacity: 5, fromMinute: 2 } },
  { words: "a key has 5 requests a second for three minutes", change: { layer: "key", capacity: 5, fromMinute: 2, toMinute: 5 } },
  { words: "a user has a weight of 600 a minute from the third minute on", change: { layer: "uid", capacity: 600, fromMinute: 2 } },
  { words: "a user has a weight of 600 a minute for three minutes", change: { layer: "uid", capacity: 600, fromMinute: 2, toMinute: 5 } },
  { words: "an address has 400 requests a minute from the third minute on", change: { layer: "ip", capacity: 400, fromMinute: 2 } },
  { words: "the service's clock is fast by 500 ppm", driftPpm: 500 },
  { words: "the service's clock is slow by 500 ppm", driftPpm: -500 },
];

/** Returns the quirk for the choice of a fault. */
const quirkOf = (pick: number): Quirk => quirks[pick % quirks.length] as Quirk;
export const quirkWordsOf = (pick: number): string => quirkOf(pick).words;

/** The machine's time as the service's clock counts it. */
export const driftingTime = (time: VirtualClock, pick: number): Clock => {
  const { driftPpm } = quirkOf(pick);
  if (driftPpm === undefined) return time;
  const from = time.now();
  const rate = 1 + driftPpm / 1_000_000;
  const drifted = (at: number): number => Math.floor(from + (at - from) * rate);
  return {
    now: () => drifted(time.now()),
    wallNow: () => drifted(time.wallNow()),
    setTimer: (at, run) => time.setTimer(from + (at - from) / rate, run),
  };
};

/** Applies the quirk to answers, and to the limits during a scenario. */
export class LimitQuirk {
  readonly #quirk: Quirk;
  readonly #random: Random;
  readonly #before = new Map<string, Headers>();
  #answers = 0;

  constructor(pick: number, random: Random) {
    this.#quirk = quirkOf(pick);
    this.#random = random;
  }

  get change(): LimitChange | undefined {
    return this.#quirk.change;
  }

  /** Headers of an answer to a request of `user` that leaves at `at`. */
  headers(headers: Headers, user: string, at: number): Headers {
    const { date: _, ...counts } = headers;
    const date = this.date(at);
    return { ...this.#counts(counts, user), ...(date === undefined ? {} : { date }) };
  }

  date(at: number): string | undefined {
    const { stamp } = this.#quirk;
    this.#answers++;
    const stamped = stamp === undefined ? at : stamp(at, this.#answers, this.#random);
    return stamped === undefined ? undefined : new Date(stamped).toUTCString();
  }

  #counts(headers: Headers, user: string): Headers {
    const { counts } = this.#quirk;
    if (counts === "missing") return this.#random.next() < 1 / 3 ? {} : headers;
    if (counts === undefined || headers[limitHeaders.uidUsed] === undefined) return headers;
    const before = this.#before.get(user) ?? headers;
    this.#before.set(user, headers);
    return before;
  }
}
