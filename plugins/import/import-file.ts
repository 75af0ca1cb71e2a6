/**
 * The bytes of a recording of messages or terms as lines, whether it is compressed or not, and what kind of recording a
 * file is.
 *
 * Invariants: compression is recognised by the first bytes and not by the name; a truncated or damaged file is refused,
 * never read in part; line numbers count from 1 and include empty lines.
 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { SluiceError } from "sluice";
import { encodingOf, type TextPart, textOf } from "./byte-source.ts";
import { type Fields, isMessage, isObject } from "./import-venues.ts";

export interface TextLines {
  readonly file: string;
  readonly bytes: Buffer;
  /** Byte ranges of the lines that hold something. */
  readonly from: readonly number[];
  readonly to: readonly number[];
  readonly number: readonly number[];
}

const readLines = (file: string): TextLines => linesOf(file, unpacked(readBytes(file), file));

const linesOf = (file: string, raw: Buffer): TextLines => {
  const encoding = encodingOf(raw);
  const bytes = encoding === "utf-8" ? raw : Buffer.from(new TextDecoder(encoding).decode(raw));
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

export const lineAt = ({ bytes, from, to }: TextLines, index: number): string =>
  bytes.toString("utf8", from[index] ?? 0, to[index] ?? 0);

/**
 * Terms are not a recording by themselves: funding rates, mark prices, changes of rules. Of rows the layout is found
 * later.
 */
type RecordingKind = "messages" | "rows" | "terms";

const termNames = ["funding", "mark", "ticksize", "lotsize", "listed"];

/** By its first line. */
export const kindOf = (first: string): RecordingKind => {
  if (/^\d+ *\{/.test(first)) return "messages";
  if (first.startsWith("{")) {
    if (termNames.some((name) => first.toLowerCase().includes(`"${name}"`))) return "terms";
    return isMessage(parsed(first)) ? "messages" : "rows";
  }
  const header = first.toLowerCase().replaceAll(/["\s]/g, "").split(",");
  const isTerms =
    header.includes("timestamp") && termNames.some((name) => header.includes(name)) && !header.includes("open");
  return isTerms ? "terms" : "rows";
};

const parsed = (line: string): Fields => {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
};

/** The first line that holds something; undefined where none does. */
export const firstLineOf = async (part: TextPart): Promise<string | undefined> => {
  let head = "";
  for await (const text of textOf(part.unpacked())) {
    head = (head + text).trimStart();
    if (head.includes("\n") || head.length > longestHead) break;
  }
  return head === "" ? undefined : head.split("\n", 1)[0]?.trimEnd();
};

const longestHead = 65_536;

/** The same as `readLines`, for a file of an archive, or with any packing and encoding. */
export const readPartLines = async (part: TextPart): Promise<TextLines> => {
  if (part.packing === "gzip" || part.packing === "none") return readLines(part.name);
  const pieces: Buffer[] = [];
  for await (const piece of part.unpacked()) pieces.push(piece);
  return linesOf(part.name, Buffer.concat(pieces));
};

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

const readBytes = (file: string): Buffer => {
  try {
    return readFileSync(file);
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new SluiceError(
      "IMPORT_INVALID",
      `${file}: ${missing ? "there is no such file" : (error as Error).message}.`,
    );
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

/**
 * Returns the size of the pieces to unpack: the size stated at the end of the file and a little more, because with
 * small pieces every byte is copied again.
 */
const pieceFor = (bytes: Buffer): number => {
  const stated = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  return stated > bytes.length * mostUnpacked ? pieceMin : Math.max(pieceMin, stated + 4_096);
};
