/** Short names of instrument fields, which a service may use. */

/** Names of instrument fields where the profile has `short`. */
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
