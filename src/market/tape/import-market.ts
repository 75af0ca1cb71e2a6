/**
 * Import of a recording made elsewhere, as programs and `sluice import` ask for it.
 *
 * Invariants: options are checked before anything is read; what is needed to read a recording is loaded when one is read.
 * Not here: reading (read-recording.ts), writing (fixture.ts).
 */
import { checkOptions, type OptionRules } from "../../contract/option-check.ts";
import type { FixtureManifest, WriteOptions } from "./fixture.ts";
import type { RecordingOptions } from "./read-recording.ts";
import { checkedLayout } from "./table/layout.ts";

/** Options of `importMarket`: those of the command `import`. */
export interface ImportMarketOptions extends RecordingOptions, WriteOptions {
  /** Folder of the new fixture. */
  readonly out: string;
}

/** The folder of a fixture that was written, and what is in it: what `--json` prints. */
export interface WrittenFixture extends FixtureManifest {
  readonly fixture: string;
}

export const disorderBounds = { least: 0, most: 999_999_999, what: "whole milliseconds" };

const text = { type: "string" };
const rules: OptionRules = {
  required: ["file", "instrument", "out"],
  wholes: { disorderMs: disorderBounds },
  others: {
    file: text,
    instrument: text,
    out: text,
    timestamp: { enum: ["open", "close"] },
    tickSize: text,
    lotSize: text,
    symbol: text,
    axis: { enum: ["receive", "exchange"] },
    layout: {},
    contractSize: text,
    onRead: {},
    terms: { type: "array", items: text },
    force: { type: "boolean" },
  },
};

/**
 * Turns a recording (websocket messages, or rows of bars, trades, best prices or books) into a fixture. Steps are decimal text. Throws `USAGE`,
 * `IMPORT_INVALID` or, where the folder holds a fixture and `force` is not given, what `writeFixture` throws.
 */
export const importMarket = async (options: ImportMarketOptions): Promise<WrittenFixture> => {
  checkOptions("importMarket", rules, options);
  if (typeof options.layout === "object") checkedLayout(options.layout, "importMarket.layout");
  const { importRecording } = await import("./import.ts");
  return { fixture: options.out, ...(await importRecording(options)) };
};
