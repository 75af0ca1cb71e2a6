import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: [{ find: /^sluice$/, replacement: fileURLToPath(new URL("./src/index.ts", import.meta.url)) }],
  },
  test: {
    include: ["test/**/*.test.ts"],
    // The same random stories every time: a run that fails can be run again.
    setupFiles: ["test/seed.ts"],
    testTimeout: 60_000,
    // Without this the default tsconfig decides what is checked; a file it leaves out passes silently.
    typecheck: { enabled: false, tsconfig: "./tsconfig.json", include: ["test/**/*.test-d.ts"] },
  },
});
