/**
 * Hours of live trading over loopback on a clock that is turned, and the heap after each span: after the first spans its peaks stay
 * level. Peaks, as the journal keeps the ids of orders that ended until its next segment, of some eight thousand orders, begins.
 *
 * The engine and the embedded exchange are in this process and share a virtual clock; between them are real requests, real sockets and
 * a journal on this machine's disk. The clock is turned in small steps, with some turns of the event loop after each, so that what is
 * on its way arrives a few steps later: the way takes some hundred milliseconds of that clock on any machine. The exchange keeps few
 * completed orders, so that what still grows is a leak of the client, the journal or the server.
 *
 *   node --expose-gc --import tsx test/soak/live-heap.ts [spans=36] [minutes of a span=10] [orders kept=300] [spans before the
 *   peaks count=24] [KiB they may grow after them=512]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { createCredentials, createEngine, live } from "sluice";
import { startVenueServer } from "../../plugins/venue-server/server/server.ts";
import { replayMarket } from "../../src/backtest/serve/market-replay.ts";
import { createVirtualClock } from "../../src/clock/virtual-clock.ts";
import { createContract } from "../../src/contract/contract.ts";
import { generateTape, instrumentFor } from "../../src/market/tape/generate.ts";
import { createRandom } from "../../src/random.ts";
import { createVenue } from "../../src/venue/venue.ts";
import joinBest from "../../strategies/join-best.ts";
import ladder from "../../strategies/ladder.ts";
import { heapKiB } from "./heap.ts";

const [spans = 36, minutes = 10, ordersMax = 300, warmSpans = 24, limitKiB = 512] = process.argv.slice(2).map(Number);
const spanMs = minutes * 60_000;
const stepMs = 100;
const turnsPerStep = 8;
const startAt = 1_704_067_200_000;

const clock = createVirtualClock(startAt);
const history = { history: { ordersMax } };
const contract = createContract(history);
const tape = generateTape({ seed: "live-heap", instruments: [instrumentFor("BTC-USDT-SWAP")], minutes: 60, startAt });
const key = { apiKey: "soak-api-key-1", secretKey: "soak secret of a key", passphrase: "soak passphrase" };
const permissions = ["read", "trade_futures", "trade_spot"];
const fees = { makerBps: "2", takerBps: "5" };
const venue = createVenue({
  contract,
  instruments: tape.instruments,
  users: [{ uid: "main", keys: [{ name: key.apiKey, permissions }], balances: { USDT: "100000" } }],
  fees: { SPOT: fees, SWAP: fees },
  enforceLimits: true,
});
const server = await startVenueServer({
  venue,
  contract,
  clock,
  random: createRandom("live-heap"),
  keys: [{ ...key, uid: "main", permissions }],
});
const market = replayMarket(tape, venue, server.board, server.faults.clock, { loop: true });
const dir = mkdtempSync(join(tmpdir(), "sluice-live-heap-"));
const engine = createEngine({
  service: live({
    environment: "testnet",
    baseUrl: server.url,
    wsUrl: server.wsUrl,
    keys: [{ credentials: createCredentials(key) }],
    clock,
  }),
  profile: history,
  journal: { dir },
  strategies: [
    joinBest({ notional: "200", keepWithin: "80", most: 2 }),
    ladder({ levels: 10, notional: "100", step: "0.0002" }),
  ],
});
let ended = 0;
engine.log.on(["order.changed"], ({ phase }) => {
  if (phase === "filled" || phase === "canceled") ended++;
});

const playTo = async (at: number): Promise<void> => {
  while (clock.now() < at) {
    clock.advanceTo(Math.min(at, clock.now() + stepMs));
    for (let count = 0; count < turnsPerStep; count++) await turn();
  }
};

/** Turns the clock until a promise has settled: what it waits for may be a timer. */
const untilSettled = async (promise: Promise<unknown>): Promise<void> => {
  let isOver = false;
  const settled = promise.finally(() => {
    isOver = true;
  });
  while (!isOver) await playTo(clock.now() + stepMs);
  await settled;
};
const heaps: number[] = [];
await engine.load();
await untilSettled(engine.start());
const from = clock.now();
for (let span = 1; span <= spans; span++) {
  await playTo(from + span * spanMs);
  heaps.push(heapKiB());
  process.stderr.write(`span ${span} of ${spans}: ${ended} orders ended, ${Math.round(heaps.at(-1) ?? 0)} KiB\n`);
}
await untilSettled(engine.stop());
market.stop();
await server.close();
rmSync(dir, { recursive: true, force: true });

const warm = Math.min(heaps.length - 1, Math.max(1, warmSpans));
const grownKiB = warm < 1 ? 0 : Math.max(...heaps.slice(warm)) - Math.max(...heaps.slice(0, warm));
const result = {
  spans,
  minutes,
  ordersMax,
  ended,
  heapsKiB: heaps.map(Math.round),
  grownKiB: Math.round(grownKiB),
  limitKiB,
};
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(grownKiB <= limitKiB ? 0 : 1);
