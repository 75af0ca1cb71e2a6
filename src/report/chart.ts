/**
 * A line over time, drawn with braille dots: two columns and four rows of dots a character.
 *
 * Invariants: no line is wider than asked; the highest, the lowest and the last value are labelled with the texts
 * given; the line shows the range of each dot column, so that a spike between two dots is never lost.
 * Not here: which values (report.ts thins them), how a label is spelled (the caller's `label`).
 */
import { padStart, widthOf } from "./ansi.ts";
import { timeAxis } from "./ticks.ts";

interface ChartPoint {
  readonly at: number;
  readonly value: number;
}

interface ChartOptions {
  /** Columns of the whole picture, labels included. */
  readonly width: number;
  /** Character rows of the line. */
  readonly height: number;
  readonly label: (point: ChartPoint) => string;
  readonly line: (text: string) => string;
  readonly frame: (text: string) => string;
}

interface Range {
  readonly low: number;
  readonly high: number;
}

const dotsWide = 2;
const dotsHigh = 4;
const blank = 0x2800;
/** Bit of each dot in a braille character: [column][row from the top]. */
const bits = [
  [0x01, 0x02, 0x04, 0x40],
  [0x08, 0x10, 0x20, 0x80],
] as const;

/** Rows of text, the time axis last. Points ascend in `at`; none gives no rows. */
export const chart = (points: readonly ChartPoint[], options: ChartOptions): readonly string[] => {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return [];
  const { height, label, line, frame } = options;
  const low = points.reduce((best, point) => (point.value < best.value ? point : best));
  const high = points.reduce((best, point) => (point.value > best.value ? point : best));
  const rowOf = (value: number): number => Math.floor(dotOf(value, low.value, high.value, height) / dotsHigh);
  const left = new Map([
    [rowOf(first.value), label(first)],
    [rowOf(low.value), label(low)],
    [rowOf(high.value), label(high)],
  ]);
  const leftWidth = Math.max(...[...left.values()].map(widthOf));
  const rightWidth = widthOf(label(last)) + 1;
  const width = Math.max(8, options.width - leftWidth - rightWidth - 2);
  const rows = dots(rangesOf(points, width * dotsWide), low.value, high.value, width, height);
  const start = rowOf(first.value);
  const drawn = rows.map((row, index) => {
    const text =
      index === start
        ? row.replaceAll(String.fromCharCode(blank), "·")
        : row.replaceAll(String.fromCharCode(blank), " ");
    const name = left.get(index);
    const end = index === rowOf(last.value) ? ` ${label(last)}` : "";
    return `${padStart(name ?? "", leftWidth)} ${frame(name === undefined ? "│" : "┤")}${painted(text, line, frame)}${end}`;
  });
  return [
    ...drawn,
    ...timeAxis(first.at, last.at, width, rightWidth).map((text) => frame(`${" ".repeat(leftWidth)} ${text}`)),
  ];
};

/** The level line of the start is frame, the rest is line. */
const painted = (text: string, line: (text: string) => string, frame: (text: string) => string): string =>
  text.replace(/·+|[^· ]+/g, (part) => (part.startsWith("·") ? frame(part) : line(part)));

/** Dot row from the top. A line without height lies in the middle. */
const dotOf = (value: number, low: number, high: number, height: number): number => {
  const lastDot = height * dotsHigh - 1;
  return high > low ? Math.round(((high - value) / (high - low)) * lastDot) : Math.floor(lastDot / 2);
};

/** Lowest and highest value of each dot column; a value holds until the next point. */
const rangesOf = (points: readonly ChartPoint[], columns: number): readonly Range[] => {
  const startAt = points[0]?.at ?? 0;
  const spanMs = (points.at(-1)?.at ?? startAt) - startAt;
  const ranges: Range[] = [];
  let next = 0;
  let value = points[0]?.value ?? 0;
  for (let column = 0; column < columns; column++) {
    const until = column === columns - 1 ? Number.POSITIVE_INFINITY : startAt + (spanMs * (column + 1)) / columns;
    let low = value;
    let high = value;
    for (let point = points[next]; point !== undefined && point.at < until; point = points[++next]) {
      value = point.value;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    ranges.push({ low, high });
  }
  return ranges;
};

const dots = (
  ranges: readonly Range[],
  low: number,
  high: number,
  width: number,
  height: number,
): readonly string[] => {
  const cells = new Uint8Array(width * height);
  ranges.forEach((range, column) => {
    const bottom = dotOf(range.low, low, high, height);
    for (let dot = dotOf(range.high, low, high, height); dot <= bottom; dot++) {
      const cell = Math.floor(dot / dotsHigh) * width + Math.floor(column / dotsWide);
      cells[cell] = (cells[cell] ?? 0) | (bits[column % 2 === 0 ? 0 : 1][dot % dotsHigh] ?? 0);
    }
  });
  return Array.from({ length: height }, (_, row) =>
    String.fromCharCode(...cells.subarray(row * width, (row + 1) * width).map(Number)).replace(/[\s\S]/g, (char) =>
      String.fromCharCode(blank + char.charCodeAt(0)),
    ),
  );
};
