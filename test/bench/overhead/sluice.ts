/**
 * Our scheduler and ledger for the overhead bench, on the real clock, with an answer that comes at once.
 *
 * Invariants: the same layers as in use, only with other capacities; the journal has no reader, as in a default engine;
 * a request is made when its call leaves, as the gateway does.
 */
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { Transport, WireRequest } from "../../../src/contract/transport.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";

interface Work {
  readonly weight: number;
  readonly urgent: boolean;
}

type Send = () => Promise<unknown>;
type Turn = (work: Work, send: Send) => Promise<unknown>;

const account = { uid: "user", ip: "home", keys: ["key"] };
/** More than any run of the bench submits. */
const queueMax = 10_000_000;

export const createTurn = (weightPerMinute: number, callsPerSecond: number): Turn => {
  const clock = createSystemClock();
  const capacities: Readonly<Record<string, number>> = { ip: 1e9, uid: weightPerMinute, key: callsPerSecond };
  const layers = layersOf(createContract()).map((layer) => ({
    ...layer,
    capacity: capacities[layer.name] ?? layer.capacity,
  }));
  const ledger = createLedger({ layers, startedAt: clock.now() });
  // The window's use is told as nothing at all, so the ledger's own count stands, as in a burst whose answers are under way.
  const transport: Transport = ({ body }, sink) => {
    void (body as Send)().then(() => {
      const date = new Date(clock.wallNow()).toUTCString();
      sink.response({ status: 200, headers: { date, "x-ratelimit-uid-weight-used": "0" }, body: undefined });
    });
  };
  const journal = new EventLog(() => clock.now());
  const scheduler = createScheduler({ clock, ledger, transport, journal, queueMax });
  return ({ weight, urgent }, send) =>
    new Promise((resolve) => {
      scheduler.submit({
        endpoint: "getOrder",
        class: urgent ? "emergency" : "read",
        owner: "bench",
        weight,
        account,
        build: (): WireRequest => ({
          endpoint: "getOrder",
          method: "GET",
          path: "",
          query: {},
          body: send,
          key: "key",
        }),
        done: resolve,
      });
    });
};
