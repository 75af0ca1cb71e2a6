/**
 * A file whose parts are read in any order, as formats with an index at their end ask for.
 *
 * Invariants: a file on the disk is read range by range; one in an archive is held whole.
 */
import { open } from "node:fs/promises";
import { importDamaged, pathOf, type TextPart } from "../byte-source.ts";

export interface FileRanges {
  readonly byteLength: number;
  /** The bytes from `start` to `end`, which is not among them, in a buffer of their own. */
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

/** Runs `use` on the ranges of `part`. */
export const withRanges = async (part: TextPart, use: (file: FileRanges) => Promise<void>): Promise<void> => {
  const path = pathOf(part);
  if (path === undefined) return use(await heldWhole(part));
  const file = await open(path);
  try {
    await use({
      byteLength: part.bytes,
      slice: async (start, end = part.bytes) => {
        const { buffer, bytesRead } = await file.read(
          new Uint8Array(Math.max(0, end - start)),
          0,
          Math.max(0, end - start),
          start,
        );
        if (bytesRead < end - start) throw new Error(`it ends ${end - start - bytesRead} bytes early`);
        return buffer.buffer;
      },
    });
  } finally {
    await file.close();
  }
};

const heldWhole = async (part: TextPart): Promise<FileRanges> => {
  const pieces: Buffer[] = [];
  for await (const piece of part.unpacked()) pieces.push(piece);
  const { buffer } = Uint8Array.from(Buffer.concat(pieces));
  return { byteLength: buffer.byteLength, slice: async (start, end) => buffer.slice(start, end) };
};

/** Reports errors that a package throws for a file as damage of the file. */
export const orDamaged = async <T>(part: TextPart, what: string, read: () => T | Promise<T>): Promise<T> => {
  try {
    return await read();
  } catch (error) {
    throw importDamaged(part.name, what, error);
  }
};
