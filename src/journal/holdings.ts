/**
 * What strategies hold by the fills of orders that are over, from life to life: without it every start would count positions and
 * losses from nothing, and a process that dies again and again would be allowed its limits again each time.
 *
 * Invariants: pure; amounts are exact decimals; a record tells the whole of one holding, so that reading it twice, or with older ones
 * before it, changes nothing.
 * Not here: orders that may still be executed (intents.ts), what a fill is worth (orders/risk/exposure-entry.ts).
 */
import { add, mul } from "../decimal.ts";

/** What a strategy had booked of an instrument: net quantity, what it cost, realised profit and fees; decimal text. */
export interface BookedPosition {
  readonly qty: string;
  /** What the quantity cost, of its own sign. */
  readonly entry: string;
  /** Before fees. */
  readonly realised: string;
  readonly fees: string;
  /** What of orders that are not over is in it, by client order id: executed quantity, its value and cost. */
  readonly open: Readonly<Record<string, readonly [filled: string, value: string, cost: string]>>;
}

export interface Held {
  readonly uid: string;
  /** Empty where nobody knows any more who wanted the orders. */
  readonly strategy: string;
  readonly instId: string;
  /** Base currency, positive when long. */
  readonly position: string;
  /** Quote currency received less paid, costs included. */
  readonly cash: string;
  /** Not told by journals of older versions. */
  readonly booked?: BookedPosition;
}

export type HeldRecord = { readonly type: "held" } & Held;

interface Holdings {
  take(held: Held): void;
  /** The holding when this was traded on top of it; nothing is changed before `take`. */
  with(traded: Held): Held;
  /** The holdings of a product when it is closed at this price; nothing is changed before `take`. */
  closed(uid: string, instId: string, px: string): readonly Held[];
  all(): readonly Held[];
  /** Records that say all of it. */
  snapshot(): readonly HeldRecord[];
}

const nameOf = ({ uid, strategy, instId }: Held): string => JSON.stringify([uid, strategy, instId]);

export const createHoldings = (): Holdings => {
  const known = new Map<string, Held>();
  return {
    take: ({ uid, strategy, instId, position, cash, booked }) => {
      const held: Held = { uid, strategy, instId, position, cash, ...(booked !== undefined && { booked }) };
      known.set(nameOf(held), held);
    },
    with: (traded) => {
      const { position = "0", cash = "0" } = known.get(nameOf(traded)) ?? {};
      return { ...traded, position: add(position, traded.position), cash: add(cash, traded.cash) };
    },
    closed: (of, product, px) =>
      [...known.values()]
        .filter((held) => held.uid === of && held.instId === product)
        .map(({ uid, strategy, instId, position, cash }) => ({ uid, strategy, instId, position: "0", cash: add(cash, mul(position, px)) })),
    all: () => [...known.values()],
    snapshot: () => [...known.values()].map((held) => ({ type: "held" as const, ...held })),
  };
};
