/**
 * The reference of commands, from the command line's own definitions: what `--help` prints, as a page.
 */
import type { Argument, Command, Option } from "commander";
import type { CliIo } from "../../src/cli/io.ts";
import { programOf } from "../../src/cli/main.ts";
import { code, prose, table } from "./markdown.ts";

/** Nothing is run: the definitions alone are read. */
const io: CliIo = {
  out: () => undefined,
  err: () => undefined,
  isTty: false,
  columns: 100,
  env: () => undefined,
  onStop: () => () => undefined,
  neverWait: () => undefined,
};

const valueText = (value: unknown): string => (Array.isArray(value) ? value.join(", ") : String(value));

const optionRow = ({
  flags,
  description,
  defaultValue,
  argChoices,
  mandatory,
  hidden,
}: Option): readonly string[][] => {
  if (hidden) return [];
  const notes = [
    ...(argChoices === undefined ? [] : [`One of ${argChoices.map(code).join(", ")}.`]),
    ...(defaultValue === undefined || typeof defaultValue === "boolean"
      ? []
      : [`Default ${code(valueText(defaultValue))}.`]),
    ...(mandatory ? ["Required."] : []),
  ];
  return [[code(flags), [`${prose(description)}${notes.length > 0 ? "." : ""}`, ...notes].join(" ")]];
};

const argumentRow = (argument: Argument): string[] => [
  code(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
  prose(argument.description),
];

/** Of a command that has others below it, a section for each of these as well. */
const section = (command: Command, above = ""): string => {
  const rows = [
    ...command.registeredArguments.map(argumentRow),
    ...command.options.flatMap(optionRow),
    [code("-h, --help"), "print the command's help"],
  ];
  const name = `${above}${command.name()}`;
  return [
    `##${above === "" ? "" : "#"} sluice ${name}`,
    prose(command.description()),
    `${"```"}sh\nsluice ${name} ${command.usage()}\n${"```"}`,
    table(["Argument or option", "Meaning"], rows),
    ...command.commands.map((below) => section(below, `${name} `)),
  ].join("\n\n");
};

export const commandsPage = async (): Promise<string> => {
  const program = await programOf(["help"], io, {}, { all: true });
  const overview = program.commands.map((command) => [
    `[${code(command.name())}](#sluice-${command.name()})`,
    prose(command.description()),
  ]);
  return [
    "# Commands",
    "`npx sluice <command>` in a project that depends on Sluice. `sluice help <command>` prints the same.",
    table(["Command", "What it does"], overview),
    "## Exit codes and environment",
    table(
      ["Exit code", "Meaning"],
      [
        ["0", "done"],
        ["1", "failed; also `run --cancel` whose orders could not be confirmed as canceled"],
        ["2", "wrong usage or config"],
        ["3", "trading is halted: `run` or `record` ended so"],
        ["130", "stopped by Ctrl-C"],
      ],
    ),
    "With `--json`, stdout carries JSON and nothing else; text for people goes to stderr. `NO_COLOR=1` takes colour away, and `SLUICE_DEBUG=1` adds stacks to messages.",
    ...program.commands.map((command) => section(command)),
  ].join("\n\n");
};
