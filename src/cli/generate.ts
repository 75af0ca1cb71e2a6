/**
 * `sluice generate`: writes a generated market as a fixture.
 *
 * Invariants: the same command gives the same contentHash everywhere; the manifest's source repeats the command that made it.
 */
import type { Command } from "commander";
import { SluiceError } from "../errors.ts";
import { checkWritable, writeFixture } from "../market/tape/fixture.ts";
import { defaultStartAt, generateTape, instrumentFor } from "../market/tape/generate.ts";
import { fixtureSummary } from "./fixture-summary.ts";
import type { CliIo } from "./io.ts";
import { wholeFrom } from "./option-values.ts";

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
    .option("--seed <text>", "what chance grows from; the same seed gives the same market", "1")
    .option("--minutes <n>", "length of the market", wholeFrom(0, 999_999_999), 60)
    .option("--quotes-per-minute <n>", "how often the best prices change, on average", wholeFrom(0, 999_999_999), 120)
    .option("--start <instant>", "first instant, ISO 8601 in UTC", new Date(defaultStartAt).toISOString())
    .option("--force", "replace the fixture that --out holds")
    .option("--json", "print one JSON object")
    .action((given: Given) => {
      io.out(fixtureSummary(given.out, generate(given), given.json === true));
    });
};

const generate = ({ out, seed, minutes, instrument, quotesPerMinute, start, force = false }: Given) => {
  checkWritable(out, { force });
  const startAt = instantOf(start);
  const instruments = instrument.map(instrumentFor);
  const tape = generateTape({ seed, minutes, instruments, quotesPerMinute, startAt });
  const command = [
    `sluice generate --out ${out} --seed ${seed} --minutes ${minutes}`,
    ...(quotesPerMinute === 120 ? [] : [`--quotes-per-minute ${quotesPerMinute}`]),
    ...(startAt === defaultStartAt ? [] : [`--start ${new Date(startAt).toISOString()}`]),
    `--instrument ${instrument.join(" ")}`,
  ].join(" ");
  return writeFixture(out, tape, { source: `A synthetic market, made by: ${command}` }, { force });
};

const instantOf = (text: string): number => {
  const at = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?Z)?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (at >= 0) return at;
  throw new SluiceError("USAGE", `--start: "${text}" is not an instant in UTC. Write it like 2024-01-01 or 2024-01-01T12:00:00Z.`);
};
