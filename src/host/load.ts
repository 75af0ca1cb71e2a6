/**
 * Loader of config files: finds the file, imports it and returns its default export.
 *
 * Invariants: every error names the file relative to the working folder, what was found there and what to write
 * instead; no loader stack reaches the user; a file that never finishes loading is an error that names it.
 * Not here: what a config may hold (define.ts), TypeScript (the starting script registers its loader).
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { firstValueFrom, from, map, merge, type Observable } from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { didYouMean, isSluiceError, SluiceError } from "../errors.ts";

interface LoadOptions {
  /** Passed to configs that are functions. */
  readonly command?: string;
  readonly clock?: Clock;
}

const extensions = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];
const loadMsMax = 30_000;
const example = "export default defineConfig({ ... });";

/**
 * Loads a config from a file.
 *
 * @param path - of the file
 * @param options - the command for configs that are functions
 * @returns its default export, or what that returns when it is a function of `{ command }`
 * @throws CONFIG_NOT_FOUND where there is no such file, CONFIG_INVALID where it cannot be loaded
 */
export const loadConfigFile = async (path: string, options: LoadOptions = {}): Promise<unknown> => {
  const { command = "run", clock = createSystemClock() } = options;
  const file = resolve(path);
  const name = shortName(file);
  checkFile(file, name);
  return firstValueFrom(merge(from(settle(file, name, command)), tooLate(clock, name)));
};

/**
 * Exports of a file. For a file written for CommonJS, as files are below a package.json without `"type": "module"`,
 * everything it exports is the default export.
 *
 * @param address - of the file, to be imported
 * @returns its exports by name
 */
export const exportsOf = async (address: string): Promise<object> => {
  const exported = (await import(address)) as { readonly default?: unknown };
  const { default: whole } = exported;
  return typeof whole === "object" && whole !== null && "__esModule" in whole ? whole : exported;
};

const settle = async (file: string, name: string, command: string): Promise<unknown> => {
  const exported = await inFile(file, name, "could not be loaded", () => exportsOf(pathToFileURL(file).href));
  const config = defaultOf(exported, name);
  const value =
    typeof config === "function" ? await inFile(file, name, "threw", () => config({ command })) : await config;
  if (typeof value === "object" && value !== null) return value;
  const source = typeof config === "function" ? "its default export returned" : "its default export is";
  throw new SluiceError("CONFIG_INVALID", `${name}: ${source} ${spelled(value)}, not a config. Write ${example}`);
};

/** Also keeps the process alive: with nothing else to wait for, the platform would end it silently. */
const tooLate = (clock: Clock, name: string): Observable<never> =>
  after(clock, loadMsMax).pipe(
    map(() => {
      throw new SluiceError(
        "CONFIG_INVALID",
        `${name} did not finish loading within ${loadMsMax / 1_000} s. Look for an await at its top level, or in a file it imports, that never settles.`,
      );
    }),
  );

/** The file name as a user would type it here: relative below the working folder, absolute elsewhere. */
const shortName = (file: string): string => {
  const path = relative(process.cwd(), file);
  return path === "" ? "." : path.startsWith("..") ? file : path.replaceAll("\\", "/");
};

const checkFile = (file: string, name: string): void => {
  if (!existsSync(file)) throw new SluiceError("CONFIG_NOT_FOUND", `${name}: no such file.${neighbours(file)}`);
  if (statSync(file).isDirectory()) {
    throw new SluiceError(
      "CONFIG_NOT_FOUND",
      `${name} is a folder; name a config file.${neighbours(join(file, "config.ts"))}`,
    );
  }
  if (extensions.includes(extname(file))) return;
  throw new SluiceError(
    "CONFIG_INVALID",
    `${name}: a config is a program, not ${extname(file) === "" ? "a file without an ending" : `a ${extname(file)} file`}. Write it as ${extensions.join(", ")}, with ${example}`,
  );
};

const neighboursMax = 8;

/** Files in the same folder: the nearest name, and the others. */
const neighbours = (file: string): string => {
  const folder = dirname(file);
  const name = shortName(folder) === "." ? "this folder" : shortName(folder);
  if (!existsSync(folder)) return ` The folder ${name} does not exist either.`;
  const names = readdirSync(folder)
    .filter((entry) => extensions.includes(extname(entry)) && !entry.endsWith(".d.ts"))
    .sort();
  if (names.length === 0) return ` There are no config files in ${name}.`;
  const near = didYouMean(basename(file), names).replace(
    /"(.*)"/,
    (_, found: string) => `"${shortName(join(folder, found))}"`,
  );
  const rest = names.length > neighboursMax ? ` and ${names.length - neighboursMax} more` : "";
  return `${near} In ${name}: ${names.slice(0, neighboursMax).join(", ")}${rest}.`;
};

/** Runs a piece of the user's file and reports its failure as the user's. */
const inFile = async <T>(file: string, name: string, verb: string, run: () => T | Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    if (isSluiceError(error)) throw new SluiceError(error.code, `${name}: ${headOf(error)}`, error.issues);
    throw new SluiceError("CONFIG_INVALID", `${name} ${verb}: ${reasonOf(error, file)}`);
  }
};

/** The message without the issues, which the error's constructor adds again. */
const headOf = (error: SluiceError): string =>
  error.issues.length === 0 ? error.message : (error.message.split("\n  - ")[0] ?? "");

/** Adds advice: the compiler names its output format, but not the setting that chose it. */
const adviceOn = (text: string): string =>
  text.includes('"cjs" output format')
    ? '. The package.json beside it has no "type": "module": add it, or rename the file to .mts or .mjs'
    : "";

const reasonOf = (error: unknown, file: string): string => {
  if (!(error instanceof Error))
    return `${spelled(error)} was thrown. Throw an Error, so that its message and place are shown.`;
  const text = essence(error.message);
  const kind = silentKinds.includes(error.name) || text.startsWith(error.name) ? "" : `${error.name}: `;
  const line = lineOf(error, file);
  // A message of the compiler names file and line itself.
  const place = line === undefined || text.includes(`${basename(file)}:${line}`) ? "" : ` (line ${line})`;
  return `${kind}${text === "" ? "an error without a message" : text}${place}${adviceOn(text)}`;
};

const silentKinds = ["Error", "TransformError"];

/** The message with names as people would type them, and without the loader's own words around it. */
const essence = (message: string): string =>
  message
    .replace(/^Transform failed with \d+ errors?:\n/, "")
    .replace(/\nRequire stack:\n[\s\S]*$/, "")
    .replaceAll(`${pathToFileURL(process.cwd()).href}/`, "")
    .replaceAll(`${process.cwd()}/`, "")
    .replace(
      /^The requested module '(sluice[^']*)' does not provide an export named '(\w+)'$/,
      `"$1" exports no "$2". ${entries}`,
    )
    .trim();

const entries =
  "Strategies, plugins, configs and engines are written with sluice; backtest, paper, latency, fills and reports come from " +
  "sluice/backtest, the embedded exchange from sluice/plugins/venue-server, recorded runs from sluice/plugins/session, tests from sluice/testing, " +
  "the guard from sluice/plugins/compare, simulation from sluice/plugins/simulate.";

/** Place of the user's own file in the stack, if there is one. */
const lineOf = (error: Error, file: string): string | undefined => {
  for (const line of (error.stack ?? "").split("\n")) {
    const at = Math.max(line.indexOf(`${file}:`), line.indexOf(`${pathToFileURL(file).href}:`));
    const match = at < 0 ? null : /\.\w+:(\d+)/.exec(line.slice(at));
    if (match !== null) return match[1];
  }
  return undefined;
};

const defaultOf = (exported: unknown, name: string): unknown => {
  if ("default" in (exported as object)) return (exported as { default: unknown }).default;
  // Modules written for CommonJS arrive with additional names.
  const names = Object.keys(exported as object).filter((key) => key !== "__esModule" && key !== "module.exports");
  const found = names.length === 0 ? "it exports nothing" : `it exports ${names.sort().join(", ")}`;
  throw new SluiceError("CONFIG_NOT_FOUND", `${name} has no default export; ${found}. Write ${example}`);
};

const spelled = (value: unknown): string => {
  const text =
    typeof value === "function" ? "a function" : inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY });
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
};
