/**
 * The quota over time: what each minute of a run used, what had to wait for which layer, and what was refused.
 *
 * Invariants: minutes are those of the service's clock, counted where requests arrive; a wait belongs to the minute in
 * which it ended and to the layer that held the queue last; grouping into longer spans adds sums and keeps peaks. Of a
 * run without a known end minutes that are long over are kept as hours, and those as days; the spans of its report are
 * longer.
 * Not here: the service's own count (venue/rate-limiter.ts), which gives the peaks of the whole run.
 */
import type { Event } from "../journal/events.ts";

/** Use of the quota in one minute. */
export interface QuotaMinute {
  /** Start, milliseconds since the epoch. */
  readonly at: number;
  /** Sum over all users. */
  readonly weight: number;
  /** Highest weight that a user spent in a minute. */
  readonly peakWeight: number;
  readonly requests: number;
  /** Requests in the fullest second of a key. */
  readonly peakKey: number;
  /** Actions that had to wait, and for how long, by the layer they waited for. */
  readonly waited: number;
  readonly waitedMs: Readonly<Record<WaitedFor, number>>;
  /** Answers with status 429. */
  readonly refused: number;
}

/** `turn`: behind others in the queue, while no layer was full. */
export type WaitedFor = "uid" | "key" | "ip" | "other" | "turn";
export const waitedFor: readonly WaitedFor[] = ["uid", "key", "ip", "other", "turn"];

export interface QuotaOverTime {
  readonly spanMs: number;
  /** Spans of the run without gaps, at most `spansMax`. */
  readonly spans: readonly QuotaMinute[];
}

interface Arrival {
  readonly at: number;
  readonly key: string | undefined;
  readonly uid: string | undefined;
  readonly weight: number;
  readonly status: number;
}

type Minute = { -readonly [K in keyof Omit<QuotaMinute, "waitedMs" | "peakWeight">]: QuotaMinute[K] } & {
  readonly waitedMs: Record<WaitedFor, number>;
  readonly weights: Map<string, number>;
};

const minuteMs = 60_000;
const secondMs = 1_000;
const spansMax = 120;

const noWaits = (): Record<WaitedFor, number> => ({ uid: 0, key: 0, ip: 0, other: 0, turn: 0 });
const emptyMinute = (at: number): Minute => ({
  at,
  weight: 0,
  requests: 0,
  peakKey: 0,
  waited: 0,
  waitedMs: noWaits(),
  refused: 0,
  weights: new Map(),
});
const layerOf = (name: string): WaitedFor => (name === "uid" || name === "key" || name === "ip" ? name : "other");

export class QuotaMinutes {
  /** Milliseconds by which the service's clock is ahead. */
  readonly #skewMs: number;
  readonly #keptMax: number;
  readonly #byMinute = new Map<number, Minute>();
  /** The minute asked about last: requests come many a minute. */
  #lastIndex = Number.NaN;
  #last: Minute | undefined;
  /** Minutes joined into longer spans, by the first of them. */
  #older: ReadonlyMap<number, QuotaMinute> = new Map();
  readonly #seconds = new Map<string, { second: number; count: number }>();
  #hold = { layer: "turn" as WaitedFor, until: Number.NEGATIVE_INFINITY };

  /** At most `keptMax` minutes are kept as such, and about as many longer spans; 4,000 lose nothing of a report. */
  constructor(skewMs: number, keptMax = Number.POSITIVE_INFINITY) {
    this.#skewMs = skewMs;
    this.#keptMax = keptMax;
  }

  onEvent(event: Event): void {
    if (event.type === "action.held") this.#hold = { layer: layerOf(event.layer), until: event.until };
    else if (event.type === "action.sent" && event.waitedMs > 0) {
      const minute = this.#minuteOf(this.#indexOf(event.at));
      minute.waited++;
      minute.waitedMs[this.#hold.until >= event.at - event.waitedMs ? this.#hold.layer : "turn"] += event.waitedMs;
    }
  }

  arrived({ at, key, uid, weight, status }: Arrival): void {
    const index = Math.floor((at + this.#skewMs) / minuteMs);
    const minute = index === this.#lastIndex && this.#last !== undefined ? this.#last : this.#minuteOf(index);
    minute.requests++;
    if (key !== undefined) {
      const second = Math.floor((at + this.#skewMs) / secondMs);
      let last = this.#seconds.get(key);
      if (last === undefined) {
        last = { second, count: 0 };
        this.#seconds.set(key, last);
      } else if (last.second !== second) {
        last.second = second;
        last.count = 0;
      }
      last.count++;
      if (last.count > minute.peakKey) minute.peakKey = last.count;
    }
    if (status === 429) minute.refused++;
    else if (uid !== undefined) {
      minute.weight += weight;
      minute.weights.set(uid, (minute.weights.get(uid) ?? 0) + weight);
    }
  }

  /** Every minute from the one of `startAt` to the one of `endAt`. */
  minutes(startAt: number, endAt: number): readonly QuotaMinute[] {
    const { first, last, groups } = this.#grouped(startAt, endAt);
    return Array.from({ length: last - first + 1 }, (_, index) =>
      minuteFrom(first + index, groups.get(first + index) ?? []),
    );
  }

  /**
   * Of these the first, the last and all in which something was counted: what sums and peaks can be made of, in a run
   * of years too.
   */
  used(startAt: number, endAt: number): readonly QuotaMinute[] {
    return [...this.#grouped(startAt, endAt).groups]
      .sort(([a], [b]) => a - b)
      .map(([index, group]) => minuteFrom(index, group));
  }

  #minuteOf(index: number): Minute {
    let minute = this.#byMinute.get(index);
    if (minute === undefined) {
      if (this.#byMinute.size >= this.#keptMax) this.#join();
      minute = emptyMinute(index * minuteMs);
      this.#byMinute.set(index, minute);
    }
    this.#lastIndex = index;
    this.#last = minute;
    return minute;
  }

  #join(): void {
    const settledMinutes = [...this.#byMinute].map(([index, minute]) => [index, settled(minute)] as const);
    this.#byMinute.clear();
    this.#last = undefined;
    const hours = spansOf([...this.#older, ...settledMinutes], hourMs);
    this.#older = hours.size > this.#keptMax ? spansOf([...hours], dayMs) : hours;
  }

  #indexOf(at: number): number {
    return Math.floor((at + this.#skewMs) / minuteMs);
  }

  #grouped(startAt: number, endAt: number) {
    const first = this.#indexOf(startAt);
    const last = Math.max(first, this.#indexOf(endAt));
    const groups = new Map<number, QuotaMinute[]>([
      [first, []],
      [last, []],
    ]);
    const recent = [...this.#byMinute].map(([index, minute]) => [index, settled(minute)] as const);
    for (const [index, minute] of [...this.#older, ...recent]) {
      // What the engine reads before the recording begins, and what comes back after its end, is part of the run.
      const within = Math.min(last, Math.max(first, index));
      const group = groups.get(within);
      if (group === undefined) groups.set(within, [minute]);
      else group.push(minute);
    }
    return { first, last, groups };
  }
}

const minuteFrom = (index: number, group: readonly QuotaMinute[]): QuotaMinute => {
  const [only] = group;
  return group.length === 1 && only?.at === index * minuteMs ? only : joined(index * minuteMs, group);
};

/** Joined where they belong to one span of this length, by the first minute that each span has. */
const spansOf = (
  minutes: readonly (readonly [number, QuotaMinute])[],
  spanMs: number,
): ReadonlyMap<number, QuotaMinute> => {
  const groups = new Map<number, [first: number, group: QuotaMinute[]]>();
  for (const [index, minute] of minutes) {
    const span = Math.floor((index * minuteMs) / spanMs);
    const group = groups.get(span);
    if (group === undefined) groups.set(span, [index, [minute]]);
    else group[1].push(minute);
  }
  return new Map([...groups.values()].map(([first, group]) => [first, joined(first * minuteMs, group)]));
};

const settled = ({ at, weight, requests, peakKey, waited, waitedMs, refused, weights }: Minute): QuotaMinute => {
  let peakWeight = 0;
  for (const one of weights.values()) peakWeight = Math.max(peakWeight, one);
  return { at, weight, peakWeight, requests, peakKey, waited, refused, waitedMs: rounded(waitedMs) };
};

/** Waits are sums of many floats; a thousandth of a millisecond is more than is shown. */
const rounded = (waits: Readonly<Record<WaitedFor, number>>): Record<WaitedFor, number> => {
  const short = noWaits();
  for (const layer of waitedFor) short[layer] = Math.round(waits[layer] * 1_000) / 1_000;
  return short;
};

const joined = (at: number, minutes: readonly QuotaMinute[]): QuotaMinute => {
  const total = { at, weight: 0, peakWeight: 0, requests: 0, peakKey: 0, waited: 0, refused: 0 };
  const waits = noWaits();
  for (const { weight, peakWeight, requests, peakKey, waited, waitedMs, refused } of minutes) {
    total.weight += weight;
    total.peakWeight = Math.max(total.peakWeight, peakWeight);
    total.requests += requests;
    total.peakKey = Math.max(total.peakKey, peakKey);
    total.waited += waited;
    total.refused += refused;
    for (const layer of waitedFor) waits[layer] += waitedMs[layer];
  }
  return { ...total, waitedMs: rounded(waits) };
};

const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const spanLengths = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * minuteMs),
  ...[1, 2, 3, 6, 12].map((hours) => hours * hourMs),
  ...[1, 2, 7, 14, 28, 91, 364].map((days) => days * dayMs),
];

/** Minutes joined into the shortest round spans of which there are at most `spansMax`. */
export const overTime = (minutes: readonly QuotaMinute[]): QuotaOverTime => {
  const [first] = minutes;
  const last = minutes[minutes.length - 1];
  if (first === undefined || last === undefined) return { spanMs: minuteMs, spans: [] };
  const countOf = (spanMs: number): number => Math.floor(last.at / spanMs) - Math.floor(first.at / spanMs) + 1;
  const spanMs = spanLengths.find((length) => countOf(length) <= spansMax) ?? 3_640 * dayMs;
  const groups = Array.from({ length: countOf(spanMs) }, (): QuotaMinute[] => []);
  const base = Math.floor(first.at / spanMs);
  for (const minute of minutes) groups[Math.floor(minute.at / spanMs) - base]?.push(minute);
  return { spanMs, spans: groups.map((group, index) => joined((base + index) * spanMs, group)) };
};

/** Total waiting time of actions by the layer that they waited for, in whole milliseconds. */
export const waitedIn = (minutes: readonly QuotaMinute[]): Record<WaitedFor, number> =>
  Object.fromEntries(
    waitedFor.map((layer) => [layer, Math.round(minutes.reduce((total, { waitedMs }) => total + waitedMs[layer], 0))]),
  ) as Record<WaitedFor, number>;

/** Highest use of each layer: requests and weight of a minute, requests of a key's second. */
export const peaksIn = (minutes: readonly QuotaMinute[]): Readonly<Record<"ip" | "key" | "uid", number>> => {
  const peak = (of: (minute: QuotaMinute) => number): number =>
    minutes.reduce((most, minute) => Math.max(most, of(minute)), 0);
  return {
    ip: peak(({ requests }) => requests),
    key: peak(({ peakKey }) => peakKey),
    uid: peak(({ peakWeight }) => peakWeight),
  };
};
