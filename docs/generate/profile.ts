/**
 * The reference of the service profile and of error codes, from the tables in the sources.
 */
import { profileRows } from "../../src/contract/overrides.ts";
import { type ErrorCode, errorCodes } from "../../src/errors.ts";
import { code, prose, table } from "./markdown.ts";

export const profilePage = (): string => {
  const rows = profileRows();
  const groups = [...new Set(rows.map(({ path }) => path.split(".")[0] as string))];
  return [
    "# Service profile",
    'What the service\'s description leaves open, one row for each assumption: the value, and why. A config overrides a row by its name, and the client, the embedded service and the backtest follow: `profile: { order: { szUnit: { SPOT: "base", SWAP: "contracts" } } }`. `sluice doctor` asks a service which of them hold and prints what to change. [The guide](/guides/service-profile) says which ones matter most.',
    ...groups.map((group) =>
      [
        `## ${group}`,
        table(
          ["Row", "Value", "Why"],
          rows
            .filter(({ path }) => path.startsWith(`${group}.`))
            .map(({ path, value, why }) => [code(path), code(JSON.stringify(value)), prose(why)]),
        ),
      ].join("\n\n"),
    ),
  ].join("\n\n");
};

const fixes: Readonly<Record<(typeof errorCodes)[ErrorCode]["fix"], string>> = {
  config: "Correct the config, or what a call was given.",
  usage: "Correct the command line.",
  data: "Look at the recording or the journal that the message names.",
  code: "Correct the strategy, the plugin or the program.",
  query: "Look at the service: the message names the question.",
  machine: "Look at this machine: its disk, its ports, its runtime.",
  resume: "Find out why trading was halted; then `--resume`.",
  again: "Run it again.",
  report: "A defect of Sluice: report it with the message.",
};

export const errorsPage = (): string =>
  [
    "# Error codes",
    "Errors that Sluice throws on purpose are `SluiceError`s. The `code` is stable, the message names the place, the value and what to do. What a trading program must expect, such as a rejected order, is never an exception: it is an event and a phase of the order.",
    table(
      ["Code", "Meaning", "What to do"],
      Object.entries(errorCodes).map(([name, { text, fix }]) => [code(name), prose(text), prose(fixes[fix])]),
    ),
  ].join("\n\n");
