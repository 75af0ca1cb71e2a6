/**
 * `sluice fetch`: public market data of an exchange, through ccxt, into a fixture.
 *
 * Invariants: with `--json` exactly one JSON document goes to stdout; progress goes to stderr; Ctrl-C keeps the pages
 * that were fetched and leaves the fixture unchanged.
 * Not here: paging, limits and resuming (fetch-market.ts).
 */
import { type Command, Option } from "commander";
import { SluiceError } from "sluice";
import {
  type CliIo,
  type Clock,
  createSystemClock,
  defineCommand,
  duration,
  fixtureSummary,
  jsonText,
  percent,
  printable,
  transientLine,
} from "sluice/extension";
import type { ExchangeChoice } from "./ccxt-exchange.ts";
import type { InstrumentTerms } from "./ccxt-symbols.ts";
import { fetchInstruments, fetchMarketData } from "./fetch-data.ts";

interface FetchParts {
  readonly clock?: Clock;
  /** Exchanges by id instead of ccxt's. */
  readonly exchange?: (id: string) => ExchangeChoice;
}

interface Given {
  readonly kind: "candles" | "trades" | "instruments";
  readonly bar: string;
  readonly from?: string;
  readonly to?: string;
  readonly out?: string;
  readonly force?: boolean;
  readonly json?: true;
}

const addFetchCommand = (program: Command, io: CliIo, parts: FetchParts = {}): void => {
  program
    .command("fetch")
    .description("Fetch public bars or trades of an exchange, through ccxt, into a fixture, or add them to one.")
    .argument("<exchange>", "the exchange's id at ccxt, such as binance, okx or bybit")
    .argument("<symbols...>", "instruments, as BTC-USDT-SWAP or in ccxt's spelling BTC/USDT:USDT")
    .addOption(
      new Option("--kind <kind>", "what to fetch; instruments prints their terms")
        .choices(["candles", "trades", "instruments"])
        .default("candles"),
    )
    .option("--bar <length>", "length of bars, such as 1m, 15m, 1h or 1d", "1m")
    .option("--from <instant>", "first instant, such as 2024-01-01 or 2024-01-01T12:00:00Z")
    .option("--to <instant>", "the instant at which it ends (default: now)")
    .option("--out <dir>", "folder of the fixture; what it holds stays")
    .option("--force", "replace rows of the same instrument and time that --out holds")
    .option("--json", "print one JSON document")
    .addHelpText("after", "\nccxt is needed in addition to Sluice: npm install ccxt")
    .action((exchange: string, symbols: readonly string[], given: Given) =>
      runFetch(exchange, symbols, given, io, parts),
    );
};

const runFetch = async (
  id: string,
  symbols: readonly string[],
  given: Given,
  io: CliIo,
  parts: FetchParts,
): Promise<void> => {
  const { kind, bar, from, to, out, force, json } = given;
  const { clock = createSystemClock(), exchange: choose = (name: string) => name } = parts;
  const line = transientLine(io, clock);
  const stop = new AbortController();
  const leave = io.onStop(() => stop.abort());
  const onNote = (_: string, detail: string): void => {
    line.clear();
    io.err(`${printable(detail)}\n`);
  };
  const asked = { exchange: choose(id), symbols, signal: stop.signal, onNote, clock };
  try {
    if (kind === "instruments") {
      const terms = await fetchInstruments(asked);
      line.clear();
      io.out(json === true ? `${jsonText(terms)}\n` : `${terms.map(termsLine).join("\n")}\n`);
      return;
    }
    if (from === undefined)
      throw new SluiceError("USAGE", "--from is missing: name the first instant, such as --from 2024-01-01.");
    if (out === undefined) throw new SluiceError("USAGE", "--out is missing: name the folder of the fixture.");
    const show = progressLine(line, clock);
    const written = await fetchMarketData({
      ...asked,
      kind,
      ...(kind === "candles" && { bar }),
      from,
      ...(to !== undefined && { to }),
      out,
      ...(force !== undefined && { force }),
      onProgress: show,
    });
    line.clear();
    for (const gap of written.gaps.slice(0, gapsShown))
      io.err(
        `no data: ${gap.instId} from ${gap.from} to ${gap.to}${gap.bars === undefined ? "" : ` (${gap.bars} bars)`}\n`,
      );
    if (written.gaps.length > gapsShown)
      io.err(`no data: ${written.gaps.length - gapsShown} more gaps, which --json lists\n`);
    io.out(fixtureSummary(written, json === true));
  } finally {
    leave();
    line.clear();
  }
};

const gapsShown = 12;

/** Formats the remaining time from the progress of this run; data fetched by an earlier run took no time. */
const progressLine = (line: ReturnType<typeof transientLine>, clock: Clock) => {
  const startedAt = clock.now();
  let began: number | undefined;
  return ({ symbol, done }: { readonly symbol: string; readonly done: number }): void => {
    began ??= done;
    const [elapsedMs, made] = [clock.now() - startedAt, done - began];
    const left = elapsedMs < 1_000 || made <= 0 ? "" : `, ${duration((elapsedMs / made) * (1 - done))} left`;
    line.show(() => `${percent(done, 1)} fetched${left}  ${symbol}`);
  };
};

const termsLine = (terms: InstrumentTerms): string => {
  const { instId, symbol, tickSize = "?", lotSize = "?", minSize, contractValue, makerBps, takerBps, active } = terms;
  const fees = makerBps === undefined || takerBps === undefined ? "" : `  fees ${makerBps}/${takerBps} bp`;
  const sizes = `${minSize === undefined ? "" : `  least ${minSize}`}${contractValue === undefined ? "" : `  contract ${contractValue}`}`;
  return `${instId}  ${symbol}  tick ${tickSize}  lot ${lotSize}${sizes}${fees}${active ? "" : "  not trading"}`;
};

export default defineCommand("fetch", addFetchCommand);
