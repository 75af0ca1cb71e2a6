/**
 * Strategy host: runs strategies and passes their wanted orders to the order manager.
 *
 * Invariants: a strategy that throws, at the start or later, is journalled by name and stopped, its orders are
 * canceled, and the others run on; when a strategy completes, its remaining orders are canceled; an emitted value that
 * is not a list of orders fails its strategy; with a restart policy a failed strategy is restarted, or quarantined with
 * all its orders canceled; an error thrown while a strategy is stopped affects no other.
 * Not here: the clock its code runs on (execution-context.ts), its streams (owned-streams.ts), how often it may fail
 * (restart-policy.ts).
 */
import type { Clock, Timer } from "../clock/clock.ts";
import { messageOf, SluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { OrderManager } from "../orders/order-manager.ts";
import { takeWanted } from "../orders/wanted-set.ts";
import type { StrategyContext } from "./context.ts";
import { inside, type Owner, outside, watchUnhandledRejections } from "./execution-context.ts";
import { FailureLog, handling, itsStart } from "./failure.ts";
import { withoutSecrets } from "./hidden-values.ts";
import { OwnerLife, ownedAccount, ownedMarket, ownedOrders, ownedOwn, ownedState } from "./owned-streams.ts";
import { createFates, type Fate, type RestartPolicy } from "./restart-policy.ts";
import { observableOf } from "./rxjs-version.ts";
import type { Strategy } from "./strategy.ts";
import { installVirtualGlobals } from "./virtual-globals.ts";

/** State of a strategy: running, completed or failed, with its message. */
type StrategyState = { readonly state: "running" | "completed" | "failed"; readonly error?: string };

type Parts = Omit<StrategyContext<never>, "options">;

/** Receiver of wanted orders. */
type OrderSink = Pick<OrderManager, "renew" | "replace" | "setStrategyMode" | "withdraw">;

export interface StrategyHost {
  /** Starts a strategy whose wanted orders go to `orderManager`. */
  start(strategy: Strategy, parts: Parts, orderManager: OrderSink): void;
  /**
   * Ends the strategy of the same name in any state, and starts this one in its place; its orders stay until the
   * first set of wanted orders. `changes` holds the changed options. Returns false and does nothing where no strategy
   * of this name was started or all were stopped.
   */
  change(strategy: Strategy, changes: object): boolean;
  /** The strategy of this name as it was last started. */
  current(name: string): Strategy | undefined;
  /** Ends every strategy; their orders stay as they are. */
  stop(): void;
  readonly states: ReadonlyMap<string, StrategyState>;
}

interface Run {
  readonly name: string;
  readonly owner: Owner;
  readonly orderManager: OrderSink;
  /** Streams that have not ended. */
  open: number;
}

/** A strategy over all its starts. */
interface Charge {
  /** The strategy; replaced by another of the same name when its options are changed. */
  strategy: Strategy;
  readonly parts: Parts;
  readonly orderManager: OrderSink;
  readonly fateNow: ((now: number) => Fate) | undefined;
  starts: number;
  run: Run | undefined;
  waits: Timer | undefined;
}

/** `followed` is true if the driver of the clock follows the strategies' promises. */
export const createStrategyHost = (
  clock: Clock,
  journal: EventLog,
  supervision?: RestartPolicy,
  followed = false,
  failures: FailureLog = new FailureLog(),
): StrategyHost => {
  installVirtualGlobals();
  watchUnhandledRejections();
  return new SupervisedStrategies(clock, journal, supervision, followed, failures);
};

/** Strategies of one engine, with the consequences of their failures. */
class SupervisedStrategies implements StrategyHost {
  readonly #clock: Clock;
  readonly #journal: EventLog;
  readonly #supervision: RestartPolicy | undefined;
  readonly #followed: boolean;
  readonly #failures: FailureLog;
  readonly #states = new Map<string, StrategyState>();
  readonly #charges: Charge[] = [];
  #isStopped = false;

  constructor(
    clock: Clock,
    journal: EventLog,
    supervision: RestartPolicy | undefined,
    followed: boolean,
    failures: FailureLog,
  ) {
    this.#clock = clock;
    this.#journal = journal;
    this.#supervision = supervision;
    this.#followed = followed;
    this.#failures = failures;
  }

  get states(): ReadonlyMap<string, StrategyState> {
    return this.#states;
  }

  start(strategy: Strategy, parts: Parts, orderManager: OrderSink): void {
    const supervision = this.#supervision;
    const fateNow = supervision === undefined ? undefined : createFates(supervision, parts.random.fork("supervision"));
    const charge: Charge = { strategy, parts, orderManager, fateNow, starts: 0, run: undefined, waits: undefined };
    this.#charges.push(charge);
    this.#begin(charge);
  }

  change(strategy: Strategy, changes: object): boolean {
    const charge = this.#chargeOf(strategy.name);
    if (charge === undefined || this.#isStopped) return false;
    const { run, waits } = charge;
    charge.run = undefined;
    charge.waits = undefined;
    waits?.cancel();
    outside(() => {
      if (run !== undefined) this.#end(run);
      charge.strategy = strategy;
      this.#journal.append({
        type: "strategy.changed",
        strategy: strategy.name,
        changes: withoutSecrets(changes) as object,
      });
      // A listener may have changed the strategy again, or stopped the engine.
      if (charge.strategy === strategy && charge.run === undefined && !this.#isStopped) this.#begin(charge);
    });
    return true;
  }

  current(name: string): Strategy | undefined {
    return this.#chargeOf(name)?.strategy;
  }

  stop(): void {
    this.#isStopped = true;
    for (const charge of this.#charges) {
      const { run, waits } = charge;
      charge.run = undefined;
      waits?.cancel();
      if (run !== undefined) this.#end(run);
    }
  }

  #chargeOf(name: string): Charge | undefined {
    return this.#charges.find(({ strategy }) => strategy.name === name);
  }

  #begin(charge: Charge): void {
    const { strategy, parts, orderManager } = charge;
    const { name } = strategy;
    const sealed = parts.random.fork(charge.starts === 0 ? "ambient" : `ambient ${charge.starts}`);
    charge.starts++;
    const owner: Owner = {
      clock: this.#clock,
      life: new OwnerLife(),
      followed: this.#followed,
      sealed,
      fail: (error) => {
        this.#fail(charge, run, error);
      },
    };
    // Counted as one more stream until both are subscribed, so that the first to end does not end the strategy.
    const run: Run = { name, owner, orderManager, open: 1 };
    charge.run = run;
    this.#states.set(name, { state: "running" });
    handling.value = itsStart;
    try {
      inside(owner, () => {
        const streams = strategy.start(contextOf(owner, parts) as StrategyContext<never>);
        for (const what of ["wanted", "run"] as const)
          if (what in streams) this.#watch(charge, run, what, streams[what]);
      });
    } catch (error) {
      owner.fail(error);
    } finally {
      handling.value = undefined;
    }
    this.#settle(charge, run);
  }

  #watch(charge: Charge, run: Run, what: "wanted" | "run", source: unknown): void {
    const { name, owner, orderManager } = run;
    const stream$ = observableOf<unknown>(source);
    if (stream$ === undefined) throw notAStream(name, what, source);
    run.open++;
    const subscription = stream$.subscribe({
      next: (value) => {
        // Its options may be changed while it emits wanted orders.
        if (what === "run" || charge.run !== run) return;
        const { orders, protections } = takeWanted(name, value);
        // `renew` starts nothing, so it needs no switch of context, which would cost more than the set.
        if (protections.length === 0 && orderManager.renew(name, orders)) return;
        outside(() => {
          orderManager.replace(name, orders, protections);
        });
      },
      error: owner.fail,
      complete: () => {
        // Completion withdraws all orders; what protects a position stays.
        if (what === "wanted" && charge.run === run) outside(() => orderManager.replace(name, []));
        this.#settle(charge, run);
      },
    });
    owner.life.add(subscription);
  }

  #settle(charge: Charge, run: Run): void {
    run.open--;
    if (run.open === 0 && charge.run === run && this.#states.get(run.name)?.state === "running")
      this.#states.set(run.name, { state: "completed" });
  }

  #fail(charge: Charge, run: Run, error: unknown): void {
    const { name, orderManager } = run;
    // One failure per start: an error thrown while it is stopped is not another.
    if (charge.run !== run) return;
    charge.run = undefined;
    const message = messageOf(error);
    this.#states.set(name, { state: "failed", error: message });
    this.#failures.note("strategy", name, error, this.#clock.now());
    outside(() => {
      this.#end(run);
      this.#journal.append({ type: "strategy.failed", strategy: name, message });
      orderManager.withdraw(name);
      this.#decide(charge);
    });
  }

  #decide(charge: Charge): void {
    const { strategy, orderManager, fateNow } = charge;
    const fate = fateNow?.(this.#clock.now());
    if (fate === undefined || this.#supervision === undefined) return;
    if (fate.kind === "quarantine") {
      const { attempts: failures, withinMs } = this.#supervision;
      this.#journal.append({ type: "strategy.quarantined", strategy: strategy.name, failures, withinMs });
      orderManager.setStrategyMode(strategy.name, "halted", "quarantined");
      return;
    }
    const { failures, inMs } = fate;
    this.#journal.append({ type: "strategy.restarting", strategy: strategy.name, failures, inMs });
    charge.waits = this.#clock.setTimer(this.#clock.now() + inMs, () => {
      charge.waits = undefined;
      this.#journal.append({ type: "strategy.restarted", strategy: strategy.name, failures });
      this.#begin(charge);
    });
  }

  #end({ name, owner }: Run): void {
    try {
      inside(owner, () => {
        owner.life.unsubscribe();
      });
    } catch (error) {
      outside(() =>
        this.#journal.append({ type: "anomaly", what: "strategy.teardown", detail: `${name}: ${messageOf(error)}` }),
      );
    }
  }
}

const contextOf = (owner: Owner, parts: Parts): Parts => ({
  ...parts,
  ...ownedState(owner, parts),
  market: ownedMarket(owner, parts.market),
  orders: ownedOrders(owner, parts.orders),
  account: ownedAccount(owner, parts.account),
  own: ownedOwn(owner, parts.own),
});

const notAStream = (name: string, what: string, found: unknown): SluiceError =>
  new SluiceError(
    "STRATEGY_FAILED",
    `${name}: \`${what}\` returned ${found === null ? "null" : typeof found}, not a stream. Return an Observable, a promise or an iterable.`,
  );
