/**
 * The life of an engine that is always at work: what soaks over days and the short form of them have in common.
 *
 * The journal, limits on money, a watcher of every stream and the recovery of lost answers take part. The service is a new one
 * after each part of the story, since a service remembers and is not what is measured.
 */
import { BehaviorSubject, merge, type Subscription } from "rxjs";
import type { Event } from "../../../src/index.ts";
import type { Disk } from "../../../src/journal/disk.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { begun, far, pass, renewVenue, stop, type World, worldOf } from "../harness/engine.ts";

/** One answer in so many is lost, so that looking for orders is part of every day. */
const lostOf = 40;

/** Takes everything and keeps nothing: a journal is read by the next life only, and there is none. `begun` is told of segments. */
const forgetfulDisk = (begins: () => void): Partial<Disk> => {
  const names = new Set<string>();
  const nothing = async (): Promise<void> => undefined;
  return {
    list: async () => [...names].sort(),
    create: async (name) => {
      names.add(name);
      begins();
    },
    open: async () => ({ append: nothing, sync: nothing, close: nothing }),
    remove: async (name) => {
      names.delete(name);
    },
  };
};

/** Trades at once, or never rests. */
export const through = (slot: string, step: number): WantedOrder => ({
  slot,
  instId: "BTC-USDT-SWAP",
  side: step % 2 === 0 ? "buy" : "sell",
  ordType: "ioc",
  px: step % 2 === 0 ? "60100" : "59900",
  qty: "0.01",
  round: step,
});

/** Two that rest, and move with every step. */
export const resting = (step: number): readonly WantedOrder[] => [
  far("a", String(30_000 + (step % 50))),
  far("b", String(29_000 + (step % 50))),
];

export interface Restless {
  readonly world: World;
  readonly want: (...wanted: readonly WantedOrder[]) => void;
  readonly pass: (ms: number) => Promise<void>;
  /** Nothing rests any more, and the service is another one from here on. */
  readonly quiet: () => Promise<void>;
  readonly onEvent: (listener: (event: Event) => void) => void;
  readonly end: () => Promise<void>;
}

const quietMs = 300_000;

/** `lost` is told of each answer that will not arrive, `segment` of each segment of the journal. */
export const restless = async ({
  lost = () => undefined,
  segment = () => undefined,
}: Partial<Record<"lost" | "segment", () => void>>) => {
  const world = worldOf();
  Object.assign(world.disk, forgetfulDisk(segment));
  world.orders = { openNotionalInAll: "100000", positionInAll: "100000", lossInAll: "50000", changesPerSecond: 50 };
  const wanted$ = new BehaviorSubject<readonly WantedOrder[]>([]);
  world.wanted$ = wanted$;
  let asked = 0;
  world.lose = ({ endpoint }) => {
    if (endpoint !== "placeOrder" || ++asked % lostOf !== 0) return undefined;
    lost();
    return "answer";
  };
  const life = await begun(world);
  life.forget();
  const { engine } = life;
  const watching: Subscription = merge(
    engine.updates$,
    engine.account.pending$,
    engine.account.history$,
    engine.quota$,
    engine.account.balances$,
    engine.account.positions$,
  ).subscribe();
  const story: Restless = {
    world,
    want: (...wanted) => {
      wanted$.next(wanted);
    },
    pass: (ms) => pass(world, ms),
    quiet: async () => {
      wanted$.next([]);
      await pass(world, quietMs);
      renewVenue(world);
    },
    onEvent: (listener) => {
      engine.on("event", listener);
    },
    end: async () => {
      watching.unsubscribe();
      await stop(world, engine);
    },
  };
  return story;
};
