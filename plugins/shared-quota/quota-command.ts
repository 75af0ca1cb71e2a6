/**
 * `sluice quota <store>`: use of a shared quota by engine, the group's halt, and the leader of each engine with a
 * standby.
 *
 * Invariants: reads the store only and changes nothing; with --json stdout holds one document; the command fails when
 * the store does not answer within five seconds.
 * Not here: how the quota is divided (shared-quota.ts).
 */
import type { Command } from "commander";
import { type CliIo, defineCommand, jsonText, printable } from "sluice/extension";
import { type Leadership, leadershipsIn } from "sluice/plugins/standby";
import type { ScopeHolding } from "./claim.ts";
import { withStore } from "./shared-store.ts";

interface Flags {
  readonly group: string;
  readonly json?: true;
}

const addQuotaCommand = (program: Command, io: CliIo): void => {
  program
    .command("quota")
    .description(
      "Show the share of each engine in a shared quota, whether the group is halted, the leader, and the standby processes.",
    )
    .argument(
      "<store>",
      "address of the store, such as redis://10.0.0.5:6379, or env:NAME for the variable that holds it",
    )
    .requiredOption("--group <name>", "the group, as sharedQuota names it in the configs")
    .option("--json", "print one JSON document")
    .action((address: string, { group, json }: Flags) =>
      withStore(address, group, async (store, url) => {
        const halted = await store.halted();
        const leaderships = await leadershipsIn(url, group);
        const holdings = [...(await store.holdings())].sort(
          (a, b) => b.window - a.window || (a.scope < b.scope ? -1 : 1),
        );
        if (json === true)
          io.out(`${jsonText({ group, halted: halted ?? null, standby: leaderships, holdings }, 2)}\n`);
        else io.out(`${[haltLine(group, halted), ...leaderships.map(leaderLine), ...tableOf(holdings)].join("\n")}\n`);
      }),
    );
};

const nameAndAge = ({ name, ms }: Leadership["leader"]): string =>
  `${printable(name)}, last heartbeat ${(ms / 1_000).toFixed(1)} s ago`;

const leaderLine = ({ instance, leader, released, standbys }: Leadership): string => {
  const who = released ? `no leader: ${printable(leader.name)} has stopped` : `leader ${nameAndAge(leader)}`;
  return `${printable(instance)}  ${who}; ${standbys.length === 0 ? "no standby" : `standby ${standbys.map(nameAndAge).join("; ")}`}`;
};

const haltLine = (group: string, halted: string | undefined): string =>
  halted === undefined
    ? `Group ${printable(group)} trades.`
    : `Group ${printable(group)} is halted: ${printable(halted)}`;

const tableOf = (holdings: readonly ScopeHolding[]): readonly string[] => {
  if (holdings.length === 0) return ["No shares: no engine has joined, or none has reported for some minutes."];
  return holdings.map(({ scope, window, foreign, held }) => {
    const members = Object.entries(held).map(([name, units]) => `${printable(name)} ${units}`);
    const others = foreign > 0 ? [`other clients ${foreign}`] : [];
    return `${printable(scope)}  window ${window}  ${[...members, ...others].join(", ")}`;
  });
};

export default defineCommand("quota", addQuotaCommand);
