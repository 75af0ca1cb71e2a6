/**
 * Round values and round instants along the edges of a picture or a chart of characters.
 *
 * Invariants: neighbours are a round step apart; names of instants never touch.
 */
import { padEnd } from "./ansi.ts";
import { grouped } from "./number-format.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28, 91, 182, 364, 728, 1_820, 3_640].map((count) => count * day),
];

const timeName = (at: number, step: number, spanMs: number): string => {
  const iso = new Date(at).toISOString();
  if (step >= day) return spanMs > 300 * day ? iso.slice(0, 10) : iso.slice(5, 10);
  if (spanMs > day) return `${iso.slice(5, 10)} ${iso.slice(11, 16)}`;
  return step >= minute ? iso.slice(11, 16) : iso.slice(11, 19);
};

/** A rule with ticks at round instants (UTC) and their names below, which may reach `overhang` columns beyond it. */
export const timeAxis = (startAt: number, endAt: number, width: number, overhang = 0): readonly [string, string] => {
  const spanMs = endAt - startAt;
  const step =
    steps.find((candidate) => (candidate / spanMs) * width >= timeName(startAt, candidate, spanMs).length + 3) ??
    3_640 * day;
  const rule = Array.from({ length: width }, () => "─");
  let names = "";
  for (let at = Math.ceil(startAt / step) * step; at <= endAt && spanMs > 0; at += step) {
    const column = Math.min(width - 1, Math.floor(((at - startAt) / spanMs) * width));
    const name = timeName(at, step, spanMs);
    if (column + name.length > width + overhang) break;
    rule[column] = "┬";
    names = `${padEnd(names, column + 1)}${name}`;
  }
  return [`└${rule.join("")}`, names];
};

interface ValueTick {
  readonly value: number;
  readonly text: string;
}

/**
 * Multiples of 1, 2, 2.5 or 5 times a power of ten within the range, spelled with as many digits as distinguish them.
 *
 * @param low - of the range
 * @param high - of the range
 * @param most - ticks
 * @param suffix - after each number
 * @returns values with their texts
 */
export const valueTicks = (low: number, high: number, most = 5, suffix = ""): readonly ValueTick[] => {
  if (!(high > low)) return [{ value: low, text: `${spell(low, 2)}${suffix}` }];
  const rough = (high - low) / most;
  // The exponent as spelled: a logarithm is not rounded alike everywhere.
  const exponent = Number(rough.toExponential().split("e")[1]);
  const digits = Math.max(0, 1 - exponent);
  const scale = Number(`1e${exponent}`);
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * scale >= rough) ?? 10) * scale;
  const places =
    [0, 1, 2, 3, 4, 5, 6, 7, 8].find((count) => Math.abs(Number(step.toFixed(count)) - step) < step / 1e6) ?? digits;
  const ticks: ValueTick[] = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index++) {
    ticks.push({ value: index * step, text: `${spell(index * step, places)}${suffix}` });
  }
  return ticks;
};

const spell = (value: number, places: number): string => {
  const text = Math.abs(value).toFixed(places);
  return `${value < 0 && Number(text) !== 0 ? "-" : ""}${grouped(text)}`;
};
