/**
 * User account: the parts an engine has for each user of the service: a gateway with the user's keys, state, and an
 * order manager.
 *
 * Invariants: users share the address, the queue and the ledger, and nothing else: no record, order or key of one user
 * reaches another; the list of instruments is the same for all and is read once.
 */
import { type Observable, takeUntil } from "rxjs";
import { createGateway, type Gateway } from "../client/gateway.ts";
import type { OpenService, ServiceUser } from "../client/service-port.ts";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { didYouMean, SluiceError } from "../errors.ts";
import type { CheckedConfig } from "../host/config.ts";
import type { Account } from "../host/context.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ProtectionRecord } from "../journal/protection-records.ts";
import type { LastQuotes } from "../market/last-quotes.ts";
import type { PriceChanges } from "../orders/held-prices.ts";
import { OrderManager } from "../orders/order-manager.ts";
import { isClosed, type Order } from "../orders/order-state.ts";
import type { PostOnlyPause } from "../orders/post-only.ts";
import type { PlannedProtection } from "../orders/protection/earlier-order.ts";
import { rulesOf } from "../orders/risk/pre-trade-checks.ts";
import type { ShareRead } from "../orders/state/read-sharing.ts";
import { createResources, defaultFreshness, type Freshness, type Resources } from "../orders/state/resources.ts";
import type { Ledger } from "../scheduler/quota/ledger.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";
import { serviceCalendar } from "./calendar-watch.ts";
import { instrumentRefresh } from "./initial-sync.ts";
import type { FoundIntent } from "./journal-port.ts";
import { PriceWatch } from "./price-watch.ts";
import { equityStream, priceChangesOf } from "./strategy-streams.ts";

/**
 * Time without a price after which an open position is reported. In real trading a missing price is a danger at once;
 * on paper the market may be one with few quotes.
 */
const priceSilenceMsOf = ({ watchful, realTime }: OpenService): number | undefined => {
  if (watchful === true) return 5_000;
  return realTime === true ? 60_000 : undefined;
};

export interface UserAccount {
  readonly user: ServiceUser;
  readonly gateway: Gateway;
  readonly resources: Resources;
  readonly orderManager: OrderManager;
}

interface UserAccountParts {
  readonly config: CheckedConfig;
  readonly contract: Contract;
  readonly service: OpenService;
  /** Reason why no order may be sent now; undefined when orders may be sent. */
  readonly refused: ((isExit: boolean) => string | undefined) | undefined;
  /** Reason why exits may leave only with the service's reduce-only flag. */
  readonly flagOnly?: (() => string | undefined) | undefined;
  /** Milliseconds for which an exit lets another process that may lead go first. */
  readonly yieldMs?: (() => number) | undefined;
  /** Called when an order was found at the service that the journal may lack. */
  readonly onFound: (uid: string, found: FoundIntent) => void;
  /** Called when all strategies together have lost more than the limit. */
  readonly onLoss: (reason: string) => void;
  /** Records for the next run that the protection of a user's position changed. */
  readonly onProtection: (uid: string, record: ProtectionRecord) => void;
  readonly journal: EventLog;
  readonly ledger: Ledger;
  readonly scheduler: Scheduler;
  readonly quotes: LastQuotes;
  /** Reads of a user's state that other engines may answer. */
  readonly readsOf: (uid: string) => ShareRead | undefined;
  readonly stopped$: Observable<void>;
}

const pushedMsOf = ({ pendingPushedMs }: OpenService): Partial<Freshness> =>
  pendingPushedMs === undefined ? {} : { pendingPushedMs };

/** Part of a minute window: quota is scarce while less than this is left after the reserve. */
const scarcePart = 0.1;

/** Returns true while a slot has to pause after several post-only orders in a row were rejected. */
const pausesNow = (
  pause: PostOnlyPause = "scarce",
  windows: ReturnType<Ledger["state"]>,
  { uid, ip }: ServiceUser,
): boolean =>
  pause === "always" ||
  (pause === "scarce" &&
    windows.some(
      ({ layer, scope, capacity, free, reserved }) =>
        ((layer === "uid" && scope === uid) || (layer === "ip" && scope === ip)) &&
        free - reserved < capacity * scarcePart,
    ));

/** `listed` is the list of another account that already reads it. */
const createUserAccount = (
  parts: UserAccountParts,
  user: ServiceUser,
  listed?: Pick<Resources, "instruments" | "contractValues">,
): UserAccount => {
  const {
    config,
    contract,
    service,
    refused,
    flagOnly,
    onLoss,
    journal,
    ledger,
    scheduler,
    quotes,
    stopped$,
    readsOf,
  } = parts;
  const { clock } = service;
  const gateway = createGateway({ clock, contract, scheduler, journal, user, inParts: service.inParts });
  const resources = createResources({
    clock,
    contract,
    gateway,
    journal,
    pushes$: user.pushes$.pipe(takeUntil(stopped$)),
    pushing$: user.pushing$.pipe(takeUntil(stopped$)),
    freshness: Object.assign({}, defaultFreshness, pushedMsOf(service), config.freshness),
    listed,
    listFixed: service.listFixed ?? false,
    share: () => readsOf(user.uid),
  });
  let isHeld = false;
  const orderManager = new OrderManager({
    clock,
    serviceNow: () => serviceCalendar(ledger.clock, clock.now())?.from,
    contract,
    gateway,
    journal,
    store: resources.store,
    instance: config.instance,
    strategies: config.strategies
      .filter((one) => (one.user ?? service.users[0]?.uid) === user.uid)
      .map(({ name }) => name),
    rules: rulesOf(config.orders),
    pauses: () => pausesNow(config.orders.postOnlyPause, ledger.state(clock.now()), user),
    refused,
    flagOnly,
    yieldMs: parts.yieldMs,
    onFound: (order) => {
      parts.onFound(user.uid, intentOf(order, clock.now(), orderManager.plannedOf(order.clOrdId)));
    },
    onLoss,
    balances: resources.balances,
    contractValues: resources.contractValues,
    instruments: () => resources.instruments.settled,
    marketPx: quotes.of.bind(quotes),
    priceChanges: priceChangesOf(service),
    prices: new PriceWatch(service, resources.positions, quotes),
    priceSilenceMs: priceSilenceMsOf(service),
    onProtection: (record) => {
      parts.onProtection(user.uid, record);
    },
    onOpenOrders: (count) => {
      ledger.noteOpen(user.uid, count);
      // Own orders are tracked with or without a subscriber. Without any own order, nothing has to be read.
      if (isHeld === count > 0) return;
      isHeld = !isHeld;
      if (isHeld) resources.pending.hold();
      else resources.pending.release();
    },
    onRejected: instrumentRefresh(contract.profile, clock, () => {
      resources.instruments.refresh();
    }),
    onUnknownInstrument: () => {
      resources.instruments.refresh();
    },
    onDoubt: (needed) => {
      resources.pending.refresh(needed);
    },
  });
  // Orders that were refused for lack of a price can be sized now.
  quotes.onFirst(() => {
    orderManager.reconsider();
  });
  journal.on(["journal.restored"], () => {
    orderManager.reconsider();
  });
  quotes.onQuote((instId) => {
    orderManager.quoted(instId);
  });
  return { user, gateway, resources, orderManager };
};

const intentOf = (
  { strategy, clOrdId, spec, sentAt }: Order,
  now: number,
  planned: PlannedProtection | undefined,
): FoundIntent => ({
  strategy,
  clOrdId,
  ...spec,
  ageMs: Math.max(0, now - sentAt),
  ...(planned !== undefined && { planned }),
});

/** Number of orders of this engine that are not over. */
export const openOrdersOf = ({ orderManager }: Pick<UserAccount, "orderManager">): number =>
  orderManager.orders().filter((order) => !isClosed(order)).length;

/** The user's account as streams that end with the engine. */
export const accountOf = (
  { resources, orderManager }: UserAccount,
  clock: Clock,
  priceChanges: PriceChanges,
  stopped$: Observable<void>,
): Account => {
  const until = <T>(source$: Observable<T>): Observable<T> => source$.pipe(takeUntil(stopped$));
  return {
    pending$: until(resources.pending.value$),
    history$: until(resources.history.value$),
    balances$: until(resources.balances.value$),
    positions$: until(resources.positions.value$),
    equity$: until(equityStream(clock, orderManager.positions, priceChanges)),
  };
};

/** Accounts of all users of a service, at least one. */
export interface UserAccounts {
  readonly first: UserAccount;
  readonly all: readonly UserAccount[];
  /** The user's branch, the first one's where none is named. */
  readonly of: (uid: string | undefined, asker: string) => UserAccount;
}

/**
 * Creates one account for each user; the first one reads the products for all. A strategy with an unknown user is
 * refused before any request.
 */
export const createUserAccounts = (parts: UserAccountParts, { users }: OpenService): UserAccounts => {
  const [user, ...others] = users;
  if (user === undefined)
    throw new SluiceError("CONFIG_INVALID", "config.service opened without a user. Give it at least one.");
  const first = createUserAccount(parts, user);
  const all = [first, ...others.map((other) => createUserAccount(parts, other, first.resources))];
  const byUid = new Map(all.map((account) => [account.user.uid, account]));
  const of = (uid: string | undefined, asker: string): UserAccount => {
    const account = uid === undefined ? first : byUid.get(uid);
    if (account !== undefined) return account;
    const uids = [...byUid.keys()];
    throw new SluiceError(
      "CONFIG_INVALID",
      `${asker}: the service has no user "${uid}"; it has ${uids.join(", ")}.${didYouMean(uid ?? "", uids)}`,
    );
  };
  for (const { name, user: uid } of parts.config.strategies) of(uid, `strategy "${name}"`);
  return { first, all, of };
};

/** Pause between two questions whether a service that refused an order takes orders again. */
const refusalCheckMs = 1_000;

/**
 * The service's reason to refuse orders, as before an account is confirmed or while live prices are missing; undefined
 * for a service that never refuses. What was refused is tried again within a second of the end, also where its strategy
 * does not emit again.
 */
export const watchRefusals = (
  { clock, ordersRefused }: OpenService,
  accounts: () => UserAccounts["all"],
): (() => string | undefined) | undefined => {
  if (ordersRefused === undefined) return undefined;
  let isWatched = false;
  const checkLater = (): void => {
    isWatched = true;
    clock.setTimer(clock.now() + refusalCheckMs, () => {
      isWatched = false;
      if (ordersRefused() !== undefined) checkLater();
      else for (const { orderManager } of accounts()) orderManager.reconsider();
    });
  };
  return () => {
    const reason = ordersRefused();
    if (reason !== undefined && !isWatched) checkLater();
    return reason;
  };
};
