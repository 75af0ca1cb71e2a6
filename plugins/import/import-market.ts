/**
 * Import of recordings made elsewhere, used by programs and by `sluice import`.
 *
 * Invariants: options are checked before anything is read; the readers are loaded on first use.
 * Not here: reading and joining (import.ts), the description of an import (import-explanation.ts).
 */

import { SluiceError } from "sluice";
import type { WrittenFixture } from "sluice/backtest";
import { checkOptions, type OptionRules, type WriteOptions } from "sluice/extension";
import { checkedLayout } from "./table/layout.ts";
import type { ReadOptions } from "./tape-import.ts";

/** Options of `importMarket`: those of the command `import`. */
export interface ImportMarketOptions extends Omit<ReadOptions, "files">, WriteOptions {
  /** One file; or `files`. */
  readonly file?: string;
  /** Files, folders, and patterns with `*`, `?` and `**`, all of which go into the one fixture. */
  readonly files?: readonly string[];
  /**
   * Folder of the fixture. One that is there is added to; rows of the same instrument and time are replaced only with
   * `force`.
   */
  readonly out: string;
}

export const disorderBounds = { least: 0, most: 999_999_999, what: "whole milliseconds" };

const text = { type: "string" };
const texts = { type: "array", items: text };
const readRules: OptionRules = {
  wholes: { disorderMs: disorderBounds },
  others: {
    file: text,
    files: texts,
    instrument: text,
    instruments: { type: "object", additionalProperties: text },
    market: { enum: ["spot", "swap"] },
    layout: {},
    timestamp: { enum: ["open", "close"] },
    tickSize: text,
    lotSize: text,
    contractSize: text,
    symbol: text,
    axis: { enum: ["receive", "exchange"] },
    terms: texts,
    anchor: text,
    zone: text,
    offGrid: { enum: ["drop", "shift"] },
    anyTime: { type: "boolean" },
    now: { type: "number" },
    signal: {},
    onProgress: {},
  },
};
const rules: OptionRules = {
  ...readRules,
  required: ["out"],
  others: { ...readRules.others, out: text, force: { type: "boolean" } },
};

/**
 * Turns recordings (websocket messages, or rows of bars, trades, best prices or books) into a fixture, or adds them to
 * one. Steps are decimal text. Throws `USAGE` or `IMPORT_INVALID`, `STOPPED` where `signal` was aborted, and what
 * `writeFixture` throws; then the folder is as it was.
 */
export const importMarket = async (options: ImportMarketOptions): Promise<WrittenFixture> => {
  checkOptions("importMarket", rules, options);
  const { importRecordings } = await import("./tape-import.ts");
  return { fixture: options.out, ...(await importRecordings({ ...options, files: filesOf(options) })) };
};

/**
 * Describes the input of `importMarket` as lines of text: layouts, columns, instruments and the first rows. Nothing is
 * written.
 */
export const explainImport = async (options: Omit<ImportMarketOptions, "out" | "force">): Promise<string> => {
  checkOptions("explainImport", readRules, options);
  const { explanationOf } = await import("./import-explanation.ts");
  return explanationOf({ ...options, files: filesOf(options) });
};

const filesOf = ({ file, files = [], layout }: Omit<ImportMarketOptions, "out">): readonly string[] => {
  if (typeof layout === "object") checkedLayout(layout, "layout");
  const all = [...(file === undefined ? [] : [file]), ...files];
  if (all.length === 0) throw new SluiceError("USAGE", "importMarket: no file is named. Give file, or files.");
  return all;
};
