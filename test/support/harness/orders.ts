/**
 * The client's order path against the embedded service on virtual time, with a road between them that can be broken.
 */
import { type Observable, of, Subject } from "rxjs";
import { createGateway, type Gateway } from "../../../src/client/gateway.ts";
import { inProcess } from "../../../src/client/transport/in-process.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import type { ProfileOverrides } from "../../../src/contract/profile.ts";
import type { OrderRecord, PlaceBody } from "../../../src/contract/schemas.ts";
import type { Transport, WireRequest, WireResponse } from "../../../src/contract/transport.ts";
import { serviceCalendar } from "../../../src/engine/calendar-watch.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { Event, EventType } from "../../../src/journal/events.ts";
import type { ProtectionRecord } from "../../../src/journal/protection-records.ts";
import { createOrders } from "../../../src/orders/manual-orders.ts";
import { OrderManager } from "../../../src/orders/order-manager.ts";
import type { OrderUpdate } from "../../../src/orders/order-update.ts";
import type { WantedProtection } from "../../../src/orders/protection/protect.ts";
import { type RuleSet, rulesOf } from "../../../src/orders/risk/pre-trade-checks.ts";
import { createResources, defaultFreshness } from "../../../src/orders/state/resources.ts";
import type { Wanted, WantedOrder } from "../../../src/orders/wanted-order.ts";
import { layersOf } from "../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";
import { createVenue, type VenueInstrument } from "../../../src/venue/venue.ts";

export const swap = "BTC-USDT-SWAP";
export const eth = "ETH-USDT-SWAP";
export const spot = "BTC-USDT";

const instruments: readonly VenueInstrument[] = [
  { instId: swap, tickSize: "0.1", lotSize: "0.001" },
  { instId: eth, tickSize: "0.01", lotSize: "0.01", contractValue: "0.1" },
  { instId: spot, tickSize: "0.1", lotSize: "0.001" },
];

/** What happens to one request on the road. `answer` is what came back from the service, after it was applied. */
export interface Fault {
  /** The request never arrives. */
  readonly lost?: boolean;
  /** What is read instead of the answer; undefined loses it. Not given: the answer itself. */
  readonly answer?: (real: WireResponse | undefined) => WireResponse | undefined;
  /** Later arrival and later answer, milliseconds. */
  readonly outMs?: number;
  readonly backMs?: number;
}

export const lostAnswer: Fault = { answer: () => undefined };
export const lostRequest: Fault = { lost: true, answer: () => undefined };
export const reply = (status: number, body?: unknown): Fault => ({
  lost: true,
  answer: () => ({ status, headers: {}, body }),
});
/** The service acts, and something else is read. */
export const garbled = (status: number, body?: unknown): Fault => ({ answer: () => ({ status, headers: {}, body }) });

export interface Arrival {
  readonly endpoint: EndpointName;
  readonly request: WireRequest;
  readonly at: number;
}

export interface RigOptions {
  readonly profile?: ProfileOverrides;
  readonly rules?: Partial<RuleSet>;
  readonly limits?: boolean;
  /** Whether records are pushed; otherwise only listings and lookups tell. */
  readonly push?: boolean;
  /** Whether the engine may rely on pushes, as it changes. */
  readonly pushing$?: Observable<boolean>;
  readonly latencyMs?: number;
  readonly permissions?: readonly string[];
  readonly startAt?: number;
  /** Fault of a request, asked once as it leaves. */
  readonly fault?: (request: WireRequest, at: number) => Fault | undefined;
  readonly instance?: string;
  /** Why exits may leave with the service's flag only. */
  readonly flagOnly?: () => string | undefined;
  /** Milliseconds for which an exit lets another process go first. */
  readonly yieldMs?: () => number;
  /** Stands between the orders, the resources and the gateway. */
  readonly door?: (gateway: Gateway) => Gateway;
  /** The service of an earlier rig goes on. */
  readonly earlier?: { readonly venue: ReturnType<typeof createVenue>; readonly clock: { now(): number } };
}

const uid = "ann";
const timeoutMs = 10_000;

export const createRig = (options: RigOptions = {}) => {
  const {
    latencyMs = 20,
    push = true,
    limits = false,
    permissions = ["read", "trade_futures", "trade_spot"],
  } = options;
  const clock = createVirtualClock(options.startAt ?? (options.earlier?.clock.now() ?? 1_700_000_010_000) + 1);
  const contract = createContract(options.profile);
  const keys = [{ name: "k1", permissions }];
  const fees = { makerBps: "2", takerBps: "5" };
  const venue =
    options.earlier?.venue ??
    createVenue({
      contract,
      instruments,
      users: [{ uid, keys, balances: { USDT: "1000000", BTC: "10" } }],
      fees: { SPOT: fees, SWAP: fees },
      enforceLimits: limits,
    });
  const arrivals: Arrival[] = [];
  const faults: ((request: WireRequest) => Fault | undefined)[] = [];
  const latency = { name: "constant", entryMs: () => latencyMs, responseMs: () => latencyMs, feedMs: () => 0 };
  const faultOf = (request: WireRequest): Fault | undefined => {
    const fixed = options.fault?.(request, clock.now());
    if (fixed !== undefined) return fixed;
    for (const [index, fault] of faults.entries()) {
      const hit = fault(request);
      if (hit === undefined) continue;
      faults.splice(index, 1);
      return hit;
    }
    return undefined;
  };
  const transport: Transport = (request, sink) => {
    const fault = faultOf(request);
    if (fault?.outMs !== undefined && fault.outMs > timeoutMs) {
      // It arrives when nobody waits for the answer any more.
      const { method, path, query, body, key } = request;
      const at = clock.now() + fault.outMs;
      clock.setTimer(at, () => {
        venue.handle({ method, path, query, body, key, ip: "1.1.1.1" }, at);
      });
    }
    const road = {
      ...latency,
      entryMs: () => Math.min(latencyMs + (fault?.outMs ?? 0), timeoutMs),
      responseMs: () => latencyMs + (fault?.backMs ?? 0),
    };
    const wire = inProcess({
      clock,
      latency: road,
      timeoutMs,
      handle: ({ method, path, query, body, key }, at) => {
        arrivals.push({ endpoint: request.endpoint, request, at });
        const real =
          fault?.lost === true || (fault?.outMs ?? 0) > timeoutMs
            ? undefined
            : venue.handle({ method, path, query, body, key, ip: "1.1.1.1" }, at);
        return fault?.answer === undefined ? real : fault.answer(real);
      },
    });
    wire(request, sink);
  };
  const journal = new EventLog(() => clock.now());
  const events: Event[] = [];
  journal.attach((event) => events.push(event));
  const ledger = createLedger({ layers: limits ? layersOf(contract) : [], startedAt: clock.now() });
  const scheduler = createScheduler({ clock, ledger, transport, journal });
  const { door = (gateway) => gateway } = options;
  const gateway = door(createGateway({ clock, contract, scheduler, journal, user: { uid, ip: "1.1.1.1", keys } }));
  const pushes$ = new Subject<OrderRecord>();
  venue.onOrder((_, record) => {
    if (push) clock.setTimer(clock.now() + latencyMs, () => pushes$.next(record));
  });
  const resources = createResources({
    clock,
    contract,
    gateway,
    journal,
    pushes$,
    pushing$: options.pushing$ ?? of(push),
    freshness: defaultFreshness,
  });
  const openCounts: number[] = [];
  let marketPx: string | undefined = "60000";
  let shownPx: string | undefined;
  const priceChanges$ = new Subject<void>();
  const prices = new Set<(px: string) => void>();
  const protectionRecords: ProtectionRecord[] = [];
  const orderManager = new OrderManager({
    clock,
    serviceNow: () => serviceCalendar(ledger.clock, clock.now())?.from,

    contract,
    gateway,
    journal,
    store: resources.store,
    instance: options.instance ?? "test",
    rules: rulesOf(options.rules),
    balances: resources.balances,
    contractValues: resources.contractValues,
    instruments: () => resources.instruments.current.value,
    pauses: () => false,
    marketPx: () => marketPx,
    priceChanges: () => priceChanges$,
    prices: {
      watch: (_, __, ___, listener) => {
        const tell = (px: string): void => {
          listener({ px, low: px, high: px, since: clock.now() });
        };
        prices.add(tell);
        if (shownPx !== undefined) tell(shownPx);
        return { changed: () => undefined, end: () => prices.delete(tell) };
      },
    },
    flagOnly: options.flagOnly,
    yieldMs: options.yieldMs,
    onProtection: (record) => protectionRecords.push(record),
    onOpenOrders: (count) => {
      openCounts.push(count);
      ledger.noteOpen(uid, count);
    },
    onDoubt: (needed) => {
      resources.pending.refresh(needed);
    },
    onUnknownInstrument: () => {
      resources.instruments.refresh();
    },
  });
  const updates: OrderUpdate[] = [];
  orderManager.listen((update) => updates.push(update));
  const refusals: string[] = [];
  orderManager.refusals$.subscribe(({ reason }) => refusals.push(reason));

  const bodiesOf = (endpoint: EndpointName): unknown[] =>
    arrivals.filter((arrival) => arrival.endpoint === endpoint).map(({ request }) => request.body);
  const rig = {
    clock,
    contract,
    venue,
    ledger,
    scheduler,
    gateway,
    resources,
    orderManager,
    journal,
    events,
    arrivals,
    updates,
    refusals,
    openCounts,
    pushes$,
    orders: createOrders(orderManager, "s", clock),
    setMarketPx: (px: string | undefined): void => {
      marketPx = px;
      priceChanges$.next();
    },
    /** The price that triggers protections. */
    price: (px: string): void => {
      shownPx = px;
      for (const tell of [...prices]) tell(px);
    },
    /** What was kept of protections for the next run. */
    protectionRecords,
    /** The next request of an endpoint meets this. */
    next: (endpoint: EndpointName, fault: Fault): void => {
      faults.push((request) => (request.endpoint === endpoint ? fault : undefined));
    },
    run: (ms = 200): void => {
      clock.advanceTo(clock.now() + ms);
    },
    want: (...wanted: readonly Wanted[]): void => {
      const isOrder = (one: Wanted): one is WantedOrder => "slot" in one;
      orderManager.want(
        "s",
        wanted.filter(isOrder),
        wanted.filter((one): one is WantedProtection => !isOrder(one)),
      );
    },
    places: () => bodiesOf("placeOrder") as (PlaceBody & { readonly clOrdId: string })[],
    cancels: () =>
      bodiesOf("cancelBatch") as { readonly instId: string; readonly ordId?: string; readonly clOrdId?: string }[][],
    count: (endpoint: EndpointName): number => bodiesOf(endpoint).length,
    /** What rests at the service, in truth: side and price, newest first. */
    resting: (): string[] =>
      venue
        .truth(uid)
        .orders.filter(({ state }) => state === "live" || state === "partially_filled")
        .map(({ side, px }) => `${side} ${px}`),
    truth: () => venue.truth(uid).orders,
    phases: (slot: string): string[] => updates.filter((update) => update.slot === slot).map(({ phase }) => phase),
    journalled: (type: EventType): Event[] => events.filter((event) => event.type === type),
    /** Somebody trades at the service: `side` is the aggressor's. */
    trade: (side: "buy" | "sell", px: number, qty: number, instId = swap): void => {
      const ticksPerUnit = instId === eth ? 100 : 10;
      const lotsPerUnit = instId === eth ? 100 : 1000;
      venue.trade(instId, side, Math.round(px * ticksPerUnit), Math.round(qty * lotsPerUnit), clock.now());
    },
  };
  resources.instruments.value$.subscribe();
  return rig;
};

export type Rig = ReturnType<typeof createRig>;

/** A rig that has read its instruments. */
export const ready = (options: RigOptions = {}): Rig => {
  const rig = createRig(options);
  // The ledger lets nothing leave in the first second of a life.
  rig.run(1_500);
  rig.arrivals.length = 0;
  return rig;
};

export const bid = (over: Partial<WantedOrder> = {}): WantedOrder => ({
  slot: "bid",
  instId: swap,
  side: "buy",
  px: "60000",
  qty: "0.01",
  ...over,
});
