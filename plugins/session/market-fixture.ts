/**
 * The market data of a session as an ordinary fixture in the same folder, for backtests.
 *
 * Invariants: rows are what the engine saw, dated by the calendar; steps are those the service listed during the
 * session; the manifest comes last, so that a folder with one is whole; what cannot be kept exactly is counted in the
 * notes.
 * Not here: the format of fixtures (market/tape/fixture.ts).
 */
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type InstrumentRecord, isPositive } from "sluice";
import { createTape, type Tape, writeFixture } from "sluice/backtest";
import { type Contract, createContract } from "sluice/dialect";
import {
  type FixtureManifest,
  type FixtureNote,
  type Grid,
  grid,
  parseResponse,
  readManifest,
  type SeriesBuilder,
  type SeriesKind,
  seriesBuilder,
  type TapeInstrument,
} from "sluice/extension";
import {
  type BookRow,
  type CandleRow,
  checkRow,
  type QuoteRow,
  readName,
  type StreamName,
  spellName,
  type TradeRow,
} from "./market-rows.ts";
import type { Session } from "./session-file.ts";
import type { SessionRecord } from "./session-records.ts";

/**
 * Writes the fixture next to the session, or returns undefined when the session holds no market data that can be kept.
 */
export const writeMarket = (session: Session): FixtureManifest | undefined => {
  const { tape, notes } = marketOf(session);
  if (tape.length === 0) return undefined;
  const draft = mkdtempSync(join(session.name, ".market-"));
  try {
    const source = `recorded session of ${session.header.config || "an engine"} on ${session.header.service}`;
    const manifest = writeFixture(join(draft, "fixture"), tape, { source, notes });
    const files = readdirSync(join(draft, "fixture")).filter((file) => file.endsWith(".bin"));
    for (const file of [...files, "manifest.json"]) renameSync(join(draft, "fixture", file), join(session.name, file));
    return manifest;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
};

/** The manifest of the fixture next to the session; written now where it is missing. */
export const ensureMarket = (session: Session): FixtureManifest | undefined =>
  readdirSync(session.name).includes("manifest.json") ? readManifest(session.name) : writeMarket(session);

/** The market data of a session, and what was lost on the way. */
export const marketOf = (session: Session): { readonly tape: Tape; readonly notes: readonly FixtureNote[] } => {
  const listed = listedIn(session);
  const collector = createCollector(listed);
  let watched = "";
  for (const record of session.records()) {
    if ("out" in record) watched = record.out === "watch" ? record.stream : "";
    else if ("in" in record && record.in === "open") collector.date(record);
    const told = valueIn(record, watched);
    if (told !== undefined) collector.add(told.stream, told.value);
  }
  return collector.finish();
};

/** A value of a stream: as an entry, or as the reply to the first listener. */
const valueIn = (
  record: SessionRecord,
  watched: string,
): { readonly stream: string; readonly value: unknown } | undefined => {
  // Trades are kept for every instrument, whether or not the engine listened to them.
  if ("tape" in record) return { stream: record.tape, value: record.value };
  if ("in" in record) return record.in === "stream" && !record.stream.startsWith("trades ") ? record : undefined;
  return "re" in record && record.re === "value" && watched !== ""
    ? { stream: watched, value: record.value }
    : undefined;
};

/** Instruments that the service listed, the last record of each. */
const listedIn = (session: Session): ReadonlyMap<string, InstrumentRecord> => {
  const contract: Contract = createContract(session.header.profile);
  const asked = new Set<number>();
  const listed = new Map<string, InstrumentRecord>();
  for (const record of session.records()) {
    if ("out" in record && record.out === "request" && record.endpoint === "instruments") asked.add(record.request);
    if (!("in" in record) || record.in !== "answer" || !asked.delete(record.request)) continue;
    const { status, headers, body } = record;
    const outcome = parseResponse<InstrumentRecord>("instruments", { status, headers, body }, contract, record.now);
    if (outcome.kind === "done") for (const one of outcome.records) listed.set(one.instId, one);
  }
  return listed;
};

interface Target {
  readonly tick: Grid;
  readonly lot: Grid;
  readonly builder: SeriesBuilder<SeriesKind>;
  lastAt: number;
  lastRow: string;
}

const seriesKinds = { trades: "trade", quotes: "quote", books: "level", candles: "candle" } as const;

/** Rows of streams, as they are written in sessions and recordings, on their way to a tape. */
export const createCollector = (listed: ReadonlyMap<string, Pick<InstrumentRecord, "tickSize" | "lotSize">>) => {
  const instruments: TapeInstrument[] = [];
  const targets = new Map<string, Target>();
  const lost = new Map<string, number>();
  let offset = 0;
  const lose = (what: string): void => {
    lost.set(what, (lost.get(what) ?? 0) + 1);
  };
  const indexOf = ({ instId }: StreamName): number | undefined => {
    const known = instruments.findIndex((one) => one.instId === instId);
    if (known >= 0) return known;
    const record = listed.get(instId);
    if (record === undefined || !isPositive(record.tickSize) || !isPositive(record.lotSize)) return undefined;
    return instruments.push({ instId, tickSize: record.tickSize, lotSize: record.lotSize }) - 1;
  };
  const targetOf = (name: StreamName): Target | undefined => {
    const key = spellName(name);
    const index = indexOf(name);
    if (targets.has(key) || index === undefined) return targets.get(key);
    const { tickSize, lotSize } = instruments[index] as TapeInstrument;
    const builder = seriesBuilder<SeriesKind>(seriesKinds[name.kind], index, name.grid ?? name.barMs);
    const target: Target = { tick: grid(tickSize), lot: grid(lotSize), builder, lastAt: 0, lastRow: "" };
    targets.set(key, target);
    return target;
  };
  const add = (stream: string, value: unknown): void => {
    const name = readName(stream);
    if (name === undefined) return;
    checkRow(name, value, stream);
    const target = targetOf(name);
    const spelled = JSON.stringify(value);
    // A new listener receives the latest value once more.
    if (target?.lastRow === spelled) return;
    if (target === undefined) lose(`rows of ${name.instId}, which the service did not list`);
    else push(name, target, value, offset, lose);
    if (target !== undefined) target.lastRow = spelled;
  };
  return {
    /** Converts instants of the engine's clock to dates by the calendar at the start of the recording. */
    date: ({ now, wall = now }: { readonly now: number; readonly wall?: number }): void => {
      offset = wall - now;
    },
    add,
    finish: () => {
      const series = [...targets.values()].map(({ builder }) => builder.series()).filter(({ at }) => at.length > 0);
      const notes = [...lost].map(([what, count]) => ({ what, count }));
      return { tape: createTape(instruments, series), notes };
    },
  };
};

type Lose = (what: string) => void;

const push = ({ kind }: StreamName, target: Target, value: unknown, offset: number, lose: Lose): void => {
  const { tick, lot, builder } = target;
  const [told] = value as readonly [number];
  // Whole microseconds are what a fixture keeps.
  const at = Math.max(target.lastAt, Math.round((told + offset) * 1_000) / 1_000);
  target.lastAt = at;
  const px = (text: string): number => onGrid(tick, text, () => lose("prices that are not on the tick"));
  const qty = (text: string): number => onGrid(lot, text, () => lose("quantities that are not whole lots"));
  const row = (...values: readonly number[]): void => {
    (builder.push as (at: number, ...rest: readonly number[]) => void)(at, ...values);
  };
  switch (kind) {
    case "trades": {
      const [, side, price, size] = value as TradeRow;
      row(side === "buy" ? 1 : -1, px(price), qty(size));
      return;
    }
    case "quotes": {
      const [, bidPx, bidQty, askPx, askQty] = value as QuoteRow;
      row(px(bidPx), qty(bidQty), px(askPx), qty(askQty));
      return;
    }
    case "candles": {
      const [, , open, high, low, close, volume] = value as CandleRow;
      row(px(open), px(high), px(low), px(close), qty(volume));
      return;
    }
    case "books": {
      const [, whole, bids, asks] = value as BookRow;
      const levels = [...bids.map((pair) => [1, ...pair] as const), ...asks.map((pair) => [-1, ...pair] as const)];
      levels.forEach(([side, price, size], index) => {
        row(side, px(price), qty(size), whole === 1 && index === 0 ? 1 : 0);
      });
    }
  }
};

const onGrid = (steps: Grid, text: string, lose: () => void): number => {
  const nearest = steps.parseTo(text, "nearest");
  try {
    return steps.parse(text);
  } catch {
    lose();
    return nearest;
  }
};
