/**
 * One run of a config for the look-ahead guard: on the whole recording, or on one that ends at a cut.
 *
 * Invariants: with a cut, whoever reads the recording's folder reads what was known then, while the service plays what leads up to
 * the cut; temporary folders are removed whatever happens; the recording itself is never touched.
 * Not here: comparing runs (look-ahead.ts).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve, sep } from "node:path";
import { knownAt, playedAt } from "../../backtest/truncated-market.ts";
import { SluiceError } from "../../errors.ts";
import { checkConfig } from "../../host/config.ts";
import { readFixture, writeFixture } from "../../market/tape/fixture.ts";
import { watchFiles } from "./file-watch.ts";
import type { Runner } from "./look-ahead.ts";
import { backtestOf, type Observed, observe } from "./observed.ts";

export interface CutRun {
  /** Folder of the recorded market; the config's when left out. Needed for a cut. */
  readonly fixture?: string;
  readonly seed?: number | string;
  readonly cutAt?: number;
}

/** Loads the config and runs it. The files it reads while it is loaded are cut and noted like those read later. */
export const cutRun = async (
  load: () => unknown,
  { fixture, seed, cutAt }: CutRun = {},
): Promise<Observed & { readonly fixture: string }> => {
  const cut = cutAt === undefined || fixture === undefined ? undefined : cutFolders(fixture, cutAt);
  const watch = watchFiles(cut === undefined ? undefined : { folder: fixture as string, instead: cut.known });
  try {
    const config = checkConfig(await load());
    const own = fixture ?? fixtureOf(config);
    const seeded = seed === undefined ? {} : { seed };
    const seen = await observe(
      config,
      cut === undefined ? { ...seeded, fixture: own } : { ...seeded, fixture: cut.played, cutAt: cutAt as number },
    );
    const folder = resolve(own) + sep;
    return { ...seen, fixture: own, files: watch.read().filter((path) => !path.startsWith(folder)) };
  } finally {
    watch.stop();
    cut?.remove();
  }
};

/** Runs in this process: what a strategy keeps outside its streams goes on from run to run. */
export const runnerHere = (load: () => unknown, { fixture, seed }: Omit<CutRun, "cutAt"> = {}): Runner => {
  const seeded = seed === undefined ? {} : { seed };
  return async (cutAt) => {
    const own = fixture ?? fixtureOf(checkConfig(await load()));
    return cutRun(load, { ...seeded, fixture: own, ...(cutAt !== undefined && { cutAt }) });
  };
};

const fixtureOf = (config: Parameters<typeof backtestOf>[0]): string => {
  const { fixture } = backtestOf(config).options;
  if (fixture !== undefined) return fixture;
  throw new SluiceError(
    "CONFIG_INVALID",
    'No recorded market is named. Write fixture: "path/to/fixture" in backtest({ … }), or give --fixture DIR.',
  );
};

const cutFolders = (fixture: string, cutAt: number) => {
  const { tape } = readFixture(fixture);
  const root = mkdtempSync(join(tmpdir(), "sluice-cut-"));
  const [known, played] = [join(root, "known"), join(root, "played")];
  const source = "the beginning of a recording";
  writeFixture(known, knownAt(tape, cutAt), { source });
  writeFixture(played, playedAt(tape, cutAt), { source });
  return {
    known,
    played,
    remove: () => {
      rmSync(root, { recursive: true, force: true });
    },
  };
};
