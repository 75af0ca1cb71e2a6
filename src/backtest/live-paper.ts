/**
 * Paper trading on live prices: the embedded service fed by a source of prices that come as they are made.
 *
 * Invariants: nothing is opened before `load`; prices reach the service when they arrive, and strategies at once,
 * because they already include the delay of the feed; orders have the delay of the latency model; while present prices
 * are unknown no order is accepted.
 * Not here: where prices come from (market/live-prices.ts), recorded and generated markets (backtest-service.ts).
 */

import { of, ReplaySubject, switchMap } from "rxjs";
import type { ServiceEnv, ServiceSpec, ServiceUser } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import type { Assumption } from "../contract/assumption.ts";
import { SluiceError } from "../errors.ts";
import type { PrintedMarket } from "../market/last-quotes.ts";
import type { LivePrices, OpenPrices } from "../market/live-prices.ts";
import { constant, ways } from "./latency.ts";
import type { OpenPaper } from "./paper-account.ts";
import { PaperPlayer } from "./paper-player.ts";
import { createSimulated, type Simulated, type SimulatedOptions } from "./simulated-service.ts";

interface Running {
  readonly prices: OpenPrices;
  readonly simulated: Simulated;
  readonly player: PaperPlayer;
}

/**
 * `settle` completes the options with the fees of the exchange. Options that only a played market takes are refused.
 */
export const livePaper = (
  market: LivePrices,
  played: { readonly fixture?: unknown; readonly instruments?: unknown },
  settle: (fees: OpenPrices["fees"]) => SimulatedOptions,
  given: Clock | undefined,
): ServiceSpec => {
  const other = (["fixture", "instruments"] as const).find((name) => played[name] !== undefined);
  if (other !== undefined) {
    const problem = `paper options: ${other} goes with a market that is played, and market is live. Leave one out.`;
    throw new SluiceError("CONFIG_INVALID", problem);
  }
  return {
    kind: "paper",
    open: (env) => ({
      ...openLivePaper(market, settle, env, given ?? createSystemClock()),
      realTime: given === undefined,
    }),
  };
};

const openLivePaper = (
  market: LivePrices,
  settle: (fees: OpenPrices["fees"]) => SimulatedOptions,
  env: ServiceEnv,
  clock: Clock,
): OpenPaper => {
  const known = settle({});
  const loaded$ = new ReplaySubject<Simulated>(1);
  const users: readonly ServiceUser[] = known.users.map(({ balances: _balances, ...user }, index) => ({
    ...user,
    pushes$: loaded$.pipe(switchMap((simulated) => (simulated.users[index] as ServiceUser).pushes$)),
    pushing$: of(known.push),
  }));
  const assumptions: Assumption[] = [
    { what: "Prices", value: `from ${market.name}, as they are made`, consequence: "orders never reach it" },
  ];
  let running: Running | undefined;
  let stopped = false;
  const opened = (): Running => {
    if (running !== undefined) return running;
    throw new SluiceError(
      "ENGINE_STATE",
      "The service is not loaded. Await its load() before anything is asked of it.",
    );
  };
  const load = async (): Promise<void> => {
    const prices = await market.open({ clock, tell: env.onAnomaly });
    if (stopped || running !== undefined) return;
    const options = settle(prices.fees);
    const { latency } = options;
    const latencyOfOrders = {
      ...ways({ entry: latency, response: latency, feed: constant(0) }),
      name: `${latency.name}; prices as they arrive`,
    };
    const simulated = createSimulated(prices.layout, clock, { ...options, latency: latencyOfOrders }, env);
    assumptions.push(...simulated.assumptions);
    running = { prices, simulated, player: new PaperPlayer(prices.layout, simulated, 0) };
    loaded$.next(simulated);
  };
  return {
    clock,
    transport: (request, sink) => opened().simulated.transport(request, sink),
    market: forwarded(() => opened().simulated.feed),
    users,
    ordersRefused: () => running?.prices.refusal(),
    assumptions,
    embedded: () => running && { venue: running.simulated.venue, instruments: running.prices.layout.instruments },
    load,
    start: () => {
      const { prices, player } = opened();
      prices.start((rows) => player.push(rows));
    },
    stop: async () => {
      stopped = true;
      running?.player.stop();
      running?.simulated.stopFunding();
      await running?.prices.stop();
    },
  };
};

const forwarded = (to: () => PrintedMarket): PrintedMarket => ({
  trades: (instId) => to().trades(instId),
  quotes: (instId) => to().quotes(instId),
  books: (instId) => to().books(instId),
  candles: (instId, length, options) => to().candles(instId, length, options),
  prints: (instId) => to().prints(instId),
  lastPx: (instId) => to().lastPx(instId),
});
