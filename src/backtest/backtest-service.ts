/**
 * `backtest(…)` and `paper(…)`: the embedded service as a config names it.
 *
 * Invariants: both open the same simulated service; a backtest's clock moves only when the runner moves it, paper's is
 * the machine's; options are checked like any other config.
 */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { OpenService, ServiceEnv, ServiceSpec } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { createVirtualClock, type VirtualClock } from "../clock/virtual-clock.ts";
import type { Assumption } from "../contract/assumption.ts";
import { parseHuman } from "../contract/validate.ts";
import { SluiceError } from "../errors.ts";
import type { LivePrices, OpenPrices } from "../market/live-prices.ts";
import { readFixture } from "../market/tape/fixture.ts";
import { generateParts, instrumentFor, type MadeMarket } from "../market/tape/generate.ts";
import type { Tape } from "../market/tape/tape.ts";
import type { Fees } from "../venue/venue.ts";
import { currencyAssumption, reportCurrency } from "./conversion.ts";
import { type Fills, modelOf } from "./fill-models.ts";
import { checkFunding, type FundingChoice } from "./funding-schedule.ts";
import { type LatencyModel, lognormal } from "./latency.ts";
import { livePaper } from "./live-paper.ts";
import { type More, openPlayed } from "./paper-player.ts";
import { PlayedHistory } from "./played-history.ts";
import {
  createSimulated,
  type Simulated,
  type SimulatedOptions,
  type SimulatedUser,
  userOf,
} from "./simulated-service.ts";

/** Options of the embedded service. Money is decimal text; latencies and times are milliseconds. */
export interface EmbeddedOptions {
  /**
   * Folder of a recorded market, relative to the working folder; a generated market when left out. Where the working
   * folder has no `test/fixtures/demo`, this is the market that comes with the package.
   */
  readonly fixture?: string;
  /**
   * Order entry, response and feed: `constant`, `lognormal`, `fromSession`, `fromFixture`, or `ways` of each. Default
   * lognormal, median 25 ms.
   */
  readonly latency?: LatencyModel;
  /**
   * Fill model of orders: "book", "quotes", "trades", "candles", or a model with its parameters, such as
   * `bookFills({ queue: "probabilistic" })`. Default: for each instrument the finest the recording holds; the report
   * names it.
   */
  readonly fills?: Fills;
  /**
   * Funding of swaps: "recorded" charges the rates of the recording, "off" none; `{ intervalHours: 8, rate: "0.0001" }`
   * charges that rate for swaps of which none were recorded. Default "recorded": nothing where there are none; the
   * report names the choice.
   */
  readonly funding?: FundingChoice;
  /**
   * Basis points; one pair for all instruments or one for each type. `tiers` may give the rates from a 30-day volume
   * on; flat without.
   */
  readonly fees?: Fees | { readonly SPOT: Fees; readonly SWAP: Fees };
  /** Starting money by currency, of every user that states none of its own. Default 10000 USDT. */
  readonly balances?: Readonly<Record<string, string>>;
  /**
   * Users behind the one address, by uid, for strategies that name theirs: each has its own minute of weight, each key
   * its own second. Default one user, `paper`, with one key.
   */
  readonly users?: Readonly<
    Record<string, { readonly balances?: Readonly<Record<string, string>>; readonly keys?: number }>
  >;
  /** The service enforces its three rate limits. Default true. */
  readonly limits?: boolean;
  /** The service pushes order records; otherwise they are polled. Default true. */
  readonly push?: boolean;
  /** Milliseconds by which the service's clock is ahead of ours. Default 0. */
  readonly skewMs?: number;
  /** Longest wait for an answer, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number;
}

/** Options of a backtest alone. */
export interface BacktestOptions extends EmbeddedOptions {
  /**
   * Time from the beginning of the recording in which strategies see the market and nothing leaves: what they want then
   * is not placed, orders by hand are refused. What is wanted when it ends is placed then, and the report's figures
   * begin there. Default 0.
   */
  readonly warmUpMs?: number;
  /**
   * Currency of the report's money, converted through instruments' prices; default the quote currency of the first
   * instrument.
   */
  readonly currency?: string;
}

interface FixtureFacts {
  readonly name: string;
  readonly contentHash: string;
}

/** A recorded market that has been read, and what reports call it. */
export interface ReadMarket {
  readonly tape: Tape;
  /** For each series of the tape, earlier rows that are not played: history for strategies that ask for it. */
  readonly before?: Tape["series"];
  readonly facts: FixtureFacts;
}

interface BacktestOverrides extends Pick<EmbeddedOptions, "fixture" | "limits"> {
  /** Instead of any fixture: for runs that share one market in memory. */
  readonly market?: ReadMarket;
}

/** A service that a backtest can drive. */
export interface BacktestSpec extends ServiceSpec {
  readonly kind: "backtest";
  readonly options: BacktestOptions;
  openWith(env: ServiceEnv, overrides: BacktestOverrides): OpenBacktest;
}

export interface OpenBacktest extends OpenService {
  readonly clock: VirtualClock;
  readonly simulated: Simulated;
  readonly history: PlayedHistory;
  readonly tape: Tape;
  readonly fixture: FixtureFacts;
  readonly limits: boolean;
  /** Currency of the report. */
  readonly currency: string;
  /** End of the warm-up; the recording's first instant where there is none. */
  readonly tradesAt: number;
  /** The recording was cut off on purpose: a warm-up may outlast it. */
  readonly cut?: boolean;
}

const bps = { type: "string", format: "decimal" } as const;
const tierSchema = {
  type: "object",
  additionalProperties: false,
  required: ["volumeMin", "makerBps", "takerBps"],
  properties: { volumeMin: bps, makerBps: bps, takerBps: bps },
} as const;
export const feesSchema = {
  type: "object",
  additionalProperties: false,
  required: ["makerBps", "takerBps"],
  properties: { makerBps: bps, takerBps: bps, tiers: { type: "array", minItems: 1, items: tierSchema } },
} as const;
const feesByTypeSchema = {
  type: "object",
  additionalProperties: false,
  required: ["SPOT", "SWAP"],
  properties: { SPOT: feesSchema, SWAP: feesSchema },
} as const;
const balancesSchema = { type: "object", additionalProperties: { type: "string", format: "decimal" } } as const;
const userSchema = {
  type: "object",
  additionalProperties: false,
  properties: { balances: balancesSchema, keys: { type: "integer", minimum: 1, maximum: 50 } },
} as const;
const embedded = {
  fixture: { type: "string", minLength: 1 },
  // Checked below, where the message can state the remedy.
  latency: {},
  fills: { type: ["string", "object"] },
  funding: { type: ["string", "object"] },
  fees: { type: "object" },
  balances: balancesSchema,
  users: { type: "object", minProperties: 1, additionalProperties: userSchema },
  limits: { type: "boolean" },
  push: { type: "boolean" },
  skewMs: { type: "number" },
  timeoutMs: { type: "number", exclusiveMinimum: 0 },
} as const;
export const backtestSchema = {
  type: "object",
  additionalProperties: false,
  properties: { ...embedded, warmUpMs: { type: "number", minimum: 0 }, currency: { type: "string", minLength: 1 } },
} as const;
export const paperSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    ...embedded,
    instruments: { type: "array", minItems: 1, items: { type: "string", format: "inst-id" } },
  },
} as const;

const check = <O extends EmbeddedOptions>(schema: object, options: O, place: string): O => {
  const checked = parseHuman<O>(schema, options, place);
  const { fees, fills, funding, latency } = checked as EmbeddedOptions;
  if (funding !== undefined) checkFunding(funding, `${place}.funding`);
  if (fills !== undefined) modelOf(`${place}.fills`, fills);
  if (fees !== undefined)
    parseHuman("SPOT" in fees || "SWAP" in fees ? feesByTypeSchema : feesSchema, fees, `${place}.fees`);
  if (latency === undefined || typeof (latency as Partial<LatencyModel>).make === "function") return checked;
  throw new SluiceError(
    "CONFIG_INVALID",
    `${place}.latency: ${JSON.stringify(latency)} is not a latency model. Write constant(${typeof latency === "number" ? latency : 25}), lognormal({ medianMs: 25 }) or fromSession("out/session").`,
  );
};

const defaultFees: Fees = { makerBps: "2", takerBps: "5" };

const settle = (options: EmbeddedOptions): SimulatedOptions => {
  const fees = options.fees ?? defaultFees;
  return {
    latency: options.latency ?? lognormal({ medianMs: 25 }),
    fees: "SPOT" in fees ? fees : { SPOT: fees, SWAP: fees },
    users: usersOf(options),
    ...(options.fills === undefined ? {} : { fills: options.fills }),
    ...(options.funding === undefined ? {} : { funding: options.funding }),
    limits: options.limits ?? true,
    push: options.push ?? true,
    skewMs: options.skewMs ?? 0,
    timeoutMs: options.timeoutMs ?? 10_000,
  };
};

/** Options of the embedded service, checked and completed, for others who open it. */
export const embeddedService = (options: EmbeddedOptions, place: string): SimulatedOptions =>
  settle(check({ type: "object", additionalProperties: false, properties: embedded }, options, place));

const usersOf = ({ users = { paper: {} }, balances = { USDT: "10000" } }: EmbeddedOptions): readonly SimulatedUser[] =>
  Object.entries(users).map(([uid, own]) => userOf(uid, own.balances ?? balances, own.keys));

/** As the documentation names the market that comes with the package. */
const demo = "test/fixtures/demo";

/** In a project of its own the documentation's configs find the market of the package. */
const placed = <T extends { readonly fixture?: string }>(options: T): T =>
  options.fixture === demo && !existsSync(demo)
    ? { ...options, fixture: fileURLToPath(new URL(`../../${demo}`, import.meta.url)) }
    : options;

const market = (fixture: string | undefined): ReadMarket => {
  if (fixture === undefined) {
    throw new SluiceError(
      "CONFIG_INVALID",
      'No recorded market is named. Write fixture: "path/to/fixture" in backtest({ … }), or give --fixture DIR.',
    );
  }
  const { tape, manifest } = readFixture(resolve(fixture));
  return { tape, facts: { name: fixture, contentHash: manifest.contentHash } };
};

/**
 * The embedded service on recorded time: the same engine as live, in virtual time.
 *
 * @param options - the recording, latency, fees, balances and how orders fill; see `BacktestOptions`
 * @returns a service for a config
 * @throws CONFIG_INVALID with every mistake in the options
 * @example
 * backtest({ fixture: "out/market", latency: lognormal({ medianMs: 25 }), balances: { USDT: "10000" } })
 */
export const backtest = (options: BacktestOptions = {}): BacktestSpec => {
  const checked = placed(check(backtestSchema, options, "backtest options"));
  const openWith: BacktestSpec["openWith"] = (env, { market: given, ...overrides }) => {
    const merged = { ...checked, ...overrides };
    const { tape, facts, before } = given ?? market(merged.fixture);
    const currency = reportCurrency(tape, merged.currency);
    const tradesAt = tape.startAt + (merged.warmUpMs ?? 0);
    const clock = createVirtualClock(tape.startAt - leadMs);
    const { refreshMs } = env.contract.profile.instruments;
    const listFixed = !tape.series.some(({ kind }) => kind === "change");
    const settled = settle(merged);
    const simulated = createSimulated(tape, clock, settled, env);
    const pendingPushedMs = settled.push ? longBarMs(tape) : undefined;
    return {
      simulated,
      ...simulated,
      clock,
      tape,
      history: new PlayedHistory(tape, before),
      fixture: facts,
      limits: merged.limits ?? true,
      currency,
      tradesAt,
      listFixed,
      pendingPushedMs,
      assumptions: [
        ...simulated.assumptions,
        currencyAssumption(tape, currency),
        ...(listFixed && tape.endAt - tape.startAt > refreshMs ? [listFixedAssumption] : []),
        ...(pendingPushedMs === undefined ? [] : [longBarAssumption]),
        ...(merged.warmUpMs ? [warmUpAssumption(tradesAt)] : []),
      ],
      start: () => undefined,
      stop: () => undefined,
    };
  };
  const open = (): never => {
    // Its clock moves only when the runner moves it: an engine started on it would wait for ever.
    throw new SluiceError(
      "CONFIG_INVALID",
      "config.service is backtest(…): run it with `sluice backtest` or runBacktest(config). To trade on real time, use paper(…).",
    );
  };
  return { kind: "backtest", options: checked, openWith, open };
};

const listFixedAssumption: Assumption = {
  what: "List of products",
  value: "no change is recorded",
  consequence: "it is read once and not by the hour",
};

const hourMs = 3_600_000;

/** Length of the shortest bars, where a recording has bars of an hour and more alone. */
const longBarMs = ({ series }: Tape): number | undefined => {
  const terms = ["funding", "mark", "change"];
  const lengths = series
    .filter(({ kind }) => !terms.includes(kind))
    .map((one) => (one.kind === "candle" ? one.barMs : 0));
  const shortest = Math.min(...lengths);
  return lengths.length > 0 && shortest >= hourMs ? shortest : undefined;
};

const longBarAssumption: Assumption = {
  what: "Lists of resting orders",
  value: "read once a bar",
  consequence: "pushes cannot be lost here; a live engine lists them every 30 s",
};

const warmUpAssumption = (tradesAt: number): Assumption => ({
  what: "Warm-up",
  value: `until ${new Date(tradesAt).toISOString()}`,
  consequence: "strategies saw the market, nothing was placed, and the figures begin after it",
});

/**
 * Virtual time before the recording in which the engine starts: it reads the service's state and learns its windows.
 */
const leadMs = 5_000;

/** Options of paper trading. */
export interface PaperOptions extends EmbeddedOptions {
  /** Products of the generated market when no fixture is given. */
  readonly instruments?: readonly string[];
  /**
   * Live prices, such as `ccxtMarket("binance", { instruments: ["BTC-USDT-SWAP"] })`, instead of a fixture or a
   * generated market.
   */
  readonly market?: LivePrices;
  /** The time to trade on instead of the machine's, for tests. */
  readonly clock?: Clock;
}

/**
 * The embedded service on the machine's clock: a recorded, generated or live market plays from now on. It needs no
 * account.
 *
 * @param options - the market, fees, balances and how orders fill; see `PaperOptions`
 * @returns a service for a config
 * @throws CONFIG_INVALID with every mistake in the options
 */
export const paper = ({ clock: given, market: live, ...options }: PaperOptions = {}): ServiceSpec => {
  const checked = placed(check(paperSchema, options as Omit<PaperOptions, "clock" | "market">, "paper options"));
  const { instruments = defaultInstruments, ...rest } = checked;
  const withFees = (fees: OpenPrices["fees"]) =>
    settle({ fees: { SPOT: defaultFees, SWAP: defaultFees, ...fees }, ...checked });
  if (live !== undefined) return livePaper(live, checked, withFees, given);
  return {
    kind: "paper",
    open: (env) => {
      const clock = given ?? createSystemClock();
      const more: More = rest.fixture === undefined ? generated(instruments) : () => undefined;
      return {
        ...openPlayed(more() ?? market(rest.fixture).tape, more, settle(rest), env, clock),
        realTime: given === undefined,
      };
    },
  };
};

const defaultInstruments = ["BTC-USDT-SWAP", "ETH-USDT-SWAP"];

/** Made as it is played, because hours of hundreds of instruments would be a gigabyte. */
const generated = (instruments: readonly string[]): MadeMarket =>
  generateParts({ seed: "paper", instruments: instruments.map(instrumentFor), minutes: 2 });
