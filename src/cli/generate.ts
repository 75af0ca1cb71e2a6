/**
 * `sluice generate`: writes a generated market as a fixture.
 *
 * Not here: the market and its folder (market/tape/generate-market.ts).
 */
import type { Command } from "commander";
import { createSystemClock } from "../clock/system-clock.ts";
import { generateDefaults, generateMarket, lengthBounds } from "../market/tape/generate-market.ts";
import { fixtureSummary } from "./fixture-summary.ts";
import { type CliIo, transientLine } from "./io.ts";
import { wholeIn } from "./option-values.ts";
import { stepsText } from "./time-left.ts";

interface Given {
  readonly out: string;
  readonly seed: string;
  readonly minutes: number;
  readonly instrument: readonly string[];
  readonly quotesPerMinute: number;
  readonly start: string;
  readonly force?: boolean;
  readonly json?: true;
}

export const addGenerateCommand = (program: Command, io: CliIo): void => {
  program
    .command("generate")
    .description("Make a synthetic market (quotes and trades) and write it as a fixture.")
    .requiredOption("--out <dir>", "folder of the new fixture")
    .requiredOption("--instrument <instId...>", "one or more instrument ids, such as BTC-USDT-SWAP")
    .option("--seed <text>", "random seed; the same seed gives the same market", generateDefaults.seed)
    .option("--minutes <n>", "length of the market", wholeIn(lengthBounds), generateDefaults.minutes)
    .option(
      "--quotes-per-minute <n>",
      "how often the best prices change, on average",
      wholeIn(lengthBounds),
      generateDefaults.quotesPerMinute,
    )
    .option("--start <instant>", "first instant, ISO 8601 in UTC", generateDefaults.start)
    .option("--force", "replace the fixture that --out holds")
    .option("--json", "print one JSON object")
    .action(async ({ instrument, json, ...given }: Given) => {
      const clock = createSystemClock();
      const [progress, startedAt] = [transientLine(io, clock), clock.now()];
      const onProgress = (done: number, all: number): void => {
        progress.show(() => stepsText(done, all, "minutes made", clock.now() - startedAt));
      };
      const written = await generateMarket({ ...given, instruments: instrument, onProgress }).finally(progress.clear);
      io.out(fixtureSummary(written, json === true));
    });
};
