/**
 * Rows of a Parquet file, with the names of its columns.
 *
 * Invariants: one group of rows is held at a time; decimals and instants are taken as the integers that the file holds,
 * never by way of a float or a date; columns that hold lists or records are left out.
 * Not here: the meaning of columns (table/detect.ts).
 */

import { optionalPackage } from "sluice/extension";
import type { TextPart } from "../byte-source.ts";
import type { RecordHandler } from "../table/text-rows.ts";
import {
  type CellAt,
  columnName,
  dayMs,
  fixedPoint,
  ofPresent,
  plainText,
  scaled,
  singleText,
  wholeOf,
} from "./cell-text.ts";
import { type FileRanges, orDamaged, withRanges } from "./file-ranges.ts";
import { brotli, gunzip, lz4Blocks, type Unpack, zstd } from "./unpackers.ts";

interface SchemaElement {
  readonly name: string;
  readonly type?: string;
  readonly type_length?: number;
  readonly num_children?: number;
  readonly repetition_type?: string;
  readonly converted_type?: string;
  readonly logical_type?: { readonly type: string; readonly scale?: number };
  readonly scale?: number;
}

interface Metadata {
  readonly schema: readonly SchemaElement[];
  readonly row_groups: readonly {
    readonly num_rows: bigint;
    readonly columns: readonly { readonly meta_data?: { readonly codec: string } }[];
  }[];
  readonly key_value_metadata?: readonly { readonly key: string; readonly value?: string }[];
}

type Values = ArrayLike<unknown>;

interface ReadOptions {
  readonly file: FileRanges;
  readonly metadata: Metadata;
  readonly columns: readonly string[];
  readonly rowStart: number;
  readonly rowEnd: number;
  readonly compressors: Readonly<Record<string, Unpack>>;
  readonly utf8: boolean;
  readonly parsers: { timestampFromNanoseconds(nanos: bigint): bigint };
  readonly onChunk: (chunk: { readonly columnName: string; readonly columnData: Values }) => void;
}

interface Hyparquet {
  readonly parquetMetadataAsync: (file: FileRanges) => Promise<Metadata>;
  readonly parquetRead: (options: ReadOptions) => Promise<void>;
}

export const eachParquetRow = async (part: TextPart, handler: RecordHandler): Promise<void> => {
  const { parquetMetadataAsync, parquetRead } = await optionalPackage<Hyparquet>(
    "hyparquet",
    "1",
    `${part.name}: Parquet files are read`,
  );
  await withRanges(part, async (file) => {
    const metadata = await orDamaged(part, what, () => parquetMetadataAsync(file));
    const columns = columnsOf(metadata);
    const names = columns.map(({ name }) => name);
    const shared = {
      file,
      // Without their types, integers come as they are stored.
      metadata: { ...metadata, schema: metadata.schema.map(withoutType) },
      columns: columns.map(({ stored }) => stored),
      compressors: await compressorsOf(metadata, part.name),
      utf8: false,
      parsers: { timestampFromNanoseconds: (nanos: bigint) => nanos },
    };
    const rows = metadata.row_groups.reduce((total, group) => total + Number(group.num_rows), 0);
    let rowStart = 0;
    for (const group of metadata.row_groups) {
      const rowEnd = rowStart + Number(group.num_rows);
      const chunks = new Map<string, Values[]>(shared.columns.map((name) => [name, []]));
      const onChunk: ReadOptions["onChunk"] = ({ columnName, columnData }) => chunks.get(columnName)?.push(columnData);
      await orDamaged(part, what, () => parquetRead({ ...shared, rowStart, rowEnd, onChunk }));
      const cells = columns.map(({ stored, text }) => cellsOf(chunks.get(stored) ?? [], text));
      for (let row = 0; row < rowEnd - rowStart; row++)
        handler.row({ line: rowStart + row + 1, cells: cells.map((at) => at(row)), names });
      rowStart = rowEnd;
      handler.read?.(Math.round(part.bytes * (rowEnd / rows)));
    }
  });
};

const what = "Parquet data";

interface ParquetColumn {
  readonly name: string;
  /** Its name in the file. */
  readonly stored: string;
  readonly text: (value: unknown) => string;
}

/** Returns the top-level columns. */
const columnsOf = ({ schema, key_value_metadata: pairs = [] }: Metadata): readonly ParquetColumn[] => {
  const facts = new Map(pairs.map(({ key, value = "" }) => [key, value]));
  const columns: ParquetColumn[] = [];
  const after = (index: number): number => {
    let next = index + 1;
    for (let child = schema[index]?.num_children ?? 0; child > 0; child--) next = after(next);
    return next;
  };
  for (let index = 1; index < schema.length; index = after(index)) {
    const element = schema[index] as SchemaElement;
    const name = columnName(element.name, isInstant(element));
    if (element.num_children === undefined && element.repetition_type !== "REPEATED" && name !== undefined)
      columns.push({ name, stored: element.name, text: textOf(element, facts) });
  }
  return columns;
};

/** The type of its values as far as it is more than how they are stored. */
const kindOf = ({ converted_type: converted = "", logical_type: logical }: SchemaElement): string =>
  logical?.type ?? converted;

const isInstant = (element: SchemaElement): boolean => /^(TIMESTAMP|DATE)/.test(kindOf(element));

const textOf = (element: SchemaElement, facts: ReadonlyMap<string, string>): ((value: unknown) => string) => {
  const { name, type, type_length: width = 0, logical_type: logical } = element;
  const kind = kindOf(element);
  const { scale = logical?.scale ?? 0 } = element;
  if (kind === "DECIMAL")
    return ofPresent((value) =>
      scaled(value instanceof Uint8Array ? wholeOf(value, "big") : BigInt(value as number), scale),
    );
  if (kind === "DATE") return ofPresent((value) => String((value as number) * dayMs));
  if (type === "FLOAT") return ofPresent((value) => singleText(value as number));
  const fixed = type === "FIXED_LEN_BYTE_ARRAY" && kind === "" ? fixedPoint(name, facts, width) : undefined;
  return fixed === undefined ? plainText : ofPresent((value) => fixed(value as Uint8Array));
};

const withoutType = (element: SchemaElement): SchemaElement => {
  const { converted_type: _converted, logical_type: _logical, ...rest } = element;
  return isInstant(element) || kindOf(element) === "DECIMAL" ? rest : element;
};

const cellsOf = (chunks: readonly Values[], text: (value: unknown) => string): CellAt => {
  let [chunk, from] = [0, 0];
  return (row) => {
    for (let values = chunks[chunk]; values !== undefined && row - from >= values.length; values = chunks[chunk]) {
      from += values.length;
      chunk++;
    }
    return text(chunks[chunk]?.[row - from]);
  };
};

const compressorsOf = async (
  { row_groups: groups }: Metadata,
  file: string,
): Promise<Readonly<Record<string, Unpack>>> => {
  const codecs = new Set(groups.flatMap(({ columns }) => columns.map(({ meta_data: data }) => data?.codec)));
  return {
    GZIP: gunzip,
    BROTLI: brotli,
    ...(codecs.has("ZSTD") && { ZSTD: await zstd(file) }),
    ...(codecs.has("LZ4_RAW") && { LZ4_RAW: await lz4Blocks(file) }),
  };
};
