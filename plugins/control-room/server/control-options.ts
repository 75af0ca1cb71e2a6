/**
 * Options of the control port, and the resulting address and access.
 *
 * Invariants: without an explicit option only this machine reaches it; beyond this machine only with TLS, or behind a
 * proxy that ends it, and with tokens of the user's own.
 */
import { readFileSync } from "node:fs";
import { SluiceError } from "sluice";
import { messageOf } from "sluice/extension";
import { newTokens, type PortTokens, tokensIn } from "../port-file.ts";
import { tokenHash } from "./request-guard.ts";
import type { PortFacts } from "./thread-messages.ts";

/** Options of the control port. The plugin `dashboard` has their defaults. */
export interface ControlOptions {
  /** Port to listen on; 0 takes a free one. */
  readonly port: number;
  /** Address to listen on. Any other than this machine's needs `tls` or `behindProxy`, and `tokenFile`. */
  readonly host: string;
  /** Files of the certificate and its key, PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Names under which browsers reach it, besides localhost. */
  readonly names: readonly string[];
  /** A proxy in front of it ends TLS and is reached under `names`. */
  readonly behindProxy: boolean;
  /** No client may act: there is a reading token only. */
  readonly readOnly: boolean;
  /** A file with tokens of your own: the acting one, and on a second line the reading one. */
  readonly tokenFile?: string;
  /** Name of the engine, where several are shown at one port. */
  readonly name?: string;
  /** Read balances and positions of the account while it runs; own fills are always shown. */
  readonly account: boolean;
}

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

/** Returns the facts for the thread, the tokens, and the address for people. */
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
