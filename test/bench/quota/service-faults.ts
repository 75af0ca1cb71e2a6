/**
 * What a service, an edge or a path may do otherwise than the description says, as data; and the pieces that do it.
 *
 * Invariants: `asDescribed` changes nothing and draws nothing, so that scenarios without a fault stay what they were.
 */
import type { Random } from "../../../src/random.ts";

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
  | { readonly kind: "missing"; readonly share: number };

export interface ServiceFaults {
  /** Minutes and seconds of the limits begin so long after those of the calendar. */
  readonly minuteFromMs: number;
  readonly secondFromMs: number;
  /** No window of its own begins anywhere: the last minute and the last second count. */
  readonly sliding: boolean;
  readonly date: DateFault;
  readonly counts: CountFault;
  readonly changes: readonly LimitChange[];
  /** Half of them never arrive, of the other half the answer is lost; the client gives up after ten seconds. */
  readonly lostShare: number;
  /** Requests that arrive twice. */
  readonly copiedShare: number;
}

export const asDescribed: ServiceFaults = {
  minuteFromMs: 0,
  secondFromMs: 0,
  sliding: false,
  date: { kind: "right" },
  counts: { kind: "right" },
  changes: [],
  lostShare: 0,
  copiedShare: 0,
};

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

/** What is sent of the counts of an accepted call of `user`. */
export const createCounts = (fault: CountFault, random: Random): ((user: string, headers: Headers) => Headers) => {
  const before = new Map<string, Headers>();
  return (user, headers) => {
    if (fault.kind === "right") return headers;
    if (fault.kind === "missing") return random.next() < fault.share ? {} : headers;
    const shown = before.get(user) ?? headers;
    before.set(user, headers);
    return shown;
  };
};
