/**
 * Zip archives for tests, written by hand: local headers, the files, and the central directory.
 */
import { crc32, deflateRawSync } from "node:zlib";

export const zipOf = (files: Readonly<Record<string, string>>): Buffer => {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [raw, path] = [Buffer.from(text), Buffer.from(name)];
    const packed = deflateRawSync(raw);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(raw), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(raw.length, 18);
    shared.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), shared, path, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), Buffer.from([20, 0]), shared, tail, path]));
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, listed, Buffer.from("PK\u0005\u0006"), end]);
};
