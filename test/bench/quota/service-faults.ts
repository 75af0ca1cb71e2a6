/**
 * What a service, an edge or a path may do otherwise than the description says, as data; and the pieces that do it.
 *
 * Invariants: `asDescribed` changes nothing and draws nothing, so that scenarios without a fault stay what they were.
 */
import type { Random } from "../../../src/random.ts";
import type { Counting } from "./counting.ts";

type LayerName = "ip" | "key" | "uid";

export interface LimitChange {
  /** From the start of the run. */
  readonly atMs: number;
  readonly layer: LayerName;
  readonly max: number;
}

/** What the edge writes into `Date`. */
export type DateFault =
  | { readonly kind: "right" }
  | { readonly kind: "rounded-up" }
  | { readonly kind: "off"; readonly ms: number }
  /** Two edges, one early and one late by so much; which one answers is chance. */
  | { readonly kind: "edges"; readonly ms: number }
  /** The edge's clock jumps by so much every ten minutes, forth and back. */
  | { readonly kind: "steps"; readonly ms: number }
  | { readonly kind: "missing"; readonly share: number }
  | { readonly kind: "missing-first" };

/** Which counts an answer carries. */
export type CountFault =
  | { readonly kind: "right" }
  /** Those of the user's answer before. */
  | { readonly kind: "behind" }
  /** Those of the windows as they stood before the call. */
  | { readonly kind: "before-call" }
  | { readonly kind: "missing"; readonly share: number }
  /** A share of the answers carries another scope's count of the layer. */
  | { readonly kind: "another"; readonly share: number; readonly layer: "key" | "uid" }
  /** A share of the answers carries counts between 0 and 5,000. */
  | { readonly kind: "garbage"; readonly share: number }
  /** All counts of a user are read once in 1 to 3 s. */
  | { readonly kind: "cached" };

export interface ServiceFaults {
  /** Minutes and seconds of the limits begin so long after those of the calendar. */
  readonly minuteFromMs: number;
  readonly secondFromMs: number;
  /** No window of its own begins anywhere: the last minute and the last second count. */
  readonly sliding: boolean;
  /** How layers count, though the description states windows of a clock. */
  readonly counting: Readonly<Partial<Record<LayerName, Counting>>>;
  /** Nodes that count by themselves; a call goes to one of them by chance. */
  readonly nodes: number;
  /** Calls that a machine in front refuses with 429, of which the service counts nothing. */
  readonly strayShare: number;
  /** Weights drawn for each placement; empty where a placement weighs what the table states. */
  readonly placementWeighs: readonly number[];
  readonly date: DateFault;
  readonly counts: CountFault;
  readonly changes: readonly LimitChange[];
  /** The service announces its changes, and they are declared to the limiter. */
  readonly announced: boolean;
  /** Half of them never arrive, of the other half the answer is lost; the client gives up after ten seconds. */
  readonly lostShare: number;
  /** Requests that arrive twice. */
  readonly copiedShare: number;
}

export const asDescribed: ServiceFaults = {
  minuteFromMs: 0,
  secondFromMs: 0,
  sliding: false,
  counting: {},
  nodes: 1,
  strayShare: 0,
  placementWeighs: [],
  date: { kind: "right" },
  counts: { kind: "right" },
  changes: [],
  announced: false,
  lostShare: 0,
  copiedShare: 0,
};

/** The same rule for each layer. */
export const onAllLayers = (counting: Counting): ServiceFaults["counting"] => ({
  ip: counting,
  key: counting,
  uid: counting,
});

const secondMs = 1_000;
const stepEveryMs = 600_000;

/** Stamps of one service: the instant an answer says it left at, in whole seconds, or nothing. */
export const createStamps = (fault: DateFault, random: Random): ((at: number) => number | undefined) => {
  let answers = 0;
  let steppedFrom: number | undefined;
  const floor = (at: number): number => Math.floor(at / secondMs) * secondMs;
  return (at) => {
    answers++;
    switch (fault.kind) {
      case "right":
        return floor(at);
      case "rounded-up":
        return Math.ceil(at / secondMs) * secondMs;
      case "off":
        return floor(at + fault.ms);
      case "edges":
        return floor(at + (random.next() < 0.5 ? fault.ms : -fault.ms));
      case "steps": {
        steppedFrom ??= at;
        return floor(at + (Math.floor((at - steppedFrom) / stepEveryMs) % 2 === 1 ? fault.ms : 0));
      }
      case "missing":
        return random.next() < fault.share ? undefined : floor(at);
      case "missing-first":
        return answers === 1 ? undefined : floor(at);
      default:
        return fault satisfies never;
    }
  };
};

type Headers = Readonly<Record<string, string>>;
type Counts = (user: string, headers: Headers, at: number) => Headers;

const garbageMost = 5_000;
const layerHeaders = { key: "x-ratelimit-key-remaining", uid: "x-ratelimit-uid-weight-used" } as const;

/** Counts of another scope, which is used at random, on a share of the answers. */
const anotherCounts = ({ share, layer }: CountFault & { kind: "another" }, random: Random): Counts => {
  const most = layer === "key" ? 11 : 1_201;
  return (_user, headers) =>
    random.next() < share ? { ...headers, [layerHeaders[layer]]: String(Math.floor(most * random.next())) } : headers;
};

const garbageCounts =
  (share: number, random: Random): Counts =>
  (_user, headers) =>
    random.next() < share
      ? Object.fromEntries(Object.keys(headers).map((name) => [name, String(Math.floor(garbageMost * random.next()))]))
      : headers;

const cachedCounts = (random: Random): Counts => {
  const kept = new Map<string, { readonly headers: Headers; readonly until: number }>();
  return (user, headers, at) => {
    const last = kept.get(user);
    if (last !== undefined && at < last.until) return last.headers;
    kept.set(user, { headers, until: at + 1_000 + 2_000 * random.next() });
    return headers;
  };
};

const countsBehind = (): Counts => {
  const before = new Map<string, Headers>();
  return (user, headers) => {
    const shown = before.get(user) ?? headers;
    before.set(user, headers);
    return shown;
  };
};

/** Counts that the answer to an accepted call of `user` carries at `at`. */
export const createCounts = (fault: CountFault, random: Random): Counts => {
  switch (fault.kind) {
    case "right":
    case "before-call":
      return (_user, headers) => headers;
    case "missing":
      return (_user, headers) => (random.next() < fault.share ? {} : headers);
    case "behind":
      return countsBehind();
    case "another":
      return anotherCounts(fault, random);
    case "garbage":
      return garbageCounts(fault.share, random);
    case "cached":
      return cachedCounts(random);
    default:
      return fault satisfies never;
  }
};
