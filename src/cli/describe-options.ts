/**
 * `sluice options`: options of the shipped strategies and plugins, or of a file of the user's, with type, default and
 * description.
 *
 * Invariants: nothing is started; what cannot be loaded is named with the reason, and the others are printed.
 * Not here: options of a command (its help), of a config (docs/generate/configuration.ts).
 */
import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Command } from "commander";
import { didYouMean, messageOf, SluiceError } from "../errors.ts";
import { exportsOf } from "../host/load.ts";
import { type CliIo, inkOf, jsonText } from "./io.ts";
import { fromSource, ownPluginNames, ownPlugins } from "./plugin-manifest.ts";

/** A definition of a strategy or plugin. */
interface Defined {
  readonly definition: { readonly name: string; readonly options: object };
}

interface OptionSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly format?: string;
}

interface OptionsSchema {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, OptionSchema>>;
}

/** A strategy or plugin that can be described. */
interface Source {
  readonly name: string;
  readonly what: "strategy" | "plugin";
  readonly address: string;
}

const ownStrategies = new URL("../strategies/", ownPlugins);
const ending = fromSource ? ".ts" : ".js";

export const addOptionsCommand = (program: Command, io: CliIo): void => {
  program
    .command("options")
    .description("List the options of shipped strategies and plugins, or of files, with their descriptions.")
    .argument("[names...]", "names of shipped strategies or plugins, or files; all names when left out")
    .option("--json", "print the schemas as one JSON document")
    .action((names: readonly string[], { json }: { readonly json?: true }) => describe(names, json === true, io));
};

const describe = async (names: readonly string[], isJson: boolean, io: CliIo): Promise<void> => {
  const shipped = sourcesOf();
  const chosen = names.length === 0 ? shipped : names.map((name) => sourceOf(name, shipped));
  const found = await Promise.all(chosen.map(async (source) => ({ source, defined: await definitionIn(source) })));
  const problems = found.flatMap(({ defined }) => (typeof defined === "string" ? [defined] : []));
  const described = found.flatMap(({ source: { what }, defined }) =>
    isDefined(defined) ? [{ what, ...defined.definition }] : [],
  );
  if (isJson) io.out(`${jsonText(described, 2)}\n`);
  else if (names.length === 0) io.out(listText(described, io));
  else for (const one of described) io.out(`${textOf(one, io).join("\n")}\n`);
  if (problems.length === 0) return;
  if (names.length > 0) throw new SluiceError("CONFIG_NOT_FOUND", problems.join("\n"));
  io.err(`${problems.join("\n")}\n`);
};

const sourcesOf = (): readonly Source[] => {
  const strategies = readdirSync(ownStrategies)
    .filter((file) => file.endsWith(ending) && !file.endsWith(".d.ts"))
    .map((file) => {
      const address = new URL(file, ownStrategies).href;
      return { name: file.slice(0, -ending.length), what: "strategy", address } as const;
    });
  const plugins = ownPluginNames()
    .map((name) => ({ name, what: "plugin", address: new URL(`${name}/index${ending}`, ownPlugins).href }) as const)
    .filter(({ address }) => existsSync(fileURLToPath(address)));
  return [...strategies, ...plugins];
};

const sourceOf = (name: string, shipped: readonly Source[]): Source => {
  const known = shipped.find((one) => one.name === name);
  if (known !== undefined) return known;
  const file = resolve(name);
  if (existsSync(file)) return { name, what: "strategy", address: pathToFileURL(file).href };
  const names = shipped.map((one) => one.name);
  throw new SluiceError(
    "USAGE",
    `There is no strategy, plugin or file "${name}".${didYouMean(name, names)} \`sluice options\` lists the names.`,
  );
};

/** Undefined for a file of helpers, a text where it cannot be loaded. */
const definitionIn = async ({ name, address }: Source): Promise<Defined | string | undefined> => {
  try {
    const exported = (await exportsOf(address)) as Readonly<Record<string, unknown>>;
    return Object.values(exported).find(isDefined);
  } catch (error) {
    return `${name} cannot be loaded: ${messageOf(error).split("\n")[0] ?? ""}`;
  }
};

const isDefined = (value: unknown): value is Defined =>
  typeof value === "function" && typeof (value as Partial<Defined>).definition?.options === "object";

type Described = Pick<Source, "what"> & { readonly name: string; readonly options: object };

const listText = (all: readonly Described[], io: CliIo): string => {
  const paint = inkOf(io);
  const line = (what: Source["what"]): string =>
    all
      .filter((one) => one.what === what)
      .map(({ name }) => name)
      .join(", ");
  return `${paint.bold("Strategies")}: ${line("strategy")}\n${paint.bold("Plugins")}: ${line("plugin")}\nOptions of one: sluice options ladder\n`;
};

const textOf = ({ name, options }: Described, io: CliIo): readonly string[] => {
  const { required = [], properties = {} } = options as OptionsSchema;
  const paint = inkOf(io);
  const rows = Object.entries(properties).map(([option, schema]) => ({
    option,
    values: valuesOf(schema),
    fallback: fallbackOf(schema, required.includes(option)),
    text: schema.description ?? "",
  }));
  if (rows.length === 0) return [paint.bold(name), "  no options"];
  const widest = (key: "option" | "values" | "fallback"): number => Math.max(...rows.map((row) => row[key].length));
  const [first, second, third] = [widest("option"), widest("values"), widest("fallback")];
  return [
    paint.bold(name),
    ...rows.map(({ option, values, fallback, text }) =>
      `  ${option.padEnd(first)}  ${values.padEnd(second)}  ${fallback.padEnd(third)}  ${text}`.trimEnd(),
    ),
  ];
};

const fallbackOf = ({ default: value }: OptionSchema, isRequired: boolean): string => {
  if (value !== undefined) return `default ${typeof value === "string" ? value : JSON.stringify(value)}`;
  return isRequired ? "required" : "";
};

/** Bounds of a number in words, with a blank before them; empty without any. */
const boundsOf = ({ minimum, maximum, exclusiveMinimum }: OptionSchema): string => {
  const inclusive = minimum === undefined ? "" : ` from ${minimum}`;
  const least = exclusiveMinimum === undefined ? inclusive : ` above ${exclusiveMinimum}`;
  return maximum === undefined ? least : `${least} to ${maximum}`;
};

const valuesOf = (schema: OptionSchema): string => {
  const { type = "any", enum: values, format } = schema;
  return values === undefined ? `${format ?? type}${boundsOf(schema)}` : values.join(" | ");
};
