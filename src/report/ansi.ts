/**
 * Text for terminals: colour, width, and foreign words made harmless.
 *
 * Invariants: without colour every helper returns its text unchanged; colour never carries meaning alone; a foreign
 * text put through `printable` moves no cursor, rings no bell and starts no new line.
 */
import { stripVTControlCharacters, styleText } from "node:util";

type Stroke = (text: string) => string;
/** Functions that colour a text, by name; they return it unchanged where there is no colour. */
export type Ink = Readonly<Record<(typeof strokes)[number], Stroke>>;

const strokes = ["bold", "dim", "red", "green", "yellow", "cyan"] as const;
const inkOf = (stroke: (name: (typeof strokes)[number]) => Stroke): Ink =>
  Object.fromEntries(strokes.map((name) => [name, stroke(name)])) as Ink;
// The caller decides about colour, not the process's own output.
const coloured = inkOf((name) => (text) => (text === "" ? "" : styleText(name, text, { validateStream: false })));
const uncoloured = inkOf(() => (text) => text);

/**
 * Colours of a terminal, or none.
 *
 * @param colour - false for functions that change nothing
 * @returns functions that colour text
 */
export const ink = (colour: boolean): Ink => (colour ? coloured : uncoloured);

// Controls, marks that reorder or hide text, line and paragraph separators, broken halves of characters.
const obeyed = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/**
 * Foreign text on one line, with everything a terminal would obey spelled out: `\u001b[2J`.
 *
 * @param text - of any origin
 * @returns one line
 */
export const printable = (text: string): string =>
  text.replace(
    obeyed,
    (char) => shortEscapes[char] ?? `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );

/**
 * A JSON document for standard output, with every character spelled out that a terminal would obey or that reorders
 * text. The value that a reader parses from it is unchanged.
 *
 * @param value - JSON
 * @param indent - blanks for each level
 * @returns one line, or several with `indent`
 */
export const jsonText = (value: unknown, indent?: number): string =>
  (JSON.stringify(value, null, indent) ?? "null").replace(obeyed, (char) =>
    char === "\n" ? char : escapedUnits(char),
  );

/** `\uXXXX` for each unit, as JSON writes characters beyond the first plane in two. */
const escapedUnits = (char: string): string =>
  Array.from({ length: char.length }, (_, index) => `\\u${char.charCodeAt(index).toString(16).padStart(4, "0")}`).join(
    "",
  );

const shortEscapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const wide = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}]/u;
const columnsOf = (char: string): number => (wide.test(char) ? 2 : /\p{Mark}/u.test(char) ? 0 : 1);

/**
 * Columns a text fills; colour fills none.
 *
 * @param text - may have colour
 * @returns columns
 */
export const widthOf = (text: string): number =>
  Array.from(stripVTControlCharacters(text)).reduce((total, char) => total + columnsOf(char), 0);

/**
 * The text with spaces up to this width in columns.
 *
 * @param text - may have colour
 * @param width - columns
 * @returns text of at least that width
 */
export const padEnd = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)));
/**
 * The text with spaces before it, up to this width in columns.
 *
 * @param text - may have colour
 * @param width - columns
 * @returns text of at least that width
 */
export const padStart = (text: string, width: number): string => " ".repeat(Math.max(0, width - widthOf(text))) + text;

/**
 * Cut at the end with an ellipsis where it does not fit. For plain text only.
 *
 * @param text - without colour
 * @param width - columns
 * @returns text of at most that width
 */
export const cut = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text;
  let kept = "";
  let left = width - 1;
  for (const char of text) {
    left -= columnsOf(char);
    if (left < 0) break;
    kept += char;
  }
  return width < 1 ? "" : `${kept}…`;
};

/**
 * Words laid into lines of at most `width`; a longer word has a line of its own and is cut.
 *
 * @param text - without colour
 * @param width - columns
 * @returns lines; a longer word has one of its own and is cut
 */
export const wrapped = (text: string, width: number): readonly string[] => {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ").map((part) => cut(part, width))) {
    if (line !== "" && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return line === "" ? lines : [...lines, line];
};
