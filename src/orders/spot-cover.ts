/**
 * Balance of the coin that a spot exit sells, read after the service has rejected the exit for insufficient funds.
 *
 * The position of a strategy by its fills may exceed the coins of the account: a fee that was taken in a third way,
 * coins that were moved by hand, or a journal of before fees in coins were counted. An exit that asks for more than is
 * there is rejected as a whole.
 *
 * Invariants: nothing is read before a rejection; a balance counts only when it was read after the rejection, and until
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
  /** Orders may use them. */
  readonly available: Decimal;
  /** Also those that open orders hold. */
  readonly balance: Decimal;
}

/** `unread` from the rejection to the next reading. */
export type Cover = Coins | "unread";

export type Balances = Pick<PolledResource<readonly BalanceRecord[]>, "watch" | "refresh">;

interface CoverOptions {
  readonly clock: Clock;
  readonly balances: Balances | undefined;
  /** The service's code of an order that the account cannot pay for. */
  readonly fundsCode: string;
  /** The coins of an instrument were read. */
  readonly onRead: (instId: string) => void;
}

interface Looked {
  readonly subscription: Subscription;
  readonly since: number;
  cover: Cover;
}

const none: Coins = { available: zero, balance: zero };
/** As long as an exit waits for coins. */
const lookMs = 60_000;

export class SpotCover {
  readonly #options: CoverOptions;
  readonly #looked = new Map<string, Looked>();

  constructor(options: CoverOptions) {
    this.#options = options;
  }

  /** Undefined while no rejection indicates that the account has less than the strategies hold. */
  of(instId: string): Cover | undefined {
    return this.#looked.get(instId)?.cover;
  }

  /** An order was rejected. */
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

  /** Something of the product was executed: what was read is of before. */
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
