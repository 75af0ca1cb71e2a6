/**
 * Buckets of S3-compatible storage as a source of fixtures: addresses of their objects, and signed requests for them.
 *
 * Keys, region and endpoint are those of every S3 client: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION, and
 * AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for storage of another provider or one's own.
 *
 * Invariants: keys are never part of an address or a message, nor is an address that may contain some; an upload is signed with the hash of its content, so that the storage
 * refuses another; the manifest is uploaded last, so that a fixture is there with all of its files or not at all.
 * Not here: signatures (the package aws4fetch), requests for what is there (fixture-download.ts).
 */
import { createHash } from "node:crypto";
import { createReadStream, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { messageOf, SluiceError } from "../../../errors.ts";
import { readFixture } from "../../../market/tape/fixture.ts";
import { optionalPackage } from "../../../optional-package.ts";
import type { FixtureOrigin } from "./fixture-origin.ts";

export const isBucket = (place: string): boolean => /^s3:\/\//i.test(place);

interface Signer {
  sign(): Promise<{ readonly headers: Headers }>;
}
interface Signing {
  readonly AwsV4Signer: new (options: Readonly<Record<string, unknown>>) => Signer;
}

/** Reads the first of `names` that is set to a text that is not empty. */
const readerOf =
  (env: NodeJS.Dict<string>) =>
  (...names: readonly string[]): string | undefined =>
    names.map((name) => env[name]).find((value) => value !== undefined && value !== "");

/** USAGE where the address is not `s3://BUCKET/PREFIX`, where no keys are set, or where the endpoint is no address. */
export const checkBucket = (address: string, flag: string, env: NodeJS.Dict<string> = process.env): void => {
  void settingsOf(address, flag, env);
};

const settingsOf = (address: string, flag: string, env: NodeJS.Dict<string>) => {
  const set = readerOf(env);
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^?#]*))?$/i.exec(address) ?? [];
  if (bucket === undefined)
    throw new SluiceError(
      "USAGE",
      `${flag}: the s3:// address names no bucket. Write s3://BUCKET or s3://BUCKET/PREFIX; keys are read from the environment.`,
    );
  const accessKeyId = set("AWS_ACCESS_KEY_ID");
  const secretAccessKey = set("AWS_SECRET_ACCESS_KEY");
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new SluiceError(
      "USAGE",
      `${flag}: ${address} needs keys. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment.`,
    );
  const region = set("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1";
  const endpoint = set("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
  if (endpoint !== undefined && !/^https?:\/\//i.test(endpoint))
    throw new SluiceError("USAGE", `AWS_ENDPOINT_URL: "${endpoint}" is not an http(s):// address.`);
  // A bucket whose name has dots has no certificate of its own.
  const host = `s3.${region}.amazonaws.com`;
  const root = endpoint ?? (bucket.includes(".") ? `https://${host}` : `https://${bucket}.${host}`);
  const path = endpoint === undefined && !bucket.includes(".") ? "" : `/${bucket}`;
  const base = `${root.replace(/\/+$/, "")}${path}/${prefix}`.replace(/\/+$/, "");
  return {
    base,
    credentials: { accessKeyId, secretAccessKey, sessionToken: set("AWS_SESSION_TOKEN"), region, service: "s3" },
  };
};

type Bucket = FixtureOrigin & {
  /** Headers with which `url` may be written; the storage refuses other content. */
  readonly signWrite: (url: URL, sha256: string) => Promise<Record<string, string>>;
};

export const openBucket = async (
  address: string,
  flag: string,
  env: NodeJS.Dict<string> = process.env,
): Promise<Bucket> => {
  const { base, credentials } = settingsOf(address, flag, env);
  const { AwsV4Signer } = await optionalPackage<Signing>(
    "aws4fetch",
    "1",
    `${flag}: requests to ${address} are signed`,
  );
  const signed = async (method: string, url: URL, headers: Record<string, string>): Promise<Record<string, string>> => {
    const signature = await new AwsV4Signer({ ...credentials, method, url: url.href, headers }).sign();
    return Object.fromEntries(signature.headers);
  };
  return {
    urlOf: (contentHash, file) => new URL(`${base}/${contentHash}/${file}`),
    headersFor: (url) => signed("GET", url, {}),
    signWrite: (url, sha256) => signed("PUT", url, { "x-amz-content-sha256": sha256 }),
    advice: (status) =>
      status === 403
        ? "May these keys read the bucket, and is AWS_REGION its region?"
        : `Is the fixture there? Put it there with \`sluice data push DIR --to ${address}\`.`,
  };
};

/** Uploads the fixture `dir` under its hash; the object its manifest came to. What is there already is left as it is. */
export const pushToBucket = async (
  dir: string,
  address: string,
): Promise<{ readonly place: string; readonly contentHash: string; readonly isNew: boolean }> => {
  // Read to its end: what is spread should be whole.
  const { contentHash, series } = readFixture(resolve(dir)).manifest;
  const bucket = await openBucket(address, "--to");
  const place = `${address.replace(/\/+$/, "")}/${contentHash}`;
  const { request } = await import("undici");
  const answered = async (url: URL, asked: Promise<Awaited<ReturnType<typeof request>>>): Promise<number> => {
    try {
      const { statusCode, body } = await asked;
      await body.dump();
      return statusCode;
    } catch (error) {
      throw new SluiceError("DATA_UNAVAILABLE", `${url.origin}${url.pathname} cannot be written: ${messageOf(error)}.`);
    }
  };
  const manifest = readFileSync(join(dir, "manifest.json"));
  const manifestUrl = bucket.urlOf(contentHash, "manifest.json");
  const found = await answered(
    manifestUrl,
    request(manifestUrl.href, { headers: await bucket.headersFor(manifestUrl) }),
  );
  if (found === 200) return { place, contentHash, isNew: false };
  const put = async (
    file: string,
    bytes: number,
    sha256: string,
    body: () => Parameters<typeof request>[1] & object,
  ): Promise<void> => {
    const url = bucket.urlOf(contentHash, file);
    const headers = { ...(await bucket.signWrite(url, sha256)), "content-length": String(bytes) };
    const status = await answered(url, request(url.href, { method: "PUT", headers, ...body() }));
    if (status >= 200 && status <= 299) return;
    const reason =
      status === 403 ? "May these keys write to the bucket, and is AWS_REGION its region?" : "Is there such a bucket?";
    throw new SluiceError(
      "DATA_UNAVAILABLE",
      `${url.origin}${url.pathname} was not taken: the storage answered ${status}. ${reason}`,
    );
  };
  for (const { file, bytes, sha256 } of series)
    await put(file, bytes, sha256, () => ({ body: createReadStream(join(dir, file)) }));
  const sha256 = createHash("sha256").update(manifest).digest("hex");
  await put("manifest.json", manifest.length, sha256, () => ({ body: manifest }));
  return { place, contentHash, isNew: true };
};
