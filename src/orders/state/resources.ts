/**
 * The service's state as the engine offers it: instruments, orders, balances, positions.
 *
 * Invariants: instruments are read at the start and kept; the program contains no ids of instruments; an unknown id
 * causes a new read before it is refused.
 */
import { distinctUntilChanged, map, type Observable } from "rxjs";
import type { Gateway } from "../../client/gateway.ts";
import { failedReading, type Reading } from "../../client/outcome.ts";
import type { Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import type { InputOf } from "../../contract/endpoints.ts";
import { instTypeOf } from "../../contract/inst-id.ts";
import type { BalanceRecord, InstrumentRecord, OrderRecord, PositionRecord } from "../../contract/schemas.ts";
import { isPositive } from "../../decimal.ts";
import type { EventLog } from "../../journal/event-log.ts";
import { type AccountPosition, ContractValues } from "./account-positions.ts";
import { OrderLists } from "./order-lists.ts";
import { OrderStore } from "./order-store.ts";
import { PolledResource } from "./polled-resource.ts";
import type { AgedOutcome, ShareRead } from "./read-sharing.ts";

/** Largest age of a value while it is subscribed to, in milliseconds, by resource. */
export interface Freshness {
  /** Open orders, while they are not pushed. */
  readonly pendingMs: number;
  /** Open orders, while the service pushes every change: the listing is only a safety net then. */
  readonly pendingPushedMs: number;
  /** Finished orders. */
  readonly historyMs: number;
  /** Balances. */
  readonly balancesMs: number;
  /** Positions. */
  readonly positionsMs: number;
}

export const defaultFreshness: Freshness = {
  pendingMs: 10_000,
  pendingPushedMs: 30_000,
  historyMs: 30_000,
  balancesMs: 15_000,
  positionsMs: 15_000,
};

export interface Resources {
  readonly instruments: PolledResource<ReadonlyMap<string, InstrumentRecord>>;
  readonly pending: PolledResource<readonly OrderRecord[]>;
  readonly history: PolledResource<readonly OrderRecord[]>;
  readonly balances: PolledResource<readonly BalanceRecord[]>;
  readonly positions: PolledResource<readonly AccountPosition[]>;
  readonly contractValues: ContractValues;
  readonly store: OrderStore;
  /** Returns whether every change of an order is pushed now. */
  readonly pushing: () => boolean;
}

interface ResourcesOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly gateway: Gateway;
  readonly journal: EventLog;
  readonly pushes$: Observable<OrderRecord>;
  /** True if every change of an order is pushed, now and from now on; begins with the present state. */
  readonly pushing$: Observable<boolean>;
  readonly freshness: Freshness;
  /** The list that another account of the service already reads. */
  readonly listed?: Pick<Resources, "instruments" | "contractValues"> | undefined;
  /** True if the list of products cannot change, so that it is read only once. */
  readonly listFixed?: boolean;
  /** Access to reads of other engines, once this one has joined them. */
  readonly share?: (() => ShareRead | undefined) | undefined;
}

/** Every engine reads for itself. */
const unshared: ShareRead = (_, __, read) => read().pipe(map((outcome) => ({ outcome, ageMs: 0 })));

const reading = <R, T>({ outcome, ageMs }: AgedOutcome<R>, value: (records: readonly R[]) => T): Reading<T> =>
  outcome.kind === "done" ? { kind: "value", value: value(outcome.records), ageMs } : failedReading(outcome);

/** Positions in contracts cannot be converted before their contract values are known. */
const unlisted: Reading<never> = { kind: "failed", problem: "the instruments have not been listed yet" };

/** Trading needs both steps as positive decimals; an instrument without them is left out. */
const tradable = (record: InstrumentRecord): boolean =>
  isPositive(record.tickSize) && isPositive(record.lotSize) && (record.state === undefined || record.state === "live");

const withInstType = (record: InstrumentRecord): InstrumentRecord =>
  record.instType === undefined ? Object.assign({}, record, { instType: instTypeOf(record.instId) }) : record;

const instrumentMap = (records: readonly InstrumentRecord[]): ReadonlyMap<string, InstrumentRecord> =>
  new Map(records.filter(tradable).map((record) => [record.instId, withInstType(record)]));

export const createResources = (options: ResourcesOptions): Resources => {
  const { clock, contract, gateway, journal, pushes$, pushing$, freshness, listFixed = false } = options;
  const store = new OrderStore();
  const call = { class: "read", owner: "engine" } as const;
  const urgentCall = { class: "close", owner: "engine" } as const;
  const share: ShareRead = (what, maxAgeMs, read) => (options.share?.() ?? unshared)(what, maxAgeMs, read);
  const listed = <E extends "instruments" | "spotBalance" | "positions">(endpoint: E, maxAgeMs: number) =>
    share(endpoint, maxAgeMs, () => gateway.read(endpoint, {} as InputOf<E>, call));
  const contractValues = options.listed?.contractValues ?? new ContractValues(contract.profile, journal);
  const instrumentsIn = (records: readonly InstrumentRecord[]): ReadonlyMap<string, InstrumentRecord> => {
    contractValues.learn(records);
    return instrumentMap(records);
  };
  let pushing = false;
  const { pending, history } = new OrderLists({
    clock,
    gateway,
    journal,
    store,
    pushes$,
    pendingFreshMs: () => (pushing ? freshness.pendingPushedMs : freshness.pendingMs),
    pushing: () => pushing,
    historyFreshMs: freshness.historyMs,
    share,
  });
  const positionsIn = (aged: AgedOutcome<PositionRecord>): Reading<readonly AccountPosition[]> =>
    contractValues.isKnown ? reading(aged, (records) => contractValues.positionsOf(records)) : unlisted;
  const resources: Resources = {
    store,
    pushing: () => pushing,
    pending,
    history,
    contractValues,
    instruments:
      options.listed?.instruments ??
      new PolledResource<ReadonlyMap<string, InstrumentRecord>>({
        clock,
        initial: new Map(),
        freshMs: listFixed ? Number.POSITIVE_INFINITY : contract.profile.instruments.refreshMs,
        read: (_, maxAgeMs) => listed("instruments", maxAgeMs).pipe(map((aged) => reading(aged, instrumentsIn))),
      }),
    balances: new PolledResource<readonly BalanceRecord[]>({
      clock,
      initial: [],
      freshMs: freshness.balancesMs,
      read: (_, maxAgeMs) => listed("spotBalance", maxAgeMs).pipe(map((aged) => reading(aged, (records) => records))),
    }),
    positions: new PolledResource<readonly AccountPosition[]>({
      clock,
      initial: [],
      freshMs: freshness.positionsMs,
      read: (_, maxAgeMs) => listed("positions", maxAgeMs).pipe(map(positionsIn)),
      readUrgently: () =>
        gateway.read("positions", {}, urgentCall).pipe(map((outcome) => positionsIn({ outcome, ageMs: 0 }))),
    }),
  };
  let known = false;
  pushing$.pipe(distinctUntilChanged()).subscribe((now) => {
    pushing = now;
    // Changes between two connections were not pushed. From now on only reads show the state.
    if (known)
      for (const doubted of [pending, history, resources.balances, resources.positions])
        doubted.doubt(now ? "pushes begin again" : "pushes have stopped");
    known = true;
  });
  return resources;
};
