/** A service that weighs each element of a batch: what the client charges, and that the service's own meter agrees. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createGateway } from "../../../../src/client/gateway.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import type { EndpointName } from "../../../../src/contract/endpoints.ts";
import type { Transport } from "../../../../src/contract/transport.ts";
import { EventLog } from "../../../../src/journal/event-log.ts";
import type { Event } from "../../../../src/journal/events.ts";
import { createRandom } from "../../../../src/random.ts";
import { type Charge, layersOf } from "../../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger } from "../../../../src/scheduler/quota/ledger.ts";
import type { QuotaPort } from "../../../../src/scheduler/quota/port.ts";
import { defaultReserve, exitCost, exitReserve } from "../../../../src/scheduler/quota/reserve.ts";
import { createScheduler } from "../../../../src/scheduler/scheduler.ts";
import { RateLimiter } from "../../../../src/venue/rate-limiter.ts";
import { endingsOf } from "../../../support/harness/ledger.ts";

/** Noon of some day: the edge of a minute and of a second, on the service's clock and on ours. */
const noon = 1_767_600_000_000;
const perElement = 2;
const contract = createContract({ weights: { perCancelElement: perElement } });
const caller = { ip: "home", key: "k", uid: "u" };
const elementsMax = 20;
const batch: Charge = {
  endpoint: "cancelBatch",
  weight: 15,
  elements: 1,
  elementWeight: perElement,
  ip: "home",
  uid: "u",
  key: "k",
};

/** A ledger that knows the service's time to the millisecond, and that so much of the minute is used. */
const warm = (used: number): Ledger => {
  const ledger = createLedger({
    layers: layersOf(contract),
    startedAt: noon,
    quietMs: 0,
    clock: { dateSlackMs: 0, driftPpm: 0 },
  });
  const headers = { date: new Date(noon + 9_000).toUTCString(), "x-ratelimit-uid-weight-used": String(used) };
  const ticket = ledger.spend({ ...batch, endpoint: "instruments", weight: 0, elementWeight: 0 }, noon + 9_000);
  ledger.clock.observeDate(noon - 1, noon - 1, noon - 1_000);
  ledger.clock.observeDate(noon, noon, noon);
  ledger.settle(ticket, { status: 200, headers }, noon + 9_000);
  return ledger;
};

const usedOf = (ledger: Ledger, at: number): number =>
  ledger.state(at).find(({ layer }) => layer === "uid")?.used ?? -1;

describe("A batch whose elements weigh something", () => {
  it("is charged for as many as it may carry", () => {
    const ledger = warm(0);
    ledger.spend(batch, noon + 10_000, 7);
    expect(usedOf(ledger, noon + 10_000)).toBe(15 + 7 * perElement);
  });

  it("is granted with as many elements as the minute has weight for", () => {
    // Two units are never planned for: 1,198 less 1,150 holds a call of 15 and sixteen elements.
    expect(warm(1_150).ask(batch, "exit", noon + 10_000, 20)).toEqual({ granted: true, elements: 16 });
    expect(warm(1_181).ask(batch, "exit", noon + 10_000, 20)).toEqual({ granted: true, elements: 1 });
    expect(warm(1_182).ask(batch, "exit", noon + 10_000, 20)).toMatchObject({
      granted: false,
      layer: "uid",
      until: noon + 60_000,
    });
  });

  it("of fixed size leaves whole or not at all", () => {
    const whole = { ...batch, elements: 16 };
    expect(warm(1_152).ask(whole, "exit", noon + 10_000, 16).granted).toBe(false);
    expect(warm(1_151).ask(whole, "exit", noon + 10_000, 16)).toEqual({ granted: true, elements: 16 });
  });
});

describe("The reserve for cancels", () => {
  const policy = { ...defaultReserve, elementWeight: perElement };

  it.each([
    ["nothing rests", 0, 0],
    ["one order", 1, 15 + 2],
    ["a full batch", 20, 15 + 40],
    ["one more", 21, 30 + 42],
  ])("takes back all that rests, elements and all: %s", (_, open, cost) => {
    expect(exitCost(policy, open)).toBe(cost);
    expect(exitReserve(policy, 30_000, open, 0)).toBe(Math.max(cost, 15 + 2));
  });
});

/** Two minutes and a half of bursts: placements, reads, cancels packed as they leave and batches given as they are. */
const play = (seed: number, portOf: (ledger: Ledger) => QuotaPort = (ledger) => ledger) => {
  const random = createRandom(`cancel weight ${seed}`);
  const clock = createVirtualClock(noon + random.whole(0, 59_999));
  const startedAt = clock.now();
  const skewMs = random.whole(-60_000, 60_000);
  const serviceNow = (): number => clock.now() + skewMs;
  const meter = new RateLimiter(contract, true);
  const told = { passed: 0, refused: 0, elements: 0 };
  const arrive = (endpoint: EndpointName, elements: number): boolean => {
    const weight = contract.endpoints[endpoint].weight + contract.profile.weights.perCancelElement * elements;
    const fine = meter.arrive("home", caller, weight, serviceNow()) && meter.spend(caller, weight, serviceNow());
    if (fine) told.passed += weight;
    else told.refused++;
    told.elements += elements;
    return fine;
  };
  const transport: Transport = ({ endpoint, body }, sink) => {
    clock.setTimer(clock.now() + random.whole(5, 60), () => {
      const status = arrive(endpoint, Array.isArray(body) ? body.length : 0) ? 200 : 429;
      const headers = {
        date: new Date(serviceNow()).toUTCString(),
        "x-ratelimit-uid-weight-used": String(meter.layers.uid.at("u", serviceNow()).used),
      };
      clock.setTimer(clock.now() + random.whole(5, 60), () => {
        sink.response({ status, headers, body: { code: "0", msg: "", data: [] } });
      });
    });
  };
  const events: Event[] = [];
  const journal = new EventLog(() => clock.now());
  journal.attach((event) => events.push(event));
  const ledger = createLedger({ layers: layersOf(contract), reserve: { elementWeight: perElement }, startedAt });
  const scheduler = createScheduler({ clock, ledger, port: portOf(ledger), transport, journal });
  const user = { uid: "u", ip: "home", keys: [{ name: "k", permissions: ["read", "trade_futures", "trade_spot"] }] };
  const gateway = createGateway({ clock, contract, scheduler, journal, user });
  const ids = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ instId: "BTC-USDT-SWAP", ordId: `${index + 1}` }));
  const cancels = { class: "cancel", owner: "test" } as const;
  let asked = 0;
  let pool = 0;
  const pack = (): void => {
    if (pool === 0) return;
    const late = (most: number) => {
      const body = ids(Math.min(pool, most, elementsMax));
      pool -= body.length;
      pack();
      return body;
    };
    const elementsNow = (): number => Math.min(pool, elementsMax);
    gateway.submit({ ...cancels, endpoint: "cancelBatch", input: late, elementsNow, done: () => undefined });
  };
  for (let burst = 0; burst < 12; burst++) {
    clock.setTimer(startedAt + random.whole(0, 150_000), () => {
      for (let i = random.whole(0, 9); i > 0; i--)
        gateway.call("getOrder", { ordId: "1" }, { class: "read", owner: "test" }).subscribe();
      const whole = random.whole(1, elementsMax);
      const more = random.whole(0, 160);
      asked += whole + more;
      gateway.call("cancelBatch", ids(whole), cancels).subscribe();
      const idle = pool === 0;
      pool += more;
      if (idle) pack();
    });
  }
  clock.advanceTo(startedAt + 20 * 60_000);
  const sent = events.flatMap((event) => (event.type === "action.sent" ? [event.weight] : []));
  return { ...told, asked, sent: sent.reduce((sum, weight) => sum + weight, 0), waiting: scheduler.queued };
};

describe("The client and the service's meter", () => {
  it("agree to the unit: nothing is refused, everything leaves, and what was charged is what was weighed", () => {
    fc.assert(
      fc.property(fc.nat(1_000_000), (seed) => {
        const { refused, elements, asked, sent, passed, waiting } = play(seed);
        expect({ refused, elements, sent, waiting }).toEqual({ refused: 0, elements: asked, sent: passed, waiting: 0 });
      }),
      { seed: 1, numRuns: 25 },
    );
  });

  it("disagree as soon as the elements are left out of the charge", () => {
    const blind = (ledger: Ledger): QuotaPort => {
      const charges = new Map<Charge, Charge>();
      return {
        ...endingsOf(ledger),
        reserve: (asked, rank, now, elements) => {
          const light = asked.map((charge) => {
            const lighter = charges.get(charge) ?? { ...charge, elementWeight: 0 };
            charges.set(charge, lighter);
            return lighter;
          });
          return ledger.reserve(light, rank, now, elements);
        },
      };
    };
    expect([1, 2, 3, 4, 5].some((seed) => play(seed, blind).refused > 0)).toBe(true);
  });
});
