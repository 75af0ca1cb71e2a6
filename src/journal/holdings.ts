/**
 * Holdings: each strategy's position and cash from the fills of completed orders, kept over restarts. Without them each
 * start would count positions and losses from zero, and a process that keeps crashing would get its full limits again
 * each time.
 *
 * Invariants: pure; amounts are exact decimals; a record holds one holding completely, so that reading it twice, or
 * after older ones, changes nothing.
 * Not here: orders that may still be executed (intents.ts), what a fill is worth (orders/executions.ts).
 */
import type { Side } from "../contract/profile.ts";
import { add, mul, neg, sub } from "../decimal.ts";

/** A strategy's booked position in an instrument: net quantity, its cost, realised profit and fees; decimal text. */
export interface BookedPosition {
  readonly qty: string;
  /** Cost of the quantity, with the quantity's sign. */
  readonly entry: string;
  /** Before fees. */
  readonly realised: string;
  readonly fees: string;
  /**
   * The part of it from open orders, by client order id: executed quantity, its value and cost, and any fee that was
   * taken in base currency.
   */
  readonly open: Readonly<Record<string, readonly [filled: string, value: string, cost: string, feeQty?: string]>>;
}

export interface Held {
  readonly uid: string;
  /** Name of the strategy; empty where it is no longer known. */
  readonly strategy: string;
  readonly instId: string;
  /** Base currency, positive when long. */
  readonly position: string;
  /** Quote currency received less paid, costs included. */
  readonly cash: string;
  /** Missing in journals of older versions. */
  readonly booked?: BookedPosition;
}

/** Effect of the close of the account's position on one strategy's part of it. */
export interface ClosedPart {
  readonly strategy: string;
  readonly instId: string;
  readonly side: Side;
  readonly px: string;
  /** Quantity in base currency. */
  readonly qty: string;
  /** Its share of the fee, as a positive cost. */
  readonly cost: string;
  /** True while the closing order is not known: the price is provisional, and no fee is counted. */
  readonly standsIn?: true;
}

export type HeldRecord = { readonly type: "held" } & Held;

interface Holdings {
  take(held: Held): void;
  /** The holding after this trade. Does not change the state; `take` does. */
  with(traded: Held): Held;
  /**
   * The holdings of a product after these parts of them were closed. With a price, the rest of each is closed at that
   * price. Does not change the state; `take` does.
   */
  closed(uid: string, instId: string, parts: readonly ClosedPart[], px: string | undefined): readonly Held[];
  all(): readonly Held[];
  /** Records from which this state can be rebuilt. */
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
    closed: (of, product, parts, px) =>
      [...known.values()]
        .filter((held) => held.uid === of && held.instId === product)
        .map(({ uid, strategy, instId, ...before }) => {
          let { position, cash } = before;
          for (const part of parts) {
            if (part.strategy !== strategy) continue;
            const bought = part.side === "buy" ? part.qty : neg(part.qty);
            position = add(position, bought);
            cash = sub(sub(cash, mul(bought, part.px)), part.cost);
          }
          return {
            uid,
            strategy,
            instId,
            ...(px === undefined ? { position, cash } : { position: "0", cash: add(cash, mul(position, px)) }),
          };
        }),
    all: () => [...known.values()],
    snapshot: () => [...known.values()].map((held) => ({ type: "held" as const, ...held })),
  };
};
