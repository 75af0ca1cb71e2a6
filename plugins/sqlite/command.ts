/**
 * `sluice report --db <file>`: the report of what an engine stored, as a backtest makes it.
 *
 * Invariants: with --json stdout holds one JSON document and nothing else; the file is read and never changed.
 * Not here: what is stored (index.ts), figures (stored-run.ts).
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Command } from "commander";
import { isDecimal, isPositive, SluiceError } from "sluice";
import { reportText, tearsheet } from "sluice/backtest";
import { type CliIo, colourOf, defineCommand, jsonText, printable, returnsCsv, tradeCsv } from "sluice/extension";
import { storedRun } from "./stored-run.ts";

interface Flags {
  readonly db: string;
  readonly from?: number;
  readonly to?: number;
  readonly currency?: string;
  readonly capital?: string;
  readonly html?: string;
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
  program
    .command("report")
    .description("Report what an engine with the plugin sqlite has stored, in the way of a backtest.")
    .requiredOption("--db <file>", "file that the plugin has written")
    .option("--from <time>", "leave out what was before: a day, or a time in UTC", instantOf("--from"))
    .option("--to <time>", "leave out what came after", instantOf("--to"))
    .option("--currency <name>", "currency of all money; that of most fills when left out")
    .option("--capital <amount>", "what the equity begins with, for returns and percentages (10000)", capitalOf)
    .option("--html <file>", "write a tearsheet for a browser, one file that needs no network")
    .option("--trades <file>", "write every trade from flat to flat as CSV")
    .option("--trades-fifo <file>", "write trades as CSV with what closes matched to the oldest that is held")
    .option("--returns <file>", "write the returns that the statistics come from as CSV")
    .option("--json", "print the report as one JSON document")
    .action((flags: Flags) => {
      const { db, from, to, currency, capital } = flags;
      const { report, details } = storedRun(db, {
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
        ...(currency !== undefined && { currency }),
        ...(capital !== undefined && { capital }),
      });
      const files: readonly (readonly [string | undefined, () => string])[] = [
        [flags.html, () => tearsheet(report, details)],
        [flags.trades, () => tradeCsv(details.trades.position)],
        [flags.tradesFifo, () => tradeCsv(details.trades.fifo)],
        [flags.returns, () => returnsCsv(details.returns)],
      ];
      for (const [file, text] of files) {
        if (file === undefined) continue;
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, text());
        io.err(`${printable(`Wrote ${file}.`)}\n`);
      }
      io.out(flags.json ? `${jsonText(report)}\n` : reportText(report, { columns: io.columns, colour: colourOf(io) }));
    });
};

export default defineCommand("report", addReportCommand);
