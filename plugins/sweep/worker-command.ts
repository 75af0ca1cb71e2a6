/**
 * `sluice worker --queue <address>`: runs jobs of sweeps and simulations that other machines submit.
 *
 * Invariants: it runs the files of this folder, and only where they equal the submitter's; of the environment only what
 * a program needs to run and what `--env` names stays readable to them; Ctrl-C finishes the running job, a second one
 * returns it to the queue; it works until it is stopped.
 * Not here: taking jobs (workers/queue-worker.ts), running them (the modules that manifests name under `work`).
 */

import { availableParallelism } from "node:os";
import type { Command } from "commander";
import {
  type CliIo,
  counted,
  createSystemClock,
  defineCommand,
  loadRow,
  namesOf,
  printable,
  readContributions,
  wholeFrom,
} from "sluice/extension";
import { queueAddress } from "./command-options.ts";
import type { WorkKind } from "./workers/work-kind.ts";

/**
 * Variables that programs need to run. Those of the queue and of the store of fixtures are read before and not kept.
 */
const kept =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TERM|COLUMNS|CI|NO_COLOR|FORCE_COLOR|TMPDIR|TEMP|TMP|XDG_CACHE_HOME|NODE_\w+|TSX_TSCONFIG_PATH|SSL_CERT_\w+|(SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|APPDATA|LOCALAPPDATA|USERPROFILE))$/i;

/** A row of a manifest. */
interface WorkEntry {
  readonly place: string;
  readonly module: string;
  readonly load: () => Promise<unknown>;
}

interface Flags {
  readonly env?: readonly string[];
  readonly queue: string;
  readonly fixtures?: string;
  readonly cache?: string;
  readonly jobs: number;
}

const addWorkerCommand = (program: Command, io: CliIo): void => {
  program
    .command("worker")
    .description(
      "Run jobs of sweeps and simulations that were started with --workers on other machines, with the files of this folder.",
    )
    .requiredOption(
      "--queue <address>",
      "the queue in Redis, Valkey or PostgreSQL: redis://HOST:PORT, postgres://HOST:PORT/DATABASE or env:NAME for the variable that holds it",
    )
    .option(
      "--fixtures <place>",
      "where recorded markets are by their hash: a folder, an http(s):// address, or s3://BUCKET/PREFIX",
    )
    .option("--cache <dir>", "folder for fixtures that were fetched (default ~/.cache/sluice/fixtures)")
    .argument("[configs...]", "configs that it runs (default: any file of this folder that calls defineConfig)")
    .option("--env <names>", "variables that the configs read, with commas; all others are removed", namesOf)
    .option("--jobs <n>", "runs at a time", wholeFrom(1, 256), availableParallelism())
    .action((configs: readonly string[], flags: Flags) => work(configs, flags, io));
};

/** Removes every variable that is neither needed to run nor named; returns what there was. */
const restrictEnvironment = (names: readonly string[]): NodeJS.Dict<string> => {
  const before = { ...process.env };
  for (const name of Object.keys(before)) if (!kept.test(name) && !names.includes(name)) delete process.env[name];
  return before;
};

/** Kinds of work of all plugins, by name. */
const loadWorks = async (): Promise<ReadonlyMap<string, WorkKind>> => {
  const entries = [...readContributions(process.cwd()).work];
  return new Map(await Promise.all(entries.map(async ([name, entry]) => [name, await loadWork(name, entry)] as const)));
};

const loadWork = (name: string, entry: WorkEntry): Promise<WorkKind> =>
  loadRow<WorkKind>(
    entry,
    ({ kind, open }) => kind === "work" && open !== undefined,
    `work.${name}.module: ${entry.module} exports no work. Write export default defineWork(…).`,
  );

const work = async (
  configs: readonly string[],
  { queue, fixtures, cache, jobs, env = [] }: Flags,
  io: CliIo,
): Promise<void> => {
  const url = queueAddress(queue);
  const [{ QueueWorker }, { shownAddress }, { checkSource }, works] = await Promise.all([
    import("./workers/queue-worker.ts"),
    import("./workers/queue-address.ts"),
    import("sluice/plugins/fixtures"),
    loadWorks(),
  ]);
  if (fixtures !== undefined) checkSource(fixtures);
  // A queue in PostgreSQL reads its variables at each connection.
  const queueNames = /^postgres/.test(url) ? Object.keys(process.env).filter((name) => name.startsWith("PG")) : [];
  const places = {
    ...(fixtures !== undefined && { source: fixtures }),
    ...(cache !== undefined && { cache }),
    env: restrictEnvironment([...env, ...queueNames]),
  };
  const accepted = configs.length > 0 ? configs : undefined;
  const say = (text: string): void => {
    io.err(`${printable(text)}\n`);
  };
  const worker = await QueueWorker.open({
    url,
    jobs,
    clock: createSystemClock(),
    kinds: new Map([...works].map(([name, { open }]) => [name, open(places, accepted)])),
    say,
  });
  say(`Waiting for work at ${shownAddress(url)}, ${counted(jobs, "run")} at a time. Ctrl-C ends it.`);
  const leave = io.onStop(() => {
    worker.stop();
  });
  const done = await worker.run().finally(leave);
  say(`${counted(done, "run")} done.`);
};

export default defineCommand("worker", addWorkerCommand);
