/**
 * Report of the look-ahead guard, for people.
 *
 * Invariants: every finding names the strategy, the slot where there is one, the instant and the decision in either
 * run; a verdict without a finding states the limits of the guard.
 */
import { printable } from "sluice/extension";
import type { Glimpse, LookAheadReport } from "./look-ahead.ts";

export const lookAheadText = (report: LookAheadReport): string => {
  const { verdict, decisions, cuts, glimpses, unrepeatable, failed } = report;
  const lines = [
    ...Object.entries(failed).map(([name, message]) => `${name} failed during the run: ${message}`),
    ...(verdict === "blind"
      ? [
          `No look-ahead found: ${decisions} decisions are the same in ${runs(cuts.length)} that end${cuts.length === 1 ? "s" : ""} earlier.`,
          blindSpot,
        ]
      : []),
    ...(unrepeatable === undefined
      ? []
      : [
          "The run cannot be repeated, so look-ahead cannot be examined: two equal runs differ.",
          ...glimpseLines(unrepeatable, "first run", "second run"),
          "  Look for state kept between runs, files that change, or work that waits for the machine.",
        ]),
    ...glimpses.flatMap((glimpse) => [
      `${glimpse.strategy} knew the future: it decides differently when the market ends ${after(glimpse.cutAt - glimpse.at)}.`,
      ...glimpseLines(glimpse, "whole recording", `until ${instant(glimpse.cutAt)}`),
    ]),
  ];
  return `${lines.map(printable).join("\n")}\n`;
};

const blindSpot =
  "Not seen by the guard: a future in files that strategies read by themselves, other than by readFixture of the recording.";

const verbs = { wants: "wants", asks: "asks", sends: "sends", refused: "is refused" } as const;

const glimpseLines = (
  { slot, kind, at, sinceMs, whole, other, fields }: Glimpse,
  first: string,
  second: string,
): readonly string[] => [
  `  ${instant(at)}, ${(sinceMs / 1_000).toFixed(3)} s after the start${slot === "" ? "" : `, slot ${slot}`}: ${verbs[kind]}`,
  ...(fields.length > 0
    ? fields
        .slice(0, 8)
        .map(
          ({ path, recorded, replayed }) =>
            `    ${path}: ${cut(JSON.stringify(recorded))} (${first}), ${cut(JSON.stringify(replayed))} (${second})`,
        )
    : [
        `    ${first}: ${cut(whole)}`,
        `    ${second}: ${cut(other === whole ? "the same, at another instant" : other)}`,
      ]),
];

const instant = (at: number): string => new Date(at).toISOString();
const after = (ms: number): string =>
  ms < 1 ? "at that instant" : ms < 1_000 ? `${Math.round(ms)} ms later` : `${(ms / 1_000).toFixed(1)} s later`;
const runs = (count: number): string => (count === 1 ? "a run" : `${count} runs`);
const cut = (text: string | undefined): string =>
  text === undefined ? "nothing" : text.length > 120 ? `${text.slice(0, 117)}...` : text;
