/**
 * Timeline made of recorded events, and of the prices, books and requests that were recorded with them, if any: they
 * are replayed on a virtual clock to the same fold that follows a running engine.
 *
 * Invariants: positions, profit and fees are the sums of the recorded fills, exact; data that was not recorded is not
 * shown, and is named in the row of the engine: without prices a position is marked by the last fill, and the chart of
 * prices is empty; without requests only the spent weight of the quota is known.
 * Not here: reading events (event-file.ts, session-run.ts), playing a timeline (playback-source.ts).
 */
import { Subject } from "rxjs";
import { add, compare, type Event, isPositive, type Position, type QuotaState, sub } from "sluice";
import { layers, readInstId } from "sluice/dialect";
import {
  averagePxOf,
  type EventOf,
  type Holding,
  noHolding,
  readDecimal,
  type StrategyView,
  spellDecimal,
  unrealisedOf,
  withFill,
} from "sluice/extension";
import {
  type BookRow,
  type ControlUpdate,
  type EngineRow,
  EngineView,
  type Unrecorded,
} from "sluice/plugins/control-room";
import { PriceRows, type RecordedPrice } from "./price-rows.ts";
import type { RecordedQuota } from "./recorded-quota.ts";
import { Timeline, updatesMax } from "./timeline.ts";

interface Book {
  readonly instId: string;
  readonly currency: string;
  holding: Holding;
  fees: string;
  lastPx: string;
}

const minuteMs = layers.uid.windowMs;

/** Other recorded data, in order of time. */
export interface RecordedMore {
  readonly prices?: readonly RecordedPrice[];
  readonly books?: readonly BookRow[];
  readonly quota?: RecordedQuota;
  /** Strategies of the config, with their users and options. */
  readonly strategies?: readonly Pick<StrategyView, "name" | "user" | "options">[];
}

/** Run for the fold, built from the events of an engine alone. */
class RecordedRun {
  readonly #strategies = new Map<string, Omit<StrategyView, "positions">>();
  readonly #books = new Map<string, Map<string, Book>>();
  readonly #prices: PriceRows;
  readonly #known: RecordedMore["strategies"];
  readonly #quota: RecordedQuota | undefined;
  readonly #spent: Record<string, number> = {};
  #mode: StrategyView["mode"] = "active";
  #reason = "";
  #minute = 0;
  #used = 0;
  #foreign = 0;

  constructor(prices: PriceRows, { quota, strategies }: RecordedMore) {
    this.#prices = prices;
    this.#known = strategies;
    this.#quota = quota;
  }

  take(event: Event): void {
    this.#quota?.take(event);
    if (event.type === "engine.started") for (const name of event.strategies) this.#of(name);
    else if (event.type === "fill") this.#fill(event);
    else if (event.type === "action.sent") this.#send(event);
    else if (event.type === "quota.otherClients" && event.layer === "uid") this.#foreign = event.used;
    else if (event.type === "mode.changed")
      [this.#mode, this.#reason] = [event.mode, event.mode === "active" ? "" : event.reason];
    else if (event.type === "strategy.failed") this.#change(event.strategy, { state: "failed", error: event.message });
    else if (event.type === "strategy.restarted") this.#change(event.strategy, { state: "running" });
    else if (event.type === "strategy.halted") this.#change(event.strategy, { mode: "halted", reason: event.reason });
    else if (event.type === "strategy.reducing")
      this.#change(event.strategy, { mode: "reducing", reason: event.reason });
    else if (event.type === "strategy.resumed") this.#change(event.strategy, { mode: "active", reason: "" });
  }

  strategies(): readonly StrategyView[] {
    const isActive = this.#mode === "active";
    return [...this.#strategies.values()].map((view) => ({
      ...view,
      ...(isActive ? {} : { mode: this.#mode, reason: this.#reason }),
      positions: new Map(
        [...(this.#books.get(view.name)?.values() ?? [])].map((book) => [book.instId, this.#positionOf(book)]),
      ),
    }));
  }

  quotaAt(at: number): QuotaState {
    const spent = { ...this.#spent };
    if (this.#quota !== undefined) return { at, queued: 0, spent, ...this.#quota.stateAt(at) };
    const minute = Math.floor(at / minuteMs);
    const [used, foreign] = minute === this.#minute ? [this.#used + this.#foreign, this.#foreign] : [0, 0];
    const { capacity } = layers.uid;
    const layer = { layer: "uid", scope: "", capacity, used, reserved: 0, free: Math.max(0, capacity - used), foreign };
    return {
      at,
      layers: [{ ...layer, windowEndsAt: (minute + 1) * minuteMs, mode: "measured" }],
      queued: 0,
      inFlight: 0,
      spent,
    };
  }

  #of(name: string): Omit<StrategyView, "positions"> {
    const { user = "", options = {} } = this.#known?.find((one) => one.name === name) ?? {};
    const view = this.#strategies.get(name) ?? { name, user, state: "running", mode: "active", reason: "", options };
    this.#strategies.set(name, view);
    return view;
  }

  #change(name: string, what: Partial<StrategyView>): void {
    this.#strategies.set(name, { ...this.#of(name), ...what });
  }

  #fill({ strategy, instId, side, px, qty, cost, currency }: EventOf<"fill">): void {
    this.#of(strategy);
    const books = this.#books.get(strategy) ?? new Map<string, Book>();
    this.#books.set(strategy, books);
    const book = books.get(instId) ?? {
      instId,
      currency: currency || (readInstId(instId)?.quote ?? ""),
      holding: noHolding,
      fees: "0",
      lastPx: px,
    };
    books.set(instId, book);
    book.holding = withFill(book.holding, { side, px: readDecimal(px), qty: readDecimal(qty) });
    book.fees = add(book.fees, cost);
    book.lastPx = px;
  }

  #send({ owner, weight, at }: EventOf<"action.sent">): void {
    const minute = Math.floor(at / minuteMs);
    if (minute !== this.#minute) [this.#minute, this.#used, this.#foreign] = [minute, 0, 0];
    this.#used += weight;
    this.#spent[owner] = (this.#spent[owner] ?? 0) + weight;
  }

  #positionOf({ instId, currency, holding, fees, lastPx }: Book): Position {
    const [qty, realised] = [spellDecimal(holding.qty), spellDecimal(holding.realised)];
    const isFlat = compare(qty, "0") === 0;
    const markPx = isFlat ? "0" : (this.#prices.markPx(instId, isPositive(qty) ? "sell" : "buy") ?? lastPx);
    const unrealised = isFlat ? "0" : spellDecimal(unrealisedOf(holding, readDecimal(markPx)));
    const avgPx = isFlat ? "0" : spellDecimal(averagePxOf(holding));
    return {
      instId,
      qty,
      avgPx,
      markPx,
      currency,
      unrealised,
      realised,
      fees,
      profit: sub(add(realised, unrealised), fees),
    };
  }
}

const sampleMs = 100;

/** Returns the parts that were not recorded. */
const unrecordedIn = ({ prices, books, quota, strategies }: RecordedMore): readonly Unrecorded[] => [
  "account",
  ...((prices ?? []).length === 0 ? (["prices"] as const) : []),
  ...((books ?? []).length === 0 ? (["book"] as const) : []),
  "queue",
  ...(quota === undefined ? (["limits"] as const) : []),
  ...(strategies === undefined ? (["options"] as const) : []),
  "health",
];

/** `events` in order of time. */
export const timelineOfEvents = (
  facts: Pick<EngineRow, "name" | "kind" | "version">,
  events: readonly Event[],
  more: RecordedMore = {},
): Timeline => {
  const { prices: recorded = [], books = [] } = more;
  const timeline = new Timeline(facts.name);
  const from = Math.min(...[events[0], recorded[0], books[0]].map((first) => first?.at ?? Number.POSITIVE_INFINITY));
  const to = Math.max(from, ...[events.at(-1), recorded.at(-1), books.at(-1)].map((last) => last?.at ?? from));
  const stepMs = sampleMs * Math.max(1, Math.ceil((to - from) / sampleMs / updatesMax));
  const prices = new PriceRows();
  const run = new RecordedRun(prices, more);
  const events$ = new Subject<Event>();
  let now = from;
  let tick = (): void => undefined;
  const unrecorded = unrecordedIn(more);
  const engine: EngineRow = {
    ...facts,
    environment: "",
    startedAt: from,
    mode: "active",
    reason: "",
    state: "running",
    unrecorded,
  };
  const view = new EngineView(facts.name, engine, {
    events$,
    strategies: () => run.strategies(),
    quotaNow: () => run.quotaAt(now),
    now: () => now,
    every: (_, callback) => {
      tick = callback;
    },
  });
  const take = (update: ControlUpdate): void =>
    timeline.add({ ...update, rows: [...update.rows, ...prices.changes()] });
  take(view.snapshot());
  const taking = view.updates$.subscribe(take);
  let [event, price, book] = [0, 0, 0];
  for (let until = from + stepMs; now < to; until += stepMs) {
    now = Math.min(until, to);
    for (let next = recorded[price]; next !== undefined && next.at <= now; next = recorded[++price]) prices.take(next);
    for (let next = books[book]; next !== undefined && next.at <= now; next = books[++book]) prices.takeBook(next);
    for (let next = events[event]; next !== undefined && next.at <= now; next = events[++event]) {
      run.take(next);
      timeline.note(next);
      events$.next(next);
    }
    tick();
    // Prices move also while the engine does nothing.
    const moved = prices.changes();
    if (moved.length > 0) timeline.add({ source: facts.name, seq: 0, at: now, rows: moved });
  }
  taking.unsubscribe();
  return timeline;
};
