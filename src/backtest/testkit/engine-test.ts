/**
 * An engine under test: the real one on a virtual clock, before the embedded exchange and a market that is fed by hand.
 *
 * Invariants: rows have no effect before time advances; the same rows give the same events as a backtest of their
 * recording; after a strategy or plugin failed, the next advance rejects with its error.
 * Not here: rows and their order within an instant (hand-market.ts), the text of a market (market-text.ts).
 */
import type { OpenService, ServiceEnv } from "../../client/service-port.ts";
import { letPromisesSettle } from "../../clock/microtasks.ts";
import type { EndpointName } from "../../contract/endpoints.ts";
import type { OrderRecord } from "../../contract/schemas.ts";
import { isActive } from "../../contract/schemas.ts";
import { add, compare, decimal, sub } from "../../decimal.ts";
import { createEngine, type Engine } from "../../engine/engine.ts";
import { SluiceError } from "../../errors.ts";
import { followPromises } from "../../host/execution-context.ts";
import type { Plugin, Strategy } from "../../host/strategy.ts";
import type { Event } from "../../journal/events.ts";
import type { WantedOrder } from "../../orders/wanted-order.ts";
import { AnswerFaults } from "./answer-faults.ts";
import { type CandleInput, HandMarket, type QuoteInput, type TradeInput } from "./hand-market.ts";
import { feedText, readTime, spellTime } from "./market-text.ts";
import { ObservedRun, type PlottedValue, type TradingMode } from "./observed-run.ts";
import type { TestFill, TestOrder } from "./sent-orders.ts";
import { setupOf, type TestOptions, testStartAt } from "./test-options.ts";

/** Everything that runs in a test. `failing`: names of those whose failure is part of it. */
export interface Cast {
  readonly strategies: readonly Strategy[];
  readonly plugins: readonly Plugin[];
  readonly failing: readonly string[];
}

/** Time before the first instant in which the engine reads the service's state, as in a backtest. */
const leadMs = 5_000;
/** Long enough for an order, its answer and its consequences. */
const advanceMs = 100;

export class EngineTest {
  /** The engine itself, for members that this class lacks. */
  readonly engine: Engine;
  /** Lines that plugins printed. */
  readonly printed: string[] = [];
  readonly #run: ObservedRun;
  readonly #market: HandMarket;
  readonly #faults: AnswerFaults;
  readonly #first: string;
  readonly #uids: readonly string[];
  readonly #unfollow: () => void;
  readonly #quotes = new Map<string, QuoteInput>();
  #stopped = false;
  #advancing = false;

  constructor({ strategies, plugins, failing }: Cast, options: TestOptions) {
    const { config, simulated, traded, tolerant } = setupOf(options, strategies);
    const run = new ObservedRun(tolerant ? [] : failing);
    const made: { market?: HandMarket; faults?: AnswerFaults } = {};
    const open = (env: ServiceEnv): OpenService => {
      const market = new HandMarket(traded, testStartAt - leadMs, simulated, env);
      const faults = new AnswerFaults(env.contract.profile, market.clock, simulated.timeoutMs, (id) =>
        run.sent.slotOf(id),
      );
      Object.assign(made, { market, faults });
      const { transport, ...service } = market.simulated;
      return {
        ...service,
        transport: faults.interceptor(transport),
        listFixed: true,
        start: () => undefined,
        stop: () => undefined,
      };
    };
    const print = (line: string): void => {
      this.printed.push(line);
    };
    this.engine = createEngine(
      {
        ...config,
        strategies: strategies.map((strategy) => run.watched(strategy)),
        plugins,
        service: { kind: "test", open },
      },
      { limits: simulated.limits, followed: true, print, ready: () => this.#ready() },
    );
    this.#run = run;
    this.#market = made.market as HandMarket;
    this.#faults = made.faults as AnswerFaults;
    this.#first = strategies[0]?.name ?? "";
    this.#uids = simulated.users.map(({ uid }) => uid);
    this.#unfollow = followPromises();
    run.listen(this.engine, this.#market.simulated.venue, () => this.now);
  }

  /** Every event so far, in order. */
  get events(): readonly Event[] {
    return [...this.#run.events];
  }

  /** Milliseconds on the engine's clock; the first instant is `testStartAt`. */
  get now(): number {
    return this.#market.clock.now();
  }

  /** Orders that the strategy wants now; empty before its first set and after it ended. */
  get wanted(): readonly WantedOrder[] {
    return this.wantedBy(this.#first);
  }

  /** Orders that were sent, the earliest first. */
  get orders(): readonly TestOrder[] {
    return this.#run.sent.all();
  }

  /** Those of them that rest at the exchange, as the engine sees it. */
  get open(): readonly TestOrder[] {
    return this.orders.filter(({ phase }) => phase === "live" || phase === "partially_filled");
  }

  /** Executions as the exchange made them, the earliest first. */
  get fills(): readonly TestFill[] {
    return [...this.#run.sent.fills];
  }

  /** Values that strategies published with `plot`, the earliest first. */
  get plots(): readonly PlottedValue[] {
    return [...this.#run.plots];
  }

  /** Wanted orders that were not sent, with the reason. */
  get refused(): readonly { readonly slot: string; readonly reason: string }[] {
    return this.events.flatMap((event) =>
      event.type === "order.refused" ? [{ slot: event.slot, reason: event.reason }] : [],
    );
  }

  /** Mode of the engine: it places orders (`active`), exits only (`reducing`) or none (`halted`). */
  get mode(): TradingMode {
    return this.#run.mode;
  }

  wantedBy(strategy: string): readonly WantedOrder[] {
    return this.#run.wanted.get(strategy) ?? [];
  }

  /** Quantity bought by the orders of the test less the quantity sold, in base currency; negative short. */
  position(instId: string): string {
    return this.#run.sent.position(instId);
  }

  /** Balance of the first user in a currency; `0` where there is none. */
  balance(currency: string): string {
    const { balances } = this.#market.simulated.venue.holdings(this.#uids[0] as string);
    return balances.find((one) => one.currency === currency)?.balance ?? "0";
  }

  /** Best bid and ask from now on. A price that is not text is refused, and so is one between two ticks. */
  quote(instId: string, quote: QuoteInput): void {
    this.#market.quote(instId, quote);
    this.#quotes.set(instId, quote);
  }

  /** A public trade now. */
  trade(instId: string, trade: TradeInput): void {
    this.#market.trade(instId, trade);
  }

  /**
   * The next bar: it closes at the next multiple of its length, one fed after it a length later, and strategies see it
   * when time gets there. Bars fill no orders; quotes and trades do. A length is either fed or built from trades, not
   * both.
   */
  candle(instId: string, candle: CandleInput): void {
    this.#market.candle(instId, candle);
  }

  /**
   * Rows as text; the instant of the last line. The grammar is at the head of the documentation of `sluice/testing`.
   */
  feed(text: string): number {
    return feedText(text, this.#market, testStartAt);
  }

  /** Advances time by `ms` (100 ms when left out): rows are played, requests travel, timers run and promises settle. */
  async advance(ms = advanceMs): Promise<void> {
    if (!(Number.isFinite(ms) && ms >= 0))
      throw invalid(`advance: ${ms} is not a duration. Write milliseconds, such as 60_000.`);
    await this.advanceTo(this.now + ms);
  }

  /** The same up to an instant: milliseconds on the engine's clock, or `hh:mm:ss` since the start of the test. */
  async advanceTo(time: number | string): Promise<void> {
    const at = typeof time === "number" ? time : testStartAt + (readTime(time) ?? Number.NaN);
    if (!(at >= this.now)) {
      throw invalid(
        `advanceTo: ${JSON.stringify(time)} is no instant from now, ${spellTime(this.now - testStartAt)}, on.`,
      );
    }
    if (this.#advancing || this.#stopped) {
      throw invalid(
        this.#stopped
          ? "advance: the test was stopped."
          : "advance: the one before has not ended. Write await before each.",
      );
    }
    this.#advancing = true;
    try {
      await this.#market.advanceTo(at);
    } finally {
      this.#advancing = false;
    }
    this.#throwFailure();
  }

  /**
   * Makes the market fill the order that rests for a slot: all that is left of it by a trade one tick through its
   * price, or `qty` of it (base currency) at its price, after the market's best price on its side has gone one tick
   * behind it. What rests at better prices is filled, too, as it would be. The order must rest at the exchange; the
   * fill happens with the next advance.
   */
  fill(slot: string, { qty }: { readonly qty?: string } = {}): void {
    const { instId, side, px } = this.#resting(slot);
    const { tickSize } = this.#market.stepsOf(instId);
    const behind = side === "buy" ? sub(px, tickSize) : add(px, tickSize);
    const taker = side === "buy" ? "sell" : "buy";
    if (qty === undefined) {
      this.trade(instId, { side: taker, px: behind, qty: this.#market.stepsOf(instId).lotSize });
      return;
    }
    decimal(qty, `fill of ${slot}, qty`);
    const last = this.#quotes.get(instId);
    const [bidPx, askPx] =
      side === "buy"
        ? [behind, last !== undefined && compare(last.askPx, px) > 0 ? last.askPx : add(px, tickSize)]
        : [last !== undefined && compare(last.bidPx, px) < 0 ? last.bidPx : sub(px, tickSize), behind];
    this.quote(instId, { bidPx, askPx });
    this.trade(instId, { side: taker, px, qty });
  }

  /**
   * The exchange rejects the next order that is placed for a slot, with a code of the service (default: insufficient
   * funds) and words. A code that the profile does not know as a rejection leaves the order unknown, as it would in
   * trading.
   */
  reject(slot: string, code?: string, msg?: string): void {
    this.#faults.reject(slot, code, msg);
  }

  /** The next `count` calls reach the exchange and are executed, but their answers are lost. */
  loseAnswers(count = 1, endpoint: EndpointName = "placeOrder"): void {
    for (let index = 0; index < count; index++) this.#faults.lose("answer", endpoint);
  }

  /** The next `count` calls never reach the exchange, and no answer comes. */
  loseRequests(count = 1, endpoint: EndpointName = "placeOrder"): void {
    for (let index = 0; index < count; index++) this.#faults.lose("request", endpoint);
  }

  /**
   * Stops the engine, with `cancel` after canceling what rests. A test that ends without it leaves nothing behind but
   * memory.
   */
  async stop(options: { readonly cancel?: boolean } = {}): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    try {
      await this.#until(this.engine.stop(options));
      await letPromisesSettle();
    } finally {
      this.#unfollow();
      this.#market.simulated.feed.complete();
    }
  }

  /** Starts the engine before the first instant, and what is under test in it. */
  async begin(): Promise<this> {
    try {
      await this.engine.load();
      await this.#until(this.engine.start());
      if (this.now > testStartAt) {
        throw new SluiceError(
          "ENGINE_STATE",
          `The engine was not ready ${leadMs} ms after it was started: the latency is too slow for a test.`,
        );
      }
      await this.advanceTo(testStartAt);
      return this;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  #ready(): Promise<void> {
    return new Promise((resolve) => {
      this.#market.clock.setTimer(testStartAt, resolve);
    });
  }

  #throwFailure(): void {
    const message = this.#run.takeFailure();
    if (message === undefined) return;
    throw new SluiceError(
      "STRATEGY_FAILED",
      `${message}\nIf that is part of the test, give the option failures: "record".`,
    );
  }

  #resting(slot: string): OrderRecord {
    const resting = this.#uids
      .flatMap((uid) => this.#market.simulated.venue.truth(uid).orders)
      .filter(({ state }) => isActive(state));
    const found = resting.find(({ clOrdId }) => this.#run.sent.slotOf(clOrdId) === slot);
    if (found !== undefined) return found;
    const slots = resting.map(({ clOrdId }) => this.#run.sent.slotOf(clOrdId) ?? clOrdId).join(", ");
    throw invalid(
      `fill: no order of slot "${slot}" rests at the exchange; there is ${slots || "none"}. An order travels: advance first.`,
    );
  }

  /** Advances the clock until a promise of the engine has settled. */
  async #until(promise: Promise<unknown>): Promise<void> {
    let done = false;
    const end = (): void => {
      done = true;
    };
    promise.then(end, end);
    while (!done) {
      await letPromisesSettle();
      if (!done && !this.#market.clock.step()) break;
    }
    await promise;
  }
}

const invalid = (message: string): SluiceError => new SluiceError("CONFIG_INVALID", message);
