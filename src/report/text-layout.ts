/**
 * The building blocks of a report on a terminal: headings, facts in columns, two blocks side by side, small tables.
 *
 * Invariants: labels are left, figures right; colour repeats what signs and words show.
 * Not here: the texts (report-text.ts), colour and width of text (ansi.ts).
 */
import { cut, type Ink, ink, padEnd, padStart, widthOf, wrapped } from "./ansi.ts";
import { placesIn, type RunReport } from "./report.ts";
import type { Fact } from "./run-facts.ts";

export interface Look {
  readonly columns: number;
  readonly colour: boolean;
}

export interface Page {
  readonly report: RunReport;
  /** Columns between the margins. */
  readonly width: number;
  readonly paint: Ink;
  /** Fraction digits of money. */
  readonly places: number;
}

const columnsMin = 60;
const columnsMax = 160;

export const pageOf = (report: RunReport, { columns, colour }: Look): Page => ({
  report,
  width: Math.min(columnsMax, Math.max(columnsMin, columns)) - 2,
  paint: ink(colour),
  places: placesIn(report),
});

/** Lines with a margin, without trailing blanks, with room around them. */
export const printed = (lines: readonly string[]): string =>
  `\n${lines.map((line) => ` ${line}`.trimEnd()).join("\n")}\n\n`;

export const title = ({ paint, width }: Pick<Page, "paint" | "width">, name: string, columns = width): string =>
  `${paint.bold(name)} ${paint.dim("─".repeat(Math.max(0, columns - name.length - 1)))}`;

/** Labels left, values aligned at the right, notes after them. */
export const facts = (rows: readonly Fact[], paint: Ink): readonly string[] => {
  const labels = Math.max(...rows.map(([label]) => widthOf(label)));
  const values = Math.max(...rows.map(([, value]) => widthOf(value)));
  return rows.map(([label, value, note = ""]) =>
    `${padEnd(label, labels)}  ${padStart(value, values)}  ${paint.dim(note)}`.trimEnd(),
  );
};

interface Block {
  readonly name: string;
  readonly lines: readonly string[];
}

/**
 * Two blocks side by side, the left one at its share of the width or as wide as it needs; below each other where they
 * do not fit.
 */
export const beside = (left: Block, right: Block, page: Pick<Page, "width" | "paint">): readonly string[] => {
  const needed = Math.max(...left.lines.map(widthOf)) + 3;
  const half = Math.max(Math.floor(page.width * 0.55), needed);
  if (half + Math.max(...right.lines.map(widthOf)) > page.width) {
    return [title(page, left.name), ...left.lines, "", title(page, right.name), ...right.lines];
  }
  const rows = Math.max(left.lines.length, right.lines.length);
  return [
    `${padEnd(title(page, left.name, half - 2), half)}${title(page, right.name, page.width - half)}`,
    ...Array.from({ length: rows }, (_, row) => `${padEnd(left.lines[row] ?? "", half)}${right.lines[row] ?? ""}`),
  ];
};

/** Green and red repeat the sign. */
export const toned = (text: string, paint: Ink): string =>
  /^\+.*[1-9]/.test(text) ? paint.green(text) : /^-.*[1-9]/.test(text) ? paint.red(text) : text;

/** A heading and rows: the first `named` columns left and cut where they must be, the others right. */
export const table = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  named: number,
  { width, paint }: Pick<Page, "width" | "paint">,
): readonly string[] => {
  const sizes = heading.map((name, column) =>
    Math.max(widthOf(name), ...rows.map((row) => widthOf(row[column] ?? ""))),
  );
  const figures = sizes.slice(named).reduce((total, size) => total + size + 2, 0);
  const names = sizes.slice(0, named).reduce((total, size) => total + size + 2, 0);
  // Names give way, never figures.
  const share =
    names + figures > width ? Math.max(8, Math.floor((width - figures) / named) - 2) : Number.POSITIVE_INFINITY;
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => {
        const size = column < named ? Math.min(share, sizes[column] ?? 0) : (sizes[column] ?? 0);
        return column < named ? padEnd(cut(cell, size), size) : padStart(cell, size);
      })
      .join("  ")
      .trimEnd();
  return [paint.dim(line(heading)), ...rows.map(line)];
};

/** A heading and rows of words, each cell wrapped in its column. The first column is as wide as its words, if it can. */
export const wordTable = (
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  { width, paint }: Pick<Page, "width" | "paint">,
): readonly string[] => {
  const first = Math.min(Math.floor(width / 4), Math.max(...[heading, ...rows].map(([cell = ""]) => widthOf(cell))));
  const share = Math.floor((width - first) / Math.max(1, heading.length - 1)) - 2;
  const lines = (row: readonly string[]): readonly string[] => {
    const cells = row.map((cell, column) => wrapped(cell, column === 0 ? first : share));
    const height = Math.max(1, ...cells.map((cell) => cell.length));
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((cell, column) => padEnd(cell[line] ?? "", column === 0 ? first : share))
        .join("  ")
        .trimEnd(),
    );
  };
  return [...lines(heading).map(paint.dim), ...rows.flatMap(lines)];
};
