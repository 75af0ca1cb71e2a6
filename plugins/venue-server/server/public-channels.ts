/**
 * Public channels: the market in text, and the books kept up so that a new listener gets a whole one.
 *
 * Invariants: messages reach every listener of their channel and instrument in the order they were made; book rows are
 * shown by `flush` or when time moves on, all rows of one instant together, the last row of a price counting; a joining
 * listener gets the shown book, or the latest ticker, before anything else; messages without a listener are not built.
 * Prices are keys: one price is always spelled the same way, the shortest.
 * Not here: connections and their sequence numbers (subscriptions.ts), the source of the market.
 */

import { compare, type Side } from "sluice";
import type { Contract, wire } from "sluice/dialect";

/** A message as its listeners share it. `text` is `data` as JSON, written once however many connections send it. */
interface PublicMessage {
  readonly channel: string;
  readonly instId: string;
  readonly at: number;
  readonly action?: "snapshot" | "update";
  readonly data: readonly (
    | wire.channels.TradeMessage
    | wire.channels.TickerMessage
    | wire.channels.BookMessage
    | wire.channels.CandleMessage
  )[];
  readonly text: string;
}

interface Show {
  /** Displayed size by price. */
  readonly bids: Map<string, string>;
  readonly asks: Map<string, string>;
  /** Rows of this instant that are not shown yet. */
  readonly bidRows: Map<string, string>;
  readonly askRows: Map<string, string>;
  rowsAt: number;
  /** Instant of the last change of the shown book; 0 before its first row. */
  shownAt: number;
  trades: number;
  ticker: PublicMessage | undefined;
  snapshot: PublicMessage | undefined;
}

const newShow = (): Show => ({
  bids: new Map(),
  asks: new Map(),
  bidRows: new Map(),
  askRows: new Map(),
  rowsAt: 0,
  shownAt: 0,
  trades: 0,
  ticker: undefined,
  snapshot: undefined,
});

const timeText = (at: number): string => String(Math.floor(at));

const messageOf = (
  channel: string,
  instId: string,
  at: number,
  data: PublicMessage["data"],
  action?: "snapshot" | "update",
): PublicMessage => {
  let text: string | undefined;
  return {
    channel,
    instId,
    at,
    data,
    ...(action === undefined ? {} : { action }),
    get text() {
      text ??= JSON.stringify(data);
      return text;
    },
  };
};

const apply = (shown: Map<string, string>, rows: ReadonlyMap<string, string>): void => {
  for (const [px, sz] of rows) {
    if (compare(sz, "0") === 0) shown.delete(px);
    else shown.set(px, sz);
  }
};

/** The whole book, best levels first. */
const snapshotOf = (instId: string, show: Show): PublicMessage => {
  const sorted = (levels: ReadonlyMap<string, string>, sign: 1 | -1) =>
    [...levels].sort(([a], [b]) => sign * compare(a, b));
  const book: wire.channels.BookMessage = {
    instId,
    bids: sorted(show.bids, -1),
    asks: sorted(show.asks, 1),
    ts: timeText(show.shownAt),
  };
  return messageOf("books", instId, show.shownAt, [book], "snapshot");
};

/** Returns the first message of a new listener. */
const firstOf = (channel: string, instId: string, show: Show): PublicMessage | undefined => {
  if (channel !== "books") return channel === "tickers" ? show.ticker : undefined;
  show.snapshot ??= snapshotOf(instId, show);
  return show.snapshot;
};

/** Brings the book up to its waiting rows, and returns them. */
const shownRows = (instId: string, show: Show, at: number): wire.channels.BookMessage => {
  const { bids, asks, bidRows, askRows } = show;
  const rows: wire.channels.BookMessage = { instId, bids: [...bidRows], asks: [...askRows], ts: timeText(at) };
  apply(bids, bidRows);
  apply(asks, askRows);
  bidRows.clear();
  askRows.clear();
  show.snapshot = undefined;
  show.shownAt = at;
  return rows;
};

type MessageListener = (message: PublicMessage) => void;

interface TradePrint {
  readonly instId: string;
  readonly px: string;
  readonly sz: string;
  readonly side: Side;
  readonly at: number;
}

/** `at` is milliseconds on the service's clock. */
export class PublicChannels {
  readonly #offered: readonly string[];
  readonly #shows = new Map<string, Show>();
  readonly #listeners = new Map<string, Set<MessageListener>>();
  /** Instruments with rows that are not shown yet. */
  readonly #waiting = new Set<string>();

  constructor({ profile }: Contract) {
    this.#offered = profile.websocket.publicChannels;
  }

  /** Returns true if the profile lists the channel among the public ones. */
  offers(channel: string): boolean {
    return this.#offered.includes(channel);
  }

  trade({ instId, px, sz, side, at }: TradePrint): void {
    const tradeId = String(++this.#showOf(instId).trades);
    if (!this.#hasListeners("trades", instId)) return;
    this.#tell(messageOf("trades", instId, at, [{ instId, tradeId, px, sz, side, ts: timeText(at) }]));
  }

  /** Best bid and ask; empty text for a side that has none, and for `last` before the first trade. */
  ticker({ at, ...best }: Omit<wire.channels.TickerMessage, "ts"> & { readonly at: number }): void {
    const message = messageOf("tickers", best.instId, at, [{ ...best, ts: timeText(at) }]);
    this.#showOf(best.instId).ticker = message;
    this.#tell(message);
  }

  /** Takes one row of a book: `sz` is the quantity at `px`, 0 removes it. `buy` is the bid side. */
  level({ instId, side, px, sz, at }: TradePrint): void {
    const show = this.#showOf(instId);
    if (this.#waiting.has(instId) && at !== show.rowsAt) this.#flushOne(instId, show.rowsAt);
    show.rowsAt = at;
    this.#waiting.add(instId);
    (side === "buy" ? show.bidRows : show.askRows).set(px, sz);
  }

  /** Shows the book rows given since the last time. */
  flush(at: number): void {
    if (this.#waiting.size === 0) return;
    const due = [...this.#waiting];
    this.#waiting.clear();
    for (const instId of due) this.#flushOne(instId, at);
  }

  candle(bar: wire.channels.CandleMessage, at: number): void {
    if (this.#hasListeners("candle1m", bar.instId)) this.#tell(messageOf("candle1m", bar.instId, at, [bar]));
  }

  /**
   * Subscribes `listener`. It receives the current book or ticker before this returns. Returns the function that
   * unsubscribes.
   */
  subscribe(channel: string, instId: string, listener: MessageListener): () => void {
    const name = `${channel} ${instId}`;
    const joined = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, joined);
    const own: MessageListener = (message) => listener(message);
    joined.add(own);
    const message = firstOf(channel, instId, this.#showOf(instId));
    if (message !== undefined) listener(message);
    return () => {
      joined.delete(own);
      if (joined.size === 0 && this.#listeners.get(name) === joined) this.#listeners.delete(name);
    };
  }

  /** Number of listeners. */
  get listeners(): number {
    return [...this.#listeners.values()].reduce((total, joined) => total + joined.size, 0);
  }

  #showOf(instId: string): Show {
    let show = this.#shows.get(instId);
    if (show === undefined) {
      show = newShow();
      this.#shows.set(instId, show);
    }
    return show;
  }

  #hasListeners(channel: string, instId: string): boolean {
    return this.#listeners.has(`${channel} ${instId}`);
  }

  #tell(message: PublicMessage): void {
    for (const listener of this.#listeners.get(`${message.channel} ${message.instId}`) ?? []) listener(message);
  }

  #flushOne(instId: string, at: number): void {
    const rows = shownRows(instId, this.#showOf(instId), at);
    if (this.#hasListeners("books", instId)) this.#tell(messageOf("books", instId, at, [rows], "update"));
  }
}
