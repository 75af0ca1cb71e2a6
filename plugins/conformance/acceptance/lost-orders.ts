/**
 * Run of lost and doubled orders: an engine places and cancels one order through a faulty proxy, fault by fault, and a
 * second client counts the orders at the service.
 *
 * Invariants: one order is wanted, so never more than one is there; after it was withdrawn none is; every run of a
 * fault has a deadline, and orders that it leaves open are canceled and named; nothing is placed before the product's
 * own steps and a price are known.
 * Not here: faults (faulty-way.ts), the rules of a dialect (verify/conformance/).
 */
import {
  BehaviorSubject,
  filter,
  firstValueFrom,
  fromEvent,
  map,
  merge,
  type Observable,
  ReplaySubject,
  switchMap,
  take,
  takeUntil,
} from "rxjs";
import {
  type Credentials,
  createEngine,
  defineStrategy,
  live,
  mul,
  type OrderUpdate,
  toStep,
  type WantedOrder,
} from "sluice";
import type { Dialect, EndpointName, ProfileOverrides, WireRequest, WrittenCall } from "sluice/dialect";
import { after, type Clock } from "sluice/extension";
import { pass, type Verdict } from "../rules/rule.ts";
import { openFaultyWay, type WayFault } from "./faulty-way.ts";

/** The product to trade, in base currency and its own steps. */
export interface TradedProduct {
  readonly instId: string;
  readonly tickSize: string;
  /** Size of the order. */
  readonly qty: string;
  /** Price of the order; far below the first bid when left out. */
  readonly px?: string;
}

interface LostOrdersOptions {
  readonly url: string;
  readonly wsUrl: string;
  readonly dialect: Dialect;
  readonly profile: ProfileOverrides;
  readonly credentials: Credentials;
  readonly clock: Clock;
  readonly product: TradedProduct;
  /** Service ids of open orders of the product, as the service itself lists them. */
  readonly openOrders: () => Promise<readonly string[]>;
  readonly stop: AbortSignal;
}

/** Two calls of a kind in a row meet the fault; one that never arrived takes the longest to be sure of. */
const timesOf = (fault: WayFault): number => (fault === "drop_request" ? 1 : 2);
const deadlineMs = 180_000;
/** Longest delay of a service's lists after its answers. */
const settleMs = 1_500;
const timeoutMs = 3_000;
/** Price of the test order as a factor of the first bid. */
const farBelow = "0.8";

const faulted: readonly EndpointName[] = ["placeOrder", "cancelBatch"];

/** Returns the endpoint of a call, recognized by its bytes. */
const namedCalls = (
  dialect: Dialect,
): { readonly dialect: Dialect; readonly endpointOf: (seen: Sent) => EndpointName | undefined } => {
  const known = new Map<string, EndpointName>();
  const call = (request: WireRequest): WrittenCall => {
    const written = dialect.call?.(request) ?? request;
    if (faulted.includes(request.endpoint))
      known.set(markOf(written.method, written.path, JSON.stringify(written.body)), request.endpoint);
    return written;
  };
  // Untried it may be, but not where no money is at stake.
  return {
    dialect: { ...dialect, call, tried: true },
    endpointOf: ({ method, path, body }) => known.get(markOf(method, path, body)),
  };
};

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

const markOf = (method: string, path: string, body = ""): string => `${method} ${path.split("?")[0]} ${body}`;

/**
 * Drops, corrupts or duplicates a placement and then its cancel, and returns a verdict on the state of the one order.
 */
export const loseOrder = async (options: LostOrdersOptions, fault: WayFault): Promise<Verdict> => {
  const { url, wsUrl, profile, credentials, clock, product } = options;
  const { dialect, endpointOf } = namedCalls(options.dialect);
  const left = new Map<EndpointName, number>(faulted.map((endpoint) => [endpoint, timesOf(fault)]));
  const faultFor = (seen: Sent): WayFault | undefined => {
    const endpoint = endpointOf(seen);
    const times = endpoint === undefined ? 0 : (left.get(endpoint) ?? 0);
    if (endpoint === undefined || times === 0) return undefined;
    left.set(endpoint, times - 1);
    return fault;
  };
  const way = await openFaultyWay({ target: url, faultFor });
  const wanted$ = new BehaviorSubject<readonly WantedOrder[]>([]);
  const service = live({
    environment: "testnet",
    baseUrl: way.url,
    wsUrl,
    keys: [{ credentials }],
    dialect,
    timeoutMs,
    clock,
  });
  const engine = createEngine({ service, profile, strategies: [wanting(product, wanted$)({})] });
  try {
    const before = new Set(await options.openOrders());
    const own = async (): Promise<number> => {
      await firstValueFrom(after(clock, settleMs));
      return (await options.openOrders()).filter((ordId) => !before.has(ordId)).length;
    };
    await engine.start();
    return await judged({
      product,
      clock,
      wanted$,
      updates$: engine.updates$.pipe(takeUntil(fromEvent(options.stop, "abort"))),
      own,
      isMet: (endpoint) => (left.get(endpoint) ?? 0) < timesOf(fault),
    });
  } finally {
    wanted$.complete();
    await engine.stop({ cancel: true });
    await engine.service.stop();
    await way.close();
  }
};

/** Strategy that wants the given orders as soon as there is a price. */
const wanting = ({ instId, tickSize, px }: TradedProduct, wanted$: Observable<readonly WantedOrder[]>) =>
  defineStrategy({
    name: "lost-orders",
    options: { type: "object", additionalProperties: false, properties: {} },
    wanted: ({ market }) =>
      market.quotes(instId).pipe(
        take(1),
        switchMap(({ bidPx }) =>
          wanted$.pipe(
            map((orders) =>
              orders.map((order) => ({ ...order, px: px ?? toStep(mul(bidPx, farBelow), tickSize, "down") })),
            ),
          ),
        ),
      ),
  });

interface Play {
  readonly product: TradedProduct;
  readonly clock: Clock;
  readonly wanted$: BehaviorSubject<readonly WantedOrder[]>;
  readonly updates$: Observable<OrderUpdate>;
  /** Returns the number of orders of this run that the service lists as open. */
  readonly own: () => Promise<number>;
  /** Some call of the endpoint met the fault. */
  readonly isMet: (endpoint: EndpointName) => boolean;
}

const judged = async ({ product: { instId, qty }, clock, wanted$, updates$, own, isMet }: Play): Promise<Verdict> => {
  // Subscribed before the order is wanted, because earlier updates are not repeated.
  const seen$ = new ReplaySubject<OrderUpdate>();
  const listening = updates$.subscribe(seen$);
  const until = (fits: (update: OrderUpdate) => boolean): Promise<OrderUpdate | undefined> =>
    firstValueFrom(merge(seen$.pipe(filter(fits)), after(clock, deadlineMs).pipe(map(() => undefined))).pipe(take(1)), {
      defaultValue: undefined,
    });
  try {
    wanted$.next([{ slot: "bid", instId, side: "buy", px: "0", qty }]);
    const resting = await until(({ phase }) => phase === "acked" || phase === "live");
    if (resting === undefined) return failed("an order that rests", "none was known to rest in time");
    if (!isMet("placeOrder"))
      return failed("a placement that meets the fault", "no placement was recognised by the bytes that left");
    const open = await own();
    if (open !== 1) return failed("one open order", `the service lists ${open}`);
    wanted$.next([]);
    const ended = await until(({ clOrdId, isFinal }) => isFinal && clOrdId === resting.clOrdId);
    if (ended?.phase !== "canceled")
      return failed("a canceled order", ended === undefined ? "no end was known in time" : ended.phase);
    if (!isMet("cancelBatch"))
      return failed("a cancel that meets the fault", "no cancel was recognised by the bytes that left");
    const still = await own();
    return still === 0 ? pass : failed("no open order", `the service lists ${still}`);
  } finally {
    listening.unsubscribe();
  }
};

const failed = (expected: string, got: string): Verdict => ({
  kind: "fail",
  expected,
  got,
  request: "a placement and its cancel",
});
