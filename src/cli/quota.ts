/**
 * `sluice quota <store>`: who holds what of a quota that several engines share, and whether the group is halted.
 *
 * Invariants: asks the store only and changes nothing; with --json stdout holds one document; a store that does not answer within five
 * seconds ends the command.
 * Not here: how the quota is divided (scheduler/shared/).
 */
import type { Command } from "commander";
import type { ScopeHolding } from "../scheduler/shared/claim.ts";
import { type CliIo, printable } from "./io.ts";
import { withStore } from "./shared-store.ts";

interface Flags {
  readonly group: string;
  readonly json?: true;
}

export const addQuotaCommand = (program: Command, io: CliIo): void => {
  program
    .command("quota")
    .description("Show who holds what of a quota that several engines share, and whether the group is halted.")
    .argument("<store>", "address of the store, such as redis://10.0.0.5:6379, or env:NAME for the variable that holds it")
    .requiredOption("--group <name>", "the group, as config.quota.shared names it")
    .option("--json", "print one JSON document")
    .action((address: string, { group, json }: Flags) =>
      withStore(address, group, async (store) => {
        const halted = await store.halted();
        const holdings = [...(await store.holdings())].sort((a, b) => b.window - a.window || (a.scope < b.scope ? -1 : 1));
        if (json === true) io.out(`${JSON.stringify({ group, halted: halted ?? null, holdings }, null, 2)}\n`);
        else io.out(`${[haltLine(group, halted), ...tableOf(holdings)].join("\n")}\n`);
      }),
    );
};

const haltLine = (group: string, halted: string | undefined): string =>
  halted === undefined ? `Group ${printable(group)} trades.` : `Group ${printable(group)} is halted: ${printable(halted)}`;

const tableOf = (holdings: readonly ScopeHolding[]): readonly string[] => {
  if (holdings.length === 0) return ["Nobody holds anything: no engine has joined, or none has spoken for some minutes."];
  return holdings.map(({ scope, window, foreign, held }) => {
    const members = Object.entries(held).map(([name, units]) => `${printable(name)} ${units}`);
    const others = foreign > 0 ? [`other clients ${foreign}`] : [];
    return `${printable(scope)}  window ${window}  ${[...members, ...others].join(", ")}`;
  });
};
