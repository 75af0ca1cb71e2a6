/**
 * What should not happen on the wire: counted without end, told without flooding.
 *
 * Invariants: every anomaly is counted; of each kind the first ten are told, then one each time their number has doubled; what
 * is kept grows with the kinds, not with the anomalies.
 */
import type { OnAnomaly } from "../transport/socket-channel.ts";

interface Anomalies {
  readonly note: OnAnomaly;
  /** How many there were of each kind. */
  readonly counts: ReadonlyMap<string, number>;
}

const toldInFull = 10;

/** Counts on in `counts`, where it is given. */
export const createAnomalies = (tell: OnAnomaly, counts = new Map<string, number>()): Anomalies => {
  return {
    counts,
    note: (what, detail) => {
      const count = (counts.get(what) ?? 0) + 1;
      counts.set(what, count);
      if (!isTold(count)) return;
      tell(what, count > toldInFull ? `${detail} (${count} such so far)` : detail);
    },
  };
};

const isTold = (count: number): boolean => count <= toldInFull || Number.isInteger(Math.log2(count / toldInFull));
