/**
 * Signs requests and logins with a user's credentials, as the profile says.
 *
 * Invariants: what is signed is the text given, byte for byte; nothing but headers and login arguments leaves here.
 * Not here: what the signature covers (contract/signing.ts), what time it is at the service (service-time.ts).
 */
import type { LoginArg } from "../contract/channels.ts";
import type { Profile } from "../contract/profile.ts";
import { authHeaderNames, prehashOf, type SignedParts, timestampText } from "../contract/signing.ts";
import { type Credentials, type Seal, sealOf } from "./secrets.ts";

export interface Signer {
  /** The four headers of a signed request, lower-case; `wallAt` is milliseconds since the Unix epoch as the service counts. */
  headers(parts: Omit<SignedParts, "timestamp">, wallAt: number): Readonly<Record<string, string>>;
  login(wallAt: number): LoginArg;
}

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

export const createSigner = (profile: Profile, credentials: Credentials): Signer => {
  const seal = sealOf(credentials);
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
