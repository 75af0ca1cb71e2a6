/**
 * Balance of the coin that a spot exit sells, read after the service has rejected the exit for insufficient funds.
 *
 * By its fills, a strategy may hold more coins than the account: a fee was taken in a third currency, coins were moved
 * by hand, or the journal is from before fees in coins were counted. If an exit asks for
 * more coins than the account has, the service rejects the whole order.
 *
 * Invariants: nothing is read before a rejection; a balance is valid only if it was read after the rejection, and until
 * the next own fill of the product; until it is known no exit of the product is sent.
 * Not here: the size that follows from it (exit-size.ts), when an exit is tried again (exits.ts).
 */
import type { Subscription } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import { instTypeOf, readInstId } from "../contract/inst-id.ts";
import type { BalanceRecord } from "../contract/schemas.ts";
import { type Decimal, read, zero } from "../decimal-value.ts";
import type { Order } from "./order-state.ts";
import type { PolledResource } from "./state/polled-resource.ts";

/** Coins of the account. */
interface Coins {
  /** Coins that orders may use. */
  readonly available: Decimal;
  /** All coins, including those that open orders hold. */
  readonly balance: Decimal;
}

/** `unread` between the rejection and the next read. */
export type Cover = Coins | "unread";

export type Balances = Pick<PolledResource<readonly BalanceRecord[]>, "watch" | "refresh">;

interface CoverOptions {
  readonly clock: Clock;
  readonly balances: Balances | undefined;
  /** The service's code for an order that the account cannot pay for. */
  readonly fundsCode: string;
  /** Called when the coins of an instrument were read. */
  readonly onRead: (instId: string) => void;
}

interface Looked {
  readonly subscription: Subscription;
  readonly since: number;
  cover: Cover;
}

const none: Coins = { available: zero, balance: zero };
/** Largest age of the balance that is watched while an exit waits for coins. */
const lookMs = 60_000;

export class SpotCover {
  readonly #options: CoverOptions;
  readonly #looked = new Map<string, Looked>();

  constructor(options: CoverOptions) {
    this.#options = options;
  }

  /** Undefined while no rejection shows that the account has less than the strategies hold. */
  of(instId: string): Cover | undefined {
    return this.#looked.get(instId)?.cover;
  }

  /** Called when an order was rejected. */
  rejected({ spec: { instId, side, reduceOnly }, reason }: Order): void {
    const { balances, clock, fundsCode } = this.#options;
    if (balances === undefined || !reduceOnly || side !== "sell" || instTypeOf(instId) !== "SPOT") return;
    if (!reason.startsWith(`${fundsCode} `)) return;
    this.#end(instId);
    const since = clock.now();
    const currency = readInstId(instId)?.base;
    const subscription = balances.watch(lookMs).subscribe(({ value, at, stale }) => {
      const looked = this.#looked.get(instId);
      if (stale || at <= since || looked?.since !== since) return;
      const coins = value.find((record) => record.currency === currency);
      looked.cover = coins === undefined ? none : { available: read(coins.available), balance: read(coins.balance) };
      this.#options.onRead(instId);
    });
    this.#looked.set(instId, { subscription, since, cover: "unread" });
    balances.refresh();
  }

  /** Called when something of the product was executed. The earlier balance is outdated. */
  moved(instId: string): void {
    if (this.#looked.size > 0) this.#end(instId);
  }

  close(): void {
    for (const instId of [...this.#looked.keys()]) this.#end(instId);
  }

  #end(instId: string): void {
    this.#looked.get(instId)?.subscription.unsubscribe();
    this.#looked.delete(instId);
  }
}
