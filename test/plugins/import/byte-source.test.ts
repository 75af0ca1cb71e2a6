/** Files give the same rows whatever they are packed in, or are refused by what is wrong with them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { readRecording } from "../../../plugins/import/read-recording.ts";
import { hashOfRows } from "../../../src/market/tape/fixture.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { zipOf } from "../../support/zip.ts";

const home = temporaryFolder("packed");
let counter = 0;
const read = (bytes: string | Uint8Array, name = "bars") => {
  const file = join(home, `${counter++}-${name}`);
  writeFileSync(file, bytes);
  return readRecording({ file, instrument: "BTC-USDT" });
};
const rows = Array.from(
  { length: 20_000 },
  (_, index) =>
    `${1_704_067_200_000 + index * 60_000},${100 + (index % 7)},110,90,${100 + ((index * 3) % 7)},${index % 11}`,
);
const text = `timestamp,open,high,low,close,volume\n${rows.join("\n")}\n`;
const utf16be = Buffer.from(`\ufeff${text}`, "utf16le").swap16();
const { zstdCompressSync } = zlib as { readonly zstdCompressSync?: (data: string) => Buffer };

describe("Packed files", () => {
  it.each<[string, Uint8Array | string]>([
    ["gzip", zlib.gzipSync(text)],
    ["gzip in two members", Buffer.concat([zlib.gzipSync(text.slice(0, 99)), zlib.gzipSync(text.slice(99))])],
    ["zip, beside what archive tools add", zipOf({ "__MACOSX/._bars.csv": "x", "readme.txt": "x", "bars.csv": text })],
    ["a mark of UTF-8", `\ufeff${text}`],
    ["UTF-16", Buffer.from(`\ufeff${text}`, "utf16le")],
    ["UTF-16, high byte first", utf16be],
    ["UTF-16 without a mark", Buffer.from(text, "utf16le")],
    ["ends of lines of Windows, and none at the end", text.replaceAll("\n", "\r\n").trimEnd()],
    ["semicolons", text.replaceAll(",", ";")],
    ...(zstdCompressSync === undefined ? [] : [["zstd", zstdCompressSync(text)] as [string, Uint8Array]]),
  ])("give the same rows: %s", async (_, bytes) => {
    expect(hashOfRows((await read(bytes)).tape)).toBe(hashOfRows((await read(text)).tape));
  });

  const zip = zipOf({ "bars.csv": text });
  const broken = Buffer.from(zip);
  // The checksum in the central directory.
  broken.writeUInt32LE(1, broken.lastIndexOf(Buffer.from("PK\u0001\u0002")) + 16);

  it.each<[string, Uint8Array | string, RegExp]>([
    ["that end early", zlib.gzipSync(text).subarray(0, 2_000), /the gzip data is damaged or ends early/],
    ["an archive that ends early", zip.subarray(0, 2_000), /the zip archive is damaged or ends early/],
    [
      "an archive whose checksum differs",
      broken,
      /bars.csv: the zip data is damaged or ends early \(its checksum does not match\)/,
    ],
    [
      "an archive of nothing",
      zipOf({ "bars.csv.CHECKSUM": "1" }),
      /the archive holds no data; found bars.csv.CHECKSUM/,
    ],
    [
      "a spreadsheet",
      zipOf({ "[Content_Types].xml": "x" }),
      /it is a spreadsheet, which is not read. Write it as CSV or Parquet first/,
    ],
    ["JSON that ends early", "[[1704067200000,1,2,1,1,1],[17040672", /:2: the JSON ends within "\[17040672"/],
    ["JSON with a fault", "[[1704067200000,1,2,1,1,1],[1,oops]]", /:2: "\[1,oops\]" is not JSON/],
    ["nothing", "", /the file is empty/],
  ])("are refused: %s", async (_, bytes, message) => {
    await expect(read(bytes)).rejects.toThrow(message);
    await expect(read(bytes)).rejects.toThrow(expect.objectContaining({ code: "IMPORT_INVALID" }));
  });
});
