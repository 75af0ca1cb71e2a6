/**
 * Keys of the service, and the verification of signatures.
 *
 * Invariants: the text is verified as received over the wire; secrets are compared in constant time and never leave
 * this file; a nonce is used once.
 * Not here: the signer named in a request (served-dialect.ts), permissions of a key (venue/request-handler.ts), signing
 * by our client (client/transport/sign.ts: an independent implementation).
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from "node:crypto";
import { SluiceError } from "sluice";
import type { Profile } from "sluice/dialect";
import type { Claim, KeyProblem } from "./served-dialect.ts";

export interface ServerKey {
  readonly apiKey: string;
  readonly secretKey: string;
  readonly passphrase: string;
  readonly uid: string;
  readonly permissions: readonly string[];
}

type KeyCheck = { readonly ok: true; readonly key: ServerKey } | { readonly ok: false; readonly problem: KeyProblem };

interface Held {
  readonly key: ServerKey;
  readonly secret: KeyObject;
}

export class Keyring {
  readonly #profile: Profile;
  readonly #held: ReadonlyMap<string, Held>;
  readonly #nonces = new Nonces();

  constructor(profile: Profile, keys: readonly ServerKey[]) {
    this.#profile = profile;
    this.#held = hold(keys);
  }

  /** Returns the key of the claim, or the problem. `wallAt` is the service's calendar. */
  check({ apiKey, passphrase, sign, at, prehash, nonce, elsewhere }: Claim, wallAt: number): KeyCheck {
    const { auth } = this.#profile;
    const holder = this.#held.get(apiKey);
    if (holder === undefined) return { ok: false, problem: "unknown_key" };
    if (elsewhere) return { ok: false, problem: "environment" };
    if (at === undefined || Math.abs(wallAt - at) > auth.toleranceMs) return { ok: false, problem: "timestamp" };
    if (!same(passphrase, holder.key.passphrase)) return { ok: false, problem: "passphrase" };
    if (!same(sign, digestOf(this.#profile, holder.secret, prehash))) return { ok: false, problem: "signature" };
    // Only what its owner signed uses a nonce up.
    if (nonce !== undefined && !this.#nonces.use(`${apiKey} ${nonce}`, wallAt, auth.toleranceMs))
      return { ok: false, problem: "nonce" };
    return { ok: true, key: holder.key };
  }
}

/** Nonces used lately. */
class Nonces {
  readonly #usedAt = new Map<string, number>();

  /** Uses one up; false when it is used already. */
  use(nonce: string, now: number, keptMs: number): boolean {
    for (const [old, at] of this.#usedAt) {
      if (now - at <= keptMs) break;
      this.#usedAt.delete(old);
    }
    if (this.#usedAt.has(nonce)) return false;
    this.#usedAt.set(nonce, now);
    return true;
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
        throw new SluiceError(
          "CONFIG_INVALID",
          `venue server: key "${key.apiKey}" has an empty ${part}. Give it a text.`,
        );
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

/** Returns true if the texts are equal, in a time that depends only on their lengths, which are no secret. */
const same = (given: string, expected: string): boolean => {
  const left = Buffer.from(given, "utf8");
  const right = Buffer.from(expected, "utf8");
  return left.length === right.length && timingSafeEqual(left, right);
};
