/** Layers that count each product of a user by itself: the client's ledger and the service's meter, by OKX's published limits. */
import { describe, expect, it } from "vitest";
import { okxLayers } from "../../../plugins/exchanges/okx-limits.ts";
import { servedDialects } from "../../../plugins/exchanges/served/served-dialects.ts";
import { servedContract } from "../../../plugins/venue-server/server/served-dialect.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { LayerSpec } from "../../../src/contract/layer-spec.ts";
import type { Transport } from "../../../src/contract/transport.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import { createRandom } from "../../../src/random.ts";
import type { Action } from "../../../src/scheduler/action.ts";
import { countsByProduct } from "../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";
import { RateLimiter } from "../../../src/venue/rate-limiter.ts";
import { noon } from "../../support/harness/ledger.ts";

const account = { uid: "u", ip: "home", keys: ["k"] };
const products = ["BTC-USDT-SWAP", "ETH-USDT-SWAP", "SOL-USDT-SWAP"];
const seconds = 10;

/** As many placements as leave in ten seconds where there is no end of them, and what the service made of them. */
const flood = (layers: readonly LayerSpec[], instIds: readonly string[], seed = "flood") => {
  const clock = createVirtualClock(noon);
  const random = createRandom(seed);
  const meter = new RateLimiter(servedContract(servedDialects.okx), true);
  let passed = 0;
  let refused = 0;
  const transport: Transport = ({ body }, sink) => {
    const { instId } = body as { readonly instId: string };
    const there = clock.now() + 2 + random.next() * 60;
    clock.setTimer(there, () => {
      const content = { endpoint: "placeOrder", elements: 1, products: new Map([[instId, 1]]) };
      const fits =
        meter.arrive("home", undefined, 0, clock.now(), content) &&
        meter.spend({ ...account, key: "k" }, 10, clock.now(), content);
      if (fits) passed++;
      else refused++;
      clock.setTimer(clock.now() + 2 + random.next() * 60, () => {
        sink.response({ status: fits ? 200 : 429, headers: { date: new Date(clock.now()).toUTCString() }, body: {} });
      });
    });
  };
  const ledger = createLedger({ layers, startedAt: noon - 10_000, quietMs: 0 });
  const journal = new EventLog(clock.now, (error) => {
    throw error;
  });
  const byProduct = (endpoint: Action["endpoint"]) => countsByProduct(layers, endpoint);
  const scheduler = createScheduler({ clock, ledger, transport, journal, byProduct });
  const waiting = new Map(instIds.map((instId) => [instId, 0]));
  const action = (instId: string): Action => ({
    endpoint: "placeOrder",
    class: "place",
    owner: "s",
    weight: 10,
    account,
    instId,
    build: (key) => {
      waiting.set(instId, (waiting.get(instId) ?? 0) - 1);
      return { endpoint: "placeOrder", method: "POST", path: "/", query: {}, body: { instId }, key };
    },
    done: () => undefined,
  });
  for (let at = noon; at < noon + seconds * 1_000; at += 20) {
    for (const instId of instIds) {
      for (; (waiting.get(instId) ?? 0) < 20; waiting.set(instId, (waiting.get(instId) ?? 0) + 1))
        scheduler.submit(action(instId));
    }
    clock.advanceTo(at + 20);
  }
  return { passed, refused };
};

const perUser = okxLayers.map(
  (layer): LayerSpec => (layer.scope === "instrument" ? { ...layer, scope: "uid" } : layer),
);

describe("A layer that counts each product by itself", () => {
  it("lets three products have three times what one has, and none is refused", () => {
    const one = flood(okxLayers, products.slice(0, 1));
    const three = flood(okxLayers, products);
    const asOne = flood(perUser, products);
    expect([one.refused, three.refused, asOne.refused]).toEqual([0, 0, 0]);
    // 60 in any two seconds of a product: by hand at most 360 of one in ten seconds, both ends included.
    expect(one.passed).toBeGreaterThan(240);
    expect(one.passed).toBeLessThanOrEqual(360);
    expect(asOne.passed).toBeLessThanOrEqual(360);
    expect(three.passed).toBeGreaterThan(2.8 * asOne.passed);
    expect(three.passed).toBeLessThanOrEqual(3 * 360);
  });

  it.each(["a", "b", "c", "d", "e"])("never lets more leave than the service's own meter takes, seed %s", (seed) => {
    expect(flood(okxLayers, products, seed).refused).toBe(0);
  });

  it("is refused by the service where the client counts too much as one product", () => {
    const wide = okxLayers.map((layer) => (layer.name === "place" ? { ...layer, capacity: 90 } : layer));
    expect(flood(wide, products).refused).toBeGreaterThan(0);
  });
});

describe("The service's meter", () => {
  it("counts the elements of a batch by product", () => {
    const meter = new RateLimiter(servedContract(servedDialects.okx), true);
    const batch = (btc: number, eth: number) => {
      const elements = new Map(Object.entries({ btc, eth }).filter(([, count]) => count > 0));
      return meter.spend({ ...account, key: "k" }, 15, noon, {
        endpoint: "cancelBatch",
        elements: btc + eth,
        products: elements,
      });
    };
    expect(batch(290, 10)).toBe(true);
    expect(batch(11, 0)).toBe(false);
    expect(batch(0, 290)).toBe(true);
    expect(batch(0, 1)).toBe(false);
    expect(batch(10, 0)).toBe(true);
  });
});
