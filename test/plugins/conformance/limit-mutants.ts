/**
 * Services that count wrongly: in their layers, in their weights, in what they tell of both.
 */
import type { VenueOptions } from "../../../src/venue/venue.ts";
import type { Defect } from "./harness/conformance.ts";
import {
  answers,
  both,
  header,
  holding,
  invented,
  type Mutant,
  mutant,
  slow,
  tooMany,
  weighing,
} from "./harness/service-defects.ts";

const minuteOf = (now: number): number => Math.floor(now / 60_000);

/** Changes answers to Ann by what the service refused for the user's weight, and when. */
const aroundBlock = (change: (blockedAt: number, now: number) => "free" | "refused" | undefined): Defect => ({
  wrap: (handle, venue) => {
    let blocks = 0;
    let blockedAt = Number.NEGATIVE_INFINITY;
    return (request, now) => {
      const response = handle(request, now);
      const { blockedMinutes } = venue.meterReport();
      if (blockedMinutes > blocks) blockedAt = now;
      blocks = blockedMinutes;
      const verdict = request.key?.startsWith("ann") === true ? change(blockedAt, now) : undefined;
      if (verdict === "free" && response.status === 429) return invented();
      return verdict === "refused" ? tooMany() : response;
    };
  },
});

/** The same for the layers of key and address: told apart by the meter's own count. */
const aroundRefusal = (
  layer: "key" | "ip",
  change: (refusedAt: number, now: number, key: string | undefined) => "free" | "refused" | undefined,
): Defect => ({
  wrap: (handle, venue) => {
    let refusals = 0;
    let refusedAt = Number.NEGATIVE_INFINITY;
    return (request, now) => {
      const response = handle(request, now);
      const count = venue.meterReport().refused[layer];
      if (count > refusals) refusedAt = now;
      refusals = count;
      const verdict = change(refusedAt, now, request.key);
      if (verdict === "free" && response.status === 429) return invented();
      return verdict === "refused" ? tooMany() : response;
    };
  },
});

const moved =
  (from: string, uid: string) =>
  ({ users }: VenueOptions): Partial<VenueOptions> => {
    const key = users.flatMap(({ keys }) => keys).find(({ name }) => name === from);
    const rest = users.map((user) => ({ ...user, keys: user.keys.filter(({ name }) => name !== from) }));
    const known = rest.some((user) => user.uid === uid) ? rest : [...rest, { uid, keys: [], balances: {} }];
    return {
      users: known.map((user) =>
        user.uid === uid && key !== undefined ? { ...user, keys: [...user.keys, key] } : user,
      ),
    };
  };

const limited = (change: Parameters<typeof answers>[0]): Defect =>
  answers((response, request, now) => (response.status === 429 ? change(response, request, now) : response));

export const limitMutants: readonly Mutant[] = [
  slow(
    "beyond a limit the answer is 503",
    limited((response) => ({ ...response, status: 503 })),
    "7.2-status",
  ),
  slow(
    "beyond a limit the answer is 200 with a code",
    limited((response) => ({ ...response, status: 200 })),
    "7.2-status",
  ),
  mutant("the refusal waits for the window", { delay: ({ status }) => (status === 429 ? 2_500 : 0) }, "7.2-immediate"),
  mutant(
    "a key is refused one late",
    both(
      holding("key", 11),
      header("keyRemaining", (left) => left - 1),
    ),
    "8.1-key",
  ),
  mutant(
    "a key is refused one early",
    both(
      holding("key", 9),
      header("keyRemaining", (left) => left + 1),
    ),
    "8.1-key",
  ),
  mutant("a key is never refused", holding("key", 1_000_000), "8.1-key", "8.4-key", "8.4-key-fresh"),
  mutant(
    "a key stays refused",
    aroundRefusal("key", (at, now, key) =>
      key === "ann-1" && now - at > 1_000 && now - at < 5_000 ? "refused" : undefined,
    ),
    "8.1-key-later",
  ),
  mutant(
    "a key's limit holds the other key",
    aroundRefusal("key", (at, now, key) => (key === "ann-2" && now - at < 900 ? "refused" : undefined)),
    "8.1-key-alone",
  ),
  slow("a user is refused one call late", holding("uid", 1205), "8.1-uid"),
  slow("a user is refused one call early", holding("uid", 1195), "8.1-uid"),
  slow(
    "a blocked user is freed early",
    aroundBlock((at, now) => (minuteOf(at) === minuteOf(now) && now - at > 5_000 ? "free" : undefined)),
    "8.1-uid-blocked",
  ),
  slow(
    "a blocked user is freed just before the minute ends",
    aroundBlock((at, now) => (minuteOf(at) === minuteOf(now) && now % 60_000 > 55_000 ? "free" : undefined)),
    "8.1-uid-blocked",
  ),
  slow(
    "only the call that exceeds is refused",
    aroundBlock((at, now) => (minuteOf(at) === minuteOf(now) && now > at ? "free" : undefined)),
    "8.1-uid-blocked",
    "8.1-uid-keys",
  ),
  slow(
    "a blocked user stays blocked",
    aroundBlock((at, now) => (minuteOf(now) === minuteOf(at) + 1 ? "refused" : undefined)),
    "8.1-uid-free",
  ),
  slow("the quota is each key's own", { venue: moved("ann-2", "ann-too") }, "5-shared", "8.1-uid-keys"),
  slow("another user is blocked too", { venue: moved("bob-1", "ann") }, "8.1-uid-others"),
  slow(
    "an address is refused one late",
    both(
      holding("ip", 1201),
      header("ipRemaining", (left) => left - 1),
    ),
    "8.1-ip",
  ),
  slow(
    "an address is refused one early",
    both(
      holding("ip", 1199),
      header("ipRemaining", (left) => left + 1),
    ),
    "8.1-ip",
  ),
  slow(
    "a key lets through a refused address",
    aroundRefusal("ip", (at, now, key) => (key !== undefined && minuteOf(at) === minuteOf(now) ? "free" : undefined)),
    "8.1-ip-signed",
  ),
  slow(
    "a refused address stays refused",
    aroundRefusal("ip", (at, now) => (minuteOf(now) === minuteOf(at) + 1 ? "refused" : undefined)),
    "8.1-ip-free",
  ),
  slow(
    "requests without a key do not count for the address",
    {
      wrap: (handle) => (request, now) =>
        handle(request.key === undefined ? { ...request, ip: "2.2.2.2" } : request, now),
    },
    "8.1-ip-signed",
    "8.4-ip-unsigned",
  ),
  mutant("instruments weighs 1", weighing("instruments", 1), "8.1-weight-instruments"),
  mutant("positions weighs 4", weighing("positions", 4), "8.1-weight-positions"),
  mutant("placing weighs 11", weighing("placeOrder", 11), "8.1-weight-placeOrder"),
  mutant("cancelling weighs 10", weighing("cancelBatch", 10), "8.1-weight-cancelBatch"),
  mutant("closing weighs 5", weighing("closePosition", 5), "8.1-weight-closePosition"),
  mutant("leverage weighs 10", weighing("setLeverage", 10), "8.1-weight-setLeverage"),
  mutant("the balance weighs 6", weighing("spotBalance", 6), "5-shared", "8.1-weight-spotBalance"),
  mutant(
    "the header shows 11 after placing",
    header("uidUsed", (used, { method, path }) =>
      method === "POST" && path.endsWith("trade/order") ? used + 1 : used,
    ),
    "8.1-weight-placeOrder",
  ),
  mutant(
    "the address's header is missing",
    header("ipRemaining", () => undefined),
    "8.4-ip",
  ),
  mutant(
    "the key's header is missing",
    header("keyRemaining", () => undefined),
    "8.4-key",
  ),
  mutant(
    "the user's header is missing",
    header("uidUsed", () => undefined),
    "8.4-uid",
  ),
  mutant(
    "the user's header is missing on batches",
    header("uidUsed", (used, { path }) => (path.endsWith("cancel-batch-orders") ? undefined : used)),
    "8.4-uid",
  ),
  mutant(
    "the address's header stands still",
    header("ipRemaining", () => 1_000),
    "8.4-ip-falls",
    "8.4-ip-unsigned",
  ),
  mutant(
    "the address's header falls by two",
    header("ipRemaining", (left) => Math.max(0, left - (1_199 - left))),
    "8.4-ip-falls",
    "8.4-ip-unsigned",
  ),
  slow(
    "the address's header is one too low",
    header("ipRemaining", (left) => Math.max(0, left - 1)),
    "8.4-ip-fresh",
  ),
  mutant(
    "the key's header stands still",
    header("keyRemaining", () => 9),
    "8.4-key-falls",
  ),
  mutant(
    "the key's header is one too low",
    header("keyRemaining", (left) => Math.max(0, left - 1)),
    "8.4-key-fresh",
  ),
  slow(
    "the user's header never begins anew",
    header("uidUsed", (used) => used + 1),
    "8.4-uid-fresh",
  ),
  slow(
    "the user's header stands still",
    header("uidUsed", () => 100),
    "5-shared",
    ...["instruments", "spotBalance", "positions", "placeOrder", "cancelBatch"].map((name) => `8.1-weight-${name}`),
    "8.4-uid-fresh",
  ),
];
