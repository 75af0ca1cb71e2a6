import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { confirms, readConfirmation, writeConfirmation } from "../../../../src/client/live/size-unit-confirmation.ts";

const found: Parameters<typeof writeConfirmation>[1] = {
  baseUrl: "https://testnet.example.com",
  szUnit: { SPOT: "quote_notional", SWAP: "contracts" },
  at: "2026-01-02T03:04:05.678Z",
};
let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-confirmation-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe("The file that confirms the size unit", () => {
  it("is read as it was written, in a folder that did not exist, and nothing else is left there", () => {
    const path = join(folder, ".sluice", "confirmed.json");
    expect(readConfirmation(path)).toBeUndefined();
    writeConfirmation(path, { ...found, at: "2025-01-01T00:00:00Z" });
    writeConfirmation(path, found);
    expect(readConfirmation(path)).toEqual(found);
    expect(readdirSync(join(folder, ".sluice"))).toEqual(["confirmed.json"]);
  });

  it.each<[string, string, RegExp]>([
    ["that is no JSON", "{", /is not JSON. Delete the file and run `sluice doctor` again/],
    [
      "with an unknown unit",
      JSON.stringify({ ...found, szUnit: { SPOT: "base", SWAP: "lots" } }),
      /"lots" is not one of/,
    ],
    ["with a part missing", JSON.stringify({ ...found, at: undefined }), /"at" is missing/],
  ])("a file %s is an error that names it", (_, text, message) => {
    const path = join(folder, "confirmed.json");
    writeFileSync(path, text);
    expect(() => readConfirmation(path)).toThrow(message);
    expect(() => readConfirmation(path)).toThrow(path);
  });

  it("a folder in its place is an error", () => {
    expect(() => readConfirmation(folder)).toThrow(/the confirmation cannot be read/);
  });

  it("what is not a confirmation is not written", () => {
    expect(() => writeConfirmation(join(folder, "x.json"), { ...found, at: "yesterday" })).toThrow(
      /confirmation is not valid/,
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("The confirmed size unit:", () => {
  const { szUnit } = found;
  it.each<[string, string, string, boolean]>([
    ["the same address", "https://api.example.com", "https://api.example.com", true],
    ["another environment of the same domain", "https://api.example.com", "https://testnet.example.com", true],
    ["the domain itself", "https://example.com", "https://testnet.example.com", true],
    ["another domain", "https://api.example.com", "https://api.example.org", false],
    ["a domain that ends alike", "https://api.example.com", "https://badexample.com", false],
    ["this machine for a service elsewhere", "https://api.example.com", "http://127.0.0.1:9000", false],
    ["this machine by name", "https://api.example.com", "http://localhost:9000", false],
    ["two ports of this machine", "http://127.0.0.1:9000", "http://127.0.0.1:9001", false],
    ["two machines of one network", "https://10.0.0.1", "https://11.0.0.1", false],
    ["an address of six", "https://[2001:db8::1]", "https://[2001:db8::2]", false],
    ["no address", "https://api.example.com", "somewhere", false],
  ])("%s", (_, baseUrl, at, expected) => {
    expect(confirms({ baseUrl, szUnit }, { ...found, baseUrl: at })).toBe(expected);
  });

  it("both units have to agree, and nothing confirms nothing", () => {
    const { baseUrl } = found;
    expect(confirms({ baseUrl, szUnit: { SPOT: "quote_notional", SWAP: "base" } }, found)).toBe(false);
    expect(confirms({ baseUrl, szUnit: { SPOT: "base", SWAP: "contracts" } }, found)).toBe(false);
    expect(confirms({ baseUrl, szUnit }, undefined)).toBe(false);
  });
});
