/**
 * The embedded service on a port in another exchange's words, with the keys of one user in a file, on a clock that hurries.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "vitest";
import { blofinExchange } from "../../../../plugins/exchanges/blofin-exchange.ts";
import { okxExchange } from "../../../../plugins/exchanges/okx-exchange.ts";
import { servedDialects } from "../../../../plugins/exchanges/served/served-dialects.ts";
import type { FaultPlan } from "../../../../plugins/venue-server/server/fault-plan.ts";
import {
  describedService,
  type ServedDialect,
  servedContract,
} from "../../../../plugins/venue-server/server/served-dialect.ts";
import { startVenueServer } from "../../../../plugins/venue-server/server/server.ts";
import type { Dialect } from "../../../../src/client/transport/dialect.ts";
import { createRandom } from "../../../../src/random.ts";
import { createVenue } from "../../../../src/venue/venue.ts";
import { hastyClock } from "../../../support/harness/hasty-clock.ts";
import { everything } from "../../../support/harness/venue.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { contracts } from "./served.ts";

/** The two sides of a wire; the described service is a dialect that changes nothing. */
export const bothSides: Readonly<Record<string, { readonly served: ServedDialect; readonly client: Dialect }>> = {
  described: { served: describedService, client: { name: "described" } },
  okx: { served: servedDialects["okx-demo"], client: okxExchange.dialect("testnet") },
  blofin: { served: servedDialects.blofin, client: blofinExchange.dialect("testnet") },
};

export const dialectService = async (
  name: string,
  onTestFinished: TestContext["onTestFinished"],
  { times = 1, faults = {} }: { readonly times?: number; readonly faults?: FaultPlan } = {},
) => {
  const { served, client } = bothSides[name] as (typeof bothSides)[string];
  const contract = servedContract(served);
  const permissions: Readonly<Record<string, readonly string[]>> = {
    "ann-1": everything,
    "ann-2": everything,
    "ann-read": ["read"],
  };
  const keys = Object.entries(permissions).map(([apiKey, granted]) => {
    const secrets = { apiKey, secretKey: `${apiKey} secret`, passphrase: `${apiKey} phrase` };
    return { ...secrets, uid: "ann", permissions: granted };
  });
  const venue = createVenue({
    contract,
    instruments: contracts,
    users: [
      {
        uid: "ann",
        keys: keys.map(({ apiKey, permissions: of }) => ({ name: apiKey, permissions: of })),
        balances: { USDT: "100000" },
      },
    ],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  const clock = hastyClock(times);
  const server = await startVenueServer({
    venue,
    contract,
    clock,
    random: createRandom("server"),
    dialect: served,
    keys,
    faults,
  });
  onTestFinished(() => server.close());
  venue.quote("BTC-USDT-SWAP", 599_990, 100_000, 600_010, 100_000, clock.now());
  venue.quote("BTC-USDT", 599_990, 100_000, 600_010, 100_000, clock.now());
  venue.quote("ETH-USDT-SWAP", 300_000, 100_000, 300_001, 100_000, clock.now());
  const keysFile = join(temporaryFolder("dialect"), "keys.json");
  writeFileSync(keysFile, JSON.stringify({ keys }));
  /** Tells best prices, over and over, to whoever listens when. */
  const quotes = (instId: string, bidPx: string, askPx: string): void => {
    const tell = (): void => {
      server.board.ticker({ instId, last: bidPx, bidPx, bidSz: "1", askPx, askSz: "1", at: clock.now() });
      again = clock.setTimer(clock.now() + 500, tell);
    };
    let again = clock.setTimer(clock.now(), tell);
    onTestFinished(() => again.cancel());
  };
  return { venue, server, quotes, clock, url: server.url, keys, keysFile, dialect: client, contract };
};
