import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { NEVER } from "rxjs";
import { describe, expect, it, vi } from "vitest";
import { ControlDocument, type ControlSource, takePlace } from "../../../plugins/control-room/index.ts";
import { defaultFolder } from "../../../src/journal/own-folder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("control-room");
const silent = (id: string): ControlSource => ({
  id,
  snapshot: () => new ControlDocument(id).snapshot(),
  updates$: NEVER,
  story: () => [],
  act: () => new Promise(() => undefined),
});
const optionsOf = (name: string) => ({
  port: 0,
  host: "127.0.0.1",
  names: [name],
  behindProxy: false,
  readOnly: false,
  account: false,
});
const filesOf = (port: string) =>
  readdirSync(defaultFolder()).filter((name) => name === `control-${process.pid}-${port}.json`);

describe("A control port and the places at it", () => {
  it("closes at once, also while a source has not answered", async () => {
    const place = await takePlace(silent("silent"), optionsOf("silent.example"), () => undefined);
    const asked = fetch(`${place.url}/api/v1/sources/silent/actions`, {
      method: "POST",
      headers: { authorization: `Bearer ${place.tokens.act}`, "content-type": "application/json" },
      body: '{"type":"halt"}',
    });
    const failed = asked.then(
      () => "answered",
      () => "cut off",
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const began = performance.now();
    await place.leave();
    expect(performance.now() - began).toBeLessThan(5_000);
    expect(await failed).toBe("cut off");
  });

  it("whose thread fails tells every engine, takes its file away, and the next engine with equal options gets a port that answers", async () => {
    const started: Worker[] = [];
    const note = (worker: Worker) => started.push(worker);
    process.on("worker", note);
    const options = optionsOf("failing.example");
    const [failed, told] = [vi.fn<(why: string) => void>(), vi.fn<(why: string) => void>()];
    const gone = vi.fn<(why: string) => void>();
    const one = await takePlace(silent("one"), options, failed);
    await takePlace(silent("another"), options, told);
    await (await takePlace(silent("left before"), options, gone)).leave();
    process.off("worker", note);
    expect(filesOf(new URL(one.url).port)).toHaveLength(1);
    await started[0]?.terminate();
    await vi.waitFor(() => expect(failed).toHaveBeenCalledWith("its thread ended by itself"), 60_000);
    expect([told.mock.calls, gone.mock.calls]).toEqual([[["its thread ended by itself"]], []]);
    expect(filesOf(new URL(one.url).port)).toEqual([]);
    const two = await takePlace(silent("two"), options, () => undefined);
    const list = async () =>
      (await fetch(`${two.url}/api/v1/sources`, { headers: { authorization: `Bearer ${two.tokens.read}` } })).status;
    expect(await list()).toBe(200);
    await one.leave();
    expect(filesOf(new URL(one.url).port)).toEqual([]);
    expect(await list()).toBe(200);
    await two.leave();
  });

  it("whose file cannot be written takes no engine, and closes with the last one all the same", async () => {
    const options = optionsOf("unwritable.example");
    const one = await takePlace(silent("one"), options, () => undefined);
    const two = await takePlace(silent("two"), options, () => undefined);
    const list = async () => {
      const answer = await fetch(`${one.url}/api/v1/sources`, {
        headers: { authorization: `Bearer ${one.tokens.read}` },
      });
      return ((await answer.json()) as { sources: { id: string; isGone: boolean }[] }).sources.filter(
        ({ isGone }) => !isGone,
      );
    };
    const file = join(folder, "no-folder");
    writeFileSync(file, "");
    vi.stubEnv("TMPDIR", file);
    await expect(takePlace(silent("three"), options, () => undefined)).rejects.toThrow();
    expect((await list()).map(({ id }) => id)).toEqual(["one", "two"]);
    await expect(two.leave()).rejects.toThrow();
    vi.unstubAllEnvs();
    await one.leave();
    await expect(list()).rejects.toThrow("fetch failed");
  });
});
