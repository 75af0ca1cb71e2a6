/**
 * Help texts of the commands: group, one-line summary, and examples.
 *
 * Invariants: every command has its row; examples are commands that the command line takes.
 * Not here: what a command does and which options it has (one file each), the order of commands (main.ts).
 */
import { type Command, Help } from "commander";
import type { CommandRow } from "./plugin-manifest.ts";

const [research, trading, data, services] = ["Research:", "Trading:", "Market data:", "Services and tests:"] as const;

export const coreRows: Readonly<Record<string, CommandRow>> = {
  init: { group: research, usage: "[options] [dir]", summary: "write a new project", examples: ["init ../demo"] },
  backtest: {
    group: research,
    usage: "[options] <config>",
    summary: "replay a recorded market and report",
    examples: [
      "backtest config/backtest.ts",
      "backtest config/backtest.ts --fixture out/market --html out/report.html",
    ],
  },
  sweep: {
    group: research,
    usage: "[options] <config>",
    summary: "run with varied options, and compare",
    examples: [
      'sweep config/backtest.ts --vary "ladder.levels=1..5" --vary "ladder.step=0.0005,0.001" --folds 3',
      'sweep config/backtest.ts --vary "ladder.levels=1..20" --out out/sweep --html out/sweep.html',
      'sweep config/backtest.ts --vary "ladder.levels=1..20" --workers redis://10.0.0.5:6379 --out out/sweep',
    ],
  },
  worker: {
    group: research,
    usage: "[options] [configs...]",
    summary: "run jobs of sweeps and simulations from a queue",
    examples: [
      "worker --queue redis://10.0.0.5:6379 --fixtures https://fixtures.example.com/markets",
      "worker --queue env:SLUICE_QUEUE --jobs 8",
    ],
  },
  ui: {
    group: research,
    usage: "[options] [what...]",
    summary: "play a recorded run in a browser",
    examples: ["ui config/backtest.ts", "ui out/session", "ui config/backtest.ts --seed 17"],
  },
  run: {
    group: trading,
    usage: "[options] <config>",
    summary: "trade in real time, on paper or live",
    examples: ["run config/paper.ts --ui", "run config/testnet.ts --seconds 600"],
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
  halt: {
    group: trading,
    usage: "[options]",
    summary: "halt all engines that share a quota",
    examples: ["halt --everywhere redis://10.0.0.5:6379 --group desk --reason maintenance"],
  },
  quota: {
    group: trading,
    usage: "[options] <store>",
    summary: "show the use of a shared quota by engine",
    examples: ["quota redis://10.0.0.5:6379 --group desk"],
  },
  ctl: {
    group: trading,
    usage: "[options]",
    summary: "monitor and control a running engine",
    examples: ["ctl status", "ctl halt --reason lunch", "ctl cancel --strategy ladder"],
  },
  generate: {
    group: data,
    usage: "[options]",
    summary: "make a synthetic market",
    examples: ["generate --out out/market --instrument BTC-USDT-SWAP --minutes 1440 --seed 7"],
  },
  simulate: {
    group: services,
    usage: "[options] <config>",
    summary: "run with faults of service, network and disk",
    examples: ["simulate config/backtest.ts --seeds 50", "simulate config/backtest.ts --seed 17 --trace"],
  },
};

/** Gives the commands of a program that stand in the table their group, summary and examples. */
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
