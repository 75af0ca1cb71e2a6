/**
 * The bytes of a file in pieces, plain or unpacked from gzip, zip or zstd; its text in UTF-8 or UTF-16; which format it
 * has.
 *
 * Invariants: packing, format and encoding are recognised by the first bytes and not by the name; no more than a few
 * pieces are held at a time; a truncated or damaged file is refused, never read in part (checksums are compared); an
 * unsupported format is refused by its name.
 * Not here: lines and cells (table/text-rows.ts), binary rows (binary/), websocket recordings, which are read whole
 * (import-file.ts).
 */
import { closeSync, createReadStream, openSync, type ReadStream, readSync, statSync } from "node:fs";
import { pipeline, type Readable, type Transform } from "node:stream";
import { TextDecoder } from "node:util";
import zlib from "node:zlib";
import { SluiceError } from "sluice";
import type { Entry } from "yauzl";
import { zstdOfPlatform, zstdStream } from "./binary/unpackers.ts";
import { unpackedFrames } from "./binary/zstd-frames.ts";

type Packing = "none" | "gzip" | "zip" | "zstd";

/** A file, or one of the files in a zip archive. */
export interface TextPart {
  /** Name for messages: the path, and the name within an archive. */
  readonly name: string;
  readonly packing: Packing;
  /** Its size on disk. */
  readonly bytes: number;
  /**
   * Yields the bytes as they were before packing. May be called again; `onRead` receives the number of bytes read from
   * the file on disk.
   */
  unpacked(onRead?: (bytes: number) => void): AsyncGenerator<Buffer>;
}

/** The parts of `file`: one, or as many as an archive holds. */
export const partsOf = async (file: string): Promise<readonly TextPart[]> => {
  const head = headOf(file);
  if (head.subarray(0, 4).toString("latin1") === "PK\u0003\u0004") return zipParts(file);
  const bytes = statSync(file).size;
  const packing = packingOf(head);
  return [{ name: file, packing, bytes, unpacked: (onRead) => unpack(file, packing, onRead) }];
};

/** Pieces of text without a mark of their encoding. */
export const textOf = async function* (pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  for await (const piece of pieces) {
    decoder ??= new TextDecoder(encodingOf(piece));
    yield decoder.decode(piece, { stream: true });
  }
  if (decoder !== undefined) yield decoder.decode();
};

/** By its mark, or by the zeros between the letters of a text that is mostly digits. */
export const encodingOf = (bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" => {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (second === 0 && first !== 0)) return "utf-16le";
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? "utf-16be" : "utf-8";
};

/** Formats of rows. */
export type RowFormat = "text" | "parquet" | "arrow" | "numpy";

/** Files of rows that are no text, by their first bytes: a supported format, or the name of another one. */
const binaries: readonly { readonly magic: string; readonly format?: RowFormat; readonly what?: string }[] = [
  { magic: "PAR1", format: "parquet" },
  { magic: "ARROW1", format: "arrow" },
  { magic: "\u00ff\u00ff\u00ff\u00ff", format: "arrow" },
  { magic: "\u0093NUMPY", format: "numpy" },
  { magic: "PARE", what: "an encrypted Parquet file" },
  { magic: "FEA1", what: "a Feather file of the first version" },
  { magic: "\u0089HDF", what: "an HDF5 file" },
  { magic: "SQLite", what: "an SQLite database" },
];

/** Detects the format by the first bytes; throws for a format that is not supported. */
export const formatOf = async (part: TextPart): Promise<RowFormat> => {
  let head = "";
  for await (const piece of part.unpacked()) {
    head += piece.subarray(0, 16).toString("latin1");
    if (head.length >= 8) break;
  }
  const { format = "text", what } = binaries.find(({ magic }) => head.startsWith(magic)) ?? {};
  if (what !== undefined) throw importRefused(part.name, what);
  return format;
};

/** The path of a part that lies on the disk as it is. */
export const pathOf = ({ name, packing }: TextPart): string | undefined => (packing === "none" ? name : undefined);

export const importRefused = (file: string, what: string): SluiceError =>
  new SluiceError(
    "IMPORT_INVALID",
    `${file}: it is ${what}, which is not read. Write it as CSV or Parquet first (pandas: to_csv).`,
  );

const headOf = (file: string): Buffer => {
  try {
    const descriptor = openSync(file, "r");
    try {
      const head = Buffer.alloc(16);
      return head.subarray(0, readSync(descriptor, head));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: ${missing ? "there is no such file" : (error as Error).message}.`,
    );
  }
};

const packingOf = (head: Buffer): Packing => {
  if (head[0] === 0x1f && head[1] === 0x8b) return "gzip";
  return head.length >= 4 && head.readUInt32LE(0) === 0xfd2fb528 ? "zstd" : "none";
};

const pieceBytes = 1 << 18;

const unpack = async function* (
  file: string,
  packing: Packing,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const source = createReadStream(file, { highWaterMark: pieceBytes });
  try {
    for await (const piece of await piecesOf(source, packing, file)) {
      onRead?.(source.bytesRead);
      yield piece as Buffer;
    }
  } catch (error) {
    throw packing === "none" || error instanceof SluiceError ? error : importDamaged(file, `${packing} data`, error);
  } finally {
    source.destroy();
  }
};

const piecesOf = async (source: ReadStream, packing: Packing, file: string): Promise<AsyncIterable<unknown>> => {
  if (packing === "none") return source;
  if (packing === "gzip") return joined(source, zlib.createGunzip({ chunkSize: pieceBytes }));
  return zstdOfPlatform === undefined ? joined(source, await zstdStream(file)) : unpackedFrames(source, zstdOfPlatform);
};

/** An error of either stream ends the reading of the second. */
const joined = (source: ReadStream, unpacker: Transform): Readable =>
  pipeline(source, unpacker, () => undefined) as Readable;

export const importDamaged = (file: string, what: string, error: unknown): SluiceError =>
  new SluiceError(
    "IMPORT_INVALID",
    `${file}: the ${what} is damaged or ends early (${(error as Error).message}). Fetch the file again, or unpack what can be saved first.`,
  );

/** Matches folders, and files that archive tools and exchanges add to the data. */
const beside = /\/$|^__MACOSX\/|(^|\/)\.|\.(checksum|md|pdf)$|(^|\/)readme/i;

const zipParts = async (file: string): Promise<readonly TextPart[]> => {
  const entries: Entry[] = [];
  try {
    const { openPromise } = await import("yauzl");
    const zip = await openPromise(file);
    for await (const entry of zip.eachEntry()) entries.push(entry);
  } catch (error) {
    throw importDamaged(file, "zip archive", error);
  }
  const names = entries.map(({ fileName }) => fileName);
  if (names.includes("[Content_Types].xml")) throw importRefused(file, "a spreadsheet");
  const data = entries.filter(({ fileName }) => !beside.test(fileName));
  if (data.length === 0)
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: the archive holds no data; found ${names.join(", ") || "nothing"}.`,
    );
  return data.map((entry) => ({
    name: `${file}/${entry.fileName}`,
    packing: "zip" as const,
    bytes: entry.compressedSize,
    unpacked: (onRead) => unpackEntry(file, entry, onRead),
  }));
};

const unpackEntry = async function* (
  file: string,
  entry: Entry,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const name = `${file}/${entry.fileName}`;
  if (entry.isEncrypted()) throw new SluiceError("IMPORT_INVALID", `${name}: it is encrypted. Unpack it first.`);
  const { openPromise } = await import("yauzl");
  const zip = await openPromise(file, { autoClose: false });
  let [checksum, length] = [0, 0];
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      const piece = chunk as Buffer;
      checksum = zlib.crc32(piece, checksum);
      length += piece.length;
      onRead?.(Math.round(entry.compressedSize * (length / Math.max(1, entry.uncompressedSize))));
      yield piece;
    }
    if (checksum !== entry.crc32) throw new Error("its checksum does not match");
  } catch (error) {
    throw error instanceof SluiceError ? error : importDamaged(name, "zip data", error);
  } finally {
    zip.close();
  }
};
