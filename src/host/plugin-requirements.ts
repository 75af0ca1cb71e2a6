/**
 * Requirements of a plugin: a version of Sluice, other plugins, and modes of running.
 *
 * Invariants: a config is checked against it when it is loaded, before any code of the plugin runs. Every plugin that
 * does not fit is named.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { didYouMean, SluiceError } from "../errors.ts";

/** A way of running: against recorded data, with paper money, or with real orders. */
type PluginMode = "backtest" | "paper" | "live";

/** Requirements of a plugin. Every member is optional. */
export interface PluginRequirements {
  /** Versions of Sluice that it works with: a range as npm writes it, such as `"^0.2.0"`. */
  readonly sluice?: string;
  /** Names of plugins that the config must have as well. */
  readonly needs?: readonly string[];
  /** Modes that it works in. All of them when left out; a simulation accepts every plugin. */
  readonly modes?: readonly PluginMode[];
}

/** The part of a plugin that is compared with a config. */
interface Requiring {
  readonly name: string;
  readonly definition?: string;
  readonly requires?: PluginRequirements;
}

const knownModes: readonly string[] = ["backtest", "paper", "live"] satisfies PluginMode[];

/**
 * The version of Sluice, read from its package.json, which is the only place that states it.
 *
 * @returns such as "0.2.0"
 */
export const packageVersion = (): string => {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((manifest as { version: unknown }).version);
};

interface Semver {
  readonly satisfies: (version: string, range: string, options: { readonly includePrerelease: boolean }) => boolean;
  readonly validRange: (range: string) => string | null;
}

/** Loaded when a plugin declares a range: most programs never need it. */
const semver = (): Semver => createRequire(import.meta.url)("semver") as Semver;

/** Refuses a range or a mode that cannot be meant. `place` is the definition that declares it. */
export const checkRequirementsOf = (place: string, { sluice, modes = [] }: PluginRequirements): void => {
  if (sluice !== undefined && semver().validRange(sluice) === null) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `${place}: sluice ${JSON.stringify(sluice)} is no range of versions. Write sluice: "^${packageVersion()}".`,
    );
  }
  const unknown = modes.find((mode) => !knownModes.includes(mode));
  if (unknown === undefined) return;
  throw new SluiceError(
    "CONFIG_INVALID",
    `${place}: modes has ${JSON.stringify(unknown)}; there is ${knownModes.join(", ")}.${didYouMean(unknown, knownModes)}`,
  );
};

const namesOf = (plugins: readonly Requiring[]): string[] => plugins.map(({ definition, name }) => definition ?? name);

const versionProblem = (range: string | undefined): string[] => {
  if (range === undefined) return [];
  const version = packageVersion();
  if (semver().satisfies(version, range, { includePrerelease: true })) return [];
  return [`it supports Sluice ${range}, and this is ${version}. Install a version of it for ${version}.`];
};

const missingPlugins = (needs: readonly string[], present: readonly string[]): string[] =>
  needs
    .filter((name) => !present.includes(name))
    .map((name) => `it needs the plugin ${name}. Add ${name} to plugins.${didYouMean(name, present)}`);

const modeProblem = (modes: readonly PluginMode[] | undefined, kind: string): string[] => {
  if (modes === undefined || !knownModes.includes(kind) || modes.includes(kind as PluginMode)) return [];
  return [`it runs in ${modes.join(" and ")} only, and this config is for ${kind}. Leave it out of this config.`];
};

/**
 * Compares what each plugin requires with the config.
 *
 * @param kind Kind of the config's service.
 * @throws PLUGIN_INCOMPATIBLE with one line for each requirement that is not met.
 */
export const checkRequirements = (plugins: readonly Requiring[], kind: string): void => {
  const present = namesOf(plugins);
  const problems = plugins.flatMap(({ name, requires: { sluice, needs = [], modes } = {} }) =>
    [...versionProblem(sluice), ...missingPlugins(needs, present), ...modeProblem(modes, kind)].map(
      (problem) => `plugin ${name}: ${problem}`,
    ),
  );
  if (problems.length > 0) throw new SluiceError("PLUGIN_INCOMPATIBLE", problems.join("\n"));
};
