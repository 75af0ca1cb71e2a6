/**
 * The likely cause of the first difference, in words, with the lines that support it.
 *
 * Invariants: known differences of the runs are named before conclusions from a refusal or a wait; if there is no
 * likely cause, the text states it.
 * Not here: finding differences (differences.ts).
 */
import { differences } from "sluice/plugins/session";
import type { Difference, Evidence, Scale, Side } from "./differences.ts";
import type { Hold, OrderTrace, RunRecord } from "./run-record.ts";

export interface Cause {
  readonly kind: KnownChange["kind"] | "refusal" | "unknown";
  readonly words: string;
  readonly evidence: readonly Evidence[];
}

/** One thing in which two runs are known to differ. */
export interface KnownChange {
  readonly kind: "market" | "config" | "quota" | "latency" | "seed" | "model";
  readonly words: string;
}

/** The likelier cause first. */
const order: readonly KnownChange["kind"][] = ["market", "config", "quota", "latency", "seed", "model"];

const told = (value: unknown): string => JSON.stringify(value) ?? "nothing";

/**
 * Differences between what both runs record about themselves, and between the latencies of their orders. The likelier
 * cause comes first.
 */
export const knownChanges = (
  { facts: a, orders: ordersA }: RunRecord,
  { facts: b, orders: ordersB }: RunRecord,
): readonly KnownChange[] => {
  const changes: KnownChange[] = [];
  const compareFact = (
    kind: KnownChange["kind"],
    title: string,
    [left, right]: readonly (string | undefined)[],
  ): void => {
    if (left !== undefined && right !== undefined && left !== right)
      changes.push({ kind, words: `${title}: ${left} in A, ${right} in B` });
  };
  const both = (of: (facts: RunRecord["facts"]) => string | undefined): readonly (string | undefined)[] => [
    of(a),
    of(b),
  ];
  compareFact(
    "market",
    "other market data",
    both(({ market }) => market?.slice(0, 12)),
  );
  if (a.config !== undefined && b.config !== undefined) {
    for (const { path, recorded, replayed } of differences(a.config, b.config)) {
      changes.push({ kind: "config", words: `config ${path}: ${told(recorded)} in A, ${told(replayed)} in B` });
    }
  }
  compareFact(
    "quota",
    "limits",
    both(({ limits }) => (limits === undefined ? undefined : limits ? "kept" : "off")),
  );
  compareFact(
    "latency",
    "latency",
    both(({ latency }) => latency),
  );
  const [ackA, ackB] = [medianAck(ordersA ?? []), medianAck(ordersB ?? [])];
  if (ackA !== undefined && ackB !== undefined && Math.abs(ackA - ackB) > Math.max(2, 0.2 * Math.min(ackA, ackB)))
    changes.push({
      kind: "latency",
      words: `latency: placements acknowledged after ${ackA.toFixed(1)} ms in A, ${ackB.toFixed(1)} ms in B (medians)`,
    });
  compareFact(
    "seed",
    "seed",
    both(({ seed }) => seed),
  );
  compareFact(
    "model",
    "service",
    both(({ service }) => service),
  );
  if (a.assumptions !== undefined && b.assumptions !== undefined) {
    for (const line of a.assumptions)
      if (!b.assumptions.includes(line)) changes.push({ kind: "model", words: `only A assumes: ${line}` });
    for (const line of b.assumptions)
      if (!a.assumptions.includes(line)) changes.push({ kind: "model", words: `only B assumes: ${line}` });
  }
  return changes.sort((x, y) => order.indexOf(x.kind) - order.indexOf(y.kind));
};

/** Half of the orders were acknowledged sooner. */
export const medianAck = (orders: readonly OrderTrace[]): number | undefined => {
  const sorted = orders.flatMap(({ ackAfterMs }) => ackAfterMs ?? []).sort((x, y) => x - y);
  return sorted[Math.floor((sorted.length - 1) / 2)];
};

/**
 * Returns the cause of a difference. A refusal or a wait is a cause of its own, unless the runs had different data or
 * options, or a post-only order met another price because it arrived at another time.
 */
export const causeOf = (first: Difference, a: RunRecord, b: RunRecord, scale: Scale): Cause => {
  const known = knownChanges(a, b);
  const [main, ...rest] = known;
  const sign = refusalOf(first, a, b, scale) ?? waitOf(first, a, b, scale, known);
  const explained =
    main !== undefined &&
    (main.kind === "market" || main.kind === "config" || (main.kind === "latency" && isPostOnly(first)));
  if (sign !== undefined && !explained) return withLines(sign, first);
  if (main === undefined) return unknownCause(first, a, b);
  const also = rest.length === 0 ? "" : ` Also: ${rest.map(({ words }) => words).join("; ")}.`;
  const shows = sign === undefined ? "" : ` It shows first as: ${sign.words}`;
  return withLines(
    { kind: main.kind, words: `The runs differ in ${main.words}.${also}${shows}`, evidence: sign?.evidence ?? [] },
    first,
  );
};

const isPostOnly = ({ kind, a, b }: Difference): boolean =>
  kind === "end" &&
  [a, b].some(
    (order) => order?.phase === "rejected" && /post.?only|would (have )?(tak|cross|match)/i.test(order.reason),
  );

const unknownCause = (first: Difference, a: RunRecord, b: RunRecord): Cause => {
  const apart =
    first.of === "outcome"
      ? "other market data or another model of fills"
      : "other market data, options, seed or code of the strategy";
  const blank = a.facts.seed === undefined || b.facts.seed === undefined;
  const hint =
    " A journal does not record its market, seed and options; a session does, and so does a report next to the journal.";
  return withLines(
    {
      kind: "unknown",
      words: `Nothing in the runs shows the cause. Possible: ${apart}.${blank ? hint : ""}`,
      evidence: [],
    },
    first,
  );
};

/** Adds the last lines of each run about the order to a cause without evidence of its own. */
const withLines = (cause: Cause, { a, b, refusal, only }: Difference): Cause => {
  if (cause.evidence.length > 0) return cause;
  return {
    ...cause,
    evidence: [
      ...(a?.lines ?? []).slice(-3).map((line) => ({ run: "A" as const, line })),
      ...(b?.lines ?? []).slice(-3).map((line) => ({ run: "B" as const, line })),
      ...(refusal === undefined || only === undefined ? [] : [{ run: only, line: refusal.line }]),
    ],
  };
};

const otherThan = (side: Side): Side => (side === "A" ? "B" : "A");

const refusalOf = (first: Difference, a: RunRecord, b: RunRecord, { shiftMs, withinMs }: Scale): Cause | undefined => {
  const { kind, only, strategy, slot, ms } = first;
  if (kind === "refused-in-one" && first.refusal !== undefined)
    return {
      kind: "refusal",
      words: `${only} refused the order before sending it: ${first.refusal.reason}.`,
      evidence: [],
    };
  if (kind === "end") {
    const run = first.a?.phase === "rejected" ? "A" : first.b?.phase === "rejected" ? "B" : undefined;
    if (run === undefined) return undefined;
    const reason = ((run === "A" ? first.a : first.b)?.reason ?? "").replace(/\.$/, "");
    const limited = /rate limit|too many|quota|\b429\b|50011/i.test(reason);
    return {
      kind: limited ? "quota" : "refusal",
      words: `The service rejected the order in ${run} only: ${reason}.`,
      evidence: [],
    };
  }
  if (kind !== "placed-by-one" || only === undefined) return undefined;
  const run = otherThan(only);
  const shift = run === "B" ? shiftMs : 0;
  const refusal = (run === "A" ? a : b).refusals.find(
    (one) => one.strategy === strategy && one.slot === slot && Math.abs(one.ms + shift - ms) <= withinMs,
  );
  if (refusal === undefined) return undefined;
  return {
    kind: "refusal",
    words: `${run} refused the order before sending it: ${refusal.reason}.`,
    evidence: [{ run, line: refusal.line }],
  };
};

const waitOf = (
  first: Difference,
  a: RunRecord,
  b: RunRecord,
  scale: Scale,
  known: readonly KnownChange[],
): Cause | undefined => {
  const { kind, only, ms, fields } = first;
  if (only === undefined || (kind !== "wait" && kind !== "placed-by-one")) return undefined;
  const holdsOf = (run: Side): readonly Hold[] => {
    const shift = run === "B" ? scale.shiftMs : 0;
    return (run === "A" ? a : b).holds.filter(
      (hold) => hold.ms + shift <= ms + scale.withinMs && hold.untilMs + shift >= ms - scale.withinMs,
    );
  };
  const run = kind === "wait" ? only : otherThan(only);
  const holds = holdsOf(run);
  // Both were held alike: then that is not what sets them apart.
  if (kind === "placed-by-one" && holds.length <= holdsOf(only).length) return undefined;
  const change = known.find((one) => one.kind === "quota" || one.kind === "config");
  const why = change === undefined ? "" : ` (${change.words})`;
  const [wait] = fields;
  const words =
    kind === "wait"
      ? `The quota held the placement back in ${run}: it waited ${wait?.a} in A and ${wait?.b} in B${why}.`
      : `The quota held actions back in ${run} at that time (${holds[0]?.layer} layer), and the wanted order was replaced before it was sent${why}.`;
  return { kind: "quota", words, evidence: holds.slice(0, 3).map(({ line }) => ({ run, line })) };
};
