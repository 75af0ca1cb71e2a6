/**
 * Rows of an Arrow file or stream, which Feather is, with the names of its columns.
 *
 * Invariants: one batch of rows is held at a time, and the dictionaries before it; decimals and instants are taken as
 * the integers that the file holds; columns that hold lists or records are left out; a file that ends early is refused.
 * Not here: the meaning of columns (table/detect.ts).
 */

import { SluiceError } from "sluice";
import { optionalPackage } from "sluice/extension";
import { importDamaged, type TextPart } from "../byte-source.ts";
import type { RecordHandler } from "../table/text-rows.ts";
import { eachArrowBatch } from "./arrow-batches.ts";
import { type CellAt, columnName, fixedPoint, ofPresent, plainText, scaled, singleText } from "./cell-text.ts";
import { lz4Frames, zstd } from "./unpackers.ts";

interface ArrowType {
  readonly typeId: number;
  readonly precision?: number;
  readonly scale?: number;
  readonly stride?: number;
}

/** A column's share of a batch. */
interface Held {
  readonly values?: ArrayLike<unknown>;
  readonly offsets?: ArrayLike<unknown>;
}

interface Table {
  readonly numRows: number;
  readonly schema: {
    readonly fields: readonly { readonly name: string; readonly type: ArrowType }[];
    readonly metadata: ReadonlyMap<string, string> | null;
  };
  getChildAt(index: number): { readonly data: readonly Held[]; at(row: number): unknown };
}

interface Flechette {
  readonly Type: Readonly<Record<string, number>>;
  readonly CompressionType: Readonly<Record<"LZ4_FRAME" | "ZSTD", number>>;
  tableFromIPC(bytes: Uint8Array, options: Readonly<Record<string, boolean>>): Table;
  setCompressionCodec(type: number, codec: { decode(bytes: Uint8Array, length: number): Uint8Array }): void;
}

const exact = { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true, useDate: false };

export const eachArrowRow = async (part: TextPart, handler: RecordHandler): Promise<void> => {
  const arrow = await flechette(part.name);
  let rows = 0;
  await eachArrowBatch(part, async (batch, readBytes) => {
    const table = await tableOf(batch, arrow, part);
    if (!isWhole(table, (index) => table.getChildAt(index)))
      throw importDamaged(part.name, "Arrow data", new Error(`a batch claims ${table.numRows} rows`));
    const columns = columnsOf(table, arrow.Type);
    const names = columns.map(({ name }) => name);
    for (let row = 0; row < table.numRows; row++)
      handler.row({ line: ++rows, cells: columns.map(({ at }) => at(row)), names });
    handler.read?.(readBytes);
  });
};

/** Most Feather files are packed with LZ4: where both packages are missing, one line installs them. */
const flechette = async (file: string): Promise<Flechette> => {
  try {
    return await optionalPackage<Flechette>("@uwdata/flechette", "2.6", `${file}: Arrow and Feather files are read`);
  } catch (error) {
    const lacksLz4 = await lz4Frames(file).then(
      () => false,
      () => true,
    );
    if (!(error instanceof SluiceError) || !lacksLz4) throw error;
    throw new SluiceError(
      "PLATFORM_UNSUPPORTED",
      `${error.message} lz4js@0.2 (lz4js for files packed with LZ4, as pandas and freqtrade write them)`,
    );
  }
};

/** Parses a batch; the decompressor that it needs is loaded on first use. */
const tableOf = async (batch: Uint8Array, arrow: Flechette, part: TextPart): Promise<Table> => {
  try {
    return arrow.tableFromIPC(batch, exact);
  } catch (error) {
    const codec = /^Missing compression codec "(\w+)"/.exec((error as Error).message)?.[1];
    if (codec !== "LZ4_FRAME" && codec !== "ZSTD") throw importDamaged(part.name, "Arrow data", error);
    const decode = await (codec === "ZSTD" ? zstd : lz4Frames)(part.name);
    arrow.setCompressionCodec(arrow.CompressionType[codec], { decode });
  }
  return tableOf(batch, arrow, part);
};

/**
 * Returns true if the data of all rows can be complete: texts have one more offset than rows, flags take an eighth of a
 * value.
 */
const isWhole = ({ numRows, schema }: Table, child: Table["getChildAt"]): boolean =>
  schema.fields.every((_, index) =>
    child(index).data.every(
      ({ values, offsets }) => (offsets?.length ?? numRows + 1) > numRows && 8 * (values?.length ?? numRows) >= numRows,
    ),
  );

interface ArrowColumn {
  readonly name: string;
  readonly at: CellAt;
}

const columnsOf = (table: Table, type: Flechette["Type"]): readonly ArrowColumn[] => {
  const { fields, metadata } = table.schema;
  const nested = ["List", "Struct", "Union", "FixedSizeList", "Map", "LargeList", "ListView", "LargeListView"].map(
    (name) => type[name],
  );
  const instants = [type["Timestamp"], type["Date"]];
  return fields.flatMap(({ name, type: of }, index) => {
    const known = columnName(name, instants.includes(of.typeId));
    if (nested.includes(of.typeId) || known === undefined) return [];
    const column = table.getChildAt(index);
    const text = textOf(name, of, type, metadata ?? new Map());
    return [{ name: known, at: (row: number) => text(column.at(row)) }];
  });
};

const textOf = (
  name: string,
  { typeId, precision, scale = 0, stride = 0 }: ArrowType,
  type: Flechette["Type"],
  facts: ReadonlyMap<string, string>,
): ((value: unknown) => string) => {
  if (typeId === type["Decimal"]) return ofPresent((value) => scaled(BigInt(value as bigint), scale));
  if (typeId === type["Float"] && precision === single) return ofPresent((value) => singleText(value as number));
  const fixed = typeId === type["FixedSizeBinary"] ? fixedPoint(name, facts, stride) : undefined;
  return fixed === undefined ? plainText : ofPresent((value) => fixed(value as Uint8Array));
};

const single = 1;
