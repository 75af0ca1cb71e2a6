/**
 * The alerts plugin before servers on loopback that answer as the services document it; trading time is virtual.
 */
import { createHmac } from "node:crypto";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import alerts from "../../../plugins/alerts/index.ts";
import { rules } from "../../../plugins/alerts/rules.ts";
import { createStaleWatch } from "../../../plugins/alerts/watches.ts";
import { paper } from "../../../src/backtest.ts";
import { createEngine } from "../../../src/index.ts";
import { type PluginTest, testPlugin } from "../../../src/testing.ts";
import ladder from "../../../strategies/ladder.ts";
import { far } from "../../support/harness/backtest.ts";
import { mailServer, messageServer, type Received, type Reply } from "../../support/harness/message-servers.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const secret = "5up3r-s3cret-t0ken";
const folder = temporaryFolder("alerts");
const secretFile = join(folder, "secret");
writeFileSync(secretFile, `${secret}\n`, { mode: 0o600 });

type Given = Parameters<typeof alerts>[0];
const running: PluginTest[] = [];
afterEach(async () => {
  for (const t of running.splice(0)) await t.stop();
});

const start = async (options: Given, more: object = {}): Promise<PluginTest> => {
  const t = await testPlugin(alerts({ virtual: "send", ...options }), more);
  running.push(t);
  return t;
};

/** A URL where it belongs: in a file that only its owner reads. */
let urls = 0;
const urlAt = (url: string): { readonly file: string } => {
  const file = join(folder, `url-${urls++}`);
  writeFileSync(file, url, { mode: 0o600 });
  return { file };
};

/** Lets virtual time pass in steps, with sockets served between them, until `done`. */
const until = async (t: PluginTest, done: () => boolean, stepMs = 250): Promise<void> => {
  for (let step = 0; step < 400 && !done(); step++) {
    await t.advance(stepMs);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(done()).toBe(true);
};

const jsonOf = ({ body }: Received): Readonly<Record<string, unknown>> =>
  JSON.parse(body) as Readonly<Record<string, unknown>>;
const textsOf = (one: Received): readonly string[] =>
  (jsonOf(one)["alerts"] as readonly { readonly text: string }[]).map(({ text }) => text);
const quietStart = { started: false } as const;

const fillOne = async (t: PluginTest): Promise<void> => {
  t.quote("BTC-USDT-SWAP", { bidPx: "60000", askPx: "60001" });
  t.want([{ slot: "bid", instId: "BTC-USDT-SWAP", side: "buy", px: "60000", qty: "0.01" }]);
  await t.advance();
  t.fill("bid");
  await t.advance();
};

describe("The webhook of the alerts plugin", () => {
  it("carries what happened, signed over its time and body", async () => {
    const server = await messageServer(() => ({ status: 204 }));
    const t = await start({
      title: "desk 1",
      channels: { hook: { kind: "webhook", url: urlAt(server.url), secret: { file: secretFile } } },
    });
    await fillOne(t);
    await until(t, () => server.received.length === 1);
    const [one] = server.received as [Received];
    expect(jsonOf(one)).toMatchObject({ engine: "desk 1", level: "info", leftOut: 0 });
    expect(textsOf(one)).toEqual([
      "the engine has started",
      expect.stringMatching(/^by hand bought 0.01 of BTC-USDT-SWAP at 60000 \(fee [\d.]+ USDT\), now holds 0.01$/),
    ]);
    const signed = `${one.headers["x-sluice-timestamp"] as string}.${one.body}`;
    expect(one.headers["x-sluice-signature"]).toBe(
      `sha256=${createHmac("sha256", secret).update(signed).digest("hex")}`,
    );
  });

  it("tells the stop with the last message", async () => {
    const server = await messageServer(() => ({ status: 200 }));
    const t = await start({ channels: { hook: { kind: "webhook", url: urlAt(server.url) } }, rules: quietStart });
    await t.stop();
    expect(server.received.map(textsOf)).toEqual([["the engine has stopped: orders kept"]]);
  });

  it("that does not answer holds the stop up for no longer than it may", async () => {
    const server = await messageServer(() => ({ hangs: true }));
    const options = {
      channels: { hook: { kind: "webhook", url: urlAt(server.url) } },
      rules: quietStart,
      lastMessageMs: 50,
    } as const;
    const t = await start(options);
    await t.stop();
    expect(server.received).toHaveLength(1);
    expect(t.printed).toEqual(["alerts: hook: 1 alert was not delivered before the stop"]);
    expect(t.events.filter(({ type }) => type === "plugin.failed")).toEqual([]);
  });

  it("gathers what comes together, lets a critical alert leave at once, and keeps its order", async () => {
    const server = await messageServer(() => ({ status: 200 }));
    const t = await start({
      channels: { hook: { kind: "webhook", url: urlAt(server.url) } },
      rules: quietStart,
      gatherMs: 60_000,
    });
    await fillOne(t);
    await t.advance(5_000);
    expect(server.received).toEqual([]);
    t.failStrategy("no luck");
    await until(t, () => server.received.length === 1);
    expect(textsOf(server.received[0] as Received)).toEqual([
      expect.stringContaining("bought 0.01"),
      expect.stringMatching(/^strategy by hand failed: .*no luck/),
    ]);
  });
});

describe("A channel that fails", () => {
  const rejecting = async (answers: (index: number) => Reply, more: Partial<Given> = {}) => {
    const server = await messageServer((_, index) => answers(index));
    const t = await start({
      channels: { hook: { kind: "webhook", url: urlAt(server.url) } },
      rules: quietStart,
      ...more,
    } as Given);
    return { server, t };
  };

  it("is tried again with the same message after 1, 2 and 4 s, and named once until it works", async () => {
    const { server, t } = await rejecting((index) => ({ status: index < 3 ? 503 : 200 }));
    const at: number[] = [];
    await fillOne(t);
    for (let count = 1; count <= 4; count++) {
      await until(t, () => server.received.length === count);
      at.push(t.now);
    }
    await until(t, () => t.printed.length === 2);
    expect(new Set(server.received.map((one) => jsonOf(one)["id"])).size).toBe(1);
    const waits = at.slice(1).map((one, index) => one - (at[index] as number));
    for (const [index, least] of [1_000, 2_000, 4_000].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(least - 250);
      expect(waits[index]).toBeLessThan(least + 1_000);
    }
    expect(t.printed).toEqual([
      "alerts: hook does not take messages (status 503); it is tried again for 900 s",
      "alerts: hook takes messages again",
    ]);
  });

  it("is asked again when it said so", async () => {
    const { server, t } = await rejecting((index) =>
      index === 0 ? { status: 429, headers: { "retry-after": "30" } } : {},
    );
    await fillOne(t);
    await until(t, () => server.received.length === 1);
    const first = t.now;
    await until(t, () => server.received.length === 2);
    expect(t.now - first).toBeGreaterThanOrEqual(29_500);
  });

  it("is given up after its time, and the next message says what was lost", async () => {
    const { server, t } = await rejecting((index) => ({ status: index < 2 ? 500 : 200 }), { retryForMs: 500 });
    await fillOne(t);
    await until(t, () => server.received.length === 2);
    t.failStrategy("no luck");
    await until(t, () => server.received.length === 3);
    expect(jsonOf(server.received[2] as Received)).toMatchObject({ leftOut: 1 });
  });

  it("that refuses a message does not see it again", async () => {
    const { server, t } = await rejecting(() => ({ status: 401, body: JSON.stringify({ error: "who are you" }) }));
    await fillOne(t);
    await until(t, () => t.printed.length > 0);
    await t.advance(50_000);
    expect(server.received).toHaveLength(1);
    expect(t.printed).toEqual([
      "alerts: hook does not take messages (status 401: who are you); the message is given up",
    ]);
  });

  it.each([
    ["redirects", { status: 302, headers: { location: "http://127.0.0.1:1/" } }, "status 302"],
    ["answers without end", { status: 500, endless: true }, "status 500"],
  ] as const)("by a server that %s is left", async (_, reply, why) => {
    const { t } = await rejecting(() => reply);
    await fillOne(t);
    await until(t, () => t.printed.length > 0);
    expect(t.printed[0]).toContain(why);
  });

  it("leaves trading alone: orders are placed and filled as without it", async () => {
    const { t } = await rejecting(() => ({ hangs: true }), { answerMs: 100 });
    await fillOne(t);
    expect(t.fills.map(({ qty }) => qty)).toEqual(["0.01"]);
    expect([t.mode, t.position("BTC-USDT-SWAP")]).toEqual(["active", "0.01"]);
  });

  it("keeps as many alerts as it may, the critical ones before the others", async () => {
    const { server, t } = await rejecting((index) => ({ status: index === 0 ? 500 : 200 }), {
      queueMax: 3,
      gatherMs: 0,
    });
    t.quote("BTC-USDT-SWAP", { bidPx: "60000", askPx: "60001" });
    await fillOne(t);
    await until(t, () => server.received.length === 1);
    t.engine.halt("by hand").subscribe();
    for (let index = 0; index < 5; index++) {
      t.engine.resume("again");
      t.engine.halt(`round ${index}`).subscribe();
    }
    await until(t, () => server.received.length === 3);
    const [, , last] = server.received as [Received, Received, Received];
    expect(textsOf(last)).toHaveLength(3);
    expect(jsonOf(last)).toMatchObject({ leftOut: 8 });
    expect(
      (jsonOf(last)["alerts"] as readonly { readonly level: string }[]).every(({ level }) => level === "critical"),
    ).toBe(true);
  });

  it("sends no more messages in a minute than it may", async () => {
    const { server, t } = await rejecting(() => ({}), { perMinute: 2, gatherMs: 0 });
    const firstAt = t.now;
    for (let index = 0; index < 8; index++) {
      t.engine.halt(`round ${index}`).subscribe();
      t.engine.resume("again");
      await until(t, () => true);
      await t.advance(1_000);
    }
    expect(server.received).toHaveLength(2);
    await until(t, () => server.received.length === 3);
    expect(t.now - firstAt).toBeGreaterThanOrEqual(60_000);
  });
});

describe("The services of the alerts plugin", () => {
  it("Telegram receives sendMessage, and a 200 that says otherwise is no delivery", async () => {
    const server = await messageServer((_, index) =>
      index === 0
        ? { body: JSON.stringify({ ok: false, description: `Unauthorized for ${secret}` }) }
        : index === 1
          ? {
              status: 429,
              body: JSON.stringify({
                ok: false,
                error_code: 429,
                description: "Too Many Requests",
                parameters: { retry_after: 7 },
              }),
            }
          : { body: JSON.stringify({ ok: true, result: { message_id: 1 } }) },
    );
    const t = await start({
      title: "desk <1>",
      channels: { phone: { kind: "telegram", secret: { file: secretFile }, chatId: "-100123", server: server.url } },
    });
    await until(t, () => server.received.length === 2);
    const second = t.now;
    await until(t, () => server.received.length === 3);
    expect(t.now - second).toBeGreaterThanOrEqual(6_500);
    const [one] = server.received as [Received];
    expect(one.path).toBe(`/bot${secret}/sendMessage`);
    expect(jsonOf(one)).toEqual({
      chat_id: "-100123",
      text: "desk <1>\n00:00:00 the engine has started",
      disable_notification: true,
      link_preview_options: { is_disabled: true },
    });
    expect(t.printed[0]).toBe(
      "alerts: phone does not take messages (status 200: Unauthorized for ***); it is tried again for 900 s",
    );
  });

  it("Discord receives content that mentions nobody, and its wait is kept", async () => {
    const server = await messageServer((_, index) =>
      index === 0
        ? {
            status: 429,
            body: JSON.stringify({ message: "You are being rate limited.", retry_after: 12.5, global: false }),
          }
        : { status: 204 },
    );
    const t = await start({ channels: { team: { kind: "discord", url: urlAt(`${server.url}/api/webhooks/1/abc`) } } });
    await until(t, () => server.received.length === 1);
    const first = t.now;
    await until(t, () => server.received.length === 2);
    expect(t.now - first).toBeGreaterThanOrEqual(12_000);
    expect(server.received[1]?.path).toBe("/api/webhooks/1/abc");
    expect(jsonOf(server.received[1] as Received)).toEqual({
      content: "sluice\n00:00:00 the engine has started",
      allowed_mentions: { parse: [] },
    });
  });

  it("Slack receives escaped text and answers ok", async () => {
    const server = await messageServer((_, index) =>
      index === 0 ? { status: 200, body: "invalid_token" } : { status: 200, body: "ok" },
    );
    const t = await start({
      title: "a <b> & c",
      channels: { team: { kind: "slack", url: urlAt(`${server.url}/services/T/B/x`) } },
    });
    await until(t, () => t.printed.length === 2);
    expect(t.printed[0]).toContain("status 200: invalid_token");
    expect(jsonOf(server.received[1] as Received)).toEqual({
      text: "a &lt;b&gt; &amp; c\n00:00:00 the engine has started",
    });
  });

  it("ntfy receives title, priority and tags as headers, the token, and text", async () => {
    const server = await messageServer(() => ({ body: JSON.stringify({ id: "x1", event: "message" }) }));
    const t = await start({
      title: "Börse",
      channels: { push: { kind: "ntfy", topic: "desk", server: server.url, secret: { file: secretFile } } },
      rules: quietStart,
    });
    t.engine.halt("enough").subscribe();
    await until(t, () => server.received.length === 1);
    expect(server.received[0]).toMatchObject({
      path: "/desk",
      body: "00:00:00 critical: trading is halted: enough",
      headers: {
        title: `=?UTF-8?B?${Buffer.from("Börse").toString("base64")}?=`,
        priority: "5",
        tags: "rotating_light",
        authorization: `Bearer ${secret}`,
      },
    });
  });

  it("Mail goes to each recipient, with its login, a subject and the alerts as text", async () => {
    const server = await mailServer({ passing: secret });
    const t = await start({
      channels: {
        post: {
          kind: "email",
          host: "127.0.0.1",
          port: server.port,
          tls: "none",
          user: "desk",
          secret: { file: secretFile },
          from: "desk@example.org",
          to: ["a@example.org", "b@example.org"],
        },
      },
      rules: quietStart,
    });
    t.engine.halt("enough").subscribe();
    await until(t, () => server.letters.length === 1);
    expect(server.letters[0]).toMatchObject({
      from: "desk@example.org",
      to: ["a@example.org", "b@example.org"],
      login: `|desk|${secret}`,
    });
    expect(server.letters[0]?.text).toContain("Subject: [sluice] critical: trading is halted: enough");
    expect(server.letters[0]?.text).toContain("00:00:00 critical: trading is halted: enough");
  });

  it("Mail that is refused for good is given up, and one that is put off is sent again", async () => {
    const answers = ["451 4.3.0 later", undefined];
    const server = await mailServer({ refuse: () => answers.shift() });
    const channel = {
      kind: "email",
      host: "127.0.0.1",
      port: server.port,
      tls: "none",
      from: "desk@example.org",
      to: ["a@example.org"],
    } as const;
    const t = await start({ channels: { post: channel } });
    await until(t, () => server.letters.length === 1);
    expect(t.printed[0]).toBe("alerts: post does not take messages (SMTP 451); it is tried again for 900 s");
    const wrong = await mailServer({ passing: "another password" });
    const other = await start({
      channels: { post: { ...channel, port: wrong.port, user: "desk", secret: { file: secretFile } } },
    });
    await until(other, () => other.printed.length > 0);
    expect(other.printed[0]).toBe("alerts: post does not take messages (SMTP 535); the message is given up");
    expect(wrong.letters).toEqual([]);
  });
});

describe("The rules of the alerts plugin", () => {
  const told = async (
    run: (t: PluginTest) => Promise<void>,
    options: Partial<Given> = {},
    more: object = {},
  ): Promise<readonly string[]> => {
    const t = await start({ channels: { screen: { kind: "print" } }, rules: quietStart, ...options } as Given, more);
    await run(t);
    return t.printed.map((line) => line.replace("alerts: ", ""));
  };

  it("tell repetitions once an interval, with their number", async () => {
    const lines = await told(
      async (t) => {
        for (let round = 0; round < 6; round++) {
          t.reject("x");
          t.want([{ ...far("x"), round }]);
          await t.advance(1_000);
        }
        await t.advance(60_000);
      },
      { rejects: 2, rules: { ...quietStart, rejects: { everyMs: 10_000 } } },
    );
    expect(lines).toEqual([
      expect.stringMatching(/^warning: 2 orders rejected within 60 s, the last of by hand/),
      expect.stringMatching(/^warning: .* \(4 more within 10 s\)$/),
    ]);
  });

  it("tell a loss once, and again only after half of it was made good", async () => {
    const lines = await told(
      async (t) => {
        await fillOne(t);
        for (const bid of ["55000", "54000", "56000", "54000", "58000", "54000"]) {
          t.quote("BTC-USDT-SWAP", { bidPx: bid, askPx: `${Number(bid) + 1}` });
          await t.advance(2_000);
        }
      },
      { losses: { USDT: ["50"] }, rules: { ...quietStart, fill: false } },
    );
    // 0.01 BTC bought at 60000; the maker's fee is below 1 USDT.
    expect(lines.map((line) => line.replace(/-?\d+\.\d+ USDT/, "P USDT"))).toEqual([
      "critical: profit is P USDT: a loss of 50 or more",
      "info: loss is P USDT: less than half of 50 lost",
      "critical: profit is P USDT: a loss of 50 or more",
    ]);
  });

  it("tell state that stays stale, and when it is fresh again", () => {
    const watch = createStaleWatch(60_000);
    const rows = (stale: boolean) => [
      { user: "main", name: "pending", ageMs: 1, stale, problem: stale ? "no answer" : "" },
    ];
    const told = [0, 59_999, 60_000, 61_000, 62_000, 63_000, 200_000].map((at) =>
      watch(rows(at !== 62_000 && at !== 63_000), at),
    );
    expect(told.map((findings) => findings.map(({ text, isOver }) => [text, isOver]))).toEqual([
      [],
      [],
      [["pending of main are stale for 60 s: no answer", undefined]],
      [],
      [["pending of main are fresh again", true]],
      [],
      [],
    ]);
  });

  it("tell that the service's lists cannot be read", async () => {
    const lines = await told(
      async (t) => {
        t.engine.account.pending$.subscribe();
        await t.advance(1_000);
        t.loseRequests(100, "pendingOrders");
        await t.advance(400_000);
      },
      { staleMs: 5_000, rules: { ...quietStart, anomaly: false } },
    );
    expect(lines[0]).toMatch(/^warning: pending of \S+ are stale for \d+ s/);
  });

  it("tell halt and resumption, also to a channel that wants critical alerts only", async () => {
    const lines = await told(
      async (t) => {
        await fillOne(t);
        t.engine.halt("enough").subscribe();
        await t.advance();
        t.engine.resume("go on");
        await t.advance();
      },
      { channels: { screen: { kind: "print", level: "critical" } } },
    );
    expect(lines).toEqual(["critical: trading is halted: enough", "info: trading is active again: go on"]);
  });

  it("go to the channels they name", async () => {
    const server = await messageServer(() => ({}));
    const t = await start({
      channels: { screen: { kind: "print" }, hook: { kind: "webhook", url: urlAt(server.url) } },
      rules: { started: { channels: ["hook"] }, mode: { channels: ["screen"], level: "warning" } },
    });
    t.engine.halt("enough").subscribe();
    await until(t, () => server.received.length === 1);
    expect(t.printed).toEqual(["alerts: warning: trading is halted: enough"]);
    expect(textsOf(server.received[0] as Received)).toEqual(["the engine has started"]);
  });

  it("hold text of others to one line without control characters", async () => {
    const lines = await told(async (t) => {
      t.engine.halt(`enough\n\u001b[31m${"x".repeat(2_000)}`).subscribe();
      await t.advance();
    });
    expect(lines[0]).toMatch(/^critical: trading is halted: enough \[31mx+…$/);
    expect(lines[0]?.length).toBeLessThan(620);
  });
});

describe("The heartbeat of the alerts plugin", () => {
  it("calls while the engine runs, and names a failure once", async () => {
    const server = await messageServer((_, index) => ({ status: index >= 1 && index < 3 ? 500 : 200 }));
    const heartbeat = { url: urlAt(`${server.url}/ping`), everyMs: 60_000 };
    const t = await start({
      channels: { screen: { kind: "print" } },
      rules: { started: false, stopped: false },
      heartbeat,
    });
    const firstAt = t.now;
    await until(t, () => server.received.length === 5, 5_000);
    expect(t.now - firstAt).toBeGreaterThanOrEqual(240_000);
    expect(server.received.map(({ path }) => path)).toEqual(["/ping", "/ping", "/ping", "/ping", "/ping"]);
    await until(t, () => t.printed.length === 2, 0);
    expect(t.printed).toEqual([
      "alerts: the heartbeat is not taken (status 500)",
      "alerts: the heartbeat is taken again",
    ]);
  });

  // Its last call is made in real time: in virtual time nothing moves any more once the engine has stopped.
  const stopped = async (answer: (path: string) => Reply, everyMs = 60_000) => {
    const server = await messageServer(({ path }) => answer(path));
    const printed: string[] = [];
    const heartbeat = { url: urlAt(`${server.url}/ping`), stopUrl: urlAt(`${server.url}/stop`), everyMs };
    const engine = createEngine(
      {
        service: paper({ instruments: ["BTC-USDT-SWAP"] }),
        strategies: [ladder({ instId: "BTC-USDT-SWAP" })],
        plugins: [
          alerts({ channels: { screen: { kind: "print", level: "critical" } }, heartbeat, lastMessageMs: 1_000 }),
        ],
      },
      { print: (line) => printed.push(line) },
    );
    await engine.start();
    await expect.poll(() => server.received.length).toBeGreaterThan(0);
    await engine.stop({ cancel: true });
    return { paths: server.received.map(({ path }) => path), printed, server };
  };

  it("calls its last URL once at an orderly stop, and no other after it", async () => {
    const { paths, printed, server } = await stopped(() => ({}), 1_000);
    expect(paths.slice(0, -1).every((path) => path === "/ping")).toBe(true);
    expect(paths.at(-1)).toBe("/stop");
    expect(printed).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(server.received.map(({ path }) => path)).toEqual(paths);
  });

  it("says so where its last URL refuses, or does not answer in time, and holds the stop up no longer", async () => {
    const refused = await stopped((path) => ({ status: path === "/stop" ? 503 : 200 }));
    expect(refused.paths).toEqual(["/ping", "/stop"]);
    expect(refused.printed).toEqual(["alerts: heartbeat.stopUrl did not take the end (status 503)"]);
    const silent = await stopped((path) => (path === "/stop" ? { hangs: true } : {}));
    expect(silent.paths).toEqual(["/ping", "/stop"]);
    expect(silent.printed).toEqual(["alerts: heartbeat.stopUrl did not take the end (no answer in time)"]);
  });
});

describe("The trial of the alerts plugin", () => {
  it("sends to every channel at the start and says what became of it", async () => {
    const good = await messageServer(() => ({}));
    const bad = await messageServer(() => ({ status: 404 }));
    const t = await start({
      channels: {
        good: { kind: "webhook", url: urlAt(good.url) },
        bad: { kind: "discord", url: urlAt(`${bad.url}/gone`) },
      },
      rules: quietStart,
      trial: true,
    });
    await until(t, () => t.printed.length === 2);
    expect([...t.printed].sort()).toEqual([
      "alerts: bad did not take the trial message (status 404)",
      "alerts: good took the trial message",
    ]);
  });
});

describe("The alerts plugin in a backtest", () => {
  it("sends nothing and reads no secret", async () => {
    const t = await testPlugin(
      alerts({
        channels: { team: { kind: "slack", url: { env: "SLUICE_NO_SUCH" } } },
        heartbeat: { url: { env: "SLUICE_NO_SUCH" } },
      }),
    );
    running.push(t);
    await fillOne(t);
    await t.advance(10_000);
    expect(t.printed).toEqual(["alerts: time is virtual: nothing is sent"]);
    expect(t.events.filter(({ type }) => type === "plugin.failed")).toEqual([]);
  });
});

describe("The alerts plugin in real time", () => {
  it("sends, and tells the stop before the engine has ended", async () => {
    const server = await messageServer(() => ({}));
    const engine = createEngine({
      service: paper({ instruments: ["BTC-USDT-SWAP"] }),
      strategies: [ladder({ instId: "BTC-USDT-SWAP" })],
      plugins: [
        alerts({
          channels: { hook: { kind: "webhook", url: urlAt(server.url) } },
          rules: { fill: false, refused: false },
        }),
      ],
    });
    await engine.start();
    await engine.stop({ cancel: true });
    expect(server.received.flatMap(textsOf)).toEqual([
      "the engine has started",
      "the engine has stopped: orders cancelled",
    ]);
  });
});

describe("The page on alerts", () => {
  it("lists every rule as it is", () => {
    const page = readFileSync("docs/guides/alerts.md", "utf8");
    const rows = Object.entries(rules).map(
      ([name, { level, everyMs, what }]) =>
        `| \`${name}\` | ${level} |${everyMs === 0 ? "" : ` ${everyMs / 1_000} s`} | ${what} |`,
    );
    expect(page.split("\n").filter((line) => rows.includes(line))).toEqual(rows);
    expect(/^\| Rule [\s\S]*?\n\n/m.exec(page)?.[0].trim().split("\n")).toHaveLength(rows.length + 2);
  });
});

describe("Options of the alerts plugin", () => {
  const failureOf = async (options: Given): Promise<string> => {
    const t = await testPlugin(alerts({ virtual: "send", ...options }), { failures: "record" });
    running.push(t);
    return t.events.flatMap((event) => (event.type === "plugin.failed" ? [event.message] : []))[0] ?? "";
  };
  const readable = join(folder, "readable");
  writeFileSync(readable, secret);
  chmodSync(readable, 0o644);

  it.each<[string, Given, RegExp]>([
    [
      "a field that is missing",
      { channels: { a: { kind: "telegram", chatId: "1" } } },
      /channels\.a of kind telegram needs secret/,
    ],
    [
      "a field too many",
      { channels: { a: { kind: "print", topic: "x" } } },
      /channels\.a of kind print does not know topic/,
    ],
    [
      "a variable that is not set",
      { channels: { a: { kind: "slack", url: { env: "SLUICE_NO_SUCH" } } } },
      /has no SLUICE_NO_SUCH/,
    ],
    ["a file that others can read", { channels: { a: { kind: "slack", url: { file: readable } } } }, /chmod 600/],
    [
      "a file that is not there",
      { channels: { a: { kind: "slack", url: { file: join(folder, "none") } } } },
      /cannot be read \(ENOENT\)/,
    ],
    [
      "http to another machine",
      { channels: { a: { kind: "slack", url: urlAt("http://example.org/x") } } },
      /over http/,
    ],
    [
      "what is no URL",
      { channels: { a: { kind: "slack", url: { file: secretFile } } } },
      /channels\.a\.url is not a URL/,
    ],
    [
      "mail in clear to another machine",
      { channels: { a: { kind: "email", host: "mx.example.org", from: "a", to: ["b"], tls: "none" } } },
      /unencrypted/,
    ],
    [
      "a rule for a channel that is not there",
      { channels: { a: { kind: "print" } }, rules: { fill: { channels: ["b"] } } },
      /names "b"; there is a/,
    ],
  ])("are refused by name: %s", async (_, options, message) => {
    const text = await failureOf(options);
    expect(text).toMatch(message);
    expect(text).not.toContain(secret);
  });
});
