/**
 * Parses a request line and a body strictly: the endpoint, the parameters, and the value of the body.
 *
 * Invariants: the raw path and query are unchanged, because signatures cover them; a text that can be read in two ways
 * (a parameter or a field twice, broken escapes, bytes that are no UTF-8) is a problem, never a guess; nothing here throws.
 * Not here: validation of the values (contract/validate.ts).
 */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import { strictJson } from "sluice/extension";

export interface Target {
  readonly path: string;
  /** Query as received, without the question mark. */
  readonly rawQuery: string;
}

/** A request may name the whole address, as one through a proxy does: its path and query are the target. */
const addressBefore = /^https?:\/\/[^/?#]*/i;

export const targetOf = (url: string): Target => {
  const target = url.replace(addressBefore, "");
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  return { path: path === "" ? "/" : path, rawQuery: mark === -1 ? "" : target.slice(mark + 1) };
};

interface Unreadable {
  readonly problem: string;
}

export const isUnreadable = (value: object): value is Unreadable => "problem" in value;

/** Parameters by name, decoded. */
export const queryOf = (rawQuery: string): { readonly query: Readonly<Record<string, string>> } | Unreadable => {
  const pairs = new Map<string, string>();
  for (const pair of rawQuery.split("&")) {
    if (pair === "") continue;
    const [name, value] = decoded(pair);
    if (name === undefined || value === undefined) return { problem: "the query has a broken percent escape." };
    if (pairs.has(name)) return { problem: `the query names "${name.slice(0, 40)}" twice.` };
    pairs.set(name, value);
  }
  return { query: Object.fromEntries(pairs) };
};

const decoded = (pair: string): readonly [string, string] | readonly [] => {
  const mark = pair.indexOf("=");
  const part = (text: string): string => decodeURIComponent(text.replaceAll("+", " "));
  try {
    return mark === -1 ? [part(pair), ""] : [part(pair.slice(0, mark)), part(pair.slice(mark + 1))];
  } catch {
    return [];
  }
};

/** The value of a body; no body is no value. */
export const jsonOf = (text: string): { readonly value: unknown } | Unreadable => {
  if (text === "") return { value: undefined };
  const read = strictJson(text);
  return "problem" in read ? { problem: `the body ${read.problem}` } : read;
};

export type Body = { readonly text: string } | { readonly problem: "too_large" | "encoding" };

export const bodyBytesMax = 1_048_576;

/** Reads a body to its end and hands it over once; a request that breaks off is never handed over. */
export const readBody = (request: IncomingMessage, take: (body: Body) => void): void => {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  if (coding === undefined && (length === undefined || length === "0")) {
    take({ text: "" });
    return;
  }
  if (Number(length) > bodyBytesMax) {
    take({ problem: "too_large" });
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  const keep = (chunk: Buffer): void => {
    size += chunk.length;
    if (size <= bodyBytesMax) {
      chunks.push(chunk);
      return;
    }
    request.off("data", keep);
    request.off("end", finish);
    take({ problem: "too_large" });
  };
  const finish = (): void => {
    const bytes = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    take(isUtf8(bytes) ? { text: bytes.toString("utf8") } : { problem: "encoding" });
  };
  request.on("data", keep);
  request.on("end", finish);
};
