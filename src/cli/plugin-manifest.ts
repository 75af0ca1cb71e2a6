/**
 * Manifests of plugins: their additions to the command line, read without loading a plugin's code.
 *
 * Invariants: a plugin of Sluice has its manifest in `plugins/<name>/manifest.json`; another package has it under the
 * key `sluice` of its package.json, and counts where the project's package.json names the package: `"sluice": {
 * "plugins": ["my-plugin"] }`. Of two rows of one name the first counts: those of Sluice, then packages in the order of
 * the project.
 * Not here: what a command does (its module), commands of the core (main.ts).
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { messageOf, SluiceError } from "../errors.ts";

/** A command in the list of commands, before it is loaded. */
export interface CommandRow {
  /** Heading in the list: `Trading:`. */
  readonly group: string;
  /** Arguments, as the help prints them: `[options] <config>`. */
  readonly usage: string;
  /** One line; the command's own help has its description. */
  readonly summary: string;
  /** Words after `sluice`. */
  readonly examples: readonly string[];
}

/** A command in a manifest. */
export interface CommandEntry extends CommandRow {
  /** File whose default export `defineCommand` made, relative to the manifest: `./command.js`. */
  readonly module: string;
  /** False for a command that loads no file of the user's, such as a config. */
  readonly loadsFiles?: boolean;
  /** True for a command whose config may name a service over the network. */
  readonly network?: boolean;
}

/** A dialect in a manifest. */
interface DialectEntry {
  /** File whose default export is the dialect, relative to the manifest: `./acme.js`. */
  readonly module: string;
}

/** A reader of recorded runs in a manifest, for `sluice ui`. */
interface PlayableRunsEntry {
  /** File whose default export `definePlayableRuns` made, relative to the manifest. */
  readonly module: string;
  /** A file that every folder with such a run has: `session.ndjson`. */
  readonly file: string;
}

/** An option of `sluice run` in a manifest. */
export interface RunOptionEntry {
  /** File whose default export `defineRunOption` made, relative to the manifest. */
  readonly module: string;
  /** As commander takes it: `--watchdog`, `--ui [port]`. */
  readonly flags: string;
  readonly description: string;
  /** Regular expression of its value. */
  readonly pattern?: string;
  /** Remedy where the value does not fit: "Write a port." */
  readonly hint?: string;
}

/** An option of `sluice backtest`, `run` and `report` that writes a report to a file, in a manifest. */
export interface ExporterEntry {
  /** File whose default export `defineReportExporter` made, relative to the manifest. */
  readonly module: string;
  /** As commander takes it, with a file: `--html <file>`. */
  readonly flags: string;
  readonly description: string;
}

/** A kind of work of `sluice worker` in a manifest. */
interface WorkEntry {
  /** File whose default export `defineWork` of `sluice/plugins/sweep` made, relative to the manifest. */
  readonly module: string;
}

interface Manifest {
  readonly commands?: Readonly<Record<string, CommandEntry>>;
  readonly dialects?: Readonly<Record<string, DialectEntry>>;
  readonly servedDialects?: Readonly<Record<string, DialectEntry>>;
  readonly playableRuns?: Readonly<Record<string, PlayableRunsEntry>>;
  readonly exporters?: Readonly<Record<string, ExporterEntry>>;
  readonly runOptions?: Readonly<Record<string, RunOptionEntry>>;
  readonly work?: Readonly<Record<string, WorkEntry>>;
}

/** A row of a manifest, its place, and its code. */
export type Contributed<Entry> = Entry & {
  /** The manifest that has it. */
  readonly place: string;
  /** Imports the module and gives its default export. */
  readonly load: () => Promise<unknown>;
};

export interface Contributions {
  readonly commands: ReadonlyMap<string, Contributed<CommandEntry>>;
  /** Dialects of the client, by the name that `--dialect` takes. */
  readonly dialects: ReadonlyMap<string, Contributed<DialectEntry>>;
  /** Dialects of the embedded service, by the name that `--dialect` takes. */
  readonly servedDialects: ReadonlyMap<string, Contributed<DialectEntry>>;
  /** Readers of recorded runs. */
  readonly playableRuns: ReadonlyMap<string, Contributed<PlayableRunsEntry>>;
  /** Options that write a report to a file. */
  readonly exporters: ReadonlyMap<string, Contributed<ExporterEntry>>;
  /** Options of `sluice run`, by the name that commander gives them. */
  readonly runOptions: ReadonlyMap<string, Contributed<RunOptionEntry>>;
  /** Kinds of work of `sluice worker`, by the kind that a sheet names. */
  readonly work: ReadonlyMap<string, Contributed<WorkEntry>>;
}

/** A manifest as it was read: its text is not trusted yet. */
interface Source {
  readonly place: string;
  readonly manifest: unknown;
  readonly addressOf: (module: string) => string;
}

/** This is a checkout, not an installed package. */
export const fromSource = import.meta.url.endsWith(".ts");
/** Folder of the shipped plugins. */
export const ownPlugins = new URL(fromSource ? "../../plugins/" : "../plugins/", import.meta.url);

/**
 * Reads everything that plugins add to the command line.
 *
 * @param folder - of the project
 * @returns rows of the manifests
 * @throws CONFIG_INVALID for a manifest that is wrong
 */
export const readContributions = (folder: string): Contributions => {
  const commands = new Map<string, Contributed<CommandEntry>>();
  const dialects = new Map<string, Contributed<DialectEntry>>();
  const servedDialects = new Map<string, Contributed<DialectEntry>>();
  const playableRuns = new Map<string, Contributed<PlayableRunsEntry>>();
  const exporters = new Map<string, Contributed<ExporterEntry>>();
  const runOptions = new Map<string, Contributed<RunOptionEntry>>();
  const work = new Map<string, Contributed<WorkEntry>>();
  for (const source of [...ownSources(), ...packageSources(folder)]) {
    const manifest = checked(source);
    addRows(commands, source, manifest.commands);
    addRows(dialects, source, manifest.dialects);
    addRows(servedDialects, source, manifest.servedDialects);
    addRows(playableRuns, source, manifest.playableRuns);
    addRows(exporters, source, manifest.exporters);
    addRows(runOptions, source, manifest.runOptions);
    addRows(work, source, manifest.work);
  }
  return { commands, dialects, servedDialects, playableRuns, exporters, runOptions, work };
};

/**
 * Loads the module of a row of a manifest.
 *
 * @param entry - the row
 * @param isRight - checks the default export
 * @param problem - message where it is not right
 * @returns the default export
 * @throws CONFIG_INVALID with the manifest's place and the problem
 */
export const loadRow = async <T extends object>(
  { place, load }: Pick<Contributed<object>, "place" | "load">,
  isRight: (value: Partial<T>) => boolean,
  problem: string,
): Promise<T> => {
  const value = (await load()) as Partial<T> | null | undefined;
  if (value !== undefined && value !== null && isRight(value)) return value as T;
  throw invalid(place, problem);
};

const addRows = <Entry extends { readonly module: string }>(
  rows: Map<string, Contributed<Entry>>,
  { place, addressOf }: Source,
  entries: Readonly<Record<string, Entry>> = {},
): void => {
  for (const [name, entry] of Object.entries(entries)) {
    const load = async (): Promise<unknown> =>
      ((await import(addressOf(entry.module))) as { readonly default?: unknown }).default;
    if (!rows.has(name)) rows.set(name, { ...entry, place, load });
  }
};

export const ownPluginNames = (): readonly string[] =>
  readdirSync(ownPlugins, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

const ownSources = (): readonly Source[] =>
  ownPluginNames().flatMap((name) => {
    const address = new URL(`${name}/manifest.json`, ownPlugins);
    const manifest = jsonAt(fileURLToPath(address));
    const addressOf = (module: string): string =>
      new URL(fromSource ? module : module.replace(/\.ts$/, ".js"), address).href;
    return manifest === undefined ? [] : [{ place: `plugins/${name}/manifest.json`, manifest, addressOf }];
  });

const packageSources = (folder: string): readonly Source[] => {
  const project = join(folder, "package.json");
  const { sluice } = (jsonAt(project) ?? {}) as { readonly sluice?: { readonly plugins?: unknown } };
  const names = sluice?.plugins ?? [];
  if (!Array.isArray(names) || names.some((name) => typeof name !== "string"))
    throw invalid(project, '"sluice": { "plugins" } is not a list of names of packages');
  return (names as readonly string[]).map((name) => {
    const path = packageFile(project, name);
    const addressOf = (module: string): string => pathToFileURL(join(dirname(path), module)).href;
    return { place: path, manifest: (jsonAt(path) as { readonly sluice?: unknown }).sluice ?? {}, addressOf };
  });
};

/**
 * The package.json of a package that a project depends on. A package that does not export it is looked for in
 * `node_modules`.
 */
const packageFile = (project: string, name: string): string => {
  const { resolve } = createRequire(project);
  const places = (resolve.paths(name) ?? []).map((folder) => join(folder, name, "package.json"));
  const path = places.find((candidate) => jsonAt(candidate) !== undefined);
  if (path !== undefined) return path;
  throw invalid(
    project,
    `"sluice": { "plugins" } names ${name}, which is not installed. Install it: npm install ${name}`,
  );
};

/** Undefined where there is no such file. */
const jsonAt = (path: string): unknown => {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw invalid(path, `is not JSON: ${messageOf(error)}`);
  }
};

/** Texts that each row of a section must have. */
const textKeys = {
  commands: ["module", "group", "usage", "summary"],
  dialects: ["module"],
  servedDialects: ["module"],
  playableRuns: ["module", "file"],
  exporters: ["module", "flags", "description"],
  runOptions: ["module", "flags", "description"],
  work: ["module"],
} as const;

const checked = ({ place, manifest }: Source): Manifest => {
  if (!isObject(manifest)) throw invalid(place, "the manifest is not an object");
  for (const [section, keys] of Object.entries(textKeys)) {
    const rows = manifest[section] ?? {};
    if (!isObject(rows)) throw invalid(place, `${section}: is not an object`);
    for (const [name, entry] of Object.entries(rows)) {
      if (!isObject(entry)) throw invalid(place, `${section}.${name}: is not an object`);
      const hinted = section === "runOptions" && entry["pattern"] !== undefined ? ["pattern", "hint"] : [];
      for (const key of [...keys, ...hinted])
        if (typeof entry[key] !== "string") throw invalid(place, `${section}.${name}.${key}: write a text`);
      const { examples } = entry;
      if (section === "commands" && (!Array.isArray(examples) || examples.some((text) => typeof text !== "string")))
        throw invalid(place, `commands.${name}.examples: write a list of texts`);
    }
  }
  return manifest;
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const invalid = (place: string, message: string): SluiceError =>
  new SluiceError("CONFIG_INVALID", `${place}: ${message}`);
