/** What users import by name: `sluice`, `sluice/backtest` and so on, as files of the sources. */
export const packageEntries = [
  "index",
  "extension",
  "dialect",
  // The namespace of `sluice/dialect`.
  "wire",
  "backtest",
  "testing",
].map((name) => `src/${name}.ts`);
