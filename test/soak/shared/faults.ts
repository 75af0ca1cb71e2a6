/**
 * Scenarios of the soak of a shared quota, as data: what happens when, seconds after all engines trade.
 *
 * Not here: what is measured (run.ts), how it is done to processes (group.ts).
 */

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRandom } from "../../../src/random.ts";
import type { Group } from "./group.ts";

export interface Scenario {
  readonly title: string;
  readonly seconds: number;
  readonly faults: readonly { readonly at: number; readonly run: (group: Group) => unknown }[];
  /** The program that it cannot do without, where that is missing. */
  readonly needs?: () => string | undefined;
  /** Watched by sentinels, with a replica. */
  readonly sentinel?: true;
  /** What libfaketime makes of each engine's clocks. */
  readonly clocks?: readonly string[];
  /** In place of so many engines that are alike. */
  readonly engines?: readonly { readonly share?: number; readonly load?: "bursts" }[];
  /** Each engine has a user of its own, and the address may send so many requests a minute, which are what is divided. */
  readonly addressRequests?: number;
}

export const fakeTimeLibrary = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1",
].find((path) => existsSync(path));
const waited = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const needsSentinel = (): string | undefined =>
  spawnSync("redis-sentinel", ["--version"]).status === 0 ? undefined : "redis-sentinel";
const needsFakeTime = (): string | undefined => (fakeTimeLibrary === undefined ? "libfaketime" : undefined);

/** For seven minutes something happens to an engine or to the store every 5 to 25 s, at moments that the seed decides, and is over after at most 20 s. */
const atRandom = (seed: string): Scenario => {
  const random = createRandom(`soak/${seed}`);
  const list: { readonly at: number; readonly run: (group: Group) => unknown }[] = [];
  const busyUntil = new Map<number | "store", number>();
  for (let at = 20; at < 420; at += random.whole(5, 25)) {
    const who = random.next() < 0.3 ? "store" : random.whole(0, 3);
    const until = at + random.whole(1, 20);
    if ((busyUntil.get(who) ?? 0) >= at) continue;
    busyUntil.set(who, until);
    const dies = random.next() < 0.5;
    if (who === "store") {
      list.push({ at, run: (group) => (dies ? group.killStore() : group.signalStore("SIGSTOP")) });
      list.push({ at: until, run: (group) => (dies ? group.startStore() : group.signalStore("SIGCONT")) });
    } else {
      list.push({ at, run: (group) => (dies ? group.kill(who) : group.signal(who, "SIGSTOP")) });
      list.push({ at: until, run: (group) => (dies ? group.start(who) : group.signal(who, "SIGCONT")) });
    }
  }
  return { title: "engines and store killed and stopped at random moments", seconds: 490, faults: list };
};

export const faults: Readonly<Record<string, Scenario>> = {
  none: { title: "no fault", seconds: 190, faults: [] },
  light: {
    title: "one busy engine beside three light ones",
    seconds: 250,
    engines: [{}, { load: "bursts" }, { load: "bursts" }, { load: "bursts" }],
    faults: [],
  },
  shares: {
    title: "two engines with shares of 3 to 1",
    seconds: 250,
    engines: [{ share: 3 }, { share: 1 }],
    faults: [],
  },
  address: {
    title: "three users behind one address",
    seconds: 250,
    engines: [{}, {}, {}],
    addressRequests: 300,
    faults: [],
  },
  kill: {
    title: "engine killed for 60 s, another for 2 s",
    seconds: 200,
    faults: [
      { at: 70, run: (group) => group.kill(1) },
      { at: 100, run: (group) => group.kill(2) },
      { at: 102, run: (group) => group.start(2) },
      { at: 130, run: (group) => group.start(1) },
    ],
  },
  pause: {
    title: "engine stopped (SIGSTOP) for 80 s, another for 15 s",
    seconds: 200,
    faults: [
      { at: 60, run: (group) => group.signal(1, "SIGSTOP") },
      { at: 90, run: (group) => group.signal(2, "SIGSTOP") },
      { at: 105, run: (group) => group.signal(2, "SIGCONT") },
      { at: 140, run: (group) => group.signal(1, "SIGCONT") },
    ],
  },
  /** It comes back to a count above the last one that it heard, of another minute. */
  "pause-early": {
    title: "engine stopped (SIGSTOP) for 100 s at second 3 of a minute",
    seconds: 195,
    faults: [
      {
        at: 1,
        run: async (group) => {
          await waited((63_000 - (Date.now() % 60_000)) % 60_000);
          group.signal(1, "SIGSTOP");
          await waited(100_000);
          group.signal(1, "SIGCONT");
        },
      },
    ],
  },
  "store-killed": {
    title: "store killed twice, memory lost, away 15 s and 1 s",
    seconds: 200,
    faults: [
      { at: 70, run: (group) => group.killStore() },
      { at: 85, run: (group) => group.startStore() },
      { at: 150, run: (group) => group.killStore() },
      { at: 151, run: (group) => group.startStore() },
    ],
  },
  "store-hangs": {
    title: "store hangs (SIGSTOP) for 30 s",
    seconds: 190,
    faults: [
      { at: 50, run: (group) => group.signalStore("SIGSTOP") },
      { at: 80, run: (group) => group.signalStore("SIGCONT") },
    ],
  },
  "store-hangs-long": {
    title: "store hangs (SIGSTOP) for 160 s",
    seconds: 330,
    faults: [
      { at: 60, run: (group) => group.signalStore("SIGSTOP") },
      { at: 220, run: (group) => group.signalStore("SIGCONT") },
    ],
  },
  sentinel: {
    title: "failover by Sentinel, primary stopped for 60 s",
    seconds: 190,
    sentinel: true,
    needs: needsSentinel,
    faults: [
      { at: 60, run: (group) => group.signalStore("SIGSTOP") },
      { at: 120, run: (group) => group.signalStore("SIGCONT") },
    ],
  },
  clocks: {
    title: "clocks -2 min, +1.5 min, +100 ppm, -100 ppm",
    seconds: 200,
    needs: needsFakeTime,
    clocks: ["-120s", "+90s", "+0 x1.0001", "+0 x0.9999"],
    faults: [],
  },
  twins: {
    title: "two processes of one name",
    seconds: 190,
    faults: [{ at: 60, run: (group) => group.start(4, "engine-0") }],
  },
  halt: {
    title: "halt everywhere for 60 s",
    seconds: 200,
    faults: [
      { at: 70, run: (group) => group.halt("soak") },
      { at: 130, run: (group) => group.halt(undefined) },
    ],
  },
  random: atRandom(process.env["SOAK_SEED"] ?? "1"),
};
