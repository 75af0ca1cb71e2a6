/**
 * Result table of the doctor: differences first, then rows that could not be tested, rows that were not seen, and rows
 * that hold.
 *
 * Invariants: pure text, no line wider than the columns given unless a single word is; text from outside is made
 * printable; colour only repeats the text of the verdict.
 * Not here: the tests (doctor/), the examination (doctor.ts).
 */

import { cut, type Ink, padEnd, printable, widthOf, wrapped } from "sluice/extension";
import type { GroupReport } from "sluice/plugins/shared-quota";
import type { Examination } from "./doctor/doctor.ts";
import type { Finding, Verdict } from "./doctor/finding.ts";
import { profileLines } from "./doctor/override-lines.ts";

const verdictWords: Readonly<Record<Verdict, string>> = {
  differs: "differs",
  "not asked": "could not be asked",
  "not seen": "not seen",
  holds: "holds",
};

const verdicts: readonly Verdict[] = ["differs", "not asked", "not seen", "holds"];
const strokes = { differs: "red", "not asked": "yellow", "not seen": "dim", holds: "green" } as const;
/** Minimum and maximum width of the columns of assumed and found values, in characters. */
const valueMin = 10;
const valueMax = 40;
const heads = ["verdict", "gap", "row", "assumed", "found"] as const;
const indent = "      ";
const gutter = "  ";

export const examinationText = (examination: Examination, columns: number, paint: Ink): string => {
  const { findings, overrides, profile } = examination;
  const sorted = verdicts.flatMap((verdict) => findings.filter((finding) => finding.verdict === verdict));
  const lines = [
    ...opening(examination, columns, paint),
    ...tableLines(sorted, examination.inconclusive, columns, paint),
    "",
    summary(examination),
  ];
  if (overrides.length > 0)
    lines.push("", "Write in the config, in place of any profile there:", profileLines(profile));
  return `${lines.join("\n")}\n`;
};

/** Note before the table: a valid key could not be distinguished from an invalid one. */
const opening = ({ inconclusive }: Examination, columns: number, paint: Ink): readonly string[] => {
  if (inconclusive === undefined) return [];
  const text = `Nothing below can be concluded, and there is nothing to write in the config: ${printable(inconclusive)}.`;
  return [...wrapped(text, columns).map(paint.red), ""];
};

/**
 * Lines of the table. Evidence that consecutive rows share is printed once, under the last of them; text of the heading
 * is not repeated.
 */
const tableLines = (
  findings: readonly Finding[],
  known: string | undefined,
  columns: number,
  paint: Ink,
): readonly string[] => {
  const fixed = findings.map(({ verdict, gap, row }) => [verdictWords[verdict], gap, row]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(...[heads.slice(0, 3), ...fixed].map((line) => widthOf(line[column] ?? ""))),
  );
  const left = columns - widths.reduce((sum, width) => sum + width + gutter.length, 0);
  const width = Math.min(Math.max(Math.floor((left - gutter.length) / 2), valueMin), valueMax);
  const laid = (line: readonly string[]): string =>
    cut(
      line
        .map((cell, column) => padEnd(column < 3 ? cell : cut(cell, width), widths[column] ?? width))
        .join(gutter)
        .trimEnd(),
      columns,
    );
  const body = findings.flatMap((finding, index) => {
    const line = laid([...(fixed[index] ?? []), printable(finding.assumed), printable(finding.found)]);
    const next = findings[index + 1];
    const shared = finding.verdict === next?.verdict && finding.evidence === next.evidence;
    if (shared || finding.evidence === known) return [paint[strokes[finding.verdict]](line)];
    const words = wrapped(printable(finding.evidence), Math.max(columns - indent.length, valueMax));
    return [paint[strokes[finding.verdict]](line), ...words.map((part) => paint.dim(`${indent}${part}`))];
  });
  return [paint.bold(laid(heads)), ...body];
};

/** Findings about a shared quota, what differs first. */
export const groupText = ({ group, store, findings }: GroupReport, paint: Ink): string => {
  const sorted = verdicts.flatMap((verdict) => findings.filter((finding) => finding.verdict === verdict));
  const width = Math.max(...sorted.map(({ about }) => widthOf(printable(about))));
  const lines = sorted.map(
    ({ verdict, about, text }) =>
      `${paint[strokes[verdict]](verdict.padEnd("not seen".length))}  ${padEnd(printable(about), width)}  ${printable(text)}`,
  );
  return `${[paint.bold(`Group ${printable(group)} at ${printable(store)}`), ...lines].join("\n")}\n`;
};

const summary = ({ findings, weight, requests }: Examination): string => {
  const counts = verdicts.map(
    (verdict) => `${findings.filter((finding) => finding.verdict === verdict).length} ${verdictWords[verdict]}`,
  );
  return `${counts.join(", ")}. ${requests} requests, weight ${weight}.`;
};
