/**
 * The bytes of one series: columns as differences in variable-length integers, in blocks that are compressed one by
 * one.
 *
 * Invariants: encoding and decoding are inverse for whole counts from -1 to 2^52 - 1; a block decodes to exactly the
 * rows and bytes its header promises or is refused; the encoded (uncompressed) bytes depend on the rows alone.
 * Layout: `sluice1\n`, then blocks of a 12-byte header (rows, encoded bytes, packed bytes; little-endian) and packed
 * bytes.
 * Encoded: column after column, each value as the zigzag difference to the one before it (the first to 0), 7 bits a
 * byte, low bits first, the high bit set on all bytes but the last. Times are whole microseconds.
 * Not here: folders, manifests, hashes of files (fixture.ts).
 */
import { createHash } from "node:crypto";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { SluiceError } from "../../errors.ts";
import { type Column, columnNames, columnsOf, emptyColumns, type Series, type SeriesKind } from "./tape.ts";

const magic = Buffer.from("sluice1\n");
const headerBytes = 12;
const blockRows = 65_536;
// A value is at most 2^52 away from the one before it, so its zigzag form is at most 2^53: eight groups of seven bits.
const valueBytesMax = 8;
const valueLimit = 2 ** 52;
/** Fewer than 64 are refused as the size of a piece. */
const spareBytes = 64;

interface EncodedSeries {
  readonly bytes: Buffer;
  /** SHA-256 of the uncompressed bytes: the same rows give the same text with any compression. */
  readonly content: string;
}

interface DecodedSeries {
  readonly at: Float64Array;
  /** Columns in the order of `columnNames`. */
  readonly columns: readonly Column[];
  readonly content: string;
}

export const encodeSeries = (series: Series, name: string): EncodedSeries => {
  const parts: Buffer[] = [magic];
  const content = contentOf(series, name, (raw, rows) => {
    const packed = pack(raw);
    const header = Buffer.alloc(headerBytes);
    header.writeUInt32LE(rows, 0);
    header.writeUInt32LE(raw.length, 4);
    header.writeUInt32LE(packed.length, 8);
    parts.push(header, packed);
  });
  return { bytes: Buffer.concat(parts), content };
};

/** SHA-256 of the uncompressed bytes; `onBlock` is shown each block of them, which it must not keep. */
export const contentOf = (series: Series, name: string, onBlock?: (raw: Uint8Array, rows: number) => void): string => {
  const columns = columnsOf(series);
  const content = createHash("sha256");
  const values = new Float64Array(Math.min(blockRows, series.at.length));
  const scratch = new Uint8Array(
    (1 + columns.length) * valueBytesMax * Math.min(blockRows, Math.max(1, series.at.length)),
  );
  for (let from = 0; from < series.at.length; from += blockRows) {
    const to = Math.min(from + blockRows, series.at.length);
    for (let row = from; row < to; row++) values[row - from] = Math.round((series.at[row] as number) * 1000);
    let length = encodeColumn(scratch, 0, values, from, to, name);
    for (const column of columns) {
      // Of one kind of array, as when they are read.
      values.set(column.subarray(from, to));
      length = encodeColumn(scratch, length, values, from, to, name);
    }
    const raw = scratch.subarray(0, length);
    content.update(raw);
    onBlock?.(raw, to - from);
  }
  return content.digest("hex");
};

export const decodeSeries = (bytes: Buffer, kind: SeriesKind, rows: number, file: string): DecodedSeries => {
  if (!bytes.subarray(0, magic.length).equals(magic))
    throw damaged(file, "it begins with the mark of a series file", "something else");
  const blocks = findBlocks(bytes, kind, file);
  const found = blocks.reduce((total, block) => total + block.rows, 0);
  if (found !== rows) throw damaged(file, `${rows} rows`, `${found}`);
  const at = new Float64Array(rows);
  const columns = emptyColumns(kind, rows);
  const content = createHash("sha256");
  const narrow = new Float64Array(Math.min(blockRows, rows));
  let done = 0;
  for (const { packed, length, rows: count } of blocks) {
    const raw = unpack(packed, length, file);
    content.update(raw);
    const end = done + count;
    let position = decodeColumn(raw, 0, at, done, end);
    // Divided and not multiplied by 0.001: the quotient is the double nearest to the instant, so writing it again gives
    // the same bytes.
    for (let row = done; row < end; row++) at[row] = (at[row] as number) / 1000;
    for (const column of columns) {
      // Always into doubles: a loop that meets one kind of array is several times as fast.
      if (column instanceof Float64Array) position = decodeColumn(raw, position, column, done, end);
      else {
        position = decodeColumn(raw, position, narrow, 0, count);
        column.set(narrow.subarray(0, count), done);
      }
    }
    if (position !== length) throw damaged(file, `${length} bytes of rows in a block`, `${position}`);
    done = end;
  }
  return { at, columns, content: content.digest("hex") };
};

export const damaged = (file: string, expected: string, found: string): SluiceError =>
  new SluiceError(
    "FIXTURE_INVALID",
    `${file}: expected ${expected}, found ${found}. The fixture is damaged or was changed; make or fetch it again.`,
  );

const tooLarge = (name: string, row: number, value: number): SluiceError =>
  new SluiceError(
    "FIXTURE_INVALID",
    `${name}: row ${row} holds ${value}; a fixture stores whole counts below 2^52. Is the step too small?`,
  );

const pack = (raw: Uint8Array): Buffer =>
  brotliCompressSync(raw, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_SIZE_HINT]: raw.length },
  });

interface Block {
  readonly rows: number;
  readonly length: number;
  readonly packed: Buffer;
}

/** The blocks of a file by their headers; counts are checked here, before memory is allocated for them. */
const findBlocks = (bytes: Buffer, kind: SeriesKind, file: string): readonly Block[] => {
  const width = 1 + columnNames[kind].length;
  const blocks: Block[] = [];
  for (let offset = magic.length; offset < bytes.length; ) {
    if (offset + headerBytes > bytes.length)
      throw damaged(file, "a whole block header", `${bytes.length - offset} bytes`);
    const rows = bytes.readUInt32LE(offset);
    const length = bytes.readUInt32LE(offset + 4);
    const start = offset + headerBytes;
    offset = start + bytes.readUInt32LE(offset + 8);
    if (offset > bytes.length) throw damaged(file, `a block up to byte ${offset}`, `only ${bytes.length} bytes`);
    if (rows > blockRows || rows * width > length || rows * width * valueBytesMax < length)
      throw damaged(file, `a block of at most ${blockRows} rows`, `${rows} in ${length} bytes`);
    blocks.push({ rows, length, packed: bytes.subarray(start, offset) });
  }
  return blocks;
};

const unpack = (packed: Buffer, length: number, file: string): Buffer => {
  let raw: Buffer;
  try {
    // In one piece, with room for finding that nothing follows: small pieces would be put together again.
    raw = brotliDecompressSync(packed, { maxOutputLength: Math.max(1, length), chunkSize: length + spareBytes });
  } catch {
    throw damaged(file, `a compressed block of ${length} bytes`, "bytes that do not decompress to it");
  }
  if (raw.length !== length) throw damaged(file, `a block of ${length} bytes`, `${raw.length} bytes`);
  return raw;
};

/** `values` are those of the rows from `from` up to `to`. */
const encodeColumn = (
  out: Uint8Array,
  start: number,
  values: Float64Array,
  from: number,
  to: number,
  name: string,
): number => {
  let position = start;
  let last = 0;
  for (let row = from; row < to; row++) {
    const value = values[row - from] as number;
    // Only a side is below zero, so two neighbours are at most 2^52 apart.
    if (!(value >= -1 && value < valueLimit)) throw tooLarge(name, row, value);
    const difference = value - last;
    last = value;
    let rest = difference >= 0 ? difference * 2 : difference * -2 - 1;
    while (rest >= 0x80000000) {
      out[position++] = (rest % 128) | 128;
      rest = Math.floor(rest / 128);
    }
    while (rest >= 128) {
      out[position++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    out[position++] = rest;
  }
  return position;
};

/** Fills `values` from `from` up to `to`. */
const decodeColumn = (source: Uint8Array, start: number, values: Float64Array, from: number, to: number): number => {
  let position = start;
  let last = 0;
  for (let row = from; row < to; row++) {
    let coded = source[position++] as number;
    // Most differences end with their first byte, nearly all with their fourth.
    if (coded >= 128) {
      let byte = source[position++] as number;
      coded = (coded & 0x7f) | (byte << 7);
      if (byte >= 128) {
        byte = source[position++] as number;
        coded = (coded & 0x3fff) | (byte << 14);
        if (byte >= 128) {
          byte = source[position++] as number;
          coded = (coded & 0x1fffff) | (byte << 21);
          if (byte >= 128) {
            coded &= 0xfffffff;
            // Beyond 31 bits the bitwise forms of "odd" and "half" would cut the number.
            for (let weight = 2 ** 28; byte >= 128; weight *= 128) {
              byte = source[position++] as number;
              coded += (byte & 127) * weight;
            }
            last += coded % 2 === 1 ? -(coded + 1) / 2 : coded / 2;
            values[row] = last;
            continue;
          }
        }
      }
    }
    last += (coded >> 1) ^ -(coded & 1);
    values[row] = last;
  }
  return position;
};
