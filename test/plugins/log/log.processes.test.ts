/**
 * The log plugin: what is in the file, at which level, and what becomes of it when the file is moved, full or not there.
 */
import { spawnSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import log from "../../../plugins/log/index.ts";
import { type PluginTest, testPlugin } from "../../../src/testing.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("log");
let count = 0;
const fresh = (): string => join(folder, `${count++}`, "sluice.log");

const running: PluginTest[] = [];
afterEach(async () => {
  for (const t of running.splice(0)) await t.stop();
});
const start = async (options: Parameters<typeof log>[0], more: object = {}): Promise<PluginTest> => {
  const t = await testPlugin(log(options), more);
  running.push(t);
  return t;
};

type Line = Readonly<Record<string, unknown>>;
const linesOf = (path: string): readonly Line[] =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);

const trade = async (t: PluginTest): Promise<void> => {
  t.quote("BTC-USDT-SWAP", { bidPx: "60000", askPx: "60001" });
  t.want([{ slot: "bid", instId: "BTC-USDT-SWAP", side: "buy", px: "60000", qty: "0.01" }]);
  await t.advance();
  t.fill("bid");
  await t.advance();
};

describe("The log plugin", () => {
  it("writes every event with its name, time, number and fields, the last one included", async () => {
    const path = fresh();
    const t = await start({ path, level: "trace" });
    await trade(t);
    await t.stop();
    const from = t.events.findIndex(({ type }) => type === "engine.started") + 1;
    expect(linesOf(path).map((line) => ({ ...line, level: undefined }))).toEqual(
      t.events
        .slice(from)
        .map(({ type, at, ...rest }) => JSON.parse(JSON.stringify({ time: at, event: type, ...rest })) as Line),
    );
    expect(linesOf(path).at(-1)).toMatchObject({ event: "engine.stopped", level: "info" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("keeps to its level, and to levels that were changed", async () => {
    const [plain, changed] = [fresh(), fresh()];
    for (const [path, levels] of [
      [plain, {}],
      [changed, { "order.changed": "info", fill: "debug" }],
    ] as const) {
      const t = await start({ path, levels });
      await trade(t);
      await t.stop();
    }
    expect(linesOf(plain).map(({ event, level }) => `${event as string} ${level as string}`)).toEqual([
      "fill info",
      "mode.changed warn",
      "engine.stopped info",
    ]);
    const names = linesOf(changed).map(({ event }) => event);
    expect(names).toContain("order.changed");
    expect(names).not.toContain("fill");
  });

  it("puts its fields on every line and leaves out what is redacted", async () => {
    const path = fresh();
    const t = await start({ path, fields: { engine: "desk 1" }, redact: ["clOrdId", "record.ordId"], level: "debug" });
    await trade(t);
    await t.stop();
    const lines = linesOf(path);
    expect(lines.every(({ engine }) => engine === "desk 1")).toBe(true);
    const withOrder = lines.filter(({ clOrdId }) => clOrdId !== undefined);
    expect(withOrder.length).toBeGreaterThan(2);
    expect(withOrder.every(({ clOrdId }) => clOrdId === "[Redacted]")).toBe(true);
    expect(withOrder.flatMap(({ record }) => (record === undefined ? [] : [(record as Line)["ordId"]]))).toContain(
      "[Redacted]",
    );
  });

  it("writes text for people when asked to", async () => {
    const path = fresh();
    const t = await start({ path, pretty: true });
    await trade(t);
    await t.stop();
    const lines = readFileSync(path, "utf8").split("\n");
    expect(lines[0]).toMatch(
      /^\[2024-01-01 00:00:00\.\d+\] INFO: fill \{"strategy":"by hand","slot":"bid",.*"qty":"0\.01".*\}$/,
    );
    expect(lines.some((line) => line.includes("INFO: engine.stopped"))).toBe(true);
  });

  it("opens a file anew that was moved away, and loses no line", async () => {
    const path = fresh();
    const t = await start({ path, level: "trace" });
    await trade(t);
    await expect.poll(() => existsSync(path) && linesOf(path).some(({ event }) => event === "fill")).toBe(true);
    await t.advance(6_000);
    renameSync(path, `${path}.1`);
    await t.advance(6_000);
    expect(existsSync(path)).toBe(true);
    t.engine.halt("enough").subscribe();
    await t.stop();
    expect(linesOf(path).map(({ event }) => event)).toContain("mode.changed");
    expect(statSync(`${path}.1`).size).toBeGreaterThan(0);
    const seqs = [...linesOf(`${path}.1`), ...linesOf(path)].map(({ seq }) => seq as number);
    expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] as number) + index));
  });

  it("opens it anew at SIGUSR2, and does not listen after the stop", async () => {
    const path = fresh();
    const before = process.listenerCount("SIGUSR2");
    const t = await start({ path });
    await trade(t);
    await expect.poll(() => existsSync(path)).toBe(true);
    renameSync(path, `${path}.1`);
    process.kill(process.pid, "SIGUSR2");
    await expect.poll(() => existsSync(path)).toBe(true);
    await t.stop();
    expect(linesOf(path).map(({ event }) => event)).toContain("engine.stopped");
    expect(process.listenerCount("SIGUSR2")).toBe(before);
  });

  it("counts lines that do not fit into its buffer", async () => {
    const path = fresh();
    const t = await start({ path, level: "trace", bufferBytes: 65_536 });
    // Nothing is written while the event loop does not turn.
    for (let round = 0; round < 400; round++) {
      t.engine.halt("x".repeat(500)).subscribe();
      t.engine.resume("go on");
    }
    await t.stop();
    const lines = linesOf(path).length;
    const lost = Number(/^log: (\d+) lines were lost$/.exec(t.printed.at(-1) ?? "")?.[1]);
    expect(t.printed[0]).toBe(`log: ${path}: too slow; lines are lost`);
    expect(lines + lost).toBe(t.events.length - 1 - t.events.findIndex(({ type }) => type === "engine.started"));
    expect(lost).toBeGreaterThan(100);
  });

  it("that cannot write is named, and trading goes on", async () => {
    const path = join(folder, "a-folder");
    mkdirSync(path, { recursive: true });
    const t = await start({ path }, { failures: "record" });
    await trade(t);
    expect(t.position("BTC-USDT-SWAP")).toBe("0.01");
    await expect
      .poll(() =>
        [...t.printed, ...t.events.flatMap((event) => (event.type === "plugin.failed" ? [event.message] : []))].join(),
      )
      .toContain("EISDIR");
  });

  it.skipIf(!existsSync("/dev/full"))("says once that the disk is full, and trading goes on", async () => {
    const t = await start({ path: "/dev/full", level: "trace" });
    await trade(t);
    await expect.poll(() => t.printed.length).toBeGreaterThan(0);
    await t.advance(1_000);
    await t.stop();
    expect(t.printed.filter((line) => line.includes("ENOSPC"))).toHaveLength(1);
    expect(t.position("BTC-USDT-SWAP")).toBe("0.01");
  });

  const pipe = (): string | undefined => {
    const path = join(folder, `${count++}.pipe`);
    return spawnSync("mkfifo", [path]).status === 0 ? path : undefined;
  };
  const canPipe = pipe() !== undefined;

  it.skipIf(!canPipe)("does not wait for the reader of a pipe, and writes what waited once it reads", async () => {
    const path = pipe() as string;
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const t = await start({ path, level: "trace" });
    for (let round = 0; round < 400; round++) {
      t.engine.halt("x".repeat(500)).subscribe();
      t.engine.resume("go on");
    }
    await trade(t);
    expect(t.position("BTC-USDT-SWAP")).toBe("0.01");
    const expected = t.events.length - 1 - t.events.findIndex(({ type }) => type === "engine.started");
    const bytes = Buffer.alloc(1_000_000);
    let text = "";
    const read = (): number => {
      try {
        text += bytes.toString("utf8", 0, readSync(reader, bytes));
      } catch (error) {
        // Nothing was written since.
        expect((error as NodeJS.ErrnoException).code).toBe("EAGAIN");
      }
      return text.split("\n").length - 1;
    };
    await expect
      .poll(async () => {
        await t.advance(6_000);
        return read() >= expected;
      })
      .toBe(true);
    await t.stop();
    closeSync(reader);
    expect(t.printed).toEqual([]);
  });

  it.skipIf(!canPipe)("that finds a pipe without a reader is named, and trading goes on", async () => {
    const t = await start({ path: pipe() as string }, { failures: "record" });
    await trade(t);
    expect(t.position("BTC-USDT-SWAP")).toBe("0.01");
    expect(JSON.stringify(t.events)).toContain("cannot be opened (ENXIO)");
  });
});
