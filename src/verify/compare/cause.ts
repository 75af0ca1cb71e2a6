/**
 * The likely cause of the first difference, in words, with the lines that speak for it.
 *
 * Invariants: what the runs are known to differ in is named before anything is guessed from their behaviour; a guess says what it
 * rests on; where nothing speaks for a cause, that is said.
 * Not here: finding differences (differences.ts).
 */
import { differences } from "../session/divergence.ts";
import type { Difference, Evidence, Scale, Side } from "./differences.ts";
import type { Hold, OrderLife, RunFacts, RunRecord } from "./run-record.ts";

type CauseKind = "market" | "latency" | "quota" | "refusal" | "seed" | "config" | "model" | "unknown";

export interface Cause {
  readonly kind: CauseKind;
  readonly words: string;
  readonly evidence: readonly Evidence[];
}

/** One thing in which two runs are known to differ. */
export interface KnownChange {
  readonly kind: "market" | "latency" | "quota" | "seed" | "config" | "model";
  readonly words: string;
}

const said = (value: unknown): string => JSON.stringify(value) ?? "nothing";

/** What both runs tell of themselves and tell differently. */
export const knownChanges = (a: RunFacts, b: RunFacts): readonly KnownChange[] => {
  const both = <K extends keyof RunFacts>(name: K): boolean => a[name] !== undefined && b[name] !== undefined && a[name] !== b[name];
  const changes: KnownChange[] = [];
  if (both("market")) changes.push({ kind: "market", words: `other market data: ${short(a.market)} in A, ${short(b.market)} in B` });
  if (a.config !== undefined && b.config !== undefined) {
    for (const { path, recorded, replayed } of differences(a.config, b.config)) {
      changes.push({ kind: "config", words: `config ${path}: ${said(recorded)} in A, ${said(replayed)} in B` });
    }
  }
  if (both("limits"))
    changes.push({
      kind: "quota",
      words: `limits: ${a.limits === true ? "kept" : "off"} in A, ${b.limits === true ? "kept" : "off"} in B`,
    });
  if (both("latency")) changes.push({ kind: "latency", words: `latency: ${a.latency} in A, ${b.latency} in B` });
  if (both("seed")) changes.push({ kind: "seed", words: `seed: ${a.seed} in A, ${b.seed} in B` });
  if (both("service")) changes.push({ kind: "model", words: `service: ${a.service} in A, ${b.service} in B` });
  const [left, right] = [a.assumptions ?? [], b.assumptions ?? []];
  if (a.assumptions !== undefined && b.assumptions !== undefined) {
    for (const line of left) if (!right.includes(line)) changes.push({ kind: "model", words: `only A assumes: ${line}` });
    for (const line of right) if (!left.includes(line)) changes.push({ kind: "model", words: `only B assumes: ${line}` });
  }
  return changes;
};

const short = (hash: string | undefined): string => (hash ?? "").slice(0, 12);

export const causeOf = (first: Difference, a: RunRecord, b: RunRecord, scale: Scale): Cause => {
  const known = knownChanges(a.facts, b.facts);
  const story = { first, a, b, scale, known };
  const sign = fromRefusal(story) ?? fromQuota(story);
  const found = deeper(story, sign) ?? sign ?? fromFacts(story) ?? fromArrival(story) ?? fromModel(story);
  if (found !== undefined) return { ...found, evidence: found.evidence.length > 0 ? found.evidence : linesOf(first) };
  const apart =
    first.of === "outcome" ? "other market data or another model of fills" : "other market data, options, seed or code of the strategy";
  const blank = a.facts.seed === undefined || b.facts.seed === undefined;
  return {
    kind: "unknown",
    words: `Nothing in the runs tells why. What fits: ${apart}.${blank ? " A journal does not tell its market, seed and options; a session does, and so does a report beside the journal." : ""}`,
    evidence: linesOf(first),
  };
};

/**
 * A refusal or a hold is a cause of its own, unless the runs had other data or other options to begin with, or the service took
 * offence at the market of the moment, which is another one for who comes later.
 */
const deeper = (story: Story, sign: Cause | undefined): Cause | undefined => {
  if (sign === undefined) return undefined;
  const facts = fromFacts(story);
  const other =
    facts?.kind === "market" || facts?.kind === "config" ? facts : isMomentary(story.first) ? (facts ?? fromArrival(story)) : undefined;
  return other === undefined
    ? undefined
    : { kind: other.kind, words: `${other.words} It shows first so: ${sign.words}`, evidence: sign.evidence };
};

const isMomentary = ({ kind, a, b }: Difference): boolean =>
  kind === "end" && [a, b].some((order) => order?.phase === "rejected" && /post.?only|would (have )?(tak|cross|match)/i.test(order.reason));

interface Story {
  readonly first: Difference;
  readonly a: RunRecord;
  readonly b: RunRecord;
  readonly scale: Scale;
  readonly known: readonly KnownChange[];
}

const other = (side: Side): Side => (side === "A" ? "B" : "A");

/** The last lines of what either run says of the order. */
const linesOf = ({ a, b, refusal, only }: Difference): readonly Evidence[] => [
  ...(a?.lines ?? []).slice(-3).map((line) => ({ run: "A" as const, line })),
  ...(b?.lines ?? []).slice(-3).map((line) => ({ run: "B" as const, line })),
  ...(refusal === undefined || only === undefined ? [] : [{ run: only, line: refusal.line }]),
];

/** Where either run says that the order left. */
const departures = ({ a, b }: Difference): readonly Evidence[] => [
  ...(a?.lines ?? []).slice(0, 1).map((line) => ({ run: "A" as const, line })),
  ...(b?.lines ?? []).slice(0, 1).map((line) => ({ run: "B" as const, line })),
];

const limitWords = /rate limit|too many|quota|\b429\b|50011/i;

const fromRefusal = ({ first, a, b, scale }: Story): Cause | undefined => {
  if (first.kind === "refused-in-one" && first.refusal !== undefined) {
    return { kind: "refusal", words: `${first.only} refused the order before it left: ${first.refusal.reason}.`, evidence: [] };
  }
  if (first.kind === "end") {
    const turned = (
      [
        ["A", first.a],
        ["B", first.b],
      ] as const
    ).find(([, order]) => order?.phase === "rejected");
    if (turned === undefined) return undefined;
    const reason = (turned[1]?.reason ?? "").replace(/\.$/, "");
    return {
      kind: limitWords.test(reason) ? "quota" : "refusal",
      words: `The service rejected the order in ${turned[0]} only: ${reason}.`,
      evidence: [],
    };
  }
  if (first.kind !== "placed-by-one" || first.only === undefined) return undefined;
  const run = other(first.only);
  const refusal = (run === "A" ? a : b).refusals.find(
    ({ strategy, slot, ms }) =>
      strategy === first.strategy && slot === first.slot && Math.abs(ms + (run === "B" ? scale.shiftMs : 0) - first.ms) <= scale.withinMs,
  );
  if (refusal === undefined) return undefined;
  return { kind: "refusal", words: `${run} refused the order before it left: ${refusal.reason}.`, evidence: [{ run, line: refusal.line }] };
};

const holdsAt = ({ a, b, scale }: Story, run: Side, ms: number): readonly Hold[] => {
  const shift = run === "B" ? scale.shiftMs : 0;
  return (run === "A" ? a : b).holds.filter(
    ({ ms: from, untilMs }) => from + shift <= ms + scale.withinMs && untilMs + shift >= ms - scale.withinMs,
  );
};

const fromQuota = (story: Story): Cause | undefined => {
  const { first, known } = story;
  const why = known.filter(({ kind }) => kind === "quota" || kind === "config").map(({ words }) => ` (${words})`);
  if (first.kind === "wait" && first.only !== undefined) {
    const [wait] = first.fields;
    // Both were held: a slower way makes the same hold longer.
    const both = (first.a?.waitedMs ?? 0) > 0 && (first.b?.waitedMs ?? 0) > 0;
    if (both && why.length === 0 && fromArrival(story) !== undefined) return undefined;
    const holds = holdsAt(story, first.only, first.ms);
    const words = `The quota held the placement back in ${first.only}: it waited ${wait?.a} in A and ${wait?.b} in B${why[0] ?? ""}.`;
    return {
      kind: "quota",
      words,
      evidence: [...holds.slice(0, 3).map(({ line }) => ({ run: first.only as Side, line })), ...departures(first)],
    };
  }
  if (first.kind !== "placed-by-one" || first.only === undefined) return undefined;
  const run = other(first.only);
  const holds = holdsAt(story, run, first.ms);
  // Both were held alike: then that is not what sets them apart.
  if (holds.length <= holdsAt(story, first.only, first.ms).length) return undefined;
  const words = `The quota held actions back in ${run} at that time (${holds[0]?.layer} layer), and the wish was replaced before it left${why[0] ?? ""}.`;
  return { kind: "quota", words, evidence: holds.slice(0, 3).map(({ line }) => ({ run, line })) };
};

const order: readonly KnownChange["kind"][] = ["market", "config", "quota", "latency", "seed"];

const fromFacts = ({ first, known }: Story): Cause | undefined => {
  const likely = order.flatMap((kind) => known.filter((change) => change.kind === kind));
  const [main] = likely;
  if (main === undefined) return undefined;
  const arrival = arrivalWords(first);
  const missed = main.kind === "latency" || main.kind === "seed" ? (arrival ?? "") : "";
  const rest = likely.slice(1).map(({ words }) => words);
  return {
    kind: main.kind,
    words: `The runs differ in ${main.words}.${missed}${rest.length > 0 ? ` Also: ${rest.join("; ")}.` : ""}`,
    evidence: [],
  };
};

/** The same order reached the service after different times. */
const arrivalWords = ({ a, b, kind }: Difference): string | undefined => {
  const [mine, theirs] = [a?.ackAfterMs, b?.ackAfterMs];
  if (mine === undefined || theirs === undefined || !isApart(mine, theirs)) return undefined;
  const late = mine > theirs ? "A" : "B";
  const missed = kind === "end" || kind === "fill" ? ` ${late} came too late for the same fill.` : "";
  return ` The order was heard of as taken after ${mine.toFixed(1)} ms in A and ${theirs.toFixed(1)} ms in B.${missed}`;
};

const isApart = (mine: number, theirs: number): boolean => Math.abs(mine - theirs) > Math.max(2, 0.2 * Math.min(mine, theirs));

const fromArrival = ({ first, a, b }: Story): Cause | undefined => {
  const own = first.of === "outcome" ? arrivalWords(first) : undefined;
  if (own !== undefined) return { kind: "latency", words: `Latency.${own}`, evidence: [] };
  const [mine, theirs] = [medianAck(a.orders ?? []), medianAck(b.orders ?? [])];
  if (mine === undefined || theirs === undefined || !isApart(mine, theirs)) return undefined;
  const words = `Latency: placements are heard of as taken after ${mine.toFixed(1)} ms in A and ${theirs.toFixed(1)} ms in B (medians), so what is decided rests on another moment.`;
  return { kind: "latency", words, evidence: [] };
};

export const medianAck = (orders: readonly OrderLife[]): number | undefined => {
  const sorted = orders.flatMap(({ ackAfterMs }) => ackAfterMs ?? []).sort((x, y) => x - y);
  return sorted[Math.floor((sorted.length - 1) / 2)];
};

/** The same order, taken as quickly, on the same market: what remains is how fills are modelled. */
const fromModel = ({ first, a, b, known }: Story): Cause | undefined => {
  const changes = known.filter(({ kind }) => kind === "model");
  const services = [a, b].map(({ facts }) => facts.service);
  const modelled = services.includes("backtest") && services.some((service) => service !== undefined && service !== "backtest");
  if (changes.length === 0 || (first.of !== "outcome" && !modelled)) return undefined;
  const missed = first.kind === "end" || first.kind === "fill" || first.kind === "fill-later";
  const words = missed
    ? "The same order was taken as quickly on the same market but filled differently: the model of fills (place in the queue, prints at the touch) is not what happened."
    : "The runs rest on different models of the service.";
  return {
    kind: "model",
    words: `${words} ${changes
      .map((change) => change.words)
      .slice(0, 4)
      .join("; ")}.`,
    evidence: [],
  };
};
