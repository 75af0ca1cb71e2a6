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
import { createExitGaps } from "./exit-gaps.ts";
import type { Liquidity, StrategyReport } from "./report.ts";
import {
  addToHolding,
  chargeHolding,
  createHolding,
  type HeldFill,
  type Holding,
  isFlat,
  type PositionReport,
  positionOf,
  unrealisedOf,
} from "./strategy-holdings.ts";
import { createPresence, type Presence, type TradeReport, tradesOf } from "./trades.ts";

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
  readonly presence: Presence;
}

type Marks = ReadonlyMap<string, string>;

/** The time that counts. */
interface Span {
  readonly fromAt: number;
  readonly untilAt: number;
}

export interface TradeStatistics {
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
  /** Of all strategies, what they hold valued at `marks`. */
  readonly trades: (marks: Marks) => TradeReport;
}

const emptySums = (name: string, presence: Presence): Sums => ({
  name,
  presence,
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

export const createTradeStatistics = (strategies: readonly string[], currency: string, { fromAt, untilAt }: Span): TradeStatistics => {
  const sums = new Map(strategies.map((name) => [name, emptySums(name, createPresence(untilAt))]));
  const anyone = createPresence(untilAt);
  const gaps = createExitGaps(untilAt);
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
    } else gaps.onEvent(event);
  };
  const onFill = (fill: Fill): void => {
    const own = owners.get(fill.clOrdId);
    if (own !== undefined) own.fills++;
    const valued = isValued(fill.instId);
    const value = valued ? mul(fill.px, fill.qty) : "0";
    const { fills, volume, fees } = liquidity[fill.liquidity];
    liquidity[fill.liquidity] = { fills: fills + 1, volume: add(volume, value), fees: valued ? add(fees, fill.cost) : fees };
    if (own !== undefined && valued) {
      own.uid = fill.uid;
      own.volume = add(own.volume, value);
      take(own, holdingOf(own, fill.instId), fill, fill.at);
    }
    if (valued) closings.get(fill.ordId)?.(fill);
  };
  const take = (own: Sums, held: Holding, fill: HeldFill, at: number): void => {
    own.fees = add(own.fees, fill.cost);
    const before = isFlat(held);
    addToHolding(held, fill);
    if (isFlat(held) === before) return;
    for (const presence of [own.presence, anyone]) presence[before ? "opened" : "closed"](at);
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
      for (const [index, { own, held }] of holders.entries()) {
        own.funding = add(own.funding, shares[index] ?? "0");
        chargeHolding(held, shares[index] ?? "0");
      }
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
    for (const [index, { own, held }] of holders.entries()) {
      own.liquidation = add(own.liquidation, costs[index] ?? "0");
      chargeHolding(held, costs[index] ?? "0");
    }
    const shares = shareClosing(liquidation, quantities);
    closings.set(ordId, (fill) => {
      for (const part of shares(fill)) {
        const { own, held } = holders[part.holder] as Holder;
        take(own, held, { ...part, ordId }, fill.at);
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
  const ofMs = untilAt - fromAt;
  const reportOf = (own: Sums, marks: Marks) => strategyOf(own, marks, ofMs);
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
      ...reportOf(sums.get(name) ?? emptySums(name, createPresence(untilAt)), marks),
      ...gaps.of(name),
      ...(funding !== undefined && { funding: sums.get(name)?.funding ?? "0" }),
      ...(liquidations.length > 0 && { liquidation: sums.get(name)?.liquidation ?? "0" }),
    }),
    positions: (marks) => all().flatMap((own) => positionsOf(own, marks)),
    trades: (marks) =>
      tradesOf(
        all().flatMap(({ held }) => [...held.values()]),
        all().reduce((total, { held }) => add(total, unrealisedIn(held, marks)), "0"),
        { ms: anyone.ms(), ofMs },
      ),
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

const holdingOf = ({ held }: Sums, instId: string): Holding => {
  const known = held.get(instId);
  if (known !== undefined) return known;
  const first = createHolding();
  held.set(instId, first);
  return first;
};

const strategyOf = (own: Sums, marks: Marks, ofMs: number): Omit<StrategyReport, "state" | "error" | "open"> => {
  const { name: _, uid: __, held, heldMs, funding, liquidation, presence, ...rest } = own;
  const holdings = [...held.values()];
  const realised = realisedOf(holdings);
  const unrealised = unrealisedIn(held, marks);
  return {
    ...rest,
    heldMs: Math.round(heldMs),
    pnl: sub(sub(sub(add(realised, unrealised), rest.fees), funding), liquidation),
    realised,
    unrealised,
    trades: tradesOf(holdings, unrealised, { ms: presence.ms(), ofMs }),
  };
};

const unrealisedIn = (held: ReadonlyMap<string, Holding>, marks: Marks): string =>
  [...held].reduce((total, [instId, holding]) => add(total, unrealisedOf(holding, marks.get(instId) ?? "0")), "0");

const realisedOf = (holdings: readonly Holding[]): string => holdings.reduce((sum, { realised }) => add(sum, realised), "0");

const positionsOf = ({ name, held }: Sums, marks: Marks): readonly PositionReport[] =>
  [...held]
    .filter(([, holding]) => !isFlat(holding))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([instId, holding]) => positionOf(name, instId, holding, marks.get(instId) ?? "0"));
