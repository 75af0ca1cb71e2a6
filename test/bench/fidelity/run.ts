/**
 * The same maker on the same rows in Sluice and in hftbacktest: npm run bench:fidelity -- RECORDING.txt.gz
 *
 * Both join the best bid and ask with one post-only order of `--lots` lots a side, at most five filled orders ahead on one side, and
 * cancel, then place, when the best price is further away than `--within` ticks; 25 ms each way and for the feed, no limits.
 *
 * Invariants: profit is reckoned from fills by one function for both, in decimals; nothing is compared by a float; ends by itself.
 * Not here: what differed and why (README.md), the maker in Python (peer.py).
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { combineLatest, filter, map, scan, startWith } from "rxjs";
import { readRecording } from "../../../plugins/import/read-recording.ts";
import {
  backtest,
  constant,
  type ReadMarket,
  type RunDetails,
  type RunReport,
  runBacktest,
  type Tape,
  withDetails,
} from "../../../src/backtest.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import { add, approximate, defineStrategy, mul, neg, sub } from "../../../src/index.ts";
import { hashOfRows } from "../../../src/market/tape/fixture.ts";

const wayMs = 25;
const most = 5;
const makerBps = "2";
const takerBps = "5";
const base: ProfileOverrides = { order: { szUnit: { SPOT: "base", SWAP: "base" } } };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    instrument: { type: "string", default: "BTC-USDT-SWAP" },
    lots: { type: "string", default: "1" },
    within: { type: "string", default: "0" },
    python: { type: "string", default: process.env["PYTHON"] ?? "python3" },
    differences: { type: "string", default: "20" },
  },
});
const [file] = positionals;
const numbers = [values.lots, values.within, values.differences].map(Number);
const [lots = 1, within = 0, differencesMax = 20] = numbers;
if (file === undefined || numbers.some((one) => !Number.isSafeInteger(one) || one < 0)) {
  process.stderr.write(
    "npm run bench:fidelity -- RECORDING.txt.gz [--instrument BTC-USDT-SWAP] [--lots 1] [--within TICKS] [--python PATH] [--differences 20]\n",
  );
  process.exit(2);
}

/** What README.md says of Sluice without limits, by instrument, rows and `--within`: one lot an order. */
const table: Readonly<Record<string, { readonly orders: number; readonly fills: number; readonly profit: string }>> = {
  "BTC-USDT-SWAP 532664 0": { orders: 874, fills: 297, profit: "-4.72412204" },
  "BTC-USDT-SWAP 532664 5": { orders: 841, fills: 297, profit: "-4.6836402" },
  "BTC-USDT 55281 0": { orders: 994, fills: 294, profit: "-0.06084113748" },
};

const hasPeer = ((): boolean => {
  try {
    execFileSync(values.python, ["-c", "import hftbacktest"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

interface Deal {
  /** Microseconds since the epoch, at the exchange. */
  readonly at: number;
  readonly side: "buy" | "sell";
  readonly px: string;
}

interface Result {
  readonly name: string;
  /** By their arrival; undefined where they are not compared. */
  readonly orders: readonly Deal[];
  readonly fills: readonly Deal[];
}

const instId = values.instrument;
const { tape } = await readRecording({ file: resolve(process.env["INIT_CWD"] ?? ".", file), instrument: instId });
const { tickSize, lotSize } = tape.instruments[0] as Tape["instruments"][number];
const qty = mul(String(lots), lotSize);
const expected = lots === 1 ? table[`${instId} ${tape.length} ${within}`] : undefined;
if (!hasPeer) {
  process.stderr.write(
    `${values.python} cannot import hftbacktest, so only the table is compared. Install it (python3 -m venv /tmp/hft && /tmp/hft/bin/pip install hftbacktest==2.4.4) and say --python /tmp/hft/bin/python.\n`,
  );
  if (expected === undefined) process.exit(2);
}

const maker = defineStrategy({
  name: "maker",
  options: { type: "object", additionalProperties: false, properties: {} },
  wanted: ({ market, own }) => {
    const ahead$ = own.updates$.pipe(
      filter(({ phase }) => phase === "filled"),
      scan((ahead, { spec }) => (spec?.side === "buy" ? ahead + 1 : ahead - 1), 0),
      startWith(0),
    );
    const keepWithin = mul(String(within), tickSize);
    return combineLatest([market.quotes(instId), ahead$]).pipe(
      map(([{ bidPx, askPx }, ahead]) => [
        ...(ahead < most
          ? [{ slot: "buy", side: "buy" as const, px: bidPx, instId, ordType: "post_only" as const, qty, keepWithin }]
          : []),
        ...(ahead > -most
          ? [{ slot: "sell", side: "sell" as const, px: askPx, instId, ordType: "post_only" as const, qty, keepWithin }]
          : []),
      ]),
    );
  },
});

const microseconds = (ms: number): number => Math.round(ms * 1_000);

const sluice = async (
  name: string,
  profile: ProfileOverrides,
  limits: boolean,
): Promise<Result & { readonly report: RunReport }> => {
  const market: ReadMarket = { tape, facts: { name: "recording", contentHash: hashOfRows(tape) } };
  let told: RunDetails | undefined;
  const service = backtest({
    latency: constant(wayMs),
    fees: { makerBps, takerBps },
    balances: { USDT: "10000000", BTC: "100" },
  });
  const config = {
    service,
    strategies: [maker({})],
    profile: { ...profile, capabilities: { cancelSpot: true } },
    orders: { allowUncancellable: true },
  };
  const report = await runBacktest(
    withDetails(config, (details) => {
      told = details;
    }),
    { market, limits, print: () => undefined },
  );
  const orders = (told?.orders ?? []).map(({ side, px, phases }) => ({
    at: microseconds((phases.find(({ phase }) => phase === "sent")?.at ?? 0) + wayMs),
    side: side as Deal["side"],
    px,
  }));
  const fills = (told?.fills ?? []).map(({ at, side, px }) => ({ at: microseconds(at), side, px }));
  return { name, orders, fills, report };
};

/** `[kind, microseconds, …]` as peer.py reads them. */
const rowsOf = ({ series, order }: Tape): Float64Array => {
  const rows = new Float64Array(6 * order.row.length);
  order.row.forEach((row, index) => {
    const one = series[order.series[index] as number];
    const at = microseconds(one?.at[row] as number);
    if (one?.kind === "quote")
      rows.set(
        [0, at, one.bidPx[row] ?? 0, one.bidQty[row] ?? 0, one.askPx[row] ?? 0, one.askQty[row] ?? 0],
        6 * index,
      );
    else if (one?.kind === "trade")
      rows.set([1, at, one.side[row] ?? 0, one.px[row] ?? 0, one.qty[row] ?? 0, 0], 6 * index);
    else if (one?.kind === "level")
      rows.set([2, at, one.side[row] ?? 0, one.px[row] ?? 0, one.qty[row] ?? 0, one.snapshot[row] ?? 0], 6 * index);
    else throw new Error(`a recording with a ${one?.kind} series is not compared`);
  });
  return rows;
};

type Row = readonly [at: number, side: number, ticks: number];

/** With `otherSide` prints fill as they do in Sluice. */
const hftbacktest = (
  name: string,
  otherSide: boolean,
): Result & { readonly account: Readonly<Record<"position" | "balance" | "fee", number>> } => {
  const dir = mkdtempSync(join(tmpdir(), "sluice-fidelity-"));
  try {
    const [rows, settings] = [join(dir, "rows.bin"), join(dir, "settings.json")];
    writeFileSync(rows, new Uint8Array(rowsOf(tape).buffer));
    const [tick, lot] = [approximate(tickSize), approximate(lotSize)];
    const rates = { makerRate: Number(makerBps) / 10_000, takerRate: Number(takerBps) / 10_000 };
    writeFileSync(
      settings,
      JSON.stringify({ tick, lot, lots, most, withinTicks: within, wayNs: wayMs * 1_000_000, otherSide, ...rates }),
    );
    const peer = fileURLToPath(new URL("./peer.py", import.meta.url));
    const text = execFileSync(values.python, [peer, rows, settings], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", 2],
      timeout: 600_000,
    });
    const { orders, fills, account } = JSON.parse(text) as {
      orders: Row[];
      fills: Row[];
      account: { position: number; balance: number; fee: number };
    };
    const dealOf = ([at, side, ticks]: Row): Deal => ({
      at,
      side: side === 0 ? "buy" : "sell",
      px: mul(String(ticks), tickSize),
    });
    return { name, orders: orders.map(dealOf), fills: fills.map(dealOf), account };
  } finally {
    rmSync(dir, { recursive: true });
  }
};

/** What fills made: money, fees, and the position at the last middle of the best prices. */
const moneyOf = (
  fills: readonly Deal[],
): { readonly fees: string; readonly profit: string; readonly position: string } => {
  let [cash, fees, position] = ["0", "0", "0"];
  for (const { side, px } of fills) {
    const value = mul(px, qty);
    fees = add(fees, mul(value, mul(makerBps, "0.0001")));
    cash = side === "buy" ? sub(cash, value) : add(cash, value);
    position = add(position, side === "buy" ? qty : neg(qty));
  }
  const quotes = tape.series.find(({ kind }) => kind === "quote");
  if (quotes?.kind !== "quote") throw new Error("a recording without quotes is not compared");
  const last = quotes.at.length - 1;
  const double = mul(String((quotes.bidPx[last] as number) + (quotes.askPx[last] as number)), tickSize);
  return { fees, position, profit: sub(add(cash, mul(mul(position, double), "0.5")), fees) };
};

const keyOf = ({ at, side, px }: Deal): string => `${at} ${side} ${px}`;

/** Deals of one that the other has not, to the microsecond. */
const missing = (from: readonly Deal[], other: readonly Deal[]): readonly Deal[] => {
  const left = new Map<string, number>();
  for (const deal of other) left.set(keyOf(deal), (left.get(keyOf(deal)) ?? 0) + 1);
  return from.filter((deal) => {
    const count = left.get(keyOf(deal)) ?? 0;
    if (count > 0) left.set(keyOf(deal), count - 1);
    return count === 0;
  });
};

const out = (line: string): void => {
  process.stdout.write(`${line}\n`);
};
const timeText = (at: number): string =>
  `${new Date(at / 1_000).toISOString().slice(11, 23)}${String(at % 1_000).padStart(3, "0")}`;

const compare = (one: Result, other: Result): void => {
  for (const what of ["orders", "fills"] as const) {
    const [only, others] = [missing(one[what], other[what]), missing(other[what], one[what])];
    out(
      `${one.name} beside ${other.name}, ${what} by microsecond, side and price: ${one[what].length - only.length} the same, ${only.length} and ${others.length} not`,
    );
    const lines = [
      ...only.map((deal) => ({ deal, name: one.name })),
      ...others.map((deal) => ({ deal, name: other.name })),
    ];
    lines.sort((a, b) => a.deal.at - b.deal.at);
    for (const { deal, name } of lines.slice(0, differencesMax))
      out(`  ${timeText(deal.at)} ${deal.side} ${deal.px} only in ${name}`);
  }
};

const counted = ({ name, orders, fills }: Result): void => {
  const { fees, profit, position } = moneyOf(fills);
  out(`${name}: ${orders.length} orders, ${fills.length} fills, position ${position}, fees ${fees}, profit ${profit}`);
};

out(`${file} as ${instId}: ${tape.length} rows, ${lots} lot(s) of ${lotSize}, within ${within} tick(s)`);
const plain = await sluice("Sluice", base, false);
const shipped = await sluice("Sluice (default profile)", {}, false);
const limited = await sluice("Sluice (default profile, limits)", {}, true);
for (const result of [plain, shipped, limited]) counted(result);
out(`Sluice's own report: fees ${plain.report.fees}, profit ${plain.report.pnl}`);
compare(plain, shipped);
if (hasPeer) {
  const peer = hftbacktest("hftbacktest", false);
  const ruled = hftbacktest("hftbacktest (prints as in Sluice)", true);
  for (const result of [peer, ruled]) counted(result);
  out(`hftbacktest's own account: position ${peer.account.position}, fees ${peer.account.fee}`);
  compare(plain, peer);
  compare(plain, ruled);
}
if (expected !== undefined) {
  const { orders, fills } = plain;
  const found = { orders: orders.length, fills: fills.length, profit: moneyOf(fills).profit };
  const [was, is] = [JSON.stringify(expected), JSON.stringify(found)];
  out(was === is ? "as in the table" : `NOT as in the table: expected ${was}, found ${is}`);
  if (was !== is) process.exitCode = 1;
}
