/**
 * What wanted orders become in the service's terms, by the instruments and prices of now.
 *
 * Invariants: an answer is given again only for the same wanted order, instrument and price, on which alone it depends.
 * Not here: the conversion (wanted-order.ts), what may be sent (risk/pre-trade-checks.ts).
 */
import type { Contract } from "../contract/contract.ts";
import type { Side } from "../contract/profile.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import type { TriggerPrices } from "./protection/price-triggers.ts";
import { specifyListed } from "./risk/pre-trade-checks.ts";
import type { Specified, WantedOrder } from "./wanted-order.ts";

interface SpecificationsOptions {
  readonly contract: Contract;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly marketPx: (instId: string, side: Side) => string | undefined;
  readonly prices: Pick<TriggerPrices, "insideBar">;
}

interface Compared {
  readonly instrument: InstrumentRecord | undefined;
  readonly marketPx: string | undefined;
  readonly specified: Specified;
}

export class Specifications {
  readonly #options: SpecificationsOptions;
  readonly #compared = new WeakMap<WantedOrder, Compared>();

  constructor(options: SpecificationsOptions) {
    this.#options = options;
  }

  /**
   * For the comparison with a resting order; remembered, because what differs is placed once that order is canceled.
   */
  readonly compare = (wanted: WantedOrder): Specified => {
    const { instruments, contract } = this.#options;
    const listed = instruments();
    const marketPx = this.marketPxFor(wanted);
    const known = this.known(wanted, listed.get(wanted.instId), marketPx);
    if (known !== undefined) return known;
    const specified = specifyListed(wanted, listed, contract, marketPx);
    this.#compared.set(wanted, { instrument: listed.get(wanted.instId), marketPx, specified });
    return specified;
  };

  /** What a comparison found, if it still holds. */
  known(
    wanted: WantedOrder,
    instrument: InstrumentRecord | undefined,
    marketPx: string | undefined,
  ): Specified | undefined {
    const compared = this.#compared.get(wanted);
    const holds =
      compared !== undefined &&
      instrument !== undefined &&
      compared.instrument === instrument &&
      compared.marketPx === marketPx;
    return holds ? compared.specified : undefined;
  }

  /** The price a conversion needs, where it needs one. */
  marketPxFor({ px, ordType, instId, side, cross, reduceOnly }: WantedOrder): string | undefined {
    if (px !== undefined && ordType !== "market" && cross !== "touch") return undefined;
    const { marketPx, prices } = this.#options;
    // An exit follows a price inside a bar, which no other order knows of.
    const inside = reduceOnly === true && ordType === "market" ? prices.insideBar?.(instId) : undefined;
    return inside ?? marketPx(instId, side);
  }
}
