/**
 * The limits on money as the desk uses them: told of every order, asked about every wish.
 *
 * Invariants: without a limit in the config only what was executed is summed up; a wish that is refused again for the same limit is refused in
 * the same words, so that it is told once.
 * Not here: what may pass (risk-limits.ts), the sums (exposure.ts).
 */
import type { Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import type { InstrumentRecord } from "../../contract/schemas.ts";
import { isZero } from "../../decimal.ts";
import type { Slot } from "../slots.ts";
import { isOver, type TrackedOrder } from "../tracked-order.ts";
import { type WantedOrder, wishMark } from "../wanted-order.ts";
import { createExposure, type Exposure, type Holding } from "./exposure.ts";
import { exposureEntryOf } from "./exposure-entry.ts";
import { createLossWatch } from "./loss-limits.ts";
import type { Ruling } from "./pre-trade-checks.ts";
import { limitsMoney, type RiskInput, type RiskRules } from "./risk-limits.ts";

interface RiskManagerOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly rules: RiskRules;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly marketPx: (instId: string, side: "buy" | "sell") => string | undefined;
}

/** What a strategy holds by orders of earlier lives that are over. */
type Inherited = Pick<Holding, "position" | "cash"> & { readonly strategy: string; readonly instId: string };

/** Told once of a loss beyond its limit. */
interface OnLoss {
  readonly strategy: (name: string, reason: string) => void;
  readonly all: (reason: string) => void;
}

export interface RiskManager {
  /** An order is as it is now. */
  readonly take: (order: TrackedOrder) => void;
  /** What earlier lives hold, and of whom (empty: of all) it was decided then what is to become of their losses. */
  readonly inherit: (holdings: readonly Inherited[], judged: readonly string[]) => void;
  /** Whose wish an order of an earlier life was: it counts for that strategy before anybody takes it over. */
  readonly owned: (clOrdId: string, strategy: string) => void;
  /** What the rules need to know of money; undefined where nothing is limited. */
  readonly view: (slot: Slot, wish: WantedOrder) => Pick<RiskInput, "strategy" | "all" | "marketPx"> | undefined;
  /** The ruling in the words it was told in. */
  readonly steady: (slot: Slot, wish: WantedOrder, ruling: Ruling) => Ruling;
  /** How many wishes that found no room are tried again when an order has ended: it may have been larger than they are. */
  readonly retries: number;
  readonly exposure: Exposure;
}

const retriesWithin = 8;

const hasFills = ({ record }: TrackedOrder): boolean => record !== undefined && record.accFillSz !== "" && !isZero(record.accFillSz);

export const createRiskManager = (options: RiskManagerOptions, onLoss: OnLoss): RiskManager => {
  const { clock, contract, rules, instruments, marketPx } = options;
  const exposure = createExposure();
  const owners = new Map<string, string>();
  const told = new WeakMap<Slot, { readonly mark: string; readonly limit: keyof RiskRules; readonly reason: string }>();
  const limited = limitsMoney(rules);
  const source = { profile: contract.profile, instruments, marketPx };
  const losses = createLossWatch({ clock, rules, exposure, closingPx: marketPx, onStrategy: onLoss.strategy, onAll: onLoss.all });

  return {
    exposure,
    retries: limited ? retriesWithin : 1,
    take: (order) => {
      // Without limits only what was executed matters: it says what a strategy holds.
      if (!limited && !hasFills(order)) return;
      if (order.phase === "planned") {
        exposure.forget(order.clOrdId);
        return;
      }
      const { clOrdId, record, spec, strategy } = order;
      exposure.take({ ...exposureEntryOf(order, source), strategy: strategy === "" ? (owners.get(clOrdId) ?? "") : strategy });
      if (isOver(order)) owners.delete(clOrdId);
      if (limited && record !== undefined && record.avgPx !== "") losses.traded(spec.instId, record.avgPx);
    },
    inherit: (holdings, judged) => {
      for (const { strategy, instId, ...held } of holdings) exposure.inherit(strategy, instId, held);
      if (limited) losses.inherited(judged);
    },
    owned: (clOrdId, strategy) => {
      if (strategy !== "") owners.set(clOrdId, strategy);
    },
    view: ({ strategy }, { instId, side }) => {
      if (!limited) return undefined;
      const standing = (of?: string) => ({ openNotional: exposure.openNotional(of), holding: exposure.holding(instId, of) });
      return { strategy: standing(strategy), all: standing(), marketPx: marketPx(instId, side) };
    },
    steady: (slot, wish, ruling) => {
      if (ruling.approved || ruling.limit === undefined) {
        if (limited) told.delete(slot);
        return ruling;
      }
      const { limit, reason } = ruling;
      const mark = wishMark(wish);
      const before = told.get(slot);
      if (before?.mark === mark && before.limit === limit) return { ...ruling, reason: before.reason };
      told.set(slot, { mark, limit, reason });
      return ruling;
    },
  };
};
