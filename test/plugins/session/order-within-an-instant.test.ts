/** The order of one instant over real sockets: the market first, then the orders it filled. */
import { afterEach, describe, expect, it } from "vitest";
import { recordEngine } from "../../../plugins/session/recorded-engine.ts";
import { replaySession } from "../../../plugins/session/replayer.ts";
import { createSessionFile, readSession } from "../../../plugins/session/session-file.ts";
import { startVenueServer } from "../../../plugins/venue-server/server/server.ts";
import { replayMarket } from "../../../src/backtest/serve/market-replay.ts";
import { constant, createTape, paper } from "../../../src/backtest.ts";
import { live } from "../../../src/client/live/live-service.ts";
import { createCredentials } from "../../../src/client/transport/secrets.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { seriesOf } from "../../../src/market/tape/tape.ts";
import { createRandom } from "../../../src/random.ts";
import { createVenue } from "../../../src/venue/venue.ts";
import { btc, quoteTape, startAt, stored, swap } from "../../support/harness/backtest.ts";
import { witness } from "../../support/harness/recording-strategy.ts";
import { keys, rig, subscribed } from "../venue-server/harness/sockets.ts";
import { newFolder, record, replayed } from "./harness/session.ts";

/** A trade takes part of the bid that rests, and the quote of the same instant the rest of it. */
const { series } = quoteTape([
  [0, 600_000, 5_000, 600_010, 5_000],
  [1, 599_900, 5_000, 600_000, 5_000],
]);
const columns = [[-1], [599_990], [1]].map((values) => Float64Array.from(values));
const tape = createTape([btc], [...series, seriesOf("trade", 0, Float64Array.of(startAt + 1), columns)]);

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const one of undo.splice(0).reverse()) await one();
});

const permissions = ["read", "trade_futures", "trade_spot"];
const secrets = { apiKey: "key", secretKey: "secret", passphrase: "phrase" } as const;
const fees = { makerBps: "2", takerBps: "5" };

/** Plays the second row when `ready` resolves. */
const serve = async () => {
  const contract = createContract();
  const clock = createSystemClock();
  const venue = createVenue({
    contract,
    instruments: tape.instruments,
    users: [{ uid: "main", keys: [{ name: secrets.apiKey, permissions }], balances: { USDT: "100000" } }],
    fees: { SPOT: fees, SWAP: fees },
    enforceLimits: true,
  });
  const server = await startVenueServer({
    venue,
    contract,
    clock,
    random: createRandom(1),
    keys: [{ ...secrets, uid: "main", permissions }],
  });
  undo.push(() => server.close());
  const playing = createVirtualClock(clock.now());
  const market = replayMarket(tape, venue, server.board, playing);
  undo.push(() => market.stop());
  return { server, next: () => playing.advanceTo(clock.now() + 1) };
};

/** Resolves once `holds`; the bound is only there to end a test that cannot pass. */
const until = async (holds: () => boolean): Promise<void> => {
  const givenUpAt = performance.now() + 20_000;
  while (!holds()) {
    if (performance.now() > givenUpAt) throw new Error("it never held");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

describe("Within one instant over the network,", () => {
  it("the service shows the market before it pushes the orders that it filled", async () => {
    const { member, venue, board, clock, placed } = await rig();
    const ann = await member(keys.ann);
    await subscribed(ann, { channel: "orders" }, { channel: "positions" }, { channel: "trades", instId: swap });
    await subscribed(ann, { channel: "tickers", instId: swap }, { channel: "books", instId: swap });
    const market = replayMarket(createTape([btc], [...tape.series]), venue, board, clock);
    placed({ px: "60000", sz: "600" });
    await ann.rest();
    clock.advanceTo(clock.now() + 1);
    expect((await ann.rest()).map(({ event }) => event)).toEqual(["tickers", "trades", "books", "orders", "positions"]);
    market.stop();
  });

  it("a live strategy sees the quote before the fill, and its replay does", async () => {
    const { server, next } = await serve();
    const credentials = createCredentials(secrets);
    const service = live({
      environment: "testnet",
      baseUrl: server.url,
      wsUrl: server.wsUrl,
      keys: [{ name: "key", permissions, credentials }],
    });
    const log: string[] = [];
    const config = { service, strategies: [witness(log)] };
    const dir = newFolder();
    const engine = recordEngine(config, (facts) => createSessionFile(dir, facts));
    undo.push(() => engine.stop());
    let phase = "";
    engine.on("order.live", () => {
      phase = "live";
    });
    await engine.start();
    await until(() => phase === "live");
    next();
    await until(() => log.some((line) => line.startsWith("filled")));
    await engine.stop({ cancel: true });
    // Trades come on a channel of their own, which the service acknowledges when it does.
    const seen = log.filter((line) => !line.startsWith("trade"));
    expect(seen.slice(0, 3)).toEqual(["quote 60000", "quote 59990", "filled at 60000 with the bid at 59990"]);
    const told = log.splice(0);
    expect(await replaySession(readSession(dir), config)).toMatchObject({ divergence: undefined });
    expect(log).toEqual(told);
  });
});

describe("Within one instant on paper,", () => {
  /** The ask falls onto the bid that rests: the quote at 1000 fills it. */
  const crossing = quoteTape([
    [0, 600_000, 5_000, 600_010, 5_000],
    [1_000, 599_900, 5_000, 600_000, 5_000],
    [3_000, 599_900, 5_000, 600_000, 5_000],
  ]);
  const seen = ["quote 60000", "quote 59990", "filled at 60000 with the bid at 59990", "quote 59990"];

  it("the engine and its replay tell the same order", async () => {
    const log: string[] = [];
    const dir = stored(crossing);
    const recording = await record([witness(log)], { ms: 6_000, paper: { fixture: dir, latency: constant(10) } });
    expect(log).toEqual(seen);
    log.length = 0;
    expect(await replayed(recording, { service: paper({ fixture: dir }) })).toMatchObject({ divergence: undefined });
    expect(log).toEqual(seen);
  });
});
