/**
 * A simulation's summary for people.
 *
 * Invariants: the same summary gives the same text; failures come first to the eye, last on the page.
 */
import { type Failure, type Summary, timeText } from "./simulate.ts";

export const summaryText = (summary: Summary): string => {
  const { seeds, minutes, simulatedMs, elapsedMs, events, requests, weight, lives, refused, excused, marks, neverReached } = summary;
  const speed = elapsedMs === 0 ? 0 : Math.round(simulatedMs / elapsedMs);
  const reached = Object.keys(marks).length;
  const lines = [
    `${seeds} stories of ${minutes} minutes and their quiet ends: ${hours(simulatedMs)} h simulated in ${(elapsedMs / 1_000).toFixed(1)} s, ${speed} times real time`,
    `${events} events, ${requests} requests of weight ${weight}, ${lives} processes, ${refused} refusals by a limit of which ${excused} by somebody else's doing`,
    `${reached} rare states reached, ${neverReached.length} never${neverReached.length === 0 ? "" : `: ${neverReached.join("; ")}`}`,
    ...summary.failures.flatMap(failureLines),
    summary.failures.length === 0 ? "no promise was broken" : "",
  ];
  return `${lines.filter((line) => line !== "").join("\n")}\n`;
};

const hours = (ms: number): string => (ms / 3_600_000).toFixed(1);

const failureLines = ({ seed, violation, broken, story, drawn }: Failure): readonly string[] => [
  "",
  `seed ${seed} breaks ${violation.invariant} (${broken}) at ${timeText(violation.at)}: ${violation.text}`,
  `  ${story.length} of ${drawn} faults are enough:`,
  ...story.map((line) => `  ${line}`),
];
