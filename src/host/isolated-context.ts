/**
 * Context of an isolated strategy: the same streams, forwarded between threads.
 *
 * Invariants: each subscription of the strategy is one in the engine's thread and ends with it; a call that would need
 * a synchronous answer from that thread throws and names itself; only plain data crosses.
 */
import { Observable, type Subscriber } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { SluiceError } from "../errors.ts";
import { cancelNow, checkFilter } from "../orders/manual-orders.ts";
import { createRandom } from "../random.ts";
import type { StrategyContext } from "./context.ts";
import type { FromThread, StreamPath, ToThread } from "./isolation-messages.ts";

type Parts = Omit<StrategyContext<never>, "options">;

export interface IsolatedContext {
  readonly parts: Parts;
  readonly hear: (message: Exclude<ToThread, { readonly kind: "begin" | "ping" }>) => void;
}

interface IsolatedOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly seed: number;
  readonly listed: readonly InstrumentRecord[];
  readonly say: (message: FromThread) => void;
}

/** Error for members that an isolated strategy cannot use. */
const refuse = (what: string, instead: string): never => {
  throw new SluiceError(
    "STRATEGY_FAILED",
    `${what} is not there for an isolated strategy, as it would have to wait for another thread. ${instead}`,
  );
};

export const createIsolatedContext = ({ name, clock, seed, say, ...given }: IsolatedOptions): IsolatedContext => {
  const listeners = new Map<number, Subscriber<unknown>>();
  let count = 0;
  let { listed } = given;

  const stream = <T>(path: StreamPath, ...args: readonly unknown[]): Observable<T> =>
    new Observable<T>((subscriber) => {
      const id = count++;
      try {
        say({ kind: "subscribe", stream: id, path, args });
      } catch {
        subscriber.error(
          new SluiceError(
            "STRATEGY_FAILED",
            `${path}: what was handed over cannot leave an isolated strategy's thread. Hand over plain data.`,
          ),
        );
        return undefined;
      }
      listeners.set(id, subscriber as Subscriber<unknown>);
      return () => {
        if (listeners.delete(id)) say({ kind: "unsubscribe", stream: id });
      };
    });

  return {
    parts: {
      name,
      now: () => clock.now(),
      random: createRandom(seed),
      listed: () => listed,
      instruments$: stream("instruments$"),
      quota$: stream("quota$"),
      account: {
        pending$: stream("account.pending$"),
        history$: stream("account.history$"),
        balances$: stream("account.balances$"),
        positions$: stream("account.positions$"),
        equity$: stream("account.equity$"),
      },
      own: {
        position: () => refuse("own.position", "Watch own.positions$ instead."),
        positions$: stream("own.positions$"),
        equity$: stream("own.equity$"),
        orders$: stream("own.orders$"),
        updates$: stream("own.updates$"),
      },
      estimate: () => refuse("estimate", "Watch quota$ instead."),
      plot: () => undefined,
      market: {
        trades: (...asked) => stream("market.trades", ...asked),
        quotes: (...asked) => stream("market.quotes", ...asked),
        books: (instId) => stream("market.books", instId),
        candles: (...asked) => stream("market.candles", ...asked),
        lastPx: () => refuse("market.lastPx", "Subscribe to market.trades, market.quotes or market.candles instead."),
      },
      orders: {
        place: (order) => stream("orders.place", order),
        cancel: (where = {}) => {
          checkFilter(where);
          return cancelNow(stream("orders.cancel", where));
        },
      },
    },
    hear: (message) => {
      switch (message.kind) {
        case "values":
          for (const [id, value] of message.values) listeners.get(id)?.next(value);
          return;
        case "ended": {
          const listener = listeners.get(message.stream);
          listeners.delete(message.stream);
          if (message.error === undefined) listener?.complete();
          else listener?.error(new Error(message.error));
          return;
        }
        case "listed":
          ({ listed } = message);
      }
    },
  };
};
