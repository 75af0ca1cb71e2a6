/**
 * Reads the quota headers of an answer.
 *
 * Invariants: absent or malformed headers are skipped; names are compared in lower case, as they arrive; nothing here
 * throws.
 */
import type { LayerSpec } from "./layers.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** The layer, with its header's name in the form in which it arrives. */
export const withArrivingName = (layer: LayerSpec): LayerSpec =>
  layer.header === undefined
    ? layer
    : Object.assign({}, layer, { header: { name: layer.header.name.toLowerCase(), kind: layer.header.kind } });

/**
 * Use of the layer in the current window as the service reports it, or undefined. A count consists of one to nine
 * digits. `capacity` was in force when the answer was made. An answer to a `counted` call cannot report more use, or
 * more remaining quota, than the layer holds: such a count is no evidence.
 */
export const usedOf = (
  { header, capacity: stated }: LayerSpec,
  headers: Readonly<Record<string, string>>,
  counted = false,
  capacity = stated,
): number | undefined => {
  if (header === undefined) return undefined;
  const text = headers[header.name];
  if (text === undefined || text.length === 0 || text.length > 9) return undefined;
  let value = 0;
  for (let index = 0; index < text.length; index++) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  if (counted && value > capacity) return undefined;
  return header.kind === "used" ? value : Math.max(0, capacity - value);
};

/** Longest pause after a refusal that asks for more. After it one light call asks again. */
const holdMsMax = 600_000;
const holding: readonly number[] = [403, 429, 503];

/**
 * Pause in milliseconds that a refusal asks for by `Retry-After`, in seconds or as a date; undefined without one.
 */
export const holdMsOf = (status: number, headers: Readonly<Record<string, string>>): number | undefined => {
  const text = headers["retry-after"];
  if (text === undefined || !holding.includes(status)) return undefined;
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  const sentAt = dateOf(headers);
  const ms = seconds === undefined ? (sentAt === undefined ? Number.NaN : Date.parse(text) - sentAt) : seconds * 1_000;
  return ms > 0 ? Math.min(ms, holdMsMax) : undefined;
};

/** Instant in the `Date` header in milliseconds, with whole seconds; undefined if it is absent or not a date. */
export const dateOf = (headers: Readonly<Record<string, string>>): number | undefined => {
  const at = Date.parse(headers["date"] ?? "");
  return Number.isNaN(at) ? undefined : at;
};

const limited = 429;

/**
 * Returns true for answers that a machine in front of the service may have given: judged by their status, or failures
 * without a date.
 */
export const isSilent = ({ status, headers }: Answer): boolean =>
  status >= 500 || status === 408 || (status >= 400 && status !== limited && dateOf(headers) === undefined);
