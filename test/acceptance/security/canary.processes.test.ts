/** Secrets with which every command and everything else that has a mouth is used; nothing that comes out may hold them, in whatever spelling. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { leaksIn, odd } from "../../support/harness/secret-search.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "sluice-canary-"));
// Inside the checkout, where its imports are found.
const configs = join(root, "out", `canary-${process.pid}`);

const oddTexts = Object.values(odd);

/** All that was said, by who said it. */
const written = new Map<string, string>();
const secrets: string[] = ["canary-store-password"];
/** Commands that were run with secrets in hand. */
const asked = new Set<string>();
let venueIo = capturedIo();
let venueEnds: Promise<number> = Promise.resolve(0);

const say = (who: string, text: string): void => {
  written.set(who, `${written.get(who) ?? ""}${text}`);
};
/** Runs a command as a function, and keeps what it says. */
const sluice = async (
  who: string,
  argv: readonly string[],
  io = capturedIo({ env: { SLUICE_DEBUG: "1" } }),
): Promise<number> => {
  asked.add(argv[0] ?? "");
  const code = await main(argv, io);
  say(`${who}: stdout`, io.outText);
  say(`${who}: stderr`, io.errText);
  return code;
};
const config = (
  name: string,
  { prefix = "CANARY", service = "", rest = "" }: { prefix?: string; service?: string; rest?: string } = {},
): string => {
  const path = join(configs, `${name}.ts`);
  writeFileSync(
    path,
    `import { defineConfig, fromEnv, live } from "sluice";
import consolePanel from "../../plugins/console-panel/index.ts";
import journalFile from "../../plugins/journal-file/index.ts";
import watchdog from "../../plugins/watchdog/index.ts";
import joinBest from "../../strategies/join-best.ts";
const config = defineConfig({
  service: live({ environment: "testnet", baseUrl: ${JSON.stringify(process.env["CANARY_URL"])}, keys: [fromEnv("${prefix}")] ${service} }),
  strategies: [joinBest({ instId: "BTC-USDT-SWAP", keepWithin: "5" })],
  instance: ${JSON.stringify(name)},
  journal: { dir: ${JSON.stringify(join(dir, name, "journal"))} },
  plugins: [consolePanel({}), journalFile({ path: ${JSON.stringify(join(dir, name, "events.ndjson"))} })],
});
${rest}
export default config;
`,
  );
  return path;
};
/** A config of a backtest whose strategy fails with all the secrets in hand, and shows what it holds as well as it can. */
const heldConfig = (fixture: string): string => {
  const path = join(configs, "held.ts");
  writeFileSync(
    path,
    `import { inspect } from "node:util";
import { throwError } from "rxjs";
import { createCredentials, defineConfig, defineStrategy, fromEnv, live } from "sluice";
import { backtest } from "sluice/backtest";
import consolePanel from "../../plugins/console-panel/index.ts";
import journalFile from "../../plugins/journal-file/index.ts";
import ladder from "../../strategies/ladder.ts";
const credentials = createCredentials(${JSON.stringify(odd)});
const service = live({ environment: "testnet", baseUrl: "https://127.0.0.1:9", keys: [fromEnv("CANARY"), { name: "odd", credentials }] });
const text = "chatty holds " + inspect({ service, credentials }, { depth: 9, showHidden: true, getters: true }) + JSON.stringify(credentials);
const chatty = defineStrategy({
  name: "chatty",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: () => throwError(() => Object.assign(new Error(text, { cause: service }), { service, credentials })),
});
export default defineConfig({
  service: backtest({ fixture: ${JSON.stringify(fixture)}, fees: { makerBps: "2", takerBps: "5" } }),
  strategies: [ladder({ instId: "BTC-USDT-SWAP", levels: 2 }), chatty({})],
  plugins: [consolePanel({}), journalFile({ path: ${JSON.stringify(join(dir, "held.ndjson"))} })],
});
`,
  );
  return path;
};
const setEnv = (prefix: string, { apiKey, secretKey, passphrase }: typeof odd): void => {
  Object.assign(process.env, {
    [`${prefix}_API_KEY`]: apiKey,
    [`${prefix}_SECRET_KEY`]: secretKey,
    [`${prefix}_PASSPHRASE`]: passphrase,
  });
};

beforeAll(async () => {
  mkdirSync(configs, { recursive: true });
  venueIo = capturedIo();
  asked.add("venue");
  venueEnds = main(["venue", "--port", "0", "--json", "--seed", "canary"], venueIo);
  while (!venueIo.outText.includes("\n")) await new Promise((resolve) => setTimeout(resolve, 20));
  const { url, keys } = JSON.parse(venueIo.outText) as { url: string; keys: readonly (typeof odd)[] };
  const [key, , other] = keys as readonly [typeof odd, typeof odd, typeof odd];
  process.env["CANARY_URL"] = url;
  setEnv("CANARY", key);
  setEnv("CANARY_TWO", other);
  setEnv("ODD", odd);
  secrets.push(...keys.flatMap(({ apiKey, secretKey, passphrase }) => [apiKey, secretKey, passphrase]), ...oddTexts);
});

afterAll(() => {
  for (const name of Object.keys(process.env)) if (/^(CANARY|ODD)_/.test(name)) delete process.env[name];
  rmSync(dir, { recursive: true, force: true });
  rmSync(configs, { recursive: true, force: true });
});

/** What is in the folder, packed files unpacked. */
const filesIn = (folder: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const bytes = readFileSync(join(entry.parentPath, entry.name));
        return [
          join(entry.parentPath, entry.name),
          (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString("latin1"),
        ];
      }),
  );

/** What a stream says within two seconds. */
const beginningOf = async (response: Response): Promise<string> => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  setTimeout(() => void reader.cancel(), 2_000);
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    text += Buffer.from(value).toString("utf8");
  }
};

describe("No output of Sluice names a secret: it", () => {
  it("trades, records, examines and fails without a word of what it holds", async () => {
    const trades = config("trades");
    const session = join(dir, "session");
    const watched = config("watched", {
      rest: `config.plugins.push(watchdog({ dir: ${JSON.stringify(join(dir, "meet"))} }));`,
    });
    /** Until it has said what it is to say, however slow the machine. */
    const untilSaid = async (words: string, who: string, argv: readonly string[]): Promise<number> => {
      const io = capturedIo({ env: { SLUICE_DEBUG: "1" } });
      const end = sluice(who, argv, io);
      let isOver = false;
      void end.finally(() => {
        isOver = true;
      });
      while (!isOver && !io.outText.includes(words)) await new Promise((resolve) => setTimeout(resolve, 50));
      io.stop();
      return end;
    };
    const recorderFlags = ["--instruments", "*", "--out", join(dir, "recording"), "--seconds", "1", "--json"];
    // Two users with a quota each; on each of them one after the other.
    const lines: readonly (readonly (() => Promise<number>)[])[] = [
      [
        () => untilSaid('"phase":"live"', "run", ["run", trades, "--cancel", "--json"]),
        () => sluice("close", ["close", trades, "--json"]),
        () => untilSaid("proved", "watchdog", ["watchdog", watched, "--json"]),
      ],
      [
        () =>
          untilSaid('"phase":"live"', "record", [
            "record",
            config("recorded", { prefix: "CANARY_TWO" }),
            "--json",
            "--out",
            session,
          ]),
        () =>
          sluice(
            "doctor",
            ["doctor", config("examined", { prefix: "CANARY_TWO" }), "--quick", "--json"],
            capturedIo({ isTty: true }),
          ),
        () => sluice("recorder", ["recorder", config("recorder", { prefix: "CANARY_TWO" }), ...recorderFlags]),
      ],
      [
        () => sluice("strangers", ["watchdog", config("strangers", { prefix: "ODD" })]),
        () => sluice("examined strangers", ["doctor", config("examined-strangers", { prefix: "ODD" }), "--quick"]),
      ],
    ];
    const endings = await Promise.all(
      lines.map(async (line) => {
        const codes: number[] = [];
        for (const work of line) codes.push(await work());
        return codes;
      }),
    );
    // Strangers to the service are refused, the others get on.
    const failures = [...written].filter(([who]) => who.endsWith("stderr")).map(([, text]) => text);
    expect(endings, failures.join("\n")).toEqual([
      [0, 0, 0],
      [0, 0, 0],
      [2, 1],
    ]);
    expect(written.get("run: stdout")).toContain("order.changed");
    await sluice("replay", ["replay", session]);
    expect(written.get("replay: stdout") ?? "").not.toBe("");
    const files = filesIn(dir);
    const kinds = [...files.keys()].map((path) => /trades\/journal|trades\/events\.ndjson|session/.exec(path)?.[0]);
    expect(new Set(kinds)).toEqual(new Set(["trades/journal", "trades/events.ndjson", "session", undefined]));
    expect(leaksIn(secrets, files)).toEqual([]);
    expect(leaksIn(secrets, written)).toEqual([]);
  });

  it("is watched and steered without a word of what it holds", async () => {
    const io = capturedIo({ env: { SLUICE_DEBUG: "1" } });
    const running = sluice("watched run", ["run", config("steered"), "--ui", "--cancel", "--json"], io);
    let isOver = false;
    void running.finally(() => {
      isOver = true;
    });
    while (!isOver && !(io.errText.includes("#token=") && io.outText.includes('"phase":"live"')))
      await new Promise((resolve) => setTimeout(resolve, 50));
    const [, url = "", token = ""] = /dashboard: (http:\S+)\/#token=([\w-]+)/.exec(io.errText) ?? [];
    const answers = new Map<string, string>();
    const get = async (
      path: string,
      key = token,
      init: { method?: string; body?: string; headers?: Record<string, string> } = {},
    ): Promise<string> => {
      const response = await fetch(`${url}${path}`, {
        ...init,
        headers: { authorization: `Bearer ${key}`, ...init.headers },
      });
      const [name, headers] = [
        `${init.method ?? "GET"} ${path} ${response.status}`,
        JSON.stringify([...response.headers]),
      ];
      const text = path.endsWith("/stream") ? await beginningOf(response) : await response.text();
      answers.set(name, `${answers.get(name) ?? ""}${headers}${text}`);
      return text;
    };
    const { sources } = JSON.parse(await get("/api/v1/sources")) as { sources: readonly { id: string }[] };
    const source = `/api/v1/sources/${sources[0]?.id}`;
    const snapshot = JSON.parse(await get(source)) as { rows: [string, string][] };
    const clOrdId = snapshot.rows.find(([section]) => section === "orders")?.[1] ?? "";
    await Promise.all([
      get(`${source}/stream`),
      get(`${source}/orders/${clOrdId}`),
      get("/"),
      get("/assets/page.css"),
      get("/nowhere"),
    ]);
    await Promise.all([
      get("/api/v1/openapi.json"),
      get("/api/v1/asyncapi.json"),
      get(source, encodeURIComponent(odd.secretKey)),
    ]);
    const act = (body: object): Promise<string> =>
      get(`${source}/actions`, token, {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" },
      });
    await act({ type: "halt", strategy: "nobody" });
    await act({ type: "eval", ...odd });
    await act({ type: "options", strategy: "join-best", changes: { colour: 1 } });
    for (const words of [
      ["status"],
      ["--json", "status"],
      ["orders"],
      ["fills"],
      ["story", clOrdId],
      ["halt", "--reason", "canary"],
      ["orders", "--all"],
    ]) {
      expect([words, await sluice(`ctl ${words.join(" ")}`, ["ctl", "--url", url, ...words])]).toEqual([words, 0]);
    }
    io.stop();
    expect(await running).toBe(3);
    expect(answers.size).toBeGreaterThanOrEqual(11);
    expect([...answers.keys()].some((name) => name.includes("/stream 200"))).toBe(true);
    expect([...answers.values()].join("")).toContain("join-best");
    const ofCtl = new Map([...written].filter(([who]) => who.startsWith("ctl ")));
    // What opens the port is said once, at its start, and by nobody afterwards.
    expect(leaksIn([token], new Map([...answers, ...ofCtl, ...filesIn(dir)]))).toEqual([]);
    expect(leaksIn(secrets, new Map([...answers, ...written, ...filesIn(dir)]))).toEqual([]);
  });

  it("plays, varies, compares, imports and checks without a word of what a config or a recording holds", async () => {
    const recording = join(configs, "recording.txt");
    const login = JSON.stringify({ op: "login", args: [{ ...odd, sign: odd.secretKey }] });
    const trade = (at: number): string =>
      `${at}000000 {"data":{"e":"trade","E":${at},"T":${at},"s":"BTCUSDT","t":${at},"p":"100.5","q":"0.01","m":true,"X":"MARKET"}}`;
    writeFileSync(
      recording,
      [trade(1_700_000_000_000), `1700000000001000000 ${login}`, trade(1_700_000_000_002)].join("\n"),
    );
    const [keys, strangers] = [join(configs, "keys.json"), join(configs, "strangers.json")];
    writeFileSync(keys, venueIo.outText.split("\n")[0] ?? "", { mode: 0o600 });
    writeFileSync(strangers, JSON.stringify({ odd }), { mode: 0o600 });
    const market = join(dir, "market");
    const held = heldConfig(market);
    const to = (name: string): string => join(dir, name);
    const swap = ["--instrument", "BTC-USDT-SWAP"];
    const url = process.env["CANARY_URL"] ?? "";
    // What each ends with, and words that show that it came to the point. Whether two short runs differ is theirs.
    const works: readonly (readonly [argv: readonly string[], codes: readonly number[], words: string])[] = [
      [["init", to("project"), "--yes"], [0], "package.json"],
      [["options", "kill-switch", "alerts"], [0], "closePositions"],
      [["generate", "--out", market, "--minutes", "3", ...swap], [0], "BTC-USDT-SWAP"],
      [["backtest", held, "--html", to("run.html"), "--details", to("run.json")], [1], "chatty holds"],
      [["backtest", held, "--json"], [1], "chatty holds"],
      [["backtest", config("trades"), "--fixture", market], [2], "live"],
      [
        [
          "sweep",
          held,
          "--vary",
          "ladder.levels=1..2",
          "--jobs",
          "1",
          "--out",
          to("kept"),
          "--csv",
          to("all.csv"),
          "--html",
          to("map.html"),
        ],
        [1],
        "chatty holds",
      ],
      [["sweep", held, "--vary", "ladder.levels=1..2", "--jobs", "1", "--json"], [1], "chatty holds"],
      [["simulate", held, "--seeds", "1", "--minutes", "1", "--plugins"], [1], "chatty holds"],
      [["simulate", held, "--seed", "1", "--minutes", "1", "--trace"], [1], "chatty holds"],
      [["guard", held, "--cuts", "1"], [0], "chatty holds"],
      [["compare", to("trades/events.ndjson"), to("session")], [0, 1], "events.ndjson"],
      [["compare", to("session"), "--backtest", "--json"], [0, 1], "backtest of"],
      [["replay", to("session"), held], [1], "diverges"],
      [["import", recording, "--out", to("imported"), ...swap], [0], "not imported"],
      [["import", strangers, "--out", to("never"), ...swap], [1], "no known layout"],
      [["data", "check", to("imported")], [0], to("imported")],
      [["data", "show", to("imported"), "--json"], [0], "BTC-USDT-SWAP"],
      [["import", recording, "--out", to("never"), "--terms", strangers, ...swap], [1], "strangers.json"],
      [["exchanges"], [0], "okx"],
      [["ui", to("project")], [2], "holds no session"],
      [
        ["quota", "redis:/desk:canary-store-password@127.0.0.1", "--group", "desk"],
        [2],
        "is not the address of a store",
      ],
      [["worker", "--queue", "redis:/desk:canary-store-password@127.0.0.1"], [2], "is not the address of a queue"],
      [["halt", "--everywhere", "env:SLUICE_NO_STORE", "--group", "desk"], [2], "is not set"],
      [["report", "--db", strangers], [1, 2], "SQLite"],
      [["health", strangers], [1], "cannot be read"],
      [["fetch", "nowhere", "BTC-USDT", "--from", "2024-01-01", "--out", to("fetched")], [2], "ccxt"],
      [["close", config("closes")], [0], "No position is open"],
      [["close", config("closes-strangers", { prefix: "ODD" })], [1], "50004"],
      [["check", url, "--keys", keys, "--only", "2.3", "4.6-positions"], [0], "passed"],
      [["check", url, "--keys", strangers, "--json"], [2], "refuses the key odd"],
      [["check", "https://0.0.0.0:9", "--keys", keys], [2], "--places-orders"],
    ];
    for (const [index, [argv, codes, words]] of works.entries()) {
      const who = `${index} ${argv[0]}`;
      const ended = await sluice(who, argv);
      const said = `${written.get(`${who}: stdout`)}${written.get(`${who}: stderr`)}`;
      expect(said).toContain(words);
      expect(codes, said).toContain(ended);
    }
    expect(leaksIn(secrets, filesIn(dir))).toEqual([]);
    expect(leaksIn(secrets, written)).toEqual([]);
  });

  it("a process that crashes with its config in hand shows none", async () => {
    const rest =
      'setTimeout(() => { throw Object.assign(new Error("crash"), { config, cause: config.service, env: undefined }); }, 10);';
    const child = spawn(process.execPath, [join(root, "src/cli/sluice.mjs"), "run", config("crashes", { rest })], {
      cwd: dir,
      env: { ...process.env, SLUICE_DEBUG: "1" },
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([code, text.includes("Error: crash"), text.includes("baseUrl")]).toEqual([1, true, true]);
    expect(leaksIn(secrets, new Map([["crash", text]]))).toEqual([]);
  });

  it("the service says its keys once, at its start, and never again", async () => {
    venueIo.stop();
    expect(await venueEnds).toBe(0);
    const [ready = "", ...rest] = venueIo.outText.split("\n");
    expect(leaksIn(secrets.slice(0, 3), new Map([["ready", ready]]))).not.toEqual([]);
    expect(
      leaksIn(
        secrets,
        new Map([
          ["later", rest.join("\n")],
          ["stderr", venueIo.errText],
        ]),
      ),
    ).toEqual([]);
  });

  it("is every command there is", async () => {
    const io = capturedIo();
    expect(await main(["--help"], io)).toBe(0);
    const commands = [...io.outText.matchAll(/^ {2}([a-z]+) /gm)]
      .map(([, name = ""]) => name)
      .filter((name) => name !== "help");
    expect(commands).toContain("check");
    // A new command is run above with secrets in hand, and what it says and writes is searched.
    expect([...asked].sort()).toEqual([...commands].sort());
  });
});
