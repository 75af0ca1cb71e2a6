/**
 * Decoding of an answer's bytes and headers, before its meaning is parsed.
 *
 * Invariants: a body is valid JSON in valid UTF-8 with bounded depth, or it is undefined; nothing here throws; only the
 * headers in use are kept.
 */
import { isUtf8 } from "node:buffer";
import type { IncomingHttpHeaders } from "node:http";
import { limitHeaders } from "../../contract/limits.ts";

/** Answers are three levels deep. Thousands of levels would overflow the stack when the value is serialised. */
const depthMax = 32;

const isDeep = (bytes: Buffer): boolean => {
  let depth = 0;
  let quoted = false;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (quoted) {
      if (byte === 0x5c) index++;
      else if (byte === 0x22) quoted = false;
    } else if (byte === 0x22) quoted = true;
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > depthMax) return true;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
  return false;
};

export const readJson = (bytes: Buffer): unknown => {
  if (bytes.length === 0 || !isUtf8(bytes) || isDeep(bytes)) return undefined;
  const text = bytes.toString("utf8");
  try {
    // Some servers put a byte order mark in front, which is no part of JSON.
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch {
    return undefined;
  }
};

/**
 * Headers that are read of every service, in lower case: calendar, described limits, pauses asked for, the end of an
 * endpoint.
 */
export const usualHeaders: readonly string[] = [
  "date",
  ...Object.values(limitHeaders),
  "retry-after",
  "deprecation",
  "sunset",
];

export const keptHeaders = (
  headers: IncomingHttpHeaders,
  names: readonly string[],
): Readonly<Record<string, string>> => {
  const few: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === "string") few[name] = value;
  }
  return few;
};

/** The encoding of a body that is not plain, which was never asked for. */
export const encodingOf = (headers: IncomingHttpHeaders): string | undefined => {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  return encoding === "" || encoding === "identity" ? undefined : encoding.replace(/[^a-z0-9, -]/g, "").slice(0, 20);
};
