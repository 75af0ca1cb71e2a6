/**
 * Thirty simulated days of one engine, and its heap after each: what grows with time is a leak.
 *
 * Two orders move every five minutes and one trades through; the journal, limits on money, a watcher of every stream and the recovery
 * of lost answers take part. The service is a new one each midnight, since a service remembers and is not what is measured.
 *
 *   node --expose-gc --import tsx test/soak/days.ts [days=30] [days before the heap counts=10] [KiB it may grow in ten days=1024]
 */
import { BehaviorSubject, merge } from "rxjs";
import type { Disk } from "../../src/journal/disk.ts";
import type { WantedOrder } from "../../src/orders/wanted.ts";
import { begun, far, pass, renewVenue, stop, worldOf } from "../engine/lives.ts";

const [days = 30, warmDays = 10, limitKiB = 1_024] = process.argv.slice(2).map(Number);
const dayMs = 86_400_000;
const minuteMs = 60_000;
const { gc } = globalThis as { readonly gc?: () => void };
if (gc === undefined) throw new Error("Start with --expose-gc.");

/** Takes everything and keeps nothing: a journal is read by the next life only, and there is none. */
const forgetfulDisk = (): Partial<Disk> => {
  const names = new Set<string>();
  const nothing = async (): Promise<void> => undefined;
  return {
    list: async () => [...names].sort(),
    create: async (name) => {
      names.add(name);
    },
    open: async () => ({ append: nothing, sync: nothing, close: nothing }),
    remove: async (name) => {
      names.delete(name);
    },
  };
};

const world = worldOf();
Object.assign(world.disk, forgetfulDisk());
world.orders = { openNotionalInAll: "100000", positionInAll: "100000", lossInAll: "50000", changesPerSecond: 50 };
const wanted$ = new BehaviorSubject<readonly WantedOrder[]>([]);
world.wanted$ = wanted$;
let asked = 0;
// One answer in forty is lost, so that looking for orders is part of every day.
world.lose = ({ endpoint }) => (endpoint === "placeOrder" && ++asked % 40 === 0 ? "answer" : undefined);
const life = await begun(world);
life.forget();
const { engine } = life;
const watching = merge(engine.updates$, engine.pending$, engine.history$, engine.quota$, engine.balances$, engine.positions$).subscribe();

const heapKiB = (): number => {
  gc();
  gc();
  return process.memoryUsage().heapUsed / 1_024;
};

const through = (step: number): WantedOrder => ({
  slot: `through-${step % 2}`,
  instId: "BTC-USDT-SWAP",
  side: step % 2 === 0 ? "buy" : "sell",
  ordType: "ioc",
  px: step % 2 === 0 ? "60100" : "59900",
  qty: "0.01",
  round: step,
});

const startedAt = process.cpuUsage();
const heaps: number[] = [];
let events = 0;
engine.on("event", () => events++);
const stepMs = 5 * minuteMs;
const steps = Math.round(dayMs / stepMs);
for (let day = 0; day < days; day++) {
  for (let step = 0; step < steps; step++) {
    wanted$.next([far("a", String(30_000 + (step % 50))), far("b", String(29_000 + (step % 50))), through(step)]);
    await pass(world, stepMs);
  }
  wanted$.next([]);
  await pass(world, 5 * minuteMs);
  renewVenue(world);
  heaps.push(heapKiB());
}
watching.unsubscribe();
const warm = Math.min(heaps.length - 1, Math.max(0, Math.ceil(warmDays) - 1));
const spanDays = heaps.length - 1 - warm;
const perTenDaysKiB = spanDays <= 0 ? Number.NaN : (((heaps.at(-1) ?? 0) - (heaps[warm] ?? 0)) / spanDays) * 10;
await stop(world, engine);
const cpuMs = Math.round(process.cpuUsage(startedAt).user / 1_000);
const result = { days, events, cpuMs, heapsKiB: heaps.map(Math.round), perTenDaysKiB: Math.round(perTenDaysKiB), limitKiB };
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(perTenDaysKiB <= limitKiB ? 0 : 1);
