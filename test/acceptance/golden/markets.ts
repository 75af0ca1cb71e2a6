/**
 * The markets of the golden results: the demo, and slices of real recordings where they lie beside the checkout.
 *
 * Recordings are not part of the project: name their folder in SLUICE_RECORDINGS where it is not the usual one.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hashOfRows, readFixture } from "../../../src/market/tape/fixture.ts";
import { readRecording } from "../../../plugins/import/read-recording.ts";
import type { ReadMarket } from "../../../src/backtest.ts";
import { cutTape } from "../../../src/market/cut-tape.ts";

export interface GoldenMarket {
  readonly name: string;
  /** Length of the bars that strategies ask for. */
  readonly barMs: number;
  /** How far the market moves: the steps of a ladder, and how near a quote stays to the best price. */
  readonly step: string;
  readonly keepWithin: string;
  /** Undefined when its recording is not there. */
  readonly read: () => Promise<ReadMarket | undefined>;
}

const recordings = process.env["SLUICE_RECORDINGS"] ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url));
const files = recordings !== "" && existsSync(recordings) ? readdirSync(recordings) : [];

/** The first seconds of a market. Short, because everybody waits for them at every change. */
const first = (name: string, whole: ReadMarket["tape"], seconds: number): ReadMarket => {
  const tape = cutTape(whole, { fromAt: whole.startAt, toAt: whole.startAt + seconds * 1_000 });
  return { tape, facts: { name, contentHash: hashOfRows(tape) } };
};

const recorded =
  (name: string, pattern: RegExp, instrument: string, seconds: number): GoldenMarket["read"] =>
  async () => {
    const file = files.find((one) => pattern.test(one));
    return file === undefined ? undefined : first(name, (await readRecording({ file: join(recordings, file), instrument })).tape, seconds);
  };

const demo = async (): Promise<ReadMarket> => first("demo", readFixture(fileURLToPath(new URL("../../fixtures/demo", import.meta.url))).tape, 1_200);

export const markets: readonly GoldenMarket[] = [
  { name: "demo", barMs: 15_000, step: "0.0004", keepWithin: "80", read: demo },
  {
    name: "perpetual",
    barMs: 1_000,
    step: "0.0001",
    keepWithin: "5",
    read: recorded("perpetual", /perp_\d+\.txt\.gz$/, "BTC-USDT-SWAP", 30),
  },
  { name: "spot", barMs: 1_000, step: "0.0001", keepWithin: "5", read: recorded("spot", /spot_\d+\.txt\.gz$/, "BTC-USDT", 60) },
  { name: "bars", barMs: 60_000, step: "0.001", keepWithin: "5", read: recorded("bars", /1m_\d+\.csv\.gz$/, "BTC-USD-SWAP", 14_400) },
];
