/**
 * What a stretch of work took: wall clock, processor time of this process, and how much of the machine others used meanwhile.
 *
 * Invariants: whoever compares two stretches can see whether the machine was his alone.
 */
import { cpus, loadavg } from "node:os";
import { performance } from "node:perf_hooks";

const busyMs = () => cpus().reduce((total, { times }) => total + times.user + times.nice + times.sys + times.irq, 0);
const ownMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Seconds; `others` is in cores. */
export const timed = async (run) => {
  const before = { at: performance.now(), busy: busyMs(), own: ownMs() };
  const value = await run();
  const wallMs = performance.now() - before.at;
  const own = ownMs() - before.own;
  const others = Math.max(0, busyMs() - before.busy - own) / wallMs;
  return { value, seconds: wallMs / 1_000, cpu: own / 1_000, others };
};

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

export const machineLine = (others) =>
  `${cpus().length} cores, load average ${loadavg()[0].toFixed(1)}, others used ${median(others).toFixed(2)} cores (median, at most ${Math.max(...others).toFixed(2)})`;
