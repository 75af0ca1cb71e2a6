/**
 * Spelling of figures and instants in charts.
 *
 * Invariants: UTC; grouped digits and a true minus; the date is shown wherever a picture is longer than a day.
 */
import { day, roundLength } from "./columns.ts";

/** Making one takes longer than drawing with it. */
const formats: Map<string, Intl.NumberFormat> = new Map();

const formatOf = (places: number, least: number) => {
  const key = `${places} ${least}`;
  let format = formats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat("en-US", { minimumFractionDigits: least, maximumFractionDigits: places });
    formats.set(key, format);
  }
  return format;
};

/** @param places - at most */
export const figure = (value: number, places: number = 8, least: number = 0) =>
  formatOf(places, Math.min(least, places)).format(value).replace("-", "−");

/** Returns the fraction digits that distinguish multiples of a step: three for 0.025. */
export const placesOf = (step: number) => {
  let places = 0;
  while (places < 10 && Math.abs(step * 10 ** places - Math.round(step * 10 ** places)) > 1e-6) places++;
  return places;
};

/** Figure with a plus sign where it is a gain. */
export const gain = (value: number, places: number) => `${value > 0 ? "+" : ""}${figure(value, places, places)}`;

/**
 * @param at - milliseconds since the epoch
 * @param spanMs - of the picture; a short one shows more digits
 */
export const instant = (at: number, spanMs: number = 0) => {
  // Beyond a thousandth nothing is shown, so it is rounded there.
  const text = new Date(Math.round(at)).toISOString();
  if (spanMs > 400 * day) return text.slice(0, 10);
  if (spanMs > 2 * day) return text.slice(0, 16).replace("T", " ");
  return text.slice(0, spanMs > 600_000 ? 19 : 23).replace("T", " ");
};

/** The date of the end is left out where it is that of the start. */
export const spanText = (startAt: number, from: number, to: number) => {
  const [first, last] = [from, to].map((at) => instant(at + startAt, to - from));
  return `${first} – ${last?.slice(0, 10) === first?.slice(0, 10) && last !== first ? last?.slice(11) : last} UTC`;
};

export const lasting = (ms: number) => {
  if (ms < 1_000) return `${figure(ms, ms < 10 ? 1 : 0)} ms`;
  if (ms < 60_000) return `${figure(ms / 1_000, ms < 10_000 ? 2 : 1)} s`;
  const units = [
    [day, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ] as const;
  const index = units.findIndex(([size]) => ms >= size);
  const [size, name] = units[index] ?? units[3];
  const [smaller, smallerName] = units[index + 1] ?? units[3];
  const rest = Math.floor((ms % size) / smaller);
  return `${Math.floor(ms / size)} ${name}${rest === 0 || smaller === size ? "" : ` ${rest} ${smallerName}`}`;
};

export const countOf = (count: number, one: string, many: string = `${one}s`) =>
  `${figure(count)} ${count === 1 ? one : many}`;

/**
 * Round instants in a picture, at most `most`, after `startAt`: on months and years where they are that far apart.
 */
export const timeSplits = (startAt: number, from: number, to: number, most: number): number[] => {
  const stepMs = roundLength((to - from) / Math.max(1, most));
  if (stepMs >= 28 * day) return monthSplits(startAt, from, to, Math.max(1, Math.round(stepMs / (30.4 * day))));
  const splits = [];
  // Weeks begin on Mondays; the epoch was a Thursday.
  const shift = stepMs % (7 * day) === 0 ? 4 * day : 0;
  const first = Math.ceil((from + startAt - shift) / stepMs) * stepMs + shift - startAt;
  for (let at = first; at <= to; at += stepMs) splits.push(at);
  return splits;
};

const monthSplits = (startAt: number, from: number, to: number, months: number): number[] => {
  const step = months >= 12 ? Math.ceil(months / 12) * 12 : ([1, 2, 3, 6].find((count) => count >= months) ?? 12);
  const date = new Date(from + startAt);
  const splits = [];
  for (let month = Math.ceil((date.getUTCFullYear() * 12 + date.getUTCMonth()) / step) * step; ; month += step) {
    const at = Date.UTC(Math.floor(month / 12), month % 12) - startAt;
    if (!(at <= to)) return splits;
    if (at >= from) splits.push(at);
  }
};

/**
 * Returns the texts at the splits: the date where a day begins, with the year at the first of it, else the time, as fine as needed.
 */
export const splitTexts = (startAt: number, splits: readonly number[]): string[] => {
  const stepMs = splits.length > 1 ? Number(splits[1]) - Number(splits[0]) : day;
  const texts = splits.map((split) => new Date(split + startAt).toISOString());
  return texts.map((text, index) => {
    const before = texts[index - 1];
    if (stepMs >= 360 * day) return text.slice(0, 4);
    if (stepMs >= 28 * day) return text.slice(0, 7);
    if (stepMs >= day) return text.slice(text.slice(0, 4) === before?.slice(0, 4) ? 5 : 0, 10);
    if (text.slice(11, 23) === "00:00:00.000") return text.slice(5, 10);
    return text.slice(11, stepMs >= 60_000 ? 16 : stepMs >= 1_000 ? 19 : 23);
  });
};
