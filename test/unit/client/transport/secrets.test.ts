/**
 * Credentials: nothing that prints, copies or serialises them shows the secret or the passphrase, in any encoding.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { format, inspect } from "node:util";
import { serialize } from "node:v8";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Credentials,
  createCredentials,
  credentialsFromEnv,
  credentialsFromFile,
} from "../../../../src/client/transport/secrets.ts";
import { createSigner } from "../../../../src/client/transport/sign.ts";
import { isSluiceError } from "../../../../src/errors.ts";
import { canary, contract } from "../../../support/harness/transport.ts";

const encodings = (text: string): readonly string[] => {
  const bytes = Buffer.from(text);
  return [
    text,
    bytes.toString("base64"),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    encodeURIComponent(text),
    bytes.join(),
  ];
};
const hidden = [canary.secretKey, canary.passphrase].flatMap(encodings).map((text) => text.toLowerCase());

const leaksIn = (text: string): readonly string[] => hidden.filter((secret) => text.toLowerCase().includes(secret));
const thrown = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return `${isSluiceError(error) ? error.code : "?"} ${String(error)}${inspect(error, { depth: 9, showHidden: true })}`;
  }
  return "nothing";
};
const printed = (...values: readonly unknown[]): string => {
  const lines: string[] = [];
  const print = console.log;
  console.log = (...all: unknown[]) => lines.push(format(...all));
  try {
    console.log(...values);
  } finally {
    console.log = print;
  }
  return lines.join();
};

type Show = (credentials: Credentials) => string;
const deep = { depth: 20, showHidden: true, customInspect: false } as const;

describe("Credentials do not show in", () => {
  it.each<[string, Show]>([
    ["inspect", (value) => inspect(value)],
    ["inspect of everything", (value) => inspect(value, deep)],
    ["inspect of what holds them", (value) => inspect({ config: { users: [{ keys: [value] }] } }, deep)],
    ["console.log", (value) => printed(value, { value })],
    ["a format", (value) => format("%s %o %O %j %d", value, value, value, value, value)],
    ["JSON", (value) => JSON.stringify({ value, list: [value] })],
    ["String()", (value) => String(value)],
    ["a template", (value) => `${value as unknown as string}`],
    ["a sum", (value) => `x${value as unknown as string}`],
    ["a structured clone", (value) => inspect(structuredClone(value), deep)],
    ["serialised bytes", (value) => serialize({ value }).toString("latin1")],
    ["the cause of an error", (value) => inspect(new Error("broken", { cause: value }), deep)],
    ["an aggregate", (value) => inspect(new AggregateError([value], "broken"), deep)],
    ["keys", (value) => Object.keys(value).join()],
    [
      "own names",
      (value) => [...Object.getOwnPropertyNames(value), ...Object.getOwnPropertySymbols(value).map(String)].join(),
    ],
    ["descriptors", (value) => inspect(Object.getOwnPropertyDescriptors(value), deep)],
    ["a spread", (value) => inspect({ ...value }, deep)],
    ["an assignment", (value) => inspect(Object.assign({}, value), deep)],
    ["entries", (value) => inspect(Object.entries(value), deep)],
    [
      "a walk of all names",
      (value) => {
        const names: string[] = [];
        for (const name in value) names.push(name, String((value as unknown as Record<string, unknown>)[name]));
        return names.join();
      },
    ],
    [
      "its prototype",
      (value) => inspect(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(value) as object), deep),
    ],
    [
      "a signer",
      (value) =>
        inspect(createSigner(contract.profile, value), deep) + JSON.stringify(createSigner(contract.profile, value)),
    ],
    ["a table", (value) => printed([value])],
  ])("%s", (_, show) => {
    const text = show(createCredentials(canary));
    expect(leaksIn(text)).toEqual([]);
    expect(text).not.toContain(canary.apiKey);
  });

  it("a printer that calls every getter, which is told the key alone", () => {
    const text = inspect({ held: createCredentials(canary) }, { ...deep, getters: true });
    expect(leaksIn(text)).toEqual([]);
    expect(text).toContain(canary.apiKey);
  });

  it("and the search would find them", () => {
    expect(leaksIn(JSON.stringify(canary))).toHaveLength(2);
    for (const text of [canary.secretKey, canary.passphrase].flatMap(encodings))
      expect(leaksIn(`x${text}y`)).not.toEqual([]);
  });

  it("but the key can be asked for, and told apart", () => {
    const credentials = createCredentials(canary);
    expect(credentials.apiKey).toBe(canary.apiKey);
    expect(String(credentials)).toBe("credentials of the key key-...");
    expect(String(createCredentials({ ...canary, apiKey: "short" }))).toBe("credentials of a key");
    expect(Object.isFrozen(credentials)).toBe(true);
  });

  it("and a plain object in their place is refused without being told", () => {
    const text = thrown(() => createSigner(contract.profile, canary));
    expect(text).toContain("CONFIG_INVALID");
    expect(leaksIn(text)).toEqual([]);
  });
});

describe("Credentials from the environment", () => {
  const env = (values: Readonly<Record<string, string>>) => (name: string) => values[name];
  const whole = { BOT_API_KEY: canary.apiKey, BOT_SECRET_KEY: canary.secretKey, BOT_PASSPHRASE: canary.passphrase };

  it("by prefix", () => {
    const credentials = credentialsFromEnv("BOT", env(whole));
    const direct = createCredentials(canary);
    const parts = { method: "GET", path: "/x", query: "", body: "" };
    const headers = [credentials, direct].map((one) => createSigner(contract.profile, one).headers(parts, 0));
    expect(headers[0]).toEqual(headers[1]);
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ["nothing", {}, /BOT_API_KEY is missing\.\n.*BOT_SECRET_KEY is missing\.\n.*BOT_PASSPHRASE is missing\./],
    ["one missing", { ...whole, BOT_PASSPHRASE: undefined as unknown as string }, /BOT_PASSPHRASE is missing/],
    ["one empty", { ...whole, BOT_API_KEY: "" }, /BOT_API_KEY is empty/],
    [
      "a line break copied along",
      { ...whole, BOT_SECRET_KEY: `${canary.secretKey}\n` },
      /BOT_SECRET_KEY begins or ends with a space or a line break/,
    ],
    [
      "a header split",
      { ...whole, BOT_PASSPHRASE: `${canary.passphrase}\r\nx: y` },
      /BOT_PASSPHRASE holds a character that no header can carry/,
    ],
  ])("with %s is refused by name", (_, values, message) => {
    const text = thrown(() => credentialsFromEnv("BOT", env(values)));
    expect(text).toMatch(message);
    expect(leaksIn(text)).toEqual([]);
  });

  it("a prefix that is no name is not repeated", () => {
    const text = thrown(() => credentialsFromEnv(canary.secretKey, env(whole)));
    expect(text).toMatch(/CONFIG_INVALID.*prefix/);
    expect(leaksIn(text)).toEqual([]);
  });
});

describe("Credentials from a file", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "keys-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const written = (text: string, mode = 0o600): string => {
    const path = join(folder, "it's.json");
    writeFileSync(path, text, { mode });
    chmodSync(path, mode);
    return path;
  };

  it("that holds one set, or several by name", () => {
    expect(credentialsFromFile(written(`\uFEFF${JSON.stringify(canary)}\n`)).apiKey).toBe(canary.apiKey);
    expect(credentialsFromFile(written(JSON.stringify({ main: canary }), 0o400), "main").apiKey).toBe(canary.apiKey);
  });

  it.each([0o644, 0o640, 0o604, 0o660, 0o601])("with mode %o is refused with the command to run", (mode) => {
    const path = written(JSON.stringify(canary), mode);
    const text = thrown(() => credentialsFromFile(path));
    expect(text).toContain(`(mode 0${mode.toString(8)}). Run: chmod 600 '${folder}/it'\\''s.json'`);
    expect(leaksIn(text)).toEqual([]);
  });

  it.each<[string, string, string | undefined, RegExp]>([
    [
      "is not JSON",
      `{"secretKey": "${canary.secretKey}", oops`,
      undefined,
      /is not a JSON object with apiKey, secretKey, passphrase/,
    ],
    ["is a bare secret", canary.secretKey, undefined, /is not a JSON object/],
    ["is a list", JSON.stringify([canary]), undefined, /is not a JSON object/],
    ["is empty", "", undefined, /is not a JSON object/],
    [
      "lacks two",
      JSON.stringify({ apiKey: "k", secret: canary.secretKey }),
      undefined,
      /"secretKey" is missing\.\n.*"passphrase" is missing/,
    ],
    [
      "spells one differently",
      JSON.stringify({ ...canary, secretKey: undefined, SECRET_KEY: "x" }),
      undefined,
      /"secretKey" \(the file writes "SECRET_KEY"\) is missing/,
    ],
    ["has a number", JSON.stringify({ ...canary, passphrase: 3 }), undefined, /"passphrase" is not a text/],
    [
      "lacks the name",
      JSON.stringify({ main: canary }),
      "man",
      /holds no credentials named "man"\. Did you mean "main"\?/,
    ],
    ["has no object of that name", JSON.stringify({ main: canary.secretKey }), "main", /"main" is not an object/],
    [
      "is asked for a name every object has",
      JSON.stringify({ main: canary }),
      "constructor",
      /holds no credentials named "constructor"/,
    ],
    [
      "lacks one under the name",
      JSON.stringify({ main: { ...canary, apiKey: null } }),
      "main",
      /"main\.apiKey" is missing/,
    ],
    ["is far too large", `${JSON.stringify(canary)}${" ".repeat(70_000)}`, undefined, /is larger than 65536 bytes/],
  ])("that %s is refused without telling what it holds", (_, content, name, message) => {
    const text = thrown(() => credentialsFromFile(written(content), name));
    expect(text).toMatch(/^CONFIG_INVALID/);
    expect(text).toMatch(message);
    expect(leaksIn(text)).toEqual([]);
  });

  it("that is not there, or is a folder, is refused", () => {
    expect(thrown(() => credentialsFromFile(join(folder, "none.json")))).toMatch(
      /CONFIG_INVALID.*cannot be opened \(ENOENT\)/,
    );
    mkdirSync(join(folder, "keys"));
    expect(thrown(() => credentialsFromFile(join(folder, "keys")))).toMatch(/is not a plain file/);
  });
});
