/**
 * Fixtures by the hash of their content: from a folder, a web host or a bucket, through a cache on this machine.
 *
 * A source holds HASH/manifest.json and the files the manifest names, which is what any static host, a bucket that may be read, or a
 * shared folder serves; `sluice data push` writes it.
 *
 * Invariants: what is given has the hash that was asked for, to the last byte; a cache entry that is damaged is fetched again, and
 * a source whose files are not what their hash says is refused; nothing is written or deleted outside the cache, and there only
 * under a hash and whole.
 * Not here: HTTP (fixture-download.ts), the format (market/tape/fixture.ts).
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { SluiceError } from "../../../errors.ts";
import { readFixture, readManifest } from "../../../market/tape/fixture.ts";
import { checkBucket, isBucket, pushToBucket } from "./fixture-bucket.ts";
import { type DownloadBounds, download, isAddress, wrong } from "./fixture-download.ts";

export interface FixturePlaces {
  /** Folder, `http(s)://` address or `s3://` bucket of a source. */
  readonly source?: string;
  /** Folder of the cache; the user's own when left out. */
  readonly cache?: string;
  /** Variables with the keys of a bucket; those of the process when left out. */
  readonly env?: NodeJS.Dict<string>;
}

const draftMs = 86_400_000;
const drafts = [".fetch-", ".push-"] as const;

const defaultCache = (): string =>
  join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice", "fixtures");

/**
 * A folder with the fixture of this hash. `name` is where whoever asks has it: a checkout may have it there, too. What is there is
 * read to its end.
 */
export const fixtureByHash = async (
  name: string,
  contentHash: string,
  { source, cache = defaultCache(), env }: FixturePlaces,
  bounds: Omit<DownloadBounds, "env">,
): Promise<string> => {
  // It becomes a folder that may be deleted.
  if (!/^[0-9a-f]{64}$/.test(contentHash))
    throw new SluiceError(
      "FIXTURE_INVALID",
      `"${contentHash}" is not the hash of a fixture. Its manifest names 64 hexadecimal digits.`,
    );
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
  return fetched(source, contentHash, kept, { ...bounds, ...(env !== undefined && { env }) });
};

/** Where a fixture was copied to. `isNew`: it was not there before. */
export interface PushedFixture {
  readonly place: string;
  readonly contentHash: string;
  readonly isNew: boolean;
}

/** Copies fixtures to a folder or to a bucket (`s3://BUCKET/PREFIX`), each to its hash. What is there already is left as it is. */
export const pushFixtures = async (dirs: readonly string[], to: string): Promise<readonly PushedFixture[]> => {
  if (isBucket(to)) checkBucket(to, "--to");
  const pushed: PushedFixture[] = [];
  for (const dir of dirs) pushed.push(isBucket(to) ? await pushToBucket(dir, to) : pushToFolder(dir, to));
  return pushed;
};

const pushToFolder = (dir: string, to: string): PushedFixture => {
  // Read to its end: what is spread should be whole.
  const { contentHash, series } = readFixture(resolve(dir)).manifest;
  const place = join(resolve(to), contentHash);
  if (existsSync(place) && isWhole(place, contentHash)) return { place, contentHash, isNew: false };
  const draft = draftIn(resolve(to), ".push-");
  try {
    const copy = join(draft, "new");
    mkdirSync(copy);
    // What a link leads to: the link would lead nowhere on the machines that read it.
    for (const name of ["manifest.json", ...series.map(({ file }) => file)])
      copyFileSync(join(dir, name), join(copy, name));
    if (!isWhole(copy, contentHash))
      throw new SluiceError("FIXTURE_INVALID", `${dir} changed while it was copied to ${to}. Push it again.`);
    putInPlace(copy, place, contentHash);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return { place, contentHash, isNew: true };
};

/** A new folder for what is not whole yet; those that processes left behind a day ago and longer are removed. */
const draftIn = (folder: string, prefix: (typeof drafts)[number]): string => {
  mkdirSync(folder, { recursive: true });
  const draft = mkdtempSync(join(folder, prefix));
  // Its own time, as the folder may be on a machine with another clock.
  const { mtimeMs: at } = statSync(draft);
  for (const name of readdirSync(folder)) {
    const { mtimeMs = at } = drafts.some((start) => name.startsWith(start))
      ? (statSync(join(folder, name), { throwIfNoEntry: false }) ?? {})
      : {};
    if (at - mtimeMs > draftMs) rmSync(join(folder, name), { recursive: true, force: true });
  }
  return draft;
};

/** Another process may have been faster: what it has put there is taken if it is whole. */
const putInPlace = (dir: string, place: string, contentHash: string): void => {
  try {
    renameSync(dir, place);
  } catch {
    if (isWhole(place, contentHash)) return;
    rmSync(place, { recursive: true, force: true });
    renameSync(dir, place);
  }
};

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

const fetched = async (base: string, contentHash: string, target: string, bounds: DownloadBounds): Promise<string> => {
  const draft = draftIn(resolve(target, ".."), ".fetch-");
  try {
    const dir = join(draft, "new");
    mkdirSync(dir);
    await download(base, contentHash, dir, bounds);
    const found = readFixture(dir).manifest.contentHash;
    if (found !== contentHash) throw wrong(dir, contentHash, found);
    putInPlace(dir, target, contentHash);
    return target;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
};
