/**
 * Describes an import in lines of text: for each file its layout, the meaning of its columns, its instrument and its
 * first rows.
 *
 * Invariants: the files are read as an import reads them, to their ends; nothing is written.
 */

import type { Tape } from "sluice/backtest";
import { columnNames, columnsOf, grid, type Series, seriesName } from "sluice/extension";
import type { RowsFound } from "./read-recording.ts";
import { type ReadFile, type ReadOptions, readFiles } from "./tape-import.ts";
import { formNames, type TimeForm } from "./time-forms.ts";

export const explanationOf = async (options: ReadOptions): Promise<string> => {
  const files = await readFiles(options);
  return `${files.flatMap(linesOf).join("\n")}\nNothing was written.\n`;
};

const linesOf = ({
  file,
  part,
  layout,
  instrument,
  rows,
  startAt,
  endAt,
  notes,
  tape,
  found,
}: ReadFile): readonly string[] => [
  `${file}${part.packing === "none" ? "" : ` (${part.packing})`}`,
  ...(found === undefined ? [`  layout: ${withoutColumns(layout)}`] : layoutLines(found)),
  `  instrument: ${tape.instruments.map(({ tickSize, lotSize }) => `${instrument}, tick size ${tickSize}, lot size ${lotSize}`).join()}`,
  `  rows: ${rows}, from ${startAt} to ${endAt}`,
  ...notes.map(({ what, count }) => `  note: ${what}: ${count}`),
  ...tape.series.flatMap((series) => firstRows(series, tape)),
];

const withoutColumns = (layout: string): string =>
  layout === "messages" ? "websocket messages, one a line behind its receive time" : `events of ${layout}`;

const layoutLines = ({ plan, format, unit, timestamp }: RowsFound): readonly string[] => {
  const { layout, header, columns, skip } = plan;
  const named = Object.entries(columns).map(([role, place]) => `${role} = ${header?.[place] ?? `column ${place + 1}`}`);
  const levels = plan.levels.length === 0 ? [] : [`${plan.levels.length} levels a side`];
  return [
    `  layout: ${layout.name} (${layout.about}), ${format.toUpperCase()} ${header === undefined ? "without names of columns" : "with names of columns"}`,
    ...(skip > 1 ? [`  the first ${skip} lines are not data`] : []),
    `  columns: ${[...named, ...levels].join(", ")}`,
    `  time: ${formName(unit)}, UTC${layout.rows === "candles" ? `; it marks the ${timestamp} of a bar` : ""}`,
  ];
};

const formName = (form: TimeForm): string =>
  form === "s" || form === "ms" || form === "us" || form === "ns"
    ? `${formNames[form]} since the epoch`
    : formNames[form];

const rowsShown = 3;

const firstRows = (series: Series, { instruments }: Tape): readonly string[] => {
  const { tickSize = "1", lotSize = "1" } = instruments[series.instrument] ?? {};
  const [tick, lot] = [grid(tickSize), grid(lotSize)];
  const names = columnNames[series.kind];
  const cell = (name: string, value: number): string => {
    if (/px$|open|high|low|close/i.test(name)) return tick.format(value);
    return /qty$|volume/i.test(name) ? lot.format(value) : String(value);
  };
  const columns = columnsOf(series);
  const rows = Array.from({ length: Math.min(rowsShown, series.at.length) }, (_, row) => {
    const cells = names.map((name, place) => `${name} ${cell(name, columns[place]?.[row] ?? 0)}`);
    return `    ${new Date(series.at[row] ?? 0).toISOString()}  ${cells.join("  ")}`;
  });
  return [`  ${seriesName(series, instruments)}, as it will be:`, ...rows];
};
