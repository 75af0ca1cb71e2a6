/**
 * The short form of the days' soak: what can hold many things holds no more after twice the hours. The heap is the soak's matter.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import type { Container } from "./containers.ts";

interface Growth {
  readonly hours: number;
  readonly ended: readonly number[];
  readonly planted: number;
  readonly grown: readonly Container[];
}

it("After twice the hours no map, set or list of an engine is larger, but for the one planted here", async () => {
  // A process of its own: what this one holds for its tests comes and goes.
  const child = fileURLToPath(new URL("growth.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ["--import", "tsx", child], { timeout: 230_000 });
  const { hours, ended, planted, grown } = JSON.parse(stdout) as Growth;
  expect({ hours, ended }).toEqual({ hours: 3, ended: [5_000, 6_000] });
  expect(planted).toBeGreaterThan(100);
  expect(grown).toEqual([{ kind: "Map", size: planted, first: expect.stringContaining("planted 0") }]);
});
