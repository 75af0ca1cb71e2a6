/**
 * Two runs side by side: totals, the first difference of each sort, and its likely cause.
 *
 * Invariants: runs that overlap on the calendar are compared on it, others from their starts; the verdict depends on
 * decisions, ends and waits, or on totals where a report contains only those; the same runs give the same comparison.
 * Not here: reading runs (read-run.ts), words and tables (comparison-text.ts).
 */
import { type Cause, causeOf, type KnownChange, knownChanges } from "./cause.ts";
import { type Difference, differencesOf, type Evidence, equal } from "./differences.ts";
import type { RunRecord, Totals } from "./run-record.ts";

export interface CompareOptions {
  /** Largest difference in time of the same action, in milliseconds. */
  readonly withinMs?: number;
}

/** One of two compared runs. */
export interface ComparedRun {
  readonly name: string;
  readonly kind: RunRecord["kind"];
  readonly startAt: number;
  readonly totals: Totals;
  readonly notes: readonly string[];
}

/** A difference without the whole traces of its orders. */
export type ToldDifference = Pick<Difference, "of" | "kind" | "ms" | "strategy" | "slot" | "only" | "fields"> & {
  readonly evidence: readonly Evidence[];
};

/** Result of comparing two runs: where they first differ in a decision, an outcome and a wait for quota, and why. */
export interface Comparison {
  readonly equal: boolean;
  readonly a: ComparedRun;
  readonly b: ComparedRun;
  readonly withinMs: number;
  readonly scale: "calendar" | "start";
  readonly pairs: number;
  readonly differences: { readonly decision: number; readonly outcome: number; readonly quota: number };
  readonly firstDecision: ToldDifference | undefined;
  readonly firstOutcome: ToldDifference | undefined;
  readonly firstQuota: ToldDifference | undefined;
  readonly cause: Cause | undefined;
  /** Known differences of the runs, relevant or not. */
  readonly known: readonly KnownChange[];
  readonly totals: readonly { readonly path: string; readonly a: string; readonly b: string }[];
}

export const withinDefaultMs = 1_000;

export const compareRuns = (
  a: RunRecord,
  b: RunRecord,
  { withinMs = withinDefaultMs }: CompareOptions = {},
): Comparison => {
  const scale = scaleOf(a, b);
  const shiftMs = scale === "calendar" ? b.startAt - a.startAt : 0;
  const told = a.orders !== undefined && b.orders !== undefined;
  const { pairs, differences } = told ? differencesOf(a, b, { withinMs, shiftMs }) : { pairs: [], differences: [] };
  const count = (of: Difference["of"]): number => differences.filter((one) => one.of === of).length;
  const firstOf = (of: Difference["of"]): ToldDifference | undefined =>
    toldOf(differences.find((one) => one.of === of));
  const [first] = differences;
  const totals = totalsApart(a, b);
  const known = knownChanges(a, b);
  return {
    equal: told ? differences.length === 0 : totals.length === 0,
    a: runOf(a),
    b: runOf(b),
    withinMs,
    scale,
    pairs: pairs.length,
    differences: { decision: count("decision"), outcome: count("outcome"), quota: count("quota") },
    firstDecision: firstOf("decision"),
    firstOutcome: firstOf("outcome"),
    firstQuota: firstOf("quota"),
    cause:
      first === undefined
        ? told
          ? undefined
          : causeOfTotals(totals, known)
        : causeOf(first, a, b, { withinMs, shiftMs }),
    known,
    totals,
  };
};

const runOf = ({ name, kind, startAt, totals, notes }: RunRecord): ComparedRun => ({
  name,
  kind,
  startAt,
  totals,
  notes,
});

/** The calendar where at least half of the shorter run lies within the other. */
const scaleOf = (a: RunRecord, b: RunRecord): Comparison["scale"] => {
  const shared = Math.min(a.endAt, b.endAt) - Math.max(a.startAt, b.startAt);
  return shared > 0 && shared >= 0.5 * Math.min(a.endAt - a.startAt, b.endAt - b.startAt) ? "calendar" : "start";
};

const toldOf = (difference: Difference | undefined): ToldDifference | undefined => {
  if (difference === undefined) return undefined;
  const { of, kind, ms, strategy, slot, only, fields, a, b, refusal } = difference;
  const evidence: readonly Evidence[] = [
    ...(a?.lines ?? []).map((line) => ({ run: "A" as const, line })),
    ...(b?.lines ?? []).map((line) => ({ run: "B" as const, line })),
    ...(refusal === undefined || only === undefined ? [] : [{ run: only, line: refusal.line }]),
  ];
  return { of, kind, ms, strategy, slot, only, fields, evidence: evidence.slice(0, 12) };
};

const counted = ["orders", "filled", "canceled", "rejected", "refused", "fills", "waits", "limited"] as const;

/**
 * Returns totals that differ. A report counts money in currency, and waits in another way than a journal: in a mixed
 * pair these are not compared.
 */
const totalsApart = (a: RunRecord, b: RunRecord): Comparison["totals"] => {
  const alike = (a.orders === undefined) === (b.orders === undefined);
  const [mine, theirs] = [a.totals, b.totals];
  const rows = counted.flatMap((path) =>
    mine[path] === theirs[path] || (!alike && path === "waits")
      ? []
      : [{ path, a: String(mine[path]), b: String(theirs[path]) }],
  );
  const money = (["volume", "fees"] as const).filter((path) => alike && !equal(mine[path], theirs[path]));
  const results =
    mine.pnl === undefined || theirs.pnl === undefined || equal(mine.pnl, theirs.pnl)
      ? []
      : [{ path: "result", a: mine.pnl, b: theirs.pnl }];
  return [...rows, ...money.map((path) => ({ path, a: mine[path], b: theirs[path] })), ...results];
};

const causeOfTotals = (totals: Comparison["totals"], known: readonly KnownChange[]): Cause | undefined => {
  if (totals.length === 0) return undefined;
  const [main] = known;
  return main === undefined
    ? {
        kind: "unknown",
        words: "A report holds totals only. Compare journals or sessions to find the first difference.",
        evidence: [],
      }
    : { kind: main.kind, words: `The runs differ in ${known.map(({ words }) => words).join("; ")}.`, evidence: [] };
};
