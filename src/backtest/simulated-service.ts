/**
 * The embedded service with a recorded market played into it: what backtest and paper share.
 *
 * Invariants: the venue sees an event before any strategy can; strategies see it after the feed's delay, in order;
 * answers and pushes take the way back; bars become prints only inside the bar, so that nothing is filled by a price
 * that is still to come.
 * Not here: what moves the clock (runner.ts, paper-player.ts).
 */
import { NEVER, type Observable, of } from "rxjs";
import type { User } from "../client/gateway.ts";
import type { OpenService, ServiceEnv } from "../client/service-port.ts";
import { inProcess, type Latency } from "../client/transport/in-process.ts";
import type { Clock } from "../clock/clock.ts";
import type { Assumption } from "../contract/assumption.ts";
import type { Contract } from "../contract/contract.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { WireRequest } from "../contract/transport.ts";
import { mul } from "../decimal.ts";
import { createFeed, type Feed } from "../market/feed.ts";
import { HotStream } from "../market/hot-stream.ts";
import type { Tape, TapeInstrument } from "../market/tape/tape.ts";
import { createVenue, type Fees, type Venue } from "../venue/venue.ts";
import { BarFollowers } from "./bar-followers.ts";
import { batchedRows } from "./batched-rows.ts";
import { chooseFills, type FillChoice } from "./fill-choice.ts";
import type { Fills } from "./fill-models.ts";
import type { TradeQuote } from "./fill-trades.ts";
import { type FundingChoice, fundingTerms, scheduleFunding } from "./funding-schedule.ts";
import type { LatencyModel } from "./latency.ts";
import { openAsRecorded, type RowTaker, rowTakers } from "./row-dispatch.ts";
import { silenceMsMin, silencesOf } from "./silences.ts";
import { SkipAhead } from "./skip-ahead.ts";

export interface SimulatedOptions {
  readonly latency: LatencyModel;
  readonly fees: { readonly SPOT: Fees; readonly SWAP: Fees };
  readonly users: readonly SimulatedUser[];
  /** Funding that is charged; the recorded one when left out. */
  readonly funding?: FundingChoice;
  /** Fill model; the finest of the tape when left out. */
  readonly fills?: Fills;
  readonly limits: boolean;
  /** The service pushes order records, as over its WebSocket; otherwise listings are polled. */
  readonly push: boolean;
  /** Milliseconds by which the service's clock is ahead of ours. */
  readonly skewMs: number;
  readonly timeoutMs: number;
}

export interface Simulated extends Omit<OpenService, "start" | "stop"> {
  readonly venue: Venue;
  readonly feed: Feed;
  /** Sources of the fills. */
  readonly filledBy: FillChoice;
  /**
   * The first row from `from` on, at most `to`, that may change more at the service than prices. Earlier rows may be
   * applied late, but before the next timer runs and before the state is read.
   */
  quietUntil(from: number, to: number): number;
  /** Applies row `index` of the tape's order at the service. */
  apply(index: number, at: number): void;
  /** Applies the rows of this tape from now on. It has the same products and series. */
  follow(next: Tape): void;
  /** Applies the rows from `from` to before `to` at the idle service, each as of its own instant. */
  applyLate(from: number, to: number): void;
  /** Follows every request from now on; one watcher at a time. */
  watchSends(watcher: SendWatcher): void;
  /** Draws the delay of the feed for one event. */
  feedMs(): number;
  /** Stops charging funding and leaves no timer. */
  stopFunding(): void;
}

/** A request under way, as the service takes it. */
interface SentRequest extends WireRequest {
  readonly ip: string;
  /** Milliseconds that its action had waited when it left. */
  readonly waitedMs: number;
}

interface SendWatcher {
  /** Its `lastWaitMs` is read when a request leaves. */
  readonly waits: { readonly lastWaitMs: number };
  arrived(request: SentRequest, sentAt: number, at: number, status: number): void;
}

/** A user behind the one address all of them share, and its starting money by currency, decimal text. */
export interface SimulatedUser extends User {
  readonly balances: Readonly<Record<string, string>>;
}

const ip = "local";

/**
 * A user with so many keys, each of which may do everything.
 *
 * @param uid - of the user
 * @param balances - by currency, decimal text
 * @param keys - how many
 * @returns a user for the embedded service
 */
export const userOf = (uid: string, balances: SimulatedUser["balances"], keys = 1): SimulatedUser => ({
  uid,
  ip,
  balances,
  keys: Array.from({ length: keys }, (_, index) => ({
    name: `${uid}-${index + 1}`,
    permissions: ["read", "trade_spot", "trade_futures"],
  })),
});

export const createSimulated = (
  tape: Tape,
  clock: Clock,
  options: SimulatedOptions,
  env: ServiceEnv,
  shiftMs = 0,
): Simulated => {
  const { contract, random, onError } = env;
  const latency = options.latency.make(random.fork("latency"));
  const filledBy = chooseFills(tape, options.fills);
  const silences = silencesOf(tape, (series) => filledBy.plays(series), shiftMs + options.skewMs);
  const venue = createVenue({
    contract,
    instruments: tape.instruments,
    users: options.users,
    fees: options.fees,
    enforceLimits: options.limits,
    matching: filledBy.matching,
    silences: (instId) => silences.get(instId) ?? [],
  });
  reopenAfter(venue, clock, options.skewMs);
  const feed = createFeed(tape.instruments, { onError, shiftMs });
  const { funding = "recorded", skewMs } = options;
  openAsRecorded(tape, venue, clock.now() + skewMs);
  const played: Venue = funding === "off" ? { ...venue, funding: () => undefined } : venue;
  const quiet = new SkipAhead(tape, venue, filledBy);
  const followers = followersOf(tape, filledBy, clock, latency, quiet);
  const kept = { prints: new Map<string, TradeQuote>(), followers };
  const takersOf = (from: Tape): readonly RowTaker[] => rowTakers(from, played, clock, skewMs, filledBy, kept);
  let { order } = tape;
  let takers = takersOf(tape);
  return {
    clock,
    ...wireTo(venue, clock, latency, options, quiet),
    market: feed,
    followBars: (instId, follower) => followers.get(instId)?.add(follower),
    feed,
    venue,
    filledBy,
    users: options.users.map((user) => ({
      ...user,
      pushes$: options.push ? pushesOf(venue, clock, latency, user.uid) : NEVER,
      pushing$: of(options.push),
    })),
    assumptions: [...assumptionsOf(tape, options, contract, filledBy), ...silenceAssumptions(silences)],
    feedMs: () => latency.feedMs(),
    stopFunding: scheduleFunding(tape, venue, clock, funding, skewMs),
    quietUntil: (from, to) => quiet.until(from, to),
    applyLate: batchedRows(tape, takers, clock, skewMs),
    apply: (index, at) => {
      (takers[order.series[index] as number] as RowTaker)(order.row[index] as number, at + skewMs);
    },
    follow: (next) => {
      order = next.order;
      takers = takersOf(next);
    },
  };
};

/** Orders that waited meet everything that is recorded of the instant at which the market is back. */
const reopenAfter = (venue: Venue, clock: Clock, skewMs: number): void => {
  const due = new Set<string>();
  venue.onPrice((instId) => {
    if (due.has(instId)) return;
    due.add(instId);
    clock.setTimer(clock.now(), () => {
      due.delete(instId);
      venue.reopen(instId, clock.now() + skewMs);
    });
  });
};

const silenceAssumptions = (silences: ReadonlyMap<string, unknown>): readonly Assumption[] =>
  silences.size === 0
    ? []
    : [
        {
          what: "Gaps of the recording",
          value: `more than ${silenceMsMin / 60_000} min without a row to fill from; for bars, time that no bar covers`,
          consequence: "market orders wait for the first price after a gap, limit orders rest, others are canceled",
        },
      ];

/** Creates followers for each instrument whose bars are played. */
const followersOf = (
  { series, instruments }: Tape,
  { plays }: FillChoice,
  clock: Clock,
  latency: Latency,
  quiet: SkipAhead,
): ReadonlyMap<string, BarFollowers> =>
  new Map(
    series
      .filter((one) => one.kind === "candle" && plays(one))
      .map(({ instrument }) => {
        const { instId, tickSize } = instruments[instrument] as TapeInstrument;
        return [instId, new BarFollowers(clock, () => latency.feedMs(), tickSize, quiet.follow)];
      }),
  );

/** The way to the service and back. Data recorded when a request leaves travels with it. */
const wireTo = (
  venue: Venue,
  clock: Clock,
  latency: Latency,
  options: SimulatedOptions,
  quiet: SkipAhead,
): Pick<Simulated, "transport" | "watchSends"> => {
  let watcher: SendWatcher | undefined;
  const wire = inProcess({
    clock,
    latency,
    timeoutMs: options.timeoutMs,
    handle: (request, at, sentAt) => {
      // Leverage changes the price of a liquidation, too.
      if (request.method !== "GET") quiet.disturb();
      const sent = request as SentRequest;
      const response = venue.handle(sent, at + options.skewMs);
      watcher?.arrived(sent, sentAt, at, response.status);
      return response;
    },
  });
  return {
    transport: ({ endpoint, method, path, query, body, key }, sink) => {
      const waitedMs = watcher?.waits.lastWaitMs ?? 0;
      const sent: SentRequest = { endpoint, method, path, query, body, key, ip, waitedMs };
      wire(sent, sink);
    },
    watchSends: (next) => {
      watcher = next;
    },
  };
};

/** Order records as one connection delivers them: after the way back, and in order. */
const pushesOf = (venue: Venue, clock: Clock, latency: Latency, owner: string): Observable<OrderRecord> => {
  const pushes$ = new HotStream<OrderRecord>();
  let lastAt = Number.NEGATIVE_INFINITY;
  venue.onOrder((uid, record) => {
    if (uid !== owner) return;
    lastAt = Math.max(lastAt, clock.now() + latency.responseMs());
    clock.setTimer(lastAt, () => {
      pushes$.next(record);
    });
  });
  return pushes$;
};

const tiersText = (fees: Fees): string =>
  fees.tiers === undefined ? "" : ` (lower by 30-day volume in ${fees.tiers.length} tiers)`;

const marginAssumption = ({ profile: { margin } }: Contract): Assumption =>
  margin.liquidation === "never"
    ? { what: "Liquidation", value: "never", consequence: "positions are held, no matter how much they lose" }
    : {
        what: "Liquidation",
        value: `below a maintenance margin of ${mul(margin.maintenanceRate, "100")} % of a position's value, for a fee of ${mul(margin.liquidationFeeRate, "100")} %`,
        consequence: "positions are valued at recorded marks, else at the market",
      };

const assumptionsOf = (
  tape: Tape,
  options: SimulatedOptions,
  contract: Contract,
  filledBy: FillChoice,
): readonly Assumption[] => {
  const { SPOT, SWAP } = options.fees;
  const { szUnit, feeSign, spotBuyFee } = contract.profile.order;
  return [
    {
      what: "Latency",
      value: options.latency.name,
      consequence: "prices move on before an order arrives, and before its fill is known",
    },
    {
      what: "Fees",
      value: `spot ${SPOT.makerBps} bp maker, ${SPOT.takerBps} bp taker${tiersText(SPOT)}; swaps ${SWAP.makerBps} bp maker, ${SWAP.takerBps} bp taker${tiersText(SWAP)}`,
      consequence: "charged on the traded value of every fill",
    },
    {
      what: "Unit of sz",
      value: `${szUnit.SPOT.replace("_", " ")} for spot, ${szUnit.SWAP.replace("_", " ")} for swaps; fee sign: ${feeSign.replaceAll("_", " ")}`,
      consequence: "a service that counts otherwise would trade other sizes",
    },
    ...(spotBuyFee === "base"
      ? [
          {
            what: "Fees of spot purchases",
            value: "taken in the coin bought",
            consequence: "a little less than was bought can be sold",
          },
        ]
      : []),
    ...filledBy.assumptions,
    {
      what: "Our effect on the market",
      value: "none; what a taker took is gone until its price is shown again",
      consequence: "large orders fill better than they would",
    },
    options.push
      ? { what: "Order records", value: "pushed", consequence: "a fill is known after the way back" }
      : { what: "Order records", value: "polled", consequence: "a fill is known after the next poll" },
    { what: "Funding", ...fundingTerms(tape, options.funding ?? "recorded") },
    marginAssumption(contract),
    {
      what: "Holdings at the start",
      value: "valued with the market",
      consequence: "their gains and losses are part of the result",
    },
  ];
};
