/**
 * The quota part of a report on a terminal: how full each layer became, how use went over time, what waited and for
 * what.
 *
 * Invariants: a bar longer than its layer holds is full and red; what was never measured is a dash, not a zero.
 */
import { type LayerName, layers } from "../contract/limits.ts";
import { padEnd, padStart, widthOf, wrapped } from "./ansi.ts";
import { duration, grouped, percent } from "./number-format.ts";
import type { QuotaMinute, WaitedFor } from "./quota-minutes.ts";
import { delayFacts, quotaSentence, waitNames, windowNames } from "./run-facts.ts";
import type { Page } from "./text-layout.ts";

export const quotaText = (page: Page): readonly string[] => {
  const { report, paint } = page;
  return [
    ...(["uid", "key", "ip"] as const).map((name) => peakBar(name, report.quota.perLayerPeak[name], page)),
    ...overTime(page),
    "",
    quotaSentence(report, paint.red),
    "",
    ...delayFacts(report).map(
      ({ what, p50, p99, note }) =>
        `${padEnd(what, 20)}p50 ${padStart(p50, 9)}   p99 ${padStart(p99, 9)}   ${paint.dim(note)}`,
    ),
    ...waitedBy(page),
  ];
};

const waitedBy = ({ report: { quota }, width }: Page): readonly string[] => {
  const parts = (Object.entries(waitNames) as [WaitedFor, string][])
    .filter(([layer]) => quota.waitedMs[layer] > 0)
    .map(([layer, name]) => `${duration(quota.waitedMs[layer])} for ${name}`);
  if (parts.length === 0) return [];
  const lines = wrapped(`${duration(quota.heldMs.total)}: ${parts.join(", ")}`, width - 20);
  return lines.map((line, index) => `${padEnd(index === 0 ? "delayed in all" : "", 20)}${line}`);
};

/** Peak of the fullest window against what it holds. */
const peakBar = (name: LayerName, peak: number, { width, paint }: Page): string => {
  const { capacity } = layers[name];
  const figures = `${padStart(grouped(peak), 7)} of ${padStart(grouped(capacity), 5)}  ${padStart(percent(peak, capacity), 6)}`;
  const columns = Math.max(8, Math.min(72, width - 24 - widthOf(figures)));
  const share = Math.min(1, peak / capacity);
  const eighths = Math.round(share * columns * 8);
  const full = Math.floor(eighths / 8);
  const part = eighths % 8 === 0 ? "" : (" ▏▎▍▌▋▊▉"[eighths % 8] ?? "");
  const tone = peak > capacity ? paint.red : share >= 0.9 ? paint.yellow : paint.green;
  const rest = columns - full - widthOf(part);
  return `${padEnd(name, 4)}${padEnd(windowNames[name], 19)}${tone("█".repeat(full) + part)}${paint.dim("·".repeat(rest))} ${figures}`;
};

/** The fullest minute of each stretch, as a line of blocks. */
const overTime = ({ report: { quota }, width, paint }: Page): readonly string[] => {
  const { spans, spanMs } = quota.overTime;
  if (spans.length < 2) return [];
  const columns = Math.min(72, width - 54);
  const { capacity } = layers.uid;
  const peaks = Array.from({ length: Math.min(columns, spans.length) }, (_, column) => {
    const size = spans.length / Math.min(columns, spans.length);
    return peakOf(
      spans.slice(Math.floor(column * size), Math.max(Math.floor(column * size) + 1, Math.floor((column + 1) * size))),
    );
  });
  const blocks = peaks.map((peak) => blockOf(peak, capacity)).join("");
  const tone = peaks.some((peak) => peak > capacity) ? paint.red : paint.cyan;
  const span = Math.ceil(spans.length / peaks.length) * spanMs;
  return [
    `${padEnd("", 4)}${padEnd("over time", 19)}${tone(blocks)} ${paint.dim(`peak minute of each ${duration(span)}`)}`,
  ];
};

const peakOf = (spans: readonly QuotaMinute[]): number =>
  spans.reduce((most, { peakWeight }) => Math.max(most, peakWeight), 0);

/** Eighths of the capacity; anything at all shows. */
const blockOf = (peak: number, capacity: number): string =>
  peak === 0 ? "·" : ("▁▂▃▄▅▆▇█"[Math.min(7, Math.ceil((8 * peak) / capacity) - 1)] ?? "█");
