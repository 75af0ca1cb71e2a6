/** Batches that are put together as they leave: how many elements they are charged for, and how many they carry. */

import { describe, expect, it } from "vitest";
import { createGateway } from "../../../../src/client/gateway.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import type { ExtraLayer } from "../../../../src/contract/profile.ts";
import type { Transport, WireRequest } from "../../../../src/contract/transport.ts";
import { EventLog } from "../../../../src/journal/event-log.ts";
import { CancelBatcher } from "../../../../src/orders/cancel-batcher.ts";
import type { Order } from "../../../../src/orders/order-state.ts";
import { type Charge, type LayerSpec, layersOf } from "../../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger } from "../../../../src/scheduler/quota/ledger.ts";
import { createScheduler } from "../../../../src/scheduler/scheduler.ts";
import { builtOrder } from "../../../support/built-orders.ts";

/** Noon of some day: the edge of a minute and of a second, on the service's clock and on ours. */
const noon = 1_767_600_000_000;

const cancelled: ExtraLayer = {
  name: "cancelled orders",
  scope: "uid",
  unit: "elements",
  capacity: 30,
  windowMs: 2_000,
  anchor: "wall_clock",
  endpoints: ["cancelBatch"],
  banMs: 0,
};
const batch: Charge = { endpoint: "cancelBatch", weight: 15, elements: 1, ip: "home", uid: "u", key: "k" };

const contractWith = (...extraLayers: ExtraLayer[]) => createContract({ limits: { extraLayers } });

/** A ledger that knows the service's time to the millisecond and has asked once. */
const warm = (layers: readonly LayerSpec[]): Ledger => {
  const ledger = createLedger({ layers, startedAt: noon, quietMs: 0, clock: { dateSlackMs: 0, driftPpm: 0 } });
  const headers = { date: new Date(noon).toUTCString(), "x-ratelimit-uid-weight-used": "0" };
  const ticket = ledger.spend({ ...batch, endpoint: "instruments", weight: 0 }, noon);
  ledger.clock.observeDate(noon - 1, noon - 1, noon - 1_000);
  ledger.settle(ticket, { status: 200, headers }, noon);
  return ledger;
};

describe("A batch", () => {
  it("is granted with as many elements as there is room for, and at least one", () => {
    const ledger = warm(layersOf(contractWith(cancelled)));
    const sizes: number[] = [];
    for (;;) {
      const verdict = ledger.ask(batch, "exit", noon + 10_000, 20);
      if (!verdict.granted) break;
      sizes.push(verdict.elements);
      ledger.spend(batch, noon + 10_000, verdict.elements);
    }
    expect(sizes).toEqual([20, 10]);
    expect(ledger.ask(batch, "exit", noon + 10_000, 20)).toMatchObject({
      layer: "cancelled orders",
      until: noon + 12_000,
    });
  });

  it("gives back what was charged for it when it does not leave", () => {
    const ledger = warm(layersOf(contractWith(cancelled)));
    const ticket = ledger.spend(batch, noon + 10_000, 20);
    expect(ledger.ask(batch, "exit", noon + 10_000, 20)).toEqual({ granted: true, elements: 10 });
    ledger.release(ticket);
    expect(ledger.ask(batch, "exit", noon + 10_000, 20)).toEqual({ granted: true, elements: 20 });
  });

  it("of fixed size leaves whole or not at all", () => {
    const ledger = warm(layersOf(contractWith(cancelled)));
    const whole: Charge = { ...batch, elements: 16 };
    expect(ledger.ask(whole, "exit", noon + 10_000, 16)).toEqual({ granted: true, elements: 16 });
    ledger.spend(whole, noon + 10_000, 16);
    expect(ledger.ask(whole, "exit", noon + 10_000, 16).granted).toBe(false);
  });

  it("is granted whole where nothing counts elements", () => {
    const ledger = warm(layersOf(createContract()));
    expect(ledger.ask(batch, "exit", noon + 10_000, 20)).toEqual({ granted: true, elements: 20 });
  });
});

describe("Ordinary actions", () => {
  it("get something of the smallest layer", () => {
    const ledger = warm(
      layersOf(contractWith({ ...cancelled, endpoints: ["placeOrder"], unit: "requests", capacity: 1 })),
    );
    expect(ledger.ask({ ...batch, endpoint: "placeOrder" }, "ordinary", noon + 10_000).granted).toBe(true);
  });

  it("get something of a small layer of weight", () => {
    const sliding = { ...cancelled, unit: "weight", capacity: 60, anchor: "sliding" } as const;
    const ledger = warm(layersOf(contractWith({ ...sliding, endpoints: ["placeOrder"] })));
    expect(ledger.ask({ ...batch, endpoint: "placeOrder", weight: 10 }, "ordinary", noon + 10_000).granted).toBe(true);
  });
});

const stage = (...extraLayers: ExtraLayer[]) => {
  const contract = contractWith(...extraLayers);
  const clock = createVirtualClock(noon + 10_000);
  const ledger = warm(layersOf(contract));
  const journal = new EventLog(() => clock.now());
  const sent: { readonly at: number; readonly request: WireRequest }[] = [];
  const transport: Transport = (request, sink) => {
    sent.push({ at: clock.now() - noon, request });
    sink.response({
      status: 200,
      headers: { date: new Date(clock.now()).toUTCString() },
      body: { code: "0", msg: "", data: [] },
    });
  };
  const scheduler = createScheduler({ clock, ledger, journal, transport });
  const user = { uid: "u", ip: "home", keys: [{ name: "k", permissions: ["trade_futures"] }] };
  const gateway = createGateway({ clock, contract, scheduler, journal, user });
  const sizes = (): number[][] => sent.map(({ at, request: { body } }) => [at, (body as readonly unknown[]).length]);
  return { clock, gateway, sizes };
};

const swap = "BTC-USDT-SWAP";
const ids = (count: number) => Array.from({ length: count }, (_, index) => ({ instId: swap, ordId: `${index}` }));
const options = { class: "cancel", owner: "test" } as const;

/** Resting and wanted gone. */
const doomed = (ordId: string): Order =>
  builtOrder({ clOrdId: ordId, phase: "live", record: { ordId }, cancel: "cancel" });

describe("Batched cancels", () => {
  it("are packed into what the layer has room for, and the rest follows in the next window", () => {
    const it = stage(cancelled);
    const cancels = new CancelBatcher(it.clock, it.gateway, createContract().profile, {
      compare: () => undefined,
      sent: () => undefined,
      end: () => undefined,
    });
    for (let index = 0; index < 47; index++) cancels.request(doomed(`${index}`));
    it.clock.advanceTo(noon + 13_000);
    expect(it.sizes()).toEqual([
      [10_000, 20],
      [10_000, 10],
      [12_000, 17],
    ]);
  });

  it("leave in full batches where nothing counts elements", () => {
    const it = stage();
    const cancels = new CancelBatcher(it.clock, it.gateway, createContract().profile, {
      compare: () => undefined,
      sent: () => undefined,
      end: () => undefined,
    });
    for (let index = 0; index < 47; index++) cancels.request(doomed(`${index}`));
    it.clock.advanceTo(noon + 10_010);
    expect(it.sizes().map(([, size]) => size)).toEqual([20, 20, 7]);
  });
});

describe("A batch given to the gateway as it is", () => {
  it("is charged by its size", () => {
    const it = stage(cancelled);
    for (let i = 0; i < 2; i++) it.gateway.call("cancelBatch", ids(16), options).subscribe();
    it.clock.advanceTo(noon + 13_000);
    expect(it.sizes()).toEqual([
      [10_000, 16],
      [12_000, 16],
    ]);
  });
});

describe("Layers added by a profile", () => {
  it("are part of the list both sides are built from", () => {
    expect(layersOf(contractWith(cancelled)).map(({ name }) => name)).toEqual(["ip", "uid", "key", "cancelled orders"]);
    expect(layersOf(createContract())).toHaveLength(3);
  });

  it.each<[string, object, RegExp]>([
    ["another word", { scope: "user" }, /extraLayers\[0\]\.scope: "user" is not one of ip, uid, key/],
    ["no unit", { unit: undefined }, /extraLayers\[0\]\.unit: undefined is not one of requests, weight, elements/],
    [
      "an endpoint that is none",
      { endpoints: ["cancelBatches"] },
      /extraLayers\[0\]\.endpoints: "cancelBatches" is no endpoint.*cancelBatch/,
    ],
    ["no room", { capacity: 0 }, /extraLayers\[0\]\.capacity: expected a whole number of at least 1, got 0/],
    ["a name that is taken", { name: "uid" }, /extraLayers\[0\]\.name: "uid" is missing or taken/],
    ["a field that is none", { banms: 3 }, /extraLayers\[0\]\.banms: unknown field.*banMs/],
  ])("with %s are refused with place and remedy", (_, given, message) => {
    expect(() => contractWith({ ...cancelled, ...given } as ExtraLayer)).toThrow(message);
  });
});
