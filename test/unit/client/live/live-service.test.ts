import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { firstValueFrom, of, toArray } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { createInstrumentCache } from "../../../../src/client/live/instrument-cache.ts";
import { fromEnv, fromFile } from "../../../../src/client/live/key-material.ts";
import { type LiveOptions, live } from "../../../../src/client/live/live-service.ts";
import { writeConfirmation } from "../../../../src/client/live/size-unit-confirmation.ts";
import { createCredentials } from "../../../../src/client/transport/secrets.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../../src/contract/profile.ts";
import type { WireRequest } from "../../../../src/contract/transport.ts";
import { isSluiceError } from "../../../../src/errors.ts";
import { createRandom } from "../../../../src/random.ts";
import { createNetwork, type FakeSocket, obedient } from "../../../support/harness/fake-sockets.ts";
import { responsesOf, streamed } from "../../../support/transports.ts";

const canary = "canary-secret-text";
const credentials = (apiKey = "key-1") => createCredentials({ apiKey, secretKey: canary, passphrase: "phrase" });
const key = (apiKey?: string) => ({ credentials: credentials(apiKey) });
const basic: LiveOptions = { environment: "testnet", baseUrl: "http://127.0.0.1:1", keys: [key()] };

const folders: string[] = [];
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "sluice-live-"));
  folders.push(path);
  return path;
};
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true });
});

const unloaded = (
  options: Partial<LiveOptions> = {},
  profile: ProfileOverrides = {},
  prepare?: (socket: FakeSocket) => void,
) => {
  const clock = createVirtualClock(1_700_000_000_000);
  const network = createNetwork(
    prepare ??
      ((socket) => {
        socket.answer = obedient;
      }),
  );
  const asked: string[] = [];
  const errors: unknown[] = [];
  const service = live({ ...basic, clock, openSocket: network.open, ...options }).open({
    contract: createContract(profile),
    random: createRandom("live"),
    onError: (error) => errors.push(error),
    onAnomaly: (what, detail) => errors.push(new Error(`live: ${what}: ${detail}`)),
    leave: (ip) => {
      asked.push(ip);
      return undefined;
    },
  });
  return { clock, network, service, asked, errors };
};

const open = async (...given: Parameters<typeof unloaded>) => {
  const opened = unloaded(...given);
  await opened.service.load?.();
  return opened;
};

const problemOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return isSluiceError(error) ? error.message : `not ours: ${String(error)}`;
  }
  return "none";
};

describe("Options of the live service:", () => {
  it.each<[string, object, RegExp]>([
    ["an unknown option", { allowMainnet: true }, /unknown key "allowMainnet"/],
    ["no environment", { environment: undefined }, /live options/],
    [
      "an unknown environment",
      { environment: "demo" },
      /live options.environment: "demo" is not one of testnet, mainnet/,
    ],
    ["an address that is none", { baseUrl: "{base_url}" }, /is not a URL/],
    ["an address with a path", { baseUrl: "https://api.example.com/api" }, /followed by a path/],
    ["plain http beyond this machine", { baseUrl: "http://api.example.com" }, /is not encrypted/],
    ["a socket address that is none", { wsUrl: "nowhere" }, /The address of the WebSocket is not a URL/],
    [
      "a socket address of another kind",
      { wsUrl: "https://api.example.com/ws" },
      /The address of the WebSocket begins with https:/,
    ],
    ["a plain socket beyond this machine", { wsUrl: "ws://api.example.com/ws" }, /is not encrypted/],
    [
      "a socket address with a password",
      { wsUrl: `wss://me:${canary}@api.example.com/ws` },
      /holds a user name or a password/,
    ],
    ["a socket address with a fragment", { wsUrl: "wss://api.example.com/ws#x" }, /has a fragment/],
    ["no timeout at all", { timeoutMs: 0 }, /live options.timeoutMs/],
    ["no keys", { keys: undefined }, /give either keys, such as keys: \[fromEnv\("SLUICE"\)\], or users/],
    ["both", { users: { main: [key()] } }, /give either keys/],
    ["users that are a list", { keys: undefined, users: [key()] }, /live options.users: is not an object/],
    ["no user", { keys: undefined, users: {} }, /users: there is none/],
    ["a user without keys", { keys: undefined, users: { one: [] } }, /users.one: is not a list of keys/],
    ["a key that is no list", { keys: key() }, /keys: is not a list of keys/],
    ["a bare secret", { keys: canary }, /keys: is not a list of keys/],
    ["a bare secret in a list", { keys: [canary] }, /keys.0.credentials: are not made by fromEnv/],
    [
      "plain credentials",
      { keys: [{ credentials: { apiKey: "a", secretKey: canary, passphrase: "p" } }] },
      /keys.0.credentials: are not made by/,
    ],
    ["a secret among the fields", { keys: [{ ...key(), secretKey: canary }] }, /keys.0: has a field it does not know/],
    [
      "permissions that are a word",
      { keys: [{ ...key(), permissions: "read" }] },
      /keys.0.permissions: is not a list of words/,
    ],
    ["a name that is none", { keys: [{ ...key(), name: "a b" }] }, /keys.0.name: is not a word/],
    [
      "two keys of one name",
      {
        keys: [
          { ...key(), name: "x" },
          { ...key(), name: "x" },
        ],
      },
      /two keys are named "x"/,
    ],
  ])("%s is refused by name, and no secret is printed", (_, options, message) => {
    const problem = problemOf(() => live({ ...basic, ...options } as LiveOptions));
    expect(problem).toMatch(message);
    expect(problem).not.toContain(canary);
  });

  it("keys are named after their user and may read and trade unless told otherwise", async () => {
    const { service } = await open({
      keys: undefined as never,
      users: { main: [key(), key("key-2")], other: [{ ...key("key-3"), permissions: ["read"], name: "eyes" }] },
    });
    expect(service.users.map(({ uid, ip, keys }) => ({ uid, ip, keys }))).toEqual([
      {
        uid: "main",
        ip: "local",
        keys: [
          { name: "main", permissions: ["read", "trade_futures", "trade_spot"] },
          { name: "main-2", permissions: ["read", "trade_futures", "trade_spot"] },
        ],
      },
      { uid: "other", ip: "local", keys: [{ name: "eyes", permissions: ["read"] }] },
    ]);
  });

  it("keys come from the environment or a private file", () => {
    Object.assign(process.env, { LIVETEST_API_KEY: "env-key", LIVETEST_SECRET_KEY: canary, LIVETEST_PASSPHRASE: "p" });
    const path = join(folder(), "keys.json");
    writeFileSync(path, JSON.stringify({ trade: { apiKey: "file-key", secretKey: canary, passphrase: "p" } }), {
      mode: 0o600,
    });
    const found = [fromEnv("LIVETEST", { name: "a" }), fromFile(path, "trade", { permissions: ["read"] })];
    for (const name of ["API_KEY", "SECRET_KEY", "PASSPHRASE"]) delete process.env[`LIVETEST_${name}`];
    expect(found.map((one) => [one.credentials.apiKey, one.name, one.permissions])).toEqual([
      ["env-key", "a", undefined],
      ["file-key", undefined, ["read"]],
    ]);
    expect(() => fromEnv("LIVETEST")).toThrow(/LIVETEST_API_KEY is missing/);
  });

  it("nothing that is printed of the service shows a secret", async () => {
    const spec = live(basic);
    const { service } = await open();
    for (const value of [spec, service]) expect(inspect(value, { depth: 20, showHidden: true })).not.toContain(canary);
  });
});

describe("The live service", () => {
  it("is asked nothing before it is loaded, and says so", async () => {
    const { service } = unloaded();
    expect(problemOf(() => service.market.quotes("A-USDT"))).toMatch(/is not loaded\. Await its load\(\)/);
    expect(service.counts()).toEqual({ requests: 0, sockets: 0, subscriptions: 0 });
    await service.stop();
  });

  it("opens nothing before the start, and asks leave for each socket", async () => {
    const { clock, network, service, asked } = await open();
    service.market.quotes("A-USDT").subscribe();
    expect([network.sockets.length, clock.pending, asked.length]).toEqual([0, 0, 0]);
    service.start();
    expect(network.sockets.map(({ url }) => url)).toEqual(["ws://127.0.0.1:1/ws/v1", "ws://127.0.0.1:1/ws/v1"]);
    expect(asked).toEqual(["local", "local"]);
  });

  it.each<[string, Partial<LiveOptions>, ProfileOverrides, string]>([
    ["the service's host over TLS", { baseUrl: "https://api.example.com" }, {}, "wss://api.example.com/ws/v1"],
    [
      "a path of the profile",
      { baseUrl: "https://api.example.com:8443" },
      { websocket: { path: "/stream" } },
      "wss://api.example.com:8443/stream",
    ],
    ["an address that was given", { wsUrl: "wss://stream.example.com/v9" }, {}, "wss://stream.example.com/v9"],
  ])("the socket is opened at %s", async (_, options, profile, url) => {
    const { network, service } = await open(options, profile);
    service.start();
    expect(network.last.url).toBe(url);
  });

  it("logs in with the first key that may read, and signs it at the service's path", async () => {
    const { network, service } = await open({
      keys: [{ ...key("writer"), permissions: ["trade_spot"] }, key("reader")],
    });
    service.start();
    network.last.open();
    const [login] = network.last.sent as { op: string; args: Record<string, string>[] }[];
    expect(login).toMatchObject({
      op: "login",
      args: [{ apiKey: "reader", passphrase: "phrase", timestamp: "2023-11-14T22:13:20.000Z" }],
    });
    expect(JSON.stringify(network.last.sent)).not.toContain(canary);
  });

  it("pushes are true once the private channel is whole", async () => {
    const { network, service } = await open();
    const story: boolean[] = [];
    service.users[0]?.pushing$.subscribe((pushing) => story.push(pushing));
    service.start();
    network.last.open();
    expect(story).toEqual([false, true]);
    await service.stop();
  });

  it.each<[string, Partial<LiveOptions>]>([
    ["push is switched off", { push: false }],
    ["no key may read", { keys: [{ ...key(), permissions: ["trade_spot"] }] }],
  ])("when %s, orders are polled and no private connection is opened", async (_, options) => {
    const { network, service } = await open(options);
    const story: boolean[] = [];
    service.users[0]?.pushing$.subscribe((pushing) => story.push(pushing));
    service.start();
    expect(network.sockets).toHaveLength(0);
    expect(story).toEqual([false]);
  });

  it("where the socket cannot be reached, market streams stay silent, orders are polled, and it is said", async () => {
    const { clock, network, service, errors } = await open({}, {}, () => undefined);
    const seen: unknown[] = [];
    service.market.quotes("A-USDT").subscribe((quote) => seen.push(quote));
    service.users[0]?.pushing$.subscribe((pushing) => seen.push(pushing));
    service.start();
    for (let turn = 0; turn < 40; turn++) {
      for (const socket of network.sockets) socket.end("connect ECONNREFUSED");
      clock.advanceTo(clock.now() + 1_000);
    }
    expect(seen).toEqual([false]);
    expect(service.anomalies.get("socket.unreachable")).toBe(2);
    expect(errors).toHaveLength(2);
    expect(String(errors[0])).toContain(
      "live: socket.unreachable: ws://127.0.0.1:1/ws/v1 failed 3 times: connect ECONNREFUSED",
    );
  });

  it("stop ends every stream and leaves nothing, and resolves when all is closed", async () => {
    const { clock, network, service } = await open();
    const ends = [
      firstValueFrom(service.market.quotes("A-USDT").pipe(toArray())),
      ...service.users.flatMap(({ pushes$, pushing$ }) => [
        firstValueFrom(pushes$.pipe(toArray())),
        firstValueFrom(pushing$.pipe(toArray())),
      ]),
    ];
    service.start();
    for (const socket of network.sockets) socket.open();
    await service.stop();
    expect(await Promise.all(ends)).toEqual([[], [], [false, true]]);
    expect([network.alive, clock.pending]).toEqual([0, 0]);
    expect(service.counts()).toEqual({ requests: 0, sockets: 0, subscriptions: 0 });
  });

  it("may be stopped without having been started", async () => {
    const { service } = await open();
    await service.stop();
  });
});

describe("Live orders on mainnet", () => {
  const mainnet: Partial<LiveOptions> = { environment: "mainnet", baseUrl: "https://api.example.com" };
  const found = (baseUrl: string, SWAP: "base" | "quote_notional"): string => {
    const confirmation = join(folder(), "confirmed.json");
    writeConfirmation(confirmation, { baseUrl, szUnit: { SPOT: "quote_notional", SWAP }, at: "2026-01-01T00:00:00Z" });
    return confirmation;
  };

  it("are refused, with the reason and the remedy, while nobody has said what sz counts", async () => {
    const { service } = await open({ ...mainnet, confirmation: join(folder(), "none.json") });
    expect(service.ordersRefused?.()).toMatch(
      /^On mainnet no order is sent before it is known what sz counts.*sluice doctor.*szUnit: \{ SPOT: "quote_notional"/,
    );
  });

  it.each<[string, () => Partial<LiveOptions>, ProfileOverrides, boolean]>([
    [
      "stated in the profile",
      () => mainnet,
      { order: { szUnit: { SPOT: "quote_notional", SWAP: "quote_notional" } } },
      true,
    ],
    [
      "found on the testnet of the same domain",
      () => ({ ...mainnet, confirmation: found("https://testnet.example.com", "quote_notional") }),
      {},
      true,
    ],
    [
      "found to be something else",
      () => ({ ...mainnet, confirmation: found("https://testnet.example.com", "base") }),
      {},
      false,
    ],
    [
      "found at another service",
      () => ({ ...mainnet, confirmation: found("http://127.0.0.1:9", "quote_notional") }),
      {},
      false,
    ],
    ["not needed on the testnet", () => ({}), {}, true],
  ])("%s", async (_, options, profile, allowed) => {
    const none = join(folder(), "none.json");
    const { service } = await open({ confirmation: none, ...options() }, profile);
    expect(service.ordersRefused?.() === undefined).toBe(allowed);
  });
});

describe("The instrument cache", () => {
  const request: WireRequest = {
    endpoint: "instruments",
    method: "GET",
    path: "/",
    query: {},
    body: undefined,
    key: undefined,
  };
  const answer = (data: unknown) => ({ status: 200, headers: {}, body: { code: "0", msg: "", data } });

  it("is read from answers that pass by, which are handed on untouched", async () => {
    const listed = createInstrumentCache(createContract());
    expect([listed.isListed("A-USDT"), listed.contractValue("A-USDT")]).toEqual([undefined, undefined]);
    const response = answer([{ instId: "A-USDT", tickSz: "0.1", lotSz: "1", ctVal: "0.01", more: 1 }]);
    const before = structuredClone(response);
    expect(await firstValueFrom(responsesOf(listed.watch(streamed(() => of(response))), request))).toBe(response);
    expect(response).toEqual(before);
    expect([listed.isListed("A-USDT"), listed.contractValue("A-USDT"), listed.isListed("B-USDT")]).toEqual([
      true,
      "0.01",
      false,
    ]);
  });

  it("is not taken from a failure, a part of it or another call", async () => {
    const listed = createInstrumentCache(createContract());
    const pass = async (response: ReturnType<typeof answer>, more: Partial<WireRequest>): Promise<unknown> =>
      firstValueFrom(responsesOf(listed.watch(streamed(() => of(response))), { ...request, ...more }));
    await pass({ ...answer([]), status: 500 }, {});
    await pass(answer([{ instId: "A-USDT", tickSize: "1", lotSize: "1" }]), { query: { instId: "A-USDT" } });
    await pass(answer([]), { endpoint: "positions" });
    expect(listed.isListed("A-USDT")).toBeUndefined();
  });
});
