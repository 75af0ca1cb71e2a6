import { appendFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { concat, NEVER, of, switchMap, timer } from "rxjs";
import { beforeAll, describe, expect, it } from "vitest";
import { createSessionFile, finishSession, readSession } from "../../../plugins/session/session-file.ts";
import { sessionFormat } from "../../../plugins/session/session-records.ts";
import { fileOf, linesOf, newFolder, type Recording, record, replayed, rewrite, strategy } from "./harness/session.ts";

const order = { slot: "one", instId: "BTC-USDT-SWAP", side: "buy" as const, px: "50000", qty: "0.01" };
const placer = strategy("placer", { wanted: () => timer(1_000).pipe(switchMap(() => concat(of([order]), NEVER))) });

let original: Recording;
let lines: readonly string[];
beforeAll(async () => {
  original = await record([placer], {
    seed: "the seed",
    instance: "desk-7",
    profile: { order: { duplicateClOrdId: "accepted" } },
    record: { configPath: "config/mine.ts" },
  });
  lines = linesOf(original.dir);
});

/** The session again, with other lines. */
const copied = (changed: readonly string[]): Recording => {
  const dir = newFolder();
  mkdirSync(dir);
  rewrite(dir, changed);
  return { ...original, dir };
};

describe("A session's file", () => {
  it("says in its first line what was run, and in its last how it ended", () => {
    const { header, end, notes } = readSession(original.dir);
    expect(header).toMatchObject({
      format: sessionFormat,
      config: "config/mine.ts",
      seed: "the seed",
      instance: "desk-7",
      limits: true,
      profile: { order: { duplicateClOrdId: "accepted" } },
      strategies: [{ name: "placer", options: {} }],
      plugins: [],
      service: "paper",
    });
    expect(header.users).toHaveLength(1);
    expect(end).toMatchObject({ end: "stopped" });
    expect(end?.entries).toBe(lines.filter((line) => line.startsWith('{"in"')).length);
    expect(end?.outputs).toBe(lines.filter((line) => line.startsWith('{"out"')).length);
    expect(notes).toEqual([]);
  });

  it("gives the same bytes for the same run", async () => {
    const again = await record([placer], {
      seed: "the seed",
      instance: "desk-7",
      profile: { order: { duplicateClOrdId: "accepted" } },
      record: { configPath: "config/mine.ts" },
    });
    expect(readFileSync(fileOf(again.dir), "utf8")).toBe(readFileSync(fileOf(original.dir), "utf8"));
  });

  it("is not written into a folder that holds anything", () => {
    const { header } = readSession(original.dir);
    expect(() => createSessionFile(original.dir, header)).toThrow(/exists already. Name a new folder/);
  });

  it("that was tampered with is said to be, and diverges at the record that was changed", async () => {
    const at = lines.findIndex(
      (line) => line.includes('"endpoint":"placeOrder"') && line.startsWith('{"out":"request"'),
    );
    const changed = lines.map((line, index) => (index === at ? line.replace('"px":"50000"', '"px":"49999"') : line));
    const report = await replayed(copied(changed));
    expect(report.notes).toEqual([expect.stringContaining("changed after it was recorded")]);
    expect(report.divergence).toMatchObject({
      kind: "differs",
      index: at - 1,
      line: at + 1,
      fields: [{ path: "body.px", recorded: "49999", replayed: "50000" }],
    });
  });

  it("whose input was tampered with diverges where the engine acts on it", async () => {
    const at = lines.findIndex((line) => line.startsWith('{"in":"answer"') && line.includes('"tickSize"'));
    const changed = lines.map((line, index) =>
      index === at ? line.replace(/"tickSize":"[^"]+"/, '"tickSize":"7"') : line,
    );
    const { divergence } = await replayed(copied(changed));
    expect(divergence?.index).toBeGreaterThan(at);
    expect(divergence?.fields.map(({ path }) => path)).toContain("body.px");
  });

  it.each([
    ["in the middle of a line", (size: number) => size - 40],
    ["between two lines", (_: number, whole: number) => whole],
  ])("that was cut off %s is replayed as far as it goes", async (_, cut) => {
    const copy = copied(lines.slice(0, -6));
    const size = readFileSync(fileOf(copy.dir)).length;
    truncateSync(fileOf(copy.dir), cut(size, size));
    const report = await replayed(copy);
    expect(report.divergence).toBeUndefined();
    expect(report.notes.at(-1)).toContain("recording was cut off");
    expect(finishSession(copy.dir)).toBe(true);
    expect(readSession(copy.dir)).toMatchObject({ end: { end: "crashed" }, notes: [] });
    expect(finishSession(copy.dir)).toBe(false);
    expect((await replayed(copy)).divergence).toBeUndefined();
  });

  it("tells which line was torn, and leaves zeros at the end out like a torn line", () => {
    const torn = copied(lines.slice(0, 9));
    appendFileSync(fileOf(torn.dir), '{"in":"timer","ti');
    expect(readSession(torn.dir).notes[0]).toBe("The last line (10) was cut off while it was written and is left out.");
    const zeros = copied(lines.slice(0, 9));
    appendFileSync(fileOf(zeros.dir), `${"\0".repeat(300)}\n`);
    expect([...readSession(zeros.dir).records()]).toHaveLength(8);
  });

  it.each([
    [
      "another version",
      0,
      JSON.stringify({ format: "sluice-session/9" }),
      /session.ndjson:1: expected format "sluice-session\/1", found "sluice-session\/9". It was recorded by another version/,
    ],
    ["no session", 0, "{}", /found none. Make a session with `sluice record`/],
    [
      "a header without users",
      0,
      JSON.stringify({
        format: sessionFormat,
        config: "",
        seed: 1,
        instance: "main",
        limits: true,
        service: "x",
        users: [],
        strategies: [],
      }),
      /users/,
    ],
    ["a line that is no JSON", 4, "not json", /session.ndjson:5: expected a JSON object, found not json/],
    ["a record of no kind", 4, '{"what":1}', /:5: expected a record with "in", "out", "re" or "tape"/],
    ["an entry of an unknown kind", 4, '{"in":"magic","now":1}', /:5: expected "in" to be one of open, call/],
    ["an entry without its instant", 4, '{"in":"timer"}', /:5: expected an entry with its instant/],
  ])("with %s is refused by place", async (_, index, text, message) => {
    const copy = copied(lines.map((line, at) => (at === index ? text : line)));
    await expect(async () => replayed(copy)).rejects.toThrow(message);
  });

  it("with a reply to nothing is refused by place", async () => {
    const at = lines.findIndex(
      (line, index) => line.startsWith('{"in":"timer"') && lines[index + 1]?.startsWith('{"in"'),
    );
    const copy = copied([...lines.slice(0, at + 1), '{"re":"value","value":1}', ...lines.slice(at + 1)]);
    await expect(replayed(copy)).rejects.toThrow(`record ${at} is a reply to nothing. The session is damaged`);
  });

  it("that does not exist is refused with what to do", () => {
    const dir = newFolder();
    expect(() => readSession(dir)).toThrow(/expected a recorded session, found nothing. Make one with `sluice record`/);
    mkdirSync(dir);
    writeFileSync(join(dir, "session.ndjson"), "");
    expect(() => readSession(dir)).toThrow(/found none/);
  });

  it("is read whole however its lines fall into chunks", () => {
    const long = JSON.stringify({ in: "trouble", message: "x".repeat(700_000), now: 1 });
    const many = Array.from({ length: 5 }, () => long);
    const copy = copied([lines[0] as string, ...many]);
    expect([...readSession(copy.dir).records()]).toHaveLength(5);
  });
});
