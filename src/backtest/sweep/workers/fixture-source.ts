/**
 * Fixtures by the hash of their content: from a folder or over HTTP, through a cache on this machine.
 *
 * A source holds HASH/manifest.json and the files the manifest names, which is what any static host, a bucket that may be read, or a
 * shared folder serves; `sluice data push` writes it.
 *
 * Invariants: what is given has the hash that was asked for, to the last byte; a cache entry that is damaged is fetched again, and
 * a source whose files are not what their hash says is refused; nothing is written outside the cache, and there only under
 * its hash and whole; a redirect to another host is refused; every download has bounds in bytes and time.
 * Not here: the format (market/tape/fixture.ts).
 */
import { createHash } from "node:crypto";
import { cpSync, createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { messageOf, SluiceError } from "../../../errors.ts";
import { type FixtureManifest, readFixture, readManifest } from "../../../market/tape/fixture.ts";
import { contentHashOf, parseManifest } from "../../../market/tape/fixture-manifest.ts";

export interface FixturePlaces {
  /** Folder or `http(s)://` address of a source. */
  readonly source?: string;
  /** Folder of the cache; the user's own when left out. */
  readonly cache?: string;
}

const manifestBytesMax = 1_048_576;
const fixtureBytesMax = 64 * 2 ** 30;
const redirectsMax = 5;
const headersMs = 30_000;
const silenceMs = 30_000;

export const defaultCache = (): string => join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice", "fixtures");

/**
 * A folder with the fixture of this hash. `name` is where whoever asks has it: a checkout may have it there, too. What is there is
 * read to its end.
 */
export const fixtureByHash = async (
  name: string,
  contentHash: string,
  { source, cache = defaultCache() }: FixturePlaces,
): Promise<string> => {
  if (hasHash(name, contentHash)) return resolve(name);
  const kept = join(resolve(cache), contentHash);
  if (existsSync(kept)) {
    if (isWhole(kept, contentHash)) return kept;
    rmSync(kept, { recursive: true, force: true });
  }
  if (source === undefined)
    throw new SluiceError(
      "FIXTURE_INVALID",
      `the fixture ${name} (${contentHash.slice(0, 12)}…) is not here. Say where fixtures are with --fixtures; \`sluice data push\` puts one there.`,
    );
  if (!isAddress(source)) return fromFolder(source, contentHash);
  return fetched(source, contentHash, kept);
};

/** Copies the fixture `dir` to its hash below `to`; the folder it came to. What is there already is left as it is. */
export const pushFixture = (dir: string, to: string): { readonly place: string; readonly contentHash: string; readonly isNew: boolean } => {
  // Read to its end: what is spread should be whole.
  const { contentHash, series } = readFixture(resolve(dir)).manifest;
  const place = join(resolve(to), contentHash);
  if (existsSync(place) && isWhole(place, contentHash)) return { place, contentHash, isNew: false };
  mkdirSync(resolve(to), { recursive: true });
  const draft = mkdtempSync(join(resolve(to), ".push-"));
  try {
    for (const name of ["manifest.json", ...series.map(({ file }) => file)]) cpSync(join(dir, name), join(draft, "new", name));
    rmSync(place, { recursive: true, force: true });
    renameSync(join(draft, "new"), place);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return { place, contentHash, isNew: true };
};

const isAddress = (source: string): boolean => /^https?:\/\//i.test(source);

const hasHash = (dir: string, contentHash: string): boolean => {
  try {
    return readManifest(resolve(dir)).contentHash === contentHash && isWhole(dir, contentHash);
  } catch {
    return false;
  }
};

const isWhole = (dir: string, contentHash: string): boolean => {
  try {
    return readFixture(resolve(dir)).manifest.contentHash === contentHash;
  } catch {
    return false;
  }
};

const fromFolder = (source: string, contentHash: string): string => {
  const dir = join(resolve(source), contentHash);
  if (!existsSync(dir))
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${source} holds no ${contentHash}. Put the fixture there: sluice data push DIR --to ${source}`,
    );
  const found = readFixture(dir).manifest.contentHash;
  if (found !== contentHash) throw wrong(dir, contentHash, found);
  return dir;
};

const wrong = (place: string, wanted: string, found: string): SluiceError =>
  new SluiceError("FIXTURE_INVALID", `${place} holds a fixture of another content: ${found}, not ${wanted}. Push the fixture there again.`);

const fetched = async (base: string, contentHash: string, target: string): Promise<string> => {
  mkdirSync(resolve(target, ".."), { recursive: true });
  const draft = mkdtempSync(join(resolve(target, ".."), ".fetch-"));
  try {
    const dir = join(draft, "new");
    mkdirSync(dir);
    const { text, manifest } = await fetchManifest(base, contentHash);
    writeFileSync(join(dir, "manifest.json"), text);
    for (const { file, bytes, sha256 } of manifest.series) await fetchFile(urlOf(base, contentHash, file), join(dir, file), bytes, sha256);
    const found = readFixture(dir).manifest.contentHash;
    if (found !== contentHash) throw wrong(shown(urlOf(base, contentHash, "")), contentHash, found);
    // Another worker of this machine may have been faster.
    if (!existsSync(target)) renameSync(dir, target);
    return target;
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError("DATA_UNAVAILABLE", `${shown(urlOf(base, contentHash, ""))} cannot be fetched: ${messageOf(error)}.`);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
};

/** Below the path of the address; a query, such as that of a token, stays at its end. */
const urlOf = (base: string, contentHash: string, file: string): URL => {
  const url = new URL(base);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${contentHash}/${file}`;
  return url;
};

/** Without user, password and query, which may be secrets. */
const shown = (url: URL): string => `${url.origin}${url.pathname}`;

const fetchManifest = async (base: string, contentHash: string): Promise<{ readonly text: string; readonly manifest: FixtureManifest }> => {
  const url = urlOf(base, contentHash, "manifest.json");
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of await bodyOf(url)) {
    const bytes = chunk as Buffer;
    length += bytes.length;
    if (length > manifestBytesMax)
      throw new SluiceError("FIXTURE_INVALID", `${shown(url)}: a manifest has ${manifestBytesMax} bytes at most, and this has more.`);
    chunks.push(bytes);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  // Its names of files have no way out of the folder.
  const manifest = parseManifest(text, shown(url));
  const found = contentHashOf(manifest.instruments, manifest.series);
  if (found !== contentHash || manifest.contentHash !== contentHash) throw wrong(shown(url), contentHash, found);
  const total = manifest.series.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > fixtureBytesMax) throw new SluiceError("FIXTURE_INVALID", `${shown(url)}: ${total} bytes are more than ${fixtureBytesMax}.`);
  return { text, manifest };
};

const fetchFile = async (url: URL, path: string, bytes: number, sha256: string): Promise<void> => {
  const hash = createHash("sha256");
  let length = 0;
  const counted = new Transform({
    transform: (chunk: Buffer, _, done) => {
      length += chunk.length;
      hash.update(chunk);
      if (length > bytes) done(new SluiceError("FIXTURE_INVALID", `${shown(url)} has more than the ${bytes} bytes of its manifest.`));
      else done(null, chunk);
    },
  });
  await pipeline(await bodyOf(url), counted, createWriteStream(path, { flags: "wx" }));
  const found = hash.digest("hex");
  if (length !== bytes || found !== sha256)
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${shown(url)} is not what its manifest says: ${length} of ${bytes} bytes, SHA-256 ${found}, not ${sha256}.`,
    );
};

/** Follows redirects on the host that was named, and no others. */
const bodyOf = async (first: URL): Promise<Readable> => {
  const { request } = await import("undici");
  let url = first;
  for (let hop = 0; hop <= redirectsMax; hop++) {
    const { statusCode, headers, body } = await request(url, { headersTimeout: headersMs, bodyTimeout: silenceMs });
    if (statusCode === 200) return body;
    await body.dump();
    const { location } = headers;
    if (statusCode < 300 || statusCode > 399 || typeof location !== "string")
      throw new SluiceError(
        "DATA_UNAVAILABLE",
        `${shown(url)} answered ${statusCode}. Is the fixture there? Put it there with \`sluice data push\`.`,
      );
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
