/**
 * Rows as comma-separated values (RFC 4180).
 *
 * Invariants: what holds a comma, a quote or a line break is quoted; a text that a spreadsheet would take for a formula
 * is not one.
 */
export const csvLines = (rows: readonly (readonly string[])[]): string =>
  `${rows.map((cells) => cells.map(quoted).join(",")).join("\r\n")}\r\n`;

const quoted = (cell: string): string => {
  const text = /^[=+@\t\r]|^-(?![\d.])/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
