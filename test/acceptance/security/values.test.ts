/** What holds secrets in memory, and what is said of secrets that are wrong: neither shows one, in whatever spelling. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCredentials, createEngine, defineConfig, fromEnv, fromFile, live } from "../../../src/index.ts";
import { leaksIn, odd } from "../../support/harness/secret-search.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-values-"));
const oddTexts = Object.values(odd);
const names = { ODD_API_KEY: odd.apiKey, ODD_SECRET_KEY: odd.secretKey, ODD_PASSPHRASE: odd.passphrase };

beforeAll(() => {
  Object.assign(process.env, names);
});
afterAll(() => {
  for (const name of Object.keys(names)) delete process.env[name];
  rmSync(folder, { recursive: true });
});

/** Some of it goes round in circles, which is nothing to write down either. */
const jsonOf = (value: unknown): string => {
  try {
    return String(JSON.stringify(value));
  } catch {
    return "";
  }
};

describe("Secrets held in memory:", () => {
  it("values that hold them can be shown, written and copied", () => {
    const credentials = createCredentials(odd);
    const given = defineConfig({
      service: live({ environment: "testnet", baseUrl: "https://127.0.0.1:9", keys: [{ credentials }], push: false }),
      strategies: [{ kind: "strategy", name: "s", options: {}, start: () => ({}) }],
    });
    const engine = createEngine(given);
    const shown: string[] = [];
    for (const value of [
      credentials,
      given,
      engine,
      engine.service,
      { deep: [credentials] },
      fromEnv("ODD"),
      new Error("x", { cause: given }),
    ]) {
      shown.push(
        inspect(value, { depth: 20, showHidden: true, getters: true }),
        jsonOf(value),
        `${value instanceof Error ? value.stack : ""}`,
      );
    }
    // The key by itself is the name under which it is known, to whoever asks for it by name.
    const quiet = shown.map((text) =>
      text.replaceAll(JSON.stringify(credentials.apiKey), "").replaceAll(inspect(credentials.apiKey), ""),
    );
    expect(
      leaksIn([odd.secretKey, odd.passphrase], new Map(shown.map((text, index) => [`value ${index}`, text]))),
    ).toEqual([]);
    expect(leaksIn(oddTexts, new Map(quiet.map((text, index) => [`value ${index}`, text])))).toEqual([]);
    expect(() => structuredClone(credentials)).not.toThrow();
    expect(
      leaksIn(oddTexts, new Map([["a copy", inspect(structuredClone(credentials), { showHidden: true })]])),
    ).toEqual([]);
  });

  it("what is wrong with them is told by place", () => {
    const said: string[] = [];
    const fails = (work: () => unknown): void => {
      try {
        work();
        said.push("NOT REFUSED");
      } catch (error) {
        said.push(inspect(error, { depth: 9, showHidden: true }), String((error as Error).stack));
      }
    };
    const file = (name: string, text: string, mode = 0o600): string => {
      const path = join(folder, name);
      writeFileSync(path, text);
      chmodSync(path, mode);
      return path;
    };
    const json = JSON.stringify(odd);
    fails(() => fromFile(file("torn.json", json.slice(0, -3))));
    fails(() => fromFile(file("open.json", json, 0o644)));
    fails(() => fromFile(file("named.json", JSON.stringify({ main: odd })), "other"));
    fails(() => fromFile(file("list.json", JSON.stringify([odd]))));
    fails(() => createCredentials({ ...odd, secretKey: `${odd.secretKey}\n` }));
    fails(() => createCredentials({ ...odd, passphrase: `é${odd.passphrase}` }));
    fails(() => createCredentials({ ...odd, apiKey: [odd.apiKey] as never }));
    fails(() => live({ environment: "testnet", baseUrl: "https://x", keys: [{ credentials: odd as never }] }));
    fails(() => live({ environment: "testnet", baseUrl: "https://x", keys: [odd as never] }));
    fails(() => live({ environment: "testnet", baseUrl: "https://x", keys: odd as never }));
    fails(() => live({ environment: "testnet", baseUrl: "https://x", ...odd } as never));
    fails(() =>
      live({ environment: "testnet", baseUrl: "https://x", users: { [odd.apiKey]: odd.secretKey } as never }),
    );
    expect(said).not.toContain("NOT REFUSED");
    const named = said.map((text) => text.replaceAll(odd.apiKey, ""));
    expect(
      leaksIn([odd.secretKey, odd.passphrase], new Map(said.map((text, index) => [`failure ${index}`, text]))),
    ).toEqual([]);
    expect(leaksIn(oddTexts, new Map(named.map((text, index) => [`failure ${index}`, text])))).toEqual([]);
  });
});
