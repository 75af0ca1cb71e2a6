/**
 * The config of a sheet as a worker has it.
 *
 * Invariants: it lies below the working folder, outside installed packages and hidden folders, and is one of the
 * configs that the worker accepts, or any file that calls `defineConfig` where it names none; its files are compared
 * with the sheet before any of them runs; a refusal states what differs and what to do.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { type CheckedConfig, hashOfConfig, hashOfSources, loadConfigFile } from "sluice/extension";
import { refusalOfVersion, type WorkSheet } from "./work-sheet.ts";

/** Reason for which a worker takes no jobs of a sheet; it does not change while the worker runs. */
export class Refusal extends Error {}

/** Paths of the configs that a worker runs; any config of its folder when left out. */
export type AcceptedConfigs = readonly string[] | undefined;

/** Loads it as for `command`; throws a `Refusal` where it is another, or none that this worker accepts. */
export const configOf = async (
  sheet: WorkSheet,
  command: string,
  accepted: AcceptedConfigs,
): Promise<{ readonly path: string; readonly config: unknown }> => {
  const version = refusalOfVersion(sheet);
  if (version !== undefined) throw new Refusal(version);
  const { path, sources } = sheet.config;
  const file = resolve(path);
  if (isAbsolute(path) || !isBelow(file, process.cwd()))
    throw new Refusal(`${path} lies outside the worker's folder ${process.cwd()}`);
  if (!existsSync(file))
    throw new Refusal(`there is no ${path} in ${process.cwd()}. Start the worker in the project's folder`);
  // A link may lead elsewhere.
  if (!isBelow(realpathSync(file), realpathSync(process.cwd())))
    throw new Refusal(`${path} leads outside the worker's folder`);
  checkAccepted(path, file, accepted);
  if (hashOfSources(file) !== sources)
    throw new Refusal(
      `${path}, or a file it imports, is another here. Give the worker the same checkout and start it again`,
    );
  return { path: file, config: await loadConfigFile(path, { command }) };
};

/**
 * Compares the values that the config's files produce here with those of the sheet; throws a `Refusal` if they differ.
 */
export const checkValues = ({ config }: WorkSheet, file: string, values: CheckedConfig): void => {
  if (hashOfConfig(file, values) !== config.hash)
    throw new Refusal(
      `${config.path} comes to other values here, such as those of the environment. Give the worker the same, and name with --env the variables that the config reads`,
    );
};

/**
 * A queue names a file and the hash of its bytes. The bytes of a published package are known to everybody, so the hash
 * alone does not prove that the file is meant to be run.
 */
const checkAccepted = (path: string, file: string, accepted: AcceptedConfigs): void => {
  const folders = [file, realpathSync(file)].flatMap((one) => relative(realpathSync(process.cwd()), one).split(sep));
  if (folders.some((name) => name === "node_modules" || (name.startsWith(".") && name !== "..")))
    throw new Refusal(`${path} is in an installed package or a hidden folder. Keep configs elsewhere`);
  if (accepted !== undefined && !accepted.some((one) => resolve(one) === file))
    throw new Refusal(`${path} is not one of the configs that this worker was started with: ${accepted.join(", ")}`);
  if (accepted === undefined && !/\bdefineConfig\b/.test(readFileSync(file, "utf8")))
    throw new Refusal(`${path} does not call defineConfig. Name it when starting the worker: sluice worker ${path} …`);
};

const isBelow = (file: string, folder: string): boolean => {
  const place = relative(folder, file);
  return place !== "" && !isAbsolute(place) && place.split(sep)[0] !== "..";
};
