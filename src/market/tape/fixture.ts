/**
 * Fixtures: recorded or made market data as a folder that loads fast and cannot change unnoticed.
 *
 * The folder holds `manifest.json` (manifest-schema.ts describes it: format "sluice-fixture/1", source,
 * instruments with tick and lot size, one entry a series with file, kind, rows, bytes and hashes, first and last
 * instant, notes of the import, contentHash) and one binary file a series, named after instrument and kind. The bytes
 * of such a file are described in fixture-blocks.ts. Prices are counts of `tickSize`, quantities counts of `lotSize`,
 * times microseconds since the epoch.
 *
 * Invariants: what is read equals what was written or is refused by file, expectation and finding; writing makes a
 * whole fixture or leaves the target as it was, also where the process is killed (what then lies aside is put back when
 * the fixture is next asked for); only a fixture is ever replaced, only if nothing else lies in its folder, and only by
 * who asks for it.
 * Not here: where data comes from (import*.ts, generate.ts).
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { SluiceError } from "../../errors.ts";
import { gridName, gridOf } from "../calendar/bar-calendar.ts";
import { contentOf, damaged, decodeSeries, encodeSeries } from "./fixture-blocks.ts";
import { contentHashOf, parseManifest } from "./fixture-manifest.ts";
import {
  type FixtureFeed,
  type FixtureManifest,
  type FixtureNote,
  type FixtureSeries,
  manifestFormat,
} from "./manifest-schema.ts";
import {
  type CandleSeries,
  columnNames,
  createTape,
  gridNameIn,
  type Series,
  seriesName,
  seriesOf,
  type Tape,
  type TapeInstrument,
} from "./tape.ts";

export type { FixtureManifest, FixtureNote } from "./manifest-schema.ts";

/** Text of a manifest about the rows. */
export interface FixtureMeta {
  /** Origin of the data, in words, for readers of the manifest. */
  readonly source: string;
  readonly notes?: readonly FixtureNote[];
  readonly feed?: FixtureFeed;
}

/** A recorded market as it was read: its rows and its manifest. */
export interface Fixture {
  readonly tape: Tape;
  readonly manifest: FixtureManifest;
}

/** The folder of a fixture that was written, and what is in it: what `--json` prints. */
export interface WrittenFixture extends FixtureManifest {
  readonly fixture: string;
  /** Rows that each imported file gave. */
  readonly files?: readonly ImportedFile[];
  /** Imported rows that no market has, where there are any. */
  readonly problems?: readonly FixtureFinding[];
}

/** Rows that were read from one file, or from one in an archive. */
export interface ImportedFile {
  readonly file: string;
  readonly instrument: string;
  /** Name of the layout; "messages" for websocket messages, "hftbacktest" for its events. */
  readonly layout: string;
  readonly rows: number;
  readonly startAt: string;
  readonly endAt: string;
  readonly notes: readonly FixtureNote[];
}

/** Something odd about the rows of a series. */
export interface FixtureFinding {
  /** Such as "60000 ms candle of BTC-USDT-SWAP". */
  readonly series: string;
  /** A problem is something that no market does; a remark may well be true. */
  readonly kind: "problem" | "remark";
  readonly what: string;
  readonly count: number;
  /** Its first instant, ISO 8601. */
  readonly firstAt: string;
}

const manifestFile = "manifest.json";

/** Options of writing a fixture. */
export interface WriteOptions {
  /** Replaces the fixture that is there. Default false: it is refused. */
  readonly force?: boolean;
}

/**
 * Writes a market as a fixture.
 *
 * @param dir - its folder; one that holds something else is refused
 * @param tape - the market
 * @param meta - where it comes from, for the manifest
 * @param options - `force` replaces a fixture that is there
 * @returns the manifest
 * @throws FIXTURE_INVALID for a market without rows, USAGE for a folder that may not be written
 */
export const writeFixture = (
  dir: string,
  tape: Tape,
  meta: FixtureMeta,
  options: WriteOptions = {},
): FixtureManifest => {
  const target = resolve(dir);
  if (tape.length === 0) throw new SluiceError("FIXTURE_INVALID", `${dir}: there are no rows to write.`);
  checkWritable(dir, options);
  mkdirSync(dirname(target), { recursive: true });
  // A fresh folder inside the temporary one, because the temporary one is closed to other users.
  const workplace = mkdtempSync(join(dirname(target), `.${basename(target)}-`));
  const draft = join(workplace, "new");
  try {
    mkdirSync(draft);
    const series = tape.series.map((one) => writeSeries(draft, one, tape.instruments));
    const manifest = manifestOf(tape, meta, series);
    writeFileSync(join(draft, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`);
    swap(draft, target, join(workplace, aside));
    return manifest;
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
};

/**
 * Reads and checks the fixture `dir`.
 *
 * @param dir - folder of the fixture
 * @returns market and manifest
 * @throws FIXTURE_INVALID where a file is missing, damaged or of another format
 */
export const readFixture = (dir: string): Fixture => {
  const manifest = readManifest(dir);
  const { instruments } = manifest;
  const index = new Map(instruments.map(({ instId }, position) => [instId, position]));
  const series = manifest.series.map((entry) => {
    const instrument = index.get(entry.instId);
    if (instrument === undefined)
      throw damaged(join(dir, manifestFile), `${entry.instId} among the instruments`, "no such instrument");
    return readSeries(dir, entry, instrument);
  });
  const found = contentHashOf(instruments, manifest.series);
  if (found !== manifest.contentHash)
    throw damaged(join(dir, manifestFile), `contentHash ${manifest.contentHash}`, found);
  const tape = withPlace(dir, () => createTape(instruments, series));
  if (tape.length !== manifest.rows)
    throw damaged(join(dir, manifestFile), `${manifest.rows} rows in all`, `${tape.length}`);
  return { tape, manifest };
};

/**
 * The contentHash of the fixture that `tape` would make.
 *
 * @param tape - a market
 * @returns SHA-256 in hex
 */
export const hashOfRows = ({ instruments, series }: Tape): string =>
  contentHashOf(
    instruments,
    series.map((one) => ({
      kind: one.kind,
      instId: instruments[one.instrument]?.instId ?? "",
      ...(one.kind === "candle" ? barFields(one) : {}),
      rows: one.at.length,
      content: contentOf(one, seriesName(one, instruments)),
    })),
  );

/**
 * Reads the manifest of a fixture, without its rows.
 *
 * @param dir - folder of the fixture
 * @returns the manifest
 * @throws FIXTURE_INVALID where it is missing or wrong
 */
export const readManifest = (dir: string): FixtureManifest => {
  putBack(resolve(dir));
  if (!existsSync(dir) || !statSync(dir).isDirectory()) {
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${dir}: expected a fixture folder, found ${existsSync(dir) ? "a file" : "nothing"}. Make one with \`sluice import\` or \`sluice generate\`.`,
    );
  }
  const path = join(dir, manifestFile);
  if (!existsSync(path)) {
    throw new SluiceError(
      "FIXTURE_INVALID",
      `${path}: expected the manifest of a fixture, found nothing. Is ${dir} the right folder?`,
    );
  }
  return parseManifest(readFileSync(path, "utf8"), path);
};

const readSeries = (dir: string, entry: FixtureSeries, instrument: number): Series => {
  const path = join(dir, entry.file);
  if (!existsSync(path)) throw damaged(path, `a file of ${entry.bytes} bytes`, "nothing");
  const bytes = readFileSync(path);
  if (bytes.length !== entry.bytes) throw damaged(path, `${entry.bytes} bytes`, `${bytes.length}`);
  const sha256 = sha256Of(bytes);
  if (sha256 !== entry.sha256) throw damaged(path, `SHA-256 ${entry.sha256}`, sha256);
  const { at, columns, content } = decodeSeries(bytes, entry.kind, entry.rows, path);
  if (content !== entry.content) throw damaged(path, `rows of SHA-256 ${entry.content}`, content);
  return seriesOf(entry.kind, instrument, at, columns, entry.bars === undefined ? entry.barMs : gridOf(entry.bars));
};

/** A grid is written by its name. */
const barFields = ({ barMs, grid }: CandleSeries): Pick<FixtureSeries, "barMs" | "bars"> => ({
  barMs,
  ...(grid !== undefined && { bars: gridName(grid) }),
});

const writeSeries = (draft: string, series: Series, instruments: readonly TapeInstrument[]): FixtureSeries => {
  const { instId } = instruments[series.instrument] as TapeInstrument;
  const bars = series.kind === "candle" ? barFields(series) : {};
  const name = series.kind === "candle" ? `-${gridNameIn(series).replaceAll(/[^A-Za-z0-9-]/g, "_")}` : "";
  const file = `${instId}.${series.kind}${name}.bin`;
  const { bytes, content } = encodeSeries(series, seriesName(series, instruments));
  writeFileSync(join(draft, file), bytes);
  const columns = ["at", ...columnNames[series.kind]];
  const rows = series.at.length;
  return {
    file,
    kind: series.kind,
    instId,
    ...bars,
    rows,
    bytes: bytes.length,
    sha256: sha256Of(bytes),
    content,
    columns,
  };
};

const manifestOf = (tape: Tape, meta: FixtureMeta, series: readonly FixtureSeries[]): FixtureManifest => {
  const instruments = tape.instruments.map(({ instId, tickSize, lotSize }) => ({ instId, tickSize, lotSize }));
  return {
    format: manifestFormat,
    source: meta.source,
    instruments,
    series,
    rows: tape.length,
    startAt: new Date(tape.startAt).toISOString(),
    endAt: new Date(tape.endAt).toISOString(),
    startAtMs: tape.startAt,
    endAtMs: tape.endAt,
    notes: meta.notes ?? [],
    contentHash: contentHashOf(instruments, series),
    ...(meta.feed && { feed: meta.feed }),
  };
};

const sha256Of = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Refuses a folder that `writeFixture` would refuse; ask before a long work is begun. */
export const checkWritable = (dir: string, { force = false }: WriteOptions = {}): void => {
  const target = resolve(dir);
  const file = fileAbove(target);
  if (file !== undefined) throw new SluiceError("USAGE", `${dir} lies below ${file}, which is a file. Name a folder.`);
  putBack(target);
  if (!existsSync(target)) return;
  if (!statSync(target).isDirectory()) throw occupied(dir, "it is a file");
  const entries = readdirSync(target);
  if (entries.length === 0) return;
  if (!entries.includes(manifestFile))
    throw occupied(dir, `it holds ${entries.slice(0, 3).join(", ")} and no manifest.json`);
  const text = readFileSync(join(target, manifestFile), "utf8");
  if (!/"format":\s*"sluice-fixture\//.test(text)) throw occupied(dir, "its manifest.json is not that of a fixture");
  const foreign = entries.filter((entry) => entry !== manifestFile && !entry.endsWith(".bin"));
  if (foreign.length > 0) throw occupied(dir, `it also holds ${foreign.slice(0, 3).join(", ")}`);
  if (force) return;
  const problem = `${dir} holds a fixture already: ${held(text)}. Name a new folder, or replace what is there with --force (from code: { force: true }).`;
  throw new SluiceError("USAGE", problem);
};

/** The file at a place where a path needs a folder. */
const fileAbove = (target: string): string | undefined => {
  const folder = dirname(target);
  if (folder === target) return undefined;
  if (!existsSync(folder)) return fileAbove(folder);
  return statSync(folder).isDirectory() ? undefined : folder;
};

/** Contents of a fixture, in a few words. */
export const heldIn = ({ instruments, rows, source }: FixtureManifest): string =>
  `${rows} rows of ${instruments.map(({ instId }) => instId).join(", ")} (${source.replace(/\.$/, "")})`;

const held = (text: string): string => {
  try {
    return heldIn(parseManifest(text, manifestFile));
  } catch {
    return "one whose manifest cannot be read";
  }
};

const occupied = (dir: string, why: string): SluiceError =>
  new SluiceError(
    "FIXTURE_INVALID",
    `${dir} exists and cannot be replaced: ${why}. Name a new folder, or remove that one yourself.`,
  );

const aside = "replaced";

const swap = (draft: string, target: string, old: string): void => {
  const replaces = existsSync(target);
  if (replaces) renameSync(target, old);
  try {
    renameSync(draft, target);
  } catch (error) {
    if (replaces) renameSync(old, target);
    throw error;
  }
};

/**
 * Folder that a killed process left: the fixture itself between the two renames, after them what it replaced.
 */
const putBack = (target: string): void => {
  const folder = dirname(target);
  if (!existsSync(folder)) return;
  const places = readdirSync(folder).filter((name) => name.startsWith(`.${basename(target)}-`));
  const left = places
    .map((name) => join(folder, name))
    .filter((workplace) => existsSync(join(workplace, aside, manifestFile)));
  if (!existsSync(target) && left.length === 1) renameSync(join(left[0] as string, aside), target);
  if (existsSync(target)) for (const workplace of left) rmSync(workplace, { recursive: true, force: true });
};

const withPlace = <T>(place: string, run: () => T): T => {
  try {
    return run();
  } catch (error) {
    if (error instanceof SluiceError) throw new SluiceError(error.code, `${place}: ${error.message}`);
    throw error;
  }
};
