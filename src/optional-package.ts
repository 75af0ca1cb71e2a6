/**
 * Optional packages: needed by one file format or one kind of store, and not installed with Sluice.
 *
 * Invariants: a package is loaded when it is needed and not before; a missing one is refused with the line that installs it.
 */
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
