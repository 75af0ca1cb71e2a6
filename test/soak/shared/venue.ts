/**
 * Embedded service of the soak, in a process of its own: one user with a key for each engine, and a line for each minute of its clock.
 *
 * Invariants: counts by the service's own rate limiter; the first line tells where it is and its keys.
 *
 *   npx tsx test/soak/shared/venue.ts [keys=5]
 */
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { createRandom } from "../../../src/random.ts";
import { startVenueServer } from "../../../src/venue/server/server.ts";
import { createVenue, type Venue } from "../../../src/venue/venue.ts";

const [count = 5] = process.argv.slice(2).map(Number);
const instId = "BTC-USDT-SWAP";
const permissions = ["read", "trade_futures", "trade_spot"];
const minuteMs = 60_000;
const contract = createContract();
const names = Array.from({ length: count }, (_, index) => `key-${index}`);
const say = (what: unknown): void => void process.stdout.write(`${JSON.stringify(what)}\n`);

const venue = createVenue({
  contract,
  instruments: [{ instId, tickSize: "0.1", lotSize: "0.001" }],
  users: [{ uid: "desk", keys: names.map((name) => ({ name, permissions })), balances: { USDT: "100000000" } }],
  fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
  enforceLimits: true,
});

let minute = Number.NaN;
let before = venue.meterReport();
/** Tells what the minute before was used for, as soon as another has begun. */
const turn = (now: number): void => {
  const current = Math.floor(now / minuteMs);
  if (current === minute) return;
  const after = venue.meterReport();
  const { refused } = after;
  if (!Number.isNaN(minute))
    say({
      minute,
      weight: after.weight - before.weight,
      refused: { ip: refused.ip - before.refused.ip, key: refused.key - before.refused.key, uid: refused.uid - before.refused.uid },
    });
  minute = current;
  before = after;
};
const counted: Venue = {
  ...venue,
  handle: (request, now) => {
    turn(now);
    return venue.handle(request, now);
  },
};

const clock = createSystemClock();
const keys = names.map((name) => ({ apiKey: name, secretKey: `${name} secret`, passphrase: `${name} phrase`, uid: "desk", permissions }));
const server = await startVenueServer({ venue: counted, contract, clock, random: createRandom("soak"), keys });
const at = clock.wallNow();
venue.quote(instId, 999_990, 1_000, 1_000_010, 1_000, at);
server.board.ticker({ instId, last: "100000", bidPx: "99999", bidSz: "1", askPx: "100001", askSz: "1", at });
say({ url: server.url, keys });
process.once("SIGTERM", () => {
  void server.close().then(() => process.exit(0));
});
