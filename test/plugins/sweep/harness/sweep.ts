/** Small markets and sweeps over the stand's config, for tests that run real threads. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { readVariation } from "../../../../plugins/sweep/space.ts";
import { planSweep, type SweepOptions, type SweepPlan } from "../../../../plugins/sweep/sweep-plan.ts";
import { loadConfigFile } from "../../../../src/host/load.ts";
import { writeFixture } from "../../../../src/market/tape/fixture.ts";
import { generateTapeFor } from "../../../support/harness/generated-market.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

export const stand = fileURLToPath(new URL("../../../support/configs/sweep.ts", import.meta.url));

export const folder = temporaryFolder("sweep-test");

/** A generated market of one swap; the folder it lies in. */
export const marketOf = (minutes: number, seed = "test"): string => {
  const dir = join(folder, `market-${minutes}-${seed}`);
  writeFixture(dir, generateTapeFor(["BTC-USDT-SWAP"], minutes, seed), { source: "test" }, { force: true });
  return dir;
};

export const planOf = async (
  vary: readonly string[],
  options: Partial<SweepOptions> & { readonly fixture: string },
): Promise<SweepPlan> =>
  planSweep(stand, await loadConfigFile(stand), {
    variations: vary.map(readVariation),
    choice: { kind: "grid" },
    max: 1_000,
    by: "pnl",
    ...options,
  });
