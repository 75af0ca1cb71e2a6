/** Margin rules of the profile as exact numbers; a row that is none is refused by name. */
import type { Profile } from "../contract/profile.ts";
import { SluiceError } from "../errors.ts";
import { type Amount, one, readAmount } from "./money.ts";

export interface MarginRules {
  readonly maintenance: Amount;
  readonly liquidationFee: Amount;
  readonly liquidates: boolean;
  readonly covers: boolean;
  readonly countsLoss: boolean;
  readonly lookMs: number;
}

const shareOf = (name: "maintenanceRate" | "liquidationFeeRate", text: string): Amount => {
  const share = readAmount(text);
  if (share !== undefined && share >= 0n && share < one) return share;
  throw new SluiceError(
    "PROFILE_INVALID",
    `profile.margin.${name}: ${JSON.stringify(text)} is not a share. Write decimal text from 0 to below 1, such as "0.005".`,
  );
};

export const leverageDefaultOf = ({ margin: { leverageDefault } }: Profile): Amount => {
  const leverage = readAmount(leverageDefault);
  if (leverage !== undefined && leverage >= one) return leverage;
  throw new SluiceError(
    "PROFILE_INVALID",
    `profile.margin.leverageDefault: ${JSON.stringify(leverageDefault)} is not a leverage. Write decimal text from 1 up, such as "10".`,
  );
};

export const marginRulesOf = ({ margin }: Profile): MarginRules => ({
  maintenance: shareOf("maintenanceRate", margin.maintenanceRate),
  liquidationFee: shareOf("liquidationFeeRate", margin.liquidationFeeRate),
  liquidates: margin.liquidation === "market",
  covers: margin.shortfall === "covered",
  countsLoss: margin.openLoss === "counted",
  lookMs: margin.lookMs,
});
