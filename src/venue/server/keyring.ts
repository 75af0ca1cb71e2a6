/**
 * Whose signature a request carries: the service's own reading of it, by the same profile as the client's.
 *
 * Invariants: what is verified is the text as it came over the wire; secrets are compared in constant time and never leave this
 * file; a request with any of the four headers is signed, and then all four must be right.
 * Not here: what a key may do (venue/request-handler.ts), how our side signs (client/transport/sign.ts: two opinions).
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import type { LoginArg } from "../../contract/channels.ts";
import type { Profile } from "../../contract/profile.ts";
import { authHeaderNames, prehashOf, readTimestamp, type SignedParts } from "../../contract/signing.ts";
import { SluiceError } from "../../errors.ts";

export interface ServerKey {
  readonly apiKey: string;
  readonly secretKey: string;
  readonly passphrase: string;
  readonly uid: string;
  readonly permissions: readonly string[];
}

export type KeyProblem = "unknown_key" | "signature" | "timestamp" | "passphrase";

type KeyCheck = { readonly ok: true; readonly key: ServerKey } | { readonly ok: false; readonly problem: KeyProblem };

interface Held {
  readonly key: ServerKey;
  readonly secret: KeyObject;
}

/** What a signer says of itself; a part that is missing is empty text, which no key has. */
interface Claim {
  readonly apiKey: string;
  readonly passphrase: string;
  readonly timestamp: string;
  readonly sign: string;
}

export class Keyring {
  readonly #profile: Profile;
  readonly #names: ReturnType<typeof authHeaderNames>;
  readonly #held: ReadonlyMap<string, Held>;

  constructor(profile: Profile, keys: readonly ServerKey[]) {
    this.#profile = profile;
    this.#names = authHeaderNames(profile);
    this.#held = hold(keys);
  }

  /** Whose request it is, or what is wrong with its signature; undefined when it carries none. `wallAt` is the service's calendar. */
  check(
    headers: Readonly<Record<string, string | undefined>>,
    signed: Omit<SignedParts, "timestamp">,
    wallAt: number,
  ): KeyCheck | undefined {
    const names = this.#names;
    const given = [headers[names.key], headers[names.passphrase], headers[names.timestamp], headers[names.sign]] as const;
    if (given.every((part) => part === undefined)) return undefined;
    const [apiKey = "", passphrase = "", timestamp = "", sign = ""] = given;
    return this.#judge({ apiKey, passphrase, timestamp, sign }, signed, wallAt);
  }

  login(arg: LoginArg, wallAt: number): KeyCheck {
    return this.#judge(arg, { method: "GET", path: this.#profile.websocket.loginPath, query: "", body: "" }, wallAt);
  }

  #judge(claim: Claim, signed: Omit<SignedParts, "timestamp">, wallAt: number): KeyCheck {
    const profile = this.#profile;
    const holder = this.#held.get(claim.apiKey);
    if (holder === undefined) return { ok: false, problem: "unknown_key" };
    const at = readTimestamp(profile, claim.timestamp);
    if (at === undefined || Math.abs(wallAt - at) > profile.auth.toleranceMs) return { ok: false, problem: "timestamp" };
    if (!same(claim.passphrase, holder.key.passphrase)) return { ok: false, problem: "passphrase" };
    const expected = digestOf(profile, holder.secret, prehashOf(profile, { ...signed, timestamp: claim.timestamp }));
    return same(claim.sign, expected) ? { ok: true, key: holder.key } : { ok: false, problem: "signature" };
  }
}

const hold = (keys: readonly ServerKey[]): ReadonlyMap<string, Held> => {
  const held = new Map<string, Held>();
  for (const key of keys) {
    if (held.has(key.apiKey))
      throw new SluiceError("CONFIG_INVALID", `venue server: key ${key.apiKey} is listed twice. Name every key once.`);
    for (const part of ["apiKey", "secretKey", "passphrase"] as const) {
      // An empty part would let in a request that leaves it out.
      if (key[part] === "")
        throw new SluiceError("CONFIG_INVALID", `venue server: key "${key.apiKey}" has an empty ${part}. Give it a text.`);
    }
    held.set(key.apiKey, { key, secret: createSecretKey(key.secretKey, "utf8") });
  }
  return held;
};

const digestOf = ({ auth }: Profile, secret: KeyObject, prehash: string): string => {
  const hmac = createHmac("sha256", secret).update(prehash, "utf8");
  switch (auth.digest) {
    case "base64":
      return hmac.digest("base64");
    case "hex":
      return hmac.digest("hex");
    case "hex_base64":
      return Buffer.from(hmac.digest("hex"), "latin1").toString("base64");
  }
};

/** Says nothing about where two texts differ; that their lengths do is no secret. */
const same = (given: string, expected: string): boolean => {
  const left = Buffer.from(given, "utf8");
  const right = Buffer.from(expected, "utf8");
  return left.length === right.length && timingSafeEqual(left, right);
};
