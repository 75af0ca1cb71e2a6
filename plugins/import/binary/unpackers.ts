/**
 * Unpackers for blocks of binary files and for zstd files: those of the platform, and small packages for the rest.
 *
 * Invariants: a block that unpacks to another length than its file states is refused.
 */
import { Transform } from "node:stream";
import zlib from "node:zlib";
import { optionalPackage } from "sluice/extension";

/** Returns bytes that begin at the start of a buffer of their own, so that numbers in them are aligned. */
export type Unpack = (bytes: Uint8Array, length: number) => Uint8Array;

interface Lz4 {
  readonly decompressBlock: (from: Uint8Array, to: Uint8Array, start: number, length: number, at: number) => number;
  readonly decompressFrame: (from: Uint8Array, to: Uint8Array) => number;
}

interface Fzstd {
  readonly decompress: (bytes: Uint8Array) => Uint8Array;
  readonly Decompress: new (onData: (bytes: Uint8Array) => void) => { push(bytes: Uint8Array, isLast?: boolean): void };
}

/** Younger than the oldest Node that is supported. */
interface YoungZlib {
  readonly zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array;
  readonly createZstdDecompress?: () => Transform;
}
const { zstdDecompressSync, createZstdDecompress }: YoungZlib = zlib as YoungZlib;

const filled = (length: number, fill: (to: Uint8Array) => number): Uint8Array => {
  const to = new Uint8Array(length);
  const found = fill(to);
  if (found !== length) throw new Error(`a block unpacks to ${found} bytes and not to ${length}`);
  return to;
};

const copied =
  (unpack: (bytes: Uint8Array) => Uint8Array): Unpack =>
  (bytes, length) =>
    filled(length, (to) => {
      const found = unpack(bytes);
      if (found.length === length) to.set(found);
      return found.length;
    });

export const gunzip: Unpack = copied(zlib.gunzipSync);
export const brotli: Unpack = copied(zlib.brotliDecompressSync);

export const lz4Blocks = async (file: string): Promise<Unpack> => {
  const { decompressBlock } = await optionalPackage<Lz4>("lz4js", "0.2", `${file}: LZ4 blocks are read`);
  return (bytes, length) => filled(length, (to) => decompressBlock(bytes, to, 0, bytes.length, 0));
};

export const lz4Frames = async (file: string): Promise<Unpack> => {
  const { decompressFrame } = await optionalPackage<Lz4>("lz4js", "0.2", `${file}: LZ4 frames are read`);
  return (bytes, length) => filled(length, (to) => decompressFrame(bytes, to));
};

export const zstd = async (file: string): Promise<Unpack> => {
  if (zstdDecompressSync !== undefined) return copied(zstdDecompressSync);
  const { decompress } = await optionalPackage<Fzstd>("fzstd", "0.1", `${file}: ${zstdOnOldNode} are read`);
  return copied((bytes) => decompress(bytes));
};

/** The platform's own unpacker, of one frame; undefined on older platforms. */
export const zstdOfPlatform = createZstdDecompress;

/** Returns an unpacker for all frames of a file, of a package. */
export const zstdStream = async (file: string): Promise<Transform> =>
  streamOf((await optionalPackage<Fzstd>("fzstd", "0.1", `${file}: ${zstdOnOldNode} are read`)).Decompress);

const streamOf = (Decompress: Fzstd["Decompress"]): Transform => {
  const unpacker: InstanceType<typeof Decompress> = new Decompress((bytes) => {
    stream.push(bytes);
  });
  const attempt = (done: (error?: Error) => void, act: () => void): void => {
    try {
      act();
      done();
    } catch (error) {
      done(error as Error);
    }
  };
  const stream = new Transform({
    transform: (bytes: Uint8Array, _, done) => attempt(done, () => unpacker.push(bytes)),
    flush: (done) => attempt(done, () => unpacker.push(new Uint8Array(0), true)),
  });
  return stream;
};

const zstdOnOldNode = "zstd data on a Node before 22.15";
