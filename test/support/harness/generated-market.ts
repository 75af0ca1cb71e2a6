/** What tests of runs take from the public door, and generated markets for them. */

import type { Tape } from "../../../src/backtest.ts";
import { generateTape, instrumentFor } from "../../../src/market/tape/generate.ts";

export type { RunReport } from "../../../src/backtest.ts";
export { add, definePlugin, type Event, sum } from "../../../src/index.ts";

export const generateTapeFor = (instIds: readonly string[], minutes: number, seed = "test"): Tape =>
  generateTape({ seed, instruments: instIds.map(instrumentFor), minutes });
