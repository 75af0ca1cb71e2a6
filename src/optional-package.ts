/**
 * Optional packages: needed by one file format or one kind of store, and not installed with Sluice.
 *
 * Invariants: a package is loaded when it is needed and not before; a missing one is refused with the line that installs it.
 */
import { createRequire } from "node:module";
import { SluiceError } from "./errors.ts";

/** What each is, as `npm install` takes it. The peers of package.json say the same. */
export const optionalPackages = {
  hyparquet: "hyparquet@1",
  "@uwdata/flechette": "@uwdata/flechette@2.6",
  lz4js: "lz4js@0.2",
  fzstd: "fzstd@0.1",
  ioredis: "ioredis@6",
  bullmq: "bullmq@6",
  pg: "pg@8",
  aws4fetch: "aws4fetch@1",
} as const;

/** Imports the package. `T` is the part of it that is used; `needs` is the place and the purpose: "bars.parquet: Parquet files are read". */
export const optionalPackage = async <T>(name: keyof typeof optionalPackages, needs: string): Promise<T> => {
  try {
    const loaded = (await import(name)) as T & { readonly default?: T };
    return loaded.default ?? loaded;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new SluiceError(
      "PLATFORM_UNSUPPORTED",
      `${needs} with the package ${name}, which is not installed. Install it: npm install ${optionalPackages[name]}`,
    );
  }
};

/**
 * The same without a wait, for the set-up of a plugin.
 *
 * @param plugin - name of the plugin, for the message
 * @param range - version as `npm install` takes it: `15`
 * @param from - `import.meta.url` of the file that needs the package
 * @throws PLATFORM_UNSUPPORTED where it is not installed
 */
export const requirePackage = <T>(plugin: string, name: string, range: string, from: string): T => {
  try {
    return createRequire(from)(name) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new SluiceError(
      "PLATFORM_UNSUPPORTED",
      `plugin ${plugin}: it needs the package ${name}, which is not installed. Install it: npm install ${name}@${range}`,
    );
  }
};
