/**
 * Orders that took from bars and got less than they wanted, because the bar's volume did not reach.
 *
 * Invariants: counts market orders, and immediate orders that were filled in part; each once, when it is over.
 * Not here: which instruments are bounded by volume (backtest/fill-choice.ts).
 */

import { instTypeOf } from "../contract/inst-id.ts";
import type { Profile } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { add, div, isPositive, mul, sub } from "../decimal.ts";

/** Orders of one instrument that took from bars. */
export interface VolumeCut {
  readonly instId: string;
  /** Number of orders that got less than they wanted. */
  readonly orders: number;
  /** Number of all that took. */
  readonly of: number;
  /** Part of the wanted quantity of all of them that was not filled, in percent. */
  readonly percent: string;
}

interface Counted {
  orders: number;
  of: number;
  wanted: string;
  missing: string;
}

const takers: readonly string[] = ["market", "ioc"];

export class VolumeCuts {
  readonly #profile: Profile;
  readonly #isBounded: (instId: string) => boolean;
  readonly #pxOf: (instId: string) => string | undefined;
  readonly #byInstrument = new Map<string, Counted>();

  constructor(profile: Profile, isBounded: (instId: string) => boolean, pxOf: (instId: string) => string | undefined) {
    this.#profile = profile;
    this.#isBounded = isBounded;
    this.#pxOf = pxOf;
  }

  onOrder(record: OrderRecord & { readonly szUnit?: string }): void {
    const { instId, ordType, state, accFillSz } = record;
    if ((state !== "filled" && state !== "canceled") || !takers.includes(ordType) || !this.#isBounded(instId)) return;
    if (ordType === "ioc" && !isPositive(accFillSz)) return;
    const counted = this.#byInstrument.get(instId) ?? { orders: 0, of: 0, wanted: "0", missing: "0" };
    this.#byInstrument.set(instId, counted);
    counted.of++;
    const wanted = this.#wantedOf(record);
    counted.wanted = add(counted.wanted, wanted);
    if (state === "filled") return;
    counted.orders++;
    const missing = sub(wanted, accFillSz);
    if (isPositive(missing)) counted.missing = add(counted.missing, missing);
  }

  list(): readonly VolumeCut[] {
    return [...this.#byInstrument]
      .filter(([, { orders }]) => orders > 0)
      .map(([instId, { orders, of, wanted, missing }]) => ({
        instId,
        orders,
        of,
        percent: isPositive(wanted) ? div(mul(missing, "100"), wanted, 1) : "0",
      }));
  }

  /** Size in the unit of the service's executed sizes. */
  #wantedOf({ instId, sz, szUnit, avgPx }: OrderRecord & { readonly szUnit?: string }): string {
    const unit = this.#profile.order.szUnit[instTypeOf(instId)];
    if (szUnit === undefined || szUnit === unit) return sz;
    const px = isPositive(avgPx || "0") ? avgPx : (this.#pxOf(instId) ?? "0");
    if (szUnit === "base" && unit === "quote_notional") return mul(sz, px);
    return szUnit === "quote_notional" && unit === "base" && isPositive(px) ? div(sz, px, 18) : sz;
  }
}
