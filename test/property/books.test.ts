import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLiveMarket } from "../../src/client/live/live-market.ts";
import { toBaseFor } from "../../src/client/live/quantities.ts";
import { createRig, type FakeSocket, obedient } from "../support/harness/fake-sockets.ts";
import { book, instId, type Levels } from "../support/harness/live-market.ts";

interface Told {
  readonly bids: Levels;
  readonly asks: Levels;
}
type Deed =
  | { readonly kind: "change"; readonly change: Told }
  | { readonly kind: "lose" | "twice" | "swap" | "reset"; readonly change: Told };

/** An independent book: numbers in maps, sorted when it is looked at. Prices are whole, so floats are exact. */
const createOpinion = () => {
  const sides = { bids: new Map<number, number>(), asks: new Map<number, number>() };
  const apply = (change: Told): void => {
    for (const name of ["bids", "asks"] as const) {
      for (const [px, sz] of change[name]) {
        if (Number(sz) === 0) sides[name].delete(Number(px));
        else sides[name].set(Number(px), Number(sz));
      }
    }
  };
  const shown = (name: "bids" | "asks"): Levels =>
    [...sides[name]]
      .sort(([a], [b]) => (name === "bids" ? b - a : a - b))
      .map(([px, sz]) => [String(px), String(sz)] as const);
  return { apply, shown, text: () => JSON.stringify([shown("bids"), shown("asks")]) };
};

const level = (from: number, to: number) =>
  fc
    .tuple(fc.integer({ min: from, max: to }), fc.integer({ min: 0, max: 3 }))
    .map(([px, sz]) => [String(px), String(sz)] as const);
// Bids stay below asks, so that the service's book never crosses itself.
const told: fc.Arbitrary<Told> = fc.record({
  bids: fc.array(level(1, 9), { maxLength: 4 }),
  asks: fc.array(level(10, 18), { maxLength: 4 }),
});
const deed: fc.Arbitrary<Deed> = fc.record({
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constant("change" as const) },
    fc.constantFrom("lose" as const, "twice" as const, "swap" as const, "reset" as const),
  ),
  change: told,
});

/** The service's side of the channel: keeps the true book and tells it from each subscription on. */
const createService = () => {
  const truth = createOpinion();
  let seq = -1;
  let listening: FakeSocket | undefined;
  const message = (action: "snapshot" | "update", change: Told): object => {
    const prevSeqId = seq++;
    return {
      event: "books",
      arg: { channel: "books", instId },
      action,
      data: [book(change.bids, change.asks)],
      ts: 0,
      seqId: seq,
      prevSeqId,
    };
  };
  return {
    truth,
    answer: (request: Parameters<typeof obedient>[0], socket: FakeSocket): void => {
      obedient(request, socket);
      if (typeof request === "string" || request.op !== "subscribe") return;
      seq = -1;
      listening = socket;
      socket.say(message("snapshot", { bids: truth.shown("bids"), asks: truth.shown("asks") }));
    },
    say: (text: object) => listening?.say(text),
    end: () => listening?.end("reset by peer"),
    next: (change: Told): object => {
      truth.apply(change);
      return message("update", change);
    },
  };
};

const run = (deeds: readonly Deed[]) => {
  const service = createService();
  const rig = createRig({
    prepare: (socket, clock) => {
      socket.answer = service.answer;
      clock.setTimer(clock.now() + 1, () => socket.open());
    },
  });
  rig.pool.start();
  const market = createLiveMarket({
    clock: rig.clock,
    serviceNow: () => rig.clock.now(),
    subscribe: (arg, listener) => rig.pool.subscribe(arg, listener),
    channels: ["books"],
    toBase: toBaseFor("base", () => undefined),
    isListed: () => undefined,
    onAnomaly: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  const history = new Set<string>([service.truth.text()]);
  let seen = 0;
  let latest = "";
  market.books(instId).subscribe(({ bids, asks }) => {
    seen++;
    latest = JSON.stringify([bids, asks].map((side) => side.map(({ px, qty }) => [px, qty])));
    // Every book ever shown is one that the service had, whole.
    expect(history).toContain(latest);
  });
  rig.clock.advanceTo(rig.clock.now() + 10);
  for (const { kind, change } of deeds) {
    const text = service.next(change);
    history.add(service.truth.text());
    if (kind === "change" || kind === "twice") service.say(text);
    if (kind === "twice") service.say(text);
    if (kind === "swap") {
      const later = service.next(change);
      history.add(service.truth.text());
      service.say(later);
      service.say(text);
    }
    if (kind === "reset") service.end();
    rig.clock.advanceTo(rig.clock.now() + 100);
  }
  // One more message shows whatever gap is left; a minute later everything is repaired.
  service.say(service.next({ bids: [], asks: [] }));
  rig.clock.advanceTo(rig.clock.now() + 200_000);
  return { latest, truth: service.truth.text(), seen };
};

describe("Order books over a faulty connection:", () => {
  it("whatever is lost, repeated, swapped or cut off: only books the service had are shown, and in the end the present one", () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 40 }), (deeds) => {
        const { latest, truth, seen } = run(deeds);
        expect(latest).toBe(truth);
        expect(seen).toBeGreaterThan(0);
      }),
      { numRuns: 200 },
    );
  });
});
