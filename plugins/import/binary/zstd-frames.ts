/**
 * Unpacks all frames of a zstd file: the platform's unpacker stops after the first without an error.
 *
 * Invariants: every frame is unpacked; a file that ends within a frame, or continues with other data, is an error; at
 * most a block and a piece of the file are held.
 */
import { pipeline, Readable, type Transform } from "node:stream";

export const unpackedFrames = async function* (
  source: AsyncIterable<Buffer>,
  unpacker: () => Transform,
): AsyncGenerator<Buffer> {
  const bytes = new Bytes(source[Symbol.asyncIterator]());
  while (await bytes.has(4)) {
    const magic = (await bytes.take(4)).readUInt32LE();
    if (magic >>> 4 === skippable) await bytes.take((await bytes.take(4)).readUInt32LE());
    else if (magic === frameMagic)
      yield* pipeline(Readable.from(frameOf(bytes)), unpacker(), () => undefined) as Readable;
    else throw new Error("after a frame it continues with something else");
  }
  if (await bytes.has(1)) throw new Error("after a frame it continues with something else");
};

const [frameMagic, skippable] = [0xfd2fb528, 0x184d2a5] as const;
const runOfOneByte = 1;

/** The bytes of a frame whose mark was read: its header, its blocks, its checksum. */
const frameOf = async function* (bytes: Bytes): AsyncGenerator<Buffer> {
  const mark = Buffer.alloc(4);
  mark.writeUInt32LE(frameMagic);
  yield mark;
  const descriptor = await bytes.take(1);
  yield descriptor;
  const flags = descriptor[0] as number;
  const isSingle = (flags & 32) !== 0;
  const sizes = [isSingle ? 1 : 0, 2, 4, 8];
  yield bytes.take((isSingle ? 0 : 1) + ([0, 1, 2, 4][flags & 3] as number) + (sizes[flags >> 6] as number));
  for (let isLast = false; !isLast; ) {
    const head = await bytes.take(3);
    yield head;
    const value = head.readUIntLE(0, 3);
    isLast = (value & 1) === 1;
    yield bytes.take(((value >> 1) & 3) === runOfOneByte ? 1 : value >> 3);
  }
  if ((flags & 4) !== 0) yield bytes.take(4);
};

class Bytes {
  readonly #source: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterator<Buffer>) {
    this.#source = source;
  }

  async has(count: number): Promise<boolean> {
    while (this.#held.length < count) {
      const next = await this.#source.next();
      if (next.done === true) return false;
      this.#held = Buffer.concat([this.#held, next.value]);
    }
    return true;
  }

  async take(count: number): Promise<Buffer> {
    if (!(await this.has(count))) throw new Error(`it ends ${count - this.#held.length} bytes early`);
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }
}
