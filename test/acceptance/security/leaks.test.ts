/** The search for secrets finds them in every spelling, and nothing where nothing is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { leaksIn, odd } from "../../support/harness/secret-search.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const oddTexts = Object.values(odd);

describe("The search for leaked secrets", () => {
  const plant = (text: string) => leaksIn(oddTexts, new Map([["a file", `before ${text} after`]]));
  const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
  const secret = odd.secretKey;

  it.each([
    ["plain text", secret],
    ["JSON", JSON.stringify({ secret })],
    ["JSON in JSON", JSON.stringify(JSON.stringify({ secret }))],
    [
      "JSON escapes",
      Array.from(secret, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`).join(""),
    ],
    ["a URL", encodeURIComponent(secret).toLowerCase()],
    ["a form", new URLSearchParams({ secret }).toString()],
    ["percent signs", Buffer.from(secret).toString("hex").replace(/../g, "%$&").toUpperCase()],
    ["hexadecimal", Buffer.from(`${secret} and more`).toString("hex").toUpperCase()],
    ["base64 from its beginning", base64(secret)],
    ["base64 one byte later", base64(`:${secret}:`)],
    ["base64 two bytes later", base64(`::${secret}`)],
    ["base64 in the middle of a header", base64(`user:${secret}\n and so on`)],
    ["base64url", Buffer.from(`x${secret}`).toString("base64url")],
  ])("finds one planted as %s", (_, text) => {
    expect(plant(text)).not.toEqual([]);
  });

  it("finds nothing where nothing is", () => {
    expect(plant(readFileSync(join(root, "README.md"), "utf8"))).toEqual([]);
    expect(plant(base64(secret.slice(0, 8)))).toEqual([]);
  });
});
