/**
 * Script and chart style of a page, as they were bundled: one text for each, with nothing to load.
 *
 * Invariants: in a package the bundles are part of it; in a checkout a bundle that is older than its sources is made
 * again before it is read.
 * Not here: bundling (bundle.mjs).
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ownFolder = new URL("./", import.meta.url);

/** Instant of the last change in a folder and its files, milliseconds since the epoch. */
const changedAt = (folder: URL): number =>
  readdirSync(folder).reduce(
    (latest, name) => Math.max(latest, statSync(new URL(name, folder)).mtimeMs),
    statSync(folder).mtimeMs,
  );

/** A package has no sources of pages: its bundles are always current. */
const isCurrent = (file: URL, sources: readonly URL[]): boolean =>
  sources.every((folder) => !existsSync(folder) || (existsSync(file) && changedAt(folder) <= statSync(file).mtimeMs));

const bundled = (file: URL, sources: readonly URL[]): string => {
  if (!isCurrent(file, sources)) bundleAgain();
  return readFileSync(file, "utf8");
};

const bundleAgain = (): void => {
  const bundler = fileURLToPath(new URL("bundle.mjs", ownFolder));
  const { status, stderr } = spawnSync(process.execPath, [bundler], { encoding: "utf8" });
  if (status !== 0)
    throw new Error(`The pages could not be bundled. Run "npm ci" in the checkout, and look at: ${stderr.trim()}`);
};

const sharedSources = new URL("client/", ownFolder);

/**
 * Returns the script of a page: the `main` module of a plugin's client with everything it imports.
 *
 * @param plugin - folder of the plugin, with a slash at its end
 * @throws Error in a checkout whose bundles are old and whose development dependencies are not installed
 */
export const pageScript = (plugin: URL): string =>
  bundled(new URL("bundle/page.js", plugin), [new URL("client/", plugin), sharedSources]);

/** Returns the style of the chart library. */
export const chartStyle = (): string => bundled(new URL("bundle/chart.css", ownFolder), [sharedSources]);
