import { existsSync, rmSync } from "node:fs";
import { concat, map, NEVER, of, take, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { readSession } from "../../../plugins/session/session-file.ts";
import { memoryDisk } from "../../support/harness/memory-disk.ts";
import { linesOf, newFolder, record, replayed, strategy } from "./harness/session.ts";

const swap = "BTC-USDT-SWAP";
const far = (slot: string, px: string) => ({ slot, instId: swap, side: "buy" as const, px, qty: "0.01" });
const same = { divergence: undefined, changed: [], notes: [] };

describe("A session of an engine with a journal", () => {
  const resting = strategy("resting", {
    wanted: () => concat(timer(0, 1_500).pipe(map((round) => [far("a", `${50_000 + round}`)])), NEVER),
  });

  it("holds what the journal's folder answered, and replays without that folder", async () => {
    const disk = memoryDisk();
    const openDisk = () => Promise.resolve(disk);
    const take = { journal: { dir: "nowhere/journal" }, ms: 5_000, record: { openDisk } };
    const first = await record([resting], take);
    const second = await record([resting], take);
    for (const { dir } of [first, second]) {
      const text = linesOf(dir).join("\n");
      for (const part of ['"out":"disk"', '"op":"sync"', '"journal.opened"']) expect(text).toContain(part);
      expect(text).not.toContain('"stray"');
    }
    expect(linesOf(second.dir).join("\n")).toContain('"run":2');
    expect(await replayed(first)).toMatchObject(same);
    expect(await replayed(second)).toMatchObject(same);
    expect(existsSync("nowhere")).toBe(false);
  });

  it("whose folder fails replays how orders are refused from then on", async () => {
    const disk = memoryDisk();
    const recording = await record([resting], {
      journal: { dir: "nowhere" },
      record: { openDisk: () => Promise.resolve(disk) },
      during: () => {
        disk.failSyncs(1);
      },
    });
    const text = linesOf(recording.dir).join("\n");
    expect(text).toMatch(/"in":"disk","disk":\d+,"error":/);
    expect(text).toContain("the journal cannot be written");
    expect(await replayed(recording)).toMatchObject(same);
  });

  it("in a folder of the machine replays as well", async () => {
    const dir = newFolder();
    const recording = await record([resting], { journal: { dir }, ms: 500 });
    expect(existsSync(dir)).toBe(true);
    rmSync(dir, { recursive: true });
    expect(await replayed(recording)).toMatchObject(same);
    expect(existsSync(dir)).toBe(false);
  });
});

describe("A session of what a strategy takes from the machine", () => {
  it("replays its dates, timers and dice", async () => {
    const human = strategy("human", {
      run: ({ orders }) =>
        of(0).pipe(
          map(() => {
            setInterval(() => {
              const px = String(50_000 + Math.floor(Math.random() * 1_000) + (Date.now() % 7));
              orders.place({ instId: swap, side: "buy", px, qty: "0.01" }).pipe(take(1)).subscribe();
            }, 700);
          }),
        ),
      wanted: () => NEVER,
    });
    const recording = await record([human], { ms: 4_000 });
    expect(
      linesOf(recording.dir).filter((line) => line.startsWith('{"out":"request"') && line.includes("placeOrder"))
        .length,
    ).toBeGreaterThan(2);
    expect(await replayed(recording)).toMatchObject(same);
  });
});

describe("A session of several users", () => {
  it("keeps their orders, pushes and states apart, and replays all of them", async () => {
    const recording = await record(
      [
        strategy("one", { wanted: () => concat(of([far("a", "50000")]), NEVER) }),
        { ...strategy("two", { wanted: () => concat(of([far("a", "49000")]), NEVER) }), user: "b" },
      ],
      {
        paper: { users: { a: { balances: { USDT: "5000" } }, b: { balances: { USDT: "7000" } } } } as object,
        ms: 4_000,
        during: (engine) => {
          engine.accountOf("b").balances$.pipe(take(1)).subscribe();
        },
      },
    );
    const { header } = readSession(recording.dir);
    expect(header.users.map(({ uid }) => uid)).toEqual(["a", "b"]);
    expect(header.strategies[1]).toEqual({ name: "two", user: "b", options: {} });
    const text = linesOf(recording.dir).join("\n");
    for (const part of ['"stream":"pushes a"', '"stream":"pushes b"', '"what":"balances$","uid":"b"'])
      expect(text).toContain(part);
    expect(await replayed(recording)).toMatchObject(same);
    const { divergence } = await replayed(recording, {
      strategies: recording.config.strategies.map((one) => ({ ...one, user: "a" })),
    });
    expect(divergence).toBeDefined();
  });
});
