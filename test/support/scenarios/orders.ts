/**
 * Random stories of wanted orders, cancels, reads and shortages, played against the embedded service; nobody ever trades, so what should
 * rest in the end follows from the story alone.
 */
import fc from "fast-check";
import { expect } from "vitest";
import type { Gateway } from "../../../src/client/gateway.ts";
import type { Outcome } from "../../../src/client/outcome.ts";
import type { PlaceBody } from "../../../src/contract/schemas.ts";
import type { WireRequest } from "../../../src/contract/transport.ts";
import type { OrderManager } from "../../../src/orders/order-manager.ts";
import { isResting, type Order } from "../../../src/orders/order-state.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { type Fault, lostAnswer, lostRequest, type Rig, ready, swap } from "../harness/orders.ts";

const slotCount = 4;
const strategy = "s";
const reads = ["positions", "spotBalance", "pendingOrders"] as const;
/** Long enough for everything that waits, and for an order of unknown outcome to be proved absent. */
const quietMs = 240_000;
const restMs = 30_000;

/** A price level for each slot; nothing where the slot is not wanted. */
type Levels = readonly (number | undefined)[];

type Step = { readonly afterMs: number } & (
  | { readonly kind: "want"; readonly levels: Levels }
  | { readonly kind: "place"; readonly level: number }
  /** Takes back the order by hand that was placed so many before the last. */
  | { readonly kind: "withdraw"; readonly back: number }
  | { readonly kind: "cancel"; readonly slot: number }
  | { readonly kind: "read"; readonly which: number; readonly times: number }
  /** Calls of others that leave before whatever waits. */
  | { readonly kind: "rush"; readonly calls: number; readonly exits: boolean }
);

export interface Story {
  readonly latencyMs: number;
  readonly placeBackMs: number;
  readonly cancelBackMs: number;
  readonly steps: readonly Step[];
  readonly last: Levels;
  /** Slots cancelled by hand when all is quiet. */
  readonly cancelled: readonly number[];
  /** What happens to the first placements and cancels on the road, in turn. */
  readonly faults: readonly ("none" | "lostAnswer" | "lostRequest")[];
  /** How late records are pushed, in turn; undefined is never. */
  readonly pushMs: readonly (number | undefined)[] | undefined;
}

const level = fc.integer({ min: 0, max: 5 });
const slot = fc.integer({ min: 0, max: slotCount - 1 });
const pause = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 60 }), fc.integer({ min: 100, max: 3_000 }));
const perSlot = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> =>
  fc.array(one, { minLength: slotCount, maxLength: slotCount });
const someLevels: fc.Arbitrary<Levels> = perSlot(fc.option(level, { nil: undefined, freq: 2 }));
const allLevels: fc.Arbitrary<Levels> = perSlot(level);

const want = (levels: fc.Arbitrary<Levels>) =>
  fc.record({ kind: fc.constant("want" as const), levels, afterMs: pause });
const place = fc.record({ kind: fc.constant("place" as const), level, afterMs: pause });
const withdraw = fc.record({ kind: fc.constant("withdraw" as const), back: fc.nat(2), afterMs: pause });
const cancel = fc.record({ kind: fc.constant("cancel" as const), slot, afterMs: pause });
const times = fc.integer({ min: 1, max: 3 });
const read = fc.record({ kind: fc.constant("read" as const), which: fc.nat(2), times, afterMs: pause });
const calls = fc.integer({ min: 1, max: 25 });
const rush = fc.record({ kind: fc.constant("rush" as const), calls, exits: fc.boolean(), afterMs: pause });

const replacing: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: want(allLevels) },
  { weight: 1, arbitrary: place },
  { weight: 1, arbitrary: cancel },
  { weight: 2, arbitrary: read },
  { weight: 3, arbitrary: rush },
);
const anything: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: want(someLevels) },
  { weight: 1, arbitrary: place },
  { weight: 1, arbitrary: withdraw },
  { weight: 1, arbitrary: cancel },
  { weight: 2, arbitrary: read },
  { weight: 3, arbitrary: rush },
);

/** Everything comes to rest, and then some of it is taken back in a hurry. */
const wave: fc.Arbitrary<readonly Step[]> = fc
  .record({
    levels: allLevels,
    hands: fc.array(level, { maxLength: 3 }),
    taken: fc.array(fc.oneof(slot, withdraw, rush, cancel), { minLength: 2, maxLength: 10 }),
    pauses: fc.infiniteStream(pause),
  })
  .map(({ levels, hands, taken, pauses }) => {
    let kept: Levels = levels;
    const takeBack = (what: number | Step): Step => {
      if (typeof what !== "number") return what;
      kept = kept.map((at, index) => (index === what ? undefined : at));
      return { kind: "want", levels: kept, afterMs: pauses.next().value };
    };
    return [
      ...hands.map((at): Step => ({ kind: "place", level: at, afterMs: 0 })),
      { kind: "want", levels, afterMs: restMs },
      ...taken.map(takeBack),
      { kind: "rush", calls: 1, exits: false, afterMs: restMs },
    ];
  });

const smooth = {
  latencyMs: fc.integer({ min: 1, max: 250 }),
  placeBackMs: fc.integer({ min: 0, max: 400 }),
  cancelBackMs: fc.integer({ min: 0, max: 400 }),
  cancelled: fc.uniqueArray(slot, { maxLength: 2 }),
  faults: fc.constant([]),
  pushMs: fc.constant(undefined),
};
const steps = (one: fc.Arbitrary<Step>): fc.Arbitrary<readonly Step[]> =>
  fc.array(one, { minLength: 3, maxLength: 22 });

export const stories: fc.Arbitrary<Story> = fc.record({ ...smooth, steps: steps(anything), last: someLevels });

/** Stories in which every slot is always wanted, one way or another. */
export const replacingStories: fc.Arbitrary<Story> = fc.record({ ...smooth, steps: steps(replacing), last: allLevels });

const waves = fc.array(wave, { minLength: 1, maxLength: 3 }).map((all) => all.flat());

/** Stories in which nothing waits but cancels. */
export const cancellingStories: fc.Arbitrary<Story> = fc.record({ ...smooth, steps: waves, last: someLevels });

const reading: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: read },
  { weight: 1, arbitrary: place },
  { weight: 3, arbitrary: rush },
);

/** Stories in which nothing is replaced or taken back, so that it does not matter when it leaves. */
export const readingStories: fc.Arbitrary<Story> = fc.record({ ...smooth, steps: steps(reading), last: someLevels });

const fault = fc.oneof(
  { weight: 6, arbitrary: fc.constant("none" as const) },
  { weight: 2, arbitrary: fc.constant("lostAnswer" as const) },
  { weight: 1, arbitrary: fc.constant("lostRequest" as const) },
);
const pushedLate = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: 300 }) },
  { weight: 5, arbitrary: fc.integer({ min: 1_400, max: 4_000 }) },
  { weight: 1, arbitrary: fc.constant(undefined) },
);

/**
 * Stories in which placements go unanswered and records come late or not at all. Everything is placed before anything is taken
 * back: a read nobody needed any more cannot happen to tell of something else.
 */
export const lateStories: fc.Arbitrary<Story> = fc.record({
  ...smooth,
  steps: wave,
  last: fc.constant([]),
  // As many as there are placements at least, so that no cancel meets one.
  faults: fc.array(fc.constantFrom("none", "none", "lostAnswer"), { minLength: 1, maxLength: slotCount }),
  pushMs: fc.array(pushedLate, { minLength: 1, maxLength: 8 }),
});

/** Stories in which anything can be late or lost at any time. */
export const roughStories: fc.Arbitrary<Story> = fc.record({
  ...smooth,
  steps: steps(anything),
  last: someLevels,
  faults: fc.array(fault, { minLength: 1, maxLength: 8 }),
  pushMs: fc.array(pushedLate, { minLength: 1, maxLength: 8 }),
});

const pxOf = (index: number, at: number): string =>
  String(index % 2 === 0 ? 50_000 + index * 100 + at : 70_000 + index * 100 + at);
const quoteOf = (index: number, at: number, round: string): WantedOrder => ({
  slot: `d${index}`,
  instId: swap,
  side: index % 2 === 0 ? "buy" : "sell",
  px: pxOf(index, at),
  qty: "0.01",
  round,
});
const handWanted = (name: string, at: number): WantedOrder => ({
  slot: name,
  instId: swap,
  side: "buy",
  px: String(40_000 + at),
  qty: "0.02",
});
const wantedOf = (given: Levels, round: string): WantedOrder[] =>
  given.flatMap((at, index) => (at === undefined ? [] : [quoteOf(index, at, round)]));
/** Sizes are told in what they cost. */
const spell = (name: string, side: string, px: string, sz: string): string => `${name} ${side} ${sz}@${px}`;
const spellWanted = ({ slot: name, side, px = "", qty = "" }: WantedOrder): string =>
  spell(name, side, px, String((Number(px) * Math.round(Number(qty) * 100)) / 100));

/** The part of a desk that stories use; a rule is switched off by standing in for it. */
export type WantedOrders = Pick<OrderManager, "want" | "wantOne" | "cancel">;

export interface World {
  readonly door?: (gateway: Gateway) => Gateway;
  readonly wanted?: (rig: Rig) => WantedOrders;
}

export interface Played {
  /** Every order at the service, by slot, in the service's words. */
  readonly live: readonly string[];
  /** What the story says should be there. */
  readonly meant: readonly string[];
  /** What the desk thinks is there. */
  readonly believed: readonly string[];
  readonly weight: number;
  /** Every placement as it left: its price, and the price its slot wanted at that moment. */
  readonly placed: readonly { readonly px: string | undefined; readonly wantedPx: string | undefined }[];
  /** Every cancel call as it left: how many it took along, and how many it could have taken but did not. */
  readonly cancels: readonly { readonly taken: number; readonly left: number }[];
  /** How each read of the story ended and how long after it was asked, in turn. */
  readonly answers: readonly { readonly kind: string; readonly afterMs: number }[];
}

const isLive = ({ state }: { readonly state: string }): boolean => state === "live" || state === "partially_filled";

/** Orders that a cancel call of this class could take along. */
const waiting = (orders: readonly Order[], { unwanted, ordId }: Order): readonly Order[] =>
  orders.filter(
    (order) =>
      order.unwanted?.urgency === unwanted?.urgency &&
      order.cancel.kind === "none" &&
      order.cancel.failures === 0 &&
      isResting(order) &&
      (order.ordId === "") === (ordId === ""),
  );

const idOf = ({ ordId, clOrdId }: { readonly ordId?: string; readonly clOrdId?: string }): string =>
  ordId ?? clOrdId ?? "";

/** Notes what leaves, while the desk still is as it was when it decided. */
const createWitness = (wanted: ReadonlyMap<string, WantedOrder>) => {
  const placed: { px: string | undefined; wantedPx: string | undefined }[] = [];
  const cancels: { taken: number; left: number }[] = [];
  return {
    placed,
    cancels,
    note: (rig: Rig, { endpoint, body }: WireRequest): void => {
      const orders = rig.orderManager.orders();
      if (endpoint === "placeOrder") {
        const { clOrdId, px } = body as PlaceBody;
        const home = orders.find((order) => order.clOrdId === clOrdId)?.slot ?? "";
        placed.push({ px, wantedPx: wanted.get(home)?.px });
      }
      if (endpoint !== "cancelBatch") return;
      const batch = body as readonly { readonly ordId?: string; readonly clOrdId?: string }[];
      const first = orders.find(({ ordId, clOrdId }) =>
        batch.some((element) => idOf(element) === ordId || idOf(element) === clOrdId),
      );
      const max = rig.contract.profile.cancelBatch.elementsMax;
      const left = first === undefined || batch.length >= max ? 0 : waiting(orders, first).length;
      cancels.push({ taken: batch.length, left });
    },
  };
};

const faultsByName: Readonly<Record<Story["faults"][number], Fault>> = { none: {}, lostAnswer, lostRequest };

const createRoad = ({ faults, placeBackMs, cancelBackMs }: Story) => {
  let count = 0;
  return ({ endpoint }: WireRequest): Fault | undefined => {
    if (endpoint !== "placeOrder" && endpoint !== "cancelBatch") return undefined;
    const fault = faults[count++] ?? "none";
    return { backMs: endpoint === "placeOrder" ? placeBackMs : cancelBackMs, ...faultsByName[fault] };
  };
};

/** Pushes every record as late as the story says. */
const pushLate = (rig: Rig, pushMs: readonly (number | undefined)[]): void => {
  let count = 0;
  rig.venue.onOrder((_, record) => {
    const lateMs = pushMs[count++ % pushMs.length];
    if (lateMs === undefined) return;
    rig.clock.setTimer(rig.clock.now() + lateMs, () => {
      rig.pushes$.next(record);
    });
  });
};

const rigFor = (story: Story, { door }: World, note: (rig: Rig, request: WireRequest) => void): Rig => {
  const road = createRoad(story);
  const { latencyMs, pushMs } = story;
  const rig: Rig = ready({
    limits: true,
    latencyMs,
    push: pushMs === undefined,
    ...(door === undefined ? {} : { door }),
    fault: (request) => {
      if (request.endpoint === "placeOrder" || request.endpoint === "cancelBatch") note(rig, request);
      return road(request);
    },
  });
  // On a slow road the instruments take longer than the rig waits for them.
  rig.run(2_000);
  rig.events.length = 0;
  if (pushMs !== undefined) {
    pushLate(rig, pushMs);
    rig.resources.pending.value$.subscribe();
  }
  return rig;
};

/** Does the steps; `wanted` is what is wanted after each, and in the end what should rest. */
const createTeller = (rig: Rig, manager: WantedOrders, wanted: Map<string, WantedOrder>) => {
  const byHand: string[] = [];
  const answers: { kind: string; afterMs: number }[] = [];
  const cancelSlot = (name: string): void => {
    manager.cancel(
      rig.orderManager.orders().filter((order) => order.slot === name && isResting(order)),
      "cancel",
    );
  };
  const want = (set: readonly WantedOrder[]): void => {
    for (const name of [...wanted.keys()]) if (!byHand.includes(name)) wanted.delete(name);
    for (const order of set) wanted.set(order.slot, order);
    manager.want(strategy, set);
  };
  const ask = (endpoint: (typeof reads)[number]): void => {
    const askedAt = rig.clock.now();
    rig.gateway.read(endpoint, {}, { class: "read", owner: "story" }).subscribe((outcome: Outcome<unknown>) => {
      answers.push({ kind: outcome.kind, afterMs: rig.clock.now() - askedAt });
    });
  };
  const tell = (next: Step): void => {
    switch (next.kind) {
      case "want":
        want(wantedOf(next.levels, ""));
        return;
      case "place": {
        const order = handWanted(`h${byHand.length}`, next.level);
        byHand.push(order.slot);
        wanted.set(order.slot, order);
        manager.wantOne(strategy, order.slot, order);
        return;
      }
      case "withdraw": {
        const name = byHand[byHand.length - 1 - next.back];
        if (name === undefined) return;
        wanted.delete(name);
        manager.wantOne(strategy, name, undefined);
        return;
      }
      case "cancel":
        cancelSlot(`d${next.slot}`);
        return;
      case "read":
        for (let i = 0; i < next.times; i++) ask(reads[next.which] ?? "positions");
        return;
      case "rush":
        for (let i = 0; i < next.calls; i++)
          rig.gateway
            .call("instruments", {}, { class: next.exits ? "cancel" : "resolve", owner: "others" })
            .subscribe();
    }
  };
  return { tell, want, cancelSlot, answers };
};

export const play = (story: Story, world: World = {}): Played => {
  const wanted = new Map<string, WantedOrder>();
  const { placed, cancels, note } = createWitness(wanted);
  const rig = rigFor(story, world, note);
  const { tell, want, cancelSlot, answers } = createTeller(rig, world.wanted?.(rig) ?? rig.orderManager, wanted);
  for (const next of story.steps) {
    tell(next);
    rig.run(next.afterMs);
  }
  // The last wanted orders are new ones, whatever was cancelled by hand before.
  want(wantedOf(story.last, "end"));
  rig.run(quietMs);
  for (const index of story.cancelled) {
    cancelSlot(`d${index}`);
    wanted.delete(`d${index}`);
  }
  rig.run(quietMs);
  const orders = rig.orderManager.orders();
  const slotOf = (id: string): string => orders.find(({ clOrdId }) => clOrdId === id)?.slot ?? "nobody's";
  return {
    live: rig
      .truth()
      .filter(isLive)
      .map(({ clOrdId, side, px, sz }) => spell(slotOf(clOrdId), side, px, sz))
      .sort(),
    meant: [...wanted.values()].map(spellWanted).sort(),
    believed: orders.map(({ slot: name, spec }) => spell(name, spec.side, spec.px, spec.sz)).sort(),
    weight: rig.events.reduce((sum, event) => sum + (event.type === "action.sent" ? event.weight : 0), 0),
    placed,
    cancels,
    answers,
  };
};

export interface Law {
  readonly stories: fc.Arbitrary<Story>;
  readonly seed: number;
  readonly numRuns?: number;
  /** The world in which the rule holds; the product as it is when left out. */
  readonly on?: World;
  readonly off: World;
  /** By chance a story may cost more with the rule, as when an answer nobody needed told of something else; only ends count. */
  readonly anyCost?: true;
  /** What the rule promises of a single play. */
  readonly promise?: (played: Played, story: Story) => void;
}

/** A rule changes what is spent and nothing else; returns the weight it saved over all stories. */
export const savedBy = ({ stories: told, seed, numRuns = 100, on = {}, off, anyCost, promise }: Law): number => {
  let saved = 0;
  fc.assert(
    fc.property(told, (story) => {
      const played = play(story, on);
      const other = play(story, off);
      for (const { live, meant, believed } of [played, other]) {
        expect(live).toEqual(meant);
        expect(believed).toEqual(meant);
      }
      promise?.(played, story);
      if (anyCost !== true) expect(played.weight).toBeLessThanOrEqual(other.weight);
      saved += other.weight - played.weight;
    }),
    { seed, numRuns },
  );
  return saved;
};
