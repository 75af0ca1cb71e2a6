/** Statistics of returns beside those that QuantStats and empyrical make of the same series (peer-statistics/make.py). */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { drawdownPeriods } from "../../../src/report/drawdowns.ts";
import { compounded } from "../../../src/report/growth.ts";
import { returnSeries, returnsCsv } from "../../../src/report/return-series.ts";
import { rollingOf, statisticsOf } from "../../../src/report/return-statistics.ts";
import { returnsOf } from "../../../src/report/returns.ts";

const dayMs = 86_400_000;
const startAt = Date.UTC(2024, 0, 1);

type Known = number | null;

interface Figures {
  readonly name: string;
  readonly equity: string;
  readonly quantstats: Readonly<Record<string, Known>> & {
    readonly drawdowns: readonly { first: string; bottom: string; last: string; days: number; percent: number }[];
    readonly months: Readonly<Record<string, number>>;
    readonly rollingSharpe: readonly Known[];
    readonly rollingVolatility: readonly Known[];
  };
  readonly empyrical: Readonly<Record<string, Known>>;
}

const all = JSON.parse(
  readFileSync(new URL("peer-statistics/figures.json", import.meta.url), "utf8"),
) as readonly Figures[];

/** To the ninth digit; what the other program cannot say is absent here. */
const expectSame = (own: number | undefined, theirs: Known | undefined, what: string): void => {
  if (theirs === null || theirs === undefined) return;
  const off = Math.abs((own ?? Number.NaN) - theirs) / Math.max(1e-6, Math.abs(theirs));
  expect(off, `${what}: ${own} beside ${theirs}`).toBeLessThan(1e-9);
};

const dayOf = (at: number): string => new Date(at - 1).toISOString().slice(0, 10);

describe.each(all)("$name", ({ equity: text, quantstats, empyrical }) => {
  const equity = text.split(" ").map((value, day) => ({ at: startAt + day * dayMs, equity: value }));
  const ms = (equity.length - 1) * dayMs;
  const series = returnSeries(equity, ms);
  const changes = series.map(({ change }) => Number(change));
  const own = statisticsOf(changes, 365);
  const growth = compounded(Number(equity.at(-1)?.equity) / 10_000, 365 / changes.length, 1e9) ?? Number.NaN;
  const [deepest] = drawdownPeriods(equity);
  const depth = Number(deepest?.percent ?? 0) / 100;
  const yearly = { cagr: growth - 1, maxDrawdown: -depth, ...(depth > 0 && { calmar: (growth - 1) / depth }) };

  it("has one return for each day", () => {
    expect(series.map(({ day }) => day)).toEqual(equity.slice(1).map(({ at }) => dayOf(at)));
  });

  it("has the figures of QuantStats and of empyrical, to the ninth digit", () => {
    const figures: Readonly<Record<string, number | undefined>> = { ...own, ...yearly };
    for (const [name, theirs] of Object.entries({
      ...quantstats,
      drawdowns: null,
      months: null,
      rollingSharpe: null,
      rollingVolatility: null,
      winRate: null,
    })) {
      expectSame(figures[name], theirs, `QuantStats' ${name}`);
    }
    for (const [name, theirs] of Object.entries(empyrical)) expectSame(figures[name], theirs, `empyrical's ${name}`);
    for (const name of ["sharpe", "sortino", "omega", "calmar", "skew"])
      expect([name, figures[name] === undefined]).toEqual([name, (quantstats[name] ?? null) === null]);
  });

  it("has the falls of QuantStats, to the day", () => {
    const periods = drawdownPeriods(equity);
    expect(periods.map(({ startAt: from, bottomAt, below }) => [dayOf(from + dayMs), dayOf(bottomAt), below])).toEqual(
      quantstats.drawdowns.map(({ first, bottom, days }) => [first, bottom, days]),
    );
    for (const [index, { percent, endAt }] of periods.entries()) {
      expectSame(-Number(percent), quantstats.drawdowns[index]?.percent, `fall ${index}`);
      const last = endAt === undefined ? dayOf(equity.at(-1)?.at ?? 0) : dayOf(endAt - dayMs);
      expect(last).toBe(quantstats.drawdowns[index]?.last);
    }
  });

  it("has the rolling figures of QuantStats", () => {
    const rolling = rollingOf(changes, 30, 365).filter((_, index) => index % 10 === 0);
    expect(rolling).toHaveLength(quantstats.rollingSharpe.length);
    for (const [index, { sharpe, volatility }] of rolling.entries()) {
      expectSame(sharpe, quantstats.rollingSharpe[index], `Sharpe ${index}`);
      expectSame(volatility, quantstats.rollingVolatility[index], `volatility ${index}`);
    }
  });

  it("is told in a report with four digits, by months too", () => {
    const told = returnsOf(equity, ms);
    const digits = (value: number | undefined, scale = 1): string | undefined =>
      value === undefined ? undefined : String(Math.round(value * scale * 10_000) / 10_000 + 0);
    const cut = (value: number): string => String(Math.trunc(value * 1_000_000 + Math.sign(value) * 1e-6) / 10_000 + 0);
    expect(told).toMatchObject({ per: "year", samples: changes.length, everyMs: dayMs });
    expect([told?.sharpe, told?.sortino, told?.omega, told?.calmar]).toEqual([
      digits(own.sharpe),
      digits(own.sortino),
      digits(own.omega),
      digits(yearly.calmar),
    ]);
    expect([told?.cagrPercent, told?.volatilityPercent, told?.single.varPercent]).toEqual(
      [yearly.cagr, own.volatility, own.valueAtRisk].map((value) => digits(value, 100)),
    );
    expect((told?.months ?? []).map(({ month, percent }) => [month, percent])).toEqual(
      Object.entries(quantstats.months).map(([month, share]) => [month, cut(share)]),
    );
    expect(Number(told?.single.risingPercent ?? 0)).toBeCloseTo(100 * (quantstats["winRate"] ?? 0), 1);
  });

  it("can be written for other programs without losing a digit", () => {
    const [head, ...rows] = [...returnsCsv(series)].join("").trimEnd().split("\r\n");
    expect(head).toBe("date,return,equity");
    expect(rows.map((row) => Number(row.split(",")[1]))).toEqual(changes);
  });
});
