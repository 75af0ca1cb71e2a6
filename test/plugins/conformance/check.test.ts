/**
 * `sluice check`: what it prints, how it ends, where its keys come from. Over HTTP on this machine, with few requests.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { keysFrom } from "../../../plugins/conformance/rules/check-keys.ts";
import { startVenueServer, type VenueServer } from "../../../plugins/venue-server/server/server.ts";
import { main } from "../../../src/cli/main.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { createRandom } from "../../../src/random.ts";
import { createVenue } from "../../../src/venue/venue.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { everything, instruments } from "../../support/harness/venue.ts";

const key = { apiKey: "key-a", secretKey: "secret-a", passphrase: "phrase-a", uid: "ann", permissions: everything };

let folder = "";
const open: (VenueServer | Server | TcpServer)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "check-"));
});
afterEach(async () => {
  rmSync(folder, { recursive: true });
  for (const server of open.splice(0)) {
    if ("url" in server) await server.close();
    else await new Promise((resolve) => server.close(resolve));
  }
});

const file = (value: unknown, mode = 0o600): string => {
  const path = join(folder, "keys.json");
  writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  chmodSync(path, mode);
  return path;
};

const whole = async (): Promise<VenueServer> => {
  const contract = createContract();
  const fees = { makerBps: "2", takerBps: "5" };
  const users = [{ uid: "ann", keys: [{ name: key.apiKey, permissions: everything }], balances: { USDT: "1000" } }];
  const venue = createVenue({ contract, instruments, users, fees: { SPOT: fees, SWAP: fees }, enforceLimits: false });
  const server = await startVenueServer({
    venue,
    contract,
    clock: createSystemClock(),
    random: createRandom(1),
    keys: [key],
  });
  open.push(server);
  return server;
};

/** Says the same to everybody. */
const parrot = async (body: string): Promise<string> => {
  const server = createServer((_, response) => response.end(body));
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const run = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const io = capturedIo({ env });
  const code = await main(["check", ...argv], io);
  return { code, out: io.outText, err: io.errText };
};

describe("sluice check", () => {
  it("prints the rules and a summary, and ends with 0, where nothing fails", async () => {
    const { url, counts } = await whole();
    const { code, out } = await run([url, "--only", "4.5", "2.3-format"]);
    await vi.waitFor(() => {
      expect(counts().connections).toBe(0);
    });
    expect(out).toContain("pass  2.3-format    every product id is BASE-QUOTE or BASE-QUOTE-SWAP\n");
    expect(out).toContain("skip  4.5-complete");
    expect(out).toContain(
      "open  4.5-key       whether the list needs a key\n                    found: no key is needed (G13)\n",
    );
    expect(out).toMatch(/5 rules: 3 passed, 0 failed, 1 skipped; 1 thing the description leaves open\.\n$/);
    expect(code).toBe(0);
  });

  it("signs with the keys of a file, or with one of the environment", async () => {
    const { url } = await whole();
    const env = { SLUICE_API_KEY: key.apiKey, SLUICE_SECRET_KEY: key.secretKey, SLUICE_PASSPHRASE: key.passphrase };
    for (const result of [
      await run([url, "--only", "4.6-positions", "--keys", file({ keys: [key] }, 0o644)]),
      await run([
        url,
        "--only",
        "4.6-positions",
        "--keys",
        file({ writtenBy: "sluice venue", trade: { ...key, permissions: undefined } }),
      ]),
      await run([url, "--only", "4.6-positions"], env),
    ]) {
      expect(result.out).toContain("1 passed, 0 failed");
      expect(result.code).toBe(0);
    }
  });

  it("shows what was expected and what came, and ends with 1, where a rule fails", async () => {
    const url = await parrot(JSON.stringify({ code: "0", msg: "", data: [{ instId: "BTC\u202e\u001b[2J/USDT" }] }));
    const { code, out, err } = await run([url, "--only", "2.3-format"]);
    expect(out).toContain("expected: BASE-QUOTE or BASE-QUOTE-SWAP");
    expect(out).toContain("request:  GET /api/v1/common/instruments (no key)");
    expect(out).toContain("\\u202e");
    expect(out).not.toContain("\u202e");
    expect(err).toContain("does not keep to the description. 1 rule: 0 passed, 1 failed");
    expect(code).toBe(1);
  });

  it("prints one document with --json", async () => {
    const url = await parrot(JSON.stringify({ code: "0", msg: "", data: [] }));
    const { code, out } = await run([url, "--only", "4.5-listed", "--json"]);
    const document: unknown = JSON.parse(out);
    expect(document).toMatchObject({
      url,
      passed: false,
      counts: { pass: 0, fail: 1 },
      leftBehind: [],
      rules: [{ id: "4.5-listed", kind: "fail" }],
    });
    expect(code).toBe(1);
  });

  it("a service that answers with pages and not with JSON fails, and does not break the suite", async () => {
    const { code, out } = await run([await parrot("<html>"), "--only", "2.3", "4.5"]);
    expect(out).toContain("the list was not given: HTTP 200 nothing");
    expect(out).toContain("FAIL  4.5-listed");
    expect(code).toBe(1);
  });

  it.each([
    ["no such rule", ["--only", "77"], 'no rule begins with "77"'],
    ["a file that is not there", ["--keys", "/nowhere/keys.json"], "cannot be read (ENOENT)"],
    ["an odd profile", ["--profile", "/nowhere/profile.json"], "cannot be read (ENOENT)"],
    ["a price that is none", ["--px", "1e3"], '--px: "1e3" is not a decimal'],
    ["an unknown flag", ["--fast"], "unknown option '--fast'"],
  ])("ends with 2 for %s", async (_, flags, message) => {
    const { code, err } = await run(["http://127.0.0.1:9", ...flags]);
    expect(err).toContain(message);
    expect(code).toBe(2);
  });

  it("ends with 2 for keys that are not accepted", async () => {
    const { url } = await whole();
    const { code, err } = await run([url, "--keys", file({ keys: [{ ...key, secretKey: "wrong" }] })]);
    expect(err).toContain("refuses the key key-1");
    expect(err).not.toContain("wrong");
    expect(code).toBe(2);
  });

  it("ends with 1 where nobody listens", async () => {
    expect((await run(["http://127.0.0.1:9", "--only", "2.3"])).code).toBe(1);
  });
});

describe("sluice check of a service that is not on this machine", () => {
  const refusal = "check places and cancels orders, and";
  /** Counts who knocks. By another name than this machine's own it is still reached over loopback alone. */
  const doorbell = async () => {
    let rings = 0;
    const server = createTcpServer((socket) => {
      rings++;
      socket.destroy();
    });
    open.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { rings: () => rings, host: `0.0.0.0:${(server.address() as AddressInfo).port}` };
  };

  it("is refused with 2, with what to add, before keys are read or anything is sent", async () => {
    const { rings, host } = await doorbell();
    const { code, out, err } = await run([`https://${host}`, "--keys", "/nowhere/keys.json"]);
    expect([code, out, rings()]).toEqual([2, "", 0]);
    expect(err).toContain(
      `${refusal} ${host} is not this machine. If that is a test account, allow it: sluice check … --places-orders`,
    );
  });

  it("is asked when orders are meant to be placed there", async () => {
    const { rings, host } = await doorbell();
    const { code, err } = await run([`https://${host}`, "--only", "2.3", "--places-orders"]);
    expect(code).toBe(1);
    expect(err).not.toContain(refusal);
    expect(rings()).toBeGreaterThan(0);
  });

  it.each([
    ["a flag", (host: string) => ["--ws", `wss://${host}/ws`]],
    ["the file of keys", (host: string) => ["--keys", file({ wsUrl: `wss://${host}/ws`, keys: [key] })]],
  ])("is refused also where only its socket is elsewhere, by %s", async (_, flagsFor) => {
    const { rings, host } = await doorbell();
    const { url, counts } = await whole();
    const { code, err } = await run([url, ...flagsFor(host)]);
    expect([code, rings(), counts().requests]).toEqual([2, 0, 0]);
    expect(err).toContain(`${refusal} ${host} is not this machine`);
  });

  it.each([
    "https://localhost.example.com",
    "https://127.0.0.1.example.com",
    "https://127.0.0.1@example.com",
    "https://10.0.0.1",
  ])("is not taken for this machine by how its name begins: %s", async (url) => {
    const { code, err } = await run([url, "--keys", "/nowhere/keys.json"]);
    expect([code, err.includes(refusal)]).toEqual([2, true]);
  });

  it.each([
    "http://localhost:9",
    "http://127.0.0.1:9",
    "http://127.8.9.1:9",
    "http://[::1]:9",
    "nonsense",
    "example.com:80",
  ])("%s is not held up by it", async (url) => {
    const { code, err } = await run([url, "--only", "77"]);
    expect([code, err.includes(refusal)]).toEqual([2, false]);
  });

  it("is told of in the help", async () => {
    const { code, out } = await run(["--help"]);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/--places-orders\s+needed where the service is not on this machine/),
    ]);
  });
});

describe("The file of keys", () => {
  const { profile } = createContract();
  const here = "http://127.0.0.1:1";
  const noEnv = () => undefined;

  it.each([
    ["no JSON", "{secretKey: hidden", "is not a JSON object"],
    ["no keys", { url: "x" }, "holds no keys"],
    [
      "a key without a secret",
      { keys: [{ apiKey: "hidden", passphrase: "hidden" }] },
      "lacks apiKey, secretKey or passphrase",
    ],
  ])("with %s is refused without a word of what it holds", (_, value, message) => {
    const path = file(value);
    expect(() => keysFrom(here, path, profile, noEnv)).toThrow(message);
    try {
      keysFrom(here, path, profile, noEnv);
    } catch (error) {
      expect(String(error)).not.toContain("hidden");
    }
  });

  it("must be its owner's alone where the service is on another machine", () => {
    const path = file({ keys: [key] }, 0o644);
    expect(() => keysFrom("https://elsewhere.example", path, profile, noEnv)).toThrow("chmod 600");
    expect(keysFrom(here, path, profile, noEnv).keys).toEqual([{ name: "key-1", uid: "ann", permissions: everything }]);
  });

  it("tells the address of the socket", () => {
    expect(keysFrom(here, file({ wsUrl: "ws://x", keys: [key] }), profile, noEnv).wsUrl).toBe("ws://x");
  });

  it("is not needed: without it and without the environment there are no keys", () => {
    expect(keysFrom(here, undefined, profile, noEnv).keys).toEqual([]);
  });
});
