/** Options as they may be shown: which names hide their values, and which do not. */
import { describe, expect, it } from "vitest";
import { withoutSecrets } from "../../../src/host/hidden-values.ts";

const isHidden = (name: string, value: unknown = "x1"): boolean =>
  (withoutSecrets({ [name]: value }) as Readonly<Record<string, unknown>>)[name] === "(hidden)";

describe("Options as they may be shown", () => {
  it.each([
    ...["password", "apiKey", "api_key", "secret", "passPhrase", "botToken", "webhook", "privateKey", "credentials"],
    ...[
      "auth",
      "authHeader",
      "basic_auth",
      "OAuth",
      "authorization",
      "Authorization",
      "bearer",
      "bearerValue",
      "mnemonic",
    ],
    ...[
      "seedPhrase",
      "seed_phrase",
      "seed phrase",
      "seed-phrase",
      "signature",
      "dsn",
      "sentryDsn",
      "SENTRY_DSN",
      "cookie",
      "Set-Cookie",
    ],
  ])("hide %s", (name) => {
    expect([isHidden(name), isHidden(name, { deep: ["x1"] })]).toEqual([true, true]);
  });

  it.each(["px", "instId", "author", "roundsNeeded", "bandsNear", "seedMoney", "sign", "keys"])("show %s", (name) => {
    expect(isHidden(name)).toBe(false);
  });

  it("show a seed that is a number, and hide one that is text", () => {
    expect([isHidden("seed", 42), isHidden("seed", "able baker charlie")]).toEqual([false, true]);
  });

  it("hide by name at every depth, and leave what they were given as it is", () => {
    const given = { channels: [{ name: "a", cookie: "x1" }] };
    expect(withoutSecrets(given)).toEqual({ channels: [{ name: "a", cookie: "(hidden)" }] });
    expect(given.channels[0]?.cookie).toBe("x1");
  });
});
