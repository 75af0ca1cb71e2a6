/**
 * Aligns the orders of two runs: slot by slot, in the order in which they were wanted.
 *
 * Invariants: pairs never cross within a slot; two orders are a pair only when they were wanted within the tolerance;
 * an order without a counterpart remains single; every order appears once.
 */
import type { OrderSpec, OrderTrace, Refusal } from "./run-record.ts";

export interface Pair {
  readonly strategy: string;
  readonly slot: string;
  readonly a: OrderTrace | undefined;
  readonly b: OrderTrace | undefined;
}

/** `shiftMs` is added to the times of `b`. Pairs come in the order in which the first of the two was wanted. */
export const pairOrders = (
  a: readonly OrderTrace[],
  b: readonly OrderTrace[],
  withinMs: number,
  shiftMs: number,
): readonly Pair[] => {
  const [mine, theirs] = [bySlot(a), bySlot(b)];
  const pairs = [...new Set([...mine.keys(), ...theirs.keys()])].flatMap((key) =>
    pairSlot(mine.get(key) ?? [], theirs.get(key) ?? [], { withinMs, shiftMs }),
  );
  return pairs.sort((x, y) => firstMs(x, shiftMs) - firstMs(y, shiftMs));
};

const firstMs = ({ a, b }: Pair, shiftMs: number): number =>
  Math.min(a?.wantedMs ?? Number.POSITIVE_INFINITY, (b?.wantedMs ?? Number.POSITIVE_INFINITY) + shiftMs);

export const sameSpec = (a: OrderSpec | undefined, b: OrderSpec | undefined): boolean =>
  a !== undefined &&
  b !== undefined &&
  (["instId", "side", "ordType", "px", "sz"] as const).every((name) => a[name] === b[name]);

const bySlot = (orders: readonly OrderTrace[]): ReadonlyMap<string, readonly OrderTrace[]> => {
  const slots = new Map<string, OrderTrace[]>();
  for (const order of orders) {
    const key = JSON.stringify([order.strategy, order.slot]);
    const known = slots.get(key);
    if (known === undefined) slots.set(key, [order]);
    else known.push(order);
  }
  return slots;
};

interface Tolerance {
  readonly withinMs: number;
  readonly shiftMs: number;
}

const pairSlot = (
  mine: readonly OrderTrace[],
  theirs: readonly OrderTrace[],
  { withinMs, shiftMs }: Tolerance,
): readonly Pair[] => {
  const pairs: Pair[] = [];
  const apart = (a: OrderTrace, b: OrderTrace): number => b.wantedMs + shiftMs - a.wantedMs;
  const near = (a: OrderTrace | undefined, b: OrderTrace | undefined): boolean =>
    a !== undefined && b !== undefined && Math.abs(apart(a, b)) <= withinMs && sameSpec(a.spec, b.spec);
  let i = 0;
  let j = 0;
  const add = (a: OrderTrace | undefined, b: OrderTrace | undefined): void => {
    const { strategy, slot } = (a ?? b) as OrderTrace;
    pairs.push({ strategy, slot, a, b });
    if (a !== undefined) i++;
    if (b !== undefined) j++;
  };
  while (i < mine.length || j < theirs.length) {
    const [a, b] = [mine[i], theirs[j]];
    if (a === undefined || b === undefined) add(a, b);
    else if (apart(a, b) > withinMs) add(a, undefined);
    else if (apart(a, b) < -withinMs) add(undefined, b);
    // The next one fits exactly where this one does not: this one is the extra.
    else if (!sameSpec(a.spec, b.spec) && near(mine[i + 1], b)) add(a, undefined);
    else if (!sameSpec(a.spec, b.spec) && near(a, theirs[j + 1])) add(undefined, b);
    else add(a, b);
  }
  return pairs;
};

/** Refusals of `a` that `b` did not have; `shiftMs` is added to the times of `b`. */
export const lonelyRefusals = (
  a: readonly Refusal[],
  b: readonly Refusal[],
  withinMs: number,
  shiftMs: number,
): readonly Refusal[] => {
  const left = new Map<string, number[]>();
  for (const { strategy, slot, ms } of b) {
    const key = JSON.stringify([strategy, slot]);
    const times = left.get(key);
    if (times === undefined) left.set(key, [ms + shiftMs]);
    else times.push(ms + shiftMs);
  }
  return a.filter(({ strategy, slot, ms }) => {
    const times = left.get(JSON.stringify([strategy, slot])) ?? [];
    // Both lists rise: what lies too far back now never fits again.
    while (times.length > 0 && (times[0] as number) < ms - withinMs) times.shift();
    if (times.length === 0 || (times[0] as number) > ms + withinMs) return true;
    times.shift();
    return false;
  });
};
