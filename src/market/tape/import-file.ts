/**
 * The bytes of a recording as lines, whether it is compressed or not, and what kind of recording it is.
 *
 * Invariants: compression is recognised by the first bytes and not by the name; a truncated or damaged file is refused, never read in
 * part; line numbers count from 1 and include empty lines.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { excerpt, SluiceError } from "../../errors.ts";

export interface TextLines {
  readonly file: string;
  readonly bytes: Buffer;
  /** Byte ranges of the lines that hold something. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  readonly number: readonly number[];
}

export const readLines = (file: string): TextLines => {
  const bytes = unpacked(readBytes(file), file);
  const lines = { file, bytes, from: [] as number[], to: [] as number[], number: [] as number[] };
  let number = 0;
  for (let from = bytes.subarray(0, 3).equals(byteOrderMark) ? 3 : 0; from < bytes.length; ) {
    const newline = bytes.indexOf(10, from);
    const next = newline < 0 ? bytes.length : newline;
    const to = next > from && bytes[next - 1] === 13 ? next - 1 : next;
    number++;
    if (to > from) {
      lines.from.push(from);
      lines.to.push(to);
      lines.number.push(number);
    }
    from = next + 1;
  }
  return lines;
};

export const lineAt = ({ bytes, from, to }: TextLines, index: number): string => bytes.toString("utf8", from[index] ?? 0, to[index] ?? 0);

/** Terms are not a recording by themselves: funding rates, mark prices, changes of rules. */
type RecordingKind = "messages" | "candles" | "terms";

export const kindOf = (lines: TextLines): RecordingKind => {
  const first = lineAt(lines, 0);
  if (/^\d+ *\{/.test(first)) return "messages";
  const header = first.toLowerCase().replaceAll(/["\s]/g, "").split(",");
  const isTerms = first.startsWith("{") || ["funding", "mark", "ticksize", "lotsize", "listed"].some((name) => header.includes(name));
  if (first.startsWith("{") || (header.includes("timestamp") && isTerms && !header.includes("open"))) return "terms";
  if (header.includes("timestamp")) return "candles";
  throw new SluiceError(
    "IMPORT_INVALID",
    `${lines.file}: ${lines.from.length === 0 ? "the file is empty" : `line ${lines.number[0]} is ${JSON.stringify(excerpt(first))}`}. ` +
      "Expected recorded messages (`<receive time in ns> <json>` a line), candles (`timestamp,open,high,low,close,volume`) or, beside one of them, terms (`timestamp,funding,mark,tickSize,lotSize,listed`).",
  );
};

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

const readBytes = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new SluiceError("IMPORT_INVALID", `${file}: ${missing ? "there is no such file" : (error as Error).message}.`);
  }
};

const unpacked = (bytes: Buffer, file: string): Buffer => {
  if (!(bytes[0] === 0x1f && bytes[1] === 0x8b)) return bytes;
  try {
    return gunzipSync(bytes, { chunkSize: pieceFor(bytes) });
  } catch (error) {
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: the gzip data is damaged or ends early (${(error as Error).message}). Fetch the file again, or unpack what can be saved first.`,
    );
  }
};

/** Nothing unpacks to more than about a thousand times its size. */
const mostUnpacked = 1_040;
const pieceMin = 1 << 20;

/** As much as the file's end says it holds and a little more, for in small pieces every byte is copied once more. */
const pieceFor = (bytes: Buffer): number => {
  const stated = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  return stated > bytes.length * mostUnpacked ? pieceMin : Math.max(pieceMin, stated + 4_096);
};
