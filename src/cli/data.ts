/**
 * `sluice data`: lists, shows, checks, cuts, merges and pushes fixtures.
 *
 * Invariants: with `--json` exactly one JSON document goes to stdout; a fixture is changed by none of them, and written only where `--out` or `--to` says.
 * Not here: how windows are cut (backtest/sweep/cut.ts), how tapes are joined (market/tape/fixture-writer.ts).
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import type { Command } from "commander";
import { cutTape } from "../backtest/sweep/cut.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { parseInstId } from "../contract/inst-id.ts";
import { didYouMean, messageOf, SluiceError } from "../errors.ts";
import { type FixtureManifest, readFixture, readManifest } from "../market/tape/fixture.ts";
import { findingsOf } from "../market/tape/fixture-findings.ts";
import { type FixtureWriter, openFixtureWriter } from "../market/tape/fixture-writer.ts";
import { microsecondsOf } from "../market/tape/import-instants.ts";
import { createTape, type Tape } from "../market/tape/tape.ts";
import { grouped, minuteOf } from "../report/number-format.ts";
import { findingLine, fixtureSummary } from "./fixture-summary.ts";
import { type CliIo, jsonText, transientLine } from "./io.ts";
import { stepsText } from "./time-left.ts";

interface Flags {
  readonly json?: true;
}

interface WriteFlags extends Flags {
  readonly out: string;
  readonly force?: boolean;
}

interface CutFlags extends WriteFlags {
  readonly from?: string;
  readonly to?: string;
  readonly instrument?: readonly string[];
}

export const addDataCommand = (program: Command, io: CliIo): void => {
  const data = program.command("data").description("List, show, check, cut, merge and push fixtures.");
  data
    .command("ls")
    .description("List the fixtures in a folder and those below it.")
    .argument("[dir]", "folder", ".")
    .option("--json", "print one JSON document")
    .action((dir: string, flags: Flags) => {
      list(dir, flags, io);
    });
  data
    .command("show")
    .description("Show what a fixture holds, by its manifest.")
    .argument("<dir>", "the fixture")
    .option("--json", "print one JSON document")
    .action((dir: string, { json }: Flags) => {
      const manifest = readManifest(dir);
      io.out(
        `${fixtureSummary({ fixture: dir, ...manifest }, json === true)}${json === true ? "" : `  ${manifest.source}\n`}`,
      );
    });
  data
    .command("check")
    .description(
      "Read fixtures to their ends: damaged files, impossible prices, gaps. Ends with 1 where there is a problem.",
    )
    .argument("<dirs...>", "the fixtures")
    .option("--json", "print one JSON document")
    .action((dirs: readonly string[], flags: Flags) => {
      check(dirs, flags, io);
    });
  addWriters(data, io);
  addPush(data, io);
};

const addPush = (data: Command, io: CliIo): void => {
  data
    .command("push")
    .description("Copy fixtures to the store from which workers read them by hash; existing ones are kept.")
    .argument("<dirs...>", "the fixtures")
    .requiredOption("--to <place>", "a folder, which any static server can serve, or s3://BUCKET/PREFIX")
    .option("--json", "print one JSON document")
    .action((dirs: readonly string[], { to, json }: Flags & { readonly to: string }) =>
      push(dirs, to, json === true, io),
    );
};

const push = async (dirs: readonly string[], to: string, json: boolean, io: CliIo): Promise<void> => {
  const [{ pushFixture }, { checkBucket, isBucket, pushToBucket }] = await Promise.all([
    import("../backtest/sweep/workers/fixture-source.ts"),
    import("../backtest/sweep/workers/fixture-bucket.ts"),
  ]);
  if (isBucket(to)) checkBucket(to, "--to");
  const pushed = [];
  for (const fixture of dirs)
    pushed.push({ fixture, ...(isBucket(to) ? await pushToBucket(fixture, to) : pushFixture(fixture, to)) });
  if (json) io.out(`${jsonText(pushed)}\n`);
  else
    for (const { fixture, place, isNew } of pushed)
      io.out(`${fixture}: ${isNew ? "copied to" : "is there already:"} ${place}\n`);
};

const addWriters = (data: Command, io: CliIo): void => {
  data
    .command("cut")
    .description("Write a part of a fixture as a fixture of its own.")
    .argument("<dir>", "the fixture")
    .requiredOption("--out <dir>", "folder of the new fixture")
    .option("--from <instant>", "first instant, such as 2024-01-01 or 2024-01-01T12:00:00Z")
    .option("--to <instant>", "end of the part, exclusive; bars that end later are left out")
    .option("--instrument <id...>", "these instruments only")
    .option("--force", "replace the fixture that --out holds")
    .option("--json", "print one JSON document")
    .action((dir: string, flags: CutFlags) => {
      cut(dir, flags, io);
    });
  data
    .command("merge")
    .description(
      "Write several fixtures as one. Rows of one instrument and time may be in one of them only; bars also twice, if they are the same.",
    )
    .argument("<dirs...>", "the fixtures")
    .requiredOption("--out <dir>", "folder of the new fixture")
    .option("--force", "replace the fixture that --out holds")
    .option("--json", "print one JSON document")
    .action((dirs: readonly string[], flags: WriteFlags) => {
      merge(dirs, flags, io);
    });
};

interface Listed {
  readonly fixture: string;
  readonly manifest?: FixtureManifest;
  readonly problem?: string;
}

const depthMax = 6;

const fixturesUnder = (dir: string, depth = 0): readonly Listed[] => {
  if (existsSync(join(dir, "manifest.json"))) return [listed(dir)];
  if (depth === depthMax) return [];
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name }) => fixturesUnder(join(dir, name), depth + 1));
};

const listed = (fixture: string): Listed => {
  try {
    return { fixture, manifest: readManifest(fixture) };
  } catch (error) {
    return { fixture, problem: messageOf(error) };
  }
};

const list = (dir: string, { json }: Flags, io: CliIo): void => {
  if (!existsSync(dir)) throw new SluiceError("USAGE", `${dir}: there is no such folder.`);
  const found = fixturesUnder(dir);
  if (json === true)
    io.out(
      `${jsonText(found.map(({ fixture, manifest, problem }) => ({ fixture, ...manifest, ...(problem && { problem }) })))}\n`,
    );
  else
    io.out(
      found.length === 0
        ? `No fixture in ${dir}. Make one with \`sluice import\` or \`sluice generate\`.\n`
        : `${found.map(lineOf).join("\n")}\n`,
    );
};

const lineOf = ({ fixture, manifest, problem = "" }: Listed): string => {
  if (manifest === undefined) return `${fixture}  ${problem}`;
  const held = manifest.instruments.map(({ instId }) => {
    const kinds = manifest.series.filter((series) => series.instId === instId).map(({ kind }) => kind);
    return `${instId} (${[...new Set(kinds)].join(", ")})`;
  });
  return `${fixture}  ${minuteOf(manifest.startAt)} to ${minuteOf(manifest.endAt)}  ${grouped(manifest.rows)} rows  ${held.join(", ")}`;
};

const check = (dirs: readonly string[], { json }: Flags, io: CliIo): void => {
  const checked = dirs.map((fixture) => {
    const { tape, manifest } = readFixture(fixture);
    return { fixture, rows: manifest.rows, contentHash: manifest.contentHash, findings: findingsOf(tape) };
  });
  if (json === true) io.out(`${jsonText(checked)}\n`);
  else
    for (const { fixture, rows, findings } of checked)
      io.out([`${fixture}: ${grouped(rows)} rows, files as written`, ...findings.map(findingLine), ""].join("\n"));
  const problems = checked.flatMap(({ fixture, findings }) =>
    findings.filter(({ kind }) => kind === "problem").map(({ what }) => `${fixture}: ${what}`),
  );
  if (problems.length > 0) throw new SluiceError("FIXTURE_INVALID", "There are problems in the data:", problems);
};

const cut = (dir: string, { out, from, to, instrument, force = false, json }: CutFlags, io: CliIo): void => {
  const writer = openFixtureWriter(out, { force, isNew: true });
  const { tape, manifest } = readFixture(dir);
  const chosen = instrument === undefined ? tape : only(tape, instrument, dir);
  // The end of a window is not in it; the last rows of a recording are.
  const window = {
    fromAt: instantOf("--from", from) ?? chosen.startAt,
    toAt: instantOf("--to", to) ?? chosen.endAt + 1,
  };
  const part = cutTape(chosen, window);
  if (part.length === 0)
    throw new SluiceError(
      "USAGE",
      `${dir}: nothing in it lies from ${from ?? "its start"} to ${to ?? "its end"}; it holds ${manifest.startAt} to ${manifest.endAt}.`,
    );
  writer.add(dir, part);
  const source = `Part of ${basename(dir)}: ${manifest.source}`;
  const { manifest: made } = writer.write({
    name: dir,
    sources: [source],
    ...(manifest.feed && { feed: manifest.feed }),
  });
  io.out(fixtureSummary({ fixture: out, ...made }, json === true));
};

const instantOf = (option: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const us = microsecondsOf(text);
  if (us !== undefined) return us / 1_000;
  throw new SluiceError(
    "USAGE",
    `${option}: "${text}" is not an instant in UTC. Write it like 2024-01-01 or 2024-01-01T12:00:00Z.`,
  );
};

const only = ({ instruments, series }: Tape, wanted: readonly string[], dir: string): Tape => {
  const known = instruments.map(({ instId }) => instId);
  for (const instId of wanted) {
    parseInstId(instId, "--instrument");
    if (!known.includes(instId))
      throw new SluiceError(
        "USAGE",
        `${dir} holds no ${instId}.${didYouMean(instId, known)} It holds ${known.join(", ")}.`,
      );
  }
  const kept = instruments.filter(({ instId }) => wanted.includes(instId));
  const ofKept = series.filter(({ instrument }) => wanted.includes(known[instrument] ?? ""));
  return createTape(
    kept,
    ofKept.map((one) => ({ ...one, instrument: kept.findIndex(({ instId }) => instId === known[one.instrument]) })),
  );
};

const merge = (dirs: readonly string[], { out, force = false, json }: WriteFlags, io: CliIo): void => {
  if (dirs.length < 2) throw new SluiceError("USAGE", "Name two fixtures or more.");
  const writer = openFixtureWriter(out, { force, isNew: true });
  const clock = createSystemClock();
  const [progress, startedAt] = [transientLine(io), clock.now()];
  // Joining and writing take about as long as reading.
  const step = (done: number, what: string): void => {
    progress.show(() => stepsText(done, 2 * dirs.length, `steps, ${what}`, clock.now() - startedAt));
  };
  try {
    io.out(fixtureSummary({ fixture: out, ...merged(dirs, writer, step) }, json === true));
  } finally {
    progress.clear();
  }
};

const merged = (
  dirs: readonly string[],
  writer: FixtureWriter,
  step: (done: number, what: string) => void,
): FixtureManifest => {
  const sources = dirs.map((dir, index) => {
    step(index, `reading ${dir}`);
    const { tape, manifest } = readFixture(dir);
    for (const { what, count } of manifest.notes) writer.note(what, count);
    writer.add(dir, tape);
    return manifest.source;
  });
  step(dirs.length, "writing");
  return writer.write({ name: "the merge", sources: [[...new Set(sources)].join(" ")] }).manifest;
};
