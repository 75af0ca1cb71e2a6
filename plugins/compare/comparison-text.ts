/**
 * A comparison for people: both runs in one table, what came first, and why.
 *
 * Invariants: text of others cannot command the terminal; every line of evidence names its run and its line; colour
 * carries no meaning alone.
 */
import { type Ink, ink, padEnd, padStart, printable } from "sluice/extension";
import type { Comparison, ToldDifference } from "./comparison.ts";
import type { Evidence } from "./differences.ts";
import { secondsOf } from "./differences.ts";
import type { Totals } from "./run-record.ts";

export const comparisonText = (comparison: Comparison, colour = false): string => {
  const paint = ink(colour);
  const { equal, a, b, cause, known, firstDecision, firstOutcome, firstQuota, pairs, differences, withinMs, scale } =
    comparison;
  const told = differences.decision + differences.outcome + differences.quota;
  const notes = [...a.notes.map((note) => `A: ${note}`), ...b.notes.map((note) => `B: ${note}`)];
  const clock = scale === "calendar" ? "by the calendar" : "each from its own start";
  const lines = [
    `A  ${printable(a.name)} (${a.kind})`,
    `B  ${printable(b.name)} (${b.kind})`,
    ...notes.map(printable),
    "",
    ...table(a.totals, b.totals, paint),
    "",
    equal
      ? paint.green(
          pairs > 0
            ? `equal: ${pairs} orders were wanted, ended and waited alike (${clock}, within ${withinMs} ms)`
            : "equal",
        )
      : paint.red(
          told > 0
            ? `different: ${words(differences)} (${clock}, within ${withinMs} ms)`
            : "different: the totals are not the same",
        ),
    ...first("first difference in decisions", firstDecision),
    ...first("first difference in ends", firstOutcome),
    ...first("first difference in waits", firstQuota),
    ...(cause === undefined
      ? []
      : [
          "",
          paint.bold(`likely cause: ${cause.kind}`),
          `  ${printable(cause.words)}`,
          ...cause.evidence.slice(0, 8).map(evidenceLine),
        ]),
    ...(equal && known.length > 0
      ? [
          "",
          "It made no difference that the runs differ in:",
          ...known.map(({ words: text }) => `  ${printable(text)}`),
        ]
      : []),
  ];
  return `${lines.join("\n")}\n`;
};

const words = ({ decision, outcome, quota }: Comparison["differences"]): string =>
  [`${decision} in decisions`, `${outcome} in ends`, `${quota} in waits`]
    .filter((text) => !text.startsWith("0 "))
    .join(", ");

const rows: readonly (readonly [name: string, of: (totals: Totals) => string])[] = [
  ["orders", ({ orders }) => String(orders)],
  ["filled", ({ filled }) => String(filled)],
  ["canceled", ({ canceled }) => String(canceled)],
  ["rejected", ({ rejected }) => String(rejected)],
  ["refused", ({ refused }) => String(refused)],
  ["fills", ({ fills }) => String(fills)],
  ["volume", ({ volume }) => volume],
  ["fees", ({ fees }) => fees],
  ["result", ({ pnl }) => pnl ?? "-"],
  ["waits", ({ waits, waitedMs }) => `${waits} (${waitedMs} ms)`],
  ["refused by limits", ({ limited }) => String(limited)],
];

const table = (a: Totals, b: Totals, paint: Ink): readonly string[] => {
  const cells = rows.map(([name, of]) => [name, of(a), of(b)] as const);
  const width = (index: 0 | 1 | 2): number => Math.max(1, ...cells.map((row) => row[index].length));
  const line = (name: string, left: string, right: string): string =>
    `${padEnd(name, width(0))}  ${padStart(left, width(1))}  ${padStart(right, width(2))}`;
  return [
    paint.dim(line("", "A", "B")),
    ...cells.map(([name, left, right]) =>
      left === right ? line(name, left, right) : paint.yellow(`${line(name, left, right)}  *`),
    ),
  ];
};

const kinds: Readonly<Record<ToldDifference["kind"], (only: string) => string>> = {
  "placed-by-one": (only) => `only ${only} wanted an order`,
  content: () => "another order was sent",
  "canceled-by-one": (only) => `only ${only} canceled the order`,
  "canceled-later": (only) => `${only} canceled the order sooner`,
  end: () => "the order ended otherwise",
  fill: () => "the order was filled otherwise",
  "fill-later": () => "the order was filled at another time",
  fee: () => "the same fill cost something else",
  "refused-in-one": (only) => `only ${only} refused an order`,
  wait: (only) => `the placement waited longer in ${only}`,
};

const first = (title: string, difference: ToldDifference | undefined): readonly string[] => {
  if (difference === undefined) return [];
  const { ms, strategy, slot, kind, only = "", fields, evidence } = difference;
  return [
    "",
    `${title}: ${secondsOf(ms)} after the start, ${printable(strategy)}/${printable(slot)}: ${kinds[kind](only)}`,
    ...fields.map(({ path, a, b }) => `  ${path}: ${printable(a)} in A, ${printable(b)} in B`),
    ...evidence.map(evidenceLine),
  ];
};

const evidenceLine = ({ run, line }: Evidence): string =>
  `  ${run}:${line.number}  ${secondsOf(line.ms)}  ${printable(line.text)}`;
