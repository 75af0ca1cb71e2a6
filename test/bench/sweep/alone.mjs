/**
 * A process that runs jobs of a sweep by itself, with nothing shared: what the machine gives to those who share nothing. Its
 * argument is where the modules of the package are.
 *
 * Told a config, its fixture and jobs once, it warms up and says so; each later word makes it run all jobs and say how long that took.
 */
import { performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { register as registerCommonJs } from "tsx/cjs/api";
import { register } from "tsx/esm/api";

const of = (name) => import(pathToFileURL(`${process.argv[2]}/${name}.js`).href);
const { loadConfigFile } = await of("host/load");
const { runJob } = await of("plugins/sweep/job");
const { readMarkets } = await of("plugins/sweep/sweep-markets");
registerCommonJs();
register();

let runAll;
const prepared = async ({ configPath, fixture, jobs }) => {
  const config = await loadConfigFile(configPath, { command: "backtest" });
  const [market] = readMarkets({ fixture, windows: [] });
  for (const job of [jobs[0], jobs.at(-1)]) await runJob(config, job, market, {});
  return async () => {
    for (const job of jobs) await runJob(config, job, market, {});
  };
};

const answered = async (facts) => {
  const start = performance.now();
  if (runAll === undefined) runAll = await prepared(facts);
  else await runAll();
  process.send((performance.now() - start) / 1_000);
};
process.on("message", (facts) => {
  void answered(facts);
});
