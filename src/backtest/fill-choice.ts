/**
 * Choice of the fill model of each instrument of a recording: the requested one, or the finest that the recording can
 * support.
 *
 * Invariants: a requested model that is not available is refused by instrument, with the available ones; nothing is
 * filled from rows that a model does not read; instruments without any market data have no model and are never filled.
 * Not here: what the models are (fill-models.ts).
 */
import type { Assumption } from "../contract/assumption.ts";
import { SluiceError } from "../errors.ts";
import { isTerms, type Series, type SeriesKind, type Tape } from "../market/tape/tape.ts";
import { type Matching, matchingOf } from "../venue/queue-model.ts";
import { volumeDoubt } from "./bar-volumes.ts";
import { isPlayed } from "./candle-prints.ts";
import { type FillModel, type FillSource, type Fills, modelOf, queueTerms } from "./fill-models.ts";

export interface FillChoice {
  /** By the tape's instruments; undefined where nothing is recorded. */
  readonly models: readonly (FillModel | undefined)[];
  /** Returns true if rows of the series reach the service. */
  readonly plays: (series: Series) => boolean;
  readonly matching: (instId: string) => Matching | undefined;
  /** Returns true if the volume of bars bounds the fills of takers of the instrument. */
  readonly isCut: (instId: string) => boolean;
  /** Assumptions about fills, for a report. */
  readonly assumptions: readonly Assumption[];
}

const needs: Readonly<Record<FillSource, SeriesKind>> = {
  book: "level",
  quotes: "quote",
  trades: "trade",
  candles: "candle",
};
const reads: Readonly<Record<FillSource, readonly SeriesKind[]>> = {
  book: ["level", "quote", "trade"],
  quotes: ["quote", "trade"],
  trades: ["trade"],
  candles: ["candle"],
};
const finest = ["book", "quotes", "trades", "candles"] as const satisfies readonly FillSource[];
const words: Readonly<Partial<Record<SeriesKind, string>>> = {
  level: "book levels",
  quote: "quotes",
  trade: "trades",
  candle: "candles",
};

/** `given` is a model or its name. Without it the finest model is used. */
export const chooseFills = (tape: Tape, given?: Fills): FillChoice => {
  const asked = given === undefined ? undefined : modelOf("fills", given);
  const kinds = tape.instruments.map((_, instrument) => kindsOf(tape, instrument));
  const models = kinds.map((held, instrument) => {
    if (held.size === 0) return undefined;
    if (asked === undefined) return modelOf("fills", finestOf(held));
    if (held.has(needs[asked.from])) return asked;
    throw lacking(asked, tape.instruments[instrument]?.instId ?? "", held);
  });
  const byId = new Map(tape.instruments.map(({ instId }, instrument) => [instId, models[instrument]]));
  const doubts = doubtsOf(tape, models);
  return {
    models,
    plays: (series) => isTerms(series) || playsWith(models[series.instrument], series, tape),
    matching: (instId) => {
      const model = byId.get(instId);
      if (model?.from === "candles") {
        const isFree = model.volume === "unlimited" || doubts.has(instId);
        return { ...matchingOf(model.queue, isFree ? "unlimited" : "traded", isFree), endless: isFree };
      }
      // Quotes recorded next to prints and bars are derived from them, so their volume would count twice.
      return (
        model &&
        matchingOf(model.queue, model.volume, model.volume === "unlimited" || reads[model.from].includes("quote"))
      );
    },
    isCut: (instId) => {
      const model = byId.get(instId);
      return model?.from === "candles" && model.volume === "traded" && !doubts.has(instId);
    },
    assumptions: [
      ...assumptionsOf(tape, models, kinds, asked === undefined),
      ...[...doubts].map(([instId, doubt]) => ({
        what: `Volume of ${instId}`,
        value: `bounds nothing: ${doubt}`,
        consequence: "orders are filled completely",
      })),
    ],
  };
};

/** Instruments whose fills were to be bounded by bar volume and cannot be, with the reason. */
const doubtsOf = (
  { series, instruments }: Tape,
  models: readonly (FillModel | undefined)[],
): ReadonlyMap<string, string> => {
  const doubts = new Map<string, string>();
  for (const one of series) {
    const model = models[one.instrument];
    const instrument = instruments[one.instrument];
    if (one.kind !== "candle" || model?.from !== "candles" || model.volume !== "traded" || instrument === undefined)
      continue;
    const doubt = volumeDoubt(instrument, one);
    if (doubt !== undefined) doubts.set(instrument.instId, doubt);
  }
  return doubts;
};

const kindsOf = (tape: Tape, instrument: number): ReadonlySet<SeriesKind> =>
  // A series without rows counts as a series, so that a recording that was cut off is filled like the whole one.
  new Set(tape.series.filter((series) => series.instrument === instrument && !isTerms(series)).map(({ kind }) => kind));

const finestOf = (held: ReadonlySet<SeriesKind>): FillSource =>
  finest.find((source) => held.has(needs[source])) ?? "candles";

const playsWith = (model: FillModel | undefined, series: Series, tape: Tape): boolean => {
  if (model === undefined || !reads[model.from].includes(series.kind)) return false;
  // The shortest of several lengths counts.
  return (
    series.kind !== "candle" ||
    isPlayed(
      series,
      tape.series.filter(({ kind }) => kind === "candle"),
    )
  );
};

const lacking = ({ from }: FillModel, instId: string, held: ReadonlySet<SeriesKind>): SluiceError => {
  const there = list([...held].map((kind) => words[kind] ?? kind));
  const want = words[needs[from]] ?? from;
  return new SluiceError(
    "CONFIG_INVALID",
    `fills: "${from}" needs ${want}, and the recording holds none of ${instId}, only ${there}. Write "${finestOf(held)}", leave fills out to have it chosen by product, or record ${want}.`,
  );
};

const list = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;

const assumptionsOf = (
  { instruments }: Tape,
  models: readonly (FillModel | undefined)[],
  kinds: readonly ReadonlySet<SeriesKind>[],
  byRecording: boolean,
): readonly Assumption[] => {
  const used = finest.flatMap((from) => {
    const model = models.find((one) => one?.from === from);
    const products = instruments.flatMap(({ instId }, index) =>
      models[index]?.from === from ? [{ instId, held: kinds[index] }] : [],
    );
    return model === undefined ? [] : [{ model, products }];
  });
  return used.flatMap(({ model, products }) => {
    const of = used.length === 1 ? "" : ` of ${list(products.map(({ instId }) => instId))}`;
    const silent = products.filter(
      ({ held }) => held !== undefined && (model.from === "book" || model.from === "quotes") && !held.has("trade"),
    );
    return [
      {
        what: `Fills${of}`,
        value: `from ${model.from}, ${byRecording ? "the finest the recording holds" : "as the config says"}`,
        consequence: sourceText(model),
      },
      { what: `Queue${of}`, ...queueTerms(model.queue) },
      {
        what: `Volume${of}`,
        value: model.volume,
        consequence: model.from === "candles" ? barVolumeText[model.volume] : volumeText[model.volume],
      },
      ...(silent.length === 0
        ? []
        : [
            {
              what: `Trades of ${list(silent.map(({ instId }) => instId))}`,
              value: "not recorded",
              consequence: "a resting order is filled only when the other side reaches its price",
            },
          ]),
    ];
  });
};

const sourceText = ({ from, path }: FillModel): string => {
  switch (from) {
    case "book":
      return "takers walk the displayed levels";
    case "quotes":
      return "takers meet the best price and its quantity, and nothing beyond";
    case "trades":
      return "takers meet the price of the last print of their side and its quantity";
    case "candles":
      return `open, one extreme, the other (${path === "pessimistic" ? "the worse one for the account first: a stop before a take-profit, the end that meets only resting buys or only resting sells last; else the low when the bar rose" : "the low first when the bar rose"}), close, each a third of the bar apart with a spread of one tick`;
  }
};

const barVolumeText = {
  unlimited:
    "orders that take are filled completely at the price of their side, and a print through a resting price fills the order completely, whatever the volume of the bar",
  traded:
    "a quarter of the bar's volume is behind each of its four prices: orders that take get no more at one of them, and a resting order no more than was printed at its price or through it",
} as const;

const volumeText = {
  unlimited:
    "a print through a resting price, or a price displayed across it, fills the order completely, however small",
  traded:
    "a resting order gets no more than was printed at its price or through it, or than was displayed across it where that was recorded",
} as const;
