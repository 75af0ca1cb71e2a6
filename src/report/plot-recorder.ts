/**
 * Values that strategies publish for pictures with `plot`, kept by name.
 *
 * Invariants: nothing is kept unless it was asked for; a line holds at most `pointsMax` points: when it is full, of
 * each four neighbours the lowest and the highest stay, so that no extreme is lost; what is not a finite number is left
 * out, as a gap.
 * Not here: who publishes (host/context.ts), how it is drawn (plugins/report-html).
 */

/** Place of a plotted value. */
interface PlotPlace {
  readonly pane?: string;
  readonly instId?: string;
}

/**
 * Values that a strategy published under one name; `pane` is `name` where none was given, and `price` is the chart of
 * `instId`.
 */
export interface PlotLine {
  readonly strategy: string;
  readonly name: string;
  readonly pane: string;
  readonly instId?: string;
  /** Instants in milliseconds since the epoch, in order. */
  readonly points: readonly { readonly at: number; readonly value: number }[];
}

type Points = PlotLine["points"][number][];

const pointsMax = 100_000;
const linesMax = 64;

export class PlotRecorder {
  readonly #lines = new Map<string, { readonly about: Omit<PlotLine, "points">; points: Points }>();
  /** True if values are kept. */
  isOn = false;
  /** Values under names beyond the first `linesMax`. */
  leftOut = 0;

  get lines(): readonly PlotLine[] {
    return [...this.#lines.values()].map(({ about, points }) => ({ ...about, points }));
  }

  take(
    strategy: string,
    at: number,
    name: string,
    value: number | string,
    { pane = name, instId }: PlotPlace = {},
  ): void {
    if (!this.isOn) return;
    const number = typeof value === "string" && value.trim() === "" ? Number.NaN : Number(value);
    if (!Number.isFinite(number)) return;
    const id = JSON.stringify([strategy, name, pane, instId]);
    let line = this.#lines.get(id);
    if (line === undefined) {
      if (this.#lines.size >= linesMax) {
        this.leftOut++;
        return;
      }
      line = { about: { strategy, name, pane, ...(instId !== undefined && { instId }) }, points: [] };
      this.#lines.set(id, line);
    }
    line.points.push({ at, value: number });
    if (line.points.length >= pointsMax) line.points = halved(line.points);
  }
}

const halved = (points: Points): Points => {
  const kept: Points = [];
  for (let index = 0; index < points.length; index += 4) {
    const four = points.slice(index, index + 4);
    const low = four.reduce((least, point) => (point.value < least.value ? point : least));
    const high = four.reduce((most, point) => (point.value > most.value ? point : most));
    kept.push(...(low === high ? [low] : low.at <= high.at ? [low, high] : [high, low]));
  }
  return kept;
};
