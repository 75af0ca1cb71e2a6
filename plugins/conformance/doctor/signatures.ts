/**
 * Ways to sign a request that are documented somewhere for a service of this kind, in addition to that of the profile.
 *
 * Invariants: pure; a way differs from the profile's only in rows of `auth`; prefixes of header names are not guessed.
 */
import type { Profile } from "sluice/dialect";
import type { Override } from "./finding.ts";

type Auth = Profile["auth"];

const timestamps = ["iso", "ms", "s"] as const;
const digests = ["base64", "hex", "hex_base64"] as const;

/**
 * Other timestamps and digests: all that can be wrong with a request that has neither query nor body. Nearest ways
 * first.
 */
export const plainWays = (auth: Auth): readonly (readonly Override[])[] => {
  const ways = timestamps.flatMap((timestamp) => digests.map((digest) => ({ timestamp, digest })));
  const overrides = ways.map(({ timestamp, digest }): readonly Override[] => [
    ...(timestamp === auth.timestamp ? [] : [{ path: "auth.timestamp", value: timestamp } as const]),
    ...(digest === auth.digest ? [] : [{ path: "auth.digest", value: digest } as const]),
  ]);
  return overrides.filter(({ length }) => length > 0).sort((a, b) => a.length - b.length);
};

/** The prehash with the query where it has none, and without it where it has one. */
export const queryWay = ({ prehash }: Auth): readonly Override[] => {
  const at = prehash.indexOf("path") + 1;
  const value = prehash.includes("query")
    ? prehash.filter((part) => part !== "query")
    : [...prehash.slice(0, at), "query", ...prehash.slice(at)];
  return [{ path: "auth.prehash", value }];
};

export const spellWay = (way: readonly Override[]): string =>
  way.map(({ path, value }) => `${path} ${Array.isArray(value) ? value.join("+") : String(value)}`).join(", ");
