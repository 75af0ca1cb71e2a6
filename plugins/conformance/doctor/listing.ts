/**
 * Conclusions from pages of orders: their sequence, cursors and spelling at the service.
 *
 * Invariants: pure; an id is compared as a whole number; undefined means that the page does not show it.
 */
import type { Raw } from "../probe/reply.ts";

const textOf = (record: Raw, name: string): string => (typeof record[name] === "string" ? record[name] : "");

/** Ids of a page in its own order; undefined when one is not made of digits. */
export const idsOf = (records: readonly Raw[]): readonly bigint[] | undefined => {
  const texts = records.map((record) => textOf(record, "ordId"));
  return texts.every((text) => /^\d{1,30}$/.test(text)) ? texts.map(BigInt) : undefined;
};

const pairs = <T>(list: readonly T[]): readonly (readonly [T, T])[] =>
  list.slice(1).map((item, index) => [list[index] as T, item]);

export const isNewestFirst = (ids: readonly bigint[]): boolean | "neither" | undefined => {
  if (ids.length < 2) return undefined;
  if (pairs(ids).every(([a, b]) => a > b)) return true;
  return pairs(ids).every(([a, b]) => a < b) ? false : "neither";
};

export const newestOf = (ids: readonly bigint[]): bigint | undefined =>
  ids.reduce<bigint | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);

/** Returns the meaning of a cursor, from a page that was asked for as older than `cursor`. */
export const cursorFound = (page: readonly bigint[], cursor: bigint): "excluded" | "included" | "ignored" =>
  page.some((id) => id > cursor) ? "ignored" : page.includes(cursor) ? "included" : "excluded";

/**
 * Returns the effect of two cursors, from a page that was asked for as older than `newest` and newer than `next`; these
 * two are neighbours.
 */
export const boundsFound = (
  page: readonly bigint[],
  newest: bigint,
  next: bigint,
  olderExists: boolean,
): "both" | "after_wins" | undefined => {
  if (page.some((id) => id < next)) return "after_wins";
  if (page.includes(next) && !page.includes(newest)) return "after_wins";
  // With nothing older than the two, a page bounded on one side may look like one bounded on both.
  const bothIncluded = page.length === 2 && page.includes(newest) && page.includes(next);
  if (page.length === 0 || (bothIncluded && olderExists)) return "both";
  return undefined;
};

const units = { 10: "s", 13: "ms", 16: "us" } as const;
const perMs = { s: 0.001, ms: 1, us: 1_000 } as const;
const dayMs = 86_400_000;

/** The unit of time stamps, by their digits, where they come out as a day of the last ten years. */
export const timeUnitOf = (records: readonly Raw[], wallAt: number): "s" | "ms" | "us" | "odd" | undefined => {
  const stamps = records
    .flatMap((record) => [textOf(record, "createdAt"), textOf(record, "updatedAt")])
    .filter((text) => text !== "");
  const [first] = stamps;
  if (first === undefined) return undefined;
  const unit = units[first.length as keyof typeof units];
  if (unit === undefined || stamps.some((text) => !/^\d+$/.test(text) || text.length !== first.length)) return "odd";
  const at = Number(first) / perMs[unit];
  return at < wallAt + dayMs && at > wallAt - 3_650 * dayMs ? unit : "odd";
};

const takers = ["market", "ioc", "fok"];

/** The sign of what surely was a cost: the fee of an order that could only take. */
export const feeSignOf = (records: readonly Raw[]): "negative_is_cost" | "positive_is_cost" | undefined => {
  const fees = records
    .filter((record) => takers.includes(textOf(record, "ordType")))
    .map((record) => Number(textOf(record, "fee")));
  if (fees.some((fee) => fee < 0) && fees.every((fee) => fee <= 0)) return "negative_is_cost";
  return fees.some((fee) => fee > 0) && fees.every((fee) => fee >= 0) ? "positive_is_cost" : undefined;
};

/** Returns the spelling of a price that does not exist: the average price of orders that never traded. */
export const emptyDecimalOf = (records: readonly Raw[]): string | undefined => {
  const untraded = records.filter((record) => /^0?(\.0+)?$/.test(textOf(record, "accFillSz")));
  // Any spelling of zero counts as zero; only text that is not a number is another spelling of "no price".
  const spelled = new Set(untraded.map((record) => textOf(record, "avgPx").replace(/^0(\.0+)?$/, "0")));
  const [only] = spelled;
  return spelled.size === 1 ? only : undefined;
};

/** Words of one field, each once. */
export const wordsOf = (records: readonly Raw[], field: string): readonly string[] => [
  ...new Set(records.map((record) => textOf(record, field))),
];
