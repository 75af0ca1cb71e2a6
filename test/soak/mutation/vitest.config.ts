/** The tests of one part only, named by the mutation run. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../../..", import.meta.url)),
  resolve: {
    alias: [
      { find: /^sluice$/, replacement: fileURLToPath(new URL("../../../src/index.ts", import.meta.url)) },
      { find: /^sluice\/(strategies|plugins)\/(.*)$/, replacement: `${fileURLToPath(new URL("../../../", import.meta.url))}$1/$2.ts` },
      { find: /^sluice\/(\w+)$/, replacement: `${fileURLToPath(new URL("../../../src/", import.meta.url))}$1.ts` },
    ],
  },
  test: { include: (process.env["SLUICE_MUTATION_TESTS"] ?? "").split(","), setupFiles: ["test/support/setup.ts"], testTimeout: 60_000 },
});
