/**
 * `sluice report --db <file>`: the report of the stored data of an engine, in the form of a backtest's report.
 *
 * Invariants: with --json stdout holds one JSON document and nothing else; the file is read and never changed.
 * Not here: storing (index.ts), figures (stored-run.ts).
 */
import type { Command } from "commander";
import { isDecimal, isPositive, SluiceError } from "sluice";
import { reportText } from "sluice/backtest";
import {
  addReportExporters,
  type CliIo,
  checkPlace,
  colourOf,
  defineCommand,
  jsonText,
  printable,
  type ReportFile,
  returnsCsv,
  tradeCsv,
  writeReportFiles,
} from "sluice/extension";
import { storedRun } from "./stored-run.ts";

interface Flags {
  readonly db: string;
  readonly from?: number;
  readonly to?: number;
  readonly currency?: string;
  readonly capital?: string;
  readonly trades?: string;
  readonly tradesFifo?: string;
  readonly returns?: string;
  readonly json?: true;
}

/** An instant in UTC: a day, a time, or milliseconds. */
const instantOf =
  (name: string) =>
  (text: string): number => {
    const at = /^\d{11,}$/.test(text)
      ? Number(text)
      : Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(text) || !text.includes("T") ? text : `${text}Z`);
    if (!Number.isFinite(at))
      throw new SluiceError(
        "USAGE",
        `${name}: "${text}" is no time. Write a day (2024-03-01) or a time in UTC (2024-03-01T12:00:00Z).`,
      );
    return at;
  };

const capitalOf = (text: string): string => {
  if (!isDecimal(text) || !isPositive(text))
    throw new SluiceError("USAGE", `--capital: "${text}" is no amount above zero. Write it as 10000.`);
  return text;
};

const addReportCommand = (program: Command, io: CliIo): void => {
  const command = program
    .command("report")
    .description("Report what an engine with the plugin sqlite has stored, in the way of a backtest.")
    .requiredOption("--db <file>", "file that the plugin has written")
    .option("--from <time>", "leave out what was before: a day, or a time in UTC", instantOf("--from"))
    .option("--to <time>", "leave out what came after", instantOf("--to"))
    .option("--currency <name>", "currency of all money; that of most fills when left out")
    .option("--capital <amount>", "what the equity begins with, for returns and percentages (10000)", capitalOf)
    .option("--trades <file>", "write every trade from flat to flat as CSV")
    .option("--trades-fifo <file>", "write trades as CSV with what closes matched to the oldest that is held")
    .option("--returns <file>", "write the returns that the statistics come from as CSV")
    .option("--json", "print the report as one JSON document");
  const exportersOf = addReportExporters(command);
  command.action(async (flags: Flags) => {
    const { db, from, to, currency, capital } = flags;
    const files = [...(await exportersOf(flags)), ...filesOf(flags)];
    for (const { file } of files) checkPlace(file);
    const { report, details } = storedRun(db, {
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(currency !== undefined && { currency }),
      ...(capital !== undefined && { capital }),
    });
    for (const file of await writeReportFiles(files, report, details)) io.err(`${printable(`Wrote ${file}.`)}\n`);
    io.out(flags.json ? `${jsonText(report)}\n` : reportText(report, { columns: io.columns, colour: colourOf(io) }));
  });
};

/** Files of the command's own options. */
const filesOf = ({ trades, tradesFifo, returns }: Flags): readonly ReportFile[] => {
  const named: readonly (readonly [string | undefined, ReportFile["contents"]])[] = [
    [trades, (_, details) => tradeCsv(details.trades.position)],
    [tradesFifo, (_, details) => tradeCsv(details.trades.fifo)],
    [returns, (_, details) => returnsCsv(details.returns)],
  ];
  return named.flatMap(([file, contents]) => (file === undefined ? [] : [{ file, contents }]));
};

export default defineCommand("report", addReportCommand);
