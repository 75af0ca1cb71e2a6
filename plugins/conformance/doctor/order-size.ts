/**
 * Sizes and prices of an order that should trade nothing, and the unit of `sz` that follows from the money reserved for
 * it.
 *
 * Invariants: pure and exact; sizes come smallest number first, so that a wrong guess of the unit asks for too little.
 */
import { compare, div, type InstrumentRecord, isDecimal, isPositive, mul, type Side, sub, toStep } from "sluice";
import { plain, type wire } from "sluice/dialect";

/** Factors of the best bid at which an order does not trade and is not refused as a typing error. */
const farShares = { buy: ["0.7", "down"], sell: ["1.3", "up"] } as const;
const places = 18;

export const farPrice = (side: Side, bidPx: string, tickSize: string): string => {
  const [share, rounding] = farShares[side];
  const px = toStep(mul(bidPx, share), tickSize, rounding);
  return isPositive(px) ? px : tickSize;
};

const minimumOf = ({ minSize, lotSize }: InstrumentRecord): string => minSize ?? lotSize;
const contractOf = ({ contractValue = "1" }: InstrumentRecord): string =>
  isPositive(contractValue) ? contractValue : "1";

/** The smallest size in each of the units, smallest number first, each number once. */
export const sizesFrom = (instrument: InstrumentRecord, px: string): readonly string[] => {
  const base = minimumOf(instrument);
  const sizes = [base, div(base, contractOf(instrument), places), mul(base, px)].map(plain);
  return sizes.filter((size, index) => sizes.findIndex((other) => compare(other, size) === 0) === index).sort(compare);
};

interface SetAside {
  readonly instrument: InstrumentRecord;
  readonly px: string;
  readonly sz: string;
  /** Frozen balance before and after the order was placed at leverage 1. */
  readonly before: string;
  readonly afterwards: string;
  readonly assumed: wire.SzUnit;
}

/**
 * Ratio of the reserved money to the order's value that counts as near; it leaves room for fees and a safety margin.
 */
const nearness = { least: "0.8", most: "1.25" } as const;

export const unitOf = ({
  instrument,
  px,
  sz,
  before,
  afterwards,
  assumed,
}: SetAside): { readonly unit: wire.SzUnit | undefined; readonly evidence: string } => {
  if (!isDecimal(before) || !isDecimal(afterwards))
    return { unit: undefined, evidence: "what is set aside is no decimal" };
  const held = sub(afterwards, before);
  const said = `sz ${sz} at ${px} set ${plain(held)} aside`;
  if (!isPositive(held)) return { unit: undefined, evidence: `${said}: a position of the account may cover it` };
  const base = mul(sz, px);
  const values: readonly (readonly [wire.SzUnit, string])[] = [
    ["quote_notional", sz],
    ["base", base],
    ["contracts", mul(base, contractOf(instrument))],
  ];
  const fitting = values.filter(
    ([, value]) => compare(held, mul(value, nearness.least)) >= 0 && compare(held, mul(value, nearness.most)) <= 0,
  );
  const units = fitting.map(([unit]) => unit);
  // A contract of one coin is one coin: both units are right.
  const same = units.length === 2 && !units.includes("quote_notional") && compare(contractOf(instrument), "1") === 0;
  if (units.includes(assumed) && (units.length === 1 || same)) return { unit: assumed, evidence: said };
  if (units.length === 1 || same) return { unit: units[0], evidence: said };
  return {
    unit: undefined,
    evidence: `${said}: ${units.length === 0 ? "no unit explains it" : `${units.join(" and ")} explain it`}`,
  };
};
