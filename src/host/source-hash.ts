/**
 * Source hash of a config: of its file, the files it imports by relative path, and its values.
 *
 * Invariants: the same files and values give the same hash in any folder; an edit of a strategy changes it.
 * Not here: installed packages, which are assumed not to change.
 */
import { createHash, type Hash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import type { CheckedConfig } from "./config.ts";

/**
 * Hash of a config: of its file and those that it imports, and of the values they came to.
 *
 * @param configPath - the file
 * @param config - what it came to
 * @returns SHA-256 in hex
 */
export const hashOfConfig = (configPath: string, config: CheckedConfig): string =>
  withSources(configPath).update(valuesOf(config)).digest("hex");

/**
 * Hash of a config's file and those that it imports. None of their code is run.
 *
 * @param configPath - the file
 * @returns SHA-256 in hex
 */
export const hashOfSources = (configPath: string): string => withSources(configPath).digest("hex");

const withSources = (configPath: string): Hash => {
  const root = resolve(configPath);
  const files = [...filesFrom(root)].sort();
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(`${relative(dirname(root), file)}\n`)
      .update(readFileSync(file))
      .update("\n");
  return hash;
};

const imported = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']*)["']/g;

const filesFrom = (root: string): ReadonlySet<string> => {
  const found = new Set([root]);
  for (const file of found) {
    for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(imported)) {
      const target = fileOf(resolve(dirname(file), specifier));
      if (target !== undefined) found.add(target);
    }
  }
  return found;
};

const fileOf = (path: string): string | undefined =>
  [
    path,
    `${path}.ts`,
    `${path}.js`,
    `${path}.mjs`,
    path.replace(/\.(m?)js$/, ".$1ts"),
    `${path}/index.ts`,
    `${path}/index.js`,
  ].find((candidate) => existsSync(candidate) && statSync(candidate).isFile());

/** Functions are left out, because they are in the files. */
const valuesOf = ({
  service,
  strategies,
  plugins,
  profile,
  orders,
  quota,
  freshness,
  instance,
  seed,
}: CheckedConfig): string =>
  JSON.stringify([
    (service as { readonly options?: unknown }).options ?? service.kind,
    strategies.map(({ name, user, options, schema }) => [name, user, options, schema]),
    plugins.map(({ name, options }) => [name, options]),
    [profile, orders, quota, freshness, instance, seed],
  ]);
