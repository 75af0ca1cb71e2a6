/** The tests of one part only, named by the mutation run. */
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** The quickest files first: the first test that fails ends a run, and most changes fail in many. */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { cache, config } = this.ctx;
    const msOf = ({ moduleId, project }: TestSpecification): number =>
      cache.getFileTestResults(`${project.name}:${relative(config.root, moduleId)}`)?.duration ?? 0;
    return [...files].sort((a, b) => msOf(a) - msOf(b));
  }
}

export default defineConfig({
  root: fileURLToPath(new URL("../../..", import.meta.url)),
  resolve: {
    alias: [
      { find: /^sluice$/, replacement: fileURLToPath(new URL("../../../src/index.ts", import.meta.url)) },
      {
        find: /^sluice\/(strategies|plugins)\/(.*)$/,
        replacement: `${fileURLToPath(new URL("../../../", import.meta.url))}$1/$2.ts`,
      },
      { find: /^sluice\/(\w+)$/, replacement: `${fileURLToPath(new URL("../../../src/", import.meta.url))}$1.ts` },
    ],
  },
  test: {
    include: (process.env["SLUICE_MUTATION_TESTS"] ?? "").split(","),
    setupFiles: ["test/support/setup.ts"],
    testTimeout: 60_000,
    sequence: { sequencer: ShortestFirst },
  },
});
