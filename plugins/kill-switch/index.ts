/**
 * Halts trading and cancels every entry when too much goes wrong: rejected orders, rejections by a rate limit, failed
 * strategies, money lost. Stops, targets and exits of what is held stay in force; with `full` they go as well. Reports
 * that no order is left only when a list read afterwards shows none. With `closePositions` it then closes every
 * position of the account, and sells what strategies hold of spot.
 */
import { combineLatest, filter, map, type Observable, Subscription, timer } from "rxjs";
import {
  type Account,
  type BalanceRecord,
  compare,
  definePlugin,
  mul,
  type OrderRecord,
  type PluginContext,
  sub,
  sum,
} from "sluice";
import type { AccountPosition } from "sluice/extension";

interface Options {
  readonly rejects: number;
  readonly refusals: number;
  readonly withinMs: number;
  readonly onFailure: boolean;
  readonly currency: string;
  readonly lossMax?: string;
  readonly drawdownMax?: string;
  readonly confirmMs: number;
  readonly users: readonly string[];
  readonly closePositions: boolean;
  readonly everywhere: boolean;
  readonly full: boolean;
}
type Context = PluginContext<Options>;

const money = { type: "string", pattern: "^\\d+(\\.\\d+)?$" } as const;

export default definePlugin({
  name: "kill-switch",
  options: {
    type: "object",
    additionalProperties: false,
    properties: {
      rejects: {
        description: "Orders the service may reject within `withinMs`.",
        type: "integer",
        minimum: 1,
        default: 60,
      },
      refusals: {
        description: "Rejections (429) by a rate limit within `withinMs`.",
        type: "integer",
        minimum: 1,
        default: 3,
      },
      withinMs: {
        description: "Milliseconds in which `rejects` and `refusals` count.",
        type: "integer",
        minimum: 1000,
        default: 60000,
      },
      onFailure: { description: "Halt when a strategy fails.", type: "boolean", default: false },
      lossMax: {
        ...money,
        description:
          "What the account may be worth less than at the start, in `currency`; balances and positions are read for it.",
      },
      drawdownMax: { ...money, description: "The same, less than at its best since the start." },
      currency: { description: "Currency of `lossMax` and `drawdownMax`.", type: "string", default: "USDT" },
      confirmMs: {
        description: "How long to look for proof that nothing is left.",
        type: "integer",
        minimum: 1000,
        default: 60000,
      },
      users: {
        description:
          "The users of the service to watch, where there are several; all of them when left out. What they are worth is added up.",
        type: "array",
        items: { type: "string" },
        default: [],
      },
      closePositions: {
        description:
          "Close every position of the account too, at the market, also those of other clients, and sell what strategies hold of spot.",
        type: "boolean",
        default: false,
      },
      everywhere: {
        description: "Halt every engine that shares this one's quota (plugin `shared-quota`), on every machine.",
        type: "boolean",
        default: false,
      },
      full: {
        description:
          "Cancel exits too, and suspend stops and targets: what is held is without protection until trading is resumed.",
        type: "boolean",
        default: false,
      },
    },
  },
  setup: (context) => {
    const { on, halt, print, now, updates$, options } = context;
    const { rejects, refusals, withinMs, onFailure } = options;
    let halted = false;
    // Client order ids of one engine begin alike; orders of other clients do not count.
    let ours: string | undefined;
    const note = ({ clOrdId }: { readonly clOrdId: string }): void => {
      if (clOrdId !== "") ours ??= clOrdId.slice(0, 5);
    };
    /** Orders that stay in a halt which is no full stop. */
    const exits = new Set<string>();
    updates$.subscribe((update) => {
      note(update);
      if (update.isFinal) exits.delete(update.clOrdId);
      else if (update.spec?.reduceOnly === true && !options.full) exits.add(update.clOrdId);
    });
    const trip = (reason: string): void => {
      if (halted) return;
      halted = true;
      print(`kill switch: ${reason}; canceling all ${options.full ? "orders, exits included" : "entries"}`);
      if (options.closePositions) closing(context, reason);
      halt(reason, { everywhere: options.everywhere, full: options.full }).subscribe({
        next: note,
        complete: () => {
          const isOurs = (clOrdId: string): boolean => ours !== undefined && clOrdId.startsWith(ours);
          confirm(context, ({ clOrdId }) => isOurs(clOrdId) && !exits.has(clOrdId));
        },
      });
    };
    const counter = (most: number, what: string) => {
      let seen: number[] = [];
      return () => {
        seen = [...seen.filter((at) => at > now() - withinMs), now()];
        if (seen.length >= most) trip(`${seen.length} ${what} within ${withinMs / 1000} s`);
      };
    };
    on("order.rejected", counter(rejects, "orders rejected"));
    on("quota.rejected", counter(refusals, "rejections by a rate limit"));
    if (onFailure) on("strategy.failed", () => trip("a strategy failed"));
    if (options.lossMax !== undefined || options.drawdownMax !== undefined) watchWorth(context, trip);
  },
});

const statesOf = ({
  options,
  accountOf,
  users,
}: Context): readonly Pick<Account, "pending$" | "balances$" | "positions$">[] =>
  (options.users.length === 0 ? users : options.users).map(accountOf);

const closing = ({ closePositions, print }: Context, reason: string): void => {
  closePositions(reason).subscribe(({ kind, instId, pos, left, reason: why }) => {
    if (kind === "closed") print(`kill switch: the position of ${pos} in ${instId} is closed`);
    else if (kind === "left") print(`kill switch: ${left} of ${pos} in ${instId} is still open (${why})`);
    else print(`kill switch: whether anything is held is not known: ${why}`);
  });
};

/** Only a list that was asked for after the last cancel proves anything. */
const confirm = (context: Context, isOurs: (order: OrderRecord) => boolean): void => {
  const { on, now, print, options } = context;
  const since = now();
  let asked = false;
  let listed = false;
  let left: number | undefined;
  const offs = [
    on("action.sent", ({ endpoint }) => {
      if (endpoint === "pendingOrders") asked = true;
    }),
    on("action.answered", ({ endpoint, outcome }) => {
      if (endpoint === "pendingOrders" && outcome === "done" && asked) listed = true;
    }),
  ];
  const looking = new Subscription();
  const end = (line: string): void => {
    for (const off of offs) off();
    looking.unsubscribe();
    print(`kill switch: ${line}`);
  };
  looking.add(
    combineLatest(statesOf(context).map(({ pending$ }) => pending$)).subscribe((lists) => {
      if (!listed || lists.some(({ stale, at }) => stale || at <= since)) return;
      left = lists.flatMap(({ value }) => value).filter(isOurs).length;
      if (left === 0) end(options.full ? "no order of ours is left" : "no entry of ours is left");
    }),
  );
  looking.add(
    timer(options.confirmMs).subscribe(() => {
      const seconds = options.confirmMs / 1000;
      if (left === undefined)
        end(`the open orders could not be read within ${seconds} s: whether any of ours is left is not known`);
      else end(`${left} of our orders ${left === 1 ? "is" : "are"} still listed after ${seconds} s`);
    }),
  );
};

/**
 * Value of an account in one currency: its balance, other currencies at the last price, and what open positions
 * have made.
 */
const worthOf = (
  { market, options: { currency } }: Context,
  balances: readonly BalanceRecord[],
  positions: readonly AccountPosition[],
): string | undefined => {
  const parts: string[] = [];
  for (const { currency: name, balance } of balances) {
    if (name === currency) parts.push(balance);
    else if (compare(balance, "0") !== 0) {
      const px = lastPxOf(market, `${name}-${currency}`);
      if (px === undefined) return undefined;
      parts.push(mul(balance, px));
    }
  }
  for (const { instId, upl, pos } of positions) {
    if (instId.split("-")[1] !== currency || compare(pos, "0") === 0) continue;
    // Without the profit of a position from the service there is nothing to compare with the limit.
    if (upl === undefined) return undefined;
    parts.push(upl);
  }
  return sum(parts);
};

const lastPxOf = (market: Context["market"], instId: string): string | undefined => {
  try {
    return market.lastPx(instId);
  } catch {
    // The pair is not traded.
    return undefined;
  }
};

/** Balances and positions are two readings: a loss counts when two pairs of them in a row show it. */
const watchWorth = (context: Context, trip: (reason: string) => void): void => {
  const { lossMax, drawdownMax, currency } = context.options;
  let readAt = -1;
  let first: string | undefined;
  let best: string | undefined;
  let before: string | undefined;
  let toldUnknown = false;
  const problemOf = (worth: string): string | undefined => {
    const lost = sub(first ?? worth, worth);
    const down = sub(best ?? worth, worth);
    if (lossMax !== undefined && compare(lost, lossMax) > 0)
      return `${lost} ${currency} lost since the start, more than ${lossMax}`;
    if (drawdownMax !== undefined && compare(down, drawdownMax) > 0)
      return `${down} ${currency} below the best, more than ${drawdownMax}`;
    return undefined;
  };
  const states = statesOf(context);
  combineLatest(states.flatMap(({ balances$, positions$ }): readonly Observable<Read>[] => [balances$, positions$]))
    .pipe(
      filter((all) => all.every(({ stale, at }) => !stale && at > readAt)),
      map((all) => states.map((_, index) => [all[2 * index], all[2 * index + 1]] as unknown as Pair)),
    )
    .subscribe((pairs) => {
      readAt = Math.max(...pairs.flat().map(({ at }) => at));
      const worths = pairs.map(([balances, positions]) => worthOf(context, balances.value, positions.value));
      if (worths.includes(undefined)) {
        if (!toldUnknown)
          context.print(`kill switch: the account's worth in ${currency} is not known, so losses are not seen`);
        toldUnknown = true;
        return;
      }
      const worth = sum(worths as string[]);
      first ??= worth;
      if (best === undefined || compare(worth, best) > 0) best = worth;
      const problem = problemOf(worth);
      if (problem !== undefined && before !== undefined) trip(problem);
      before = problem;
    });
};

interface Read {
  readonly at: number;
  readonly stale: boolean;
}
type Pair = readonly [
  Read & { readonly value: readonly BalanceRecord[] },
  Read & { readonly value: readonly AccountPosition[] },
];
