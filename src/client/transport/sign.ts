/**
 * Signs requests and logins with a user's credentials, as the profile says.
 *
 * Invariants: what is signed is the text given, byte for byte; nothing but headers and login arguments leaves here.
 * Not here: what the signature covers (contract/signing.ts), what time it is at the service (service-time.ts).
 */
import type { LoginArg } from "../../contract/channels.ts";
import type { Profile } from "../../contract/profile.ts";
import { authHeaderNames, prehashOf, type SignedParts, timestampText } from "../../contract/signing.ts";
import { type Credentials, type Seal, sealOf } from "./secrets.ts";

export interface Signer {
  /** The four headers of a signed request, lower-case; `wallAt` is milliseconds since the Unix epoch as the service counts. */
  headers(parts: Omit<SignedParts, "timestamp">, wallAt: number): Readonly<Record<string, string>>;
  login(wallAt: number): LoginArg;
}

/** The one part of a signed request that is wrong on purpose, to see whether a service checks it. */
export type KeyFault = "secret" | "key" | "passphrase" | "timestamp";

export const keyFaults: readonly KeyFault[] = ["secret", "key", "passphrase", "timestamp"];

/** The name under which requests leave that are signed as by `key`, but for one part. */
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

export const createSigner = (profile: Profile, credentials: Credentials): Signer => signerOf(profile, sealOf(credentials));

/** Signs as the credentials would, with one part wrong and every part of the usual form. */
export const createFaultySigner = (profile: Profile, credentials: Credentials, fault: KeyFault): Signer => {
  const seal = sealOf(credentials);
  switch (fault) {
    case "secret":
      return signerOf(profile, { ...seal, hmacSha256: (text, encoding) => seal.hmacSha256(`${text}.`, encoding) });
    case "key":
      return signerOf(profile, { ...seal, apiKey: otherThan(seal.apiKey) });
    case "passphrase":
      return signerOf(profile, { ...seal, passphrase: () => otherThan(seal.passphrase()) });
    case "timestamp": {
      const signer = signerOf(profile, seal);
      return Object.freeze({
        headers: (parts, wallAt) => signer.headers(parts, wallAt - staleMs),
        login: (wallAt) => signer.login(wallAt - staleMs),
      } satisfies Signer);
    }
  }
};

/** Older than any service accepts. */
const staleMs = 3_600_000;

/** The text with another last character. */
const otherThan = (text: string): string => `${text.slice(0, -1)}${text.endsWith("a") ? "b" : "a"}`;

const signerOf = (profile: Profile, seal: Seal): Signer => {
  const names = authHeaderNames(profile);
  const signature = (parts: SignedParts): string => digestOf(profile, seal, prehashOf(profile, parts));
  return Object.freeze({
    headers: (parts, wallAt) => {
      const timestamp = timestampText(profile, wallAt);
      return {
        [names.key]: seal.apiKey,
        [names.sign]: signature({ ...parts, timestamp }),
        [names.timestamp]: timestamp,
        [names.passphrase]: seal.passphrase(),
      };
    },
    login: (wallAt) => {
      const timestamp = timestampText(profile, wallAt);
      const sign = signature({ timestamp, method: "GET", path: profile.websocket.loginPath, query: "", body: "" });
      return { apiKey: seal.apiKey, passphrase: seal.passphrase(), timestamp, sign };
    },
  } satisfies Signer);
};
