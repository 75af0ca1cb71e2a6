/** The tests of one part only, named by the mutation run. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../../..", import.meta.url)),
  resolve: { alias: [{ find: /^sluice$/, replacement: fileURLToPath(new URL("../../../src/index.ts", import.meta.url)) }] },
  test: { include: (process.env["SLUICE_MUTATION_TESTS"] ?? "").split(","), setupFiles: ["test/support/setup.ts"], testTimeout: 60_000 },
});
