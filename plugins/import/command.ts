/**
 * `sluice import`: turns recordings into a fixture, or adds them to one.
 *
 * Invariants: with `--json` exactly one JSON object goes to stdout; errors are thrown as they are and printed by
 * main.ts; Ctrl-C leaves the fixture as it was.
 */
import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import { SluiceError } from "sluice";
import {
  type CliIo,
  type Clock,
  createSystemClock,
  defineCommand,
  duration,
  fixtureSummary,
  percent,
  transientLine,
  wholeIn,
} from "sluice/extension";
import { disorderBounds, explainImport, type ImportMarketOptions, importMarket } from "./import-market.ts";
import type { Layout } from "./table/layout.ts";

interface ImportParts {
  readonly clock?: Clock;
}

/** Patterns of file names and their instruments; an empty pattern matches all files. */
type Instruments = readonly (readonly [string, string])[];

interface Given {
  readonly instrument?: Instruments;
  readonly out?: string;
  readonly explain?: true;
  readonly market?: "spot" | "swap";
  readonly layout?: string;
  readonly timestamp?: "open" | "close";
  readonly tickSize?: string;
  readonly lotSize?: string;
  readonly contractSize?: string;
  readonly symbol?: string;
  readonly disorderMs: number;
  readonly axis: "receive" | "exchange";
  readonly terms?: string[];
  readonly anchor?: string;
  readonly zone?: string;
  readonly offGrid?: "drop" | "shift";
  readonly anyTime?: true;
  readonly force?: boolean;
  readonly json?: true;
}

const addImportCommand = (program: Command, io: CliIo, parts: ImportParts = {}): void => {
  program
    .command("import")
    .description(
      "Turn recordings (websocket messages, or bars, trades, best prices or books as CSV or JSON) into a fixture, or add them to one.",
    )
    .argument("<files...>", "recordings: files, folders, or patterns such as 'data/BTCUSDT-1m-*.zip'")
    .option(
      "--instrument <id>",
      "instrument of all files, or of some: 'BTCUSDT-*=BTC-USDT-SWAP'; else from their names",
      instrumentOf,
    )
    .addOption(new Option("--market <kind>", "what names such as BTCUSDT mean").choices(["spot", "swap"]))
    .option("--out <dir>", "folder of the fixture; what it holds stays")
    .option("--explain", "print how the files would be read and their first rows; write nothing")
    .option(
      "--layout <name>",
      "layout of the files, where it is not detected: a name, or a .json file that describes one",
    )
    .addOption(
      new Option("--timestamp <edge>", "candles: what a row's timestamp marks (default: by the layout)").choices([
        "open",
        "close",
      ]),
    )
    .option("--tick-size <step>", "price step; found from the data when left out")
    .option("--lot-size <step>", "quantity step; found from the data when left out")
    .option("--contract-size <size>", "base currency in one contract, where the file counts contracts")
    .option("--symbol <symbol>", "which symbol to take from a recording of several")
    .option("--disorder-ms <n>", "maximum disorder of timestamps that is sorted", wholeIn(disorderBounds), 1_000)
    .addOption(
      new Option("--axis <clock>", "timestamp to use, where a file has both")
        .choices(["receive", "exchange"])
        .default("receive"),
    )
    .option("--terms <file...>", "funding rates, mark prices and rule changes to merge in (CSV or JSON lines)")
    .option(
      "--anchor <time>",
      "candles: time of day at which days begin, such as 17:00, or shorter bars, such as 00:30",
    )
    .option("--zone <name>", "candles: zone of their days, weeks or months, such as America/New_York")
    .addOption(
      new Option("--off-grid <how>", "candles off the grid of the others: leave them out, or move them").choices([
        "drop",
        "shift",
      ]),
    )
    .option("--any-time", "take bars shorter than a second and times in the future")
    .option("--force", "replace rows of the same instrument and time that --out holds")
    .option("--json", "print one JSON object")
    .action((files: readonly string[], given: Given) => runImport(files, given, io, parts));
};

/** `PATTERN=ID`, or `ID` for all. */
const instrumentOf = (text: string, before: Instruments = []): Instruments => {
  const split = text.lastIndexOf("=");
  if (split === 0 || split === text.length - 1) throw new InvalidArgumentError("Write ID or PATTERN=ID.");
  return [...before, [text.slice(0, Math.max(0, split)), text.slice(split + 1)]];
};

const runImport = async (
  files: readonly string[],
  given: Given,
  io: CliIo,
  { clock = createSystemClock() }: ImportParts,
): Promise<void> => {
  const { json, layout, instrument: instruments = [], out, explain, force, ...rest } = given;
  const line = transientLine(io, clock);
  const stop = new AbortController();
  const startedAt = clock.now();
  const all = instruments.filter(([pattern]) => pattern === "").at(-1)?.[1];
  const options: Omit<ImportMarketOptions, "out"> = {
    ...rest,
    files,
    instruments: Object.fromEntries(instruments.filter(([pattern]) => pattern !== "")),
    ...(all !== undefined && { instrument: all }),
    ...(layout !== undefined && { layout: layoutOf(layout) }),
    signal: stop.signal,
    onProgress: ({ file, bytes, ofBytes }) => {
      line.show(() => `${percent(bytes, ofBytes)} read${leftOf(clock.now() - startedAt, bytes, ofBytes)}  ${file}`);
    },
  };
  const leave = io.onStop(() => stop.abort());
  const done = (): void => {
    leave();
    line.clear();
  };
  if (explain === true) return io.out(await explainImport(options).finally(done));
  if (out === undefined)
    throw new SluiceError(
      "USAGE",
      "--out is missing: name the folder of the fixture, or look at the files with --explain.",
    );
  const written = await importMarket({ ...options, out, ...(force !== undefined && { force }) }).finally(done);
  io.out(fixtureSummary(written, json === true));
};

/** Returns the estimated time left; empty until there is enough progress for an estimate. */
const leftOf = (elapsedMs: number, bytes: number, ofBytes: number): string =>
  bytes === 0 || elapsedMs < 1_000 ? "" : `, ${duration((elapsedMs / bytes) * (ofBytes - bytes))} left`;

/** Returns a name of the table, or the description in a file of its own. */
const layoutOf = (given: string): string | Layout => {
  if (!given.endsWith(".json")) return given;
  try {
    return JSON.parse(readFileSync(given, "utf8")) as Layout;
  } catch (error) {
    throw new SluiceError("USAGE", `--layout: ${given} cannot be read: ${(error as Error).message}.`);
  }
};

export default defineCommand("import", addImportCommand);
