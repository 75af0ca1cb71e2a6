/**
 * Signatures against vectors made with openssl: `printf '%s' "$text" | openssl dgst -sha256 -hmac "$secret" -binary | openssl base64`.
 */
import { describe, expect, it } from "vitest";
import { createCredentials } from "../../../../src/client/transport/secrets.ts";
import { createFaultySigner, createSigner, keyFaults } from "../../../../src/client/transport/sign.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../../src/contract/profile.ts";

const credentials = createCredentials({ apiKey: "key-1", secretKey: "s3cr3t-Key/For+Tests==", passphrase: "pass 1" });
const wallAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678) + 0.9;
const post = {
  method: "POST",
  path: "/api/v1/trade/order",
  query: "",
  body: '{"instId":"BTC-USDT-SWAP","clOrdId":"ü1"}',
};
const get = { method: "GET", path: "/api/v1/trade/order", query: "ordId=1&instId=BTC-USDT", body: "" };

const iso = "2026-01-02T03:04:05.678Z";
const ms = "1767323045678";
const s = "1767323045";

describe("A request signature", () => {
  it.each<[NonNullable<ProfileOverrides["auth"]>, string, string]>([
    [{ timestamp: "iso", digest: "base64" }, iso, "s7bdwtBXiL2lArrAm60pLFh9j/1XdNufMCmQyhWAWKo="],
    [{ timestamp: "iso", digest: "hex" }, iso, "b3b6ddc2d05788bda502bac09bad292c587d8ffd5774db9f302990ca158058aa"],
    [
      { timestamp: "iso", digest: "hex_base64" },
      iso,
      "YjNiNmRkYzJkMDU3ODhiZGE1MDJiYWMwOWJhZDI5MmM1ODdkOGZmZDU3NzRkYjlmMzAyOTkwY2ExNTgwNThhYQ==",
    ],
    [{ timestamp: "ms", digest: "base64" }, ms, "EVZXKwBkLtaSwgKe/hDUazRhMbK1sgMvOe7qKRHIJxU="],
    [{ timestamp: "ms", digest: "hex" }, ms, "1156572b00642ed692c2029efe10d46b346131b2b5b2032f39eeea2911c82715"],
    [
      { timestamp: "ms", digest: "hex_base64" },
      ms,
      "MTE1NjU3MmIwMDY0MmVkNjkyYzIwMjllZmUxMGQ0NmIzNDYxMzFiMmI1YjIwMzJmMzllZWVhMjkxMWM4MjcxNQ==",
    ],
    [{ timestamp: "s", digest: "base64" }, s, "BV2jSCbbqnX0P3+26cer69ifFehtOLd4D9/USUhq/BM="],
    [{ timestamp: "s", digest: "hex" }, s, "055da34826dbaa75f43f7fb6e9c7abebd89f15e86d38b7780fdfd449486afc13"],
    [
      { timestamp: "s", digest: "hex_base64" },
      s,
      "MDU1ZGEzNDgyNmRiYWE3NWY0M2Y3ZmI2ZTljN2FiZWJkODlmMTVlODZkMzhiNzc4MGZkZmQ0NDk0ODZhZmMxMw==",
    ],
  ])("of a body with %o", (auth, timestamp, sign) => {
    const signer = createSigner(createContract({ auth }).profile, credentials);
    expect(signer.headers(post, wallAt)).toEqual({
      "x-api-key": "key-1",
      "x-api-sign": sign,
      "x-api-timestamp": timestamp,
      "x-api-passphrase": "pass 1",
    });
  });

  it.each([
    [["timestamp", "method", "path", "body"], "TTr/5CrKoV93cNwELaWoMIyQG8Q/7rdCxUMAfqj9f8k="],
    [["timestamp", "method", "path", "query", "body"], "xq2iO5bM4cSCbQWtWHjZBuL9h/h/kEqfue11k4hUiGg="],
    [["path", "query", "method", "timestamp", "body"], "0twFXOyXJylZ3nOvVmh8AScJfiXnekLWx5mqrOAEn9s="],
  ])("of a query covers %j", (prehash, sign) => {
    const signer = createSigner(createContract({ auth: { prehash } }).profile, credentials);
    expect(signer.headers(get, wallAt)["x-api-sign"]).toBe(sign);
  });

  it("uses the prefix of the profile", () => {
    const signer = createSigner(createContract({ auth: { headerPrefix: "OTHER-" } }).profile, credentials);
    expect(Object.keys(signer.headers(get, wallAt))).toEqual([
      "other-key",
      "other-sign",
      "other-timestamp",
      "other-passphrase",
    ]);
  });

  it.each([
    ["iso", iso, "XHbmMNaN8wD2dQHm+qe2YCUqQ26vYjdoldJ5XxjTGCc="],
    ["s", s, "qnHdwst4xObY1fv6ajLJDSTPCwvrGOs4eV7ZoBASpO8="],
  ] as const)("of a login covers its own path, with the time as %s", (form, timestamp, sign) => {
    const signer = createSigner(createContract({ auth: { timestamp: form } }).profile, credentials);
    expect(signer.login(wallAt)).toEqual({ apiKey: "key-1", passphrase: "pass 1", timestamp, sign });
  });
});

describe("A signature with one part wrong on purpose", () => {
  const names = {
    secret: ["x-api-sign"],
    key: ["x-api-key"],
    passphrase: ["x-api-passphrase"],
    timestamp: ["x-api-timestamp", "x-api-sign"],
  };

  it.each(keyFaults)("%s: differs in what it says and in nothing else, and is of the same form", (fault) => {
    const { profile } = createContract();
    const right = createSigner(profile, credentials).headers(post, wallAt);
    const wrong = createFaultySigner(profile, credentials, fault).headers(post, wallAt);
    const differing = Object.keys(right).filter((name) => right[name] !== wrong[name]);
    expect(new Set(differing)).toEqual(new Set(names[fault]));
    expect(Object.entries(wrong).map(([name, text]) => [name, text.length])).toEqual(
      Object.entries(right).map(([name, text]) => [name, text.length]),
    );
  });
});
