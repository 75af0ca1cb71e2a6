/**
 * Optional packages: needed by one file format or one kind of store, and not installed with Sluice.
 *
 * Invariants: a package is loaded when it is needed and not before; a missing one is refused with the line that
 * installs it.
 */
import { SluiceError } from "./errors.ts";

/**
 * Imports an optional package. `T` is the part of it that is used.
 *
 * @param name - of the package
 * @param range - versions that will do
 * @param needs - what needs it, for the message
 * @returns its exports
 * @throws PLATFORM_UNSUPPORTED with the line that installs the package, where it is missing
 */
export const optionalPackage = async <T>(name: string, range: string, needs: string): Promise<T> => {
  try {
    const loaded = (await import(name)) as T & { readonly default?: T };
    return loaded.default ?? loaded;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw new SluiceError(
      "PLATFORM_UNSUPPORTED",
      `${needs} with the package ${name}, which is not installed. Install it: npm install ${name}@${range}`,
    );
  }
};
