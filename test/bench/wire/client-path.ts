/**
 * The whole way of a placement without an engine: gateway, scheduler, ledger, journal, validation, signing, transport.
 *
 * Invariants: nothing is left out; the layers are those in use, only so large that they never hold a call.
 */
import { firstValueFrom } from "rxjs";
import { createGateway } from "../../../src/client/gateway.ts";
import { wholeDialect } from "../../../src/client/transport/dialect.ts";
import { HttpTransport } from "../../../src/client/transport/http.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { createServiceTime } from "../../../src/client/transport/service-time.ts";
import { createSigner } from "../../../src/client/transport/sign.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";

export interface Path {
  /** Resolves when the outcome is known; fails when it is not a success. */
  readonly place: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly events: () => number;
}

const input = {
  instId: "BTC-USDT-SWAP",
  side: "buy",
  ordType: "post_only",
  sz: "1000",
  px: "64123.4",
  clOrdId: "s1a2b3c4d5e6f7",
};

export const openPath = (baseUrl: string): Path => {
  const clock = createSystemClock();
  const contract = createContract();
  const { profile } = contract;
  const credentials = createCredentials({
    apiKey: "bench-key-0001",
    secretKey: "bench-secret",
    passphrase: "bench-pass",
  });
  const signers = new Map([["k1", createSigner(profile, credentials)]]);
  const http = new HttpTransport({
    baseUrl,
    profile,
    dialect: wholeDialect(),
    signers,
    clock,
    time: createServiceTime(clock),
  });
  const layers = layersOf(contract).map((layer) => ({ ...layer, capacity: 900_000_000 }));
  const ledger = createLedger({ layers, startedAt: clock.now(), quietMs: 0 });
  const journal = new EventLog(() => clock.now());
  let events = 0;
  journal.attach(() => {
    events++;
  });
  const scheduler = createScheduler({ clock, ledger, transport: http.transport, journal });
  const user = { uid: "ann", ip: "home", keys: [{ name: "k1", permissions: ["read", "trade_futures"] }] };
  const gateway = createGateway({ clock, contract, scheduler, journal, user });
  return {
    place: async () => {
      const outcome = await firstValueFrom(gateway.call("placeOrder", input, { class: "place", owner: "bench" }));
      if (outcome.kind !== "done" || outcome.records.length !== 1) throw new Error(JSON.stringify(outcome));
    },
    close: () => http.close(),
    events: () => events,
  };
};
