/** A session with a service on the loopback: what the wire does to it is recorded, and replays without a wire. */
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { concat, map, NEVER, of, switchMap, take } from "rxjs";
import { afterEach, describe, expect, it } from "vitest";
import { ensureMarket } from "../../../plugins/session/market-fixture.ts";
import { recordEngine } from "../../../plugins/session/recorded-engine.ts";
import { replaySession } from "../../../plugins/session/replayer.ts";
import { createSessionFile, readSession } from "../../../plugins/session/session-file.ts";
import type { FaultPlan } from "../../../plugins/venue-server/server/faults.ts";
import { startVenueServer } from "../../../plugins/venue-server/server/server.ts";
import { replayMarket } from "../../../src/backtest/serve/market-replay.ts";
import { backtest, constant, runBacktest } from "../../../src/backtest.ts";
import { live } from "../../../src/client/live/live-service.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import type { Clock } from "../../../src/clock/clock.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { defineStrategy, type Event, type Strategy } from "../../../src/index.ts";
import { generateTape, instrumentFor } from "../../../src/market/tape/generate.ts";
import { createRandom } from "../../../src/random.ts";
import { createVenue } from "../../../src/venue/venue.ts";
import joinBest from "../../../strategies/join-best.ts";
import { linesOf, newFolder } from "./harness/session.ts";

const swap = "BTC-USDT-SWAP";
const secrets = {
  apiKey: "canary-api-key-5f1c9a",
  secretKey: "canary/secret+key=77aa12",
  passphrase: "canary passphrase 9d3e",
} as const;
const token = "canary-token-of-a-strategy-31";
const permissions = ["read", "trade_futures", "trade_spot"];

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

/** A market at ten times its pace; every header a client sends is kept. */
const serve = async (clock: Clock, faults: FaultPlan = {}) => {
  const contract = createContract();
  const tape = generateTape({ seed: "wire", instruments: [instrumentFor(swap)], minutes: 30 });
  const { apiKey } = secrets;
  const venue = createVenue({
    contract,
    instruments: tape.instruments,
    users: [{ uid: "main", keys: [{ name: apiKey, permissions }], balances: { USDT: "100000" } }],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  const sent = new Set<string>();
  const ipOf = ({ headers }: IncomingMessage): string => {
    for (const [name, value] of Object.entries(headers)) if (/sign|key|passphrase/i.test(name)) sent.add(String(value));
    return "10.0.0.1";
  };
  const server = await startVenueServer({
    venue,
    contract,
    clock,
    random: createRandom(1),
    keys: [{ ...secrets, uid: "main", permissions }],
    faults,
    ipOf,
  });
  undo.push(() => server.close());
  const market = replayMarket(tape, venue, server.board, server.faults.clock, { speed: 10 });
  undo.push(() => market.stop());
  return { server, sent };
};

const taker = defineStrategy({
  name: "taker",
  options: {
    type: "object",
    additionalProperties: false,
    properties: { apiToken: { type: "string" }, side: { type: "string", enum: ["buy", "sell"] } },
  },
  wanted: ({ market, random, options: { side = "buy" } }) =>
    market.quotes(swap).pipe(
      take(1),
      switchMap(() =>
        concat(
          of([{ slot: "take", instId: swap, side, ordType: "market" as const, qty: `0.0${random.whole(1, 9)}` }]),
          NEVER,
        ),
      ),
    ),
});

/** Resolves once `holds`; the bound is only there to end a test that cannot pass. */
const until = async (holds: () => boolean): Promise<void> => {
  const givenUpAt = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > givenUpAt) throw new Error("it never held");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

/** Requests of the strategies that left so far. */
const placed = (events: readonly Event[]): number =>
  events.filter((event) => event.type === "action.sent" && event.endpoint === "placeOrder").length;

const recordLive = async (
  strategies: readonly Strategy[],
  enough: (events: readonly Event[]) => boolean,
  faults: FaultPlan = {},
) => {
  const clock = createSystemClock();
  const { server, sent } = await serve(clock, faults);
  const service = live({
    environment: "testnet",
    baseUrl: server.url,
    wsUrl: server.wsUrl,
    timeoutMs: 400,
    keys: [{ name: "trade", permissions, credentials: createCredentials(secrets) }],
  });
  const dir = newFolder();
  const config = { service, strategies, seed: "live" };
  const engine = recordEngine(config, (facts) => createSessionFile(dir, facts));
  undo.push(() => engine.stop());
  const events: Event[] = [];
  engine.events$.subscribe((event) => events.push(event));
  await engine.start();
  await until(() => enough(events));
  // With a faulty wire the fate of an order may stay open for long; nobody waits for it here.
  await engine.stop({ cancel: faults.http === undefined });
  return { dir, config, sent };
};

/** The text itself, and as base64 and hexadecimal wherever it may stand in a longer text. */
const disguises = (text: string): readonly string[] => {
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from(" ".repeat(shift) + text)
      .toString("base64")
      .slice(shift === 0 ? 0 : 4)
      .replace(/=+$/, "")
      .slice(0, -2),
  );
  const hex = Buffer.from(text).toString("hex");
  return [text, JSON.stringify(text).slice(1, -1), hex, hex.toUpperCase(), ...base64];
};

const filesIn = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );

const leaks = (dir: string, texts: Iterable<string>): readonly string[] => {
  const bytes = filesIn(dir).map((file) => readFileSync(file).toString("latin1"));
  return [...texts].filter((text) =>
    disguises(text).some((disguise) => bytes.some((content) => content.includes(disguise))),
  );
};

describe("A live session", () => {
  const isTaken = (event: Event): boolean =>
    event.type === "order.changed" && event.strategy === "taker" && event.phase === "filled";
  const isLost = (event: Event): boolean => event.type === "action.answered" && event.outcome === "unknown";

  it("replays to the same requests without a network, becomes a fixture, and holds no secret", async () => {
    const { dir, config, sent } = await recordLive(
      [joinBest({ instId: swap, keepWithin: "20", notional: "300" }), taker({ apiToken: token })],
      (events) => events.some(isTaken) && placed(events) > 3,
    );
    const report = await replaySession(readSession(dir), config);
    expect(report).toMatchObject({ divergence: undefined, changed: [], notes: [] });
    expect(report.commands).toBeGreaterThan(5);
    const text = linesOf(dir).join("\n");
    for (const part of [
      '"endpoint":"placeOrder"',
      '"endpoint":"cancelBatch"',
      '"stream":"pushes main","value"',
      '"phase":"filled"',
      '"key":"trade"',
      '"re":"leave"',
    ]) {
      expect(text).toContain(part);
    }
    expect(ensureMarket(readSession(dir))?.rows).toBeGreaterThan(1);
    // Signatures among them, as the service received them.
    expect(sent.size).toBeGreaterThan(5);
    expect([...sent]).toContain(secrets.passphrase);
    expect(leaks(dir, [...Object.values(secrets), token, ...sent])).toEqual([]);
    expect(leaks(dir, ["join-best"])).toEqual(["join-best"]);
    const other = await replaySession(readSession(dir), {
      ...config,
      strategies: [config.strategies[0], taker({ side: "sell" })],
    });
    expect(other.divergence?.fields).toContainEqual({ path: "body.side", recorded: "buy", replayed: "sell" });
    const backtested = await runBacktest({
      service: backtest({ fixture: dir, latency: constant(1) }),
      strategies: config.strategies,
    });
    expect(backtested.orders.placed).toBeGreaterThan(0);
  });

  it("replays what a faulty wire did to it", async () => {
    const faults: FaultPlan = {
      http: [
        { kind: "drop_response", endpoint: "placeOrder", share: 0.5 },
        { kind: "html", endpoint: "getOrder", count: 1 },
      ],
      socket: [{ kind: "close", channel: "orders", count: 1 }],
    } as FaultPlan;
    const { dir, config } = await recordLive(
      [joinBest({ instId: swap, keepWithin: "5", notional: "300" })],
      (events) => events.some(isLost) && placed(events) > 1,
      faults,
    );
    expect(linesOf(dir).join("\n")).toContain('"in":"failure"');
    expect(await replaySession(readSession(dir), config)).toMatchObject({ divergence: undefined, notes: [] });
  });

  it("says what its start waits for, and replays that too", async () => {
    const faults = { http: [{ kind: "drop_response", endpoint: "instruments", count: 1 }] } as FaultPlan;
    const { dir, config } = await recordLive(
      [joinBest({ instId: swap, notional: "300" })],
      (events) => placed(events) > 0,
      faults,
    );
    expect(linesOf(dir).join("\n")).toMatch(/"type":"start\.waiting","reason":"[^"]* does not answer/);
    expect(await replaySession(readSession(dir), config)).toMatchObject({ divergence: undefined, notes: [] });
  });

  it("shows a changed pace of the same strategy as a divergence", async () => {
    const paced = (ms: number): Strategy =>
      defineStrategy({
        name: "paced",
        options: { type: "object", additionalProperties: false, properties: {} },
        wanted: ({ market }) =>
          market.quotes(swap).pipe(
            map(({ at }) => [
              {
                slot: "one",
                instId: swap,
                side: "buy" as const,
                px: String(50_000 + (Math.floor(at / ms) % 997)),
                qty: "0.01",
              },
            ]),
          ),
      })({});
    const { dir, config } = await recordLive([paced(200)], (events) => placed(events) > 2);
    expect((await replaySession(readSession(dir), config)).divergence).toBeUndefined();
    const other = await replaySession(readSession(dir), { ...config, strategies: [paced(130)] });
    expect(other.divergence).toBeDefined();
  });
});
