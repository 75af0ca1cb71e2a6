/**
 * Options of the control port, and what they come to: where it listens and who may ask.
 *
 * Invariants: without an option that says so nobody but this machine reaches it; beyond this machine only with TLS, or behind a proxy that
 * ends it, and with tokens of the user's own.
 */
import { readFileSync } from "node:fs";
import type { FromSchema } from "json-schema-to-ts";
import { messageOf, SluiceError } from "../../../errors.ts";
import { newTokens, type PortTokens, tokensIn } from "../port-file.ts";
import { tokenHash } from "./request-guard.ts";
import type { PortFacts } from "./thread-messages.ts";

const path = { type: "string", minLength: 1 } as const;

/** Options of the plugin `dashboard`, as a JSON Schema. */
export const controlOptions = {
  type: "object",
  additionalProperties: false,
  properties: {
    /** Port to listen on; 0 takes a free one. */
    port: { type: "integer", minimum: 0, maximum: 65535, default: 0 },
    /** Address to listen on. Any other than this machine's needs `tls` or `behindProxy`, and `tokenFile`. */
    host: { type: "string", default: "127.0.0.1" },
    /** Files of the certificate and its key, PEM. */
    tls: {
      type: "object",
      additionalProperties: false,
      required: ["cert", "key"],
      properties: { cert: path, key: path },
    },
    /** Names under which browsers reach it, besides localhost. */
    names: {
      type: "array",
      maxItems: 20,
      items: { type: "string", pattern: "^[A-Za-z0-9.-]{1,253}(:\\d{1,5})?$" },
      default: [],
    },
    /** A proxy in front of it ends TLS and is reached under `names`. */
    behindProxy: { type: "boolean", default: false },
    /** Nobody may act: there is a reading token only. */
    readOnly: { type: "boolean", default: false },
    /** A file with tokens of your own: the acting one, and on a second line the reading one. */
    tokenFile: path,
    /** Name of the engine, where several are shown at one port. */
    name: { type: "string", minLength: 1, maxLength: 60, pattern: "^[^\\u0000-\\u001f\\u007f/]*$" },
    /** Read balances and positions of the account while it runs; own fills are always shown. */
    account: { type: "boolean", default: true },
  },
} as const;

/** Options of the control port. */
export type ControlOptions = FromSchema<typeof controlOptions>;

const thisMachine: readonly string[] = ["127.0.0.1", "::1", "localhost"];

const refuse = (why: string): never => {
  throw new SluiceError("CONFIG_INVALID", `dashboard: ${why}`);
};

const textOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return refuse(`${file} cannot be read: ${messageOf(error)}`);
  }
};

/** What the thread is told, the tokens, and the address for people. */
export const portOf = (
  options: ControlOptions,
  version: string,
): { readonly facts: PortFacts; readonly tokens: PortTokens } => {
  const { port, host, tls, names, behindProxy, readOnly, tokenFile } = options;
  const isOpen = !thisMachine.includes(host);
  if (behindProxy && names.length === 0)
    refuse('behindProxy needs the names under which the proxy is reached: names: ["desk.example.org"].');
  if (isOpen && tls === undefined && !behindProxy) {
    refuse(
      `host ${host} is beyond this machine: it needs tls: { cert, key }, or behindProxy: true with names. Without either leave host out.`,
    );
  }
  if (isOpen && tokenFile === undefined)
    refuse(`host ${host} is beyond this machine: it needs a tokenFile of your own.`);
  const tokens = tokenFile === undefined ? newTokens(readOnly) : tokensIn(tokenFile, readOnly);
  const { read, act } = tokens;
  const facts: PortFacts = {
    host,
    port,
    names,
    behindProxy,
    isOpen,
    version,
    tokens: { read: tokenHash(read), ...(act !== undefined && { act: tokenHash(act) }) },
    ...(tls !== undefined && { tls: { cert: textOf(tls.cert), key: textOf(tls.key) } }),
  };
  return { facts, tokens };
};
