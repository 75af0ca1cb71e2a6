/**
 * JSON of a value in pieces, for values whose text is longer than a string can be.
 *
 * Invariants: the pieces together are what `JSON.stringify` returns for plain objects and arrays; no piece is longer
 * than the text of 256 elements of a list.
 * Not here: JSON for people (report/ansi.ts).
 */

/** Lists inside lists are split too: the prices of a year are one element of a list. */
const depthMax = 6;

/** Yields the JSON of `value`, which is `null` for undefined. */
export const jsonPieces = function* (value: unknown, depth = depthMax): Generator<string> {
  if (depth > 0 && Array.isArray(value)) yield* listPieces(value, depth);
  else if (depth > 0 && isPlain(value)) yield* recordPieces(value, depth);
  else yield JSON.stringify(value) ?? "null";
};

/** Neighbours that hold no list are one piece. */
const together = 256;

const listPieces = function* (list: readonly unknown[], depth: number): Generator<string> {
  yield "[";
  for (let from = 0; from < list.length; from += together) {
    const some = list.slice(from, from + together);
    if (from > 0) yield ",";
    if (some.every(isFlat)) {
      yield JSON.stringify(some).slice(1, -1);
      continue;
    }
    for (const [index, item] of some.entries()) {
      if (index > 0) yield ",";
      yield* jsonPieces(item, depth - 1);
    }
  }
  yield "]";
};

const isScalar = (value: unknown): boolean => typeof value !== "object" || value === null;

const isFlat = (item: unknown): boolean => isScalar(item) || (isPlain(item) && Object.values(item).every(isScalar));

const recordPieces = function* (record: Readonly<Record<string, unknown>>, depth: number): Generator<string> {
  let before = "{";
  for (const [name, item] of Object.entries(record)) {
    if (item === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    yield* jsonPieces(item, depth - 1);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
};

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !("toJSON" in value);
