/**
 * Parts of a simulation that run apart, such as one on each machine: a range of seeds each, kept in a file, and put
 * together.
 *
 * Invariants: every seed belongs to one part; files are put together only where all are of the simulation that is asked
 * for (config, recording, seeds, minutes, version) and none is missing; a file is written whole or not at all.
 * Not here: several processes of one machine (simulate-config.ts).
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { SluiceError } from "sluice";
import type { BacktestSpec } from "sluice/backtest";
import { type CheckedConfig, hashOfConfig, packageVersion, readManifest } from "sluice/extension";
import { type SweepPart, spellPart } from "sluice/plugins/sweep";
import { joinSummaries, type Summary } from "./simulation.ts";

interface Asked {
  readonly seeds: number;
  readonly first: number;
  readonly minutes: number;
  readonly fixture?: string;
  readonly plugins?: boolean;
}

type Identity = Readonly<Record<string, unknown>>;

interface PartFile {
  readonly simulation: Identity;
  readonly part: SweepPart;
  readonly summary: Summary;
}

const partFormat = "sluice-simulation/1";

/** Everything that the scenarios depend on. */
export const identityOf = (
  path: string,
  config: CheckedConfig,
  { seeds, first, minutes, fixture, plugins = false }: Asked,
): Identity => {
  const dir = fixtureOf(config, fixture);
  return {
    format: partFormat,
    version: packageVersion(),
    config: hashOfConfig(path, config),
    fixture: dir === undefined ? null : readManifest(resolve(dir)).contentHash,
    seeds,
    first,
    minutes,
    plugins,
  };
};

/** The folder of the recorded market; none where markets are made. */
export const fixtureOf = (config: CheckedConfig, given: string | undefined): string | undefined =>
  given ?? (config.service as Partial<BacktestSpec>).options?.fixture;

/** The seeds of a part. */
export const seedsOfPart = ({ seeds, first }: Pick<Asked, "seeds" | "first">, { index, of }: SweepPart) => {
  if (of > seeds)
    throw new SluiceError(
      "USAGE",
      `--part: ${seeds} seeds cannot be divided into ${of} parts. Take ${seeds} parts or fewer.`,
    );
  const [from, to] = [index - 1, index].map((part) => Math.floor((part * seeds) / of)) as [number, number];
  return { first: first + from, seeds: to - from };
};

/** Refuses a file that is there already; ask before the work is begun. */
export const checkPartFile = (file: string): void => {
  if (existsSync(file)) throw new SluiceError("USAGE", `--out: ${file} exists. Name another file, or remove it.`);
};

export const writePart = (file: string, simulation: Identity, part: SweepPart, summary: Summary): void => {
  checkPartFile(file);
  const kept: PartFile = { simulation, part, summary };
  writeFileSync(`${file}.part`, `${JSON.stringify(kept)}\n`);
  renameSync(`${file}.part`, file);
};

/** The summary of all seeds, from the files of all parts in any order. */
export const mergeParts = (files: readonly string[], simulation: Identity): Summary => {
  const parts = files.map((file) => ({ file, ...readPartFile(file, simulation) }));
  const of = parts[0]?.part.of ?? 1;
  for (const [at, { file, part }] of parts.entries()) {
    if (part.of !== of)
      throw new SluiceError(
        "USAGE",
        `--merge: ${file} is part ${spellPart(part)}, and ${files[0]} is one of ${of}. Merge parts of one division.`,
      );
    const other = parts.slice(0, at).find((one) => one.part.index === part.index);
    if (other !== undefined)
      throw new SluiceError("USAGE", `--merge: ${file} and ${other.file} are both part ${spellPart(part)}. Name one.`);
  }
  const missing = Array.from({ length: of }, (_, at) => at + 1).filter((index) =>
    parts.every(({ part }) => part.index !== index),
  );
  if (missing.length > 0)
    throw new SluiceError(
      "USAGE",
      `--merge: ${missing.length} of ${of} parts are missing:`,
      missing.map(
        (index) => `part ${spellPart({ index, of })}: run it with --part ${spellPart({ index, of })} --out FILE`,
      ),
    );
  return joinSummaries(parts.sort((a, b) => a.part.index - b.part.index).map(({ summary }) => summary));
};

const readPartFile = (file: string, simulation: Identity): PartFile => {
  if (!existsSync(file))
    throw new SluiceError("USAGE", `--merge: there is no ${file}. Name files that --part … --out has written.`);
  const kept = parsed(file);
  const found = kept?.simulation;
  if (kept === undefined || found?.["format"] !== partFormat)
    throw new SluiceError(
      "JOURNAL_INVALID",
      `--merge: ${file} is not a part of a simulation. Name files that --part … --out has written.`,
    );
  const differs = Object.keys(simulation).find((name) => !isDeepStrictEqual(found[name], simulation[name]));
  if (differs === undefined) return kept;
  throw new SluiceError(
    "USAGE",
    `--merge: ${file} is of another simulation: ${words[differs] ?? differs} is another. Ask for what the parts were asked for, or run them again.`,
  );
};

const parsed = (file: string): PartFile | undefined => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as PartFile;
  } catch {
    return undefined;
  }
};

const words: Readonly<Record<string, string>> = {
  version: "Sluice's version",
  config: "the config, or a file it imports,",
  fixture: "the recorded market",
  seeds: "the number of seeds (--seeds)",
  first: "the first seed (--first)",
  minutes: "--minutes",
  plugins: "--plugins",
};
