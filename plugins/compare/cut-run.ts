/**
 * One run of a config for the look-ahead guard: on the whole recording, or on one that ends at a cut.
 *
 * Invariants: with a cut, `readFixture` of the recording gives user code the data known at the cut, while the service
 * plays the data up to the cut; the recording itself is never touched.
 * Not here: comparing runs (look-ahead.ts). A strategy that reads the recording's files by itself sees all of them:
 * nothing here notices.
 */
import { SluiceError } from "sluice";
import { checkConfig, hideAfter, openFixture, playedAt } from "sluice/extension";
import type { Runner } from "./look-ahead.ts";
import { backtestOf, type Observed, observe } from "./observed.ts";

export interface CutRun {
  /** Folder of the recorded market; the config's when left out. Needed for a cut. */
  readonly fixture?: string;
  readonly cutAt?: number;
}

/** Loads the config and runs it. Reads of the recording during loading are cut as well. */
export const cutRun = async (
  load: () => unknown,
  { fixture, cutAt }: CutRun = {},
): Promise<Observed & { readonly fixture: string }> => {
  const cut = cutAt === undefined || fixture === undefined ? undefined : { fixture, cutAt };
  const show = cut === undefined ? () => undefined : hideAfter(cut.fixture, cut.cutAt);
  try {
    const config = checkConfig(await load());
    const own = fixture ?? fixtureOf(config);
    return { ...(await observe(config, cut === undefined ? { fixture: own } : marketUntil(cut))), fixture: own };
  } finally {
    show();
  }
};

const marketUntil = ({ fixture, cutAt }: Required<CutRun>) => {
  const { tape, manifest } = openFixture(fixture);
  return {
    cutAt,
    market: { tape: playedAt(tape, cutAt), facts: { name: fixture, contentHash: manifest.contentHash } },
  };
};

/** Returns a runner in this process: state that a strategy keeps outside its streams is shared by all runs. */
export const runnerHere =
  (load: () => unknown): Runner =>
  async (cutAt) =>
    cutRun(load, { fixture: fixtureOf(checkConfig(await load())), ...(cutAt !== undefined && { cutAt }) });

const fixtureOf = (config: Parameters<typeof backtestOf>[0]): string => {
  const { fixture } = backtestOf(config).options;
  if (fixture !== undefined) return fixture;
  throw new SluiceError(
    "CONFIG_INVALID",
    'No recorded market is named. Write fixture: "path/to/fixture" in backtest({ … }), or give --fixture DIR.',
  );
};
