/**
 * What our orders have done and may still do to positions and money: a fold over what becomes known of them.
 *
 * Invariants: what is told twice or out of order counts once, since of two tellings of an order the further one holds; the sums
 * equal those of all orders taken together; an order counts with all that may still be executed until it is known to be over.
 * Not here: how a record becomes a telling (exposure-entry.ts), what is allowed (risk-limits.ts).
 */
import type { Side } from "../../contract/profile.ts";
import { compare, equal, isPositive, mul, neg, sub } from "../../decimal.ts";
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
  /** Executed so far: base currency, quote currency, and what it cost. */
  readonly filled: string;
  readonly value: string;
  readonly cost: string;
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

/** A holding as it is added up; its text is made when somebody asks. */
class HeldSums {
  #position = new RunningSum();
  readonly #cash = new RunningSum();
  readonly #buying = new RunningSum();
  readonly #selling = new RunningSum();
  #holding: Holding | undefined = flat;

  get holding(): Holding {
    this.#holding ??= {
      position: this.#position.text,
      cash: this.#cash.text,
      buying: this.#buying.text,
      selling: this.#selling.text,
    };
    return this.#holding;
  }

  /** One telling, or what takes it away again. */
  add(side: Side, { position, cash, left }: Pick<Delta, "position" | "cash" | "left">): void {
    this.#holding = undefined;
    this.#position.add(position);
    this.#cash.add(cash);
    if (left !== "0") (side === "buy" ? this.#buying : this.#selling).add(left);
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
}

const newSums = (): Sums => ({ open: new RunningSum(), held: new Map() });

const heldIn = ({ held }: Sums, instId: string): HeldSums => {
  let sums = held.get(instId);
  if (sums === undefined) {
    sums = new HeldSums();
    held.set(instId, sums);
  }
  return sums;
};

const greater = (a: string, b: string): string => (compare(a, b) >= 0 ? a : b);

const isFurther = (a: ExposureEntry, b: ExposureEntry): boolean =>
  (compare(a.filled, b.filled) || compare(a.cost, b.cost) || compare(a.value, b.value)) >= 0;

/** What is known after both tellings, in whatever order they came. */
const joined = (a: ExposureEntry, b: ExposureEntry): ExposureEntry => {
  const { filled, value, cost } = isFurther(a, b) ? a : b;
  const strategy = a.strategy > b.strategy ? a.strategy : b.strategy;
  const { revision: ofA = 0 } = a;
  const { revision: ofB = 0 } = b;
  if (ofA !== ofB) return { ...(ofA > ofB ? a : b), strategy, open: a.open && b.open, filled, value, cost };
  const px = a.px === "" ? b.px : b.px === "" ? a.px : greater(a.px, b.px);
  return { ...a, strategy, px, base: greater(a.base, b.base), open: a.open && b.open, filled, value, cost };
};

const same = (a: ExposureEntry, b: ExposureEntry): boolean =>
  a.strategy === b.strategy &&
  a.open === b.open &&
  a.px === b.px &&
  a.base === b.base &&
  equal(a.filled, b.filled) &&
  equal(a.cost, b.cost);

/** The part that may still be executed, in base currency. */
const leftOf = ({ open, base, filled }: ExposureEntry): string => {
  if (!open) return "0";
  const left = sub(base, filled);
  return isPositive(left) ? left : "0";
};

/** What one telling changes. */
interface Delta {
  readonly position: string;
  readonly cash: string;
  readonly left: string;
  /** In quote currency. */
  readonly open: string;
}

const deltaOf = (fact: ExposureEntry): Delta => {
  const { side, filled, value, cost, px, reduceOnly } = fact;
  const buys = side === "buy";
  const left = leftOf(fact);
  return {
    position: buys ? filled : neg(filled),
    cash: sub(buys ? neg(value) : value, cost),
    left: reduceOnly ? "0" : left,
    open: px === "" || left === "0" ? "0" : mul(left, px),
  };
};

const reversed = ({ position, cash, left, open }: Delta): Delta => ({
  position: neg(position),
  cash: neg(cash),
  left: left === "0" ? left : neg(left),
  open: open === "0" ? open : neg(open),
});

export const createExposure = (): Exposure => {
  const known = new Map<string, ExposureEntry>();
  const over = new Set<string>();
  const inAll = newSums();
  const byStrategy = new Map<string, Sums>();

  const sumsOf = (strategy: string): Sums => {
    let sums = byStrategy.get(strategy);
    if (sums === undefined) {
      sums = newSums();
      byStrategy.set(strategy, sums);
    }
    return sums;
  };
  const applyTo = (sums: Sums, fact: ExposureEntry, delta: Delta): void => {
    if (delta.open !== "0") sums.open.add(delta.open);
    heldIn(sums, fact.instId).add(fact.side, delta);
  };
  const apply = (fact: ExposureEntry, delta: Delta): void => {
    applyTo(inAll, fact, delta);
    applyTo(sumsOf(fact.strategy), fact, delta);
  };
  const retire = (id: string): void => {
    over.add(id);
    if (over.size <= overMax) return;
    const [oldest] = over;
    over.delete(oldest as string);
    known.delete(oldest as string);
  };
  const of = (strategy: string | undefined): Sums | undefined => (strategy === undefined ? inAll : byStrategy.get(strategy));

  return {
    take: (fact) => {
      const before = known.get(fact.id);
      const now = before === undefined ? fact : joined(before, fact);
      if (before !== undefined && same(before, now)) return;
      if (before !== undefined) apply(before, reversed(deltaOf(before)));
      apply(now, deltaOf(now));
      known.set(fact.id, now);
      if (!now.open) retire(fact.id);
    },
    inherit: (strategy, instId, { position, cash }) => {
      for (const sums of [inAll, sumsOf(strategy)]) heldIn(sums, instId).add("buy", { position, cash, left: "0" });
    },
    close: (instId, px) => {
      for (const { held } of [inAll, ...byStrategy.values()]) held.get(instId)?.close(px);
    },
    forget: (id) => {
      const before = known.get(id);
      if (before === undefined || isPositive(before.filled)) return;
      apply(before, reversed(deltaOf(before)));
      known.delete(id);
      over.delete(id);
    },
    openNotional: (strategy) => of(strategy)?.open.text ?? "0",
    holding: (instId, strategy) => of(strategy)?.held.get(instId)?.holding ?? flat,
    holdings: (strategy) => new Map([...(of(strategy)?.held ?? [])].map(([instId, { holding }]) => [instId, holding])),
    strategies: () => [...byStrategy.keys()],
  };
};
