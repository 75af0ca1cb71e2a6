/**
 * Events of the service for its listeners, and the queue that delivers them.
 *
 * Invariants: news is delivered after the whole event that caused it, in the order in which things happened; a listener
 * may call the service again, and the resulting news is delivered after what is already queued. All listeners of one
 * piece of news share one object; records of orders in it are frozen.
 */
import type { Side } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";

/** One execution at the embedded exchange. */
export interface Fill {
  readonly uid: string;
  readonly instId: string;
  readonly ordId: string;
  readonly clOrdId: string;
  readonly side: Side;
  readonly px: string;
  /** Quantity in base currency, without a fee that was taken in it. */
  readonly qty: string;
  /** Price times quantity; left out where the service does not report it. */
  readonly value?: string;
  /** Fee in the currency in which it was taken, with the sign of the profile. */
  readonly fee: string;
  /**
   * The fee as a positive cost in quote currency; a rebate is negative. One taken in base currency is valued at the
   * price of the fill.
   */
  readonly cost: string;
  readonly liquidity: "maker" | "taker";
  readonly at: number;
}

/** One instant of funding of one product. Decimal text throughout. */
export interface Funding {
  readonly instId: string;
  readonly at: number;
  readonly rate: string;
  /** The mark at which positions were valued. */
  readonly px: string;
  /** Position of each user with one, in base currency: positive long, negative short. */
  readonly held: Readonly<Record<string, string>>;
  /** Payment of each of them, in the quote currency; negative where it received. */
  readonly paid: Readonly<Record<string, string>>;
}

/** One liquidated position, delivered before the fills of its order. Decimal text throughout. */
export interface Liquidation {
  readonly uid: string;
  readonly instId: string;
  readonly ordId: string;
  readonly side: Side;
  /** Quantity in base currency. */
  readonly qty: string;
  /** Value that was traded for it, in the quote currency. */
  readonly value: string;
  /** Payment into the fund, in addition to the fees of the fills. */
  readonly fee: string;
  /** Amount that the fund paid because the account could not. */
  readonly covered: string;
  readonly at: number;
}

type FillListener = (fill: Fill) => void;
export type OrderListener = (uid: string, record: Readonly<OrderRecord>, at: number) => void;

/** Listeners by kind of news: replaced when one comes or goes, so that a delivery under way is not disturbed. */
interface Listeners {
  readonly order: readonly OrderListener[];
  readonly fill: readonly FillListener[];
  readonly funding: readonly ((funding: Funding) => void)[];
  readonly liquidation: readonly ((liquidation: Liquidation) => void)[];
}

type News =
  | { readonly kind: "order"; readonly uid: string; readonly record: Readonly<OrderRecord>; readonly at: number }
  | { readonly kind: "fill"; readonly fill: Fill }
  | { readonly kind: "funding"; readonly funding: Funding }
  | { readonly kind: "liquidation"; readonly liquidation: Liquidation };

export class VenueEvents {
  readonly listeners: { -readonly [K in keyof Listeners]: Listeners[K] } = {
    order: [],
    fill: [],
    funding: [],
    liquidation: [],
  };
  /** Events that were not delivered yet. */
  readonly queue: News[] = [];
  #next = 0;
  #delivering = false;

  /** Adds a listener. The returned function removes it. */
  listen<K extends keyof Listeners>(kind: K, listener: Listeners[K][number]): () => void {
    const lists = this.listeners as Record<K, readonly unknown[]>;
    lists[kind] = [...lists[kind].filter((one) => one !== listener), listener];
    return () => {
      lists[kind] = lists[kind].filter((one) => one !== listener);
    };
  }

  tell(news: News): void {
    this.queue.push(news);
  }

  /**
   * Delivers queued news, unless a delivery is already under way. News for which a listener threw is not delivered
   * again; the rest waits for the next delivery.
   */
  deliver(): void {
    const { queue } = this;
    if (this.#delivering || queue.length === 0) return;
    this.#delivering = true;
    try {
      while (this.#next < queue.length) {
        const news = queue[this.#next++] as News;
        const { order, fill, funding, liquidation } = this.listeners;
        if (news.kind === "order")
          for (let one = 0; one < order.length; one++) (order[one] as OrderListener)(news.uid, news.record, news.at);
        else if (news.kind === "fill")
          for (let one = 0; one < fill.length; one++) (fill[one] as FillListener)(news.fill);
        else if (news.kind === "funding") for (const listener of funding) listener(news.funding);
        else for (const listener of liquidation) listener(news.liquidation);
      }
      this.#next = 0;
      // The elements are removed one by one, so that the array keeps its memory for the next event.
      while (queue.length > 0) queue.pop();
    } finally {
      this.#delivering = false;
    }
  }

  /** Applies `events`, and delivers the resulting news after the last of them. */
  together(events: () => void): void {
    if (this.#delivering) {
      events();
      return;
    }
    this.#delivering = true;
    try {
      events();
    } finally {
      this.#delivering = false;
    }
    this.deliver();
  }
}
