/**
 * What a stranger does first: the demo, and the demo on a recording of their own. Recordings are not part of the project: name
 * SLUICE_RECORDINGS where they are not in the usual place.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { RunReport } from "../../src/backtest.ts";
import { folder, root, sluice } from "../support/harness/cli-process.ts";

const decimal = /^-?\d+(\.\d+)?$/;

describe("The demo backtest", () => {
  it("prints its report as one JSON document, every field filled", async () => {
    const { code, out, err } = await sluice(["backtest", "config/backtest.ts", "--json"], root);
    expect(code).toBe(0);
    expect(err).toMatch(/uid [#.]{10} \d+\/1200/);
    const report = JSON.parse(out) as RunReport;
    const text = (pattern: RegExp): unknown => expect.stringMatching(pattern);
    const count: unknown = expect.any(Number);
    expect(report).toMatchObject({
      resultHash: text(/^[0-9a-f]{64}$/),
      fixture: {
        name: "test/fixtures/demo",
        contentHash: text(/^[0-9a-f]{64}$/),
        rows: 39_997,
        startAt: text(/Z$/),
        endAt: text(/Z$/),
      },
      seed: "1",
      events: count,
      virtualMs: count,
      wallMs: count,
      orders: { placed: count, canceled: count, filled: count, rejected: count, refused: 0 },
      fills: count,
      volume: text(decimal),
      pnl: text(decimal),
      fees: text(decimal),
      currency: "USDT",
      quota: {
        limits: true,
        requests: count,
        weight: count,
        rejected429: 0,
        blockedMinutes: 0,
        perLayerPeak: { ip: count, key: count, uid: count },
      },
      latency: { cancel: { count, p50: count, p99: count }, place: { count, p50: count, p99: count } },
      drawdown: { max: text(decimal), maxPercent: text(decimal) },
    });
    expect(Object.keys(report.perStrategy)).toEqual(["join-best", "ladder", "average-cross"]);
    expect(report.equity.length).toBeGreaterThan(100);
    expect(report.assumptions.length).toBeGreaterThan(5);
  });

  it("is a page for people without --json", async () => {
    const { code, out } = await sluice(["backtest", "config/backtest.ts"], root);
    expect(code).toBe(0);
    expect(out).toContain("Backtest of test/fixtures/demo");
    expect(out).toContain("join-best");
  });
});

const recordings = process.env["SLUICE_RECORDINGS"] ?? fileURLToPath(new URL("../../../shared/data", import.meta.url));
const files = recordings !== "" && existsSync(recordings) ? readdirSync(recordings) : [];
const kinds: readonly (readonly [kind: string, pattern: RegExp, instId: string])[] = [
  ["perpetual", /perp_\d{8}\.txt\.gz$/, "BTC-USDT-SWAP"],
  ["spot", /spot_\d{8}\.txt\.gz$/, "BTC-USDT"],
  ["bars", /1m_\d+\.csv\.gz$/, "BTC-USD-SWAP"],
];

describe("An imported recording", () => {
  for (const [kind, pattern, instId] of kinds) {
    const name = files.find((entry) => pattern.test(entry));
    if (name === undefined)
      console.log(`skipped: no recording of kind "${kind}"; name its folder in SLUICE_RECORDINGS`);
    it.runIf(name)(`of kind ${kind} is imported and traded within the limits`, async () => {
      expect(
        await sluice(["import", join(recordings, name ?? ""), "--out", kind, "--instrument", instId]),
      ).toMatchObject({ code: 0 });
      const { code, out, err } = await sluice(
        ["backtest", "config/backtest.ts", "--fixture", join(folder, kind), "--json"],
        root,
      );
      expect(err).not.toMatch(/^error/m);
      expect(code).toBe(0);
      const { quota, orders } = JSON.parse(out) as RunReport;
      expect(quota.rejected429).toBe(0);
      expect(orders.filled).toBeGreaterThan(0);
    });
  }
});
