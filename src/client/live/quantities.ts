/**
 * Quantities of market data in base currency, for every unit of the service.
 *
 * Invariants: exact where the unit allows it; a quotient is rounded down at its twelfth place; a count of contracts
 * without a known contract value gives nothing, never a wrong number.
 */
import type { SzUnit } from "../../contract/profile.ts";
import { div, isPositive, mul, plain } from "../../decimal.ts";

/** Base currency of `sz` at `px`, or undefined where that cannot be known. */
export type ToBase = (instId: string, sz: string, px: string) => string | undefined;

const quotientPlaces = 12;

export const toBaseFor = (unit: SzUnit, contractValue: (instId: string) => string | undefined): ToBase => {
  switch (unit) {
    case "base":
      return (_, sz) => plain(sz);
    case "quote_notional":
      return (_, sz, px) => (isPositive(px) ? div(sz, px, quotientPlaces) : undefined);
    case "contracts":
      return (instId, sz) => {
        const value = contractValue(instId);
        return value === undefined ? undefined : mul(sz, value);
      };
  }
};
