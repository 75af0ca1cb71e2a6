/**
 * Time of a stretch of work by two clocks, as the machine is seldom ours alone.
 *
 * Invariants: CPU time is that of the whole process, its collector's threads included; both are nanoseconds a call.
 */

export interface Spent {
  readonly wallNs: number;
  readonly cpuNs: number;
}

/** Starts at once; the returned function tells what has passed. */
export const stopwatch = (calls: number): (() => Spent) => {
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  return () => {
    const wallMs = performance.now() - startedAt;
    return { wallNs: (wallMs * 1e6) / calls, cpuNs: (process.cpuUsage(cpu).user * 1e3) / calls };
  };
};

export const sum = (a: Spent, b: Spent): Spent => ({ wallNs: a.wallNs + b.wallNs, cpuNs: a.cpuNs + b.cpuNs });

/** The least of each clock by itself: what disturbs one does not disturb the other. */
export const least = (all: readonly Spent[]): Spent => ({
  wallNs: Math.min(...all.map(({ wallNs }) => wallNs)),
  cpuNs: Math.min(...all.map(({ cpuNs }) => cpuNs)),
});
