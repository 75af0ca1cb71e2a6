/** Fixtures in a bucket: what is signed is checked as the storage would, by HMAC over the request as it came. */
import { createHash, createHmac } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkBucket, pushToBucket } from "../../../../../src/backtest/sweep/workers/fixture-bucket.ts";
import { fixtureByHash } from "../../../../../src/backtest/sweep/workers/fixture-source.ts";
import { main } from "../../../../../src/cli/main.ts";
import { createVirtualClock } from "../../../../../src/clock/virtual-clock.ts";
import { readFixture, readManifest } from "../../../../../src/market/tape/fixture.ts";
import { capturedIo } from "../../../../support/captured-io.ts";
import { folder, marketOf } from "../../../../support/harness/sweep.ts";

const secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const region = "eu-central-1";
const fixture = marketOf(1);
const { contentHash, series } = readManifest(fixture);
const clock = createVirtualClock(0);

const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
const sha256 = (bytes: string | Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** The signature that belongs to a request, by the published steps of version 4. */
const signatureOf = ({ method, url, headers }: IncomingMessage): string => {
  const [, day, names = ""] =
    /Credential=[^/]+\/(\d{8})\/.*SignedHeaders=([^,]+)/.exec(headers.authorization ?? "") ?? [];
  const lines = names.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, url, "", lines.join(""), names, headers["x-amz-content-sha256"]].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const key = [region, "s3", "aws4_request"].reduce<Buffer>(hmac, hmac(`AWS4${secret}`, day ?? ""));
  return hmac(key, ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n")).toString("hex");
};

const objects = new Map<string, Buffer>();
const writes: string[] = [];
let server: Server;

beforeEach(async () => {
  objects.clear();
  writes.length = 0;
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url = "", headers } = request;
      const body = Buffer.concat(chunks);
      const end = (status: number, bytes: Buffer | string = ""): void => {
        response.writeHead(status).end(bytes);
      };
      if (!(headers.authorization ?? "").endsWith(`Signature=${signatureOf(request)}`))
        end(403, "SignatureDoesNotMatch");
      else if (!url.startsWith("/markets/")) end(404, "NoSuchBucket");
      else if (method === "GET") end(objects.has(url) ? 200 : 404, objects.get(url));
      else if (headers["x-amz-content-sha256"] !== sha256(body)) end(400, "XAmzContentSHA256Mismatch");
      else {
        objects.set(url, body);
        writes.push(url.slice(url.lastIndexOf("/") + 1));
        end(200);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", secret);
  vi.stubEnv("AWS_SESSION_TOKEN", "");
  vi.stubEnv("AWS_REGION", region);
  vi.stubEnv("AWS_ENDPOINT_URL_S3", "");
  vi.stubEnv("AWS_ENDPOINT_URL", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

let count = 0;
const fetched = (source: string): Promise<string> => {
  count++;
  return fixtureByHash("not/here", contentHash, { source, cache: join(folder, `bucket-cache-${count}`) }, { clock });
};

describe("A fixture in a bucket", () => {
  it.each(["s3://markets", "s3://markets/two words/ü"])(
    "of %s is uploaded once, its manifest last, and comes back byte for byte",
    async (place) => {
      expect(await pushToBucket(fixture, place)).toEqual({
        place: `${place}/${contentHash}`,
        contentHash,
        isNew: true,
      });
      expect(writes).toEqual([...series.map(({ file }) => file), "manifest.json"]);
      expect(await pushToBucket(fixture, place)).toMatchObject({ isNew: false });
      expect(writes).toHaveLength(series.length + 1);
      const dir = await fetched(place);
      expect(readFixture(dir).tape).toEqual(readFixture(fixture).tape);
      for (const { file } of series) expect(readFileSync(join(dir, file))).toEqual(readFileSync(join(fixture, file)));
    },
  );

  it("brings the token of keys that are lent", async () => {
    vi.stubEnv("AWS_SESSION_TOKEN", "a/token+of==an hour");
    let token: unknown;
    server.prependListener("request", ({ headers }: IncomingMessage) => {
      token = headers["x-amz-security-token"];
    });
    await pushToBucket(fixture, "s3://markets");
    expect(token).toBe("a/token+of==an hour");
  });

  it("that changes while it is uploaded is refused by the storage, and no manifest names it", async () => {
    const dir = join(folder, "changing");
    cpSync(fixture, dir, { recursive: true });
    const path = join(dir, (series.at(-1) as { readonly file: string }).file);
    server.prependOnceListener("request", () => {
      const bytes = readFileSync(path);
      bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
      writeFileSync(path, bytes);
    });
    await expect(pushToBucket(dir, "s3://markets")).rejects.toThrow(/was not taken: the storage answered 400/);
    expect(writes).not.toContain("manifest.json");
  });

  it.each([
    [
      "keys that are wrong",
      { AWS_SECRET_ACCESS_KEY: "other" },
      "answered 403. May these keys read the bucket, and is AWS_REGION its region?",
    ],
    [
      "another region",
      { AWS_REGION: "us-east-1" },
      "answered 403. May these keys read the bucket, and is AWS_REGION its region?",
    ],
    [
      "nothing there",
      {},
      "answered 404. Is the fixture there? Put it there with `sluice data push DIR --to s3://markets`.",
    ],
    ["nobody there", { AWS_ENDPOINT_URL: "http://127.0.0.1:1" }, "cannot be fetched: "],
  ])("is refused with advice where there is %s", async (_, environment, text) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    await expect(fetched("s3://markets")).rejects.toThrow(text);
  });

  it.each([
    [
      "a place without a bucket",
      "s3://",
      {},
      "place: the s3:// address names no bucket. Write s3://BUCKET or s3://BUCKET/PREFIX; keys are read from the environment.",
    ],
    ["a query", "s3://markets?sig=1", {}, "place: the s3:// address names no bucket."],
    [
      "no keys",
      "s3://markets",
      { AWS_ACCESS_KEY_ID: "" },
      "place: s3://markets needs keys. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.",
    ],
    [
      "an endpoint that is none",
      "s3://markets",
      { AWS_ENDPOINT_URL: "localhost:9000" },
      'AWS_ENDPOINT_URL: "localhost:9000" is not an http(s):// address.',
    ],
  ])("is refused before anything is asked, with %s", (_, place, environment, text) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    expect(() => checkBucket(place, "place")).toThrow(text);
  });

  it("is pushed by the command, which names the bucket's error", async () => {
    const io = capturedIo();
    expect(await main(["data", "push", fixture, "--to", "s3://markets/live"], io)).toBe(0);
    expect(io.outText).toBe(`${fixture}: copied to s3://markets/live/${contentHash}\n`);
    expect(await main(["data", "push", fixture, "--to", "s3://nowhere"], io)).not.toBe(0);
    expect(io.errText).toContain("the storage answered 404. Is there such a bucket?");
  });
});
