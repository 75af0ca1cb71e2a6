/**
 * Status line of a run: profit, positions, open orders and quota.
 *
 * Invariants: pure text; no longer than the width it is given: the least important parts are left out first, and what
 * remains is spelled out as far as there is room; a halt and its remedy are always in it. Money is rounded for show
 * only.
 * Not here: when and where it is written (run.ts), exact figures (the report).
 */
import type { LayerName } from "../contract/limits.ts";
import { abs, add, compare, isZero } from "../decimal.ts";
import type { QuotaState } from "../host/context.ts";
import type { StrategyView } from "../host/operator-view.ts";
import { printable, widthOf } from "../report/ansi.ts";
import { amount, signed } from "../report/number-format.ts";
import { haltWords, type Tally, timeOf } from "./run-progress.ts";

export interface Status {
  readonly tally: Tally;
  readonly quota: QuotaState | undefined;
  readonly strategies: readonly StrategyView[];
  /** Open orders of this engine. */
  readonly open: number;
  /** Text of the process's standby role; the only text while it waits. */
  readonly standby?: { readonly words: string; readonly waits: boolean } | undefined;
  /** Message of an outage of the service. */
  readonly outage?: { readonly long: string; readonly short: string } | undefined;
  readonly now: number;
}

/** A part of the line: long where there is room, else short; parts of the lowest rank are kept longest. */
interface Part {
  readonly rank: number;
  readonly long: string;
  readonly short: string;
  /** Its short form belongs to the part before it. */
  readonly tight: boolean;
}

const part = (rank: number, long: string, short = long, tight = false): Part => ({ rank, long, short, tight });
const gap = " │ ";
/** Parts of a higher rank are shown where all others are spelled out. */
const essentialMax = 10;

export const statusLine = ({ tally, quota, strategies, open, outage, standby, now }: Status, width: number): string => {
  const time = timeOf(now - tally.startedAt);
  if (standby?.waits === true) return fitted([part(0, time), part(1, standby.words)], width);
  const halt = haltWords(tally, width - widthOf(`${time}${gap}`));
  return fitted(
    [
      part(0, time),
      ...(halt === undefined ? [] : [part(1, halt)]),
      ...(outage === undefined ? [] : [part(2, outage.long, outage.short)]),
      ...(tally.mode === "reducing" ? [part(2, tally.mode)] : []),
      ...moneyParts(strategies),
      positionPart(strategies),
      part(5, `open ${open}`),
      ...(tally.limited === 0 ? [] : [part(8, `429s ${tally.limited}`)]),
      part(6, `quota ${fullest("uid", quota)}`, `quota ${shareOf("uid", quota)}`),
      ...(standby === undefined ? [] : [part(11, standby.words)]),
      part(12, `${fullest("ip", quota)} ${fullest("key", quota)}`),
      part(13, `queue ${quota?.queued ?? "-"}`),
      part(14, `sent ${tally.sent}`),
      part(15, `filled ${tally.filled}`),
      part(16, `canceled ${tally.canceled}`),
    ],
    width,
  );
};

/**
 * As many parts as fit, by rank; then, by rank again, the long form of each that still does; then what is for wide
 * lines.
 */
const fitted = (parts: readonly Part[], width: number): string => {
  const ranked = [...parts.keys()].sort((a, b) => (parts[a]?.rank ?? 0) - (parts[b]?.rank ?? 0));
  const essential = ranked.filter((index) => (parts[index]?.rank ?? 0) <= essentialMax);
  const forms = new Map<number, "short" | "long">();
  const take = (indices: readonly number[], form: "short" | "long"): void => {
    for (const index of indices) {
      const before = forms.get(index);
      forms.set(index, form);
      if (widthOf(joined(parts, forms)) <= width) continue;
      if (before !== undefined) {
        forms.set(index, before);
        continue;
      }
      forms.delete(index);
      return;
    }
  };
  take(essential, "short");
  take([...forms.keys()], "long");
  if ([...forms.values()].every((form) => form === "long")) take(ranked.slice(essential.length), "long");
  return joined(parts, forms);
};

const joined = (parts: readonly Part[], forms: ReadonlyMap<number, "short" | "long">): string => {
  let line = "";
  for (const [index, one] of parts.entries()) {
    const form = forms.get(index);
    if (form === undefined) continue;
    const between = line === "" ? "" : form === "short" && one.tight ? " " : gap;
    line += `${between}${one[form]}`;
  }
  return line;
};

interface Money {
  readonly profit: string;
  readonly realised: string;
  readonly unrealised: string;
  readonly fees: string;
}

const nothing: Money = { profit: "0", realised: "0", unrealised: "0", fees: "0" };

/** Profit of strategies by settle currency; exact. */
const moneyByCurrency = (strategies: readonly StrategyView[]): ReadonlyMap<string, Money> => {
  const sums = new Map<string, Money>();
  for (const { currency, profit, realised, unrealised, fees } of positionsIn(strategies)) {
    const before = sums.get(currency) ?? nothing;
    sums.set(currency, {
      profit: add(before.profit, profit),
      realised: add(before.realised, realised),
      unrealised: add(before.unrealised, unrealised),
      fees: add(before.fees, fees),
    });
  }
  return sums;
};

const positionsIn = (strategies: readonly StrategyView[]) =>
  strategies.flatMap(({ positions }) => [...positions.values()]);

/** Profit of each currency first; what it is made of goes earlier, from the first currency on. */
const moneyParts = (strategies: readonly StrategyView[]): readonly Part[] => {
  const all = [...moneyByCurrency(strategies)];
  if (all.length === 0) return [part(3, "profit 0")];
  return all.flatMap(([currency, { profit, realised, unrealised, fees }], index) => {
    const places = placesOf([profit, realised, unrealised, fees]);
    const total = `${signed(profit, places)} ${printable(currency)}`;
    const later = index / 100;
    return [
      part(3 + later, `profit ${total}`, total),
      part(9 + later, `realised ${signed(realised, places)}`, `r${signed(realised, places)}`, true),
      part(7 + later, `unrealised ${signed(unrealised, places)}`, `u${signed(unrealised, places)}`, true),
      part(8 + later, `fees ${amount(fees, places)}`, `f${amount(fees, places)}`, true),
    ];
  });
};

/** Number of digits: two suffice for a currency that is worth cents, but not for one that is worth much. */
const placesOf = (values: readonly string[]): number => {
  const most = values.map(abs).reduce((a, b) => (compare(a, b) > 0 ? a : b));
  if (isZero(most) || compare(most, "1") >= 0) return 2;
  return compare(most, "0.01") >= 0 ? 4 : 8;
};

/** Positions of all strategies together, by instrument. */
const positionPart = (strategies: readonly StrategyView[]): Part => {
  const held = new Map<string, string>();
  for (const { instId, qty } of positionsIn(strategies)) held.set(instId, add(held.get(instId) ?? "0", qty));
  const open = [...held].filter(([, qty]) => !isZero(qty));
  const [first, ...others] = open;
  if (first === undefined) return part(4, "flat");
  const more = others.length === 0 ? "" : ` +${others.length}`;
  const base = first[0].split("-")[0] ?? first[0];
  return part(
    4,
    open.map(([instId, qty]) => `${qty} ${printable(instId)}`).join(", "),
    `${first[1]} ${printable(base)}${more}`,
  );
};

/** Fullest window of a layer, where several keys or users have their own. */
const windowOf = (name: LayerName, quota: QuotaState | undefined) =>
  quota?.layers.filter(({ layer }) => layer === name).sort((a, b) => b.used / b.capacity - a.used / a.capacity)[0];

const shareOf = (name: LayerName, quota: QuotaState | undefined): string => {
  const first = windowOf(name, quota);
  return first === undefined ? "-" : `${Math.round((100 * first.used) / first.capacity)}%`;
};

const fullest = (name: LayerName, quota: QuotaState | undefined): string => {
  const first = windowOf(name, quota);
  return first === undefined ? `${name} -` : `${name} ${first.used}/${first.capacity}`;
};
