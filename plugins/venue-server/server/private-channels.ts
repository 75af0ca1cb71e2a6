/**
 * Private channels of each user: order changes, and the positions and balances that they change.
 *
 * Invariants: a user receives its own orders only, each change once and in order; after an order's message come the
 * positions and balances that have changed since the last message, and no others; nothing is read for users without a
 * listener. A closed position is sent once more with a size of 0. Changes by the market alone (mark price, profit) are
 * not sent.
 * Not here: permissions (subscriptions.ts).
 */

import type { BalanceRecord, OrderRecord, PositionRecord } from "sluice";
import type { Venue } from "sluice/backtest";
import type { Contract } from "sluice/dialect";

export type PrivateChannel = "orders" | "positions" | "account";

/** Takes the records of one message, as JSON. */
type RecordListener = (text: string) => void;

/** Records by their subject; a change is detected by the text. */
type Known<T> = ReadonlyMap<string, { readonly record: T; readonly text: string }>;

interface Watched {
  readonly orders: Set<RecordListener>;
  readonly positions: Set<RecordListener>;
  readonly account: Set<RecordListener>;
  balancesKnown: Known<BalanceRecord>;
  positionsKnown: Known<PositionRecord>;
}

const changesOf = <T>(before: Known<T>, now: Known<T>): T[] =>
  [...now].filter(([name, { text }]) => before.get(name)?.text !== text).map(([, { record }]) => record);

const tell = (
  listeners: ReadonlySet<RecordListener>,
  records: readonly (OrderRecord | PositionRecord | BalanceRecord)[],
): void => {
  if (records.length === 0 || listeners.size === 0) return;
  const text = JSON.stringify(records);
  for (const listener of listeners) listener(text);
};

export class PrivateChannels {
  readonly #venue: Venue;
  readonly #emptyDecimal: string;
  readonly #watched = new Map<string, Watched>();
  readonly #leaveVenue: () => void;

  constructor(venue: Venue, { profile }: Contract) {
    this.#venue = venue;
    this.#emptyDecimal = profile.order.emptyDecimal;
    this.#leaveVenue = venue.onOrder((uid, record) => this.#pass(uid, record));
  }

  subscribe(channel: PrivateChannel, uid: string, listener: RecordListener): () => void {
    const user = this.#watched.get(uid) ?? {
      orders: new Set(),
      positions: new Set(),
      account: new Set(),
      ...this.#read(uid),
    };
    // Changes that came while only orders were listened to are no news.
    if (user.positions.size + user.account.size === 0) Object.assign(user, this.#read(uid));
    this.#watched.set(uid, user);
    const own: RecordListener = (text) => listener(text);
    user[channel].add(own);
    return () => {
      user[channel].delete(own);
    };
  }

  stop(): void {
    this.#leaveVenue();
    this.#watched.clear();
  }

  #pass(uid: string, record: OrderRecord): void {
    const user = this.#watched.get(uid);
    if (user === undefined) return;
    tell(user.orders, [record]);
    if (user.positions.size + user.account.size === 0) return;
    const now = this.#read(uid);
    const { positionsKnown, balancesKnown } = user;
    // Noted before it is sent: a listener may make the venue move again.
    Object.assign(user, now);
    tell(user.positions, [
      ...changesOf(positionsKnown, now.positionsKnown),
      ...this.#goneOf(positionsKnown, now.positionsKnown),
    ]);
    tell(user.account, changesOf(balancesKnown, now.balancesKnown));
  }

  #read(uid: string): Pick<Watched, "balancesKnown" | "positionsKnown"> {
    const { balances, positions } = this.#venue.holdings(uid);
    const shown = ({ pos, avgPx, lever, margin, mgnMode }: PositionRecord): unknown => [
      pos,
      avgPx,
      lever,
      margin,
      mgnMode,
    ];
    return {
      balancesKnown: new Map(balances.map((record) => [record.currency, { record, text: JSON.stringify(record) }])),
      positionsKnown: new Map(
        positions.map((record) => [record.instId, { record, text: JSON.stringify(shown(record)) }]),
      ),
    };
  }

  #goneOf(before: Known<PositionRecord>, now: Known<PositionRecord>): PositionRecord[] {
    return [...before.keys()]
      .filter((instId) => !now.has(instId))
      .map((instId) => ({ instId, pos: "0", avgPx: this.#emptyDecimal }));
  }
}
