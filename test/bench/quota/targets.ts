/**
 * What we ask of our own limiter, scenario by scenario, as data.
 *
 * Invariants: a scenario without a row is reported but cannot fail.
 */
import type { Figures } from "./tally.ts";

export interface Target {
  readonly figure: keyof Figures;
  readonly atMost?: number;
  readonly atLeast?: number;
}

const noRefusals: Target = { figure: "refusedPerHour", atMost: 0 };
const utilisation = (pct: number): Target => ({ figure: "utilisationPct", atLeast: pct });
const urgentP99 = (ms: number): Target => ({ figure: "urgentMsP99", atMost: ms });
const urgentP50 = (ms: number): Target => ({ figure: "urgentMsP50", atMost: ms });

export const targets: Readonly<Record<string, readonly Target[]>> = {
  A: [noRefusals, utilisation(97), urgentP50(50), urgentP99(1_100)],
  B: [noRefusals, utilisation(96), urgentP50(50), urgentP99(500)],
  C: [
    { figure: "minutesBlockedPct", atMost: 12 },
    { figure: "timeBlockedPct", atMost: 0.5 },
    { figure: "refusedPerHour", atMost: 10 },
    utilisation(95),
    urgentP99(2_000),
  ],
  D: [noRefusals, utilisation(96), urgentP99(3_000)],
  E: [noRefusals, utilisation(95), urgentP99(1_100)],
  F: [noRefusals, { figure: "burstMsP50", atMost: 3_300 }, urgentP99(500)],
  G: [noRefusals, utilisation(97), urgentP99(1_500)],
  J: [noRefusals, utilisation(96), urgentP99(500)],
  K: [noRefusals, utilisation(95)],
  S55: [noRefusals, utilisation(95)],
  S250: [noRefusals, utilisation(80)],
  S500: [noRefusals, utilisation(70)],
  S900: [noRefusals, utilisation(48)],
  S1500: [noRefusals, utilisation(30)],
};

export interface Check {
  readonly text: string;
  readonly passed: boolean;
}

const rounded = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3))));

export const checksOf = (scenario: string, figures: Figures): Check[] =>
  (targets[scenario] ?? []).map(({ figure, atMost, atLeast }) => {
    const value = figures[figure];
    const passed = value <= (atMost ?? Number.POSITIVE_INFINITY) && value >= (atLeast ?? Number.NEGATIVE_INFINITY);
    const bound = atMost === undefined ? `>= ${atLeast}` : `<= ${atMost}`;
    return { text: `${figure} ${rounded(value)} ${bound}`, passed };
  });
