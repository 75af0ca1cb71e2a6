/**
 * The batches of rows of an Arrow file or stream, each as a small file or stream of its own.
 *
 * Invariants: one batch is held at a time, with the dictionaries before it; bytes begin at the start of a buffer of
 * their own, so that numbers in them are aligned; a file that ends early is refused.
 * Not here: contents of a batch (arrow-rows.ts).
 */
import { importDamaged, type TextPart } from "../byte-source.ts";
import { ByteQueue } from "./byte-queue.ts";
import { type FileRanges, withRanges } from "./file-ranges.ts";

/** `readBytes`: how much of the file was read by then. */
type Take = (batch: Uint8Array, readBytes: number) => Promise<void>;

const magic = "ARROW1";

export const eachArrowBatch = async (part: TextPart, take: Take): Promise<void> => {
  const start = new ByteQueue(part, "Arrow data");
  const isFile = (await start.peek(magic.length)).toString("latin1") === magic;
  await start.end();
  if (!isFile) return eachOfStream(part, take);
  await withRanges(part, (file) => eachOfFile(part, file, take));
};

const damaged = (part: TextPart, why: string): Error => importDamaged(part.name, "Arrow data", new Error(why));

/**
 * Returns the offset of a field of a FlatBuffers table; 0 where it has none. It is read from the layout of the table.
 */
const fieldAt = (bytes: Buffer, field: number): number => {
  const table = bytes.readInt32LE();
  const layout = table - bytes.readInt32LE(table);
  const place = field < bytes.readUInt16LE(layout) ? bytes.readUInt16LE(layout + field) : 0;
  return place === 0 ? 0 : table + place;
};

const [recordBatch, kindField, bodyField] = [3, 6, 10] as const;

const eachOfStream = async (part: TextPart, take: Take): Promise<void> => {
  let readBytes = 0;
  const queue = new ByteQueue(part, "Arrow data", (bytes) => {
    readBytes = bytes;
  });
  const before: Uint8Array[] = [];
  for (;;) {
    const start = await queue.peek(8);
    if (start.length === 0) return;
    if (start.length < 8 || start.readInt32LE() !== -1)
      throw queue.damaged("a message begins with something else than its mark");
    const length = start.readInt32LE(4);
    if (length === 0) return;
    const head = (await queue.peek(8 + length)).subarray(8);
    if (length < 0 || head.length < length) throw queue.damaged("it ends within the description of a message");
    const [kindAt, bodyAt] = [fieldAt(head, kindField), fieldAt(head, bodyField)];
    const bytes = await queue.take(8 + length + (bodyAt === 0 ? 0 : Number(head.readBigInt64LE(bodyAt))));
    if (head.readUInt8(kindAt) === recordBatch) await take(joined([...before, bytes]), readBytes);
    else before.push(bytes);
  }
};

const joined = (pieces: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(pieces.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
};

/** A message in a file: where it is, how long its description and its body are. */
interface Block {
  /** Offset of the block's entry in the footer. */
  readonly entry: number;
  readonly offset: number;
  readonly length: number;
}

const [dictionariesField, batchesField, blockBytes] = [8, 10, 24] as const;

/** Each batch with a footer that knows of no other. */
const eachOfFile = async (part: TextPart, file: FileRanges, take: Take): Promise<void> => {
  const read = async (start: number, end: number): Promise<Buffer> => Buffer.from(await file.slice(start, end));
  const size = file.byteLength;
  const end = await read(Math.max(0, size - 10), size);
  const length = end.length < 10 ? 0 : end.readInt32LE();
  if (end.subarray(4).toString("latin1") !== magic || length <= 0 || length > size - 18)
    throw damaged(part, "its end is missing");
  const footer = await read(size - 10 - length, size - 10);
  const [dictionaries, batches] = [blocksOf(footer, dictionariesField), blocksOf(footer, batchesField)];
  if (
    [...dictionaries, ...batches].some(
      (block) => block.offset < 0 || block.length < 0 || block.offset + block.length > size,
    )
  )
    throw damaged(part, "its footer points outside of it");
  for (const batch of batches) {
    const needed = [...dictionaries.filter(({ offset }) => offset < batch.offset), batch];
    const messages = await Promise.all(needed.map(({ offset, length: bytes }) => read(offset, offset + bytes)));
    await take(fileOf(footer, needed, messages), batch.offset + batch.length);
  }
};

/** The blocks of a list in the footer. */
const blocksOf = (footer: Buffer, field: number): readonly Block[] => {
  const at = fieldAt(footer, field);
  if (at === 0) return [];
  const list = at + footer.readUInt32LE(at);
  return Array.from({ length: footer.readInt32LE(list) }, (_, index) => {
    const entry = list + 4 + index * blockBytes;
    const [offset, head, body] = [
      footer.readBigInt64LE(entry),
      footer.readInt32LE(entry + 8),
      footer.readBigInt64LE(entry + 16),
    ];
    return { entry, offset: Number(offset), length: head + Number(body) };
  });
};

const fileOf = (footer: Buffer, blocks: readonly Block[], messages: readonly Buffer[]): Uint8Array => {
  const own = Buffer.from(footer);
  const setCount = (field: number, count: number): number => {
    const at = fieldAt(own, field);
    if (at === 0) return 0;
    own.writeInt32LE(count, at + own.readUInt32LE(at));
    return at + own.readUInt32LE(at) + 4;
  };
  const firstBatch = setCount(batchesField, 1);
  const firstDictionary = setCount(dictionariesField, blocks.length - 1);
  let offset = 8;
  const parts: Uint8Array[] = [Buffer.from(`${magic}\0\0`)];
  for (const [index, block] of blocks.entries()) {
    const entry = index === blocks.length - 1 ? firstBatch : firstDictionary + index * blockBytes;
    footer.copy(own, entry, block.entry, block.entry + blockBytes);
    own.writeBigInt64LE(BigInt(offset), entry);
    const padding = Buffer.alloc(-(messages[index] as Buffer).length & 7);
    parts.push(messages[index] as Buffer, padding);
    offset += (messages[index] as Buffer).length + padding.length;
  }
  const ends = Buffer.alloc(4);
  ends.writeInt32LE(own.length);
  return joined([...parts, own, ends, Buffer.from(magic)]);
};
