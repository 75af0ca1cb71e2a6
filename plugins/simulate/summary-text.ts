/**
 * A simulation's summary for people.
 *
 * Invariants: the same summary gives the same text; it is one line, the violations below it, and the rest only on
 * request.
 */
import { counted, grouped } from "sluice/extension";
import { type Failure, type Summary, timeText } from "./simulation.ts";

/** `verbose` adds the counts, and every situation by whether it was reached. */
export const summaryText = (summary: Summary, verbose = false): string => {
  const { seeds, minutes, simulatedMs, elapsedMs, failures, marks, neverReached } = summary;
  const reached = Object.keys(marks).length;
  const verdict =
    failures.length === 0 ? "no invariant violated" : `invariants violated in ${counted(failures.length, "scenario")}`;
  const extent = `${counted(seeds, "scenario")} of ${minutes} min (${hours(simulatedMs)} h simulated in ${(elapsedMs / 1_000).toFixed(1)} s)`;
  const situations = `${reached} of ${reached + neverReached.length} situations reached`;
  const lines = [
    ...(verbose ? countLines(summary) : []),
    `${extent}: ${verdict}; ${situations}${verbose ? "" : ", --verbose lists them"}`,
    ...failures.flatMap(failureLines),
  ];
  return `${lines.join("\n")}\n`;
};

const countLines = (summary: Summary): readonly string[] => {
  const { simulatedMs, elapsedMs, events, requests, weight, processes, refused, excused, marks, neverReached } =
    summary;
  const speed = elapsedMs === 0 ? 0 : Math.round(simulatedMs / elapsedMs);
  return [
    `${grouped(events)} events, ${counted(requests, "request")} of weight ${grouped(weight)}, ${counted(processes, "process", "processes")}, ${grouped(speed)} × real time`,
    `${counted(refused, "refusal")} by a limit, ${grouped(excused)} of them caused by other clients`,
    "reached, and how often:",
    ...Object.entries(marks).map(([name, count]) => `  ${name}: ${grouped(count)}`),
    ...(neverReached.length === 0 ? [] : ["never reached:", ...neverReached.map((name) => `  ${name}`)]),
    "",
  ];
};

const hours = (ms: number): string => (ms / 3_600_000).toFixed(1);

const failureLines = ({ seed, violation, statement, faults, drawn }: Failure): readonly string[] => [
  "",
  `Invariant violated: seed ${seed}, ${violation.invariant} (${statement}) at ${timeText(violation.at)}: ${violation.text}`,
  `  ${faults.length} of ${drawn} faults are enough:`,
  ...faults.map((line) => `  ${line}`),
];
