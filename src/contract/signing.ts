/**
 * Parts and place of a signature, by the profile; the same for the side that signs and the side that
 * checks.
 *
 * Invariants: pure text; the body and the query enter exactly as they are on the wire, byte for byte; the secret never
 * comes here.
 * Not here: the digest itself (client/transport/sign.ts for our side, the plugin venue-server for the other: two
 * opinions).
 */
import type { Profile } from "./profile.ts";

/** Parts that a signature covers. */
export interface SignedParts {
  readonly timestamp: string;
  readonly method: string;
  readonly path: string;
  /** The query as sent, without the question mark; empty text for none. */
  readonly query: string;
  /** The body as sent; empty text for none. */
  readonly body: string;
}

/**
 * The text whose digest is the signature. A query is joined to the path by a question mark when it is signed at all.
 */
export const prehashOf = ({ auth }: Profile, { timestamp, method, path, query, body }: SignedParts): string => {
  const parts: Readonly<Record<string, string>> = {
    timestamp,
    method: method.toUpperCase(),
    path,
    query: query === "" ? "" : `?${query}`,
    body,
  };
  let text = "";
  for (const name of auth.prehash) text += parts[name] ?? "";
  return text;
};

/** Lower-case names of the four headers of a signed request. */
export const authHeaderNames = ({ auth }: Profile) => {
  const name = (rest: string): string => `${auth.headerPrefix}${rest}`.toLowerCase();
  return {
    key: name("Key"),
    sign: name("Sign"),
    timestamp: name("Timestamp"),
    passphrase: name("Passphrase"),
  } as const;
};

/** Text of an instant in a signed request; `wallAt` is milliseconds since the Unix epoch. */
export const timestampText = ({ auth }: Profile, wallAt: number): string => {
  const whole = Math.floor(wallAt);
  switch (auth.timestamp) {
    case "iso":
      return new Date(whole).toISOString();
    case "ms":
      return String(whole);
    case "s":
      return String(Math.floor(whole / 1_000));
  }
};

/**
 * The instant of a timestamp, in milliseconds since the Unix epoch, or undefined when it is not one of the profile's
 * form.
 */
export const readTimestamp = ({ auth }: Profile, text: string): number | undefined => {
  switch (auth.timestamp) {
    case "iso": {
      const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/.test(text) ? Date.parse(text) : Number.NaN;
      return Number.isNaN(at) ? undefined : at;
    }
    case "ms":
      return /^\d{13}$/.test(text) ? Number(text) : undefined;
    case "s":
      return /^\d{10}$/.test(text) ? Number(text) * 1_000 : undefined;
  }
};

/** Query parameters as they are sent: in the order given, percent-encoded, empty text for none. */
export const queryText = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
