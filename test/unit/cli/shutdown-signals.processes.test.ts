/** Every way in which a process is told to end, with real processes and a service on this machine: what is left there afterwards. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const bin = join(root, "src/cli/sluice.mjs");
const folder = mkdtempSync(join(tmpdir(), "sluice-signals-"));
// Inside the checkout, where its imports are found.
const config = join(root, "out", `signals-${process.pid}.ts`);
const children: ChildProcess[] = [];
let service: ChildProcess;
let env: NodeJS.ProcessEnv = {};
let url = "";
let key = { apiKey: "", secretKey: "", passphrase: "" };

/** A process and what it has said. */
const start = (...argv: readonly string[]) => {
  const child = spawn(process.execPath, [bin, ...argv], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", SLUICE_DEBUG: "", ...env },
  });
  children.push(child);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  const ended = new Promise<string>((resolve) => {
    child.on("exit", (code, signal) => resolve(`${code ?? signal}`));
  });
  const says = async (words: string, ms = 120_000): Promise<void> => {
    const end = performance.now() + ms;
    while (!text.includes(words)) {
      if (performance.now() > end || child.exitCode !== null)
        throw new Error(`it does not say ${words}: ${text.slice(-2_000)}`);
      await pause(20);
    }
  };
  return { child, says, ended, text: () => text };
};

beforeAll(async () => {
  mkdirSync(join(root, "out"), { recursive: true });
  writeFileSync(
    config,
    `import { defineConfig, defineStrategy, fromEnv, live } from "sluice";
import watchdog from "sluice/plugins/watchdog";
import { concat, NEVER, of } from "rxjs";
const far = (slot: string, px: string) => ({ slot, instId: "BTC-USDT-SWAP", side: "buy" as const, px, notional: "50" });
const rests = defineStrategy({
  name: "rests",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: () => concat(of([far("a", "20000"), far("b", "20100")]), NEVER),
});
process.stderr.write("config loaded\\n");
export default defineConfig({
  service: live({ environment: "testnet", baseUrl: process.env["SLUICE_BASE_URL"] ?? "", keys: [fromEnv("SLUICE")] }),
  strategies: [rests({})],
  plugins: [watchdog({ dir: ${JSON.stringify(join(folder, "meet"))} })],
});
`,
  );
  const venue = start("venue", "--json", "--port", "0", "--seed", "signals");
  service = venue.child;
  await venue.says("\n");
  const ready = JSON.parse(venue.text().split("\n")[0] ?? "") as { url: string; keys: readonly [typeof key] };
  url = ready.url;
  [key] = ready.keys;
  env = {
    SLUICE_BASE_URL: url,
    SLUICE_API_KEY: key.apiKey,
    SLUICE_SECRET_KEY: key.secretKey,
    SLUICE_PASSPHRASE: key.passphrase,
  };
});

// What a try that failed left running would rest orders in the next one.
afterEach(() => {
  for (const child of children) if (child !== service) child.kill("SIGKILL");
});
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
  rmSync(config, { force: true });
});

/** Orders at the service, asked by other means than the ones under test. */
const resting = async (): Promise<number> => {
  const path = "/api/v1/trade/orders/pending";
  const timestamp = new Date().toISOString();
  const sign = createHmac("sha256", key.secretKey).update(`${timestamp}GET${path}`).digest("base64");
  const headers = {
    "X-API-Key": key.apiKey,
    "X-API-Sign": sign,
    "X-API-Timestamp": timestamp,
    "X-API-Passphrase": key.passphrase,
  };
  const { code, data } = (await (await fetch(url + path, { headers })).json()) as { code: string; data: unknown[] };
  expect(code).toBe("0");
  return data.length;
};

/** Before, a signal ends it as it would any program. Where the system does not tell, half a second must do. */
const listens = async ({ pid = 0 }: ChildProcess): Promise<void> => {
  const status = `/proc/${pid}/status`;
  const caught = (): boolean =>
    (Number.parseInt(/SigCgt:\s*(\S+)/.exec(readFileSync(status, "utf8"))?.[1]?.slice(-1) ?? "0", 16) & 1) === 1;
  if (!existsSync(status)) await pause(500);
  else while (!caught()) await pause(5);
};

type Step = NodeJS.Signals | number | "close";

/** Signals, pauses in milliseconds, and the end of whoever reads the output. */
const tell = async (child: ChildProcess, steps: readonly Step[]): Promise<void> => {
  for (const step of steps) {
    if (typeof step === "number") await pause(step);
    else if (step === "close") {
      child.stdout?.destroy();
      child.stderr?.destroy();
    } else child.kill(step);
  }
};

describe("sluice run --cancel leaves no order and ends with 0", () => {
  it.each<[string, readonly Step[]]>([
    ["Ctrl-C", ["SIGINT"]],
    ["SIGTERM", ["SIGTERM"]],
    ["SIGHUP", ["SIGHUP"]],
    ["SIGQUIT", ["SIGQUIT"]],
    ["a closed terminal", ["close", "SIGHUP"]],
    ["a closed terminal and a supervisor's SIGTERM", ["SIGHUP", "close", "SIGTERM"]],
    ["SIGINT and SIGTERM together", ["SIGINT", "SIGTERM"]],
    ["two SIGINT within 50 ms", ["SIGINT", 50, "SIGINT"]],
    ["SIGTERM, then a closed terminal", ["SIGTERM", 20, "SIGHUP", "SIGQUIT", "close"]],
  ])("after %s", async (_, steps) => {
    const { child, says, ended } = start("run", config, "--cancel", "--json");
    await says('"phase":"live"');
    await says('"slot":"b"');
    await tell(child, steps);
    expect(await ended).toBe("0");
    expect(await resting()).toBe(0);
  });
});

describe("Commands end in order on a signal:", () => {
  it("record finishes its session", async () => {
    const out = join(folder, "session");
    const { child, says, ended, text } = start("record", config, "--out", out);
    await says("started rests");
    await tell(child, ["SIGHUP", "SIGTERM", 30, "SIGINT"]);
    expect(await ended).toBe("0");
    expect(text()).toContain("Replay them with");
    expect(readFileSync(join(out, "session.ndjson"), "utf8").trimEnd().split("\n").at(-1)).toContain('"end"');
  });

  it("watchdog lets go of its place", async () => {
    const watch = async (...steps: readonly Step[]): Promise<void> => {
      const { child, says, ended } = start("watchdog", config);
      await says("nothing is protected yet");
      await tell(child, steps);
      expect(await ended).toBe("0");
    };
    await watch("SIGINT", "SIGTERM", "SIGHUP");
    await watch("close", "SIGQUIT", "SIGTERM");
    expect(existsSync(join(folder, "meet"))).toBe(true);
  });

  it("close says how far it came", async () => {
    const { child, says, ended, text } = start("close", config);
    await says("config loaded");
    await listens(child);
    await tell(child, ["SIGINT", "SIGTERM"]);
    expect(await ended).toBe("1");
    expect(text()).toContain("Stopped before the service was read: no order was canceled and no position closed.");
  });
});
