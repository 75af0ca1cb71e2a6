import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { type Contract, createContract } from "../../../src/contract/contract.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import type { ExtraLayer } from "../../../src/contract/profile.ts";
import type { Transport } from "../../../src/contract/transport.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { ActionClass } from "../../../src/journal/events.ts";
import { createRandom } from "../../../src/random.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger } from "../../../src/scheduler/quota/ledger.ts";
import type { QuotaPort } from "../../../src/scheduler/quota/port.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";
import { RateLimiter } from "../../../src/venue/rate-limiter.ts";
import { legsOf, type NetworkKind } from "./network.ts";

export interface ExtraPlan {
  readonly seed: number;
  readonly layers: readonly ExtraLayer[];
  readonly skewMs: number;
  readonly driftPpm: number;
  readonly phaseMs: number;
  readonly network: NetworkKind;
}

/** A call as the service let it pass. */
export interface Passed {
  readonly at: number;
  readonly endpoint: EndpointName;
  readonly elements: number;
  readonly weight: number;
}

export interface ExtraStory {
  /** Service instants of refusals. */
  readonly refusals: readonly number[];
  readonly passed: readonly Passed[];
  readonly waiting: number;
  /** Elements that were never sent. */
  readonly left: number;
}

export type Port = (ledger: Ledger) => QuotaPort;

const day = 1_767_600_000_000;
const bursts = 6;
const caller = { ip: "home", key: "k", uid: "u" };
const account = { uid: "u", ip: "home", keys: ["k"] };
const elementsMax = 20;

interface Service {
  readonly contract: Contract;
  readonly meter: RateLimiter;
  readonly now: () => number;
  readonly refusals: number[];
  readonly passed: Passed[];
}

const headersOf = ({ meter, contract, now }: Service) => ({
  date: new Date(now()).toUTCString(),
  "x-ratelimit-ip-remaining": String(Math.max(0, contract.layers.ip.capacity - meter.layers.ip.at("home", now()).used)),
  "x-ratelimit-key-remaining": String(Math.max(0, contract.layers.key.capacity - meter.layers.key.at("k", now()).used)),
  "x-ratelimit-uid-weight-used": String(meter.layers.uid.at("u", now()).used),
});

const judge = (service: Service, endpoint: EndpointName, elements: number): boolean => {
  const { meter, contract, now, passed, refusals } = service;
  const { weight } = contract.endpoints[endpoint];
  const content = { endpoint, elements };
  const fine = meter.arrive("home", caller, weight, now(), content) && meter.spend(caller, weight, now(), content);
  if (fine) passed.push({ at: now(), endpoint, elements, weight });
  else refusals.push(now());
  return fine;
};

export const playExtra = (plan: ExtraPlan, portOf: Port = (ledger) => ledger): ExtraStory => {
  const clock = createVirtualClock(day + plan.phaseMs);
  const startedAt = clock.now();
  const now = (): number => clock.now() + plan.skewMs + (clock.now() - startedAt) * plan.driftPpm * 1e-6;
  const random = createRandom(`extra ${plan.seed}`);
  const contract = createContract({ limits: { extraLayers: plan.layers } });
  const service: Service = { contract, meter: new RateLimiter(contract, true), now, refusals: [], passed: [] };
  const transport: Transport = ({ endpoint, body }, sink) => {
    const { thereMs, backMs } = legsOf(plan.network, random, now());
    clock.setTimer(clock.now() + thereMs, () => {
      const status = judge(service, endpoint, Array.isArray(body) ? body.length : 1) ? 200 : 429;
      const headers = headersOf(service);
      clock.setTimer(clock.now() + backMs, () => {
        sink.response({ status, headers, body: undefined });
      });
    });
  };
  const ledger = createLedger({ layers: layersOf(contract), startedAt });
  const journal = new EventLog(() => clock.now());
  const scheduler = createScheduler({ clock, ledger, port: portOf(ledger), transport, journal });

  const done = (): void => undefined;
  const ask = (endpoint: EndpointName, kind: ActionClass): void => {
    const { weight, method, path } = contract.endpoints[endpoint];
    const build = (key: string | undefined) => ({ endpoint, method, path, query: {}, body: undefined, key });
    scheduler.submit({ endpoint, class: kind, owner: "test", weight, account, build, done });
  };
  let pool = 0;
  let queued = false;
  /** As cancels do: one call waits, takes what there is when it leaves, and is followed by the next for the rest. */
  const cancel = (): void => {
    if (queued || pool === 0) return;
    queued = true;
    const { weight, method, path } = contract.endpoints.cancelBatch;
    const build = (key: string | undefined, most: number) => {
      const body = Array.from({ length: Math.min(pool, most, elementsMax) }, (_, index) => ({ index }));
      pool -= body.length;
      queued = false;
      cancel();
      return { endpoint: "cancelBatch" as const, method, path, query: {}, body, key };
    };
    const elementsNow = (): number => Math.min(pool, elementsMax);
    scheduler.submit({
      endpoint: "cancelBatch",
      class: "cancel",
      owner: "test",
      weight,
      account,
      build,
      elementsNow,
      done,
    });
  };
  for (let burst = 0; burst < bursts; burst++) {
    clock.setTimer(startedAt + 40_000 * random.next(), () => {
      for (let i = random.whole(0, 6); i > 0; i--) ask("placeOrder", "place");
      for (let i = random.whole(0, 4); i > 0; i--) ask("getOrder", "read");
      pool += random.whole(0, 45);
      cancel();
    });
  }
  clock.advanceTo(startedAt + 20 * 60_000);
  return { refusals: service.refusals, passed: service.passed, waiting: scheduler.queued, left: pool };
};

/** Most units of a layer in any window it can have, told from the calls alone. */
export const mostIn = ({ unit, windowMs, anchor, endpoints }: ExtraLayer, passed: readonly Passed[]): number => {
  const counted = passed
    .filter(({ endpoint }) => endpoints === undefined || endpoints.includes(endpoint))
    .map(({ at, weight, elements }) => ({
      at,
      units: unit === "requests" ? 1 : unit === "weight" ? weight : elements,
    }));
  const sums = counted.map(({ at }) => {
    const windowOf = (instant: number): number => Math.floor(instant / windowMs);
    const together = counted.filter((other) =>
      anchor === "wall_clock" ? windowOf(other.at) === windowOf(at) : other.at >= at && other.at < at + windowMs,
    );
    return together.reduce((sum, { units }) => sum + units, 0);
  });
  return Math.max(0, ...sums);
};
