/**
 * Contents of a recording, as a small table on a terminal.
 *
 * Invariants: gaps are shown where there are any; a recording of one kind of series per instrument takes one line each.
 */

import { padEnd, padStart, widthOf, wrapped } from "./ansi.ts";
import type { Coverage, SeriesCoverage } from "./coverage.ts";
import { amount, counted, duration, grouped, minuteOf } from "./number-format.ts";
import type { Page } from "./text-layout.ts";

const linesMax = 20;

export const coverageText = ({ report: { coverage }, width, paint }: Page): readonly string[] => {
  const { series } = coverage;
  const shown = series.slice(0, linesMax);
  const names = shown.map(({ instId, kind }) => `${instId} ${kind}`);
  const name = Math.max(0, ...names.map(widthOf));
  const rows = Math.max(0, ...shown.map((one) => counted(one.rows, "row").length));
  const lines = shown.flatMap((one, index) => {
    const start = `${padEnd(names[index] ?? "", name)}  ${padStart(counted(one.rows, "row"), rows)}  `;
    const [first = "", ...rest] = wrapped(factsOf(one, coverage), Math.max(20, width - widthOf(start)));
    return [`${start}${paint.dim(first)}`, ...rest.map((line) => `${" ".repeat(widthOf(start))}${paint.dim(line)}`)];
  });
  const warm = coverage.warmUp === undefined ? [] : wrapped(warmUpText(coverage.warmUp), width);
  return [
    ...warm,
    ...(series.length > linesMax
      ? [...lines, paint.dim(`and ${grouped(series.length - linesMax)} more series`)]
      : lines),
  ];
};

const warmUpText = ({ untilAt, ms }: NonNullable<Coverage["warmUp"]>): string =>
  `warm-up of ${duration(ms)}, until ${minuteOf(untilAt)} UTC: nothing was placed, all figures begin there`;

const factsOf = (one: SeriesCoverage, { gapMs }: Coverage): string =>
  [
    ...(one.kind === "change" ? ["tick size, lot size, listing"] : [gapsOf(one, gapMs)]),
    ...(one.quotedPercent === undefined ? [] : [`both sides quoted ${amount(one.quotedPercent, 1)} % of the time`]),
  ].join(", ");

export const gapsOf = ({ gaps, longest, kind }: SeriesCoverage, gapMs: number): string => {
  const bound = kind.startsWith("candle")
    ? `${duration(gapMs)} or two bars`
    : kind === "funding"
      ? "an interval"
      : duration(gapMs);
  if (longest === undefined) return `no gap over ${bound}`;
  return `${counted(gaps, "gap")} over ${bound}, longest ${duration(longest.ms)} from ${minuteOf(longest.fromAt)}`;
};
