/**
 * Look-ahead guard, which detects strategies that see the future: every decision until a cut must be the same when the
 * market ends there.
 *
 * Invariants: a run that cannot be repeated is distinguished from one that looks ahead, because it proves nothing; cuts
 * come from the seed; half of them lie on decisions, where a look at later data shows first.
 * Not here: running a config (observed.ts), giving it a market that ends (cut-run.ts), words (look-ahead-text.ts).
 */
import { createRandom } from "sluice/extension";
import { differences, type FieldDifference } from "sluice/plugins/session";
import type { Decision, Observed } from "./observed.ts";

/** Runs the config from a fresh start; with an instant, on a market that ends there. */
export type Runner = (cutAt?: number) => Promise<Observed>;

export interface LookAheadOptions {
  readonly cuts?: number;
  readonly seed?: number | string;
  readonly onProgress?: (done: number, all: number) => void;
}

/** The first decision that differs. */
export interface Glimpse {
  readonly strategy: string;
  readonly slot: string;
  readonly kind: Decision["kind"];
  readonly at: number;
  /** Since the recording began. */
  readonly sinceMs: number;
  /** JSON text of what each run decided there, of wanted orders the set in force; undefined for nothing. */
  readonly whole: string | undefined;
  readonly other: string | undefined;
  readonly fields: readonly FieldDifference[];
}

/**
 * Report about strategies that saw the future: their decisions on the whole recording compared with those on recordings
 * that end earlier.
 */
export interface LookAheadReport {
  readonly verdict: "blind" | "sees-the-future" | "not-repeatable";
  readonly decisions: number;
  readonly startAt: number;
  readonly endAt: number;
  /** Instants at which the market was cut, in order. */
  readonly cuts: readonly number[];
  /** For each strategy that saw the future, its first glimpse and the cut that showed it. */
  readonly glimpses: readonly (Glimpse & { readonly cutAt: number })[];
  /** First difference of two runs of the same config. */
  readonly unrepeatable: Glimpse | undefined;
  readonly failed: Readonly<Record<string, string>>;
}

export const cutsDefault = 8;

export const lookAhead = async (
  run: Runner,
  { cuts = cutsDefault, seed = 1, onProgress }: LookAheadOptions = {},
): Promise<LookAheadReport> => {
  const all = cuts + 2;
  const whole = await run();
  onProgress?.(1, all);
  const again = await run();
  onProgress?.(2, all);
  const { startAt, endAt, failed } = whole;
  const base = { decisions: whole.decisions.length, startAt, endAt, failed };
  const unrepeatable = firstGlimpse(whole, again, Number.POSITIVE_INFINITY);
  if (unrepeatable !== undefined) return { verdict: "not-repeatable", ...base, cuts: [], glimpses: [], unrepeatable };
  const instants = cutInstants(whole, cuts, seed);
  const glimpses = new Map<string, Glimpse & { readonly cutAt: number }>();
  for (const [index, cutAt] of instants.entries()) {
    const glimpse = firstGlimpse(whole, await run(cutAt), cutAt);
    onProgress?.(index + 3, all);
    if (glimpse === undefined) continue;
    const known = glimpses.get(glimpse.strategy);
    if (known === undefined || glimpse.at < known.at) glimpses.set(glimpse.strategy, { ...glimpse, cutAt });
  }
  const found = [...glimpses.values()].sort((a, b) => a.at - b.at);
  return {
    verdict: found.length === 0 ? "blind" : "sees-the-future",
    ...base,
    cuts: instants,
    glimpses: found,
    unrepeatable: undefined,
  };
};

/**
 * Ascending; all of them after the first instant and before the last. The strategies take turns with their decisions.
 */
export const cutInstants = (
  { startAt, endAt, decisions }: Observed,
  cuts: number,
  seed: number | string,
): readonly number[] => {
  const random = createRandom(`cuts ${seed}`);
  const inside = decisions.filter(({ at }) => at > startAt && at < endAt);
  const places = [...new Set(inside.map(({ strategy }) => strategy))].map((name) => {
    const own = inside.filter(({ strategy }) => strategy === name);
    // A sent order may have waited for quota; by then later data is known.
    const made = own.filter(({ kind }) => kind === "wants" || kind === "asks");
    return made.length > 0 ? made : own;
  });
  const instants = Array.from({ length: cuts }, (_, index) => {
    const own = index % 2 === 0 ? places[(index / 2) % Math.max(1, places.length)] : undefined;
    return own?.[random.whole(0, own.length - 1)]?.at ?? startAt + (endAt - startAt) * (0.02 + 0.96 * random.next());
  });
  return [...new Set(instants)].sort((a, b) => a - b);
};

/** Returns the first different decision of two runs until `untilAt`; undefined if there is none. */
export const firstGlimpse = (whole: Observed, other: Observed, untilAt: number): Glimpse | undefined => {
  const [left, right] = [whole, other].map(({ decisions }) => decisions.filter(({ at }) => at <= untilAt)) as [
    Decision[],
    Decision[],
  ];
  const index = left.findIndex((decision, place) => !isSame(decision, right[place]));
  const place = index < 0 ? left.length : index;
  const [mine, theirs] = [left[place], right[place]];
  if (mine === undefined && theirs === undefined) return undefined;
  // The earlier of two different decisions is the one that should not be there.
  const first = theirs === undefined || (mine !== undefined && mine.at <= theirs.at) ? (mine as Decision) : theirs;
  const shown = { whole: counterpart(left, place, first), other: counterpart(right, place, first) };
  const fields =
    shown.whole !== undefined && shown.other !== undefined ? fieldsOf(first.kind, shown.whole, shown.other) : [];
  return {
    strategy: first.strategy,
    slot: first.kind === "wants" ? slotIn(fields) : first.slot,
    kind: first.kind,
    at: first.at,
    sinceMs: first.at - whole.startAt,
    ...shown,
    fields,
  };
};

/**
 * Decision of a run in that place: for wanted orders the set in force, for other decisions only one of the same kind at
 * the same instant.
 */
const counterpart = (
  decisions: readonly Decision[],
  place: number,
  { at, strategy, kind }: Decision,
): string | undefined => {
  const there = decisions[place];
  if (there?.at === at && there.strategy === strategy && there.kind === kind) return there.what;
  if (kind !== "wants") return undefined;
  return decisions.slice(0, place).findLast((one) => one.kind === "wants" && one.strategy === strategy)?.what;
};

const isSame = (a: Decision, b: Decision | undefined): boolean =>
  b !== undefined &&
  a.at === b.at &&
  a.strategy === b.strategy &&
  a.kind === b.kind &&
  a.slot === b.slot &&
  a.what === b.what;

const fieldsOf = (kind: Decision["kind"], whole: string, other: string): readonly FieldDifference[] => {
  const [a, b] = [whole, other].map((text) => (kind === "wants" ? bySlot(JSON.parse(text)) : JSON.parse(text)));
  return differences(a, b);
};

/** A set of wanted orders by slot: an order that is missing must not make all after it look changed. */
const bySlot = (wanted: unknown): unknown =>
  Array.isArray(wanted)
    ? Object.fromEntries(wanted.map((order: { readonly slot?: string }) => [String(order.slot), order]))
    : wanted;

const slotIn = ([first]: readonly FieldDifference[]): string =>
  first === undefined ? "" : (first.path.split(".")[0] ?? "");
