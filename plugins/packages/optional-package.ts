/**
 * Package that one plugin needs and that is not installed with Sluice.
 *
 * Invariants: it is loaded when the plugin starts and not before; a missing one is refused with the line that installs it.
 */
import { createRequire } from "node:module";
import { SluiceError } from "sluice";

const load = createRequire(import.meta.url);

/** `T` is the part that is used; `range` as `npm install` takes it: `prom-client@15`. A plugin starts in one go, so this does not wait. */
export const optionalPackage = <T>(plugin: string, name: string, range: string): T => {
  try {
    return load(name) as T;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new SluiceError(
      "PLATFORM_UNSUPPORTED",
      `plugin ${plugin}: it needs the package ${name}, which is not installed. Install it: npm install ${name}@${range}`,
    );
  }
};
