/**
 * Compares protective orders with those that the fills at the service and the prices seen by an engine require.
 *
 * Invariants: what has to be protected, and at which price, follows from the wanted orders of strategies, the service's
 * fills and the prices delivered to the process, and not from the engine's protections; time counts against the engine
 * only while it could have acted; knowledge that was lost with a journal is not required.
 * Not here: arithmetic (protected-position.ts), the quantity that the engine reports as protected (armed-positions.ts),
 * comparisons after quiet (holdings-check.ts).
 */
import type { Subscription } from "rxjs";
import type { Event, Market, OrderRecord, Quote, Wanted, WantedOrder } from "sluice";
import type { Fill } from "sluice/backtest";
import type { PlaceBody } from "sluice/dialect";
import { type ClientOrderIds, isActive } from "sluice/extension";
import { ArmedPositions } from "./armed-positions.ts";
import type { Invariant } from "./invariants.ts";
import type { Watched } from "./oracle.ts";
import { Book, Cover } from "./protected-position.ts";

type Protect = NonNullable<WantedOrder["protect"]>;

/** Part of the engine that decides whether it could have acted. */
interface ProtectingEngine {
  readonly number: number;
  readonly state: string;
  readonly clock: { readonly alive: boolean; readonly paused: boolean };
  readonly journalFailed: boolean;
  readonly watched: Watched;
  readonly feed: Market;
}

interface ProtectionOracleOptions {
  readonly ids: ClientOrderIds;
  readonly now: () => number;
  readonly every: (ms: number, run: () => void) => void;
  readonly amnesia: () => boolean;
  /** Nothing fails. */
  readonly isCalm: boolean;
  /** Returns true if no order of this instrument can be sent. */
  readonly closed: (instId: string) => boolean;
  readonly tickOf: (instId: string) => number;
  readonly lotOf: (instId: string) => number;
  /** Its lots were made coarser: positions are no whole number of them, and sizes are rounded by them. */
  readonly isCoarse: (instId: string) => boolean;
  readonly mark: (name: string) => void;
  readonly fail: (invariant: Invariant, text: string) => void;
}

interface Owner {
  readonly strategy: string;
  /** Slot of the entry; empty if the whole position is protected. */
  readonly slot: string;
  /** It closes what `slot` protects. */
  readonly closes: boolean;
  /** It is wanted as an exit by its strategy. */
  readonly exits?: boolean;
}

const lookMs = 250;
/** Longest delay of a stop without failures: round trip of a cancel, one way of the stop, and two looks. */
const calmMsMax = 750;
/**
 * Longest time for which a stop may be due while nothing keeps the engine from sending it: an exit waits up to 5 s for
 * cancels of its side, a fill may be found only by reading when pushes are lost, and a limited request waits for the
 * next minute, which is not counted here.
 */
const firstMsMax = 20_000;
/** After an attempt that executed nothing: the longest pause between two, and as long as a first one may take. */
const nextMsMax = 60_000 + firstMsMax;
/**
 * For so long after it was limited a request that closes may wait for its minute, and after a refusal for the list of
 * instruments.
 */
const minuteMs = 61_000;
/** Longest time for which a position may be held without its protection being armed. */
const armedMsMax = firstMsMax;
/** A record of a protection is on disk after so long, unless the disk fails. */
const recordedMs = 6_000;
/** Classes of requests that a stop may have to wait for: it leaves when a resting take-profit is known to be gone. */
const waiting: readonly string[] = ["close", "cancel", "resolve"];
const onItsWay: readonly string[] = ["sent", "acked", "unknown", "canceling"];

const keyOf = ({ strategy, instId }: Book): string => `${strategy} ${instId}`;

const isProtected = (protect: Protect | undefined): protect is Protect =>
  protect !== undefined &&
  (protect.stopLoss !== undefined || protect.trailing !== undefined || protect.takeProfit !== undefined);

export class ProtectionOracle {
  readonly #options: ProtectionOracleOptions;
  /** By slot hash. */
  readonly #owners = new Map<string, Owner>();
  readonly #protects = new Map<string, Protect>();
  readonly #wholes = new Map<string, Protect>();
  readonly #books = new Map<string, Book>();
  readonly #quotes = new Map<string, Quote>();
  readonly #watching = new Map<string, Subscription>();
  /**
   * Orders whose fills the process does not know yet, by the service's id: strategy and instrument, and executed size.
   */
  readonly #unknownFills = new Map<string, { readonly book: string; readonly filled: number }>();
  readonly #armed = new ArmedPositions();
  /** Milliseconds for which more was held than the engine protected, by strategy and instrument. */
  readonly #uncoveredMs = new Map<string, number>();
  /** Closing orders that are over at the service. */
  readonly #ended = new Set<string>();
  /** Price at which a closing order was sized, by client order id. */
  readonly #sizedAt = new Map<string, number>();
  #process: ProtectingEngine | undefined;
  #isOn = false;
  #healthyAt = Number.NEGATIVE_INFINITY;
  readonly #closedUntil = new Map<string, number>();
  #limitedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: ProtectionOracleOptions) {
    this.#options = options;
  }

  /** Positions of each strategy in each instrument, by its fills at the service. */
  get books(): readonly Book[] {
    return [...this.#books.values()];
  }

  /** A strategy wants this from now on. */
  wants(process: ProtectingEngine, strategy: string, set: readonly Wanted[]): void {
    this.#follow(process);
    this.#wholes.forEach((_, key) => {
      if (key.startsWith(`${strategy} `) && !set.some((one) => !("slot" in one) && key === `${strategy} ${one.instId}`))
        this.#wholes.delete(key);
    });
    for (const one of set) {
      const slot = "slot" in one ? one.slot : "";
      if (slot === "") this.#name(strategy, "", `${one.instId}.exit`);
      else
        this.#owners.set(this.#options.ids.slotHash(strategy, slot), {
          strategy,
          slot,
          closes: false,
          exits: "slot" in one && one.reduceOnly === true,
        });
      if (one.protect === undefined) continue;
      if (slot !== "") this.#name(strategy, slot, `${slot}.exit`);
      (slot === "" ? this.#wholes : this.#protects).set(`${strategy} ${slot === "" ? one.instId : slot}`, one.protect);
      if (isProtected(one.protect)) this.#begin(process, one.instId);
    }
  }

  /** An order is about to leave. */
  sent({ clOrdId = "", instId, side }: PlaceBody): void {
    const owner = this.#ownerOf(clOrdId);
    if (owner?.closes !== true) return;
    const quote = this.#quotes.get(instId);
    if (quote !== undefined) this.#sizedAt.set(clOrdId, side === "sell" ? quote.bidFloat : quote.askFloat);
    const cover = this.#books.get(`${owner.strategy} ${instId}`)?.covers.get(owner.slot);
    if (cover?.due === undefined) return;
    cover.attempts++;
    cover.idleMs = 0;
  }

  event({ number, fills }: Watched, event: Event): void {
    this.#armed.event(number, event);
    if (event.type === "action.held" && waiting.includes(event.class))
      this.#limitedUntil = this.#options.now() + minuteMs;
    if (event.type === "quota.rejected") this.#limitedUntil = this.#options.now() + minuteMs;
    if (event.type !== "order.changed" || event.record === undefined) return;
    const { ordId } = event.record;
    if (Number(fills.get(ordId) ?? "0") >= (this.#unknownFills.get(ordId)?.filled ?? Number.POSITIVE_INFINITY))
      this.#unknownFills.delete(ordId);
  }

  /** A record of the service changed. */
  order({ clOrdId, ordId, instId, accFillSz, state }: OrderRecord): void {
    const owner = this.#ownerOf(clOrdId);
    if (owner?.closes === true && !isActive(state)) this.#ended.add(clOrdId);
    if (owner === undefined || accFillSz === "" || Number(accFillSz) === 0) return;
    this.#unknownFills.set(ordId, { book: `${owner.strategy} ${instId}`, filled: Number(accFillSz) });
  }

  readonly fill = ({ clOrdId, instId, side, qty, px }: Fill): void => {
    const owner = this.#ownerOf(clOrdId);
    if (owner === undefined) return;
    const key = `${owner.strategy} ${instId}`;
    const book = this.#books.get(key) ?? new Book(owner.strategy, instId);
    this.#books.set(key, book);
    if (owner.closes) this.#checkClosing(book, owner, { clOrdId, side, qty: Number(qty), px: Number(px) });
    book.fill(side, Number(qty), Number(px));
    const protect = this.#protects.get(`${owner.strategy} ${owner.slot}`);
    if (owner.closes) book.covers.get(owner.slot)?.exited(Number(qty));
    if (!owner.closes && isProtected(protect)) {
      const cover = book.covers.get(owner.slot) ?? new Cover(owner.slot, side === "buy" ? "sell" : "buy", protect);
      // The oldest comes first.
      if (cover.qty === 0) book.covers.delete(owner.slot);
      book.covers.set(owner.slot, cover);
      cover.protect = protect;
      cover.entered(Number(qty), Number(px));
    }
    const whole = this.#wholes.get(key);
    if (whole !== undefined && !book.covers.has("")) book.covers.set("", new Cover("", "sell", whole));
    book.fit();
  };

  /**
   * Returns true if the strategy's own exit may wait: the position that it would reduce is being closed, or is too
   * small.
   */
  mayWait(strategy: string, instId: string): boolean {
    const book = this.#books.get(`${strategy} ${instId}`);
    const isLess = (net: number): boolean =>
      Math.abs(net) < this.#options.lotOf(instId) || this.#options.isCoarse(instId);
    return book !== undefined && (isLess(book.net) || [...book.covers.values()].some(({ qty }) => qty > 0));
  }

  /** It closes what is protected, or is the strategy's own exit. */
  isExit(clOrdId: string): boolean {
    const owner = this.#ownerOf(clOrdId);
    return owner?.closes === true || owner?.exits === true;
  }

  /** It is the take-profit of something that is held. */
  mayRest(clOrdId: string, instId: string): boolean {
    const { strategy, slot, closes } = this.#ownerOf(clOrdId) ?? {};
    const cover = this.#books.get(`${strategy} ${instId}`)?.covers.get(slot ?? "");
    return closes === true && cover !== undefined && cover.qty > 0 && cover.protect.takeProfitAs === "limit";
  }

  #name(strategy: string, slot: string, exitSlot: string): void {
    for (const name of [exitSlot, `${exitSlot}.late`])
      this.#owners.set(this.#options.ids.slotHash(strategy, name), { strategy, slot, closes: true });
  }

  #ownerOf(clOrdId: string): Owner | undefined {
    return this.#owners.get(this.#options.ids.read(clOrdId)?.slotHash ?? "");
  }

  #begin(process: ProtectingEngine, instId: string): void {
    if (!this.#watching.has(instId)) {
      const see = (quote: Quote): void => this.#see(process, quote);
      this.#watching.set(instId, process.feed.quotes(instId).subscribe(see));
    }
    if (this.#isOn) return;
    this.#isOn = true;
    this.#options.every(lookMs, () => this.#look());
  }

  /** Follows a new process, which continues with the data that the last one left on disk. */
  #follow(process: ProtectingEngine): void {
    if (this.#process === process) return;
    const isFirst = this.#process === undefined;
    this.#process = process;
    for (const subscription of this.#watching.values()) subscription.unsubscribe();
    this.#watching.clear();
    this.#quotes.clear();
    this.#uncoveredMs.clear();
    this.#limitedUntil = Number.NEGATIVE_INFINITY;
    if (isFirst) return;
    for (const { covers } of this.#books.values())
      for (const cover of covers.values()) cover.forget(this.#healthyAt - recordedMs);
  }

  #see(process: ProtectingEngine, quote: Quote): void {
    if (process !== this.#process || process.state !== "running") return;
    const { instId, bidFloat, askFloat } = quote;
    this.#quotes.set(instId, quote);
    for (const [key, book] of this.#books) {
      if (book.instId !== instId) continue;
      const informed = this.#isInformed(key);
      for (const cover of book.covers.values()) {
        if (cover.qty === 0) continue;
        cover.see(
          cover.side === "sell" ? bidFloat : askFloat,
          this.#options.tickOf(instId),
          this.#options.now(),
          informed,
        );
      }
    }
  }

  #look(): void {
    const { now, amnesia, isCalm, closed, mark, fail } = this.#options;
    const process = this.#process;
    const isHealthy =
      process?.clock.alive === true && process.state === "running" && !process.clock.paused && !process.journalFailed;
    if (process === undefined || !isHealthy || amnesia()) return;
    this.#healthyAt = now();
    for (const book of this.#books.values()) {
      // That an instrument is listed again is asked once a minute.
      if (closed(book.instId)) this.#closedUntil.set(book.instId, now() + minuteMs);
      this.#checkArmed(process, book);
      for (const cover of book.covers.values()) {
        if (cover.due === undefined || this.#excuses(process, book, cover.qty)) continue;
        cover.idleMs += lookMs;
        const most = cover.attempts > 0 ? nextMsMax : isCalm ? calmMsMax : firstMsMax;
        if (cover.idleMs === lookMs) mark("a stop was due");
        if (cover.idleMs < most) continue;
        const { level, at } = cover.due;
        const what = `${book.strategy} ${cover.slot || book.instId}`;
        fail(
          "I16",
          `${what}: ${cover.qty} are held beyond ${level} for ${now() - at} ms, and nothing closes them (${cover.attempts} attempts)`,
        );
      }
    }
  }

  /** Compares what has to be protected with what the engine reports as protected. */
  #checkArmed(process: ProtectingEngine, book: Book): void {
    const { strategy, instId } = book;
    const key = keyOf(book);
    const covered = [...book.covers.values()].reduce((sum, { qty }) => sum + qty, 0);
    const missing = covered - this.#armed.qtyOf(strategy, instId);
    if (missing < this.#options.lotOf(instId) / 2) {
      this.#uncoveredMs.delete(key);
      return;
    }
    if (!this.#isInformed(key) || this.#excuses(process, book, covered)) return;
    const uncoveredMs = (this.#uncoveredMs.get(key) ?? 0) + lookMs;
    this.#uncoveredMs.set(key, uncoveredMs);
    if (uncoveredMs < armedMsMax) return;
    const text = `${key}: ${covered} are to be protected, and for ${uncoveredMs} ms ${missing} of them were not`;
    this.#options.fail("I16", text);
  }

  /** The process knows of every fill. */
  #isInformed(key: string): boolean {
    return ![...this.#unknownFills.values()].some((unknown) => unknown.book === key);
  }

  #excuses({ watched }: ProtectingEngine, { strategy, instId }: Book, qty: number): boolean {
    const { now, isCoarse, lotOf } = this.#options;
    if (now() < Math.max(this.#limitedUntil, this.#closedUntil.get(instId) ?? 0)) return true;
    if (watched.isFull || isCoarse(instId) || qty < lotOf(instId)) return true;
    for (const [clOrdId, phase] of watched.phases) {
      // A take-profit that has ended unseen is looked for before the stop leaves.
      if ((onItsWay.includes(phase) || this.#ended.has(clOrdId)) && this.#ownerOf(clOrdId)?.strategy === strategy)
        return true;
    }
    return false;
  }

  #checkClosing(
    book: Book,
    { strategy, slot }: Owner,
    { clOrdId, side, qty, px }: Pick<Fill, "clOrdId" | "side"> & { qty: number; px: number },
  ): void {
    const { amnesia, isCoarse, lotOf, fail, mark } = this.#options;
    mark("a protection closed");
    if (amnesia() || isCoarse(book.instId)) return;
    const held = side === "sell" ? book.net : -book.net;
    // A size in money buys more when the price improves on the way.
    const slipped = qty * Math.abs((this.#sizedAt.get(clOrdId) ?? px) / px - 1);
    const most = slipped + lotOf(book.instId) / 2;
    if (qty > held + most)
      fail("I17", `${clOrdId} (${strategy} ${slot}) ${side}s ${qty} of ${held} held: it turns the position`);
    // Which of several entries an exit of the strategy's own closed may be seen differently.
    const covered = [...book.covers.values()].reduce((sum, cover) => sum + (cover.side === side ? cover.qty : 0), 0);
    if (qty > covered + most)
      fail("I17", `${clOrdId} (${strategy} ${slot}) ${side}s ${qty} where ${covered} are protected`);
  }
}
