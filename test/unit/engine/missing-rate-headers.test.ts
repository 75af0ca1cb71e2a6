/**
 * Trading while the service tells too little: mute, refused or lossy pushes, empty lists, questions that are turned away.
 *
 * Counted at the service: slots with two live orders, live orders that the engine does not know, orders the engine believes in
 * that are over, and whether trading goes on.
 */
import { of, Subject } from "rxjs";
import { describe, expect, it } from "vitest";
import type { WireResponse } from "../../../src/contract/transport.ts";
import type { OrderRecord } from "../../../src/index.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { createRandom } from "../../../src/random.ts";
import { begun, far, pass, stop, type World, worldOf } from "../../support/harness/engine.ts";

const slots = ["a", "b", "c"] as const;
const finals = ["filled", "canceled", "rejected", "absent"];

interface Blindness {
  readonly pushing: boolean;
  /** Whether the push of this number is lost. */
  readonly loses?: (count: number) => boolean;
  readonly spoil?: World["spoil"];
  /** Whether the answer to the placement of this number is lost. */
  readonly losesAnswer?: (count: number) => boolean;
}

/** Three minutes of quoting in which others trade with the quotes, four of quiet, and two in which the service tells everything again. */
const story = async ({ pushing, loses = () => false, spoil, losesAnswer = () => false }: Blindness) => {
  const world = worldOf();
  const chance = createRandom("blind");
  const pushes$ = new Subject<OrderRecord>();
  const wanted$ = new Subject<readonly WantedOrder[]>();
  let pushed = 0;
  let placed = 0;
  world.venue.onOrder((_, record) => {
    if (pushing && !loses(++pushed)) world.clock.setTimer(world.clock.now() + 20, () => pushes$.next(record));
  });
  Object.assign(world, { pushes$, pushing$: of(pushing), wanted$, ...(spoil && { spoil }) });
  world.lose = ({ endpoint }) => (endpoint === "placeOrder" && losesAnswer(++placed) ? "answer" : undefined);
  const life = await begun(world);
  const doubled = new Set<string>();
  const slotOf = new Map<string, string>();
  life.engine.events$.subscribe((event) => {
    if (event.type === "order.changed" && event.slot !== "") slotOf.set(event.clOrdId, event.slot);
  });
  const live = (): readonly OrderRecord[] =>
    world.venue.truth("main").orders.filter(({ state }) => state === "live" || state === "partially_filled");
  const look = (): void => {
    const seen = new Set<string>();
    for (const { clOrdId } of live()) {
      const slot = slotOf.get(clOrdId) ?? clOrdId;
      if (seen.has(slot)) doubled.add(slot);
      seen.add(slot);
    }
  };
  let step = 0;
  const quote = (): void => {
    wanted$.next(slots.map((slot, index) => far(slot, String(59_000 - 100 * index - (step % 40)))));
  };
  for (step = 0; step < 60; step++) {
    quote();
    await pass(world, 3_000);
    if (chance.next() < 0.2)
      world.venue.trade("BTC-USDT-SWAP", "sell", 589_000, chance.next() < 0.5 ? 15 : 5, world.clock.now());
    look();
  }
  await pass(world, 240_000);
  const told = new Set(life.events.flatMap((event) => (event.type === "anomaly" ? [event.what] : [])));
  Object.assign(world, { spoil: (_: unknown, answer: WireResponse) => answer });
  await pass(world, 120_000);
  const truth = new Map(world.venue.truth("main").orders.map((order) => [order.clOrdId, order]));
  const phases = new Map<string, string>();
  for (const event of life.events) if (event.type === "order.changed") phases.set(event.clOrdId, event.phase);
  const open = [...phases].filter(([, phase]) => !finals.includes(phase));
  const ghosts = open.filter(([id]) => !["live", "partially_filled"].includes(truth.get(id)?.state ?? "live"));
  const unknown = open.filter(([, phase]) => phase === "unknown" || phase === "sent").length;
  const orphans = live().filter(({ clOrdId }) => finals.includes(phases.get(clOrdId) ?? "absent"));
  // Trading goes on: a new set of quotes is there.
  step += 7;
  quote();
  await pass(world, 180_000);
  const prices = live()
    .map(({ px }) => px)
    .sort();
  await stop(world, life.engine);
  const counts = { doubled: doubled.size, ghosts: ghosts.length, orphans: orphans.length, unknown };
  return { counts, quotes: prices, told: [...told] };
};

const all = { doubled: 0, ghosts: 0, orphans: 0, unknown: 0 };
const fourth = (count: number): boolean => count % 4 === 0;
const fifth = (count: number): boolean => count % 5 === 0;
const emptyHistory: World["spoil"] = ({ endpoint }, answer) =>
  endpoint === "orderHistory" ? { ...answer, body: { code: "0", msg: "", data: [] } } : answer;
const denied: World["spoil"] = ({ endpoint }, answer) =>
  endpoint === "getOrder" ? { ...answer, status: 401, body: { code: "50004", msg: "API key not found" } } : answer;

describe("An engine at a service without rate headers", () => {
  it.each<[string, Blindness]>([
    ["pushes nothing", { pushing: false, losesAnswer: fourth }],
    ["says that it pushes and is mute", { pushing: true, loses: () => true, losesAnswer: fourth }],
    ["loses every fifth push", { pushing: true, loses: fifth, losesAnswer: fourth }],
    ["has an empty history", { pushing: true, loses: fifth, losesAnswer: fourth, spoil: emptyHistory }],
    ["turns questions for an order away", { pushing: false, losesAnswer: fourth, spoil: denied }],
  ])(
    "and %s leaves no slot doubled, no order unknown, none believed in that is over, and trading goes on",
    async (_, blindness) => {
      expect(await story(blindness)).toEqual({ counts: all, quotes: ["58773", "58873", "58973"], told: [] });
    },
  );

  it("is named when it tells nothing at all of how orders end, and all heals when it does", async () => {
    const spoil: World["spoil"] = (request, answer) => denied(request, emptyHistory(request, answer));
    const end = await story({ pushing: true, loses: fifth, losesAnswer: fourth, spoil });
    expect(end).toEqual({ counts: all, quotes: expect.any(Array) as unknown, told: ["order.unresolved"] });
    expect(end.quotes).toHaveLength(3);
  });
});
