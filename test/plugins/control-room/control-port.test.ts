import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import tls from "node:tls";
import { concat, NEVER, of } from "rxjs";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { ControlDocument } from "../../../plugins/control-room/index.ts";
import { defaultFolder } from "../../../src/journal/own-folder.ts";
import { far, strategy } from "../../support/harness/backtest.ts";
import { loopbackCertificate, loopbackKey } from "../../support/harness/loopback-certificate.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { type Controlled, rowsOf, startControlled, streamOf, written } from "./harness/control.ts";

const resting = (name = "resting") => strategy(name, { wanted: () => concat(of([far("x"), far("y")]), NEVER) });
const folder = temporaryFolder("control-port");
const act = (body: object) => ({ method: "POST", path: "/api/v1/sources/main/actions", body: JSON.stringify(body) });

describe("The control port of a running engine", () => {
  let room: Controlled;
  beforeAll(async () => {
    room = await startControlled([resting()]);
  });
  afterAll(async () => room.stop());

  it("lists its engine, tells everything of it, and one order from wanted order to record", async () => {
    const list = await room.ask({});
    expect([list.status, JSON.parse(list.body)]).toMatchObject([
      200,
      {
        access: "act",
        sources: [{ id: "main", isGone: false, engine: { kind: "paper", environment: "", state: "running" } }],
      },
    ]);
    const { body } = await room.ask({ path: "/api/v1/sources/main" });
    const orders = rowsOf(body, "orders");
    expect(orders).toMatchObject([
      { strategy: "resting", slot: "x", phase: "live", px: "30000" },
      { strategy: "resting", slot: "y" },
    ]);
    const story = await room.ask({ path: `/api/v1/sources/main/orders/${String(orders[0]?.["clOrdId"])}` });
    const events = JSON.parse(story.body) as { type: string; phase: string }[];
    // Whether the placement's answer or the first reading of the pending orders is processed first, real time decides.
    const told = events.map(({ type, phase }) => `${type} ${phase}`).filter((each) => each !== "order.changed acked");
    expect(told).toEqual(["order.changed sent", "order.changed live"]);
    expect((await room.ask({ path: "/api/v1/sources/main/orders/nothing" })).status).toBe(404);
    expect((await room.ask({ path: "/api/v1/sources/other" })).status).toBe(404);
  });

  it("streams a snapshot, then changes, and a heartbeat each second", async () => {
    const stream = streamOf(room);
    const follower = new ControlDocument("main");
    const [first] = await stream.until(({ event }) => event === "snapshot");
    follower.apply(first?.data as never);
    expect(follower.count("orders")).toBe(2);
    const halted = await room.ask(act({ type: "halt", reason: "tea" }));
    expect([halted.status, JSON.parse(halted.body)]).toEqual([
      200,
      { ok: true, text: "Trading is halted, and 2 orders are gone.", count: 2 },
    ]);
    const seen = await stream.until(({ event, data }) => {
      if (event === "update") follower.apply(data as never);
      return follower.rows("orders").every(({ isFinal }) => isFinal) && follower.row("engine", "")?.mode === "halted";
    });
    expect(seen.length).toBeGreaterThan(0);
    expect(await stream.until(({ event }) => event === "heartbeat")).toMatchObject([
      { data: { silentMs: expect.any(Number) } },
    ]);
    expect(JSON.parse((await room.ask(act({ type: "resume" }))).body)).toEqual({
      ok: true,
      text: "Trading is resumed.",
    });
    await stream.until(({ event, data }) => {
      if (event === "update") follower.apply(data as never);
      return follower.rows("orders").filter(({ isFinal }) => !isFinal).length === 2;
    });
    stream.end();
  });

  it("serves its page, with headers that let no other site read or frame it, and no token", async () => {
    const page = await room.ask({ path: "/", headers: { Authorization: undefined } });
    expect(page.status).toBe(200);
    for (const line of [
      /^content-security-policy: default-src 'self';.*frame-ancestors 'none'/im,
      /^x-content-type-options: nosniff/im,
      /^referrer-policy: no-referrer/im,
      /^cache-control: no-store/im,
    ]) {
      expect(page.head).toMatch(line);
    }
    expect(page.head).not.toMatch(/access-control|set-cookie/i);
    expect(page.body).not.toContain(room.token);
    const named = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path as string);
    expect(named).toEqual(["/assets/icon.svg", "/assets/page.css", "/assets/page.js"]);
    for (const path of named) expect([path, (await room.ask({ path })).status]).toEqual([path, 200]);
    const script = await room.ask({ path: "/assets/page.js" });
    expect(script.head).toContain("text/javascript");
    // It loads nothing, and carries the licence of the bundled chart library.
    expect(script.body).not.toMatch(/\bimport\s*[({"]|\brequire\(/);
    expect(script.body).toContain("/*! uplot\nThe MIT License");
  });

  it.runIf(process.platform === "linux")("runs in a thread that gives way to the engine's", () => {
    const niceOf = (task: number): number =>
      Number(
        readFileSync(`/proc/self/task/${task}/stat`, "utf8")
          .replace(/^.*\) /, "")
          .split(" ")[16],
      );
    const nices = readdirSync("/proc/self/task").map((task) => niceOf(Number(task)));
    const own = niceOf(process.pid);
    expect(nices.some((nice) => nice > own)).toBe(true);
    expect(Math.max(...nices)).toBeLessThanOrEqual(Math.max(5, own + 5));
  });

  it("leaves a file for other programs that its user alone may read", () => {
    const name = readdirSync(defaultFolder()).find((one) => one === `control-${process.pid}-${room.port}.json`) ?? "";
    const path = join(defaultFolder(), name);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({
      url: `http://127.0.0.1:${room.port}`,
      act: room.token,
      engines: ["main"],
    });
  });
});

describe("A control port", () => {
  const rooms: Controlled[] = [];
  const start = async (...args: Parameters<typeof startControlled>): Promise<Controlled> => {
    const room = await startControlled(...args);
    rooms.push(room);
    return room;
  };
  afterEach(async () => {
    for (const room of rooms.splice(0)) await room.stop();
  });

  it("tells those who watch that the engine has stopped, then closes and takes its file away", async () => {
    const room = await start([resting()]);
    const stream = streamOf(room);
    await stream.until(({ event }) => event === "snapshot");
    const path = join(defaultFolder(), `control-${process.pid}-${room.port}.json`);
    expect(existsSync(path)).toBe(true);
    await room.engine.stop();
    const rest = await stream.rest();
    expect(rest.filter(({ event }) => event === "gone")).toHaveLength(1);
    const rows = rest.flatMap(({ data }) => (data as { rows?: [string, string, { state?: string }][] }).rows ?? []);
    expect(rows.filter(([section]) => section === "engine").at(-1)?.[2].state).toBe("stopped");
    expect(existsSync(path)).toBe(false);
    expect((await room.ask({})).status).toBe(0);
  });

  it("is shared by engines of one process with equal options, under names of their own", async () => {
    const one = await start([resting()], { name: "one" });
    const two = await start([resting()], { name: "two" });
    expect([two.port, two.token]).toEqual([one.port, one.token]);
    const { sources } = JSON.parse((await one.ask({})).body) as { sources: { id: string }[] };
    expect(sources.map(({ id }) => id)).toEqual(["one", "two"]);
    await one.stop();
    const after = JSON.parse((await two.ask({})).body) as { sources: { id: string; isGone: boolean }[] };
    expect(after.sources.map(({ id, isGone }) => [id, isGone])).toEqual([
      ["one", true],
      ["two", false],
    ]);
  });

  it("has a reading token only where no action is allowed", async () => {
    const room = await start([resting()], { readOnly: true });
    expect(JSON.parse((await room.ask({})).body)).toMatchObject({ access: "read" });
    const refused = await room.ask(act({ type: "halt" }));
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([403, { code: "TOKEN_READS" }]);
    expect(room.engine.openOrders()).toHaveLength(2);
  });

  it("that is taken is said, and the engine trades on", async () => {
    const first = await start([resting()]);
    const second = await start([resting()], { port: first.port });
    expect(second.printed[0]).toMatch(
      /^dashboard: The control port cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)\. .* The engine continues without it\.$/,
    );
    expect(second.engine.strategies()).toMatchObject([{ state: "running" }]);
  });

  it("speaks TLS where it is given a certificate, and its own pages are https then", async () => {
    const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
    writeFileSync(cert, loopbackCertificate);
    writeFileSync(key, loopbackKey);
    const room = await start([resting()], { tls: { cert, key } });
    expect(room.printed[0]).toMatch(/^dashboard: https:/);
    const ask = (origin: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = tls.connect({ host: "127.0.0.1", port: room.port, ca: loopbackCertificate });
        let text = "";
        socket.on("data", (chunk) => {
          text += chunk.toString();
        });
        socket.on("close", () => resolve(text));
        socket.on("error", () => resolve(text));
        socket.write(written(room.port, room.token, { headers: { Origin: origin } }));
      });
    expect(await ask(`https://127.0.0.1:${room.port}`)).toMatch(/^HTTP\/1\.1 200/);
    expect(await ask(`http://127.0.0.1:${room.port}`)).toMatch(/^HTTP\/1\.1 403/);
    // Without TLS it says nothing.
    expect((await room.ask({})).status).not.toBe(200);
  });

  it("is reached behind a proxy under the names that it was given, and no other", async () => {
    const file = join(folder, "tokens");
    writeFileSync(file, `${"a".repeat(40)}\n${"r".repeat(40)}\n`, { mode: 0o600 });
    const room = await start([resting()], { behindProxy: true, names: ["desk.example.org"], tokenFile: file });
    // The user's own tokens are not written where output is kept.
    expect(room.printed[0]).toBe("dashboard: https://desk.example.org/");
    const listening = room.port;
    const status = async (Host: string, Origin?: string): Promise<number> =>
      (await room.ask({ headers: { Host, Origin } })).status;
    expect(listening).toBeGreaterThan(0);
    expect(await status("desk.example.org")).toBe(200);
    expect(await status("desk.example.org", "https://desk.example.org")).toBe(200);
    expect(await status("desk.example.org", "http://desk.example.org")).toBe(403);
    expect(await status("desk.example.org.attacker.example")).toBe(421);
  });

  it.each([
    ["no file", undefined, "there is no such file"],
    ["a file that others may read", ["a".repeat(40), 0o644], "it is open to others"],
    ["a short token", ["secret", 0o600], "at least 32"],
    ["one token twice", [`${"a".repeat(40)}\n${"a".repeat(40)}`, 0o600], "both tokens are the same"],
    ["three tokens", ["a\nb\nc", 0o600], "more than two"],
  ] as const)("takes no tokens from %s", async (name, content, why) => {
    const tokenFile = join(folder, name.replaceAll(" ", "-"));
    if (content !== undefined) writeFileSync(tokenFile, content[0], { mode: content[1] });
    const room = await start([resting()], { tokenFile });
    expect(room.printed[0]).toContain(why);
    expect(room.printed.join("")).not.toContain("aaaa");
    expect(room.port).toBe(0);
  });

  it.each([
    [{ host: "0.0.0.0" }, "it needs tls"],
    [{ host: "0.0.0.0", behindProxy: true, names: ["desk.example.org"] }, "it needs a tokenFile"],
    [{ behindProxy: true }, "behindProxy needs the names"],
    [{ tokenFile: "/nowhere/token" }, "there is no such file"],
    [{ tls: { cert: "/nowhere/cert", key: "/nowhere/key" } }, "cannot be read"],
  ])("opens nothing beyond this machine by accident: %j", async (options, why) => {
    const room = await start([resting()], options);
    expect(room.printed[0]).toContain(why);
    expect(room.port).toBe(0);
  });
});
