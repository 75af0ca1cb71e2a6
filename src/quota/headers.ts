/**
 * What an answer's headers say about the quota.
 *
 * Invariants: absent or malformed headers say nothing; nothing here throws.
 */
import type { LayerSpec } from "./layers.ts";

/** Digits as a number, or undefined for anything else: counts of a window have at most nine. */
const countOf = (text: string): number | undefined => {
  if (text.length === 0 || text.length > 9) return undefined;
  let value = 0;
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
};

/** Use of the layer in the current window as the service reports it, or undefined. */
export const usedOf = (layer: LayerSpec, headers: Readonly<Record<string, string>>): number | undefined => {
  if (layer.header === undefined) return undefined;
  const text = headers[layer.header.name];
  const value = text === undefined ? undefined : countOf(text);
  if (value === undefined) return undefined;
  return layer.header.kind === "used" ? value : Math.max(0, layer.capacity - value);
};

/** The instant in `Date`, milliseconds, whole seconds. */
export const dateOf = (headers: Readonly<Record<string, string>>): number | undefined => {
  const text = headers["date"];
  if (text === undefined) return undefined;
  // Answers of one second carry the same text, and reading a calendar date is the dearest part of an answer.
  if (text !== lastDate.text) {
    lastDate.text = text;
    lastDate.at = Date.parse(text);
  }
  return Number.isNaN(lastDate.at) ? undefined : lastDate.at;
};

const lastDate = { text: "", at: Number.NaN };
