/**
 * `sluice import`: turns a recording into a fixture.
 *
 * Invariants: with `--json` exactly one JSON object goes to stdout; errors are thrown as they are and printed by main.ts.
 */
import { type Command, Option } from "commander";
import { disorderBounds, importMarket } from "../market/tape/import-market.ts";
import { fixtureSummary } from "./fixture-summary.ts";
import type { CliIo } from "./io.ts";
import { wholeIn } from "./option-values.ts";

interface Given {
  readonly instrument: string;
  readonly out: string;
  readonly timestamp: "open" | "close";
  readonly tickSize?: string;
  readonly lotSize?: string;
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
    .description("Turn a recording (websocket messages or candle CSV, plain or .gz) into a fixture.")
    .argument("<file>", "the recording")
    .requiredOption("--instrument <instId>", "instrument id, such as BTC-USDT-SWAP")
    .requiredOption("--out <dir>", "folder of the new fixture")
    .addOption(new Option("--timestamp <edge>", "candles: what a row's timestamp marks").choices(["open", "close"]).default("open"))
    .option("--tick-size <step>", "price step; found from the data when left out")
    .option("--lot-size <step>", "quantity step; found from the data when left out")
    .option("--symbol <symbol>", "which symbol to take from a recording of several")
    .option("--disorder-ms <n>", "how far receive times may fall back and still be sorted", wholeIn(disorderBounds), 1_000)
    .addOption(new Option("--axis <clock>", "messages: whose time dates the rows").choices(["receive", "exchange"]).default("receive"))
    .option("--terms <file...>", "funding rates, mark prices and rule changes to merge in (CSV or JSON lines)")
    .option("--force", "replace the fixture that --out holds")
    .option("--json", "print one JSON object")
    .action(async (file: string, { json, ...given }: Given) => {
      io.out(fixtureSummary(await importMarket({ file, ...given }), json === true));
    });
};
