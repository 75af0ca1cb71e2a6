/**
 * Download of a fixture over HTTP, file by file, from a static host or a bucket.
 *
 * Invariants: what is written is what the manifest of the hash says, to the last byte; a redirect to another host is refused; every
 * download has bounds in bytes and time and ends with its signal; user, password and query of an address are never shown.
 * Not here: the cache (fixture-source.ts), the format (market/tape/fixture.ts), signatures (fixture-bucket.ts).
 */
import { createHash } from "node:crypto";
import { createWriteStream, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { after, type Clock } from "../../../clock/clock.ts";
import { messageOf, SluiceError } from "../../../errors.ts";
import type { FixtureManifest } from "../../../market/tape/fixture.ts";
import { contentHashOf, parseManifest } from "../../../market/tape/fixture-manifest.ts";
import { checkBucket, isBucket, openBucket } from "./fixture-bucket.ts";
import { credentialsOf, type FixtureOrigin, hostOf } from "./fixture-origin.ts";

/** How long a download may last: bounds run on the clock, and the signal ends it at once. */
export interface DownloadBounds {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  /** Variables with the keys of a bucket; those of the process when left out. */
  readonly env?: NodeJS.Dict<string>;
}

const manifestBytesMax = 1_048_576;
const fixtureBytesMax = 64 * 2 ** 30;
const redirectsMax = 5;
const flag = "--fixtures";
const headersMs = 30_000;
const silenceMs = 30_000;
/** Of a manifest in all, and of a file beyond what its bytes may take. */
const downloadMs = 60_000;
const bytesPerMsMin = 100;

/** USAGE where a source looks like an address and is none that can be fetched from. */
export const checkSource = (source: string, env: NodeJS.Dict<string> = process.env): void => {
  if (isBucket(source)) {
    checkBucket(source, flag, env);
    return;
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source)?.[1];
  if (scheme === undefined) return;
  const advice = "Write a folder, s3://BUCKET/PREFIX, or http(s)://HOST/PATH with a user and password percent-encoded.";
  if (!isAddress(source)) throw new SluiceError("USAGE", `${flag}: ${scheme}:// is not supported. ${advice}`);
  try {
    credentialsOf(new URL(source));
  } catch {
    throw new SluiceError("USAGE", `${flag}: the ${scheme}:// address is not valid. ${advice}`);
  }
};

export const isAddress = (source: string): boolean => /^https?:\/\//i.test(source) || isBucket(source);

/** Writes manifest and files of this hash into `dir`. */
export const download = async (
  base: string,
  contentHash: string,
  dir: string,
  bounds: DownloadBounds,
): Promise<void> => {
  checkSource(base, bounds.env);
  const origin = isBucket(base) ? await openBucket(base, flag, bounds.env) : hostOf(base);
  const manifestUrl = origin.urlOf(contentHash, "manifest.json");
  try {
    const { text, manifest } = await within(bounds, downloadMs, (signal) => fetchManifest(origin, contentHash, signal));
    writeFileSync(join(dir, "manifest.json"), text);
    for (const one of manifest.series) {
      const ms = downloadMs + one.bytes / bytesPerMsMin;
      await within(bounds, ms, (signal) =>
        fetchFile(origin, origin.urlOf(contentHash, one.file), join(dir, one.file), one, signal),
      );
    }
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError("DATA_UNAVAILABLE", `${shown(manifestUrl)} cannot be fetched: ${messageOf(error)}.`);
  }
};

/** A fixture of another content than its place says. */
export const wrong = (place: string, wanted: string, found: string): SluiceError =>
  new SluiceError(
    "FIXTURE_INVALID",
    `${place} holds a fixture of another content: ${found}, not ${wanted}. Push the fixture there again.`,
  );

/** What `work` gives; it is aborted after `ms` and by the signal of the bounds. */
const within = async <T>(bounds: DownloadBounds, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const { clock, signal } = bounds;
  const ended = new AbortController();
  const late = after(clock, ms).subscribe(() => {
    ended.abort(new Error(`it took longer than ${Math.round(ms / 1_000)} s`));
  });
  const stop = (): void => {
    ended.abort(new Error("it was stopped"));
  };
  signal?.addEventListener("abort", stop);
  if (signal?.aborted === true) stop();
  try {
    return await work(ended.signal);
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    late.unsubscribe();
    signal?.removeEventListener("abort", stop);
  }
};

/** Without user, password and query, which may be secrets. */
const shown = (url: URL): string => `${url.origin}${url.pathname}`;

const fetchManifest = async (
  origin: FixtureOrigin,
  contentHash: string,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly manifest: FixtureManifest }> => {
  const url = origin.urlOf(contentHash, "manifest.json");
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of await bodyOf(origin, url, signal)) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > manifestBytesMax)
      throw new SluiceError(
        "FIXTURE_INVALID",
        `${shown(url)}: a manifest has ${manifestBytesMax} bytes at most, and this has more.`,
      );
    chunks.push(bytes);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  // Its names of files have no way out of the folder.
  const manifest = parseManifest(text, shown(url));
  const found = contentHashOf(manifest.instruments, manifest.series);
  if (found !== contentHash || manifest.contentHash !== contentHash) throw wrong(shown(url), contentHash, found);
  const total = manifest.series.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > fixtureBytesMax)
    throw new SluiceError("FIXTURE_INVALID", `${shown(url)}: ${total} bytes are more than ${fixtureBytesMax}.`);
  return { text, manifest };
};

const fetchFile = async (
  origin: FixtureOrigin,
  url: URL,
  path: string,
  { bytes, sha256 }: { readonly bytes: number; readonly sha256: string },
  signal: AbortSignal,
): Promise<void> => {
  const hash = createHash("sha256");
  let length = 0;
  const counted = new Transform({
    transform: (chunk: Buffer, _, done) => {
      length += chunk.length;
      hash.update(chunk);
      if (length > bytes)
        done(new SluiceError("FIXTURE_INVALID", `${shown(url)} has more than the ${bytes} bytes of its manifest.`));
      else done(null, chunk);
    },
  });
  await pipeline(await bodyOf(origin, url, signal), counted, createWriteStream(path, { flags: "wx" }), { signal });
  const found = hash.digest("hex");
  if (length !== bytes || found !== sha256)
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${shown(url)} is not what its manifest says: ${length} of ${bytes} bytes, SHA-256 ${found}, not ${sha256}.`,
    );
};

/** Follows redirects on the host that was named, and no others. */
const bodyOf = async (origin: FixtureOrigin, first: URL, signal: AbortSignal): Promise<Readable> => {
  const { request } = await import("undici");
  let url = first;
  for (let hop = 0; hop <= redirectsMax; hop++) {
    const bounds = { headersTimeout: headersMs, bodyTimeout: silenceMs, signal };
    const { statusCode, headers, body } = await request(`${url.origin}${url.pathname}${url.search}`, {
      ...bounds,
      headers: await origin.headersFor(url),
    });
    if (statusCode === 200) return body;
    await body.dump();
    const { location } = headers;
    if (statusCode < 300 || statusCode > 399 || typeof location !== "string")
      throw new SluiceError("DATA_UNAVAILABLE", `${shown(url)} answered ${statusCode}. ${origin.advice(statusCode)}`);
    const next = new URL(location, url);
    if (next.host !== first.host || (first.protocol === "https:" && next.protocol !== "https:"))
      throw new SluiceError(
        "DATA_UNAVAILABLE",
        `${shown(url)} leads to ${next.origin}, which was not named. Name that address with --fixtures.`,
      );
    url = next;
  }
  throw new SluiceError("DATA_UNAVAILABLE", `${shown(first)} leads around in a circle.`);
};
