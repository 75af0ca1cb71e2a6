/** Secrets with which everything is done that has a mouth; nothing that comes out of it may hold them, in whatever spelling. */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { capturedIo } from "../../src/cli/io.ts";
import { main } from "../../src/cli/main.ts";
import { createCredentials, createEngine, defineConfig, fromEnv, fromFile, live } from "../../src/index.ts";
import { leaksIn } from "./leaks.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const dir = mkdtempSync(join(tmpdir(), "sluice-canary-"));
// Inside the checkout, where its imports are found.
const configs = join(root, "out", `canary-${process.pid}`);

/** With every kind of character that some encoding treats in its own way. */
const odd = { apiKey: "cnry-key+0/1=2 3&4", secretKey: 'cnry"secret\\é%+/=?&\t{ü}', passphrase: "cnry'pass<phrase>~;:#" };
const oddTexts = Object.values(odd);

describe("the search for leaks", () => {
  const plant = (text: string) => leaksIn(oddTexts, new Map([["a file", `before ${text} after`]]));
  const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
  const secret = odd.secretKey;

  it.each([
    ["plain text", secret],
    ["JSON", JSON.stringify({ secret })],
    ["JSON in JSON", JSON.stringify(JSON.stringify({ secret }))],
    ["JSON escapes", Array.from(secret, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`).join("")],
    ["a URL", encodeURIComponent(secret).toLowerCase()],
    ["a form", new URLSearchParams({ secret }).toString()],
    ["percent signs", Buffer.from(secret).toString("hex").replace(/../g, "%$&").toUpperCase()],
    ["hexadecimal", Buffer.from(`${secret} and more`).toString("hex").toUpperCase()],
    ["base64 from its beginning", base64(secret)],
    ["base64 one byte later", base64(`:${secret}:`)],
    ["base64 two bytes later", base64(`::${secret}`)],
    ["base64 in the middle of a header", base64(`user:${secret}\n and so on`)],
    ["base64url", Buffer.from(`x${secret}`).toString("base64url")],
  ])("finds one planted as %s", (_, text) => {
    expect(plant(text)).not.toEqual([]);
  });

  it("finds nothing where nothing is", () => {
    expect(plant(readFileSync(join(root, "README.md"), "utf8"))).toEqual([]);
    expect(plant(base64(secret.slice(0, 8)))).toEqual([]);
  });
});

/** All that was said, by who said it. */
const written = new Map<string, string>();
const secrets: string[] = [];
let venueIo = capturedIo();
let venueEnds: Promise<number> = Promise.resolve(0);

const say = (who: string, text: string): void => {
  written.set(who, `${written.get(who) ?? ""}${text}`);
};
/** Runs a command as a function, and keeps what it says. */
const sluice = async (who: string, argv: readonly string[], io = capturedIo({ env: { SLUICE_DEBUG: "1" } })): Promise<number> => {
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
import consolePanel from "../../plugins/console-panel.ts";
import journalFile from "../../plugins/journal-file.ts";
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
const setEnv = (prefix: string, { apiKey, secretKey, passphrase }: typeof odd): void => {
  Object.assign(process.env, { [`${prefix}_API_KEY`]: apiKey, [`${prefix}_SECRET_KEY`]: secretKey, [`${prefix}_PASSPHRASE`]: passphrase });
};

beforeAll(async () => {
  mkdirSync(configs, { recursive: true });
  venueIo = capturedIo();
  venueEnds = main(["venue", "--port", "0", "--json", "--seed", "canary"], venueIo);
  while (!venueIo.outText.includes("\n")) await new Promise((resolve) => setTimeout(resolve, 20));
  const { url, keys } = JSON.parse(venueIo.outText) as { url: string; keys: readonly (typeof odd)[] };
  const [key, , other] = keys as readonly [typeof odd, typeof odd, typeof odd];
  process.env["CANARY_URL"] = url;
  setEnv("CANARY", key);
  setEnv("CANARY_TWO", other);
  setEnv("ODD", odd);
  secrets.push(...keys.flatMap(({ apiKey, secretKey, passphrase }) => [apiKey, secretKey, passphrase]), ...oddTexts);
}, 60_000);

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

/** Some of it goes round in circles, which is nothing to write down either. */
const jsonOf = (value: unknown): string => {
  try {
    return String(JSON.stringify(value));
  } catch {
    return "";
  }
};

describe("everything that has a mouth", () => {
  it("trades, records, examines and fails without a word of what it holds", async () => {
    const trades = config("trades");
    const session = join(dir, "session");
    const watched = config("watched", { rest: `Object.assign(config, { watchdog: { dir: ${JSON.stringify(join(dir, "meet"))} } });` });
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
    // Two users with a quota each; on each of them one after the other.
    const lines: readonly (readonly (() => Promise<number>)[])[] = [
      [
        () => untilSaid('"phase":"live"', "run", ["run", trades, "--cancel", "--json"]),
        () => untilSaid("proved", "watchdog", ["watchdog", watched, "--json"]),
      ],
      [
        () => untilSaid('"phase":"live"', "record", ["record", config("recorded", { prefix: "CANARY_TWO" }), "--json", "--out", session]),
        () => sluice("doctor", ["doctor", config("examined", { prefix: "CANARY_TWO" }), "--quick", "--json"], capturedIo({ isTty: true })),
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
      [0, 0],
      [0, 0],
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
  }, 60_000);

  it("a process that crashes with its config in hand shows none", async () => {
    const rest = 'setTimeout(() => { throw Object.assign(new Error("crash"), { config, cause: config.service, env: undefined }); }, 10);';
    const child = spawn(process.execPath, [join(root, "src/cli/sluice.mjs"), "run", config("crashes", { rest })], {
      cwd: dir,
      env: { ...process.env, SLUICE_DEBUG: "1" },
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect([code, text.includes("Error: crash"), text.includes("baseUrl")]).toEqual([1, true, true]);
    expect(leaksIn(secrets, new Map([["crash", text]]))).toEqual([]);
  }, 60_000);

  it("values that hold them can be shown, written and copied", () => {
    const credentials = createCredentials(odd);
    const given = defineConfig({
      service: live({ environment: "testnet", baseUrl: "https://127.0.0.1:9", keys: [{ credentials }], push: false }),
      strategies: [{ kind: "strategy", name: "s", options: {}, start: () => ({}) }],
    });
    const engine = createEngine(given);
    const shown: string[] = [];
    for (const value of [
      credentials,
      given,
      engine,
      engine.service,
      { deep: [credentials] },
      fromEnv("ODD"),
      new Error("x", { cause: given }),
    ]) {
      shown.push(
        inspect(value, { depth: 20, showHidden: true, getters: true }),
        jsonOf(value),
        `${value instanceof Error ? value.stack : ""}`,
      );
    }
    // The key by itself is the name under which it is known, to whoever asks for it by name.
    const quiet = shown.map((text) => text.replaceAll(JSON.stringify(credentials.apiKey), "").replaceAll(inspect(credentials.apiKey), ""));
    expect(leaksIn([odd.secretKey, odd.passphrase], new Map(shown.map((text, index) => [`value ${index}`, text])))).toEqual([]);
    expect(leaksIn(oddTexts, new Map(quiet.map((text, index) => [`value ${index}`, text])))).toEqual([]);
    expect(() => structuredClone(credentials)).not.toThrow();
    expect(leaksIn(oddTexts, new Map([["a copy", inspect(structuredClone(credentials), { showHidden: true })]]))).toEqual([]);
  });

  it("what is wrong with them is told by place", () => {
    const said: string[] = [];
    const fails = (work: () => unknown): void => {
      try {
        work();
        said.push("NOT REFUSED");
      } catch (error) {
        said.push(inspect(error, { depth: 9, showHidden: true }), String((error as Error).stack));
      }
    };
    const file = (name: string, text: string, mode = 0o600): string => {
      const path = join(configs, name);
      writeFileSync(path, text);
      chmodSync(path, mode);
      return path;
    };
    const json = JSON.stringify(odd);
    fails(() => fromFile(file("torn.json", json.slice(0, -3))));
    fails(() => fromFile(file("open.json", json, 0o644)));
    fails(() => fromFile(file("named.json", JSON.stringify({ main: odd })), "other"));
    fails(() => fromFile(file("list.json", JSON.stringify([odd]))));
    fails(() => createCredentials({ ...odd, secretKey: `${odd.secretKey}\n` }));
    fails(() => createCredentials({ ...odd, passphrase: `é${odd.passphrase}` }));
    fails(() => createCredentials({ ...odd, apiKey: [odd.apiKey] as never }));
    fails(() => live({ environment: "testnet", baseUrl: "https://x", keys: [{ credentials: odd as never }] }));
    fails(() => live({ environment: "testnet", baseUrl: "https://x", keys: [odd as never] }));
    fails(() => live({ environment: "testnet", baseUrl: "https://x", keys: odd as never }));
    fails(() => live({ environment: "testnet", baseUrl: "https://x", ...odd } as never));
    fails(() => live({ environment: "testnet", baseUrl: "https://x", users: { [odd.apiKey]: odd.secretKey } as never }));
    expect(said).not.toContain("NOT REFUSED");
    const named = said.map((text) => text.replaceAll(odd.apiKey, ""));
    expect(leaksIn([odd.secretKey, odd.passphrase], new Map(said.map((text, index) => [`failure ${index}`, text])))).toEqual([]);
    expect(leaksIn(oddTexts, new Map(named.map((text, index) => [`failure ${index}`, text])))).toEqual([]);
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
});
