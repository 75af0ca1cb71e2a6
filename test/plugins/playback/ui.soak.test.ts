/** `sluice ui` as a function: what it opens, plays and refuses. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NEVER, startWith } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import type { ControlUpdate } from "../../../plugins/control-room/control-document.ts";
import { ControlDocument } from "../../../plugins/control-room/control-document.ts";
import { main } from "../../../src/cli/main.ts";
import { type CapturedIo, capturedIo } from "../../support/captured-io.ts";
import { calm, far, recorder, run, strategy } from "../../support/harness/backtest.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { record, strategy as recorded } from "../session/harness/session.ts";

const folder = temporaryFolder("ui");
const opened: { readonly io: CapturedIo; readonly code: Promise<number> }[] = [];
afterEach(async () => {
  for (const { io, code } of opened.splice(0)) {
    io.stop();
    expect(await code).toBe(0);
  }
});

/** Opens the page of a run, and asks its port as the page does. */
const ui = async (...argv: readonly string[]) => {
  const io = capturedIo();
  const code = main(["ui", ...argv, "--json"], io);
  const gaveUp = code.then((ended) => {
    throw new Error(`ended with ${ended}: ${io.errText}`);
  });
  gaveUp.catch(() => undefined);
  while (io.outText === "") await Promise.race([gaveUp, new Promise((done) => setImmediate(done))]);
  opened.push({ io, code });
  const { link, from, to } = JSON.parse(io.outText) as {
    readonly link: string;
    readonly from: number;
    readonly to: number;
  };
  const [address = "", token = ""] = link.split("/#token=");
  const ask = async (path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    };
    const answer = await fetch(`${address}/api/v1/${path}`, {
      headers,
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  const { sources } = (await ask("sources")) as { readonly sources: readonly { readonly id: string }[] };
  const id = encodeURIComponent(sources[0]?.id ?? "");
  return {
    ...{ io, from, to, address },
    act: (action: object) => ask(`sources/${id}/actions`, action),
    document: async () => {
      const document = new ControlDocument("run");
      document.apply((await ask(`sources/${id}`)) as unknown as ControlUpdate);
      return document;
    },
    /** When the port has passed on what the source told. */
    until: async (holds: (document: ControlDocument) => boolean, get: () => Promise<ControlDocument>) => {
      for (let tries = 0; tries < 200; tries++) {
        const document = await get();
        if (holds(document)) return document;
        await new Promise((done) => setTimeout(done, 100));
      }
      throw new Error("it did not come to that");
    },
  };
};

const resting = strategy("resting", { wanted: () => NEVER.pipe(startWith([far("x"), far("y")])) });

describe("sluice ui", () => {
  it("plays a file of events: from its first instant, to its last, and back", async () => {
    const { events, plugin } = recorder();
    await run(calm(30), [resting], { plugins: [plugin] });
    const path = join(folder, "events.ndjson");
    writeFileSync(path, events.map((event) => `${JSON.stringify(event)}\n`).join(""));
    const { io, from, to, act, document, until } = await ui(path);
    expect([from, to]).toEqual([events[0]?.at, events.at(-1)?.at]);
    expect(io.errText).toContain("not in a file of events, and not shown");
    expect((await document()).row("engine", "")).toMatchObject({
      name: "events.ndjson",
      kind: "backtest",
      playback: { at: from, paused: true },
    });
    expect(await act({ type: "play", seekTo: to })).toMatchObject({ ok: true });
    const end = await until((now) => now.row("engine", "")?.playback?.at === to, document);
    expect(end.rows("orders").map(({ slot }) => slot)).toEqual(["x", "y"]);
    expect(await act({ type: "play", seekTo: from })).toMatchObject({ ok: true });
    const start = await until((now) => now.row("engine", "")?.playback?.at === from, document);
    expect(start.keys("orders")).toEqual([]);
    expect(await act({ type: "halt" })).toMatchObject({ ok: false, code: "UNSUPPORTED" });
  });

  it("plays a recorded session, with its prices", async () => {
    const { dir } = await record([
      recorded("resting", {
        wanted: ({ market }) =>
          market.quotes("BTC-USDT-SWAP").pipe(startWith(undefined), () => NEVER.pipe(startWith([far("x")]))),
      }),
    ]);
    const { act, document, until, to } = await ui(dir);
    await act({ type: "play", seekTo: to });
    const end = await until((now) => now.row("engine", "")?.playback?.at === to, document);
    expect(end.row("engine", "")?.kind).toBe("session");
    expect(end.keys("orders").length).toBe(1);
  });

  it.each([
    ["backtest", "backtest.ts", []],
    ["simulation", "backtest.ts, seed 3", ["--seed", "3", "--minutes", "1"]],
  ] as const)("plays the %s of a config", async (kind, name, more) => {
    const { act, document, until, to } = await ui("config/backtest.ts", ...more);
    await act({ type: "play", seekTo: to });
    const end = await until((now) => now.row("engine", "")?.playback?.at === to, document);
    expect(end.row("engine", "")).toMatchObject({ kind, name });
    for (const section of ["strategies", "quota", "orders", "markets", "equity"] as const)
      expect(end.keys(section).length, section).toBeGreaterThan(0);
  });

  it.each([
    ["nothing there", ["none.ndjson"], 2, "There is no none.ndjson"],
    ["a folder without a session", ["test/fixtures/demo"], 2, "holds no session"],
    ["no events", ["package.json"], 1, "package.json:1"],
  ])("refuses %s by name", async (_, argv, code, problem) => {
    const io = capturedIo();
    expect(await main(["ui", ...argv], io)).toBe(code);
    expect(io.errText).toContain(problem);
    expect(io.outText).toBe("");
  });
});
