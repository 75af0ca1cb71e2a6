/**
 * Figures of all strategies by instrument, and their trades one by one.
 *
 * Invariants: sums are exact; instruments are listed by name, trades by the instant of their opening.
 * Not here: one strategy in one instrument (instrument-sums.ts).
 */
import { sum } from "../decimal.ts";
import { keptAt } from "./converted-money.ts";
import type { InstrumentSums } from "./instrument-sums.ts";
import type { InstrumentReport } from "./report.ts";
import type { MarkOf, StrategySums } from "./strategy-sums.ts";
import { type Extremes, type TradeLists, type TradeRecord, type TradeSums, tradeRecord } from "./trade-list.ts";

type ByInstrument = readonly (readonly [instId: string, all: readonly InstrumentSums[]])[];

/** Sums of all strategies in each instrument, by the name of the instrument. */
export const instrumentsOf = (strategies: readonly StrategySums[]): ByInstrument => {
  const all = new Map<string, InstrumentSums[]>();
  for (const one of strategies.flatMap(({ instruments }) => instruments))
    all.set(one.instId, [...(all.get(one.instId) ?? []), one]);
  return [...all].sort(([a], [b]) => (a < b ? -1 : 1));
};

/** `charged`: the run charged funding, or a liquidation, at all. */
export const instrumentReports = (
  instruments: ByInstrument,
  markOf: MarkOf,
  charged: { readonly funding: boolean; readonly liquidation: boolean },
): Readonly<Record<string, InstrumentReport>> =>
  Object.fromEntries(
    instruments.map(([instId, all]) => {
      const total = (of: (one: InstrumentSums) => string): string => sum(all.map(of));
      return [
        instId,
        {
          fills: all.reduce((fills, one) => fills + one.fills, 0),
          volume: total(({ volume }) => volume),
          pnl: total((one) => one.net(markOf(one))),
          realised: total(({ realised }) => realised),
          unrealised: total((one) => one.unrealised(markOf(one))),
          fees: total(({ fees }) => fees),
          ...(charged.funding && { funding: total(({ funding }) => funding) }),
          ...(charged.liquidation && { liquidation: total(({ liquidation }) => liquidation) }),
        },
      ];
    }),
  );

interface ListedBy {
  readonly currency: string;
  readonly endAt: number;
  readonly markOf: MarkOf;
  /** Highest and lowest recorded prices. */
  readonly extremes: Extremes;
}

export const tradeListsOf = (
  strategies: readonly StrategySums[],
  { currency, endAt, markOf, extremes }: ListedBy,
): TradeLists => {
  const list = (tradesIn: (one: InstrumentSums) => readonly TradeSums[]): readonly TradeRecord[] =>
    strategies
      .flatMap((own) =>
        own.instruments.flatMap((one) => {
          const { instId } = one;
          const quoted = markOf(one);
          const mark = keptAt(instId, quoted);
          const pxRate = mark.rate === quoted.rate ? "1" : quoted.rate;
          const of = { strategy: own.name, instId, currency, mark, pxRate, endAt, extremes };
          return tradesIn(one).map((trade) => tradeRecord(trade, of));
        }),
      )
      .sort((a, b) => a.openedAt - b.openedAt);
  return { position: list(({ roundTrips }) => roundTrips.all), fifo: list(({ lots }) => lots?.all ?? []) };
};
