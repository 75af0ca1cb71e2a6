/**
 * Address of a server on a command line: the address itself, or the variable that holds it.
 *
 * Invariants: passwords of an address are never shown.
 */
import { SluiceError } from "sluice";
import { shownAddress } from "./store-address.ts";

interface Addresses {
  /** Kind of place, as in "a store". */
  readonly what: string;
  readonly fits: (text: string) => boolean;
  /** Forms of an address. */
  readonly forms: string;
}

/**
 * Returns the address that `address` is, or that the variable of `env:NAME` holds; throws USAGE where it is neither.
 */
export const givenAddress = (address: string, { what, fits, forms }: Addresses): string => {
  const variable = /^env:(\w+)$/.exec(address)?.[1];
  const url = variable === undefined ? address : process.env[variable];
  if (url === undefined)
    throw new SluiceError(
      "USAGE",
      `The environment variable ${variable} is not set. Set it to the address of ${what}.`,
    );
  if (fits(url)) return url;
  const shown = variable === undefined ? `"${shownAddress(address)}"` : `The value of ${variable}`;
  throw new SluiceError("USAGE", `${shown} is not the address of ${what}. Write ${forms}, or env:NAME.`);
};
