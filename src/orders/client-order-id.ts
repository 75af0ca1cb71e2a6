/**
 * Client order ids that identify the owner of an order (engine instance, slot, generation, checksum), and the
 * generation of the next one.
 *
 * Invariants: the same instance, strategy, slot and generation always give the same id, so that the service's own lists
 * can be read as a second journal; ids of others are recognised as such; 20 characters of `[0-9a-v]` after a leading
 * `s`. Generations only rise within a run. A run without the journal of previous runs continues after every generation
 * that the service shows. It keeps a distance that depends on the time of its first order, so that it does not repeat the
 * id of an order that is still on its way, even where several runs in turn were shown the same orders.
 */
import type { Clock } from "../clock/clock.ts";

interface OwnId {
  readonly slotHash: string;
  readonly generation: number;
}

/** Ids of the orders of one instance: made for a slot and a generation, and read again. */
export interface ClientOrderIds {
  of(slotHash: string, generation: number): string;
  slotHash(strategy: string, slot: string): string;
  /** Slot and generation in an id; undefined if the id is not of this instance. */
  read(clOrdId: string): OwnId | undefined;
}

const width = { instance: 4, slot: 8, generation: 5, check: 2 } as const;
/** Number of generations, after which they start again at zero. */
export const generations = 32 ** width.generation;

/** 32-bit FNV-1a with a final mix, seeded. */
const hash32 = (text: string, seed: number): number => {
  let h = (2166136261 ^ seed) >>> 0;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619) >>> 0;
  h = Math.imul(h ^ (h >>> 16), 2246822507) >>> 0;
  h = Math.imul(h ^ (h >>> 13), 3266489909) >>> 0;
  return (h ^ (h >>> 16)) >>> 0;
};

/** Six base-32 digits; the first of seven would hold only two bits and is left out. */
const sixOf = (hash: number): string => (hash % 32 ** 6).toString(32).padStart(6, "0");

const letters = (text: string, count: number, seed: number): string =>
  (count <= 6 ? sixOf(hash32(text, seed)) : sixOf(hash32(text, seed)) + sixOf(hash32(text, seed + 1))).slice(0, count);

/** All possible check digits, indexed by the first two of a hash's six digits. */
const checks = Array.from({ length: 32 ** width.check }, (_, digits) => digits.toString(32).padStart(width.check, "0"));
const below = 32 ** (6 - width.check);

/**
 * Client order ids of one instance: makes them, and recognises its own.
 *
 * @param instance - name of the engine, part of each id
 * @returns makes ids, and recognises its own
 */
export const createClientOrderIds = (instance: string): ClientOrderIds => {
  const prefix = `s${letters(instance, width.instance, 11)}`;
  return {
    slotHash: (strategy, slot) => letters(`${strategy}\u0000${slot}`, width.slot, 37),
    of: (slotHash, generation) => {
      const body = prefix + slotHash + (generation % generations).toString(32).padStart(width.generation, "0");
      return body + checks[Math.floor((hash32(body, 23) % 32 ** 6) / below)];
    },
    read: (clOrdId) => {
      const bodyLength = prefix.length + width.slot + width.generation;
      if (clOrdId.length !== bodyLength + width.check || !clOrdId.startsWith(prefix)) return undefined;
      const body = clOrdId.slice(0, bodyLength);
      if (clOrdId.slice(bodyLength) !== checks[Math.floor((hash32(body, 23) % 32 ** 6) / below)]) return undefined;
      const slotHash = body.slice(prefix.length, prefix.length + width.slot);
      return { slotHash, generation: Number.parseInt(body.slice(prefix.length + width.slot), 32) };
    },
  };
};

/** Returns whether generation `a` was given after `b`. Generations wrap around, so the shorter distance decides. */
export const isLater = (a: number, b: number): boolean => {
  const ahead = (((a - b) % generations) + generations) % generations;
  return ahead > 0 && ahead < generations / 2;
};

/** The first generation of a run that begins at this calendar time, unless later ones have been seen. */
export const firstGeneration = (wallMs: number): number => Math.floor(wallMs / generationMs) % generations;

/**
 * Milliseconds of the calendar for each generation. Quota allows no run to place faster than that except in a burst, so
 * that a later run starts beyond the generations of an earlier one.
 */
const generationMs = 500;
/**
 * Generations that a run without a journal leaves to the orders of one other run that it is not shown: some are still on
 * their way, and some are too young for the service's lists. No key can send more than this number of orders while an
 * answer is awaited.
 */
const unseenMax = 100;
/**
 * Number of ranges of `unseenMax` generations. Each half second of the calendar has its own, until they repeat after 64
 * seconds. An order that was sent is at the service within a minute, or never.
 */
const ranges = 128;
/** The ranges begin beyond what a run that was shown nothing takes from the calendar until they repeat. */
const rangesFrom = Math.ceil(ranges / unseenMax) + 1;

export class IdGeneration {
  readonly #clock: Pick<Clock, "wallNow">;
  readonly #first: number;
  #next: number;
  /** The generation of a previous run to continue after, from the next order on. */
  #after: number | undefined;
  /** Ranges of generations that this run has used: the first is included, the second is not. */
  readonly #given: (readonly [number, number])[] = [];
  #givenFrom: number;
  /** The latest generation of other runs that was seen. */
  latest: number | undefined;

  constructor(clock: Pick<Clock, "wallNow">) {
    this.#clock = clock;
    this.#first = firstGeneration(clock.wallNow());
    this.#next = this.#first;
    this.#givenFrom = this.#first;
  }

  next(): number {
    if (this.#after !== undefined) this.#continueAfter(this.#after);
    return this.#next++;
  }

  /**
   * Called when a generation was seen in use. If it belongs to a previous run, this run continues after the generations
   * that the previous run may have used unseen.
   */
  seen(used: number): void {
    if (!this.isGiven(used) && (this.latest === undefined || isLater(used, this.latest))) this.latest = used;
    const isOurs = used >= this.#first && used < this.#next;
    if (isOurs || used + unseenMax < this.#next) return;
    this.#after = Math.max(used, this.#after ?? used);
  }

  /**
   * Runs that were shown the same generation take different ranges, by the time of their first order. The time of their
   * start would not do: a run may wait for long before it sends an order that the next run is not shown.
   */
  #continueAfter(used: number): void {
    const calendar = firstGeneration(this.#clock.wallNow());
    if (this.#next > this.#givenFrom) this.#given.push([this.#givenFrom, this.#next]);
    this.#next = Math.max(used + 1 + unseenMax, calendar) + unseenMax * (rangesFrom + (calendar % ranges));
    this.#givenFrom = this.#next;
    this.#after = undefined;
  }

  /** Returns true where this run gave the generation to an order of its own. */
  isGiven(generation: number): boolean {
    if (generation >= this.#givenFrom && generation < this.#next) return true;
    return this.#given.some(([from, to]) => generation >= from && generation < to);
  }
}
