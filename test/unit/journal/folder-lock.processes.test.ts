/** The lock of a folder, which processes may share that see nothing else of each other. */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { SluiceError } from "../../../src/errors.ts";
import { lockFolder } from "../../../src/journal/folder-lock.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const refuse = (): SluiceError => new SluiceError("ENGINE_STATE", "held");
const linux = process.platform === "linux";

/** A folder, and what a process that has it in common with this one may have written. */
const setUp = (name: string) => {
  const folder = temporaryFolder(`lock-${name}`);
  const clock = createVirtualClock(1_000_000);
  const take = () => lockFolder(folder, "service / user / main", clock, refuse);
  /** One whose time stands still beats no more. */
  const takeStill = () => lockFolder(folder, "service / user / main", createVirtualClock(0), refuse);
  const path = (): string => join(folder, readdirSync(folder)[0] ?? "none");
  const rewrite = (change: object): void =>
    writeFileSync(path(), JSON.stringify({ ...(JSON.parse(readFileSync(path(), "utf8")) as object), ...change }));
  /** Lets time pass until the promise settles: each second after what the disk was asked for is there. */
  const settled = async <T>(promise: Promise<T>, each: () => void = () => undefined) => {
    let isDone = false;
    const end = (): void => {
      isDone = true;
    };
    promise.then(end, end);
    const from = clock.now();
    while (!isDone) {
      for (let turn = 0; turn < 100 && !isDone; turn++) await readdir(folder);
      if (isDone) break;
      each();
      clock.advanceTo(clock.now() + 1_000);
    }
    return {
      ms: clock.now() - from,
      outcome: await promise.then(
        () => "taken",
        (error: Error) => error.message,
      ),
    };
  };
  return { folder, clock, take, takeStill, path, rewrite, settled };
};

describe("The lock of a folder", () => {
  it("is one process's alone, and free when that has let it go", async () => {
    const { folder, take, settled } = setUp("alone");
    const lock = await take();
    expect((await settled(take())).outcome).toBe("held");
    await lock.check();
    await lock.release();
    expect(readdirSync(folder)).toEqual([]);
    const next = await take();
    await next.release();
  });

  it.skipIf(!linux)("of a process of this machine that was killed is taken over at once", async () => {
    const { take, takeStill, rewrite, settled } = setUp("killed");
    await takeStill();
    rewrite({ token: "other", pid: spawnSync(process.execPath, ["-e", ""]).pid });
    const { ms, outcome } = await settled(take());
    expect(outcome).toBe("taken");
    expect(ms).toBeLessThan(3_000);
  });

  it.skipIf(!linux)("of a process whose id another one has now is taken over at once", async () => {
    const { take, takeStill, rewrite, settled } = setUp("reused");
    await takeStill();
    rewrite({ token: "other", started: "1" });
    const { ms, outcome } = await settled(take());
    expect(outcome).toBe("taken");
    expect(ms).toBeLessThan(3_000);
  });

  it("of a process in another container is refused while it beats", async () => {
    const { take, takeStill, rewrite, settled } = setUp("beating");
    await takeStill();
    let beats = 0;
    rewrite({ token: "other", host: "elsewhere", beats });
    const { ms, outcome } = await settled(take(), () => rewrite({ beats: ++beats }));
    expect(outcome).toBe("held");
    expect(ms).toBeLessThan(4_000);
  });

  it("of a process in another container is taken over ten seconds after its last beat", async () => {
    const { take, takeStill, rewrite, settled } = setUp("still");
    const before = await takeStill();
    rewrite({ token: "other", host: "elsewhere" });
    const { ms, outcome } = await settled(take());
    expect(outcome).toBe("taken");
    expect(ms).toBeGreaterThanOrEqual(10_000);
    expect(ms).toBeLessThan(13_000);
    // Should that one wake up, it finds that another process goes on.
    await expect(before.check()).rejects.toMatchObject({ code: "JOURNAL_FAILED" });
    await before.release();
    expect(await settled(take())).toMatchObject({ outcome: "held" });
  });

  it("with a file that is cut off is taken over after ten seconds", async () => {
    const { take, takeStill, path, settled } = setUp("torn");
    await takeStill();
    writeFileSync(path(), '{"tok');
    const { ms, outcome } = await settled(take());
    expect(outcome).toBe("taken");
    expect(ms).toBeGreaterThanOrEqual(10_000);
  });

  it("is taken by one of several that find it stale", async () => {
    const { take, takeStill, rewrite, settled } = setUp("race");
    await takeStill();
    rewrite({ token: "other", host: "elsewhere" });
    const takers = [take(), take(), take(), take()];
    const outcomes = await Promise.all(takers.map(async (taker) => (await settled(taker)).outcome));
    expect(outcomes.sort()).toEqual(["held", "held", "held", "taken"]);
  });

  it.each<[string, (file: string, other: string) => void]>([
    ["was renamed to its name", (file, other) => renameSync(other, file)],
    ["was written over it", (file, other) => writeFileSync(file, readFileSync(other))],
  ])("of which another owner's file %s is an error for who held it, after checks that passed", async (_, replace) => {
    const { take, path, folder, clock } = setUp("replaced");
    const lock = await take();
    await lock.check();
    await lock.check();
    clock.advanceTo(clock.now() + 2_000);
    for (let turn = 0; turn < 50; turn++) await readdir(folder);
    // A heartbeat changes the file, and the lock stays its owner's.
    await lock.check();
    await lock.check();
    const file = path();
    const other = join(folder, "..", "other");
    writeFileSync(other, readFileSync(file, "utf8").replace(/"token":"\w{4}/, '"token":"0000'));
    replace(file, other);
    await expect(lock.check()).rejects.toMatchObject({ code: "JOURNAL_FAILED" });
    await expect(lock.check()).rejects.toMatchObject({ code: "JOURNAL_FAILED" });
    await lock.release();
  });

  it("whose file is gone is an error for who holds it, and is made anew with the next beat", async () => {
    const { take, path, clock, folder } = setUp("gone");
    const lock = await take();
    rmSync(path());
    await expect(lock.check()).rejects.toThrow("is gone");
    clock.advanceTo(clock.now() + 2_000);
    for (let turn = 0; turn < 50; turn++) await readdir(folder);
    await lock.check();
    await lock.release();
  });
});
