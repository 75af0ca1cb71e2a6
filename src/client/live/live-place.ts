/**
 * Address and environment of a config's service, for commands that need them before they open anything.
 *
 * Invariants: read from fields that any network service can have; a service without them has no environment.
 */
import type { Environment } from "../../contract/limits.ts";
import { SluiceError } from "../../errors.ts";
import type { Dialect } from "../transport/dialect.ts";
import { confirmationPath } from "./size-unit-confirmation.ts";

interface LivePlace {
  readonly environment: Environment;
  readonly baseUrl: string;
  /** Path of the file that confirms the unit of `sz`. */
  readonly confirmation: string;
  readonly dialect?: Dialect;
}

/**
 * Environment and address of a live service.
 *
 * @param service - of a config
 * @returns undefined for the embedded service
 */
export const placeOf = (service: unknown): LivePlace | undefined => {
  if (typeof service !== "object" || service === null || !("environment" in service)) return undefined;
  const { environment, baseUrl, confirmation, dialect } = service as Readonly<Record<string, unknown>>;
  return {
    // Every environment that is not called a testnet is treated as if money were at risk.
    environment: environment === "testnet" ? "testnet" : "mainnet",
    baseUrl: typeof baseUrl === "string" ? baseUrl : "",
    confirmation: typeof confirmation === "string" ? confirmation : confirmationPath,
    ...(typeof dialect === "object" && dialect !== null && { dialect: dialect as Dialect }),
  };
};

/** Refuses, before anything is opened, a service of the other environment. */
export const checkEnvironment = (service: unknown, wanted: Environment, message: string): void => {
  const place = placeOf(service);
  if (place !== undefined && place.environment !== wanted) throw new SluiceError("USAGE", message);
};
