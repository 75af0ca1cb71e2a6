/**
 * Help texts of the commands: group, one-line summary, and examples.
 *
 * Invariants: every command has its row; examples are commands that the command line takes.
 * Not here: what a command does and which options it has (one file each), the order of commands (main.ts).
 */
import { type Command, Help } from "commander";
import type { CommandRow } from "./plugin-manifest.ts";

const [research, trading, data] = ["Research:", "Trading:", "Market data:"] as const;

export const coreRows: Readonly<Record<string, CommandRow>> = {
  init: { group: research, usage: "[options] [dir]", summary: "write a new project", examples: ["init ../demo"] },
  backtest: {
    group: research,
    usage: "[options] <config>",
    summary: "replay a recorded market and report",
    examples: [
      "backtest config/backtest.ts",
      "backtest config/backtest.ts --fixture out/market --details out/run.json",
    ],
  },
  options: {
    group: research,
    usage: "[options] [names...]",
    summary: "list the options of strategies and plugins",
    examples: ["options", "options ladder kill-switch", "options strategies/my-strategy.ts"],
  },
  run: {
    group: trading,
    usage: "[options] <config>",
    summary: "trade in real time, on paper or live",
    examples: ["run config/paper.ts", "run config/testnet.ts --seconds 600"],
  },
  health: {
    group: trading,
    usage: "[options] <file>",
    summary: "check the health of a running engine",
    examples: ["health /run/sluice/health.json"],
  },
  close: {
    group: trading,
    usage: "[options] <config>",
    summary: "cancel everything and close all positions",
    examples: ["close config/testnet.ts"],
  },
  generate: {
    group: data,
    usage: "[options]",
    summary: "make a synthetic market",
    examples: ["generate --out out/market --instrument BTC-USDT-SWAP --minutes 1440 --seed 7"],
  },
};

/** Gives the commands of a program that are in the table their group, summary and examples. */
export const presentCommands = (program: Command, rows: Readonly<Record<string, CommandRow>>): void => {
  for (const command of program.commands) {
    const row = rows[command.name()];
    if (row === undefined) continue;
    command.helpGroup(row.group).summary(row.summary);
    command.addHelpText("after", `\nExamples:\n${row.examples.map((example) => `  sluice ${example}`).join("\n")}`);
  }
  // A command that is not loaded has no arguments yet, but its row has.
  program.configureHelp({
    subcommandTerm: (command) =>
      command.parent === program && rows[command.name()] !== undefined
        ? `${command.name()} ${rows[command.name()]?.usage ?? ""}`.trim()
        : new Help().subcommandTerm(command),
  });
};
