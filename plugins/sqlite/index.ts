/**
 * Store: orders, fills, equity and events in a file of SQLite, for questions and reports later.
 *
 * Invariants: events are queued and written in batches on a timer, never on the path of an order; at most `queueMax`
 * entries wait, and entries that do not fit, or cannot be written for long, are counted and reported; a batch is
 * written whole or not at all; entries that wait at the stop are written then.
 * Not here: the queue (queue.ts), tables and repeated fills (run-store.ts), the report (stored-run.ts).
 *
 * @module sluice/plugins/sqlite
 */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { add, compare, definePlugin, type OrderUpdate, type PluginContext } from "sluice";
import { Queue } from "./queue.ts";
import { RunStore } from "./run-store.ts";

export type { Entry } from "./run-store.ts";
export { RunStore };

interface Options {
  readonly path: string;
  readonly name: string;
  readonly skip: readonly string[];
  readonly flushMs: number;
  readonly batchMax: number;
  readonly queueMax: number;
  readonly equityMs: number;
  readonly eventsMax: number;
}

const totalsMax = 10_000;
/** Events that are removed at a time. */
const removedMax = 2_000;

/** Removes the oldest events above a bound, a part at a time, as the file's thread is that of the engine. */
class Pruning {
  readonly #store: RunStore;
  readonly #print: (line: string) => void;
  #surplus = 0;

  constructor(store: RunStore, print: (line: string) => void) {
    this.#store = store;
    this.#print = print;
  }

  look(most: number): void {
    this.#guarded(() => {
      this.#surplus = this.#store.eventsAbove(most);
    });
  }

  /** Removes surplus events; a failure is retried at the next turn. */
  turn(): void {
    if (this.#surplus === 0) return;
    this.#guarded(() => {
      const removed = this.#store.removeEvents(Math.min(this.#surplus, removedMax));
      this.#surplus = removed === 0 ? 0 : this.#surplus - removed;
    });
  }

  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#surplus = 0;
      this.#print(
        `old events cannot be removed (${error instanceof Error ? error.message : "no reason given"}); it is tried again`,
      );
    }
  }
}

/** Samples profit by currency, the sum over all users, and prices of open positions, where they have changed. */
const sampler = ({ strategies, now }: Pick<PluginContext<Options>, "strategies" | "now">, queue: Queue) => {
  const profits = new Map<string, ReadonlyMap<string, string>>();
  const stored = new Map<string, string>();
  const changed = (key: string, value: string): boolean => {
    if (stored.get(key) === value) return false;
    stored.set(key, value);
    return true;
  };
  return {
    hear: (user: string, latest: ReadonlyMap<string, string>): void => {
      profits.set(user, latest);
    },
    take: (): void => {
      const at = now();
      const sums = new Map<string, string>();
      for (const [currency, profit] of [...profits.values()].flatMap((one) => [...one])) {
        sums.set(currency, add(sums.get(currency) ?? "0", profit));
      }
      for (const [currency, profit] of sums)
        if (changed(currency, profit)) queue.put({ kind: "equity", at, currency, profit });
      const held = strategies().flatMap(({ positions }) => [...positions.values()].filter(({ qty }) => qty !== "0"));
      for (const { instId, markPx } of held)
        if (changed(`px ${instId}`, markPx)) queue.put({ kind: "mark", at, instId, px: markPx });
    },
  };
};

/**
 * Prints differences between stored fills and the positions of a strategy: fills between the last write and the end of
 * a run are not stored.
 */
const compareHoldings = (
  { strategies }: Pick<PluginContext<Options>, "strategies">,
  store: RunStore,
  print: (line: string) => void,
): void => {
  for (const { name, positions } of strategies()) {
    for (const { instId, qty } of positions.values()) {
      const stored = store.position(name, instId);
      if (stored !== undefined && compare(stored, qty) !== 0)
        print(`${name} holds ${qty} of ${instId}, and its stored fills make ${stored}: some are not stored`);
    }
  }
};

export default definePlugin({
  name: "sqlite",
  options: {
    type: "object",
    additionalProperties: false,
    required: ["path"],
    properties: {
      path: { description: "File of the database.", type: "string", minLength: 1 },
      name: { description: "How the engine is called in the table of runs.", type: "string", default: "sluice" },
      skip: {
        description: "Events that are not stored; orders and fills are stored in any case.",
        type: "array",
        items: { type: "string" },
        default: [],
      },
      flushMs: {
        description: "Milliseconds after which waiting entries are written.",
        type: "integer",
        minimum: 10,
        maximum: 60_000,
        default: 250,
      },
      batchMax: {
        description: "Entries of one transaction.",
        type: "integer",
        minimum: 1,
        maximum: 10_000,
        default: 500,
      },
      queueMax: {
        description: "Entries that may wait.",
        type: "integer",
        minimum: 100,
        maximum: 1_000_000,
        default: 100_000,
      },
      equityMs: {
        description: "How often profit and prices are looked at.",
        type: "integer",
        minimum: 250,
        maximum: 3_600_000,
        default: 10_000,
      },
      eventsMax: {
        description: "Events that are kept; the oldest are removed, orders and fills stay.",
        type: "integer",
        minimum: 1_000,
        maximum: 100_000_000,
        default: 1_000_000,
      },
    },
  },
  setup: (context) => {
    const { events$, updates$, every, health, now, accountOf, options, users } = context;
    const print = (line: string): void => context.print(`sqlite: ${line}`);
    mkdirSync(dirname(options.path), { recursive: true, mode: 0o700 });
    const store = new RunStore(options.path, { name: options.name, startedAt: now() });
    const queue = new Queue(store, options, print);
    const pruning = new Pruning(store, print);
    const totals = new Map<string, string>();
    const skipped = new Set<string>(options.skip);
    const note = ({ clOrdId, filledQty }: OrderUpdate): void => {
      totals.delete(clOrdId);
      totals.set(clOrdId, filledQty);
      for (const oldest of totals.keys()) {
        if (totals.size <= totalsMax) break;
        totals.delete(oldest);
      }
    };
    events$.subscribe((event) => {
      if (event.type === "fill") queue.put({ kind: "fill", fill: event });
      if (!skipped.has(event.type)) queue.put({ kind: "event", event });
    });
    updates$.subscribe((order) => {
      note(order);
      queue.put({ kind: "order", order, at: now() });
    });
    const sample = sampler(context, queue);
    for (const user of users) accountOf(user).equity$.subscribe((profits) => sample.hear(user, profits));
    every(options.equityMs, sample.take);
    // Without a journal each run begins with nothing.
    let isCompared = health().journal.state === "none";
    every(options.flushMs, () => {
      queue.complete(totals);
      queue.flush();
      pruning.turn();
      if (isCompared || !queue.isEmpty) return;
      isCompared = true;
      compareHoldings(context, store, print);
    });
    every(600_000, () => pruning.look(options.eventsMax));
    return () => {
      sample.take();
      queue.complete(totals);
      queue.end();
      store.close();
    };
  },
});
