/**
 * Reserve for exits of all engines of a group together, and room for clients outside it.
 *
 * A reserve that all share grows with the root of their number, so ordinary actions of everybody leave one, less what
 * each keeps for its own first exit (its *purse*).
 *
 * Invariants: pure, apart from the grants it has received; the forecast is of exits asked for, never of those granted.
 */
import {
  type DivisionFacts,
  exitCallsOf,
  exitReserve,
  type FixedWindow,
  ForeignUsage,
  foreignRisk,
  type ReservePolicy,
} from "sluice/extension";
import type { ClaimItem, Grant } from "./claim.ts";

/**
 * The purse is given back so long before a window ends, and by an idle member sooner: others still have calls of a
 * second to spend it on.
 */
export const givesBackMs = 1_000;
export const idleGivesBackMs = 1_500;
/**
 * Deviations more than one engine leaves: exits of another are seen with its next claim only, and those beyond its part
 * are taken from all.
 */
const groupConfidence = 1;
const hourMs = 3_600_000;
/** Calls under way of each member that may cross with those of another client. */
const carefulPerMember = 15;
const carefulLate = 3;
const lateMs = 3_000;
/** No call is dearer; what is seen at once beyond this was several. */
const surpriseMost = 50;

export class GroupReserve {
  readonly #gauge: FixedWindow;
  readonly #facts: DivisionFacts;
  /** Reserve of all engines together. */
  readonly #group: ReservePolicy;
  readonly #part: number;
  readonly #strangers = new ForeignUsage();
  #seen = { window: Number.NEGATIVE_INFINITY, units: 0 };
  /** The first window of which others' use is believed. */
  #watchesFrom = Number.NEGATIVE_INFINITY;
  /** Sums of all members, by the last grant. */
  #sums: Pick<Grant, "openOrders" | "exitsPerHour" | "members"> | undefined;

  constructor(gauge: FixedWindow, facts: DivisionFacts, part: number) {
    this.#gauge = gauge;
    this.#facts = facts;
    this.#group = { ...facts.policy, confidence: facts.policy.confidence + groupConfidence };
    this.#part = part;
  }

  /** Takes the store's sums of all members, and the use of other clients. */
  hear(window: number, grant: Grant, at: number): void {
    this.#sums = grant;
    const { window: before, units } = this.#seen;
    if (window < before) return;
    const fresh = window === before ? grant.foreign - units : grant.foreign;
    this.#seen = { window, units: grant.foreign };
    if (window >= this.#watchesFrom) this.#strangers.observe(at, Math.min(surpriseMost, Math.max(0, fresh)));
  }

  watchFrom(window: number): void {
    this.#watchesFrom = window;
  }

  /** Units that ordinary actions of all members leave free in a window with so much time left. */
  leave(remMs: number, at: number): number {
    const { capacity, unit } = this.#gauge.spec;
    const own = this.expected(at);
    const { openOrders, exitsPerHour, members } = this.#sums ?? {
      openOrders: own.openOrders,
      exitsPerHour: own.exitsPerHour / this.#part,
      members: 1,
    };
    const reserve = Math.max(
      0,
      this.#exits(remMs, openOrders, exitsPerHour / hourMs, this.#group) -
        members * this.purse(Number.POSITIVE_INFINITY),
    );
    const margin = this.#strangers.margin(remMs, foreignRisk);
    const strangers =
      margin > 0 ? Math.min(capacity / 2, margin + (remMs > lateMs ? carefulPerMember : carefulLate) * members) : 0;
    return Math.ceil(reserve + strangers + (unit === "weight" ? this.#facts.policy.probeUnits : 0));
  }

  /** Part of `units` that is left for own exits when no units are added; not more than `most`. */
  own(units: number, remMs: number, at: number, most = units / 2): number {
    const { openOrders } = this.expected(at);
    return Math.min(most, Math.max(this.#exits(remMs, openOrders, this.#facts.exitRate(at)), this.purse(remMs)));
  }

  /** Orders that this engine may have to cancel, and exits that it expects. */
  expected(at: number): Pick<ClaimItem, "openOrders" | "exitsPerHour"> {
    const { scope, spec } = this.#gauge;
    const openOrders = this.#facts.openOrders(spec.scope === "uid" ? scope : undefined);
    return { openOrders, exitsPerHour: Math.round(this.#facts.exitRate(at) * hourMs) };
  }

  /** Units of every window that are kept for the first exit, which then needs no request. */
  purse(remMs: number): number {
    if (remMs <= givesBackMs) return 0;
    const { exitWeight, elementWeight, ordersPerExit } = this.#facts.policy;
    return this.#gauge.spec.unit === "weight" ? exitWeight + elementWeight * ordersPerExit : 1;
  }

  #exits(remMs: number, openOrders: number, rate: number, policy = this.#facts.policy): number {
    const exits = this.#gauge.spec.unit === "weight" ? exitReserve : exitCallsOf;
    return exits(policy, remMs, openOrders, rate);
  }
}
