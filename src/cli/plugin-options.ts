/**
 * Options of plugins: added to a command, and those that write a report to a file loaded where the command line gives
 * them.
 *
 * Invariants: an option of a plugin does not replace one of the command; a file that cannot be written is reported
 * before the run.
 * Not here: rows of manifests (plugin-manifest.ts), what a file holds (the plugin's module).
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { SluiceError } from "../errors.ts";
import type { RunDetails } from "../report/details.ts";
import type { RunReport } from "../report/report.ts";
import type { ReportExporter } from "./define-report-exporter.ts";
import {
  type Contributed,
  type ExporterEntry,
  loadRow,
  type RunOptionEntry,
  readContributions,
} from "./plugin-manifest.ts";
import { checkPlace, writeContents } from "./written-files.ts";

/** A file that the command line asks for. */
export interface ReportFile {
  readonly file: string;
  readonly contents: ReportExporter["contents"];
}

/**
 * Adds the options of plugins that write a report to a command.
 *
 * @param command - of commander
 * @param exporters - rows of the manifests, for a caller that has read them
 * @returns a function that takes the command's parsed options and loads the files they ask for, in the order of the
 * manifests; it throws USAGE for a file that cannot be written
 * @throws CONFIG_INVALID for a manifest that is wrong
 */
export const addReportExporters = (
  command: Command,
  exporters = readContributions(process.cwd()).exporters,
): ((flags: object) => Promise<readonly ReportFile[]>) => {
  const rows = [...exporters].map(([name, entry]) => {
    const option = addPluginOption(command, `exporters.${name}`, entry);
    if (!option.required || option.variadic)
      throw invalid(entry, `exporters.${name}.flags: "${entry.flags}" takes no file. Write --${name} <file>.`);
    return { name, entry, key: option.attributeName() };
  });
  return async (flags) => {
    const given = rows.flatMap(({ name, entry, key }) => {
      const file = (flags as Readonly<Record<string, unknown>>)[key];
      return typeof file === "string" ? [{ name, entry, file }] : [];
    });
    for (const { file } of given) checkPlace(file);
    return Promise.all(
      given.map(async ({ name, entry, file }) => ({ file, contents: (await exporterOf(name, entry)).contents })),
    );
  };
};

/**
 * Writes a report to files.
 *
 * @param files - made by the function of `addReportExporters`
 * @param report - of the run
 * @param details - of the run
 * @returns their names
 */
export const writeReportFiles = async (
  files: readonly ReportFile[],
  report: RunReport,
  details: RunDetails,
): Promise<readonly string[]> => {
  for (const { file, contents } of files) writeContents(file, await contents(report, details));
  return files.map(({ file }) => file);
};

/**
 * Adds an option of a plugin to a command that has its own options already.
 *
 * @param row - section and name in the manifest
 * @throws CONFIG_INVALID where the command has an option of this name
 */
export const addPluginOption = (
  command: Command,
  row: string,
  entry: Contributed<ExporterEntry | RunOptionEntry>,
): Option => {
  const option = new Option(entry.flags, entry.description);
  const taken = command.options.find(
    ({ long, short }) => (long ?? "") === option.long || (short ?? "") === option.short,
  );
  if (taken !== undefined)
    throw invalid(entry, `${row}.flags: sluice ${command.name()} has the option ${taken.flags} already.`);
  if ("pattern" in entry) option.argParser((text) => checkedValue(text, entry));
  command.addOption(option);
  return option;
};

/** Refused while the command line is read: a value may be the argument that is then missing. */
const checkedValue = (text: string, { pattern = "", hint = "" }: RunOptionEntry): string => {
  if (new RegExp(pattern, "u").test(text)) return text;
  throw new InvalidArgumentError(hint);
};

const invalid = ({ place }: { readonly place: string }, message: string): SluiceError =>
  new SluiceError("CONFIG_INVALID", `${place}: ${message}`);

const exporterOf = (name: string, entry: Contributed<ExporterEntry>): Promise<ReportExporter> =>
  loadRow<ReportExporter>(
    entry,
    ({ kind }) => kind === "report-exporter",
    `exporters.${name}.module: ${entry.module} does not export an exporter. Write export default defineReportExporter(…).`,
  );
