/**
 * JSON text from outside that asks for something to be done, read strictly.
 *
 * Invariants: a text that can be read in two ways, because an object names a field twice, is a problem and never a
 * guess; nothing here throws.
 * Not here: the check of the value (validate.ts).
 */
import { excerpt } from "../errors.ts";

/** A name with its colon, another string, or a bracket. In valid JSON every string before a colon is a name. */
const tokens = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]/gs;

const nameLengthMax = 40;

/** Name that an object of a valid JSON text has twice; undefined where no object has. */
const repeatedName = (json: string): string | undefined => {
  const objects: Set<string>[] = [];
  for (const [token, string, colon] of json.matchAll(tokens)) {
    if (token === "{") objects.push(new Set());
    else if (token === "}") objects.pop();
    else if (string !== undefined && colon !== undefined) {
      const name = JSON.parse(string) as string;
      const names = objects.at(-1);
      if (names?.has(name)) return name;
      names?.add(name);
    }
  }
  return undefined;
};

/**
 * Reads JSON in which no object names a field twice.
 *
 * @param text - of any origin
 * @returns the value, or the reason why it cannot be read
 */
export const strictJson = (text: string): { readonly value: unknown } | { readonly problem: string } => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: "is not JSON." };
  }
  const twice = repeatedName(text);
  return twice === undefined ? { value } : { problem: `names "${excerpt(twice, nameLengthMax)}" twice.` };
};
