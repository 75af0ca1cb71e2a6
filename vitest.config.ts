import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: [{ find: /^sluice$/, replacement: fileURLToPath(new URL("./src/index.ts", import.meta.url)) }],
  },
  test: {
    include: ["test/**/*.test.ts"],
    // The same random stories every time: a run that fails can be run again.
    setupFiles: ["test/support/setup.ts"],
    testTimeout: 60_000,
    // Left to itself it keeps a core free, which is half of a small machine; much of the suite waits for processes of its own.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Without this the default tsconfig decides what is checked; a file it leaves out passes silently.
    typecheck: { enabled: false, tsconfig: "./tsconfig.json", include: ["test/**/*.test-d.ts"] },
  },
});
