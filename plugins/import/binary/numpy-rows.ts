/**
 * Rows of a NumPy array: of records with named fields, or of a table of numbers without names.
 *
 * Invariants: rows are read in turn and never held; an array that ends early, or of values that are no numbers or
 * texts, is refused.
 * Not here: the meaning of columns (table/detect.ts), events of hftbacktest (event-rows.ts).
 */
import { importRefused, type TextPart } from "../byte-source.ts";
import type { RecordHandler } from "../table/text-rows.ts";
import { ByteQueue } from "./byte-queue.ts";
import { floatText, singleText } from "./cell-text.ts";

interface NumpyField {
  readonly name: string;
  readonly offset: number;
  readonly type: string;
}

export interface NumpyArray {
  /** Empty for a table of numbers. */
  readonly names: readonly string[];
  readonly fields: readonly NumpyField[];
  readonly rowBytes: number;
  readonly rows: number;
}

/** Calls `begin` with the description of the array, and the function it returns with each row's bytes and index. */
export const eachNumpyRecord = async (
  part: TextPart,
  begin: (array: NumpyArray) => (bytes: DataView, at: number, line: number) => void,
  onRead?: (bytes: number) => void,
): Promise<void> => {
  const queue = new ByteQueue(part, "NumPy data", onRead);
  const array = arrayOf(await headerOf(queue), part.name);
  const take = begin(array);
  for (let row = 0; row < array.rows; ) {
    const count = Math.min(rowsAtOnce, array.rows - row);
    const bytes = await queue.take(count * array.rowBytes);
    const view = new DataView(bytes.buffer);
    for (let index = 0; index < count; index++) take(view, index * array.rowBytes, row + index + 1);
    row += count;
  }
  if ((await queue.peek(1)).length > 0) throw queue.damaged("it continues after its last row");
};

const rowsAtOnce = 4_096;

/** The names of the fields of an array of records. */
export const numpyNames = async (part: TextPart): Promise<readonly string[]> => {
  const queue = new ByteQueue(part, "NumPy data");
  const { names } = arrayOf(await headerOf(queue), part.name);
  await queue.end();
  return names;
};

const headerOf = async (queue: ByteQueue): Promise<string> => {
  const start = await queue.peek(12);
  if (start.length < 12) throw queue.damaged("it ends within its header");
  const [length, prefix] = start[6] === 1 ? [start.readUInt16LE(8), 10] : [start.readUInt32LE(8), 12];
  const header = Buffer.from(await queue.take(prefix + length));
  return header.subarray(prefix).toString("utf8");
};

const fieldPattern = /\(\s*'([^']*)'\s*,\s*'([^']+)'\s*\)/g;

const arrayOf = (header: string, file: string): NumpyArray => {
  const refuse = (why: string) => importRefused(file, `a NumPy array ${why}`);
  const shape =
    /'shape':\s*\(([^)]*)\)/
      .exec(header)?.[1]
      ?.split(",")
      .flatMap((text) => (text.trim() === "" ? [] : [Number(text)])) ?? [];
  const [rows = 0, width = 1] = shape;
  const descr = /'descr':\s*(?:'([^']+)'|\[(.*?)\]\s*,\s*'fortran_order')/s.exec(header);
  const [plain, records] = [descr?.[1], descr?.[2]];
  if (plain !== undefined) {
    if (shape.length !== 2 || /'fortran_order':\s*True/.test(header)) throw refuse(`of shape (${shape.join(", ")})`);
    const size = sizeOf(plain) ?? 0;
    if (size === 0) throw refuse(`of values of type ${plain}`);
    return {
      names: [],
      fields: Array.from({ length: width }, (_, column) => ({ name: "", offset: column * size, type: plain })),
      rowBytes: width * size,
      rows,
    };
  }
  const fields: NumpyField[] = [];
  let rowBytes = 0;
  for (const [, name = "", type = ""] of (records ?? "").matchAll(fieldPattern)) {
    const size = /^\|V(\d+)$/.exec(type)?.[1] ?? sizeOf(type);
    if (size === undefined) throw refuse(`whose field "${name}" is of type ${type}`);
    if (name !== "") fields.push({ name, offset: rowBytes, type });
    rowBytes += Number(size);
  }
  if (shape.length !== 1 || fields.length === 0)
    throw refuse(`of shape (${shape.join(", ")}) and type ${(plain ?? records ?? "").slice(0, 60)}`);
  return { names: fields.map(({ name }) => name), fields, rowBytes, rows };
};

const readers: Readonly<Record<string, (view: DataView, at: number) => string>> = {
  "<f8": (view, at) => floatText(view.getFloat64(at, true)),
  "<f4": (view, at) => singleText(view.getFloat32(at, true)),
  "<i8": (view, at) => String(view.getBigInt64(at, true)),
  "<u8": (view, at) => String(view.getBigUint64(at, true)),
  "<i4": (view, at) => String(view.getInt32(at, true)),
  "<u4": (view, at) => String(view.getUint32(at, true)),
  "<i2": (view, at) => String(view.getInt16(at, true)),
  "<u2": (view, at) => String(view.getUint16(at, true)),
  "|i1": (view, at) => String(view.getInt8(at)),
  "|u1": (view, at) => String(view.getUint8(at)),
  "|b1": (view, at) => String(view.getUint8(at) !== 0),
};

/** Texts are of a fixed length, bytes or characters of four. */
const textType = /^[|<]([SU])(\d+)$/;
/** Instants of a unit of their own. */
const instantType = /^<M8\[(s|ms|us|ns)\]$/;

const sizeOf = (type: string): number | undefined => {
  if (readers[type] !== undefined) return Number(type.slice(2));
  const text = textType.exec(type);
  if (text !== null) return Number(text[2]) * (text[1] === "U" ? 4 : 1);
  return instantType.test(type) ? 8 : undefined;
};

const readerOf = (type: string): ((view: DataView, at: number) => string) => {
  const text = textType.exec(type);
  if (text === null) return readers[type] ?? (readers["<i8"] as (view: DataView, at: number) => string);
  const width = text[1] === "U" ? 4 : 1;
  const length = Number(text[2]);
  return (view, at) => {
    const codes = Array.from({ length }, (_, index) =>
      width === 4 ? view.getUint32(at + 4 * index, true) : view.getUint8(at + index),
    );
    return String.fromCodePoint(...codes.filter((code) => code !== 0)).trim();
  };
};

export const eachNumpyRow = (part: TextPart, handler: RecordHandler): Promise<void> =>
  eachNumpyRecord(
    part,
    ({ names, fields }) => {
      const columns = fields.map(({ offset, type }) => ({ offset, read: readerOf(type) }));
      const named = names.length === 0 ? {} : { names };
      return (view, at, line) =>
        handler.row({ line, cells: columns.map(({ offset, read }) => read(view, at + offset)), ...named });
    },
    (bytes) => handler.read?.(bytes),
  );
