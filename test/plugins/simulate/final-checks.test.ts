/** What must hold after quiet, where the market still moves orders: what is on its way is no difference. */
import { BehaviorSubject } from "rxjs";
import { expect, it } from "vitest";
import { checkQuiet } from "../../../plugins/simulate/final-checks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";

const order = {
  ordId: "7",
  clOrdId: "own7",
  instId: "BTC-USDT-SWAP",
  side: "buy",
  ordType: "limit",
  state: "live",
  px: "60000",
  sz: "1",
};

/** A world in which engine, service and strategies agree on one order. */
const world = () => {
  const time = createVirtualClock(0);
  const violations: { readonly invariant: string; readonly text: string }[] = [];
  const pending$ = new BehaviorSubject({ value: [order], at: 0, stale: false });
  const phases = new Map([["own7", "live"]]);
  const orders = [order];
  const live = new Map([["7", order]]);
  const books = [{ strategy: "s", instId: "BTC-USDT-SWAP", net: 1 }];
  const held = { qty: "1" };
  const environment = {
    time,
    violations,
    fail: (invariant: string, text: string) => void violations.push({ invariant, text }),
    users: [{ uid: "main" }],
    ids: { read: () => ({}) },
    venue: {
      truth: () => ({ orders }),
      holdings: () => ({ positions: [{ instId: "BTC-USDT-SWAP", pos: "1" }] }),
    },
    oracle: { live, slotOf: () => "s bid" },
    protections: { books, mayWait: () => false, mayRest: () => false },
    coarser: new Set(),
    amnesia: false,
    tape: { instruments: [] },
  };
  const process = {
    state: "running",
    clock: time,
    engine: { accountOf: () => ({ pending$ }) },
    watched: { phases, mode: "active" },
    wanted: new Map([["s", [{ slot: "bid", instId: "BTC-USDT-SWAP", side: "buy", px: "60000", qty: "1" }]]]),
    held: new Set(),
    named: new Set(["s bid"]),
    slots: { settled: () => false, last: () => "nothing" },
    positions: new Map([["s", () => held]]),
  };
  const play = {
    to: async (untilAt: number, done: () => boolean = () => false) => {
      for (let steps = 0; steps < 10_000 && !done() && time.now() < untilAt; steps++) {
        await Promise.resolve();
        time.advanceTo(Math.min(untilAt, time.now() + 100));
        pending$.next({ ...pending$.value, at: time.now() });
      }
    },
  };
  return { time, violations, pending$, phases, orders, live, books, held, environment, process, play };
};

type World = ReturnType<typeof world>;
type Change = (world: World) => void;

const other = { ...order, ordId: "8", clOrdId: "own8" };

const differences: readonly (readonly [string, Change, Change, string])[] = [
  [
    "an order without an answer",
    ({ phases }) => phases.set("own7", "sent"),
    ({ phases }) => phases.set("own7", "live"),
    "I11",
  ],
  [
    "an order of unknown outcome",
    ({ phases }) => phases.set("own7", "unknown"),
    ({ phases }) => phases.set("own7", "live"),
    "I11",
  ],
  ["an order that the engine does not list", ({ orders }) => orders.push(other), ({ orders }) => orders.pop(), "I10"],
  [
    "an order that only the engine lists",
    ({ pending$ }) => pending$.next({ ...pending$.value, value: [order, other] }),
    ({ pending$ }) => pending$.next({ ...pending$.value, value: [order] }),
    "I10",
  ],
  ["an order that is wanted and not there", ({ live }) => live.clear(), ({ live }) => live.set("7", order), "I10"],
  [
    "an order at another price",
    ({ live }) => live.set("7", { ...order, px: "59000" }),
    ({ live }) => live.set("7", order),
    "I10",
  ],
  [
    "an order that no strategy wants",
    ({ process }) => process.wanted.set("s", []),
    ({ process, live }) => live.clear() ?? process,
    "I10",
  ],
  [
    "a fill that the engine does not know",
    ({ held }) => {
      held.qty = "0";
    },
    ({ held }) => {
      held.qty = "1";
    },
    "I18",
  ],
];

const check = async ({ environment, process, play, violations }: World): Promise<readonly string[]> => {
  await checkQuiet(environment as never, process as never, play as never);
  return violations.map(({ invariant }) => invariant);
};

it("The checks after quiet find nothing where all agree", async () => {
  expect(await check(world())).toEqual([]);
});

it.each(differences)(
  "A check after quiet accepts %s on its way, and reports it where it lasts",
  async (_, begin, end, invariant) => {
    const passing = world();
    begin(passing);
    // The first look may wait for the listing.
    passing.time.setTimer(1_500, () => end(passing));
    expect(await check(passing)).toEqual([]);

    const lasting = world();
    begin(lasting);
    expect(await check(lasting)).toContain(invariant);
  },
);

it("The checks after quiet accept orders that come and go all the time", async () => {
  const one = world();
  let count = 8;
  const again = (): void => {
    one.orders[1] = { ...order, ordId: String(count), clOrdId: `own${count++}` };
    one.time.setTimer(one.time.now() + 500, again);
  };
  again();
  expect(await check(one)).toEqual([]);
});
