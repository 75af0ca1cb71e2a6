/**
 * Markdown of generated pages: text that neither Markdown nor the page's templates interpret.
 */

/** Code in a line. */
export const code = (text: string): string => `<code v-pre>${escaped(text)}</code>`;

/** Text of the sources: text between backticks is code, all other text stays as it is. */
export const prose = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part) => (part.startsWith("`") && part.length > 1 ? code(part.slice(1, -1)) : escaped(part)))
    .join("");

export const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    // Braces would be attributes or expressions of a page.
    .replaceAll("{", "&#123;")
    .replaceAll("}", "&#125;")
    .replaceAll("|", "&#124;")
    .replaceAll("*", "&#42;")
    .replaceAll("_", "&#95;");

/** Cells are Markdown already; a line break in one ends nothing. */
export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("\n", " ")).join(" | ")} |`)
    .join("\n");
