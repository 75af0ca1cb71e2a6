/**
 * One connection to a service by its address, without an engine: each request is sent once, at once, and answered once
 * or not at all.
 *
 * Invariants: nothing is sent that was not asked for; every key has twins whose signatures are wrong in one part
 * (`faultyName`), so that a service can be asked whether it checks them; nothing is open after `close`.
 * Not here: rate limits and repetition (the caller's), the connections of an engine (client/live/).
 */
import type { Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import type { Transport } from "../../contract/transport.ts";
import { type Dialect, wholeDialect } from "./dialect.ts";
import type { Credentials } from "./secrets.ts";
import { createServiceTime } from "./service-time.ts";
import { createFaultySigner, createSigner, faultyName, keyFaults, type Signer } from "./sign.ts";
import type { OpenSocket } from "./socket.ts";

/** Address of a service, and the terms by which requests to it are written and signed. */
export interface TransportOptions {
  /** Scheme and host of the service, such as "http://127.0.0.1:8080". */
  readonly url: string;
  /** The service's terms; those of a dialect are made by `exchangeContract`. */
  readonly contract: Contract;
  /** The exchange's dialect, where it is not the described service. */
  readonly dialect?: Dialect | undefined;
  /** Credentials by the name of their key, which requests name. Without any, requests can only be sent unsigned. */
  readonly credentials?: ReadonlyMap<string, Credentials>;
  readonly clock: Clock;
}

/** A way to a service, to be closed after use. */
export interface OpenTransport {
  /**
   * Sends a request, signed with the key that it names; `<key>!secret` and the other names of `faultyName` sign
   * wrongly.
   */
  readonly transport: Transport;
  /** Opens a socket to any address. */
  readonly openSocket: OpenSocket;
  /** The service's calendar in milliseconds since the Unix epoch, estimated from its answers. */
  serviceNow(): number;
  close(): Promise<void>;
}

/**
 * Opens a way to a service. Nothing is sent before a request is.
 *
 * @param options - address, contract, dialect and credentials
 * @returns the way; close it after use
 * @throws CONFIG_INVALID for an address that is none
 */
export const openTransport = async (options: TransportOptions): Promise<OpenTransport> => {
  const { url, clock, credentials = new Map<string, Credentials>() } = options;
  const { profile } = options.contract;
  const dialect = wholeDialect(options.dialect);
  const signers = new Map<string, Signer>();
  for (const [name, secrets] of credentials) {
    signers.set(name, createSigner(profile, secrets, dialect.signer));
    for (const fault of keyFaults)
      signers.set(faultyName(name, fault), createFaultySigner(profile, secrets, fault, dialect.signer));
  }
  const [{ HttpTransport }, { openWebSocket }] = await Promise.all([import("./http.ts"), import("./socket.ts")]);
  const time = createServiceTime(clock);
  const http = new HttpTransport({ baseUrl: url, profile, dialect, signers, clock, time });
  return {
    transport: http.transport,
    openSocket: openWebSocket,
    serviceNow: () => time.wallNow(),
    close: () => http.close(),
  };
};
