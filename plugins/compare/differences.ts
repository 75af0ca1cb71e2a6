/**
 * Differences of two runs: in decisions, in ends of orders, in waits. By time, the first one first.
 *
 * Invariants: times of the second run are converted to the first one's scale; an event after the end of the shorter run
 * is no difference; a cancel that one run did not need, because the order had ended, is a difference of the end and not
 * of the decision.
 * Not here: alignment of orders (align.ts), causes (cause.ts).
 */
import { compare } from "sluice";
import { lonelyRefusals, type Pair, pairOrders, sameSpec } from "./align.ts";
import type { Line, OrderTrace, Refusal, RunRecord } from "./run-record.ts";

export type Side = "A" | "B";

export interface Evidence {
  readonly run: Side;
  readonly line: Line;
}

interface FieldChange {
  readonly path: string;
  readonly a: string;
  readonly b: string;
}

type DifferenceKind =
  | "placed-by-one"
  | "content"
  | "canceled-by-one"
  | "canceled-later"
  | "end"
  | "fill"
  | "fill-later"
  | "fee"
  | "refused-in-one"
  | "wait";

export interface Difference {
  readonly of: "decision" | "outcome" | "quota";
  readonly kind: DifferenceKind;
  readonly ms: number;
  readonly strategy: string;
  readonly slot: string;
  /** The run it happened in, where it happened in one only. */
  readonly only: Side | undefined;
  readonly fields: readonly FieldChange[];
  readonly a: OrderTrace | undefined;
  readonly b: OrderTrace | undefined;
  readonly refusal: Refusal | undefined;
}

export interface Scale {
  readonly withinMs: number;
  readonly shiftMs: number;
}

/** Waits that differ by less than this, or by less than a tenth of the longer one, are of no account. */
const waitMs = 50;

export const differencesOf = (
  a: RunRecord,
  b: RunRecord,
  scale: Scale,
): { readonly pairs: readonly Pair[]; readonly differences: readonly Difference[] } => {
  const { withinMs, shiftMs } = scale;
  const pairs = pairOrders(a.orders ?? [], b.orders ?? [], withinMs, shiftMs);
  const lengths = { a: a.endAt - a.startAt, b: b.endAt - b.startAt + shiftMs };
  const differences = [
    ...pairs.flatMap((pair) => ofPair(pair, scale, lengths)),
    ...lonelyRefusals(a.refusals, b.refusals, withinMs, shiftMs).map((refusal) => ofRefusal(refusal, "A", refusal.ms)),
    ...lonelyRefusals(b.refusals, a.refusals, withinMs, -shiftMs).map((refusal) =>
      ofRefusal(refusal, "B", refusal.ms + shiftMs),
    ),
  ];
  return { pairs, differences: differences.sort((x, y) => x.ms - y.ms || ranks[x.of] - ranks[y.of]) };
};

/** Order of differences at one instant: causes before effects. */
const ranks = { quota: 0, outcome: 1, decision: 2 } as const;

interface Lengths {
  readonly a: number;
  readonly b: number;
}

const ofRefusal = (refusal: Refusal, only: Side, ms: number): Difference => {
  const { strategy, slot } = refusal;
  return {
    of: "outcome",
    kind: "refused-in-one",
    ms,
    strategy,
    slot,
    only,
    fields: [],
    a: undefined,
    b: undefined,
    refusal,
  };
};

const ofPair = (pair: Pair, scale: Scale, lengths: Lengths): readonly Difference[] => {
  const { strategy, slot, a, b } = pair;
  const base = { strategy, slot, a, b, only: undefined, fields: [], refusal: undefined } as const;
  if (a === undefined || b === undefined) {
    const ms = a?.wantedMs ?? (b as OrderTrace).wantedMs + scale.shiftMs;
    // The other run was over, or had not begun.
    if (ms > (a === undefined ? lengths.a : lengths.b)) return [];
    return [{ ...base, of: "decision", kind: "placed-by-one", ms, only: a === undefined ? "B" : "A" }];
  }
  return [...decided(a, b, scale), ...waited(a, b), ...ended(a, b, scale, lengths)].map((found) => ({
    ...base,
    ...found,
  }));
};

type Found = Pick<Difference, "of" | "kind" | "ms"> & Partial<Pick<Difference, "only" | "fields">>;

const decided = (a: OrderTrace, b: OrderTrace, { withinMs, shiftMs }: Scale): readonly Found[] => {
  if (a.spec !== undefined && b.spec !== undefined && !sameSpec(a.spec, b.spec)) {
    return [
      {
        of: "decision",
        kind: "content",
        ms: Math.min(a.wantedMs, b.wantedMs + shiftMs),
        fields: changes({ ...a.spec }, { ...b.spec }),
      },
    ];
  }
  const [mine, theirs] = [a.cancelMs, b.cancelMs === undefined ? undefined : b.cancelMs + shiftMs];
  if (mine !== undefined && theirs !== undefined) {
    const later = Math.abs(mine - theirs) > withinMs;
    return later
      ? [{ of: "decision", kind: "canceled-later", ms: Math.min(mine, theirs), only: mine < theirs ? "A" : "B" }]
      : [];
  }
  if (mine !== undefined && (isOpen(b) || b.endMs + shiftMs > mine + withinMs))
    return [{ of: "decision", kind: "canceled-by-one", ms: mine, only: "A" }];
  if (theirs !== undefined && (isOpen(a) || a.endMs > theirs + withinMs))
    return [{ of: "decision", kind: "canceled-by-one", ms: theirs, only: "B" }];
  return [];
};

const waited = (a: OrderTrace, b: OrderTrace): readonly Found[] => {
  if (Math.abs(a.waitedMs - b.waitedMs) < Math.max(waitMs, 0.1 * a.waitedMs, 0.1 * b.waitedMs)) return [];
  const fields = [{ path: "waited", a: `${Math.round(a.waitedMs)} ms`, b: `${Math.round(b.waitedMs)} ms` }];
  return [{ of: "quota", kind: "wait", ms: a.wantedMs, only: a.waitedMs > b.waitedMs ? "A" : "B", fields }];
};

const isOpen = ({ phase }: OrderTrace): boolean =>
  !["filled", "canceled", "rejected", "absent", "planned"].includes(phase);

const ended = (a: OrderTrace, b: OrderTrace, { withinMs, shiftMs }: Scale, lengths: Lengths): readonly Found[] => {
  const [mine, theirs] = [a.endMs, b.endMs + shiftMs];
  // Still open where its run ends: the rest is not known.
  if (isOpen(a) && isOpen(b) && equal(a.filledSz, b.filledSz)) return [];
  if (isOpen(a) && lengths.a <= theirs) return [];
  if (isOpen(b) && lengths.b <= mine) return [];
  const ms = Math.min(isOpen(a) ? theirs : mine, isOpen(b) ? mine : theirs);
  const end = (order: OrderTrace): string => (isOpen(order) ? "open" : order.phase);
  const all = changes(
    { end: end(a), filled: a.filledSz, price: a.avgPx },
    { end: end(b), filled: b.filledSz, price: b.avgPx },
  );
  if (end(a) !== end(b)) return [{ of: "outcome", kind: "end", ms, fields: all }];
  if (!equal(a.filledSz, b.filledSz) || a.avgPx !== b.avgPx) return [{ of: "outcome", kind: "fill", ms, fields: all }];
  if (a.phase === "filled" && Math.abs(mine - theirs) > withinMs) {
    return [
      {
        of: "outcome",
        kind: "fill-later",
        ms,
        fields: [{ path: "filled after", a: secondsOf(mine - a.sentMs), b: secondsOf(b.endMs - b.sentMs) }],
      },
    ];
  }
  return equal(a.cost, b.cost)
    ? []
    : [{ of: "outcome", kind: "fee", ms, fields: [{ path: "fee", a: a.cost, b: b.cost }] }];
};

const changes = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): readonly FieldChange[] =>
  Object.keys(a).flatMap((path) => (a[path] === b[path] ? [] : [{ path, a: a[path] || "none", b: b[path] || "none" }]));

export const secondsOf = (ms: number): string => `${(ms / 1_000).toFixed(3)} s`;

/** True for decimals of the same value: "1.0" and "1". */
export const equal = (a: string, b: string): boolean => a === b || compare(a, b) === 0;
