/**
 * A simulation's summary for people.
 *
 * Invariants: the same summary gives the same text; failures are last, under an empty line each.
 */
import { type Failure, type Summary, timeText } from "./simulate.ts";

export const summaryText = (summary: Summary): string => {
  const { seeds, minutes, simulatedMs, elapsedMs, events, requests, weight, processes, refused, excused, marks, neverReached } = summary;
  const speed = elapsedMs === 0 ? 0 : Math.round(simulatedMs / elapsedMs);
  const reached = Object.keys(marks).length;
  const lines = [
    `${seeds} scenarios of ${minutes} minutes and their quiet ends: ${hours(simulatedMs)} h simulated in ${(elapsedMs / 1_000).toFixed(1)} s, ${speed} times real time`,
    `${events} events, ${requests} requests of weight ${weight}, ${processes} processes, ${refused} refusals by a limit of which ${excused} caused by other clients`,
    `coverage: ${reached} marks reached, ${neverReached.length} never${neverReached.length === 0 ? "" : `: ${neverReached.join("; ")}`}`,
    ...summary.failures.flatMap(failureLines),
    summary.failures.length === 0 ? "no invariant violated" : "",
  ];
  return `${lines.filter((line) => line !== "").join("\n")}\n`;
};

const hours = (ms: number): string => (ms / 3_600_000).toFixed(1);

const failureLines = ({ seed, violation, statement, faults, drawn }: Failure): readonly string[] => [
  "",
  `Invariant violated: seed ${seed}, ${violation.invariant} (${statement}) at ${timeText(violation.at)}: ${violation.text}`,
  `  ${faults.length} of ${drawn} faults are enough:`,
  ...faults.map((line) => `  ${line}`),
];
