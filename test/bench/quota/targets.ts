/**
 * What we ask of our own limiter, scenario by scenario, as data.
 *
 * Invariants: a scenario without a row is reported but cannot fail.
 */
import type { Figures } from "./tally.ts";
import { asStated, otherwise } from "./unlisted.ts";

export interface Target {
  readonly figure: keyof Figures;
  readonly atMost?: number;
  readonly atLeast?: number;
}

const refusals = (perHour: number): Target => ({ figure: "refusedPerHour", atMost: perHour });
const noRefusals = refusals(0);
const utilisation = (pct: number): Target => ({ figure: "utilisationPct", atLeast: pct });
const urgentP99 = (ms: number): Target => ({ figure: "urgentMsP99", atMost: ms });
/** Scenarios in which it is easily misread where windows begin. */
const misreadable = (ids: readonly string[], most: Target): Record<string, readonly Target[]> =>
  Object.fromEntries(ids.map((id) => [id, [most, utilisation(97), { figure: "urgentMsP99", atMost: 1_000 }]]));
const group = (pct: number, urgentMs = 1_000): readonly Target[] => [noRefusals, utilisation(pct), urgentP99(urgentMs)];
/** The guarantee where limits are as stated and nobody else spends them, and what is asked where they are not. */
const guarantee: readonly Target[] = [
  { figure: "refusedPerRun", atMost: 2 },
  utilisation(82),
  { figure: "urgentMsP99", atMost: 600 },
];
const sanity: readonly Target[] = [refusals(60), utilisation(65)];
const each = (rows: Readonly<Record<string, unknown>>, asked: readonly Target[]): Record<string, readonly Target[]> =>
  Object.fromEntries(Object.keys(rows).map((id) => [id, asked]));
const urgentP50 = (ms: number): Target => ({ figure: "urgentMsP50", atMost: ms });

export const targets: Readonly<Record<string, readonly Target[]>> = {
  A: [noRefusals, utilisation(99.5), urgentP50(20), urgentP99(300)],
  B: [noRefusals, utilisation(97.5), urgentP99(200)],
  C: [refusals(1), utilisation(98.4), { figure: "timeBlockedPct", atMost: 0.1 }],
  D: [noRefusals, utilisation(99.5), urgentP99(300)],
  E: [noRefusals, utilisation(96.5)],
  // Eight ordinary calls a second: thirty take at least two whole seconds and the rest of the one they fell into.
  F: [noRefusals, { figure: "burstMsP99", atMost: 4_000 }],
  G: [noRefusals, utilisation(99.5)],
  J: [noRefusals, utilisation(95)],
  K: [noRefusals, urgentP99(300)],
  L: [refusals(2), utilisation(97), { figure: "sharePct", atMost: 60 }],
  S55: [noRefusals],
  S250: [noRefusals],
  S500: [noRefusals],
  S900: [noRefusals],
  S1500: [noRefusals],
  ...misreadable(
    ["anchor", "anchor-odd", "date-up", "date-late", "date-edges", "date-steps", "date-first", "date-some", "dateless"],
    refusals(2),
  ),
  ...misreadable(
    ["anchor-odd-key", "date-up-key", "date-edges-key", "date-steps-key", "date-first-key", "dateless-key"],
    noRefusals,
  ),
  "date-late-key": [noRefusals, utilisation(97), urgentP99(1_000)],
  "date-some-key": [noRefusals, utilisation(97), urgentP99(1_000)],
  bare: [noRefusals, utilisation(99), urgentP99(1_200)],
  "bare-key": [noRefusals, utilisation(97), urgentP99(1_000)],
  lost: [noRefusals, utilisation(98)],
  "lost-key": [noRefusals, utilisation(90)],
  pareto: [noRefusals, utilisation(99), urgentP99(1_000)],
  "pareto-key": [noRefusals, utilisation(93), urgentP99(1_000)],
  copies: [refusals(2), utilisation(98), urgentP99(1_000)],
  // Of calls that arrive twice when the second is full: nobody sees them coming.
  "copies-key": [refusals(40), utilisation(98.5), urgentP99(1_000)],
  sliding: [noRefusals, utilisation(74), urgentP99(300)],
  "sliding-key": [noRefusals, utilisation(76), urgentP99(300)],
  storms: [noRefusals, utilisation(99), urgentP99(40_000)],
  behind: [refusals(2), utilisation(97), urgentP99(1_000)],
  "behind-key": [refusals(2), utilisation(97), urgentP99(1_000)],
  users: [noRefusals, utilisation(99.8), urgentP99(300)],
  "address-cut": [refusals(5), utilisation(97), urgentP99(300)],
  "address-engines": [refusals(10), utilisation(97), urgentP99(300)],
  "address-neighbour": [refusals(2), utilisation(97), urgentP99(300)],
  "key-cut": [refusals(3), utilisation(97), urgentP99(300)],
  "key-small": [refusals(3), utilisation(97), urgentP99(300)],
  "key-back": [refusals(3), utilisation(97), urgentP99(300)],
  beside: [refusals(2), { figure: "placedMsP99", atMost: 15_000 }],
  "user-cut": [refusals(2), utilisation(97), urgentP99(1_000)],
  "user-back": [refusals(1.5), utilisation(97), urgentP99(1_000)],
  "limits-declared": [noRefusals, utilisation(90), urgentP99(1_000)],
  "limits-declared-key": [noRefusals, utilisation(90), urgentP99(1_000)],
  // A first refusal, of a few calls that left together, shows that windows are late or long.
  "late-minutes": [refusals(6), utilisation(97), urgentP99(1_000)],
  "later-minutes": [refusals(6), utilisation(82), urgentP99(1_000)],
  "slow-windows": [refusals(6), utilisation(97), urgentP99(1_000)],
  "counts-before-key": [noRefusals, utilisation(94), urgentP99(1_000)],
  "slow-windows-key": [refusals(12), utilisation(97), urgentP99(300)],
  "path-200": [noRefusals, utilisation(98)],
  "path-400": [noRefusals, utilisation(96)],
  "path-long": [noRefusals, utilisation(97)],
  "group-2": group(99),
  "group-4": group(99),
  "group-6": group(99),
  "group-light": group(99),
  "group-3to1": [...group(99), { figure: "sharePct", atLeast: 74, atMost: 76 }],
  "group-address": group(99),
  "group-hang": group(92, 2_000),
  "group-lost": group(98),
  "group-asleep": [noRefusals],
  "group-astray": group(95),
  ...each(asStated, guarantee),
  ...each(otherwise, sanity),
  // Until the floor each engine may be refused by itself; on it each spends its part.
  "group-1-later": [refusals(6), utilisation(78)],
  "group-3-later": [refusals(30), utilisation(68)],
  "group-1-slides": [refusals(6), utilisation(80)],
  "group-3-slides": [refusals(24), utilisation(68)],
  "group-1-another": group(85, 300),
  "group-3-another": group(72, 300),
  "group-1-garbage": group(85, 300),
  "group-3-garbage": group(80, 300),
  ...misreadable(["drift", "drift-key", "drift-slow", "drift-slow-key", "slew", "slew-key"], refusals(2)),
};

export interface Check {
  readonly text: string;
  readonly passed: boolean;
}

const rounded = (value: number): string =>
  Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));

export const checksOf = (scenario: string, figures: Figures): Check[] =>
  (targets[scenario] ?? []).map(({ figure, atMost, atLeast }) => {
    const value = figures[figure];
    const passed = value <= (atMost ?? Number.POSITIVE_INFINITY) && value >= (atLeast ?? Number.NEGATIVE_INFINITY);
    const bound = atMost === undefined ? `>= ${atLeast}` : `<= ${atMost}`;
    return { text: `${figure} ${rounded(value)} ${bound}`, passed };
  });
