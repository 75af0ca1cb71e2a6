/**
 * `--dialect`: an exchange that a plugin names in its manifest, or a file whose default export is a dialect.
 *
 * Invariants: a value that is no dialect is refused with its missing parts, before anything is sent.
 */

import { SluiceError } from "sluice";
import type { Dialect } from "sluice/dialect";
import { didYouMean, loadConfigFile, readContributions } from "sluice/extension";

/** Help of the option, with the names of the plugins' dialects. */
export const dialectHelp = (): string =>
  `exchange whose dialect the service uses: ${[...named().keys()].join(", ")}, or a file whose default export is a dialect`;

const named = () => readContributions(process.cwd()).dialects;

/** The dialect of this name, or of this file. */
export const dialectOf = async (name: string): Promise<Dialect> => {
  const dialects = named();
  const known = dialects.get(name);
  if (known === undefined && !/[./\\]/.test(name)) {
    const names = [...dialects.keys()];
    throw new SluiceError(
      "USAGE",
      `--dialect: "${name}" is no exchange of the package.${didYouMean(name, names)} Known: ${names.join(", ")}; or name a file, such as ./dialects/acme.ts.`,
    );
  }
  const value = (await (known?.load() ?? loadConfigFile(name, { command: "check" }))) as Partial<Dialect> | undefined;
  if (typeof value?.name === "string" && value.name !== "") return value as Dialect;
  throw new SluiceError(
    "USAGE",
    `--dialect: the default export of ${known?.module ?? name} has no name. Write export default { name: "acme-v2", … }.`,
  );
};
