/**
 * What an answer's headers say about the quota.
 *
 * Invariants: absent or malformed headers say nothing; nothing here throws.
 */
import type { LayerSpec } from "./layers.ts";

const wholeNumber = /^\d{1,9}$/;

/** Use of the layer in the current window as the service reports it, or undefined. */
export const usedOf = (layer: LayerSpec, headers: Readonly<Record<string, string>>): number | undefined => {
  if (layer.header === undefined) return undefined;
  const text = headers[layer.header.name];
  if (text === undefined || !wholeNumber.test(text)) return undefined;
  const value = Number(text);
  return layer.header.kind === "used" ? value : Math.max(0, layer.capacity - value);
};

/** The instant in `Date`, milliseconds, whole seconds. */
export const dateOf = (headers: Readonly<Record<string, string>>): number | undefined => {
  const text = headers["date"];
  if (text === undefined) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
};
