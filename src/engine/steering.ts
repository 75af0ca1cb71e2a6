/**
 * Operator actions on a running engine: state of strategies, open orders, manual cancels, changed options, health.
 *
 * Invariants: an unknown strategy or condition throws an error that names it; invalid options change nothing; reading
 * costs no request.
 * Not here: halting and resuming (trading-state.ts), closing positions (close-positions.ts), measurements of time
 * (health-watch.ts).
 */
import type { Observable } from "rxjs";
import { SluiceError } from "../errors.ts";
import type { CheckedConfig } from "../host/config.ts";
import type {
  EngineHealth,
  GroupHealth,
  OrdersOfEngine,
  ResourceHealth,
  StandbyHealth,
  Steering,
  StrategyView,
} from "../host/operator-view.ts";
import type { Strategy } from "../host/strategy.ts";
import type { StrategyHost } from "../host/strategy-host.ts";
import type { EventLog } from "../journal/event-log.ts";
import { type CancelResult, cancelAll, cancelNow, checkFilter, isChosen } from "../orders/manual-orders.ts";
import type { Parts } from "./assembly.ts";
import { serviceCalendar } from "./calendar-watch.ts";
import type { RealTimeParts } from "./engine-lifecycle.ts";
import { checkStrategy } from "./trading-state.ts";
import type { UserAccount } from "./user-account.ts";

interface SteeringParts {
  readonly config: CheckedConfig;
  readonly parts: Parts;
  readonly strategyHost: StrategyHost;
  readonly inTime: RealTimeParts;
}

export const steeringOf = (own: SteeringParts): Steering => {
  const { config, parts } = own;
  const { accounts, journal, service } = parts;
  const known = config.strategies.map(({ name }) => name);
  return {
    strategies: () => config.strategies.map((strategy) => viewOf(own, strategy)),
    openOrders: () =>
      accounts.all.flatMap(({ orderManager }) => orderManager.orders().map((order) => orderManager.updateOf(order))),
    cancel: (where = {}) => {
      checkFilter(where, "cancel", ["strategy", "clOrdId"]);
      if (where.strategy !== undefined) checkStrategy(known, where.strategy);
      return cancelIn(accounts.all, where, service.clock.now());
    },
    changeOptions: (name, changes) => {
      checkStrategy(known, name);
      changeOptions(own, name, changes);
    },
    operatorActed: ({ action, target, by, reason, strategy }) => {
      if (strategy !== undefined) checkStrategy(known, strategy);
      journal.append({
        type: "operator.acted",
        action: words("action", action),
        target: words("target", target),
        by: words("by", by),
        reason: words("reason", reason),
      });
    },
    health: healthReader(own),
  };
};

const wordsMax = 500;

/** Bounds the length of a text from a port before it is kept. */
const words = (what: string, text: unknown): string => {
  if (typeof text === "string") return text.slice(0, wordsMax);
  throw new SluiceError("CONFIG_INVALID", `operatorActed: ${what} is ${typeof text}, not text. Write "" for no text.`);
};

const viewOf = ({ parts: { accounts }, strategyHost }: SteeringParts, given: Strategy): StrategyView => {
  const { name } = given;
  const { options, schema } = strategyHost.current(name) ?? given;
  const { user, orderManager } = accounts.of(given.user, `strategy "${name}"`);
  const { state, error } = strategyHost.states.get(name) ?? { state: "starting" as const, error: undefined };
  return {
    name,
    user: user.uid,
    state,
    ...(error !== undefined && { error }),
    mode: orderManager.modeOf(name),
    ...(orderManager.isStopped(name) && { full: true }),
    reason: orderManager.reasonOf(name),
    options,
    ...(schema !== undefined && { schema }),
    positions: orderManager.positions.all(name),
  };
};

/** All cancels are queued before any result is awaited, because a batch takes what is queued when it is sent. */
const cancelIn = (
  accounts: readonly UserAccount[],
  { strategy, clOrdId, ...where }: OrdersOfEngine,
  now: number,
): Observable<CancelResult> => {
  const cancels = accounts.map(({ orderManager }) => {
    const meant = orderManager
      .orders()
      .filter(
        (order) =>
          (strategy === undefined || order.strategy === strategy) &&
          (clOrdId === undefined || order.clOrdId === clOrdId),
      )
      .filter((order) => isChosen(orderManager, order, where, now));
    return cancelAll(orderManager, meant, "cancel");
  });
  return cancelNow(...cancels);
};

const changeOptions = ({ strategyHost, inTime }: SteeringParts, name: string, changes: object): void => {
  const current = strategyHost.current(name);
  if (current === undefined) throw notRunning(name);
  const given: unknown = changes;
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `options of strategy "${name}": the changes are not an object. Write { option: value }.`,
    );
  }
  if (current.with === undefined) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `strategy "${name}" was not made by defineStrategy, so its options cannot be checked and changed.`,
    );
  }
  const next = inTime.asRun(current.with(changes));
  if (!strategyHost.change(next, JSON.parse(JSON.stringify(changes)) as object)) throw notRunning(name);
};

const notRunning = (name: string): SluiceError =>
  new SluiceError(
    "ENGINE_STATE",
    `options of strategy "${name}" change only while the engine runs; it has not started, or has stopped.`,
  );

const resources = ["instruments", "pending", "history", "balances", "positions"] as const;

const resourcesOf = ({ user: { uid: user }, resources: all }: UserAccount, now: number): readonly ResourceHealth[] =>
  resources.map((name) => {
    const { at, stale, problem = "" } = all[name].current;
    return { user, name, ageMs: at < 0 ? undefined : now - at, stale, problem: stale ? problem : "" };
  });

/** Keeps what events report about the journal and anomalies. The rest is read on request. */
const healthReader = ({ parts, inTime }: SteeringParts): (() => EngineHealth) => {
  const { accounts, durable, extensions, journal, service } = parts;
  const { clock } = service;
  const facts = factsFrom(journal);
  return () => {
    const at = clock.now();
    const failed = durable?.refused(false);
    const opened =
      facts.run === undefined
        ? ({ state: "opening", reason: "" } as const)
        : { state: "open" as const, run: facts.run, reason: "" };
    return {
      at,
      clock: clockOf(parts, at),
      open: service.counts?.(),
      pushing: Object.fromEntries(accounts.all.map(({ user, resources: { pushing } }) => [user.uid, pushing()])),
      journal:
        durable === undefined
          ? { state: "none", reason: "" }
          : failed === undefined
            ? opened
            : { ...opened, state: "failed", reason: failed },
      watchdog: extensions.healthOf("watchdog") ?? { state: "none", reason: "" },
      standby: extensions.healthOf("standby") ?? noStandby,
      ...groupOf(extensions),
      plugins: extensions.health,
      resources: accounts.all.flatMap((account) => resourcesOf(account, at)),
      differences: inTime.differences(),
      anomalies: facts.anomalies,
      ...(inTime.measured?.state() ?? { eventLoop: undefined, latency: [] }),
    };
  };
};

const clockOf = ({ ledger, service: { clock } }: Parts, now: number): EngineHealth["clock"] => {
  const calendar = serviceCalendar(ledger.clock, now);
  if (calendar === undefined) return undefined;
  const { from, to } = calendar;
  return { offsetMs: (from + to) / 2 - clock.wallNow(), toleranceMs: (to - from) / 2 };
};

const groupOf = (extensions: Pick<Parts["extensions"], "healthOf">): Pick<EngineHealth, "group"> => {
  const group = extensions.healthOf<GroupHealth>("shared-quota");
  return group === undefined ? {} : { group };
};

const noStandby: StandbyHealth = { state: "none", leader: undefined, standbys: [], copyBehind: false };

const factsFrom = (journal: Pick<EventLog, "on">) => {
  const facts: { run: number | undefined; anomalies: number } = { run: undefined, anomalies: 0 };
  journal.on(["journal.opened", "anomaly", "engine.stalled"], (event) => {
    if (event.type === "journal.opened") facts.run = event.run;
    else facts.anomalies++;
  });
  return facts;
};
