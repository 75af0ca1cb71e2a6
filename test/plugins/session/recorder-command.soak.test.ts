import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import type { SealedSegment } from "../../../plugins/session/segment-seal.ts";
import { main } from "../../../src/cli/main.ts";
import { capturedIo } from "../../support/captured-io.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const folder = temporaryFolder("recorder");
const source = fileURLToPath(new URL("../../..", import.meta.url));
const config = join(source, "config/paper.ts");
const out = join(folder, "recording");

const sluice = async (...argv: readonly string[]) => {
  const io = capturedIo();
  return { code: await main(argv, io), out: io.outText, err: io.errText };
};

describe("sluice recorder", () => {
  let segments: readonly SealedSegment[] = [];
  beforeAll(async () => {
    const told = await sluice(
      "recorder",
      config,
      "--instruments",
      "*-SWAP",
      "--every",
      "2s",
      "--out",
      out,
      "--seconds",
      "5",
      "--json",
    );
    expect(told.err).toMatch(/^\d+ rows, \d fixtures, 0 gaps in .*recording\. List them with: sluice data ls /m);
    expect(told.code).toBe(0);
    segments = told.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as SealedSegment);
  });

  it("leaves fixtures one after the other, of all instruments that were named, and nothing of its config's orders", async () => {
    expect(segments.length).toBeGreaterThanOrEqual(2);
    expect(readdirSync(out).sort()).toEqual([...segments.map(({ fixture }) => fixture), "segments.ndjson"].sort());
    for (const [index, { from, to, contentHash }] of segments.entries()) {
      expect(to).toBeGreaterThan(from);
      expect(Math.abs(from - (segments[index - 1]?.to ?? from))).toBeLessThanOrEqual(1);
      expect(contentHash).toMatch(/^[0-9a-f]{64}$/);
    }
    const listed = await sluice("data", "ls", out, "--json");
    expect(listed.code).toBe(0);
    for (const { fixture } of segments) expect(listed.out).toContain(fixture);
    expect(listed.out).toContain("ETH-USDT-SWAP");
  });

  it("can be joined to one market, which a backtest replays", async () => {
    const whole = join(folder, "whole");
    const merged = await sluice("data", "merge", ...segments.map(({ fixture }) => join(out, fixture)), "--out", whole);
    expect(merged.err + merged.out).toContain("rows");
    expect(merged.code).toBe(0);
    const rows = segments.reduce((sum, segment) => sum + segment.rows, 0);
    expect(merged.out + merged.err).toContain(String(rows));
    const backtest = await sluice("backtest", join(source, "config/backtest.ts"), "--fixture", whole, "--json");
    expect(JSON.parse(backtest.out)).toHaveProperty("resultHash");
  });

  it.each([
    [["recorder", config], /--out is missing/],
    [["recorder", config, "--out", "x"], /--instruments is missing/],
    [["recorder", config, "--out", "x", "--streams", "trades,news"], /"news" is none of trades, quotes, books/],
    [["recorder", config, "--out", "x", "--every", "1w"], /such as 90s, 15m, 1h or 30d/],
    [
      ["recorder", config, "--out", join(folder, "none"), "--instruments", "BTC-USDT-SWOP"],
      /lists nothing spelled "BTC-USDT-SWOP"\. Did you mean/,
    ],
  ])("refuses %j in words", async (argv, words) => {
    const { code, err } = await sluice(...argv);
    expect(err).toMatch(words);
    expect(code).not.toBe(0);
  });

  it("does not record into a place that is a file", async () => {
    const place = join(folder, "file");
    writeFileSync(place, "");
    const { code, err } = await sluice("recorder", config, "--out", place, "--instruments", "*", "--seconds", "5");
    expect(err).toContain(place);
    expect(code).not.toBe(0);
  });
});
