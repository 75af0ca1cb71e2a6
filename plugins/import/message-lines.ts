/**
 * Messages of a line of a websocket recording.
 *
 * Invariants: a line that holds no message of an object is refused by its number and its beginning.
 * Not here: parsing of messages (import-messages.ts), messages of other exchanges (import-venues.ts).
 */
import { mul } from "sluice";
import { excerpt } from "sluice/extension";
import { contractsUnknown, importInvalid } from "./import-decimals.ts";
import { lineAt, type TextLines } from "./import-file.ts";
import { type Fields, isObject, venueMessages } from "./import-venues.ts";

export interface Message {
  readonly file: string;
  readonly line: number;
  readonly at: number;
  readonly stream: string;
  readonly data: Fields;
}

/** The messages of a line; `at` is its instant, `contractSize` the base currency in one contract. */
export const messagesAt = (
  lines: TextLines,
  index: number,
  at: number,
  contractSize: string | undefined,
): readonly Message[] => {
  const { file } = lines;
  const line = lines.number[index] as number;
  const text = lineAt(lines, index);
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith("{") ? text : text.slice(text.indexOf(" ") + 1));
  } catch {
    throw importInvalid(file, line, `${shown(text)} is not a receive time followed by JSON.`);
  }
  if (!isObject(value)) throw importInvalid(file, line, `${shown(text)} holds no JSON object.`);
  const stream = typeof value["stream"] === "string" ? value["stream"] : "";
  const inBase = (symbol: string, contracts: string): string => {
    if (contracts === "") return contracts;
    if (contractSize !== undefined) return mul(contracts, contractSize);
    throw importInvalid(file, line, contractsUnknown(symbol));
  };
  return venueMessages(value, { line, inBase }).map((data) => {
    if (isObject(data)) return { file, line, at, stream, data };
    throw importInvalid(file, line, `"data" is ${shown(JSON.stringify(data))}, not an object.`);
  });
};

const shown = (text: string): string => JSON.stringify(excerpt(text, 80));
