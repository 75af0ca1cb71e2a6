/** The recorder on a service over loopback whose connection is lost on the way. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it, vi } from "vitest";
import { readIndex } from "../../../plugins/session/segment-seal.ts";
import { startVenueServer, type VenueServer } from "../../../plugins/venue-server/server/server.ts";
import { main } from "../../../src/cli/main.ts";
import { createSystemClock } from "../../../src/clock/system-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { readFixture } from "../../../src/market/tape/fixture.ts";
import { createRandom } from "../../../src/random.ts";
import { createVenue } from "../../../src/venue/venue.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const instId = "BTC-USDT-SWAP";
const folder = temporaryFolder("recorder-live");
const config = fileURLToPath(new URL("../../../config/testnet.ts", import.meta.url));
const permissions = ["read", "trade_futures"];

afterEach(() => {
  vi.unstubAllEnvs();
});

const serve = (port?: number): Promise<VenueServer> => {
  const contract = createContract();
  const venue = createVenue({
    contract,
    instruments: [{ instId, tickSize: "0.1", lotSize: "0.001" }],
    users: [{ uid: "ann", keys: [{ name: "ann", permissions }], balances: { USDT: "100000" } }],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  const key = { apiKey: "ann", secretKey: "ann secret", passphrase: "ann phrase", uid: "ann", permissions };
  const clock = createSystemClock();
  return startVenueServer({
    venue,
    contract,
    clock,
    random: createRandom("server"),
    keys: [key],
    ...(port !== undefined && { port }),
  });
};

describe("The recorder of a service over a network", () => {
  it("keeps every quote that it was sent, and marks the time in which its connection was lost", async () => {
    let server = await serve();
    vi.stubEnv("SLUICE_BASE_URL", server.url);
    vi.stubEnv("SLUICE_API_KEY", "ann");
    vi.stubEnv("SLUICE_SECRET_KEY", "ann secret");
    vi.stubEnv("SLUICE_PASSPHRASE", "ann phrase");
    let count = 0;
    /** Each quote is ten ticks above the one before. */
    const tick = setInterval(() => {
      const bidPx = String(50_000 + count++);
      server.board.ticker({
        instId,
        last: bidPx,
        bidPx,
        bidSz: "1.5",
        askPx: `${bidPx}.1`,
        askSz: "0.025",
        at: createSystemClock().now(),
      });
    }, 40);
    const io = capturedIo({ isTty: true });
    const out = join(folder, "recording");
    const recording = main(["recorder", config, "--instruments", instId, "--streams", "quotes", "--out", out], io);
    /** Rows that it says it has, as soon as they are more than `least`. */
    const rowsAbove = (least: number): Promise<number> =>
      vi.waitFor(() => {
        const rows = Number([...io.errText.matchAll(/: (\d+) rows, 0 fixtures/g)].at(-1)?.[1]);
        expect(rows).toBeGreaterThan(least);
        return rows;
      }, 60_000);
    const rows = await rowsAbove(10);
    const lostAt = Date.now();
    const port = Number(new URL(server.url).port);
    await server.close();
    server = await serve(port);
    // More than can have been on its way.
    await rowsAbove(rows + 50);
    io.stop();
    expect(await recording).toBe(0);
    clearInterval(tick);
    await server.close();

    const [segment] = readIndex(out);
    expect(segment?.gaps).toHaveLength(1);
    const [gap] = segment?.gaps ?? [];
    expect(gap).toMatchObject({ stream: `quotes ${instId}`, why: expect.stringMatching(/^socket\.lost: /) });
    expect(gap?.from).toBeLessThanOrEqual(lostAt + 200);
    expect(gap?.to).toBeGreaterThan(lostAt);
    const { tape } = readFixture(join(out, segment?.fixture ?? ""));
    const [quotes] = tape.series;
    if (quotes?.kind !== "quote") throw new Error("no quotes");
    const inside = Array.from(quotes.at).filter((at) => at > (gap?.from ?? 0) + 1 && at < (gap?.to ?? 0) - 1);
    expect(inside).toEqual([]);
    // Prices count ticks of 0.1, sizes lots of 0.001.
    const steps = Array.from(quotes.bidPx, (px, row) => px - (quotes.bidPx[row - 1] ?? px - 10));
    expect(steps.filter((step) => step !== 10)).toHaveLength(1);
    expect(
      Array.from(quotes.askPx, (px, row) => px - (quotes.bidPx[row] as number)).every((spread) => spread === 1),
    ).toBe(true);
    expect(new Set(quotes.bidQty)).toEqual(new Set([1_500]));
    expect(new Set(quotes.askQty)).toEqual(new Set([25]));
    expect(Math.abs((quotes.at[0] ?? 0) - Date.now())).toBeLessThan(60_000);
  });
});
