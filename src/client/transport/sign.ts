/**
 * Signs requests and logins with a user's credentials, by the rules of the profile.
 *
 * Invariants: what is signed is the text given, byte for byte; nothing but headers and login arguments leaves here.
 * Not here: what the signature covers (contract/signing.ts), what time it is at the service (service-time.ts).
 */
import type { Profile } from "../../contract/profile.ts";
import { authHeaderNames, prehashOf, type SignedParts, timestampText } from "../../contract/signing.ts";
import { createRedact, type Redact } from "./redaction.ts";
import { type Credentials, type Seal, sealOf, textsOf } from "./secrets.ts";

/** Signer of one key: the headers of its requests and the arguments of its logins. */
export interface Signer {
  /**
   * The headers of a signed request, lower-case; `wallAt` is milliseconds since the Unix epoch as the service counts.
   */
  headers(parts: Omit<SignedParts, "timestamp">, wallAt: number): Readonly<Record<string, string>>;
  /** The argument of a login over a socket. */
  login(wallAt: number): Readonly<Record<string, string>>;
}

/** A signer that also removes what it signs with from texts of the other side. */
export interface KeySigner extends Signer {
  readonly redact: Redact;
}

/** Signature, key and passphrase among sent headers or login arguments; instants and short texts are left out. */
export const proofsIn = (sent: Readonly<Record<string, string>>): readonly string[] =>
  Object.values(sent).filter((text) => text.length >= proofMin && !/^[\d.:TZ-]+$/.test(text));

const proofMin = 8;

/** The one part of a signed request that is wrong on purpose, to see whether a service checks it. */
export type KeyFault = "secret" | "key" | "passphrase" | "timestamp";

/** Every part of a signed request that can be wrong on purpose. */
export const keyFaults: readonly KeyFault[] = ["secret", "key", "passphrase", "timestamp"];

/** The name for requests that are signed as by `key`, except that one part is wrong. */
export const faultyName = (key: string, fault: KeyFault): string => `${key}!${fault}`;

const digestOf = ({ auth }: Profile, seal: Seal, prehash: string): string => {
  switch (auth.digest) {
    case "base64":
      return seal.hmacSha256(prehash, "base64");
    case "hex":
      return seal.hmacSha256(prehash, "hex");
    case "hex_base64":
      return Buffer.from(seal.hmacSha256(prehash, "hex"), "latin1").toString("base64");
  }
};

/**
 * Makes the signer of a dialect from the seal of the credentials, which never shows the secret.
 *
 * @param seal - signs texts with the secret
 * @param profile - how the service wants requests signed
 * @returns the signer of requests
 */
export type SignerOf = (seal: Seal, profile: Profile) => Signer;

export const createSigner = (profile: Profile, credentials: Credentials, signer: SignerOf = signerOf): KeySigner => {
  return withRedact(signer(sealOf(credentials), profile), credentials);
};

/** Signs as the credentials would, with one part wrong and every part of the usual form. */
export const createFaultySigner = (
  profile: Profile,
  credentials: Credentials,
  fault: KeyFault,
  signer: SignerOf = signerOf,
): KeySigner => {
  return withRedact(faultySignerOf(profile, sealOf(credentials), fault, signer), credentials);
};

const withRedact = (signer: Signer, credentials: Credentials): KeySigner =>
  Object.freeze({
    headers: (parts, wallAt) => signer.headers(parts, wallAt),
    login: (wallAt) => signer.login(wallAt),
    redact: createRedact(textsOf(credentials)),
  } satisfies KeySigner);

const faultySignerOf = (profile: Profile, seal: Seal, fault: KeyFault, signer: SignerOf): Signer => {
  switch (fault) {
    case "secret":
      return signer({ ...seal, hmacSha256: (text, encoding) => seal.hmacSha256(`${text}.`, encoding) }, profile);
    case "key":
      return signer({ ...seal, apiKey: otherThan(seal.apiKey) }, profile);
    case "passphrase":
      return signer({ ...seal, passphrase: () => otherThan(seal.passphrase()) }, profile);
    case "timestamp": {
      const own = signer(seal, profile);
      return Object.freeze({
        headers: (parts, wallAt) => own.headers(parts, wallAt - staleMs),
        login: (wallAt) => own.login(wallAt - staleMs),
      } satisfies Signer);
    }
  }
};

/** Older than any service accepts. */
const staleMs = 3_600_000;

/** The text with a different last character. */
const otherThan = (text: string): string => `${text.slice(0, -1)}${text.endsWith("a") ? "b" : "a"}`;

/**
 * The described way of signing.
 *
 * @param seal - signs texts with the secret
 * @param profile - how the service wants requests signed
 * @returns the signer of requests
 */
export const signerOf: SignerOf = (seal, profile) => {
  const names = authHeaderNames(profile);
  const signature = (parts: SignedParts): string => digestOf(profile, seal, prehashOf(profile, parts));
  return Object.freeze({
    headers: ({ method, path, query, body }, wallAt) => {
      const timestamp = timestampText(profile, wallAt);
      // Set one after the other, because the platform is slow with a literal that has computed names.
      const headers: Record<string, string> = {};
      headers[names.key] = seal.apiKey;
      headers[names.sign] = signature({ timestamp, method, path, query, body });
      headers[names.timestamp] = timestamp;
      headers[names.passphrase] = seal.passphrase();
      return headers;
    },
    login: (wallAt) => {
      const timestamp = timestampText(profile, wallAt);
      const sign = signature({ timestamp, method: "GET", path: profile.websocket.loginPath, query: "", body: "" });
      return { apiKey: seal.apiKey, passphrase: seal.passphrase(), timestamp, sign };
    },
  } satisfies Signer);
};
