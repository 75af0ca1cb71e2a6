/**
 * Embedded service of the soak, in a process of its own: a key for each engine, and a line for each minute of its clock.
 *
 * Invariants: counts by the service's own rate limiter; the first line tells where it is and its keys.
 * Not here: the same by other means (plain-service.mjs).
 *
 *   npx tsx test/soak/shared/venue.ts [keys=5] [one|each: users] [requests of the address a minute=1200]
 */

import { startVenueServer } from "../../../plugins/venue-server/server/server.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { createRandom } from "../../../src/random.ts";
import { createVenue, type Venue } from "../../../src/venue/venue.ts";

const [count = "5", users = "one", requests = "1200"] = process.argv.slice(2);
const instId = "BTC-USDT-SWAP";
const permissions = ["read", "trade_futures", "trade_spot"];
const minuteMs = 60_000;
const contract = createContract();
const names = Array.from({ length: Number(count) }, (_, index) => `key-${index}`);
const uidOf = (name: string): string => (users === "each" ? `user-of-${name}` : "desk");
const say = (what: unknown): void => void process.stdout.write(`${JSON.stringify(what)}\n`);

const venue = createVenue({
  contract,
  instruments: [{ instId, tickSize: "0.1", lotSize: "0.001" }],
  users: [...new Set(names.map(uidOf))].map((uid) => ({
    uid,
    keys: names.filter((name) => uidOf(name) === uid).map((name) => ({ name, permissions })),
    balances: { USDT: "100000000" },
  })),
  fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
  enforceLimits: true,
});
venue.setCapacity("ip", Number(requests));

/** Placements of the minute by key, and client order ids that came twice. */
let orders: Record<string, number> = {};
let twice = 0;
const ids = new Set<string>();
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
      requests: after.requests - before.requests,
      orders,
      twice,
      refused: {
        ip: refused.ip - before.refused.ip,
        key: refused.key - before.refused.key,
        uid: refused.uid - before.refused.uid,
      },
    });
  minute = current;
  before = after;
  orders = {};
  twice = 0;
};
const note = (key: string, clOrdId: string): void => {
  orders[key] = (orders[key] ?? 0) + 1;
  if (ids.has(clOrdId)) twice++;
  ids.add(clOrdId);
};
const counted: Venue = {
  ...venue,
  handle: (request, now) => {
    turn(now);
    const answer = venue.handle(request, now);
    const { method, path, key = "", body } = request;
    if (method === "POST" && path.endsWith("/trade/order") && answer.status !== 429)
      note(key, (body as { readonly clOrdId?: string } | undefined)?.clOrdId ?? "");
    return answer;
  },
};

const clock = createSystemClock();
const keys = names.map((name) => ({
  apiKey: name,
  secretKey: `${name} secret`,
  passphrase: `${name} phrase`,
  uid: uidOf(name),
  permissions,
}));
const server = await startVenueServer({ venue: counted, contract, clock, random: createRandom("soak"), keys });
const at = clock.wallNow();
venue.quote(instId, 999_990, 1_000, 1_000_010, 1_000, at);
server.board.ticker({ instId, last: "100000", bidPx: "99999", bidSz: "1", askPx: "100001", askSz: "1", at });
say({ url: server.url, keys });
process.once("SIGTERM", () => {
  void server.close().then(() => process.exit(0));
});
