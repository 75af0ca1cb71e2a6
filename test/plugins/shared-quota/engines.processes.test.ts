/**
 * Two engines on one user, each with a key of its own, that share one quota by a real Redis, against the embedded
 * service over loopback.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  concat,
  filter,
  firstValueFrom,
  ignoreElements,
  NEVER,
  of,
  ReplaySubject,
  switchMap,
  take,
  tap,
  timeout,
} from "rxjs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { recordEngine } from "../../../plugins/session/recorded-engine.ts";
import { replaySession } from "../../../plugins/session/replayer.ts";
import { createSessionFile, readSession } from "../../../plugins/session/session-file.ts";
import sharedQuota from "../../../plugins/shared-quota/index.ts";
import { startVenueServer, type VenueServer } from "../../../plugins/venue-server/server/server.ts";
import { main } from "../../../src/cli/main.ts";
import { live } from "../../../src/client/live/live-service.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { createEngine, defineStrategy, type Engine, type Event } from "../../../src/index.ts";
import { createRandom } from "../../../src/random.ts";
import { createVenue } from "../../../src/venue/venue.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { redisServer, startRedis } from "../../support/harness/redis.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const instId = "BTC-USDT-SWAP";
const permissions = ["read", "trade_futures", "trade_spot"];
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const serve = async (): Promise<VenueServer & { readonly resting: () => number }> => {
  const contract = createContract();
  const keys = ["ann-1", "ann-2"].map((name) => ({ name, permissions }));
  const venue = createVenue({
    contract,
    instruments: [{ instId, tickSize: "0.1", lotSize: "0.001" }],
    users: [{ uid: "ann", keys, balances: { USDT: "100000" } }],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  const server = await startVenueServer({
    venue,
    contract,
    clock: createSystemClock(),
    random: createRandom("server"),
    keys: keys.map(({ name }) => ({
      apiKey: name,
      secretKey: `${name} secret`,
      passphrase: `${name} phrase`,
      uid: "ann",
      permissions,
    })),
  });
  closing.push(() => server.close());
  const at = createSystemClock().now();
  venue.quote(instId, 999_990, 1_000, 1_000_010, 1_000, at);
  server.board.ticker({ instId, last: "100000", bidPx: "99999", bidSz: "1", askPx: "100001", askSz: "1", at });
  return { ...server, resting: () => venue.truth("ann").orders.filter(({ state }) => state === "live").length };
};

const wanted = ["90000", "89000", "88000"].map(
  (px) => ({ slot: px, instId, side: "buy", ordType: "post_only", px, notional: "1000" }) as const,
);

/** Wants the same three bids to the end. */
const bids = defineStrategy({
  name: "bids",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: ({ market }) =>
    market.quotes(instId).pipe(
      take(1),
      switchMap(() => concat(of(wanted), NEVER)),
    ),
});

type Member = { readonly name?: string; readonly share?: number; readonly of?: number };

const start = async (server: VenueServer, key: string, store: string, member: Member = {}, config: object = {}) => {
  const events = new ReplaySubject<Event>();
  const credentials = createCredentials({ apiKey: key, secretKey: `${key} secret`, passphrase: `${key} phrase` });
  const engine: Engine = createEngine({
    service: live({ environment: "testnet", baseUrl: server.url, keys: [{ credentials }] }),
    instance: key,
    strategies: [bids({})],
    plugins: [sharedQuota({ store, group: "desk", of: 2, ...member })],
    ...config,
  });
  engine.events$.subscribe(events);
  closing.push(() => engine.stop());
  await engine.start();
  const when = (what: (event: Event) => boolean): Promise<Event> =>
    firstValueFrom(events.pipe(filter(what), timeout(60_000)));
  return { engine, when, events };
};

const cli = async (...argv: readonly string[]): Promise<string> => {
  const io = capturedIo();
  const code = await main(argv, io);
  expect(io.errText).toBe("");
  expect(code).toBe(0);
  return io.outText;
};

describe.skipIf(redisServer === undefined)(
  `Engines that share one quota${redisServer === undefined ? " (no redis-server here)" : ""}`,
  () => {
    it("hold parts of the same windows, are never refused, and halt and resume together", async () => {
      const redis = await startRedis();
      closing.push(() => redis.stop());
      const server = await serve();
      const engines = [await start(server, "ann-1", redis.url), await start(server, "ann-2", redis.url)];
      await Promise.all(
        engines.map(({ when }) =>
          when((event) => event.type === "order.changed" && event.phase === "live" && event.slot === "88000"),
        ),
      );
      expect(server.resting()).toBe(6);

      const shown = await cli("quota", redis.url, "--group", "desk");
      expect(shown).toContain("Group desk trades.");
      expect(shown).toMatch(/^uid:\w+ {2}window \d+ {2}.*ann-1 \d+/m);
      expect(shown).toMatch(/^uid:\w+ {2}window \d+ {2}.*ann-2 \d+/m);

      const folder = temporaryFolder("group");
      const config = join(folder, "desk.mjs");
      const options = { store: redis.url, group: "desk", name: "ann-1", of: 2 };
      const shared = { kind: "plugin", name: "shared-quota", definition: "shared-quota", options };
      const service = { kind: "sample", environment: "testnet", baseUrl: server.url };
      writeFileSync(
        config,
        `export default ${JSON.stringify({ service, strategies: [{ kind: "strategy", name: "none" }], plugins: [shared] })};\n`,
      );
      const examined = await cli("doctor", config, "--shared");
      expect(examined).toContain("ann-2 1 of 2, ann-1 1 of 2: 0 left");
      expect(examined).toContain("maxmemory-policy is noeviction");
      expect(examined).toMatch(/windows of uid:\w+\s+ann-1, ann-2 agree when they begin/);
      expect(examined).not.toContain("differs");

      expect(await cli("halt", "--everywhere", redis.url, "--group", "desk", "--reason", "maintenance")).toContain(
        "is halted: maintenance",
      );
      await Promise.all(
        engines.map(({ when }) =>
          when(
            (event) =>
              event.type === "mode.changed" && event.mode === "halted" && event.reason === "everywhere: maintenance",
          ),
        ),
      );
      for (const price of ["90000", "89000", "88000"])
        await Promise.all(
          engines.map(({ when }) =>
            when((event) => event.type === "order.changed" && event.phase === "canceled" && event.slot === price),
          ),
        );
      expect(server.resting()).toBe(0);

      // One engine does not go on alone, and one that was halted for a reason of its own as well does not go on with
      // the others.
      const [first, second] = engines as [(typeof engines)[0], (typeof engines)[0]];
      expect(() => first.engine.resume("on its own")).toThrow("All engines of the group are halted (maintenance)");
      second.engine.halt("its own reason").subscribe();
      expect(await cli("halt", "--everywhere", redis.url, "--group", "desk", "--resume")).toContain("may trade again");
      await first.when((event) => event.type === "mode.changed" && event.mode === "active");
      await second.when((event) => event.type === "anomaly" && event.what === "group.resumed");
      second.engine.resume("its reason is over");
      await second.when((event) => event.type === "mode.changed" && event.mode === "active");
      for (const { events } of engines) {
        events.complete();
        events.subscribe((event) => expect(event.type).not.toBe("quota.rejected"));
      }
    });

    it("tell an engine that its share does not fit, that another counts on other shares, and that a name is taken", async () => {
      const redis = await startRedis();
      closing.push(() => redis.stop());
      const server = await serve();
      const live = (event: Event): boolean =>
        event.type === "order.changed" && event.phase === "live" && event.slot === "88000";
      const first = await start(server, "ann-1", redis.url);
      await first.when(live);
      await expect(start(server, "ann-2", redis.url, { share: 2 })).rejects.toThrow(
        /ann-1 has 1, and ann-2 asks for 2 of 2 in all\. Set sharedQuota\.of to the sum of all shares/,
      );
      const second = await start(server, "ann-2", redis.url, { of: 3 });
      expect(await second.when((event) => event.type === "anomaly" && event.what === "quota.shares")).toMatchObject({
        detail:
          "ann-1 counts on 2 shares in all, and ann-2 on 3; set the same sharedQuota.of in every engine of the group",
      });
      // Two processes of one name: the younger halts the older, and both say why.
      const younger = await start(server, "ann-2", redis.url, { name: "ann-1" });
      expect(await younger.when((event) => event.type === "anomaly" && event.what === "quota.name")).toMatchObject({
        detail: expect.stringMatching(/^another process reported as ann-1 \d+\.\d s ago and halts now/),
      });
      await first.when(
        (event) =>
          event.type === "mode.changed" &&
          event.mode === "halted" &&
          event.reason === "another process has joined group desk as ann-1",
      );
    });

    it("cost one poller for the state of their user, and see the same", async () => {
      const redis = await startRedis();
      closing.push(() => redis.stop());
      const server = await serve();
      const watching = async (key: string) => {
        const told: string[] = [];
        const watcher = defineStrategy({
          name: "watcher",
          options: { type: "object", additionalProperties: false, properties: {} },
          wanted: ({ account }) =>
            account.balances$.pipe(
              tap(({ value, stale }) =>
                told.push(stale ? "stale" : value.map(({ currency, balance }) => `${balance} ${currency}`).join()),
              ),
              ignoreElements(),
            ),
        });
        const { engine } = await start(
          server,
          key,
          redis.url,
          {},
          { strategies: [watcher({})], freshness: { balancesMs: 1_000 } },
        );
        const asked: Event[] = [];
        engine.events$.subscribe((event) => {
          if (event.type === "action.sent" && event.endpoint === "spotBalance") asked.push(event);
        });
        return { told, asked };
      };
      const engines = [await watching("ann-1"), await watching("ann-2")];
      await vi.waitFor(
        () => expect(Math.min(...engines.map(({ told }) => told.length))).toBeGreaterThanOrEqual(7),
        60_000,
      );
      for (const { told } of engines) expect([...new Set(told)]).toEqual(["100000 USDT"]);
      // Told fourteen times or more, they have asked for little more than half of it.
      const [asked, told] = [
        engines.flatMap((engine) => engine.asked).length,
        engines.flatMap((engine) => engine.told).length,
      ];
      expect(asked).toBeGreaterThan(0);
      expect(asked).toBeLessThanOrEqual((11 / 14) * told);
    });

    it("replay to the same journal from a recorded session, without the store and beside an engine that runs", async () => {
      const redis = await startRedis();
      closing.push(() => redis.stop());
      const server = await serve();
      const other = await start(server, "ann-2", redis.url);
      const watcher = defineStrategy({
        name: "watcher",
        options: { type: "object", additionalProperties: false, properties: {} },
        wanted: ({ account }) => account.balances$.pipe(ignoreElements()),
      });
      const credentials = createCredentials({ apiKey: "ann-1", secretKey: "ann-1 secret", passphrase: "ann-1 phrase" });
      const config = {
        service: live({ environment: "testnet", baseUrl: server.url, keys: [{ credentials }] }),
        instance: "ann-1",
        strategies: [bids({}), watcher({})],
        freshness: { balancesMs: 1_000 },
        plugins: [sharedQuota({ store: redis.url, group: "desk", of: 2 })],
      };
      const dir = join(temporaryFolder("session"), "ann-1");
      const engine = recordEngine(config, (facts) => createSessionFile(dir, facts));
      const journal: Event[] = [];
      engine.events$.subscribe((event) => journal.push(event));
      await engine.start();
      const path = join(dir, "session.ndjson");
      await vi.waitFor(() => {
        expect(journal.filter((event) => event.type === "order.changed" && event.phase === "live")).toHaveLength(3);
        expect(readFileSync(path, "utf8")).toContain('"op":"look"');
      }, 60_000);
      await engine.stop({ cancel: true });
      const text = readFileSync(path, "utf8");
      for (const part of ['"op":"register"', '"op":"claim"', '"op":"look"', '"in":"group"'])
        expect(text).toContain(part);

      const members = async (): Promise<string> => cli("quota", redis.url, "--group", "desk");
      const before = await members();
      expect(await replaySession(readSession(dir), config)).toMatchObject({
        divergence: undefined,
        changed: [],
        notes: [],
      });
      expect((await members()).includes("ann-1 1 of 2")).toBe(before.includes("ann-1 1 of 2"));
      await redis.stop();
      const { divergence, facts } = await replaySession(readSession(dir), config);
      expect(divergence).toBeUndefined();
      expect(facts).toBeGreaterThan(20);
      other.events.complete();
    });
  },
);
