/**
 * Anomalies of the connection: all are counted, reports are rate-limited.
 *
 * Invariants: every anomaly is counted; of each kind the first ten are reported, then one each time their number has
 * doubled; memory grows with the kinds, not with the anomalies.
 */
import type { OnAnomaly } from "../transport/socket-channel.ts";

interface Anomalies {
  readonly note: OnAnomaly;
  /** Number of anomalies by kind. */
  readonly counts: ReadonlyMap<string, number>;
}

const reportedInFull = 10;

/** Continues the counts in `counts`, if given. */
export const createAnomalies = (report: OnAnomaly, counts = new Map<string, number>()): Anomalies => {
  return {
    counts,
    note: (what, detail) => {
      const count = (counts.get(what) ?? 0) + 1;
      counts.set(what, count);
      if (!isReported(count)) return;
      report(what, count > reportedInFull ? `${detail} (${count} such so far)` : detail);
    },
  };
};

const isReported = (count: number): boolean =>
  count <= reportedInFull || Number.isInteger(Math.log2(count / reportedInFull));
