/**
 * Description of an exchange other than the described service: addresses, dialect, abilities, and how they were
 * verified.
 *
 * Invariants: each verified ability names how it was verified; those not verified are listed as well.
 * Not here: the exchanges (okx.ts, blofin.ts), connections (`live`).
 */
import { type LiveOptions, live } from "sluice";
import type { Dialect } from "sluice/dialect";
import type { LiveSpec } from "sluice/extension";

/** Options of an exchange: those of `live`, where the addresses are known. */
export type ExchangeOptions = Omit<LiveOptions, "baseUrl" | "dialect"> & {
  /** Instead of the address of the environment, such as one of your region. */
  readonly baseUrl?: string;
};

type Environment = LiveOptions["environment"];

interface Addresses {
  readonly baseUrl: string;
  /** URL of the sockets if they are not at the same host. */
  readonly wsUrl?: string;
}

export interface Exchange {
  /** Name of the exchange, as in the package's entry, such as "okx". */
  readonly name: string;
  readonly title: string;
  readonly addresses: Readonly<Record<Environment, Addresses>>;
  readonly dialect: (environment: Environment) => Dialect;
  /** Abilities and limitations of the exchange, one per line. */
  readonly abilities: readonly string[];
  readonly verified: readonly Verification[];
}

interface Verification {
  readonly what: "signatures" | "records" | "a copy on a port" | "lost orders" | "the demo account" | "real money";
  /** Against what; undefined where it was not. */
  readonly how: string | undefined;
}

/**
 * The service of a config: the exchange's addresses, unless others are given. An address of one's own brings its own
 * sockets.
 */
export const serviceAt = ({ addresses, dialect }: Exchange, { baseUrl, ...options }: ExchangeOptions): LiveSpec => {
  // The environment of a config without types may be any value; `live` reports the allowed ones.
  const known = baseUrl === undefined ? (addresses[options.environment] as Addresses | undefined) : { baseUrl };
  return live({ ...(known ?? addresses.testnet), ...options, dialect: dialect(options.environment) });
};
