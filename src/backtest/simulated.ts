/**
 * The embedded service with a recorded market played into it: what backtest and paper share.
 *
 * Invariants: the venue sees an event before any strategy can; strategies see it after the feed's delay, in order; answers and
 * pushes take the way back; bars become prints only inside the bar, so that nothing is filled by a price that is still to come.
 * Not here: who moves the clock (runner.ts, paper.ts).
 */
import { Subject } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { User } from "../gateway/gateway.ts";
import type { OpenService, ServiceEnv } from "../host/service.ts";
import { createFeed, type Feed } from "../market/feed.ts";
import type { Series, Tape } from "../market/tape.ts";
import { inProcess } from "../transport/in-process.ts";
import type { Transport, WireRequest } from "../transport/transport.ts";
import { createVenue, type Fees, type Fill, type Venue } from "../venue/venue.ts";
import { createCandlePlayer } from "./candle-prints.ts";
import type { LatencyModel } from "./latency.ts";

export interface SimulatedOptions {
  readonly latency: LatencyModel;
  readonly fees: { readonly SPOT: Fees; readonly SWAP: Fees };
  /** Starting money by currency, decimal text. */
  readonly balances: Readonly<Record<string, string>>;
  readonly limits: boolean;
  /** Whether the service pushes order records, as over its WebSocket; otherwise listings are polled. */
  readonly push: boolean;
  /** How far the service's clock is from ours, milliseconds. */
  readonly skewMs: number;
  readonly timeoutMs: number;
}

export interface Simulated extends Omit<OpenService, "start" | "stop"> {
  readonly venue: Venue;
  readonly feed: Feed;
  readonly fills$: Subject<Fill>;
  /** Applies row `index` of the tape's order at the service. */
  apply(index: number, at: number): void;
  /** Told of every request as it leaves; what it returns is told the instant of arrival and the status. */
  watchSends(watcher: (request: WireRequest) => (arrivedAt: number, status: number) => void): void;
  /** Delay of the feed for one event. */
  feedMs(): number;
}

const keyName = "trade";
const permissions = ["read", "trade_spot", "trade_futures"];

export const createSimulated = (tape: Tape, clock: Clock, options: SimulatedOptions, env: ServiceEnv, shiftMs = 0): Simulated => {
  const { contract, random, onError } = env;
  const latency = options.latency.make(random.fork("latency"));
  const user: User = { uid: "paper", ip: "local", keys: [{ name: keyName, permissions }] };
  const venue = createVenue({
    contract,
    instruments: tape.instruments,
    users: [{ uid: user.uid, keys: user.keys, balances: options.balances }],
    fees: options.fees,
    enforceLimits: options.limits,
  });
  const serverNow = (at: number): number => at + options.skewMs;
  const transport = inProcess({
    clock,
    latency,
    timeoutMs: options.timeoutMs,
    handle: (request, at) => {
      const { method, path, query, body, key } = request;
      const response = venue.handle({ method, path, query, body, key, ip: user.ip }, serverNow(at));
      arrivals.get(request)?.(at, response.status);
      arrivals.delete(request);
      return response;
    },
  });
  const arrivals = new Map<WireRequest, (arrivedAt: number, status: number) => void>();
  let watch: ((request: WireRequest) => (arrivedAt: number, status: number) => void) | undefined;
  const watched: Transport = (request) => {
    if (watch !== undefined) arrivals.set(request, watch(request));
    return transport(request);
  };
  const pushes$ = new Subject<OrderRecord>();
  const fills$ = new Subject<Fill>();
  let lastPushAt = Number.NEGATIVE_INFINITY;
  venue.onOrder((uid, record) => {
    if (!options.push || uid !== user.uid) return;
    // One connection delivers in order.
    lastPushAt = Math.max(lastPushAt, clock.now() + latency.responseMs());
    clock.setTimer(lastPushAt, () => {
      pushes$.next(record);
    });
  });
  venue.onFill((fill) => {
    if (fill.uid === user.uid) fills$.next(fill);
  });
  const feed = createFeed(tape.instruments, { onError, shiftMs });
  const { series: seriesIn, row: rowIn } = tape.order;
  const { series } = tape;
  const instIds = series.map(({ instrument }) => (tape.instruments[instrument] as { readonly instId: string }).instId);
  const candles = series.map((one, index) =>
    one.kind === "candle" ? createCandlePlayer(venue, clock, instIds[index] as string, one, options.skewMs) : undefined,
  );

  return {
    clock,
    transport: watched,
    watchSends: (watcher) => {
      watch = watcher;
    },
    market: feed,
    feed,
    venue,
    fills$,
    pushes$,
    pushing: options.push,
    user,
    assumptions: assumptionsOf(tape, options, contract),
    feedMs: latency.feedMs,
    apply: (index, at) => {
      const now = serverNow(at);
      const which = seriesIn[index] as number;
      const from = series[which] as Series;
      const row = rowIn[index] as number;
      const instId = instIds[which] as string;
      switch (from.kind) {
        case "quote":
          venue.quote(
            instId,
            from.bidPx[row] as number,
            from.bidQty[row] as number,
            from.askPx[row] as number,
            from.askQty[row] as number,
            now,
          );
          return;
        case "trade":
          venue.trade(instId, (from.side[row] as number) > 0 ? "buy" : "sell", from.px[row] as number, from.qty[row] as number, now);
          return;
        case "level":
          venue.level(instId, (from.side[row] as number) > 0 ? "buy" : "sell", from.px[row] as number, from.qty[row] as number, now);
          return;
        case "candle":
          candles[which]?.closed(row);
      }
    },
  };
};

const assumptionsOf = (tape: Tape, options: SimulatedOptions, contract: Contract): readonly string[] => {
  const kinds = new Set(tape.series.map(({ kind }) => kind));
  const { SPOT, SWAP } = options.fees;
  const { szUnit, feeSign } = contract.profile.order;
  return [
    `latency: ${options.latency.name}`,
    `fees in basis points: spot ${SPOT.makerBps} maker, ${SPOT.takerBps} taker; swap ${SWAP.makerBps} maker, ${SWAP.takerBps} taker`,
    `sz counts ${szUnit.SPOT.replace("_", " ")} for spot and ${szUnit.SWAP.replace("_", " ")} for swaps; fee sign: ${feeSign.replaceAll("_", " ")}`,
    kinds.has("candle") && kinds.size === 1
      ? "fills from candles: open, one extreme, the other (the low first when the bar rose), close, each a third of the bar apart"
      : "a resting order waits behind the quantity displayed when it joined, and is filled by prints at its price after that or by prints through it",
    "our orders do not move the recorded market",
    options.push ? "the service pushes order records" : "order records are polled",
    "funding is not charged",
  ];
};
