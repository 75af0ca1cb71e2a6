/**
 * A client on a virtual clock in front of a raw server: time passes only when told, sockets are real.
 *
 * Invariants: what a test opened is closed by `close`; results are told as one line of text each.
 */

import { createGateway, type Gateway } from "../../../src/client/gateway.ts";
import type { Outcome } from "../../../src/client/outcome.ts";
import { wholeDialect } from "../../../src/client/transport/dialect.ts";
import { HttpTransport } from "../../../src/client/transport/http.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { createServiceTime } from "../../../src/client/transport/service-time.ts";
import { createSigner } from "../../../src/client/transport/sign.ts";
import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import type { WireRequest } from "../../../src/contract/transport.ts";
import { isSluiceError } from "../../../src/errors.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";

export const startedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
export const canary = {
  apiKey: "key-CANARY-0001",
  secretKey: "secret-CANARY/0002+x",
  passphrase: "pass CANARY 0003",
} as const;
export const contract = createContract();
export const swap = "BTC-USDT-SWAP";

export const requestOf = (endpoint: EndpointName, part: Partial<WireRequest> = {}): WireRequest => {
  const { method, path } = contract.endpoints[endpoint];
  return {
    endpoint,
    method,
    path,
    query: {},
    body: method === "POST" ? { instId: swap } : undefined,
    key: "k1",
    ...part,
  };
};

export type HttpOptions = ConstructorParameters<typeof HttpTransport>[0];

export interface Client extends Pick<HttpTransport, "transport" | "open" | "close"> {
  readonly clock: VirtualClock;
  /** How the request ended, as text: the status and the body, or the code and the message. */
  send(request: WireRequest): Promise<string>;
}

export const createClient = (baseUrl: string, part: Partial<HttpOptions> = {}): Client => {
  const clock = createVirtualClock(startedAt);
  const signers = new Map([["k1", createSigner(contract.profile, createCredentials(canary))]]);
  const http = new HttpTransport({
    baseUrl,
    profile: contract.profile,
    dialect: wholeDialect(),
    signers,
    clock,
    time: createServiceTime(clock),
    ...part,
  });
  return {
    transport: http.transport,
    open: http.open,
    close: () => http.close(),
    clock,
    send: (request) =>
      new Promise((resolve) => {
        http.transport(request, {
          response: ({ status, body }) => {
            resolve(`${status} ${body === undefined ? "no body" : JSON.stringify(body)}`);
          },
          failed: (error) => {
            resolve(isSluiceError(error) ? `${error.code} ${error.message}` : String(error));
          },
          closed: false,
        });
      }),
  };
};

export const createDoor = ({ clock, transport }: Client): Gateway => {
  const ledger = createLedger({ layers: layersOf(contract), startedAt: clock.now(), quietMs: 0 });
  const journal = new EventLog(() => clock.now());
  const scheduler = createScheduler({ clock, ledger, transport, journal });
  const permissions = ["read", "trade_spot", "trade_futures"];
  return createGateway({
    clock,
    contract,
    scheduler,
    journal,
    user: { uid: "ann", ip: "home", keys: [{ name: "k1", permissions }] },
  });
};

export const spell = (outcome: Outcome<unknown>): string => {
  switch (outcome.kind) {
    case "done":
      return `done ${JSON.stringify(outcome.records)}${outcome.problems.length > 0 ? ` but ${outcome.problems.join()}` : ""}`;
    case "rejected":
      return `rejected ${outcome.status} ${outcome.code}: ${outcome.msg}`;
    case "unknown":
      return `unknown: ${outcome.message}`;
    case "dropped":
      return `dropped: ${outcome.reason}`;
    case "limited":
      return "limited";
  }
};

/** A few turns of the event loop: for what must not happen. What must is waited for with `until`. */
export const moment = (ms = 10): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const until = async (holds: () => boolean): Promise<void> => {
  for (let tries = 0; tries < 5_000 && !holds(); tries++) await moment(1);
  if (!holds()) throw new Error(`still not true: ${holds.toString()}`);
};
