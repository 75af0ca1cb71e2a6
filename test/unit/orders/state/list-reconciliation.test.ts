/**
 * What the engine knows of orders against what the service lists, answer by answer: what is missing, asked for, and given up.
 */
import { map, NEVER, type Observable, of, Subject, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Gateway, ReadOptions } from "../../../../src/client/gateway.ts";
import type { Outcome } from "../../../../src/client/outcome.ts";
import { createVirtualClock } from "../../../../src/clock/virtual-clock.ts";
import type { OrderRecord } from "../../../../src/contract/schemas.ts";
import { EventLog } from "../../../../src/journal/event-log.ts";
import type { Event } from "../../../../src/journal/events.ts";
import { OrderLists } from "../../../../src/orders/state/order-lists.ts";
import { OrderStore } from "../../../../src/orders/state/order-store.ts";
import { orderRecord } from "../../../support/harness/order-record.ts";

const record = (ordId: string, over: Partial<OrderRecord> = {}): OrderRecord =>
  orderRecord({ ordId, clOrdId: `c${ordId}`, ...over });
const done = (records: readonly OrderRecord[] = [], problems: readonly string[] = []): Outcome<OrderRecord> => ({
  kind: "done",
  records,
  problems,
  at: 0,
});

type Input = Readonly<Record<string, string>>;
type Answer = (input: Input) => Observable<Outcome<OrderRecord>>;
type Listing = "pendingOrders" | "orderHistory" | "getOrder";

const setting = (over: Partial<Record<Listing, Answer>> = {}) => {
  const clock = createVirtualClock(0);
  const answers: Record<Listing, Answer> = {
    pendingOrders: () => of(done()),
    orderHistory: () => of(done()),
    getOrder: () => of(done()),
    ...over,
  };
  const asked: { readonly endpoint: string; readonly input: Input; readonly options: ReadOptions }[] = [];
  const read = (endpoint: string, input: Input, options: ReadOptions) => {
    asked.push({ endpoint, input, options });
    return answers[endpoint as Listing](input);
  };
  const journal = new EventLog(() => clock.now());
  const anomalies: Event[] = [];
  journal.attach((event) => anomalies.push(event));
  const store = new OrderStore();
  const pushes$ = new Subject<OrderRecord>();
  const gateway = { read } as unknown as Gateway;
  const lists = new OrderLists({
    clock,
    gateway,
    journal,
    store,
    pushes$,
    pendingFreshMs: () => 10_000,
    pushing: () => false,
    historyFreshMs: 30_000,
    share: (_, __, walk) => walk().pipe(map((outcome) => ({ outcome, ageMs: 0 }))),
  });
  const askedFor = (endpoint: Listing) => asked.filter((one) => one.endpoint === endpoint);
  return {
    clock,
    answers,
    asked,
    askedFor,
    anomalies,
    store,
    pushes$,
    pending: lists.pending,
    history: lists.history,
    to: (at: number) => clock.advanceTo(at),
  };
};
/** Listens to the pending list from `at` on, which reads it there. */
const listed = (it: ReturnType<typeof setting>, at: number): void => {
  it.to(at);
  it.pending.value$.subscribe();
  it.to(at);
};

describe("An answer that is no order list", () => {
  it.each<[string, Outcome<OrderRecord>, object]>([
    ["denied", { kind: "rejected", status: 403, code: "50001", msg: "no" }, { problem: "50001 no", denied: true }],
    ["rejected", { kind: "rejected", status: 500, code: "50003", msg: "busy" }, { problem: "50003 busy" }],
    ["unknown", { kind: "unknown", message: "timed out" }, { problem: "timed out" }],
    ["limited", { kind: "limited" }, { problem: "refused by a rate limit" }],
  ])("because it is %s makes both lists stale, and says why", (_, outcome, why) => {
    const it = setting({ pendingOrders: () => of(outcome), orderHistory: () => of(outcome) });
    it.history.value$.subscribe();
    listed(it, 0);
    expect(it.pending.current).toStrictEqual({ value: [], at: -1, stale: true, ...why });
    expect(it.history.current).toStrictEqual({ value: [], at: -1, stale: true, ...why });
  });

  it("because the read broke makes the list stale, and says why", () => {
    const it = setting({ pendingOrders: () => throwError(() => new Error("bug")) });
    listed(it, 0);
    expect(it.pending.current).toMatchObject({ stale: true, problem: "Error: bug" });
  });

  it("because the read was dropped says nothing new", () => {
    const it = setting();
    listed(it, 0);
    it.to(4_000);
    it.answers.pendingOrders = () => of({ kind: "dropped", reason: "not needed" });
    it.pending.refresh(() => false);
    it.to(4_000);
    expect(it.askedFor("pendingOrders")).toHaveLength(2);
    expect(it.pending.current).toMatchObject({ at: 0, stale: false });
  });
});

describe("An order that a listing leaves out", () => {
  it("is none when all that is known is listed, and nothing more is asked", () => {
    const it = setting({ pendingOrders: () => of(done([record("5")])) });
    it.store.merge(record("5"));
    listed(it, 60_000);
    expect(it.asked.map(({ endpoint }) => endpoint)).toEqual(["pendingOrders"]);
    expect(it.asked[0]?.options).toMatchObject({ class: "read", owner: "engine" });
    expect(it.pending.current.value).toEqual([record("5")]);
  });

  it.each([
    [5_000, 0],
    [5_001, 1],
  ])("is doubted only when it was known for more than five seconds: %s ms, %s lookups", (at, lookups) => {
    const it = setting({ getOrder: () => NEVER });
    it.store.merge(record("5"));
    listed(it, at);
    expect(it.askedFor("getOrder")).toHaveLength(lookups);
    expect(it.askedFor("orderHistory")).toHaveLength(lookups);
  });

  it("is as old as the first word of it, not as the last", () => {
    const it = setting();
    it.store.merge(record("5"));
    it.to(4_900);
    it.store.merge(record("5", { state: "partially_filled", accFillSz: "1" }));
    listed(it, 5_001);
    expect(it.askedFor("getOrder")).toHaveLength(1);
  });

  it("is not doubted by a listing with a record that could not be read", () => {
    const it = setting({ pendingOrders: () => of(done([], ["unreadable"])) });
    it.store.merge(record("5"));
    listed(it, 60_000);
    expect(it.asked.map(({ endpoint }) => endpoint)).toEqual(["pendingOrders"]);
    expect(it.pending.current).toMatchObject({ value: [record("5")], stale: false });
  });

  it("is asked for by id when the history does not tell either, and given up when nobody knows it", () => {
    const it = setting();
    const seen: number[] = [];
    it.pending.value$.subscribe(({ value }) => seen.push(value.length)).unsubscribe();
    it.store.merge(record("5"));
    listed(it, 60_000);
    expect(it.askedFor("getOrder")).toMatchObject([
      { input: { ordId: "5", instId: "BTC-USDT-SWAP" }, options: { class: "resolve", owner: "engine" } },
    ]);
    expect(it.store.find({ ordId: "5" })).toBeUndefined();
    expect(it.pending.current).toMatchObject({ value: [], stale: false });
    expect(it.anomalies).toMatchObject([
      { type: "anomaly", what: "order.vanished", detail: "BTC-USDT-SWAP 5 is in no listing and cannot be found" },
    ]);
  });

  it("is asked for by id also when the history cannot be read", () => {
    const it = setting({ orderHistory: () => of({ kind: "unknown", message: "timed out" }) });
    it.store.merge(record("5"));
    listed(it, 60_000);
    expect(it.askedFor("getOrder")).toHaveLength(1);
    expect(it.pending.current).toMatchObject({ value: [], stale: false });
  });

  it.each<[string, Outcome<OrderRecord>]>([
    ["tells of another order only", done([record("6", { state: "canceled" })])],
    ["could not be read", done([], ["unreadable"])],
    ["tells of it, but not all could be read", done([record("5", { state: "canceled" })], ["unreadable"])],
    ["was rejected", { kind: "rejected", status: 400, code: "51000", msg: "no" }],
    ["is not known", { kind: "unknown", message: "timed out" }],
  ])("stays as it is when the answer to its id %s", (_, outcome) => {
    const it = setting({ getOrder: () => of(outcome) });
    it.store.merge(record("5"));
    listed(it, 60_000);
    expect(it.askedFor("getOrder")).toHaveLength(1);
    expect(it.pending.current).toMatchObject({ value: [record("5")], stale: false });
    expect(it.anomalies).toEqual([]);
  });

  it("is told later and later when the answers to its id say nothing, and no more once they do", () => {
    const it = setting({ getOrder: () => of({ kind: "rejected", status: 401, code: "9", msg: "API key not found" }) });
    it.store.merge(record("5"));
    listed(it, 60_000);
    it.to(180_000);
    expect(it.askedFor("getOrder").length).toBeGreaterThanOrEqual(12);
    expect(it.anomalies.map((event) => (event.type === "anomaly" ? `${event.what} ${event.detail}` : ""))).toEqual(
      [3, 6, 12].map(
        (count) =>
          `order.unresolved BTC-USDT-SWAP 5 is in no list, and what became of it cannot be read (${count} times): 9 API key not found`,
      ),
    );
    it.answers.getOrder = () => of(done([record("5", { state: "filled" })]));
    it.to(400_000);
    expect(it.store.find({ ordId: "5" })?.state).toBe("filled");
    expect(it.anomalies).toHaveLength(3);
  });

  it("is over when the answer to its id says so, whatever else stands there", () => {
    const it = setting({
      getOrder: () => of(done([record("6", { state: "filled" }), record("5", { state: "canceled" })])),
    });
    it.store.merge(record("5"));
    listed(it, 60_000);
    expect(it.store.find({ ordId: "5" })?.state).toBe("canceled");
    expect(it.store.find({ ordId: "6" })).toBeUndefined();
    expect(it.anomalies).toEqual([]);
  });

  it("and was cancelled is asked for however young it is, but not given up so young", () => {
    const it = setting();
    it.store.merge(record("5"));
    it.store.ending("5");
    listed(it, 100);
    expect(it.askedFor("getOrder")).toHaveLength(1);
    expect(it.store.find({ ordId: "5" })).toEqual(record("5"));
    expect(it.anomalies).toEqual([]);
  });

  it("is told by the history, and then not asked for", () => {
    const it = setting({ orderHistory: () => of(done([record("5", { state: "filled" })])) });
    it.store.merge(record("5"));
    it.store.merge(record("6"));
    listed(it, 60_000);
    expect(it.store.find({ ordId: "5" })?.state).toBe("filled");
    expect(it.askedFor("getOrder").map(({ input }) => input["ordId"])).toEqual(["6"]);
  });

  it("is one of ten that are asked for at a time", () => {
    const it = setting({ getOrder: () => of({ kind: "limited" }) });
    for (let id = 1; id <= 12; id++) it.store.merge(record(String(id)));
    listed(it, 60_000);
    expect(it.askedFor("getOrder")).toHaveLength(10);
  });

  it("is looked for in the history back to the birth of the oldest that is missing", () => {
    const page = (from: number, createdAt: string) =>
      done(Array.from({ length: 100 }, (_, index) => record(String(from - index), { state: "canceled", createdAt })));
    const pages = [page(900, "3000"), page(800, "500"), page(700, "400")];
    const it = setting();
    it.answers.orderHistory = () => of(pages[it.askedFor("orderHistory").length - 1] ?? done());
    it.store.merge(record("5", { createdAt: "1000" }));
    it.store.merge(record("6", { createdAt: "5000" }));
    listed(it, 60_000);
    expect(it.askedFor("orderHistory")).toHaveLength(2);
  });

  it("needs the history and its own lookup only until something is told of it", () => {
    const it = setting({ orderHistory: () => NEVER });
    for (const id of ["5", "6"]) it.store.merge(record(id));
    listed(it, 60_000);
    const needed = it.askedFor("orderHistory")[0]?.options.needed ?? (() => undefined);
    expect(needed()).toBe(true);
    it.pushes$.next(record("5", { state: "filled" }));
    expect(needed()).toBe(true);
    it.pushes$.next(record("6", { state: "canceled" }));
    expect(needed()).toBe(false);
  });

  it("needs its lookup only until something is told of it", () => {
    const it = setting({ getOrder: () => NEVER });
    it.store.merge(record("5"));
    listed(it, 60_000);
    const needed = it.askedFor("getOrder")[0]?.options.needed ?? (() => undefined);
    expect(needed()).toBe(true);
    it.pushes$.next(record("5", { state: "filled" }));
    expect(needed()).toBe(false);
  });
});

describe("An order list", () => {
  it("is empty before anything was read", () => {
    const { pending, history } = setting();
    expect([pending.current.value, history.current.value]).toEqual([[], []]);
  });

  it("hears of what concerns it: the pending one of all, the history of what is over", () => {
    const it = setting({ pendingOrders: () => of(done([record("5")])) });
    const heard: string[] = [];
    listed(it, 0);
    it.history.value$.subscribe(({ value }) => heard.push(`history ${value.length}`));
    it.to(0);
    it.pending.value$.subscribe(({ value }) => heard.push(`pending ${value.length}`));
    heard.length = 0;
    it.pushes$.next(record("6"));
    it.pushes$.next(record("6", { state: "partially_filled", accFillSz: "1" }));
    it.pushes$.next(record("6", { state: "filled", accFillSz: "10" }));
    it.store.forget("5");
    expect(heard).toEqual(["pending 2", "pending 2", "pending 1", "history 1", "pending 0"]);
  });

  it("of history is read for its newest page alone", () => {
    const page = done(Array.from({ length: 100 }, (_, index) => record(String(900 - index), { state: "canceled" })));
    const it = setting({ orderHistory: () => of(page) });
    it.history.value$.subscribe();
    it.to(0);
    expect(it.askedFor("orderHistory")).toHaveLength(1);
    expect(it.history.current).toMatchObject({ stale: false, at: 0 });
    expect(it.history.current.value).toHaveLength(100);
  });
});
