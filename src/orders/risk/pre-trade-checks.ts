/**
 * Pre-trade checks: they cost nothing here, and would cost quota or money at the service.
 *
 * Invariants: only an approved order reaches the gateway; a refusal states the rule, the value, and which value would
 * pass.
 * Not here: risk limits (risk-limits.ts), what is open and held (exposure.ts).
 */
import type { Contract } from "../../contract/contract.ts";
import { isCancelable, type Profile } from "../../contract/profile.ts";
import type { InstrumentRecord } from "../../contract/schemas.ts";
import type { Decimal } from "../../decimal-value.ts";
import { didYouMean } from "../../errors.ts";
import { type ExitLimit, lackOf, type SizedExit, sizeExit } from "../exit-size.ts";
import {
  type Conversion,
  canRest,
  type OrderSpec,
  type Specified,
  specify,
  type WantedOrder,
} from "../wanted-order.ts";
import { type RiskInput, type RiskRules, riskRuling } from "./risk-limits.ts";

/** Rules for orders. Limits on money do not apply unless they are set. */
export interface RuleSet extends RiskRules {
  /** True if spot orders may rest although the service has no call that cancels them. */
  readonly allowUncancellable: boolean;
  /** Maximum number of open orders of one strategy. */
  readonly openPerStrategy: number;
  /**
   * Maximum number of open orders of all strategies. It is never larger than the number of orders that the reserve can
   * cancel in one window.
   */
  readonly openInAll: number;
}

const defaultRules: RuleSet = { allowUncancellable: false, openPerStrategy: 100, openInAll: 400 };

/** The rules of a config's `orders`, with defaults filled in. `postOnlyPause` is not a rule. */
export const rulesOf = (orders: Partial<RuleSet> & { readonly postOnlyPause?: unknown } = {}): RuleSet => {
  const rules = { ...defaultRules, ...orders };
  delete rules.postOnlyPause;
  return rules;
};

interface RuleInput {
  readonly wanted: WantedOrder;
  readonly instruments: ReadonlyMap<string, InstrumentRecord>;
  readonly contract: Contract;
  readonly rules: RuleSet;
  /** Reason why no order may be sent to the service now. */
  readonly refused?: string | undefined;
  readonly marketPx: string | undefined;
  readonly openOfStrategy: number;
  readonly openInAll: number;
  /** Open orders, positions and the market. Needed only if money is limited. */
  readonly risk?: Pick<RiskInput, "strategy" | "all" | "marketPx"> | undefined;
  /** Limits of an exit. */
  readonly exit?: ExitLimit | undefined;
}

export interface Approval {
  readonly approved: true;
  readonly spec: OrderSpec;
  /** Quantity in base currency; undefined if it is not known. */
  readonly baseQty: Decimal | undefined;
  /** Size of an exit. */
  readonly exit?: Pick<SizedExit, "wantedQty" | "withoutFlag">;
}

export type Ruling =
  | Approval
  /**
   * `crowded`: the order may pass when another one has ended. `limit`: the limit on money that it would break.
   * `isGeneral`: no order of its kind may leave. `isUnquoted`: the first quote of the product may end the refusal.
   */
  | {
      readonly approved: false;
      readonly reason: string;
      readonly crowded?: true;
      readonly limit?: keyof RiskRules;
      readonly isGeneral?: true;
      readonly isUnquoted?: true;
    };

const refused = (reason: string): Extract<Ruling, { approved: false }> => ({ approved: false, reason });

export const specifyListed = (
  wanted: WantedOrder,
  instruments: ReadonlyMap<string, InstrumentRecord>,
  contract: Contract,
  marketPx: string | undefined,
  conversion?: Conversion,
): Specified => {
  const instrument = instruments.get(wanted.instId);
  if (instrument === undefined) {
    return {
      ok: false,
      reason: `the service does not list ${wanted.instId} as tradable.${didYouMean(wanted.instId, [...instruments.keys()])}`,
    };
  }
  return specify(wanted, instrument, contract.profile, marketPx, conversion);
};

export const rule = (input: RuleInput): Ruling => {
  const { wanted, contract, rules } = input;
  if (input.refused !== undefined) return { ...refused(input.refused), isGeneral: true };
  const problem = kindProblem(wanted, contract.profile, rules);
  if (problem !== undefined) return refused(problem);
  const crowd = crowdIn(input);
  if (crowd !== undefined) return { ...refused(crowd), crowded: true };
  const result = sized(input, specifyListed(wanted, input.instruments, contract, input.marketPx));
  if (!result.ok) return { ...refused(result.reason), ...(result.isUnquoted && { isUnquoted: true }) };
  const { spec, baseQty } = result;
  const broken = input.risk === undefined ? undefined : riskRuling({ rules, spec, baseQty, ...input.risk });
  if (broken === undefined)
    return "withoutFlag" in result
      ? { approved: true, spec, baseQty, exit: result }
      : { approved: true, spec, baseQty };
  const { limit, reason, crowded, isUnquoted } = broken;
  return { ...refused(reason), limit, ...(crowded && { crowded }), ...(isUnquoted && { isUnquoted }) };
};

/** Reason why no order of this kind may be sent: its side, its type, or the lack of a call to cancel it. */
const kindProblem = (
  { side, instId, ordType = "limit" }: WantedOrder,
  profile: Profile,
  { allowUncancellable }: RuleSet,
): string | undefined => {
  const { sides, ordTypes } = profile.order;
  if (!sides.includes(side)) return `side "${side}" is not one of ${sides.join(", ")}`;
  if (!ordTypes.includes(ordType))
    return `ordType "${ordType}" is not one of ${ordTypes.join(", ")}.${didYouMean(ordType, ordTypes)}`;
  if (!canRest(ordType) || allowUncancellable || isCancelable(instId, profile)) return undefined;
  return `a resting spot order could not be cancelled: the service describes batch cancel for contract orders only. Use ioc, fok or market, or set orders.allowUncancellable`;
};

/** Reason why no further order may be opened; undefined if one may. */
const crowdIn = ({ rules, openOfStrategy, openInAll }: RuleInput): string | undefined => {
  if (openOfStrategy >= rules.openPerStrategy)
    return `the strategy has ${openOfStrategy} open orders, its limit (orders.openPerStrategy)`;
  if (openInAll < rules.openInAll) return undefined;
  return `${openInAll} orders are open, as many as the quota kept for cancelling can take back at once (orders.openInAll)`;
};

/** The order, or the part of it that an exit may execute now. */
const sized = (
  { wanted, instruments, contract, marketPx, exit }: RuleInput,
  result: Specified,
): Specified | SizedExit => {
  const instrument = instruments.get(wanted.instId);
  if (!result.ok || exit === undefined || instrument === undefined) return result;
  const lack = lackOf(exit, instrument);
  if (lack !== undefined) return { ok: false, reason: lack.reason };
  const { notional: _notional, sz: _sz, ...sizeless } = wanted;
  return sizeExit(result, exit, instrument, (qty, isBounded) =>
    specifyListed({ ...sizeless, qty }, instruments, contract, marketPx, { sizing: isBounded ? "bounded" : "aimed" }),
  );
};
