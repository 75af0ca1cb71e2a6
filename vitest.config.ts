import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The name of a file says where it belongs: these kinds, and `*.test.ts` for everything else. */
const kinds = {
  /** Starts processes, threads, a browser, Redis or PostgreSQL. */
  processes: "test/**/*.processes.test.ts",
  /** Takes long: oracles, mutants, benches, whole sweeps. */
  soak: "test/**/*.soak.test.ts",
  /** Changes what belongs to the whole process. */
  isolated: "test/**/*.isolated.test.ts",
};

/**
 * Left out where only the platform differs (`PLATFORM_TESTS=1`): what the platform has no part in. Loading, files, sockets, threads,
 * signals, async contexts and clocks stay, and the golden results, which tell that both platforms reckon alike.
 */
const samePlatform = [
  // Arithmetic and decisions of our own, on a virtual clock.
  "test/property/**",
  "test/bench/**",
  "test/unit/{contract,engine,orders,report,scheduler,venue}/**",
  "test/unit/backtest/!(determinism|runner)*.test.ts",
  "test/unit/backtest/testkit/**",
  "test/acceptance/strategies/**",
  "test/acceptance/portfolio.test.ts",
  "test/plugins/{compare,conformance,exchanges,playback,simulate}/**",
  "test/plugins/{ccxt,session,shared-quota,standby}/**",
  // Pages and their port: the embedded service's server and sockets stay.
  "test/plugins/{control-room,report-html}/**",
  // Texts and the structure of the sources.
  "test/tidy/**",
  "test/tidy.test.ts",
  "test/acceptance/{docs,types}/**",
  "test/plugins/plugin-rules.test.ts",
  "test/plugins/from-code*.test.ts",
  // The browser, attacks, long runs.
  "test/acceptance/security/**",
  "test/soak/**",
  // Processes of plugins: those of the core and the main jobs run on both platforms.
  "test/plugins/{alerts,import,prometheus,redis,venue-server,watchdog}/*.{processes,soak}.test.ts",
  "test/plugins/sweep/{command,queue-worker,sweep,sweep-parts,workers}.*.test.ts",
  "test/unit/cli/plugin-package.processes.test.ts",
  "test/acceptance/{backtest,mistakes,service}.processes.test.ts",
];
const never = ["**/node_modules/**", ...(process.env["PLATFORM_TESTS"] === "1" ? samePlatform : [])];
const inOneProcess = [...never, ...Object.values(kinds)];

/** What waits for processes of its own comes first, so that no worker idles at the end. */
const order = ["processes", "soak", "isolated", "plugins", "core"];

class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project }: TestSpecification): number => order.indexOf(project.name);
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** Modules that newer platforms alone have would give their caches of compiled modules another key, though nothing here loads them. */
const newerModules = /^(node:)+(sea|sqlite|test|test\/reporters)$/;
const oneCache = {
  name: "one-cache",
  configResolved({
    environments,
  }: {
    readonly environments: Record<string, { readonly resolve: { external: true | string[] } }>;
  }): void {
    for (const { resolve } of Object.values(environments)) {
      if (resolve.external !== true) resolve.external = resolve.external.filter((name) => !newerModules.test(name));
    }
  },
};

const folder = (name: string): string => fileURLToPath(new URL(`./${name}/`, import.meta.url));

export default defineConfig({
  plugins: [oneCache],
  resolve: {
    alias: [
      { find: /^sluice$/, replacement: fileURLToPath(new URL("./src/index.ts", import.meta.url)) },
      { find: /^sluice\/strategies\/(.*)$/, replacement: `${folder("strategies")}$1.ts` },
      { find: /^sluice\/plugins\/(.*)$/, replacement: `${folder("plugins")}$1/index.ts` },
      { find: /^sluice\/(\w+)$/, replacement: `${folder("src")}$1.ts` },
    ],
  },
  test: {
    setupFiles: ["test/support/setup.ts"],
    // These only end what hangs: on a machine with other work a process may load for half a minute.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    // More than a small machine's cores: much of the suite waits for processes of its own.
    maxWorkers: Math.max(4, availableParallelism() - 1),
    // What was compiled once is kept for the next run, on the other platform, too.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: Sequencer },
    projects: [
      // Loading the sources takes most files longer than their tests.
      {
        extends: true,
        test: {
          name: "core",
          include: ["test/**/*.test.ts"],
          exclude: [...inOneProcess, "test/plugins/**"],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: "plugins", include: ["test/plugins/**/*.test.ts"], exclude: inOneProcess, isolate: false },
      },
      { extends: true, test: { name: "isolated", include: [kinds.isolated], exclude: never } },
      // What a busy machine made late is tried once more, and reported as such ("retry x1").
      { extends: true, test: { name: "processes", include: [kinds.processes], exclude: never, retry: 1 } },
      { extends: true, test: { name: "soak", include: [kinds.soak], exclude: never, retry: 1 } },
    ],
  },
});
