/**
 * The three layers as the description tells them, and what it leaves open about them, asked from outside.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { RateLimiter } from "../../../src/venue/rate-limiter.ts";
import { type Reply, setting, swap } from "../../support/harness/venue.ts";

const minute = 60_000;
const start = 28_000_000 * minute;

const strict = (profile: ProfileOverrides = {}) => setting(profile, { enforceLimits: true });

const wirePlace = { instId: swap, side: "buy", ordType: "limit", px: "1000", sz: "10" };
const used = (reply: Reply): number => Number(reply.headers["x-ratelimit-uid-weight-used"]);

/** Uses up `weight` of Ann's minute (a multiple of 5) from `at` on, as fast as her key allows. */
const burn = ({ read }: ReturnType<typeof setting>, weight: number, at: number, key = "ann-1"): void => {
  for (let call = 0; call < weight / 5; call++) {
    const reply = read("asset/spot", {}, { key, ip: "9.9.9.9", at: at + Math.floor(call / 10) * 1000 });
    if (reply.status !== 200) throw new Error(`call ${call}: ${reply.status}`);
  }
};

describe("Section 8.1: the key layer", () => {
  it("grants ten requests a second per key, then answers 429 at once until the next second begins", () => {
    const { read } = strict();
    const statuses = Array.from({ length: 11 }, () => read("asset/spot", {}, { at: start + 990 }).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
    expect(read("asset/spot", {}, { at: start + 999 })).toMatchObject({
      status: 429,
      body: { code: "50011", data: [] },
    });
    expect(read("asset/spot", {}, { at: start + 1000 }).status).toBe(200);
  });

  it("counts each key for itself", () => {
    const { read } = strict();
    for (let call = 0; call < 10; call++) read("asset/spot", {}, { at: start });
    expect(read("asset/spot", {}, { at: start, key: "ann-2" }).status).toBe(200);
  });
});

describe("Section 8.1: the user layer", () => {
  it("adds each endpoint's weight", () => {
    const { read, write, placed } = strict();
    const calls: readonly (readonly [number, () => Reply])[] = [
      [2, () => read("common/instruments", {}, { at: start })],
      [5, () => read("asset/spot", {}, { at: start })],
      [5, () => read("account/positions", {}, { at: start })],
      [5, () => read("trade/orders/pending", {}, { at: start })],
      [5, () => read("trade/orders/history", {}, { at: start })],
      [5, () => read("trade/order", { ordId: "1" }, { at: start })],
      [10, () => write("trade/order", wirePlace, { at: start })],
      [10, () => write("trade/close-position", { instId: swap }, { at: start })],
      [15, () => write("trade/cancel-batch-orders", [{ instId: swap, ordId: "1" }], { at: start })],
      [5, () => write("account/set-leverage", { instId: swap, lever: "5" }, { at: start })],
    ];
    let sum = 0;
    for (const [weight, call] of calls) {
      sum += weight;
      expect(used(call())).toBe(sum);
    }
    expect(placed({ px: "1000" }, { at: start + 1000 })).toMatch(/^\d+$/);
  });

  it("grants exactly 1200 and blocks every key of the user until the next minute begins", () => {
    const it = strict();
    burn(it, 1195, start);
    expect(used(it.read("asset/spot", {}, { at: start + 30_000 }))).toBe(1200);
    expect(it.read("asset/spot", {}, { at: start + 30_001 }).status).toBe(429);
    expect(it.read("common/instruments", {}, { at: start + 59_999, key: "ann-2" }).status).toBe(429);
    expect(used(it.read("asset/spot", {}, { at: start + 60_000, key: "ann-2" }))).toBe(5);
  });

  it("stays blocked after a call that was too heavy, even for a call that would have fitted", () => {
    const it = strict();
    burn(it, 1190, start);
    expect(it.write("trade/cancel-batch-orders", [{ instId: swap, ordId: "1" }], { at: start + 30_000 }).status).toBe(
      429,
    );
    expect(it.read("asset/spot", {}, { at: start + 30_001 }).status).toBe(429);
  });

  it("is shared by the keys of one user and not by users", () => {
    const it = strict();
    it.read("asset/spot", {}, { at: start });
    expect(used(it.read("asset/spot", {}, { at: start, key: "ann-2" }))).toBe(10);
    expect(used(it.read("asset/spot", {}, { at: start, key: "bob-1" }))).toBe(5);
  });

  it("is spent by other programs of the user too, and overspent by them", () => {
    const it = strict();
    it.venue.spendElsewhere("ann", 600, start);
    expect(used(it.read("asset/spot", {}, { at: start + 1 }))).toBe(605);
    it.venue.spendElsewhere("ann", 600, start + 2);
    expect(it.read("asset/spot", {}, { at: start + 3 }).status).toBe(429);
    expect(it.read("asset/spot", {}, { at: start + 3, key: "bob-1" }).status).toBe(200);
    expect(used(it.read("asset/spot", {}, { at: start + minute }))).toBe(5);
  });

  it("does nothing that was refused", () => {
    const it = strict();
    it.venue.spendElsewhere("ann", 1200, start);
    expect(it.write("trade/order", wirePlace, { at: start + 1 }).status).toBe(429);
    expect(it.venue.truth("ann").orders).toEqual([]);
  });
});

describe("Section 8.1: the address layer", () => {
  it("grants 1200 requests a minute over all keys, users and unauthenticated calls of an address", () => {
    const { read } = strict();
    const callers = [undefined, "nobody", "ann-1", "bob-1"];
    const statuses = Array.from({ length: 1200 }, (_, call) => {
      const reply = read("common/instruments", {}, { key: callers[call % 4], ip: "2.2.2.2", at: start + call * 49 });
      return reply.status;
    });
    expect(statuses.every((status) => status === 200)).toBe(true);
    expect(read("common/instruments", {}, { key: undefined, ip: "2.2.2.2", at: start + 59_000 }).status).toBe(429);
    expect(read("common/instruments", {}, { key: undefined, ip: "3.3.3.3", at: start + 59_000 }).status).toBe(200);
    expect(read("common/instruments", {}, { key: undefined, ip: "2.2.2.2", at: start + 60_000 }).status).toBe(200);
  });

  it("counts requests that never find an endpoint or a user", () => {
    const { read } = strict();
    read("no/such/path", {}, { at: start, key: undefined });
    read("asset/spot", {}, { at: start, key: "nobody" });
    expect(read("common/instruments", {}, { at: start, key: undefined }).headers["x-ratelimit-ip-remaining"]).toBe(
      "1197",
    );
  });
});

describe("Section 8.4: the headers", () => {
  it("tell what remains of the address and the key, and what the user has used", () => {
    const { read } = strict();
    read("asset/spot", {}, { at: start });
    const { headers } = read("common/instruments", {}, { at: start + 500 });
    expect(headers).toEqual({
      date: new Date(start).toUTCString(),
      "x-ratelimit-ip-remaining": "1198",
      "x-ratelimit-key-remaining": "8",
      "x-ratelimit-uid-weight-used": "7",
    });
    expect(read("common/instruments", {}, { at: start + 1000 }).headers["x-ratelimit-key-remaining"]).toBe("9");
  });

  it("tell an unauthenticated caller about the address only", () => {
    const { headers } = setting().read("common/instruments", {}, { key: undefined });
    expect(Object.keys(headers)).toEqual(["date", "x-ratelimit-ip-remaining"]);
  });

  it("stand on errors or not, and carry a date or not, as the profile says", () => {
    const bare = setting({ limits: { headersOnError: false, dateHeader: false } });
    expect(bare.read("trade/order").headers).toEqual({});
    expect(Object.keys(bare.read("asset/spot").headers)).toHaveLength(3);
    expect(Object.keys(setting().read("trade/order").headers)).toHaveLength(4);
  });
});

describe("Limits that are not enforced", () => {
  it("refuse nothing and count everything", () => {
    const it = setting();
    for (let call = 0; call < 300; call++) expect(it.read("asset/spot", {}, { at: start }).status).toBe(200);
    expect(used(it.read("asset/spot", {}, { at: start }))).toBe(1505);
    expect(it.venue.meterReport()).toEqual({
      requests: 301,
      weight: 1505,
      refused: { ip: 0, key: 0, uid: 0 },
      blockedMinutes: 0,
      peak: { ip: 301, key: 301, uid: 1505 },
    });
  });
});

describe("The meter's report", () => {
  it("counts requests, granted weight, refusals by layer, blocked minutes and peaks", () => {
    const it = strict();
    for (let call = 0; call < 12; call++) it.read("asset/spot", {}, { at: start });
    it.venue.spendElsewhere("ann", 1150, start + 1000);
    it.read("asset/spot", {}, { at: start + 2000 });
    it.read("asset/spot", {}, { at: start + minute });
    expect(it.venue.meterReport()).toEqual({
      requests: 14,
      weight: 55,
      refused: { ip: 0, key: 2, uid: 1 },
      blockedMinutes: 1,
      peak: { ip: 13, key: 10, uid: 1200 },
    });
  });
});

describe("Gap H5:", () => {
  const remaining = (reply: Reply): string | undefined => reply.headers["x-ratelimit-ip-remaining"];

  it.each([
    ["ip", "1188", 50],
    ["none", "1189", 50],
    ["all", "1188", 55],
  ] as const)("a refused call counts for: %s", (refusedCounts, ipRemaining, weight) => {
    const { read } = strict({ limits: { refusedCounts } });
    for (let call = 0; call < 11; call++) read("asset/spot", {}, { at: start });
    const reply = read("trade/orders/pending", {}, { at: start + 1000 });
    expect([remaining(reply), used(reply)]).toEqual([ipRemaining, weight + 5]);
  });

  it.each([
    ["refused", [429, 429], "1195"],
    ["served", [200, 429], "1205"],
  ] as const)(
    "the call that crosses the limit of the user is %s, and shuts the user",
    (crossingCall, statuses, told) => {
      const venue = strict({ limits: { crossingCall } });
      burn(venue, 1_195, start);
      const crossing = venue.write("trade/order", wirePlace, { at: start + 55_000 });
      const next = venue.read("asset/spot", {}, { at: start + 56_000 });
      expect([crossing.status, next.status]).toEqual(statuses);
      expect(used(next)).toBe(Number(told));
    },
  );

  it.each([
    ["ip", undefined, Number.NaN],
    ["all", "10", 0],
  ] as const)("an unsigned success carries the headers of: %s", (headersWithoutKey, ofKey, weight) => {
    const { read } = strict({ limits: { headersWithoutKey } });
    const reply = read("common/instruments", {}, { at: start, key: undefined });
    expect([remaining(reply), reply.headers["x-ratelimit-key-remaining"]]).toEqual(["1199", ofKey]);
    expect(used(reply)).toEqual(weight);
  });

  it.each([
    ["ip", 1201],
    ["none", 1200],
    ["all", 1201],
  ] as const)("a call the address is refused counts for: %s", (refusedCounts, peak) => {
    const { read, venue } = strict({ limits: { refusedCounts } });
    for (let call = 0; call < 1201; call++) read("common/instruments", {}, { at: start, key: undefined });
    expect(venue.meterReport()).toMatchObject({ refused: { ip: 1 }, peak: { ip: peak } });
  });

  it.each([
    [true, 10],
    [false, 5],
  ])("failed calls count: %s", (failedCounts, weight) => {
    const { read } = strict({ limits: { failedCounts } });
    expect(read("trade/order", {}, { at: start }).status).toBe(400);
    const reply = read("asset/spot", {}, { at: start });
    expect([used(reply), reply.headers["x-ratelimit-key-remaining"], remaining(reply)]).toEqual([
      weight,
      failedCounts ? "8" : "9",
      "1198",
    ]);
  });

  it("windows begin at the first request where the profile says so", () => {
    const { read } = strict({ limits: { anchor: "first_request" } });
    expect(used(read("asset/spot", {}, { at: start + 30_000 }))).toBe(5);
    expect(used(read("asset/spot", {}, { at: start + 89_999 }))).toBe(10);
    expect(used(read("asset/spot", {}, { at: start + 90_000 }))).toBe(5);
    expect(used(read("asset/spot", {}, { at: start + 149_999 }))).toBe(10);
  });

  it("windows slide where the profile says so", () => {
    const { read } = strict({ limits: { anchor: "sliding" } });
    expect(used(read("asset/spot", {}, { at: start + 30_000 }))).toBe(5);
    expect(used(read("asset/spot", {}, { at: start + 80_000 }))).toBe(10);
    expect(used(read("asset/spot", {}, { at: start + 90_000 }))).toBe(10);
    expect(used(read("asset/spot", {}, { at: start + 140_001 }))).toBe(10);
  });

  it("a call without a key is charged to the user last seen at its address where the profile says so", () => {
    const { read } = strict({ instruments: { chargesUserWithoutKey: true } });
    read("asset/spot", {}, { at: start });
    read("common/instruments", {}, { at: start, key: undefined });
    expect(used(read("asset/spot", {}, { at: start }))).toBe(12);
  });

  it("batch cancels cost by element where the profile says so (H12)", () => {
    const { write } = strict({ weights: { perCancelElement: 3 } });
    const elements = [1, 2, 3, 4].map((id) => ({ instId: swap, ordId: String(id) }));
    expect(used(write("trade/cancel-batch-orders", elements, { at: start }))).toBe(27);
  });
});

describe("The meter", () => {
  it("changes a limit at the instant that the profile declares", () => {
    const at = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();
    const changes = [
      { layer: "uid", at: at(120), capacity: 1_000 },
      { layer: "uid", at: at(30), capacity: 20 },
      { layer: "ip", at: at(30), capacity: 2 },
    ] as const;
    const rateLimiter = new RateLimiter(createContract({ limits: { changes } }), true);
    const caller = { ip: "1", key: "a", uid: "u" };
    const spend = (seconds: number, weight: number): boolean =>
      rateLimiter.spend(caller, weight, start + seconds * 1_000);
    expect([spend(1, 21), spend(61, 20), spend(62, 1), spend(121, 1_000), spend(122, 1)]).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    const arrivals = [200, 201, 202].map((seconds) => rateLimiter.arrive("1", caller, 1, start + seconds * 1_000));
    expect(arrivals).toEqual([true, true, false]);
  });

  it("counts what other programs spend against the limit that is declared by then", () => {
    const changes = [{ layer: "uid", at: new Date(start + 30_000).toISOString(), capacity: 2_000 }] as const;
    const rateLimiter = new RateLimiter(createContract({ limits: { changes } }), true);
    rateLimiter.spendElsewhere("u", 1_500, start + 31_000);
    const caller = { ip: "1", key: "a", uid: "u" };
    expect([rateLimiter.spend(caller, 500, start + 31_001), rateLimiter.report().blockedMinutes]).toEqual([true, 0]);
  });

  it("never grants more than a layer holds in one window, and refuses only what would exceed one", () => {
    const call = fc.record({
      gap: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 120 }), fc.integer({ min: 400, max: 61_000 })),
      weight: fc.constantFrom(0, 2, 5, 10, 15, 400),
      key: fc.constantFrom("a", "b"),
    });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 300 }), (calls) => {
        const rateLimiter = new RateLimiter(createContract(), true);
        // The plainest opinion there is: a list of everything granted, summed anew for every call.
        const granted: { readonly at: number; readonly key: string; readonly weight: number }[] = [];
        let at = start;
        let blockedMinute = -1;
        for (const { gap, weight, key } of calls) {
          at += gap;
          const inWindow = (ms: number) => granted.filter((one) => Math.floor(one.at / ms) === Math.floor(at / ms));
          const fitsKey = inWindow(1000).filter((one) => one.key === key).length < 10;
          const fitsUser = inWindow(minute).reduce((sum, one) => sum + one.weight, 0) + weight <= 1200;
          const mute = blockedMinute === Math.floor(at / minute);
          if (fitsKey && !mute && !fitsUser) blockedMinute = Math.floor(at / minute);
          const verdict = rateLimiter.spend({ ip: "1", key, uid: "u" }, weight, at);
          expect(verdict).toBe(fitsKey && !mute && fitsUser);
          if (verdict) granted.push({ at, key, weight });
        }
      }),
      { numRuns: 60 },
    );
  });
});
