/**
 * Rows as comma-separated values (RFC 4180).
 *
 * Invariants: text with a comma, a quote or a line break is quoted; a text that a spreadsheet would read as a formula
 * is not one.
 *
 * @param rows - cells by row
 * @returns lines that end with carriage return and line feed
 */
export const csvLines = (rows: Iterable<readonly string[]>): string => [...csvPieces(rows)].join("");

/** The same line by line, for more of them than a string can hold. */
export const csvPieces = function* (rows: Iterable<readonly string[]>): Generator<string> {
  for (const cells of rows) yield `${cells.map(quoted).join(",")}\r\n`;
};

const quoted = (cell: string): string => {
  const text = /^[=+@\t\r]|^-(?![\d.])/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
