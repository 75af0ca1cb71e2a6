/**
 * Counts and sums of a run, strategy by strategy, as events and fills come in.
 *
 * Invariants: counts come from the journal and money from the service's own fills, so no opinion the engine has of itself is
 * repeated; sums are exact; what is not quoted in the run's currency is counted but not valued.
 */
import { add, mul, neg, sub } from "../decimal.ts";
import type { ActionClass, Event } from "../journal/events.ts";
import type { Fill } from "../venue/venue.ts";
import type { StrategyReport } from "./report.ts";

const counted = ["placed", "canceled", "filled", "rejected", "refused", "fills", "weight", "heldMs"] as const;
type Counted = (typeof counted)[number];

interface Sums extends Record<Counted, number> {
  fees: string;
  /** What was received less what was paid, before fees. */
  cash: string;
  readonly held: Map<string, string>;
}

export interface Tally {
  readonly onEvent: (event: Event) => void;
  readonly onFill: (fill: Fill) => void;
  /** Waiting time of every action sent. */
  readonly waits: readonly number[];
  /** How long the action sent last had waited. */
  readonly lastWaitMs: () => number;
  readonly events: () => number;
  readonly volume: () => string;
  readonly fees: () => string;
  /** Exits that left while ordinary actions had to wait. */
  readonly reserveUsed: () => number;
  readonly total: (what: Counted) => number;
  /** What a strategy did, its holdings valued at `marks`. */
  readonly of: (name: string, marks: ReadonlyMap<string, string>) => Omit<StrategyReport, "state" | "error">;
}

const emptySums = (): Sums => ({
  placed: 0,
  canceled: 0,
  filled: 0,
  rejected: 0,
  refused: 0,
  fills: 0,
  weight: 0,
  heldMs: 0,
  fees: "0",
  cash: "0",
  held: new Map(),
});

const exits: readonly ActionClass[] = ["emergency", "cancel", "close"];

export const createTally = (strategies: readonly string[], currency: string): Tally => {
  const sums = new Map(strategies.map((name) => [name, emptySums()]));
  const owners = new Map<string, Sums>();
  const waits: number[] = [];
  let heldUntil = 0;
  let reserveUsed = 0;
  let events = 0;
  let volume = "0";

  const onEvent = (event: Event): void => {
    events++;
    if (event.type === "action.sent") {
      waits.push(event.waitedMs);
      if (exits.includes(event.class) && event.at < heldUntil) reserveUsed++;
      const own = sums.get(event.owner);
      if (own === undefined) return;
      own.weight += event.weight;
      own.heldMs += event.waitedMs;
    } else if (event.type === "action.held") {
      if (event.layer === "uid") heldUntil = Math.max(heldUntil, event.until);
    } else if (event.type === "order.changed") countOrder(event, sums, owners);
    else if (event.type === "order.refused") {
      const own = sums.get(event.strategy);
      if (own !== undefined) own.refused++;
    }
  };
  const onFill = (fill: Fill): void => {
    const own = owners.get(fill.clOrdId);
    if (own !== undefined) own.fills++;
    if (fill.instId.split("-")[1] !== currency) return;
    volume = add(volume, mul(fill.px, fill.qty));
    if (own !== undefined) addFill(own, fill);
  };
  const all = (): readonly Sums[] => [...sums.values()];
  return {
    onEvent,
    onFill,
    waits,
    lastWaitMs: () => waits[waits.length - 1] ?? 0,
    events: () => events,
    volume: () => volume,
    reserveUsed: () => reserveUsed,
    fees: () => all().reduce((sum, { fees }) => add(sum, fees), "0"),
    total: (what) => all().reduce((sum, own) => sum + own[what], 0),
    of: (name, marks) => {
      const { cash, held, ...rest } = sums.get(name) ?? emptySums();
      const value = [...held].reduce((sum, [instId, qty]) => add(sum, mul(qty, marks.get(instId) ?? "0")), "0");
      return { ...rest, heldMs: Math.round(rest.heldMs), pnl: sub(add(cash, value), rest.fees) };
    },
  };
};

const countOrder = (
  { strategy, phase, clOrdId }: Extract<Event, { type: "order.changed" }>,
  sums: ReadonlyMap<string, Sums>,
  owners: Map<string, Sums>,
): void => {
  const own = sums.get(strategy);
  if (own === undefined) return;
  if (phase === "sent") {
    own.placed++;
    owners.set(clOrdId, own);
  } else if (phase === "filled" || phase === "canceled" || phase === "rejected") own[phase]++;
};

const addFill = (own: Sums, { instId, side, px, qty, cost }: Fill): void => {
  const bought = side === "buy";
  const value = mul(px, qty);
  own.fees = add(own.fees, cost);
  own.cash = add(own.cash, bought ? neg(value) : value);
  own.held.set(instId, add(own.held.get(instId) ?? "0", bought ? qty : neg(qty)));
};
