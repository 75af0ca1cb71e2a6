/**
 * Packages that reading one format of file needs and that are not installed with Sluice.
 *
 * Invariants: a package is loaded when a file needs it and not before; a missing one is refused with the line that installs it.
 */
import { SluiceError } from "../../../errors.ts";

/** What each is, as `npm install` takes it. The peers of package.json say the same. */
export const optionalPackages = {
  hyparquet: "hyparquet@1",
  "@uwdata/flechette": "@uwdata/flechette@2.6",
  lz4js: "lz4js@0.2",
  fzstd: "fzstd@0.1",
} as const;

/** `T` is the part of the package that is used; `what` says for whom: "Parquet files". */
export const optionalPackage = async <T>(name: keyof typeof optionalPackages, file: string, what: string): Promise<T> => {
  try {
    const loaded = (await import(name)) as T & { readonly default?: T };
    return loaded.default ?? loaded;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new SluiceError(
      "PLATFORM_UNSUPPORTED",
      `${file}: ${what} are read with the package ${name}, which is not installed. Install it: npm install ${optionalPackages[name]}`,
    );
  }
};
