/**
 * Queues that orders join in a real recording, beside a fusion of its quotes and book changes written here once more from its text.
 * The recording is not part of the project: name its folder in SLUICE_RECORDINGS where it is not the usual one.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readRecording } from "../../../plugins/import/read-recording.ts";
import { rowTakers } from "../../../src/backtest/row-dispatch.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Order, Sign } from "../../../src/venue/account.ts";
import { createBook, level, quote, remove, rest } from "../../../src/venue/matching-engine.ts";
import { leftOf } from "../../../src/venue/order.ts";
import type { Venue } from "../../../src/venue/venue.ts";

const folder = process.env["SLUICE_RECORDINGS"] ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url));
const file =
  folder === "" || !existsSync(folder)
    ? undefined
    : readdirSync(folder).find((name) => /perp_\d+\.txt\.gz$/.test(name));
if (file === undefined) console.log('skipped: no recording of kind "perpetual"; name its folder in SLUICE_RECORDINGS');

type Pair = readonly [px: string, qty: string];
interface Told {
  readonly e?: string;
  readonly u: number;
  readonly lastUpdateId?: number;
  readonly b: string & readonly Pair[];
  readonly B: string;
  readonly a: string & readonly Pair[];
  readonly A: string;
  readonly bids: readonly Pair[];
  readonly asks: readonly Pair[];
}

/** One side: prices from the worst to the best, in the exchange's text as numbers. */
const createSide = (sign: Sign) => {
  const prices: number[] = [];
  const qtys = new Map<number, number>();
  let best = Number.NaN;
  const set = (px: number, qty: number): void => {
    const known = qtys.has(px);
    if (qty > 0) qtys.set(px, qty);
    else qtys.delete(px);
    if (known === qty > 0) return;
    let slot = prices.length;
    while (slot > 0 && sign * (prices[slot - 1] as number) >= sign * px) slot--;
    if (known) prices.splice(slot, 1);
    else prices.splice(slot, 0, px);
  };
  return {
    qtyAt: (px: number): number => qtys.get(px) ?? 0,
    quoted: (px: number, qty: number): void => {
      while (prices.length > 0 && sign * (prices.at(-1) as number) > sign * px) set(prices.at(-1) as number, 0);
      set(px, qty);
      best = px;
    },
    /** A level of a message that may be older than the latest quote: then it says nothing from the best price on. */
    changed: (px: number, qty: number, isOlder: boolean): void => {
      if (!isOlder || sign * px < sign * best) set(px, qty);
    },
  };
};

const createFusion = () => {
  const [bids, asks] = [createSide(1), createSide(-1)];
  let snapshotId = 0;
  let quoteId = 0;
  const held: Told[] = [];
  const change = (id: number, b: readonly Pair[], a: readonly Pair[]): void => {
    for (const [px, qty] of b) bids.changed(Number(px), Number(qty), id < quoteId);
    for (const [px, qty] of a) asks.changed(Number(px), Number(qty), id < quoteId);
  };
  const changed = (told: Told): void => {
    if (told.u > snapshotId) change(told.u, told.b, told.a);
  };
  return {
    qtyAt: (sign: Sign, px: number): number => (sign === 1 ? bids : asks).qtyAt(px),
    /** Before a whole book was told nobody knows what is behind the best prices. */
    get known() {
      return snapshotId > 0;
    },
    take: (told: Told): void => {
      if (told.e === "bookTicker") {
        quoteId = told.u;
        bids.quoted(Number(told.b), Number(told.B));
        asks.quoted(Number(told.a), Number(told.A));
      } else if (told.e === "depthUpdate" && snapshotId === 0) held.push(told);
      else if (told.e === "depthUpdate") changed(told);
      else if (told.lastUpdateId !== undefined && snapshotId === 0) {
        snapshotId = told.lastUpdateId;
        change(snapshotId, told.bids, told.asks);
        held.forEach(changed);
      }
    },
  };
};

/** Messages in the order in which they were received, to the microsecond. */
const messagesOf = (text: string): readonly Told[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => ({ at: line.slice(0, 16), text: line.slice(20) }))
    .sort((a, b) => Number(a.at) - Number(b.at))
    .map((line) => JSON.parse(line.text) as { data?: Told } & Told)
    .map((message) => message.data ?? message);

/** The service's book, played from the imported rows one quote after the other. */
const createPlayed = async (path: string) => {
  const { tape } = await readRecording({ file: path, instrument: "BTC-USDT-SWAP" });
  const book = createBook(() => undefined, leftOf);
  const venue = {
    quote: (_: string, ...row: readonly [number, number, number, number, number]) => {
      quote(book, ...row);
    },
    level: (_: string, side: string, ...row: readonly [number, number, number]) => {
      level(book, side === "buy" ? 1 : -1, ...row);
    },
    trade: () => undefined,
  } as unknown as Venue;
  const takers = rowTakers(tape, venue, createVirtualClock(0), 0);
  let next = 0;
  return {
    /** Up to the next quote. */
    play: (): void => {
      for (let kind = ""; kind !== "quote"; next++) {
        const which = tape.order.series[next] as number;
        takers[which]?.(tape.order.row[next] as number, 0);
        kind = tape.series[which]?.kind ?? "quote";
      }
    },
    aheadAt: (sign: Sign, px: number): number => {
      const order = { sign, px, lots: 1, done: 0, state: "live", ahead: 0, behind: 0 } as unknown as Order;
      rest(book, order);
      remove(book, order);
      return order.ahead;
    },
  };
};

describe("Orders that join a recorded market", () => {
  it.runIf(file)("queue behind what was displayed last, at the best price and behind it", async () => {
    const path = join(folder, file ?? "");
    const fusion = createFusion();
    const served = await createPlayed(path);
    let best = "";
    let joins = 0;
    const wrong: string[] = [];
    for (const told of messagesOf(gunzipSync(readFileSync(path)).toString("utf8"))) {
      fusion.take(told);
      if (told.e !== "bookTicker") continue;
      served.play();
      const now = `${told.b} ${told.a}`;
      if (now === best || !fusion.known) continue;
      best = now;
      for (const [sign, px] of [
        [1, told.b],
        [-1, told.a],
      ] as const) {
        for (let ticks = 0; ticks < 5; ticks++) {
          const joined = Math.round(Number(px) * 10) - sign * ticks;
          const expected = Math.round(fusion.qtyAt(sign, joined / 10) * 1_000);
          const found = served.aheadAt(sign, joined);
          joins++;
          if (found !== expected) wrong.push(`${sign} ${joined}: ${found} instead of ${expected}`);
        }
      }
    }
    expect(joins).toBeGreaterThan(10_000);
    expect({ joins, wrong: wrong.length, first: wrong.slice(0, 5) }).toEqual({ joins, wrong: 0, first: [] });
  });
});
