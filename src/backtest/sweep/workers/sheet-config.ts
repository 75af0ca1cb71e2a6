/**
 * The config of a sheet as a worker has it.
 *
 * Invariants: it lies below the working folder; its files are compared with the sheet before any of them runs; a refusal says what
 * differs and what to do.
 */
import { existsSync, realpathSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { CheckedConfig } from "../../../host/config.ts";
import { loadConfigFile } from "../../../host/load.ts";
import { hashOfConfig, hashOfSources } from "../../../host/source-hash.ts";
import { refusalOfVersion, type WorkSheet } from "./work-sheet.ts";

/** Why a worker does not take jobs of a sheet; it will not change its mind while it runs. */
export class Refusal extends Error {}

/** Loads it as for `command`; throws a `Refusal` where it is another. */
export const configOf = async (
  sheet: WorkSheet,
  command: string,
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
  if (hashOfSources(file) !== sources)
    throw new Refusal(
      `${path}, or a file it imports, is another here. Give the worker the same checkout and start it again`,
    );
  return { path: file, config: await loadConfigFile(path, { command }) };
};

/** What its files came to here; a `Refusal` where that is something else. */
export const checkValues = ({ config }: WorkSheet, file: string, values: CheckedConfig): void => {
  if (hashOfConfig(file, values) !== config.hash)
    throw new Refusal(
      `${config.path} comes to other values here, such as those of the environment. Give the worker the same`,
    );
};

const isBelow = (file: string, folder: string): boolean => {
  const place = relative(folder, file);
  return place !== "" && !isAbsolute(place) && place.split(sep)[0] !== "..";
};
