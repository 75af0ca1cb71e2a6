import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that take long, the longest first: begun at the end, they would leave the other workers idle. */
const slow = [
  "test/acceptance/control-page.test.ts",
  "test/soak/growth.test.ts",
  "test/plugins/compare/guard.test.ts",
  "test/plugins/sweep/sweep.test.ts",
  "test/acceptance/security/canary.test.ts",
  "test/unit/cli/package.test.ts",
  "test/plugins/watchdog/processes.test.ts",
  "test/unit/cli/shutdown-signals.test.ts",
  "test/acceptance/security/control-attacks.test.ts",
  "test/acceptance/workers.test.ts",
  "test/acceptance/standby.test.ts",
  "test/acceptance/from-code.test.ts",
  "test/plugins/simulate/canaries.test.ts",
  "test/plugins/simulate/simulate.test.ts",
  "test/acceptance/golden/golden.test.ts",
];

/**
 * Tests that change what belongs to the whole process, or would be changed by others in it: each file has a process of its own, which
 * takes a second of processor time to load.
 */
const isolated = [
  ...slow,
  "test/bench/**/*.test.ts",
  "test/plugins/fixtures/fixture-*.test.ts",
  "test/plugins/sweep/{command,pool,queue-worker,results-file,sheet-config,sweep-markets,sweep-output,sweep-parts}.test.ts",
  "test/plugins/import/import-killed.test.ts",
  "test/unit/host/{execution-context,isolation,virtual-globals}.test.ts",
];

/**
 * Left out where only the platform is another one (`PLATFORM_TESTS=1`): rooms that only reckon, long searches of our own arithmetic, texts,
 * the browser, attacks, and groups of processes. That both platforms reckon alike is told by the golden results, which stay.
 */
const leftOut =
  process.env["PLATFORM_TESTS"] === "1"
    ? [
        "test/property/**",
        "test/plugins/{conformance,exchanges}/**",
        "test/acceptance/control-page.test.ts",
        "test/acceptance/{control-page-engine,control-relay,recorder,report-page,shared-quota,standby,workers}.test.ts",
        "test/acceptance/security/**",
        "test/acceptance/{docs,types}/**",
        "test/acceptance/from-code.test.ts",
        "test/bench/**",
        "test/soak/**",
        "test/unit/{contract,orders,report,scheduler/quota}/**",
        "test/unit/venue/**",
        "test/unit/backtest/!(determinism|runner)*.test.ts",
        "test/unit/backtest/testkit/**",
        "test/plugins/sweep/{command,queue-worker,sweep,sweep-parts}.test.ts",
        "test/plugins/{compare,playback,simulate}/**",
        "test/unit/verify/doctor/**",
      ]
    : [];
const never = ["**/node_modules/**", ...leftOut];

/** Waits for processes of its own, and takes longer than what only reckons. */
const waiting = /test\/(acceptance|unit\/(cli|engine))\//;

/** Isolated files first, the slow ones before all; then what shares a process, so that no worker ends between two of these. */
class Sequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ project, moduleId }: TestSpecification): number => {
      const place = slow.findIndex((name) => moduleId.endsWith(name));
      if (place !== -1) return place;
      return project.name === "isolated" ? slow.length : waiting.test(moduleId) ? slow.length + 1 : slow.length + 2;
    };
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
    // What a busy machine made late is tried once more, and reported as such ("retry x1").
    retry: 1,
    sequence: { sequencer: Sequencer },
    projects: [
      { extends: true, test: { name: "isolated", include: isolated, exclude: never } },
      // Loading the sources takes most files longer than their tests.
      {
        extends: true,
        test: { name: "shared", include: ["test/**/*.test.ts"], exclude: [...never, ...isolated], isolate: false },
      },
    ],
  },
});
