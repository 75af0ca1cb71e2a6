/** Short names of instrument fields, which a service may use. */

/** How instrument fields are spelled where the profile says `short`. */
export const shortFields: Readonly<Record<string, string>> = {
  baseCurrency: "baseCcy",
  quoteCurrency: "quoteCcy",
  settleCurrency: "settleCcy",
  tickSize: "tickSz",
  lotSize: "lotSz",
  minSize: "minSz",
  contractValue: "ctVal",
  maxLeverage: "lever",
};
