/**
 * Address of a store: one server, or sentinels that know which server is the primary.
 *
 * Invariants: what is shown to people holds no password.
 * Not here: connecting (redis-connection.ts).
 */
import { SluiceError } from "sluice";

/** `redis://`, `rediss://` or `sentinel://HOST:PORT,HOST:PORT/PRIMARY`, or the environment variable that holds it. */
export type StoreAddress = string | { readonly env: string };

/** JSON Schema of a store's address in a config. */
export const storeAddressSchema = {
  description:
    "`redis://`, `rediss://` or `sentinel://HOST:PORT,HOST:PORT/PRIMARY`, or the environment variable that holds it.",
  anyOf: [
    { type: "string", pattern: "^(rediss?|sentinel)://[^\\s]{1,500}$" },
    {
      type: "object",
      additionalProperties: false,
      required: ["env"],
      properties: {
        env: {
          description: "Environment variable that holds the address.",
          type: "string",
          pattern: "^[A-Za-z_][A-Za-z0-9_]{0,99}$",
        },
      },
    },
  ],
} as const;

interface SentinelAddress {
  /** Name of the primary at the sentinels. */
  readonly name: string;
  readonly sentinels: { host: string; port: number }[];
  readonly username?: string;
  readonly password?: string;
}

/** Forms of a store's address, for messages of configs and commands. */
export const addressForms = "redis://HOST:PORT, rediss://HOST:PORT or sentinel://HOST:PORT,HOST:PORT/PRIMARY";
const sentinelPort = 26_379;
const sentinels = /^sentinel:\/\/(?:([^:@/]*):([^@/]*)@)?([^/@]+)\/([\w.-]+)$/;

/** True if the address can be dialled. */
export const isStoreAddress = (text: string): boolean => /^rediss?:\/\/\S+$/.test(text) || sentinels.test(text);

/**
 * Target of a connection: an address that the client reads itself, or sentinels to ask first. User and password are
 * those of the primary.
 */
export const dialled = (address: string): string | SentinelAddress => {
  const [, username, password, hosts, name] = sentinels.exec(address) ?? [];
  if (hosts === undefined || name === undefined) return address;
  return {
    name,
    sentinels: hosts.split(",").map((one) => {
      const at = one.lastIndexOf(":");
      return at < 0 ? { host: one, port: sentinelPort } : { host: one.slice(0, at), port: Number(one.slice(at + 1)) };
    }),
    ...(username !== undefined && username !== "" && { username: decodeURIComponent(username) }),
    ...(password !== undefined && { password: decodeURIComponent(password) }),
  };
};

/**
 * The address as people may see it, also a mistyped one: what is before the last @ or after a ? may hold a password.
 */
export const shownAddress = (address: string): string =>
  address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, "$1").replace(/\?.*$/s, "");

/**
 * Returns the address that a config names at `place`, such as "standby.store"; throws CONFIG_INVALID where its variable
 * is not set.
 */
export const addressIn = (store: StoreAddress, place: string): string => {
  if (typeof store === "string") return store;
  const address = process.env[store.env];
  if (address !== undefined && address !== "") return address;
  throw new SluiceError(
    "CONFIG_INVALID",
    `${place}: the environment variable ${store.env} is not set. Set it to the store's address, such as redis://10.0.0.5:6379.`,
  );
};
