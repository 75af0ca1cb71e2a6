/** Accounts that are set up for what a dialect does not trade: told at the start, and no order leaves. */
import { describe, expect, it, onTestFinished } from "vitest";
import type { FaultPlan } from "../../../plugins/venue-server/server/fault-plan.ts";
import type { OpenLive } from "../../../src/client/live/live-service.ts";
import { instId, traded } from "./harness/dialect-trading.ts";

const patience = { timeout: 20_000, interval: 5 };
const bodies = {
  okx: { code: "0", msg: "", data: [{ posMode: "long_short_mode", acctLv: "2" }] },
  blofin: { code: "0", msg: "success", data: { positionMode: "long_short_mode" } },
} as const;

const run = async (name: keyof typeof bodies, faults: FaultPlan = {}) => {
  const t = await traded(name, onTestFinished, faults);
  t.quote(599_990, 600_010);
  await t.engine.start();
  t.wanted$.next([{ slot: "bid", instId, side: "buy", px: "59000", qty: "0.01" }]);
  return t;
};

describe.each(["okx", "blofin"] as const)("An account of two sides at %s", (name) => {
  it("is told once, with what to do, and no order leaves", async () => {
    // The account is asked about before its positions.
    const t = await run(name, {
      http: [{ kind: "json", endpoint: "positions", count: 1, status: 200, body: bodies[name] }],
    });
    const refused = () => t.events.flatMap((event) => (event.type === "order.refused" ? [event.reason] : []));
    await expect
      .poll(() => refused().join(), patience)
      .toMatch(/main: the account keeps two sides .* Switch it to the net mode/);
    const { anomalies } = t.engine.service as OpenLive;
    expect(anomalies.get("account.setup")).toBe(1);
    expect(t.orders()).toEqual([]);
  });

  it("is none where the exchange says net, or does not answer", async () => {
    const unread = { kind: "html", endpoint: "positions", count: 1, status: 502 } as const;
    for (const http of [[], [unread]]) {
      const t = await run(name, { http });
      await expect.poll(() => t.orders().map(({ state }) => state), patience).toEqual(["live"]);
      expect((t.engine.service as OpenLive).anomalies.has("account.setup")).toBe(false);
    }
  });
});
