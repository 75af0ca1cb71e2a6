/**
 * Records of a text: rows of separated values, or the elements of a JSON array, or JSON values one a line.
 *
 * Invariants: every cell is text, exactly as in the file, numbers of JSON included; a list in a list or record is JSON
 * with its numbers as texts, and any other value that is not plain an empty cell; a record is handed over as soon as it
 * is complete, so that the text is never held whole; a record longer than `recordCharsMax` is refused.
 * Not here: the meaning of cells (detect.ts, table-reader.ts).
 */
import { excerpt } from "sluice/extension";
import { type TextPart, textOf } from "../byte-source.ts";
import { importInvalid } from "../import-decimals.ts";

export interface Row {
  /** The line of the file, from 1; of JSON in one line the place of the element. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Names of the cells, for JSON objects. */
  readonly names?: readonly string[];
}

export type TextFormat = "csv" | "json";

export interface RecordHandler {
  row(row: Row): void;
  /** After each piece of the file: how many of its bytes were read. */
  read?(bytes: number): void;
}

/** Passes all records of `part` to `handler` and returns the kind of the text. */
export const eachRecord = async (part: TextPart, handler: RecordHandler): Promise<TextFormat> => {
  let reader: Splitter | undefined;
  let head = "";
  for await (const text of textOf(part.unpacked((bytes) => handler.read?.(bytes)))) {
    if (reader === undefined) {
      head += text;
      // Enough for the delimiter to be seen in whole lines.
      if (head.length < headChars) continue;
      reader = splitterOf(head, part.name, handler);
      reader.push(head);
    } else reader.push(text);
  }
  if (reader === undefined) {
    reader = splitterOf(head, part.name, handler);
    reader.push(head);
  }
  reader.end();
  return reader.format;
};

const headChars = 16_384;
/** A row of a market takes some hundred characters, a book of 5,000 levels some 100,000. */
const recordCharsMax = 1_048_576;
/** Longest quoted cell with line ends, in characters; such a cell is scanned again with each line. */
const openCellCharsMax = 65_536;

const tooLong = (name: string, line: number, text: string, most: number): Error =>
  importInvalid(
    name,
    line,
    `a record that begins with ${JSON.stringify(excerpt(text))} is longer than ${most} characters. Is the file a table, and is every quoted cell closed?`,
  );

interface Splitter {
  readonly format: TextFormat;
  push(text: string): void;
  end(): void;
}

const splitterOf = (head: string, name: string, handler: RecordHandler): Splitter =>
  /^\s*[[{]/.test(head) ? jsonSplitter(name, handler) : csvSplitter(name, delimiterOf(head), handler);

const delimiters = [",", ";", "\t", "|"] as const;

/** The one that splits the first lines into most cells. */
const delimiterOf = (head: string): string => {
  const lines = head.split("\n", 12).slice(0, 11);
  const counts = delimiters.map((delimiter) =>
    lines.reduce((total, line) => total + line.split(delimiter).length - 1, 0),
  );
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ",";
};

const csvSplitter = (name: string, delimiter: string, handler: RecordHandler): Splitter => {
  let rest = "";
  let line = 0;
  /** Text of an unfinished row: a quoted cell that contains the end of a line continues the row. */
  let open = "";
  const take = (raw: string): void => {
    line++;
    const text = open + (raw.endsWith("\r") ? raw.slice(0, -1) : raw);
    if (text.includes('"') && text.split('"').length % 2 === 0) {
      open = `${text}\n`;
      if (open.length > openCellCharsMax) throw tooLong(name, line, open, openCellCharsMax);
      return;
    }
    open = "";
    if (text.trim() !== "") handler.row({ line, cells: cellsOf(text, delimiter) });
  };
  return {
    format: "csv",
    push: (piece) => {
      const text = rest + piece;
      let from = 0;
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
        take(text.slice(from, end));
        from = end + 1;
      }
      rest = text.slice(from);
      if (rest.length > recordCharsMax) throw tooLong(name, line + 1, rest, recordCharsMax);
    },
    end: () => {
      if (rest !== "") take(rest);
      if (open !== "") handler.row({ line, cells: open.trim().split(delimiter) });
    },
  };
};

const cellsOf = (text: string, delimiter: string): readonly string[] => {
  const cells = text.split(delimiter);
  if (!text.includes('"')) {
    for (let index = 0; index < cells.length; index++) cells[index] = (cells[index] as string).trim();
    return cells;
  }
  const joined: string[] = [];
  let quoted = "";
  for (const cell of cells) {
    quoted = quoted === "" ? cell : quoted + delimiter + cell;
    if (quoted.split('"').length % 2 === 0) continue;
    joined.push(
      quoted
        .trim()
        .replace(/^"(.*)"$/s, "$1")
        .replaceAll('""', '"')
        .trim(),
    );
    quoted = "";
  }
  return joined;
};

const [quote, backslash, comma] = ['"', "\\", ","];

const jsonSplitter = (name: string, handler: RecordHandler): Splitter => {
  /** Depth of the records: 1 within an array of them, 0 for one a line. */
  let base = -1;
  let [depth, count, isText, isEscaped] = [0, 0, false, false];
  let element = "";
  let names: readonly string[] = [];
  let nameKey = "";
  const take = (): void => {
    count++;
    const value = parsed(element, name, count);
    element = "";
    if (Array.isArray(value)) {
      handler.row({ line: count, cells: value.map(cellOf) });
      return;
    }
    const keys = Object.keys(value);
    const key = keys.join("\n");
    if (key !== nameKey) [names, nameKey] = [keys, key];
    handler.row({ line: count, cells: Object.values(value).map(cellOf), names });
  };
  /** Opens a nested value. The first bracket after `[` shows whether the values lie in an array of records. */
  const opened = (char: string): void => {
    if (base < 0 && depth === 1 && element.trim() === "[") [base, element] = [1, ""];
    else if (base < 0 && depth > 0) base = 0;
    element += char;
    depth++;
  };
  const step = (char: string): void => {
    if (isText) {
      element += char;
      if (isEscaped) isEscaped = false;
      else if (char === backslash) isEscaped = true;
      else if (char === quote) isText = false;
    } else if (char === "[" || char === "{") opened(char);
    else if (char === "]" || char === "}") {
      depth--;
      if (base === 1 && depth === 0) return;
      element += char;
      if (depth === Math.max(0, base)) take();
    } else if (depth > Math.max(0, base) || base < 0) {
      if (char === quote) isText = true;
      element += char;
    } else if (char !== comma && char.trim() !== "") element += char;
  };
  return {
    format: "json",
    push: (text) => {
      for (let index = 0; index < text.length; index++) step(text[index] as string);
      if (element.length > recordCharsMax) throw tooLong(name, count + 1, element, recordCharsMax);
    },
    end: () => {
      if (depth !== 0 || element.trim() !== "")
        throw importInvalid(name, count + 1, `the JSON ends within ${JSON.stringify(excerpt(element))}.`);
    },
  };
};

/** Texts, and numbers outside of them. */
const textsAndNumbers = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Numbers become text before they are parsed, for as numbers they would lose digits. */
const parsed = (
  element: string,
  name: string,
  count: number,
): readonly unknown[] | Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(
      element.replace(textsAndNumbers, (match) => (match.startsWith(quote) ? match : `"${match}"`)),
    );
    if (typeof value === "object" && value !== null)
      return value as readonly unknown[] | Readonly<Record<string, unknown>>;
  } catch {
    // Refused below.
  }
  throw importInvalid(name, count, `${JSON.stringify(excerpt(element))} is not JSON.`);
};

const cellOf = (value: unknown): string => {
  if (typeof value === "string") return value.trim();
  return typeof value === "boolean" ? String(value) : Array.isArray(value) ? JSON.stringify(value) : "";
};
