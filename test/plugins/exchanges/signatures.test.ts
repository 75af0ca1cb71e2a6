/** Signatures of exchanges: published ones, and ones computed by signatures.py beside this file. */
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { blofinDialect } from "../../../plugins/exchanges/blofin-dialect.ts";
import { okxDialect } from "../../../plugins/exchanges/okx-dialect.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { createSigner } from "../../../src/client/transport/sign.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { dialectCredentials, spoken } from "../../support/harness/dialects.ts";

interface Computed {
  readonly login: string;
  readonly requests: readonly Readonly<Record<"method" | "path" | "query" | "body" | "sign", string>>[];
}
const computed = JSON.parse(readFileSync(new URL("signatures.json", import.meta.url), "utf8")) as Readonly<
  Record<"okx" | "blofin", Computed>
>;
const at = 1_700_000_000_123;

describe("Signatures of OKX", () => {
  const { signer } = spoken(okxDialect());

  it.each(computed.okx.requests)("are those of another implementation: $method $path", ({ sign, ...parts }) => {
    expect(signer.headers(parts, at)).toEqual({
      "ok-access-key": dialectCredentials.apiKey,
      "ok-access-sign": sign,
      "ok-access-timestamp": "2023-11-14T22:13:20.123Z",
      "ok-access-passphrase": dialectCredentials.passphrase,
    });
  });

  it("are those another client publishes for its tests", () => {
    const secretKey = "chNOOS4KvNXR_Xq4k4c9qsfoKWvnDecLATCRlcBwyKDYnWgO";
    const credentials = createCredentials({
      apiKey: "985d5b66-57ce-40fb-b714-afc0b9787083",
      secretKey,
      passphrase: "1234567890",
    });
    const dialect = okxDialect();
    const published = createSigner(createContract(dialect.profile).profile, credentials, dialect.signer);
    const headers = published.headers(
      { method: "GET", path: "/api/v5/account/balance", query: "", body: "" },
      Date.UTC(2020, 11, 8, 9, 8, 57, 715),
    );
    expect(headers["ok-access-sign"]).toBe("PJ61e1nb2F2Qd7D8SPiaIcx2gjdELc+o0ygzre9z33k=");
  });

  it("of a login count seconds", () => {
    const sign = createHmac("sha256", dialectCredentials.secretKey)
      .update("1700000000GET/users/self/verify")
      .digest("base64");
    expect(sign).toBe(computed.okx.login);
    const { apiKey, passphrase } = dialectCredentials;
    expect(signer.login(at)).toEqual({ apiKey, passphrase, timestamp: "1700000000", sign });
  });

  it("of demo trading come with a header that says so", () => {
    const parts = { method: "GET", path: "/x", query: "", body: "" };
    expect(spoken(okxDialect({ demo: true })).signer.headers(parts, at)).toMatchObject({ "x-simulated-trading": "1" });
    expect(signer.headers(parts, at)).not.toHaveProperty("x-simulated-trading");
  });
});

describe("Signatures of BloFin", () => {
  it.each(computed.blofin.requests)("are those of another implementation: $method $path", ({ sign, ...parts }) => {
    expect(spoken(blofinDialect()).signer.headers(parts, at)).toEqual({
      "access-key": dialectCredentials.apiKey,
      "access-sign": sign,
      "access-timestamp": "1700000000123",
      "access-nonce": "1700000000123-1",
      "access-passphrase": dialectCredentials.passphrase,
    });
  });

  it("of a login are those of another implementation", () => {
    const { apiKey, passphrase } = dialectCredentials;
    const login = {
      apiKey,
      passphrase,
      timestamp: "1700000000123",
      nonce: "1700000000123-1",
      sign: computed.blofin.login,
    };
    expect(spoken(blofinDialect()).signer.login(at)).toEqual(login);
  });

  it.each([
    [
      "GET",
      "/api/v1/asset/balances",
      "accountType=futures",
      "",
      "ZTdlMjA4OTRjYjFhYmRkNGU1OGVmN2U4NzlhNzVmMzY2Y2RmNjQ1OGFmNThmMTJiMDFhNTI5MDIzZWNmYmU1OQ==",
    ],
    [
      ...["POST", "/api/v1/trade/order", ""],
      '{"instId":"BTC-USDT","marginMode":"isolated","side":"buy","orderType":"limit","price":"35000","size":"0.1"}',
      "NWFlODNjMGM1YzRlNjg4ZmI5ZWY5OTVjODg2NGY4Zjg2ODdmYjVjMWM4NDA4ZmQ1MGUwNWZiYzRiNjc0MWI5NQ==",
    ],
  ] as const)(
    "are those another client publishes for its tests: %s %s",
    (method = "", path = "", query = "", body = "", sign = "") => {
      // Its nonce stands where ours would.
      const hmacSha256 = (text: string, encoding: "base64" | "hex"): string =>
        createHmac("sha256", "secret-key")
          .update(text.replace("1597026383085-1", "123e4567-e89b-12d3-a456-426614174000"))
          .digest(encoding);
      const seal = { apiKey: "", passphrase: () => "", hmacSha256 };
      const signer = blofinDialect().signer?.(seal, createContract().profile);
      expect(signer?.headers({ method, path, query, body }, 1_597_026_383_085)["access-sign"]).toBe(sign);
    },
  );
});
