/**
 * `--dialect`: an exchange of the package by name, or a file whose default export is a dialect.
 *
 * Invariants: what is no dialect is refused with what it lacks, before anything is sent.
 */
import { blofinExchange } from "../client/dialects/blofin-exchange.ts";
import type { Exchange } from "../client/dialects/exchange-service.ts";
import { okxExchange } from "../client/dialects/okx-exchange.ts";
import type { Dialect } from "../client/transport/dialect.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import { loadConfigFile } from "../host/load.ts";

export const exchanges: readonly Exchange[] = [okxExchange, blofinExchange];

/** The demo of an exchange may want other words than the exchange itself. */
const named: Readonly<Record<string, () => Dialect>> = {
  okx: () => okxExchange.dialect("mainnet"),
  "okx-demo": () => okxExchange.dialect("testnet"),
  blofin: () => blofinExchange.dialect("mainnet"),
};

export const dialectHelp = `exchange the service speaks as: ${Object.keys(named).join(", ")}, or a file whose default export is a dialect`;

/** The dialect of this name, or of this file. */
export const dialectOf = async (name: string): Promise<Dialect> => {
  const known = named[name];
  if (known !== undefined) return known();
  if (!/[./\\]/.test(name)) {
    const names = Object.keys(named);
    throw new SluiceError(
      "USAGE",
      `--dialect: "${name}" is no exchange of the package.${didYouMean(name, names)} Known: ${names.join(", ")}; or name a file, such as ./dialects/acme.ts.`,
    );
  }
  const value = (await loadConfigFile(name, { command: "check" })) as Partial<Dialect>;
  if (typeof value.name === "string" && value.name !== "") return value as Dialect;
  throw new SluiceError(
    "USAGE",
    `--dialect: the default export of ${name} has no name. Write export default { name: "acme-v2", … }.`,
  );
};
