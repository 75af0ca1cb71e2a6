/**
 * `sluice halt --everywhere <store>`: halts or resumes every engine of a group that shares one quota, on every machine.
 *
 * Invariants: prints the state read back from the store; engines receive it within a second.
 * Not here: the halt of an engine (quota-group.ts); commands for one engine (sluice ctl, sluice close).
 */
import type { Command } from "commander";
import { SluiceError } from "sluice";
import { type CliIo, defineCommand, printable } from "sluice/extension";
import { withStore } from "./shared-store.ts";

interface Flags {
  readonly everywhere: string;
  readonly group: string;
  readonly reason?: string;
  readonly resume?: true;
}

const addHaltCommand = (program: Command, io: CliIo): void => {
  program
    .command("halt")
    .description(
      "Halt every engine of a group that shares one quota: they cancel their orders and place nothing until the group is resumed.",
    )
    .requiredOption("--everywhere <store>", "address of the group's store, such as redis://10.0.0.5:6379, or env:NAME")
    .requiredOption("--group <name>", "the group, as sharedQuota names it in the configs")
    .option("--reason <text>", "why, for the journals of the engines")
    .option("--resume", "end the halt; engines that halted for reasons of their own stay halted")
    .action(({ everywhere, group, reason = "sluice halt", resume }: Flags) =>
      withStore(everywhere, group, async (store) => {
        await store.halt(resume === true ? undefined : reason);
        const halted = await store.halted();
        const isDone = resume === true ? halted === undefined : halted === reason;
        if (!isDone)
          throw new SluiceError(
            "OUTCOME_UNKNOWN",
            `Another process has just halted or resumed group ${group}. Look with sluice quota.`,
          );
        const state = halted === undefined ? "may trade again" : `is halted: ${printable(halted)}`;
        io.out(`Group ${printable(group)} ${state}. Engines receive this within a second.\n`);
      }),
    );
};

export default defineCommand("halt", addHaltCommand);
