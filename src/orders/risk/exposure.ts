/**
 * What our orders have done and may still do to positions and money: a fold over what becomes known of them.
 *
 * Invariants: what is told twice or out of order counts once, since of two tellings of an order the further one holds;
 * the sums equal those of all orders taken together; an order counts with all that may still be executed until it is
 * known to be over.
 * Not here: how a record becomes a telling (exposure-entry.ts), what is allowed (risk-limits.ts).
 */
import type { Side } from "../../contract/profile.ts";
import { compare, equal, isPositive, mul, sub } from "../../decimal.ts";
import { RunningSum } from "../../decimal-units.ts";

/** One telling of one order. Amounts are decimal text. */
export interface ExposureEntry {
  readonly id: string;
  /** Empty while it belongs to no strategy. */
  readonly strategy: string;
  readonly instId: string;
  readonly side: Side;
  /** At which the part that is not executed is valued; empty where no price is known. */
  readonly px: string;
  /** Whole size in base currency. */
  readonly base: string;
  readonly reduceOnly: boolean;
  /** More of it may be executed. */
  readonly open: boolean;
  /** Executed so far: base currency, quote currency, and what it cost in quote currency. */
  readonly filled: string;
  readonly value: string;
  readonly cost: string;
  /**
   * Base currency that was taken as the fee, of which `cost` is the worth; negative for a rebate, left out where the
   * fee was money.
   */
  readonly feeQty?: string | undefined;
  /** Of two tellings that differ in it, the later one's size and price hold. */
  readonly revision?: number;
}

/** In one instrument, by own fills. */
export interface Holding {
  /** Base currency, positive when long. */
  readonly position: string;
  /** Quote currency received less paid, costs included. */
  readonly cash: string;
  /** Base currency that open orders may still buy and sell; those that only reduce left out. */
  readonly buying: string;
  readonly selling: string;
}

export interface Exposure {
  take(fact: ExposureEntry): void;
  /** What orders of previous runs that are over did. */
  inherit(strategy: string, instId: string, held: Pick<Holding, "position" | "cash">): void;
  /** What all held of a product was closed at this price, by no order of ours. */
  close(instId: string, px: string): void;
  /** It was not executed and its id will be used again. */
  forget(id: string): void;
  /** What may still be executed, in quote currency. Of all strategies when none is named. */
  openNotional(strategy?: string): string;
  holding(instId: string, strategy?: string): Holding;
  holdings(strategy?: string): ReadonlyMap<string, Holding>;
  strategies(): readonly string[];
}

const flat: Holding = { position: "0", cash: "0", buying: "0", selling: "0" };
/** Of orders that are over so many are remembered, so that a late repetition does not count. */
const overMax = 4_096;

type Traded = Pick<ExposureEntry, "side" | "filled" | "value" | "cost" | "feeQty" | "reduceOnly">;

/** A holding as it is added up; its text is made when somebody asks. */
class HeldSums {
  readonly #countsMoney: boolean;
  #position = new RunningSum();
  readonly #cash = new RunningSum();
  readonly #buying = new RunningSum();
  readonly #selling = new RunningSum();
  #holding: Holding | undefined = flat;

  constructor(countsMoney: boolean) {
    this.#countsMoney = countsMoney;
  }

  get holding(): Holding {
    this.#holding ??= {
      position: this.#position.text,
      cash: this.#cash.text,
      buying: this.#buying.text,
      selling: this.#selling.text,
    };
    return this.#holding;
  }

  /** One telling; with the sign -1 what takes it away again. */
  add({ side, filled, value, cost, feeQty, reduceOnly }: Traded, left: string, sign: 1 | -1): void {
    this.#holding = undefined;
    const bought = side === "buy";
    this.#position.add(filled, bought ? sign : (-sign as 1 | -1));
    if (feeQty !== undefined) this.#position.add(feeQty, -sign as 1 | -1);
    if (this.#countsMoney) {
      this.#cash.add(value, bought ? (-sign as 1 | -1) : sign);
      if (cost !== "0" && feeQty === undefined) this.#cash.add(cost, -sign as 1 | -1);
    }
    if (left !== "0" && !reduceOnly) (bought ? this.#buying : this.#selling).add(left, sign);
  }

  /** What orders of previous runs did, and what other sums hold. */
  join({ position, cash, buying, selling }: Holding): void {
    this.#holding = undefined;
    this.#position.add(position);
    this.#cash.add(cash);
    this.#buying.add(buying);
    this.#selling.add(selling);
  }

  /** What is held was closed at this price. */
  close(px: string): void {
    const value = mul(this.#position.text, px);
    this.#holding = undefined;
    this.#cash.add(value);
    this.#position = new RunningSum();
  }
}

interface Sums {
  readonly open: RunningSum;
  readonly held: Map<string, HeldSums>;
  readonly countsMoney: boolean;
}

const newSums = (countsMoney: boolean): Sums => ({ open: new RunningSum(), held: new Map(), countsMoney });

const heldIn = ({ held, countsMoney }: Sums, instId: string): HeldSums => {
  let sums = held.get(instId);
  if (sums === undefined) {
    sums = new HeldSums(countsMoney);
    held.set(instId, sums);
  }
  return sums;
};

const greater = (a: string, b: string): string => (compare(a, b) >= 0 ? a : b);

const isFurther = (a: ExposureEntry, b: ExposureEntry): boolean =>
  (compare(a.filled, b.filled) || compare(a.cost, b.cost) || compare(a.value, b.value)) >= 0;

/** What is known after both tellings, in whatever order they came. */
const joined = (a: ExposureEntry, b: ExposureEntry): ExposureEntry => {
  const { filled, value, cost, feeQty } = isFurther(a, b) ? a : b;
  const strategy = a.strategy > b.strategy ? a.strategy : b.strategy;
  const { revision: ofA = 0 } = a;
  const { revision: ofB = 0 } = b;
  if (ofA !== ofB) return { ...(ofA > ofB ? a : b), strategy, open: a.open && b.open, filled, value, cost, feeQty };
  const px = a.px === "" ? b.px : b.px === "" ? a.px : greater(a.px, b.px);
  return { ...a, strategy, px, base: greater(a.base, b.base), open: a.open && b.open, filled, value, cost, feeQty };
};

const same = (a: ExposureEntry, b: ExposureEntry): boolean =>
  a.strategy === b.strategy &&
  a.open === b.open &&
  a.px === b.px &&
  a.base === b.base &&
  equal(a.filled, b.filled) &&
  equal(a.cost, b.cost);

/** The part of an open order that may still be executed, in base currency. */
const leftOf = ({ base, filled }: ExposureEntry): string => {
  const left = sub(base, filled);
  return isPositive(left) ? left : "0";
};

/** Without `countsMoney` no `cash` is reckoned, only what is held: limits on money alone look at it. */
export const createExposure = (countsMoney = true): Exposure => {
  const known = new Map<string, ExposureEntry>();
  const over = new Set<string>();
  const byStrategy = new Map<string, Sums>();
  /** Of all strategies, from when it is first asked for: few configurations need it. */
  let inAll: Sums | undefined;

  const sumsOf = (strategy: string): Sums => {
    let sums = byStrategy.get(strategy);
    if (sums === undefined) {
      sums = newSums(countsMoney);
      byStrategy.set(strategy, sums);
    }
    return sums;
  };
  const allSums = (): Sums => {
    if (inAll !== undefined) return inAll;
    inAll = newSums(countsMoney);
    for (const { open, held } of byStrategy.values()) {
      inAll.open.add(open.text);
      for (const [instId, { holding }] of held) heldIn(inAll, instId).join(holding);
    }
    return inAll;
  };
  const apply = (fact: ExposureEntry, sign: 1 | -1): void => {
    const left = fact.open ? leftOf(fact) : "0";
    const open = left === "0" || fact.px === "" ? "0" : mul(left, fact.px);
    applyTo(byStrategy.get(fact.strategy) ?? sumsOf(fact.strategy), fact, left, open, sign);
    if (inAll !== undefined) applyTo(inAll, fact, left, open, sign);
  };
  const forgetOldest = (): void => {
    const [oldest] = over;
    over.delete(oldest as string);
    known.delete(oldest as string);
  };
  const of = (strategy: string | undefined): Sums | undefined =>
    strategy === undefined ? allSums() : byStrategy.get(strategy);

  return {
    take: (fact) => {
      const before = known.get(fact.id);
      const now = before === undefined ? fact : joined(before, fact);
      if (before !== undefined && same(before, now)) return;
      if (before !== undefined) apply(before, -1);
      apply(now, 1);
      known.set(fact.id, now);
      if (now.open) return;
      over.add(fact.id);
      if (over.size > overMax) forgetOldest();
    },
    inherit: (strategy, instId, { position, cash }) => {
      const own = sumsOf(strategy);
      for (const sums of inAll === undefined ? [own] : [own, inAll])
        heldIn(sums, instId).join({ ...flat, position, cash });
    },
    close: (instId, px) => {
      inAll?.held.get(instId)?.close(px);
      for (const { held } of byStrategy.values()) held.get(instId)?.close(px);
    },
    forget: (id) => {
      const before = known.get(id);
      if (before === undefined || isPositive(before.filled)) return;
      apply(before, -1);
      known.delete(id);
      over.delete(id);
    },
    openNotional: (strategy) => of(strategy)?.open.text ?? "0",
    holding: (instId, strategy) => of(strategy)?.held.get(instId)?.holding ?? flat,
    holdings: (strategy) => new Map([...(of(strategy)?.held ?? [])].map(([instId, { holding }]) => [instId, holding])),
    strategies: () => [...byStrategy.keys()],
  };
};

const applyTo = (sums: Sums, fact: ExposureEntry, left: string, open: string, sign: 1 | -1): void => {
  if (open !== "0") sums.open.add(open, sign);
  (sums.held.get(fact.instId) ?? heldIn(sums, fact.instId)).add(fact, left, sign);
};
