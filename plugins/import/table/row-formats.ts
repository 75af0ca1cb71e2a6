/**
 * Reader of the records of a file in any format.
 */
import { formatOf, type RowFormat, type TextPart } from "../byte-source.ts";
import { eachRecord, type RecordHandler, type TextFormat } from "./text-rows.ts";

export type FileFormat = TextFormat | Exclude<RowFormat, "text">;

/** Passes all records of `part` to `handler` and returns their format. */
export const eachRow = async (part: TextPart, handler: RecordHandler): Promise<FileFormat> => {
  const format = await formatOf(part);
  if (format === "text") return eachRecord(part, handler);
  if (format === "parquet") await (await import("../binary/parquet-rows.ts")).eachParquetRow(part, handler);
  else if (format === "arrow") await (await import("../binary/arrow-rows.ts")).eachArrowRow(part, handler);
  else await (await import("../binary/numpy-rows.ts")).eachNumpyRow(part, handler);
  return format;
};
