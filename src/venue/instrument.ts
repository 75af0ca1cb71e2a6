/**
 * One tradable product: its rules in exact numbers, and the grid its book matches on.
 *
 * Invariants: the rules are multiples of the grid; one tick times one lot is a whole amount, so values never round.
 * `lotSize` and `minSize` are quantities of base currency for every unit of `sz`, as recordings count in base.
 * Not here: prices and quantities of the day (matching-engine.ts).
 */

import { type InstType, parseInstId } from "../contract/inst-id.ts";
import type { FeeCurrency, Profile } from "../contract/profile.ts";
import { shortFields } from "../contract/short-fields.ts";
import { SluiceError } from "../errors.ts";
import { type Amount, one, readAmount, type Step, spell, stepOf } from "./money.ts";

/**
 * An instrument of the embedded exchange. `tickSize` is in quote currency, the sizes in base currency, all decimal
 * text.
 */
export interface VenueInstrument {
  readonly instId: string;
  readonly tickSize: string;
  readonly lotSize: string;
  readonly minSize?: string;
  readonly contractValue?: string;
  readonly maxLeverage?: string;
}

/** Bounds that orders are checked against, and the size of one tick and one lot of the book. */
export interface Product {
  readonly listing: VenueInstrument;
  readonly instId: string;
  readonly instType: InstType;
  readonly base: string;
  readonly quote: string;
  readonly tickRule: Amount;
  readonly lotRule: Amount;
  readonly minBase: Amount;
  readonly contractValue: Amount;
  readonly maxLeverage: Amount;
  /** Smallest quantity of an order, in lots. */
  readonly minLots: number;
  /** Step of the book's prices and of its quantities. */
  readonly tick: Amount;
  readonly lot: Amount;
  /** Quote currency of one lot at a price of one tick. */
  readonly cell: Amount;
  /** The fee of a purchase is taken in the base currency bought. */
  readonly buysPayInBase: boolean;
  /** The same three steps in the form that spelling needs. */
  readonly steps: { readonly tick: Step; readonly lot: Step; readonly cell: Step };
}

interface Grid {
  readonly tick: Amount;
  readonly lot: Amount;
}

const maxLeverageDefault = "100";

const invalid = (instId: string, field: string, value: unknown, rule: string): never => {
  throw new SluiceError("CONFIG_INVALID", `venue instrument ${instId}: ${field} is ${JSON.stringify(value)}; ${rule}.`);
};

const positive = (
  listing: VenueInstrument,
  field: Exclude<keyof VenueInstrument, "instId">,
  fallback: string,
): Amount => {
  const value = readAmount(listing[field] ?? fallback);
  if (value !== undefined && value > 0n) return value;
  return invalid(
    listing.instId,
    field,
    listing[field],
    'write a positive decimal with at most 18 fraction digits, such as "0.1"',
  );
};

/** A product on its own grid, or on `grid` when its steps are multiples of that one. */
export const createProduct = (listing: VenueInstrument, grid?: Grid, spotBuyFee: FeeCurrency = "quote"): Product => {
  const { instType, base, quote } = parseInstId(listing.instId, "venue instrument");
  const tickRule = positive(listing, "tickSize", "");
  const lotRule = positive(listing, "lotSize", "");
  const kept =
    grid !== undefined && tickRule % grid.tick === 0n && lotRule % grid.lot === 0n
      ? grid
      : { tick: tickRule, lot: lotRule };
  if ((kept.tick * kept.lot) % one !== 0n) {
    invalid(
      listing.instId,
      "tickSize",
      listing.tickSize,
      `tickSize times lotSize (${listing.lotSize}) must have at most 18 fraction digits`,
    );
  }
  const minBase = positive(listing, "minSize", listing.lotSize);
  const cell = (kept.tick * kept.lot) / one;
  return {
    listing: { ...listing },
    instId: listing.instId,
    instType,
    base,
    quote,
    tickRule,
    lotRule,
    minBase,
    minLots: Number((minBase + kept.lot - 1n) / kept.lot),
    contractValue: positive(listing, "contractValue", "1"),
    maxLeverage: positive(listing, "maxLeverage", maxLeverageDefault),
    tick: kept.tick,
    lot: kept.lot,
    cell,
    buysPayInBase: instType === "SPOT" && spotBuyFee === "base",
    steps: { tick: stepOf(kept.tick), lot: stepOf(kept.lot), cell: stepOf(cell) },
  };
};

/** Quote currency of so many lots at a price of so many ticks. */
export const worthOf = (product: Product, px: number, lots: number): Amount => {
  const cells = px * lots;
  return (cells <= Number.MAX_SAFE_INTEGER ? BigInt(cells) : BigInt(px) * BigInt(lots)) * product.cell;
};

export const baseOf = (product: Product, lots: number): Amount => BigInt(lots) * product.lot;

/** The record as published, in the spelling the profile names. */
export const instrumentRecordOf = (product: Product, profile: Profile): Readonly<Record<string, string>> => {
  const { listing, instType, base, quote } = product;
  const swap = instType === "SWAP";
  const long: Readonly<Record<string, string | undefined>> = {
    instId: listing.instId,
    instType,
    baseCurrency: base,
    quoteCurrency: quote,
    settleCurrency: swap ? quote : undefined,
    tickSize: spell(product.tickRule),
    lotSize: spell(product.lotRule),
    minSize: spell(product.minBase),
    contractValue: swap ? spell(product.contractValue) : undefined,
    maxLeverage: swap ? spell(product.maxLeverage) : undefined,
    state: "live",
  };
  const record: Record<string, string> = {};
  for (const [name, value] of Object.entries(long)) {
    if (value !== undefined)
      record[profile.instruments.fieldNames === "short" ? (shortFields[name] ?? name) : name] = value;
  }
  return record;
};
