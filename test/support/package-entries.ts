/** What users import by name: `sluice`, `sluice/backtest` and so on, as files of the sources. */
export const packageEntries = [
  "index",
  "extension",
  "backtest",
  "venue",
  "session",
  "store",
  "testing",
  "verify",
  "control",
  "client/dialects/okx",
  "client/dialects/blofin",
].map((name) => `src/${name}.ts`);
