/** Market exits that the service accepted and forgot: asked for soon, and placed again where the account's position shows that nothing was executed. */
import { describe, expect, it } from "vitest";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { type Fault, type Rig, type RigOptions, ready, reply, swap } from "../../support/harness/orders.ts";

const entry: WantedOrder = { slot: "long", instId: swap, side: "buy", px: "60001", qty: "0.01" };
const stopped: WantedOrder = { ...entry, protect: { stopLoss: "59000" } };
const out: WantedOrder = { slot: "out", instId: swap, side: "sell", ordType: "market", qty: "0.01", reduceOnly: true };
const none = { code: "0", msg: "", data: [] };
const unknownHere = reply(200, { code: "51603", msg: "The order does not exist.", data: [] });

const market = (rig: Rig, bidTicks: number, lots = 100_000): void => {
  rig.venue.quote(swap, bidTicks, lots, bidTicks + 1, lots, rig.clock.now());
  rig.setMarketPx(String(bidTicks / 10));
  rig.price(String(bidTicks / 10));
};
const held = (rig: Rig): readonly [account: string, own: string] => [
  rig.venue.truth("ann").positions.find(({ instId }) => instId === swap)?.pos ?? "0",
  rig.orderManager.positions.of("s", swap).qty,
];

/** Long 0.01 at a service that forgets what ended without trading and pushes nothing; nobody buys at the market then. */
const forgetful = (wanted: WantedOrder, options: RigOptions = {}): Rig => {
  const rig = ready({ push: false, profile: { history: { unfilledCanceledVanish: true } }, limits: true, ...options });
  rig.resources.pending.value$.subscribe();
  market(rig, 600_000);
  rig.want(wanted);
  rig.run(3_000);
  expect(held(rig)).toEqual(["0.01", "0.01"]);
  return rig;
};

describe.each([
  ["A stop", stopped, (): void => undefined, "long.exit"],
  ["An exit of the strategy", entry, (rig: Rig): void => rig.want(entry, out), "out"],
] as const)("%s that the service accepted and forgot", (_, wanted, leave, slot) => {
  const begun = (options?: RigOptions): Rig => {
    const rig = forgetful(wanted, options);
    const before = rig.places().length;
    market(rig, 590_000, 0);
    leave(rig);
    rig.run(200);
    expect(rig.places()).toHaveLength(before + 1);
    return rig;
  };

  it("is proved absent within 22 seconds and placed again, as the account holds what it should have closed", () => {
    const rig = begun();
    market(rig, 590_000);
    rig.run(22_000);
    expect(rig.phases(slot).slice(0, 4)).toEqual(["sent", "acked", "absent", "sent"]);
    expect(held(rig)[0]).toBe("0");
    rig.run(5_000);
    expect(held(rig)[1]).toBe("0");
    expect(rig.journalled("position.unprotected")).toMatchObject([
      { slot, qty: "0.01", reason: "the service forgot it" },
    ]);
    expect(rig.journalled("position.protected").length).toBeGreaterThan(0);
  });

  it.each([
    ["are not told", reply(503, { code: "50003", msg: "Unavailable.", data: [] })],
    ["are told in words that cannot be read", reply(200, { code: "0", msg: "", data: [{ instId: swap }] })],
    ["show less than strategies hold", reply(200, none)],
  ])("is not placed again while the account's positions %s", (__, fault) => {
    let isFaulty = true;
    const rig = begun({ fault: ({ endpoint }) => (isFaulty && endpoint === "positions" ? fault : undefined) });
    market(rig, 590_000);
    rig.run(180_000);
    expect(rig.phases(slot).at(-1)).toBe("absent");
    expect(held(rig)).toEqual(["0.01", "0.01"]);
    // A minute apart in the end; the gateway repeats a read that was not answered.
    expect(rig.count("positions")).toBeLessThan(25);
    isFaulty = false;
    rig.run(61_000);
    expect(held(rig)).toEqual(["0", "0"]);
  });

  it("is not placed again where it was executed", () => {
    let isBlind = false;
    const rig = forgetful(wanted, {
      fault: ({ endpoint }): Fault | undefined => {
        if (isBlind && endpoint === "getOrder") return unknownHere;
        return isBlind && ["pendingOrders", "orderHistory"].includes(endpoint) ? reply(200, none) : undefined;
      },
    });
    isBlind = true;
    const before = rig.places().length;
    market(rig, 590_000);
    leave(rig);
    rig.run(300_000);
    expect(held(rig)).toEqual(["0", "0.01"]);
    expect(rig.phases(slot).at(-1)).toBe("absent");
    expect(rig.places()).toHaveLength(before + 1);
  });
});
