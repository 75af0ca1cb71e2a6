/**
 * Counts and sums of a run, strategy by strategy, as events and fills come in.
 *
 * Invariants: counts come from the journal and money from the service's own fills, so no opinion the engine has of itself is
 * repeated; sums are exact; what is not quoted in the run's currency is counted but not valued. What the service did to a
 * position is shared out among those who hold it (attribution.ts).
 */
import { add, mul, sub } from "../decimal.ts";
import type { ActionClass, Event } from "../journal/events.ts";
import type { Fill, Funding, Liquidation } from "../venue/venue.ts";
import { fundingShares, shareClosing, sharesOf } from "./attribution.ts";
import {
  addToHolding,
  createHolding,
  type Holding,
  isFlat,
  type PositionReport,
  positionOf,
  type RoundTrips,
  unrealisedOf,
} from "./holdings.ts";
import type { Liquidity, StrategyReport } from "./report.ts";

const counted = ["placed", "canceled", "filled", "rejected", "refused", "fills", "weight", "heldMs"] as const;
type Counted = (typeof counted)[number];

interface Sums extends Record<Counted, number> {
  readonly name: string;
  /** Known from the first fill on. */
  uid: string | undefined;
  fees: string;
  volume: string;
  funding: string;
  liquidation: string;
  readonly held: Map<string, Holding>;
}

type Marks = ReadonlyMap<string, string>;

export interface Tally {
  readonly onEvent: (event: Event) => void;
  readonly onFill: (fill: Fill) => void;
  readonly onFunding: (funding: Funding) => void;
  readonly onLiquidation: (liquidation: Liquidation) => void;
  /** What users paid for funding less what they received; undefined when nobody ever held anything at a funding. */
  readonly funding: () => string | undefined;
  readonly liquidations: () => readonly Liquidation[];
  /** Waiting time of every action sent. */
  readonly waits: readonly number[];
  /** How long the action sent last had waited. */
  readonly lastWaitMs: () => number;
  readonly events: () => number;
  readonly volume: () => string;
  readonly fees: () => string;
  /** By strategies' closing fills, before fees. */
  readonly realised: () => string;
  readonly liquidity: () => { readonly maker: Liquidity; readonly taker: Liquidity };
  /** Exits that left while ordinary actions had to wait. */
  readonly reserveUsed: () => number;
  readonly total: (what: Counted) => number;
  /** The strategy that placed an order; undefined for an order of nobody here. */
  readonly ownerOf: (clOrdId: string) => string | undefined;
  /** What a strategy did, its holdings valued at `marks`. */
  readonly of: (name: string, marks: Marks) => Omit<StrategyReport, "state" | "error" | "open">;
  /** What strategies hold, valued at `marks`. */
  readonly positions: (marks: Marks) => readonly PositionReport[];
  readonly roundTrips: () => RoundTrips;
}

const emptySums = (name: string): Sums => ({
  name,
  uid: undefined,
  placed: 0,
  canceled: 0,
  filled: 0,
  rejected: 0,
  refused: 0,
  fills: 0,
  weight: 0,
  heldMs: 0,
  fees: "0",
  volume: "0",
  funding: "0",
  liquidation: "0",
  held: new Map(),
});

const exits: readonly ActionClass[] = ["emergency", "cancel", "close"];
const noLiquidity: Liquidity = { fills: 0, volume: "0", fees: "0" };

export const createTally = (strategies: readonly string[], currency: string): Tally => {
  const sums = new Map(strategies.map((name) => [name, emptySums(name)]));
  const owners = new Map<string, Sums>();
  const waits: number[] = [];
  const liquidity = { maker: noLiquidity, taker: noLiquidity };
  const liquidations: Liquidation[] = [];
  const closings = new Map<string, (fill: Fill) => void>();
  let funding: string | undefined;
  let heldUntil = 0;
  let reserveUsed = 0;
  let events = 0;

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
    const valued = isValued(fill.instId);
    const value = valued ? mul(fill.px, fill.qty) : "0";
    const { fills, volume, fees } = liquidity[fill.liquidity];
    liquidity[fill.liquidity] = { fills: fills + 1, volume: add(volume, value), fees: valued ? add(fees, fill.cost) : fees };
    if (own !== undefined && valued) addFill(own, fill, value);
    if (valued) closings.get(fill.ordId)?.(fill);
  };
  const onFunding = (charged: Funding): void => {
    const users = Object.keys(charged.paid);
    if (!isValued(charged.instId)) return;
    for (const uid of new Set([...users, ...all().flatMap((own) => own.uid ?? [])])) {
      const holders = holdersOf(uid, charged.instId);
      const shares = fundingShares(
        charged,
        uid,
        holders.map(({ held }) => held.qty),
      );
      for (const [index, { own }] of holders.entries()) own.funding = add(own.funding, shares[index] ?? "0");
      if (holders.length > 0 || users.includes(uid)) funding = add(funding ?? "0", charged.paid[uid] ?? "0");
    }
  };
  const onLiquidation = (liquidation: Liquidation): void => {
    if (!isValued(liquidation.instId)) return;
    liquidations.push(liquidation);
    const { uid, instId, ordId, side, qty, fee, covered } = liquidation;
    const holders = holdersOf(uid, instId);
    const quantities = holders.map(({ held }) => held.qty);
    const costs = sharesOf(sub(fee, covered), quantities, side === "sell" ? qty : `-${qty}`);
    for (const [index, { own }] of holders.entries()) own.liquidation = add(own.liquidation, costs[index] ?? "0");
    const shares = shareClosing(liquidation, quantities);
    closings.set(ordId, (fill) => {
      for (const part of shares(fill)) {
        const { own, held } = holders[part.holder] as Holder;
        own.fees = add(own.fees, part.cost);
        addToHolding(held, part);
      }
    });
  };
  const isValued = (instId: string): boolean => instId.split("-")[1] === currency;
  const all = (): readonly Sums[] => [...sums.values()];
  /** Who of a user holds something of a product. */
  const holdersOf = (uid: string, instId: string): readonly Holder[] =>
    all().flatMap((own) => {
      const held = own.uid === uid ? own.held.get(instId) : undefined;
      return held === undefined || isFlat(held) ? [] : [{ own, held }];
    });
  return {
    onEvent,
    onFill,
    onFunding,
    onLiquidation,
    funding: () => funding,
    liquidations: () => liquidations,
    waits,
    lastWaitMs: () => waits[waits.length - 1] ?? 0,
    events: () => events,
    volume: () => add(liquidity.maker.volume, liquidity.taker.volume),
    reserveUsed: () => reserveUsed,
    fees: () => add(liquidity.maker.fees, liquidity.taker.fees),
    realised: () => realisedOf(all().flatMap(({ held }) => [...held.values()])),
    liquidity: () => ({ maker: liquidity.maker, taker: liquidity.taker }),
    total: (what) => all().reduce((sum, own) => sum + own[what], 0),
    ownerOf: (clOrdId) => owners.get(clOrdId)?.name,
    of: (name, marks) => ({
      ...strategyOf(sums.get(name) ?? emptySums(name), marks),
      ...(funding !== undefined && { funding: sums.get(name)?.funding ?? "0" }),
      ...(liquidations.length > 0 && { liquidation: sums.get(name)?.liquidation ?? "0" }),
    }),
    positions: (marks) => all().flatMap((own) => positionsOf(own, marks)),
    roundTrips: () => tripsOf(all().flatMap(({ held }) => [...held.values()])),
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

interface Holder {
  readonly own: Sums;
  readonly held: Holding;
}

const addFill = (own: Sums, fill: Fill, value: string): void => {
  own.uid = fill.uid;
  own.fees = add(own.fees, fill.cost);
  own.volume = add(own.volume, value);
  let held = own.held.get(fill.instId);
  if (held === undefined) {
    held = createHolding();
    own.held.set(fill.instId, held);
  }
  addToHolding(held, fill);
};

const strategyOf = (own: Sums, marks: Marks): Omit<StrategyReport, "state" | "error" | "open"> => {
  const { name: _, uid: __, held, heldMs, funding, liquidation, ...rest } = own;
  const realised = realisedOf([...held.values()]);
  const unrealised = [...held].reduce((sum, [instId, holding]) => add(sum, unrealisedOf(holding, marks.get(instId) ?? "0")), "0");
  return {
    ...rest,
    heldMs: Math.round(heldMs),
    pnl: sub(sub(sub(add(realised, unrealised), rest.fees), funding), liquidation),
    realised,
    unrealised,
    roundTrips: tripsOf([...held.values()]),
  };
};

const realisedOf = (holdings: readonly Holding[]): string => holdings.reduce((sum, { realised }) => add(sum, realised), "0");

const positionsOf = ({ name, held }: Sums, marks: Marks): readonly PositionReport[] =>
  [...held]
    .filter(([, holding]) => !isFlat(holding))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([instId, holding]) => positionOf(name, instId, holding, marks.get(instId) ?? "0"));

const tripsOf = (holdings: readonly Holding[]): RoundTrips => ({
  count: holdings.reduce((total, { count }) => total + count, 0),
  won: holdings.reduce((total, { won }) => total + won, 0),
  lost: holdings.reduce((total, { lost }) => total + lost, 0),
});
