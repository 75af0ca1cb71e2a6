import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

const bin = fileURLToPath(new URL("../../../src/cli/sluice.mjs", import.meta.url));
const config = fileURLToPath(new URL("../../../config/testnet.ts", import.meta.url));
/** What rests at the best price may be filled before anybody looks. */
const resting = fileURLToPath(new URL("../../support/configs/resting-orders.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "sluice-live-process-"));

interface Key {
  readonly apiKey: string;
  readonly secretKey: string;
  readonly passphrase: string;
}

const children: ChildProcess[] = [];

const start = (argv: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess => {
  const child = spawn(process.execPath, [bin, ...argv], {
    cwd: folder,
    env: { ...process.env, NO_COLOR: "1", SLUICE_DEBUG: "", ...env },
  });
  children.push(child);
  return child;
};

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  /** From the end of the run to the end of the process. */
  readonly tookMs: number;
}

const ended = (child: ChildProcess): Promise<Ended> =>
  new Promise((resolve, reject) => {
    const text = { out: "", err: "" };
    let stoppedAt = Number.NaN;
    child.stdout?.on("data", (chunk: Buffer) => {
      text.out += chunk.toString();
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      text.err += chunk.toString();
      if (text.err.includes("Stopping") && Number.isNaN(stoppedAt)) stoppedAt = performance.now();
    });
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ code, ...text, tookMs: performance.now() - stoppedAt });
    });
  });

/** The service on this machine, and how to reach it. */
let env: NodeJS.ProcessEnv = {};
let url = "";
let service: ChildProcess;
/** What a process takes to come up here and now. */
let startMs = 0;
let key: Key = { apiKey: "", secretKey: "", passphrase: "" };

beforeAll(async () => {
  const beganAt = performance.now();
  const venue = start(["venue", "--json", "--port", "0", "--seed", "process"]);
  const line = await new Promise<string>((resolve, reject) => {
    let text = "";
    venue.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("\n")) resolve(text);
    });
    venue.on("close", () => {
      reject(new Error(`the service ended: ${text}`));
    });
  });
  startMs = performance.now() - beganAt;
  service = venue;
  const ready = JSON.parse(line) as { url: string; keys: readonly [Key] };
  url = ready.url;
  [key] = ready.keys;
  env = {
    SLUICE_BASE_URL: url,
    SLUICE_API_KEY: key.apiKey,
    SLUICE_SECRET_KEY: key.secretKey,
    SLUICE_PASSPHRASE: key.passphrase,
  };
});

// A try that failed leaves nothing to the next one.
afterEach(() => {
  for (const child of children) if (child !== service) child.kill("SIGKILL");
});
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

/** Asked by other means than the ones under test. */
const pendingOrders = async (): Promise<readonly Record<string, string>[]> => {
  const path = "/api/v1/trade/orders/pending";
  const timestamp = new Date().toISOString();
  const sign = createHmac("sha256", key.secretKey).update(`${timestamp}GET${path}`).digest("base64");
  const headers = {
    "X-API-Key": key.apiKey,
    "X-API-Sign": sign,
    "X-API-Timestamp": timestamp,
    "X-API-Passphrase": key.passphrase,
  };
  const { code, data } = (await (await fetch(url + path, { headers })).json()) as {
    code: string;
    data: Record<string, string>[];
  };
  expect(code).toBe("0");
  return data;
};

describe("The program against a service over the network:", () => {
  it("doctor finds that everything holds", async () => {
    const { code, out, err } = await ended(start(["doctor", config, "--quick"], env));
    expect(err).not.toContain("error");
    expect(out).toContain("0 differs, 0 could not be asked,");
    expect(code).toBe(0);
  });

  it("run --seconds --cancel trades, ends soon and leaves no order", async () => {
    // They count from before the engine has loaded and read its state.
    const seconds = String(Math.ceil(3 + (2 * startMs) / 1_000));
    const { code, out, err, tookMs } = await ended(start(["run", config, "--seconds", seconds, "--cancel"], env));
    expect(out).toMatch(/Orders: [1-9]\d* placed/);
    expect(`${code}: ${err}`).toMatch(/^0: /);
    expect(tookMs).toBeLessThan(8_000);
    expect(await pendingOrders()).toEqual([]);
    expect(existsSync(join(folder, "out", "testnet.ndjson"))).toBe(true);
  });

  it("a signal keeps orders and tells of them; the next run takes them over and cancels them", async () => {
    const child = start(["run", resting, "--json"], env);
    const end = ended(child);
    await new Promise<void>((resolve, reject) => {
      let text = "";
      const late = setTimeout(
        () => reject(new Error(`no order rests after half the time; the last events: ${text.slice(-3_000)}`)),
        120_000,
      );
      child.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (!text.includes('"phase":"live"')) return;
        clearTimeout(late);
        resolve();
      });
      child.on("close", (code) => {
        clearTimeout(late);
        reject(new Error(`it ended with ${code}: ${text.slice(-3_000)}`));
      });
    });
    child.kill("SIGINT");
    const { code, err } = await end;
    expect(`${code}: ${err}`).toMatch(/^0: /);
    expect(err).toMatch(
      /\d orders? stays? open at http:\/\/127\.0\.0\.1:\d+: \d in BTC-USDT-SWAP\. To cancel: sluice run /,
    );
    expect((await pendingOrders()).length).toBeGreaterThan(0);
    expect((await ended(start(["run", resting, "--seconds", "1", "--cancel"], env))).code).toBe(0);
    expect(await pendingOrders()).toEqual([]);
  });

  it("doctor --testnet-orders confirms what sz counts and leaves nothing behind", async () => {
    const { code, out } = await ended(
      start(["doctor", config, "--quick", "--json", "--testnet-orders", "--instrument", "ETH-USDT-SWAP"], env),
    );
    const { ok, left, findings } = JSON.parse(out) as {
      ok: boolean;
      left: string[];
      findings: { row: string; verdict: string }[];
    };
    expect([code, ok, left]).toEqual([0, true, []]);
    expect(findings.find(({ row }) => row === "order.szUnit")?.verdict).toBe("holds");
    expect(existsSync(join(folder, ".sluice", "confirmed.json"))).toBe(true);
    expect((await pendingOrders()).filter(({ clOrdId }) => clOrdId?.startsWith("dr"))).toEqual([]);
  });
});
