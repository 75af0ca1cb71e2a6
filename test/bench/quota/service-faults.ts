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
  | { readonly kind: "cached" }
  /** No counts for `forMs` at the beginning of every `everyMs`. */
  | { readonly kind: "mute"; readonly everyMs: number; readonly forMs: number }
  /** At random, so often on average, the counts of a user stay what they are for up to `mostMs`. */
  | { readonly kind: "stuck"; readonly everyMs: number; readonly mostMs: number }
  /** One of two replicas answers by chance; each of them reads the counts once in 0.2 to 1 s. */
  | { readonly kind: "replicas" }
  /** Counts are rounded to the nearest multiple. */
  | { readonly kind: "rounded"; readonly to: number };

/** What a refusal asks for by `Retry-After`. */
export type RetryAfter =
  | { readonly kind: "nothing" }
  | { readonly kind: "seconds"; readonly seconds: number }
  /** A date so many seconds after the answer. */
  | { readonly kind: "date"; readonly seconds: number };

/** The service answers 503 for `forMs` at the end of every `everyMs`, and counts nothing meanwhile. */
export interface Outages {
  readonly everyMs: number;
  readonly forMs: number;
  readonly retryAfter: RetryAfter;
}

/** A limit that the description does not state: so many calls of a weight in any window of the service's clock. */
export interface UnstatedLimit {
  readonly weight: number;
  readonly most: number;
  readonly windowMs: number;
}

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
  /** The service has counted these calls before they were refused. */
  readonly strayCounted: boolean;
  readonly retryAfter: RetryAfter;
  /** Refused calls count against the key and the user as well. */
  readonly countsRefused: boolean;
  /** Part of each stated limit that is enforced. Answers state what is left of the whole. */
  readonly enforcedShare: number;
  readonly unstated: UnstatedLimit | undefined;
  readonly outages: Outages | undefined;
  /** Weights drawn for each call that weighs `stated` by the table; none where all weigh what is stated. */
  readonly weighs: { readonly stated: number; readonly as: readonly number[] };
  /** The clock of limits and of `Date` is set forth by so much and back again, each after ten minutes. */
  readonly clockStepMs: number;
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
  strayCounted: false,
  retryAfter: { kind: "nothing" },
  countsRefused: false,
  enforcedShare: 1,
  unstated: undefined,
  outages: undefined,
  weighs: { stated: 10, as: [] },
  clockStepMs: 0,
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

type Headers = Readonly<Record<string, string>>;

const secondMs = 1_000;
const stepEveryMs = 600_000;

/** Time on the clock of a service that is set forth and back. */
export const clockOf =
  ({ clockStepMs }: Pick<ServiceFaults, "clockStepMs">): ((at: number) => number) =>
  (at) =>
    Math.floor(at / stepEveryMs) % 2 === 1 ? at + clockStepMs : at;

/** True while the service answers nothing but 503; `ranMs` is its time since the start. */
export const isOut = ({ outages }: Pick<ServiceFaults, "outages">, ranMs: number): boolean =>
  outages !== undefined && ranMs % outages.everyMs >= outages.everyMs - outages.forMs;

/** Header of an answer that refuses at `at`. */
export const retryAfterOf = (fault: RetryAfter, at: number): Headers => {
  switch (fault.kind) {
    case "nothing":
      return {};
    case "seconds":
      return { "retry-after": String(fault.seconds) };
    case "date":
      return { "retry-after": new Date(at + fault.seconds * secondMs).toUTCString() };
    default:
      return fault satisfies never;
  }
};

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

/** Reads the counts of a user once in `leastMs` to `mostMs`. */
const cachedCounts = (random: Random, leastMs = 1_000, mostMs = 3_000): Counts => {
  const kept = new Map<string, { readonly headers: Headers; readonly until: number }>();
  return (user, headers, at) => {
    const last = kept.get(user);
    if (last !== undefined && at < last.until) return last.headers;
    kept.set(user, { headers, until: at + leastMs + (mostMs - leastMs) * random.next() });
    return headers;
  };
};

const stuckCounts = ({ everyMs, mostMs }: CountFault & { kind: "stuck" }, random: Random): Counts => {
  const spells = new Map<string, { readonly from: number; readonly until: number; headers: Headers | undefined }>();
  return (user, headers, at) => {
    let spell = spells.get(user);
    if (spell === undefined || at >= spell.until) {
      const from = at + random.exponential(everyMs);
      spell = { from, until: from + mostMs * random.next(), headers: undefined };
      spells.set(user, spell);
    }
    if (at < spell.from) return headers;
    spell.headers ??= headers;
    return spell.headers;
  };
};

const replicaCounts = (random: Random): Counts => {
  const replicas = [cachedCounts(random, 200, 1_000), cachedCounts(random, 200, 1_000)] as const;
  return (user, headers, at) => replicas[random.next() < 0.5 ? 0 : 1](user, headers, at);
};

const roundedCounts =
  (to: number): Counts =>
  (_user, headers) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, text]) => [name, String(Math.round(Number(text) / to) * to)]),
    );

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
    case "mute":
      return (_user, headers, at) => (at % fault.everyMs < fault.forMs ? {} : headers);
    case "stuck":
      return stuckCounts(fault, random);
    case "replicas":
      return replicaCounts(random);
    case "rounded":
      return roundedCounts(fault.to);
    default:
      return fault satisfies never;
  }
};
