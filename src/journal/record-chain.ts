/**
 * Hash chain of records: each line begins with a hash of the previous line's hash and its own text.
 *
 * Invariants: pure; a line is valid only if its hash is, so that truncated, altered, reordered and missing lines are
 * detected; a torn last line is distinguished from damage by what follows it.
 * Not here: files (write-ahead-log.ts), the records' meaning.
 */
import { hash } from "node:crypto";
import { assert } from "../errors.ts";

/** The mark before the first line. */
export const genesis = "0".repeat(24);

/** 96 bits, so that no two texts have the same mark by accident. */
export const markOf = (previous: string, text: string): string =>
  hash("sha256", `${previous}\n${text}`, "hex").slice(0, genesis.length);

interface Line {
  readonly mark: string;
  /** Text with its end of line. */
  readonly text: string;
}

/** `json`, the text of an object, as the line after the one marked `previous`. */
export const lineOf = (previous: string, json: string): Line => {
  assert(json.startsWith("{") && !json.includes("\n"), "a journal record is an object on one line");
  const mark = markOf(previous, json);
  return { mark, text: `${mark} ${json}\n` };
};

export interface ChainReading {
  readonly records: readonly object[];
  /** Mark of the last good line. */
  readonly mark: string;
  /** Length of the good lines. */
  readonly bytes: number;
  /**
   * `torn`: the last line was cut off while it was written. `damaged`: something was changed after it had been written.
   */
  readonly ending: "whole" | "torn" | "damaged";
}

const newline = 10;

export const readChain = (file: Uint8Array, from: string = genesis): ChainReading => {
  const records: object[] = [];
  let mark = from;
  let start = 0;
  for (let end = file.indexOf(newline); end >= 0; end = file.indexOf(newline, start)) {
    const record = recordIn(file.subarray(start, end), mark);
    if (record === undefined) break;
    records.push(record.value);
    mark = record.mark;
    start = end + 1;
  }
  return { records, mark, bytes: start, ending: endingOf(file.subarray(start)) };
};

/** A write that was cut off leaves part of a line. A complete line that is invalid was changed after it was written. */
const endingOf = (rest: Uint8Array): ChainReading["ending"] =>
  rest.length === 0 ? "whole" : rest.includes(newline) ? "damaged" : "torn";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const recordIn = (line: Uint8Array, previous: string): { value: object; mark: string } | undefined => {
  try {
    const text = decoder.decode(line);
    const mark = text.slice(0, genesis.length);
    const json = text.slice(genesis.length + 1);
    if (text[genesis.length] !== " " || markOf(previous, json) !== mark) return undefined;
    return { value: JSON.parse(json) as object, mark };
  } catch {
    return undefined;
  }
};
