/**
 * `sluice import`: turns a recording into a fixture.
 *
 * Invariants: with `--json` exactly one JSON object goes to stdout; errors are thrown as they are and printed by main.ts.
 */
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { SluiceError } from "../errors.ts";
import { disorderBounds, importMarket } from "../market/tape/import-market.ts";
import type { Layout } from "../market/tape/table/layout.ts";
import { fixtureSummary } from "./fixture-summary.ts";
import type { CliIo } from "./io.ts";
import { wholeIn } from "./option-values.ts";

interface Given {
  readonly instrument: string;
  readonly out: string;
  readonly layout?: string;
  readonly timestamp?: "open" | "close";
  readonly tickSize?: string;
  readonly lotSize?: string;
  readonly contractSize?: string;
  readonly symbol?: string;
  readonly disorderMs: number;
  readonly axis: "receive" | "exchange";
  readonly terms?: string[];
  readonly force?: boolean;
  readonly json?: true;
}

export const addImportCommand = (program: Command, io: CliIo): void => {
  program
    .command("import")
    .description("Turn a recording (websocket messages, or bars, trades, best prices or books as CSV or JSON) into a fixture.")
    .argument("<file>", "the recording")
    .requiredOption("--instrument <instId>", "instrument id, such as BTC-USDT-SWAP")
    .requiredOption("--out <dir>", "folder of the new fixture")
    .option("--layout <name>", "layout of the file, where it is not found by itself: a name, or a .json file that describes one")
    .addOption(
      new Option("--timestamp <edge>", "candles: what a row's timestamp marks (default: as the layout says)").choices(["open", "close"]),
    )
    .option("--tick-size <step>", "price step; found from the data when left out")
    .option("--lot-size <step>", "quantity step; found from the data when left out")
    .option("--contract-size <size>", "base currency in one contract, where the file counts contracts")
    .option("--symbol <symbol>", "which symbol to take from a recording of several")
    .option("--disorder-ms <n>", "how far times may fall back and still be sorted", wholeIn(disorderBounds), 1_000)
    .addOption(new Option("--axis <clock>", "messages: whose time dates the rows").choices(["receive", "exchange"]).default("receive"))
    .option("--terms <file...>", "funding rates, mark prices and rule changes to merge in (CSV or JSON lines)")
    .option("--force", "replace the fixture that --out holds")
    .option("--json", "print one JSON object")
    .action(async (file: string, { json, layout, ...given }: Given) => {
      const options = { file, ...given, ...(layout !== undefined && { layout: layoutOf(layout) }) };
      io.out(fixtureSummary(await importMarket(options), json === true));
    });
};

/** A name of the table, or a description in a file of its own. */
const layoutOf = (given: string): string | Layout => {
  if (!given.endsWith(".json")) return given;
  try {
    return JSON.parse(readFileSync(given, "utf8")) as Layout;
  } catch (error) {
    throw new SluiceError("USAGE", `--layout: ${given} cannot be read: ${(error as Error).message}.`);
  }
};
